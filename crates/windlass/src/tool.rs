//! Tools: the trait [`Tool`], closures as tools, the context and results of calls, and the tools of this crate.

pub use crate::session_tools::SessionTools;
pub use crate::toolkit::Toolkit;
#[cfg(feature = "tools")]
pub use crate::toolkit::coding_tools;
pub use windlass_context::ToolBudget;
#[cfg(feature = "macros")]
pub use windlass_macros::ToolInput;
pub use windlass_schema::{OutputSchemaError, ToolSearch};
pub use windlass_subagent::{AgentDefinition, Subagents};
pub use windlass_tool::*;
pub use windlass_types::{
    Access, AgentId, AgentIdentity, AgentRights, ContentBlock, ContextChange, Effort, IMAGE_TYPES, JsonError, JsonText,
    Outcome, PermissionMode, SessionId, TaskId, TaskKind, TaskStatus, TaskUsage, Thinking, ToolFailure,
    ToolFailureKind, ToolLoading, ToolOutcome, ToolResult, ToolResultContent, ToolSpec, ToolUse, ToolUseId, Usage,
    WaitingAgent, media_type_of,
};

/// The tools of [`coding_tools`] one by one, further tools, the types that they use, and the files and processes of this machine.
#[cfg(feature = "tools")]
pub mod built_in {
    pub use windlass_builtin_tools::*;
    pub use windlass_local::*;
}
