//! Sessions: storage, log format, and reconstruction of a conversation from any log.
//!
//! - [`SessionStore`] is the port; [`MemoryStore`] keeps sessions in memory, and
//!   `windlass-store` in files.
//! - An agent below the main one has a log of its own beside that of its session:
//!   [`SessionKey::of_agent`], [`AgentHeader`], [`SessionStore::agents`].
//! - [`LogEncoder`] writes entries as JSON lines, [`read_log`] reads any bytes back: unusable content is skipped and
//!   reported, and no other line is lost.
//! - [`LogReader`] reads a stored log from any position, for programs that follow a session of another one.
//! - [`repair`] makes the entries whole: every call gets exactly one result. It
//!   is total, and repairing twice is repairing once.
//! - [`Transcript`] is the conversation as a request contains it: a fold over the entries that cannot be invalid.
//!
//! - [`SessionDigest`] contains the figures of a log, and extracts the texts by which a session is found;
//!   [`SearchWords`] are the words of a search.
//!
//! - [`audit_log`] reports the reason of each call's decision, from the log alone, and a [`LogHead`] kept elsewhere
//!   shows later changes of the log.
//!
//! To resume: open, load, repair, append the entries added by the repair, fold. To return to an earlier point,
//! [`truncate`] before the fold; to leave the session unchanged and continue in a copy, [`fork_session`].
//!
//! This crate reads no files, uses no clock and needs no async runtime.
#![cfg_attr(docsrs, feature(doc_cfg))]

mod agent;
mod annotation;
mod audit;
mod branch;
mod call_ids;
mod check;
mod checkpoint;
mod codec;
mod copy;
mod digest;
mod foreign;
mod fork;
mod key;
mod last_run;
mod lease;
mod load;
mod masked;
mod memory;
mod pending;
mod reader;
mod repair;
mod rewound;
mod search;
mod store;
mod summary;
mod title;
mod titled;
mod transcript;
mod valid;

pub use agent::{AgentHeader, AgentSummary};
pub use annotation::{Annotation, BadAnnotation};
pub use audit::{
    BadHead, CallAudit, CallLine, FileChanged, HeadCheck, LineAudit, LineRange, LineState, LogAudit, LogHead,
    NamedAudit, NamedHead, QuestionAudit, ResultAudit, SessionAudit, VerdictAudit, audit_log,
};
pub use branch::{DropsMore, Truncated, UnknownEntry, truncate};
pub use call_ids::CallIds;
pub use check::{CheckReport, check_log, export_entries, export_messages};
pub use checkpoint::{
    ChangedBy, Checkpoint, CheckpointError, CheckpointErrorKind, CheckpointKind, Checkpoints, FileChange, LeftOut,
    NotRestored, NotRestoredKind, Rewind, RewindOptions, RewoundFile, Survey,
};
pub use codec::{END_OF_TORN_LINE, LogEncoder};
pub use copy::{ForkError, ForkRequest, ResumePoint, fork_session};
pub use digest::{LogText, LogTextKind, SessionDigest};
pub use fork::{Fork, Origin, fork};
pub use key::{ProjectKey, SessionKey, slug};
pub use last_run::{LastRun, OpenRun};
pub use lease::{Lease, Owner};
pub use load::{Log, read_agent_log, read_log};
pub use masked::{MaskText, MaskedStore};
pub use memory::MemoryStore;
pub use pending::{
    AnswerRefusal, PendingAnswers, PendingQuestions, StoredAnswer, StoredQuestion, TokenSecret, is_token_of,
    questions_below, repair_but_waiting, stored_questions, token_hash,
};
pub use reader::{LogChunk, LogReader};
pub use repair::{RenamedCall, RepairReport, repair, repair_but_pending};
pub use rewound::{RewindPoint, RewoundMark, rewind_conversation, rewind_point};
pub use search::{SearchWords, Snippet, words};
pub use store::{
    Durability, LoadReport, Loaded, LogHeader, SessionStore, SessionSummary, SkippedLine, StoreError, StoreErrorKind,
    annotate_by_append, create_by_append,
};
pub use summary::{SUMMARY_BYTES, summarize};
pub use title::TitleRequest;
pub use titled::Titled;
pub use transcript::{BEGINNING_LOST, INTERRUPTED, OUTCOME_UNKNOWN, Transcript};
pub use valid::check_messages;
