//! The builder of sessions.

use crate::error::Error;
use crate::open::open;
use crate::options::Options;
use crate::prompt::PromptInput;
use crate::query::Query;
use crate::session_tools::SessionTools;
use windlass_permission::Policy;
use windlass_runtime::Session;
use windlass_types::SessionId;

/// A session that is about to be opened. See [`session`].
#[derive(Debug, Clone, Default)]
#[must_use = "a builder does nothing until it is opened"]
pub struct SessionBuilder {
    pub(crate) options: Options,
}

/// Opens a session for many runs by hand: prompts go in through its handle,
/// events come out of its stream.
pub fn session() -> SessionBuilder {
    SessionBuilder::default()
}

impl SessionBuilder {
    /// Opens the session on the current tokio runtime.
    ///
    /// # Errors
    /// A required option is missing, or an option is unusable; the text names the remedy.
    pub async fn open(self) -> Result<Session, Error> {
        Ok(open(self.options).await?.0)
    }

    /// Uses the options for a query of one prompt.
    pub fn query(self, prompt: impl Into<PromptInput>) -> Query {
        Query::with_options(prompt, self.options)
    }

    /// Continues a waiting run of a [resumed](Self::resume) session without a new prompt: see
    /// [`Permissions::wait_for_answers`](crate::Permissions::wait_for_answers), which this implies.
    pub fn continue_run(mut self) -> Query {
        self.options.permissions.wait = true;
        self.query(PromptInput::continue_run())
    }

    /// Applies the [project](Self::project) to the options, for programs that inspect [them](Self::options) before the
    /// session opens. Otherwise opening does it. Blocks for as long as the disk takes.
    ///
    /// # Errors
    /// The project keeps the session from opening.
    #[cfg(feature = "project")]
    pub fn resolve(mut self) -> Result<Self, Error> {
        self.options.apply_project()?;
        Ok(self)
    }

    /// Finds the session to be resumed, without opening it, so that a program that opens it later reports a wrong id at
    /// its start. `None` for a new session.
    ///
    /// # Errors
    /// The session does not exist, or is ambiguous.
    pub async fn find_resumed(&self) -> Result<Option<SessionId>, Error> {
        crate::resume::find(&self.options).await
    }

    /// Options of the session as set so far. Those of a project are included once it is [resolved](Self::resolve).
    pub fn options(&self) -> &Options {
        &self.options
    }

    /// Opens the session, with the handle for changing its tools.
    ///
    /// # Errors
    /// The same as [`open`](Self::open).
    pub async fn open_with_tools(self) -> Result<(Session, SessionTools), Error> {
        open(self.options).await
    }

    /// Permission policy of the session, for programs that explain or check a policy without running anything.
    ///
    /// # Errors
    /// A directory or a rule cannot be used.
    pub fn policy(&self) -> Result<Policy, Error> {
        self.options.policy(&self.options.working_directory()?, &mut Vec::new())
    }
}
