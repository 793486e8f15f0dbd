//! Agents: prompts with the tools, the model and the limits that go with them.
//!
//! They come as JSON from the command line or the host, and as Markdown files with a head.

mod collection;
mod definition;
mod load;
mod parse;
mod skills;

pub use collection::Agents;
pub use definition::{AgentError, AgentSource, LoadedAgent};
pub(crate) use load::agent_files;
pub use load::load_agents;
pub(crate) use parse::shown_head;

#[cfg(test)]
mod tests;
