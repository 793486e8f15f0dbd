//! The tool port: the definition of tools, and their context.
//!
//! Implement [`Tool`] for a tool known at compile time, or use [`tool_fn`] for one async closure. The runtime works
//! with the erased twin [`DynTool`], which every [`Tool`] has by a blanket impl and which tools named at run time
//! implement directly. A tool reaches the outside only through its [`ToolCx`]: files through the [`Workspace`] port
//! with the [`Permit`] of the call, programs through the [`Process`] port.
//!
//! The driver checks the input of a call against the tool's schema first; that check is in `windlass-schema`, so that
//! the authors of tools do not compile it.
#![cfg_attr(docsrs, feature(doc_cfg))]

mod access;
mod agents;
mod background;
mod calls;
mod cancel;
mod completions;
#[cfg(feature = "system")]
pub mod content_swap;
mod cx;
mod dyn_tool;
mod edit_order;
#[cfg(feature = "system")]
pub mod environment;
mod error;
mod file_walk;
mod foreground;
mod function;
#[cfg(feature = "ignore-rules")]
pub mod ignore_rules;
mod nowhere;
mod output;
#[cfg(feature = "system")]
pub mod private_file;
mod process;
#[cfg(feature = "system")]
pub mod search_path;
mod seen_files;
mod set;
mod survey;
mod system;
mod tool;
mod tree;
mod violation;
mod watch;
mod workspace;

pub use access::{JudgedPath, PathFilter, Permit};
pub use agents::{AgentReport, AgentSpec, Agents};
pub use background::{Background, TaskCx, TaskOutcome, TaskSpec, TaskWork};
pub use calls::Calls;
pub use cancel::{Cancel, Cancelled};
pub use completions::{Completed, Completion, Completions};
pub use cx::{CallAbilities, CallPlace, Recorded, SessionState, ToolCx, ToolCxParts};
pub use dyn_tool::{BoxFuture, DynTool, PreparedCall, schema_of};
pub use edit_order::{EditOrder, EditTurn};
pub use error::{ToolError, ToolErrorKind};
pub use file_walk::{
    FileVisitor, FileVisitors, FileWalk, InterruptCheck, VERSION_CONTROL, VisitedContent, VisitedFile, WalkInterrupt,
    WalkReport, WalkScope,
};
pub use foreground::{Foreground, ForegroundCall};
pub use function::{ToolFn, tool_fn, tool_fn_with, tool_json};
pub use nowhere::Nowhere;
pub use output::{IntoToolOutput, Json, ToolOutput};
pub use process::{
    CapturedOutput, Confine, ConfinedStart, OutputProgress, Process, ProcessCommand, ProcessError, ProcessExit,
    ProcessOutcome, SpilledOutput, TerminalSize,
};
pub use seen_files::SeenFiles;
pub use set::{ToolSet, ToolSetError};
pub use survey::{FileStamp, FolderSurvey, SurveyChange, Surveyed, TreeSurvey};
pub use system::{Clock, Ids};
#[cfg(feature = "system")]
pub use system::{SystemClock, SystemIds};
pub use tool::{Annotations, InterruptBehavior, Tool, ToolCheck, ToolInput};
pub use tree::{FileContent, FileTree, WholeFile};
pub use violation::{SandboxViolation, ViolationKind};
pub use watch::{EndSignal, ProgramWatch, WatchedProgram};
pub use workspace::{
    DirectoryEntry, EntryKind, FileInfo, OpenFile, ResolvedPath, Workspace, WorkspaceError, WorkspaceErrorKind,
    WriteOptions,
};

/// The version of `schemars` of the schemas of tool inputs, for authors who implement its `JsonSchema` themselves.
/// Inputs of tools get it with `#[derive(windlass::ToolInput)]`.
pub use schemars;
#[cfg(feature = "macros")]
pub use windlass_macros::ToolInputOfPort as ToolInput;

/// Items that `#[derive(ToolInput)]` refers to. Not part of the stable interface.
#[doc(hidden)]
pub mod derived {
    pub use crate::tool::ToolInput;
    pub use schemars;
    pub use serde;
}
