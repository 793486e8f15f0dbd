//! Tools: the trait [`Tool`], closures as tools, the context and results of calls, and the tools of this crate.

pub use crate::toolkit::Toolkit;
pub use windlass_context::ToolBudget;
#[cfg(feature = "macros")]
pub use windlass_macros::ToolInput;
pub use windlass_schema::call_result;
pub use windlass_subagent::{AGENT_TOOL_NAME, MemoryScope};
pub use windlass_tool::{
    AgentReport, AgentSpec, Agents, Annotations, BoxFuture, Cancel, Cancelled, CapturedOutput, Clock, DirectoryEntry,
    DynTool, EntryKind, FileContent, FileInfo, FileTree, Ids, InterruptBehavior, IntoToolOutput, JudgedPath, OpenFile,
    PathFilter, Permit, PreparedCall, Process, ProcessCommand, ProcessError, ProcessExit, ProcessOutcome, ResolvedPath,
    SystemClock, SystemIds, TaskCx, TaskOutcome, TaskSpec, TaskWork, Tool, ToolCheck, ToolErrorKind, ToolSet,
    ToolSetError, WholeFile, Workspace, WorkspaceError, WorkspaceErrorKind, WriteOptions, schema_of, schemars, tool_fn,
    tool_fn_with, tool_json,
};
pub use windlass_types::{Access, ToolLoading, ToolResult, ToolUse, ToolUseId};

/// The tools of `coding_tools` one by one, further tools, the types that they use, and the files and processes of this machine.
#[cfg(feature = "tools")]
pub mod built_in {
    pub use windlass_builtin_tools::search::{Glob, Grep};
    pub use windlass_builtin_tools::{
        ApplyPatch, AskUserQuestion, Bash, Edit, MultiEdit, NotebookEdit, PreviewFormat, Read, TaskStop, TodoWrite,
        Write,
    };
    pub use windlass_local::{KeptLimits, LocalProcess, LocalWorkspace};
}

/// Environments of programs.
pub mod environment {
    pub use windlass_tool::environment::{given_environment, host_environment};
}

/// Names for the code that `#[derive(windlass::ToolInput)]` writes.
pub mod derived {
    pub use windlass_tool::derived::{ToolInput, schemars, serde};
}
