//! Stores of sessions and of earlier file contents: the ports [`SessionStore`] and [`Checkpoints`], the stored types,
//! and the stores of this crate.

pub use windlass_session::{
    AgentHeader, AgentSummary, Annotation, CheckReport, Checkpoint, CheckpointError, CheckpointErrorKind,
    CheckpointKind, Checkpoints, Durability, Lease, LeftOut, LoadReport, Loaded, Log, LogChunk, LogEncoder, LogHeader,
    LogReader, Owner, PendingAnswers, ProjectKey, Rewind, RewoundMark, SUMMARY_BYTES, SessionKey, SessionStore,
    StoreError, StoreErrorKind, StoredAnswer, StoredQuestion, Survey, Transcript, annotate_by_append, create_by_append,
    read_agent_log, read_log, summarize,
};
#[cfg(feature = "store")]
pub use windlass_store::{
    CheckpointLimits, CheckpointRetention, Conflicts, FileCheckpoints, JsonlStore, LogObserver, MemoryCheckpoints,
    RewindScope, SessionRewind, SessionRewound, audit_file, check_file, export_file,
};
pub use windlass_tool::private_file::{create as create_private_file, create_dir as create_private_dir};
pub use windlass_types::{
    AssistantEntry, Entry, EntryKind, RunRecord, TaskRecord, Timestamp, ToolResultEntry, UserEntry,
};
