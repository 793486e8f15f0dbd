//! The builder of sessions.

use crate::open::open;
use crate::{
    Error, Query,
    session::{Options, PromptInput, SessionTools},
};
use windlass_permission::Policy;
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
    /// Something is missing or cannot be used; the text says what to set.
    pub async fn open(self) -> Result<Session, Error> {
        Ok(open(self.options).await?.0)
    }

    /// The same options for one prompt.
    pub fn query(self, prompt: impl Into<PromptInput>) -> Query {
        Query::with_options(prompt, self.options)
    }

    /// Continues the run of a session that is [resumed](Self::resume) which waits for answers, and says nothing:
    /// see [`Permissions::wait_for_answers`](crate::Permissions::wait_for_answers), which this implies.
    pub fn continue_run(mut self) -> Query {
        self.options.permissions.wait = true;
        self.query(PromptInput::continue_run())
    }

    /// Has the options say what their [project](Self::project) says, for programs that look at
    /// [them](Self::options) before the session opens. Opening does it otherwise. Blocks for as long as the disk takes.
    ///
    /// # Errors
    /// Something of the project keeps the session from being opened.
    #[cfg(feature = "project")]
    pub fn resolve(mut self) -> Result<Self, Error> {
        self.options.apply_project()?;
        Ok(self)
    }

    /// Looks whether the session that is to be resumed is there, without opening it: a program that opens later reports a wrong id at
    /// its start. Nothing is looked up for a new session.
    ///
    /// # Errors
    /// There is no such session, or another one that it is not certain is meant.
    pub async fn check_resumed(&self) -> Result<(), Error> {
        crate::resume::check(&self.options).await
    }

    /// What the session would be opened with, as far as it was said. What a project says is there once it is
    /// [resolved](Self::resolve).
    pub fn options(&self) -> &Options {
        &self.options
    }

    /// Opens the session, with what can change its tools while it is open.
    ///
    /// # Errors
    /// Those of [`open`](Self::open).
    pub async fn open_with_tools(self) -> Result<(Session, SessionTools), Error> {
        open(self.options).await
    }

    /// What the agent may do, as the session would decide it: for tools that
    /// explain or check a policy without running anything.
    ///
    /// # Errors
    /// A directory or a rule cannot be used.
    pub fn policy(&self) -> Result<Policy, Error> {
        self.options.policy(&self.options.working_directory()?, &mut Vec::new())
    }
}
