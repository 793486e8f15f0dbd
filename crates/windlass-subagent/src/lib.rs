//! Agents below the main one: their definitions, and the tool that runs them.
//!
//! An [`AgentDefinition`] describes what an agent is for and what it has. [`Subagents`] is a set of them and makes the
//! [`AgentTool`], through which a model gives an agent a task. The tool reaches agents only through the port
//! [`Agents`](windlass_tool::Agents), so it does not depend on how they are run.
//!
//! ```
//! use windlass_subagent::{AGENT_TOOL_NAME, AgentDefinition, Subagents};
//! use windlass_tool::DynTool;
//!
//! let reviewer = AgentDefinition::new("reviewer", "Reviews a change and names its defects.", "You review changes. …")
//!     .with_tools(["Read", "Grep", "Bash"])
//!     .with_model("sonnet");
//! let tool = Subagents::new().with(reviewer).tool();
//! assert_eq!(tool.spec().name, AGENT_TOOL_NAME);
//! assert!(tool.spec().description.contains("- reviewer: Reviews a change"));
//! ```
#![cfg_attr(docsrs, feature(doc_cfg))]

mod background;
mod built_in;
mod definition;
mod describe;
mod input;
mod memory;
mod report;
mod set;
mod text;
mod tool;

pub use built_in::built_in;
pub use definition::{AGENT_TOOL_NAME, AgentDefinition, MemoryScope};
pub use memory::AgentMemories;
pub use set::Subagents;
pub use tool::AgentTool;
