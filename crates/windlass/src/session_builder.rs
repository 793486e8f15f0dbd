//! The builder of sessions.

use crate::error::Error;
use crate::open::open;
use crate::options::Options;
use crate::prompt::PromptInput;
use crate::query::Query;
use crate::session_tools::SessionTools;
use windlass_runtime::Session;

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

    /// Uses the options for a query of one prompt. [`Prompt::continue_run`](crate::Prompt::continue_run) continues a
    /// waiting run of a [resumed](Self::resume) session, see
    /// [`Permissions::wait_for_answers`](crate::Permissions::wait_for_answers), which it implies.
    pub fn query(self, prompt: impl Into<PromptInput>) -> Query {
        Query::with_options(prompt, self.options)
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
}
