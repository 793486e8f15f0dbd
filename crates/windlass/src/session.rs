//! Sessions: opening, steering, watching and resuming them, and stored sessions.

pub use crate::home::Home;
pub use crate::options::Options;
pub use crate::prompt::PromptInput;
pub use crate::resume::Resume;
pub use crate::session_builder::SessionBuilder;
pub use crate::session_tools::SessionTools;
#[cfg(feature = "store")]
pub use crate::sessions::{
    ForkOptions, OpenQuestion, SessionTranscript, StoredSession, TranscriptEntry, TranscriptItem,
};
pub use windlass_context::{
    ContextShares, FileInstructions, InstructionSource, MaskStream, Masks, Mention, MentionedLines, ServerInstructions,
    TrimRules, mentions,
};
pub use windlass_model::{SummaryError, SummaryRequest};
pub use windlass_runtime::{
    AnswerError, Diagnostic, Diagnostics, EventFeed, EventStream, ModelSelection, OpenError, Prompt, PromptKind,
    RewindError, Rewound, Session, SessionError, SessionHandle, Severity, StoredFeed, UnknownPosition, Watched,
};
pub use windlass_session::{
    AgentSummary, BadAnnotation, BadHead, CallAudit, CallLine, CheckpointError, CheckpointErrorKind, FileChange,
    FileChanged, HeadCheck, LineAudit, LineRange, LineState, LogAudit, LogHead, LogTextKind, NamedAudit, NamedHead,
    NotRestored, NotRestoredKind, ProjectKey, QuestionAudit, ResultAudit, Rewind, RewindOptions, RewindPoint,
    RewoundFile, SessionAudit, SessionDigest, SessionSummary, VerdictAudit,
};
#[cfg(feature = "store")]
pub use windlass_store::{
    ListedSession, PageCursor, PageCursorError, PageSource, SessionList, SessionMatch, SessionPage, SessionPages,
    SessionSearch, SkippedFile,
};
pub use windlass_types::{
    AgentId, CompactTrigger, ContentBlock, ContextKind, ContextSection, ContextUsage, Effort, EntryId,
    EnvironmentContext, ModelFact, PermissionMode, PermissionUpdate, PromptCall, PromptCommand, PromptPart, Quotation,
    RunModel, RunScope, SessionId, TaskId, TaskRecord, Thinking, Timestamp, ToolUseId, TrimRecord, TrimmedResult,
};
