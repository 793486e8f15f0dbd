//! Sessions: opening, steering, watching and resuming them, and stored sessions.

pub use crate::options::Options;
pub use crate::prompt::PromptInput;
pub use crate::resume::Resume;
pub use crate::session_builder::SessionBuilder;
pub use crate::session_tools::SessionTools;
#[cfg(feature = "store")]
pub use crate::sessions::{
    ForkOptions, ListedSession, OpenQuestion, PageCursor, PageSource, SessionList, SessionMatch, SessionPage,
    SessionSearch, SessionTranscript, StoredSession, TranscriptEntry, TranscriptItem,
};
pub use windlass_context::{ContextShares, FileInstructions, InstructionSource, Masks, TrimRules};
pub use windlass_model::{SummaryError, SummaryRequest};
pub use windlass_runtime::judge;
pub use windlass_runtime::{
    Diagnostic, Diagnostics, ModelSelection, OpenError, Prompt, PromptKind, RewindError, Rewound, Session,
    SessionError, Severity, StoredFeed,
};
pub use windlass_session::{
    AgentSummary, CallAudit, CheckpointError, CheckpointErrorKind, FileChange, HeadCheck, LastRun, LineAudit,
    LineRange, LineState, LogTextKind, NamedAudit, NamedHead, OpenRun, ProjectKey, Rewind, RewindOptions, RewoundFile,
    SessionAudit, SessionDigest, SessionSummary, VerdictAudit,
};
pub use windlass_types::{
    ContextKind, ContextSection, ContextUsage, EntryId, EnvironmentContext, PromptPart, RunScope, SessionId,
    TaskRecord, Timestamp,
};
