//! Stores of sessions and of earlier file contents: the ports [`SessionStore`] and [`Checkpoints`], the stored types,
//! and the stores of this crate.

pub use crate::home::Home;
pub use windlass_session::*;
#[cfg(feature = "store")]
pub use windlass_store::{
    CheckpointLimits, CheckpointRetention, CollectedCheckpoints, FileCheckpoints, FoundSession, JsonlStore,
    LogObserver, MemoryCheckpoints, SessionCheckpoints, SessionList, SkippedFile, audit_file, check_file, export_file,
    git_branch,
};
pub use windlass_types::{
    AgentId, AssistantEntry, AuditedDecision, CallDigest, CompactRecord, CompactTrigger, ContentBlock, Entry, EntryId,
    EntryKind, EnvironmentContext, JsonText, Message, MessageId, ModelUsage, NanoUsd, PermissionMode, RunId, RunRecord,
    SessionId, SpentRecord, StopReason, TaskId, TaskRecord, Timestamp, ToolResult, ToolResultEntry, ToolUseId, Usage,
    UserEntry,
};
