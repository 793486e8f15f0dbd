//! An agent as a value.

use crate::options::Options;
use crate::prompt::PromptInput;
use crate::query::Query;
use crate::session_builder::SessionBuilder;

/// A provider, tools, permissions, hooks and all other options as a value. Set it up once, clone it, and query it as
/// often as you like. Made by [`agent`]. Each query and each session is separate; they share the agent's provider,
/// tools and hooks.
///
/// ```
/// use windlass::{Script, ScriptedModel, agent};
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), windlass::Error> {
/// let model = ScriptedModel::new(Script::new().turn(|turn| turn.text("Four.")).turn(|turn| turn.text("Six.")));
/// let counter = agent().provider(model).max_turns(3);
///
/// assert_eq!(counter.query("Two and two?").await?.text, "Four.");
/// assert_eq!(counter.clone().query("Three and three?").await?.text, "Six.");
/// # Ok(())
/// # }
/// ```
#[derive(Debug, Clone, Default)]
#[must_use = "an agent does nothing until it is asked"]
pub struct Agent {
    pub(crate) options: Options,
}

/// Begins an agent: give it at least a provider.
pub fn agent() -> Agent {
    Agent::default()
}

impl Agent {
    /// Starts a query: one prompt in a session of its own. Options set on the query apply to that query only.
    pub fn query(&self, prompt: impl Into<PromptInput>) -> Query {
        Query::with_options(prompt, self.options.clone())
    }

    /// Starts a session for many runs by hand. Options set on its builder apply to that session only.
    pub fn session(&self) -> SessionBuilder {
        SessionBuilder { options: self.options.clone() }
    }

    /// Options that queries and sessions of the agent begin with.
    pub fn options(&self) -> &Options {
        &self.options
    }
}
