//! Sessions: opening, steering, watching and resuming them.

pub use crate::home::Home;
pub use crate::options::Options;
pub use crate::prompt::PromptInput;
pub use crate::resume::Resume;
pub use crate::session_builder::SessionBuilder;
pub use crate::session_tools::SessionTools;
pub use windlass_context::ServerInstructions;
pub use windlass_runtime::{
    AnswerError, EventFeed, EventStream, ModelSelection, OpenError, Prompt, PromptKind, RewindError, Session,
    SessionError, SessionHandle, UnknownPosition, Watched,
};
pub use windlass_session::{
    CheckpointError, CheckpointErrorKind, FileChange, NotRestored, NotRestoredKind, Rewind, RewindOptions, RewoundFile,
    SessionSummary,
};
pub use windlass_types::{
    ContentBlock, Effort, EntryId, EnvironmentContext, PermissionMode, PermissionUpdate, SessionId, TaskId, Thinking,
    Timestamp, ToolUseId,
};
