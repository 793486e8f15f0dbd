//! Output of a session: events, results of runs, and their parts.

pub use crate::typed::RunOutput;
pub use windlass_runtime::{EventFeed, EventStream, UnknownPosition, Watched};
pub use windlass_types::{
    AgentId, AgentIdentity, AgentPath, CompactTrigger, Compacted, ContentBlock, Continuation, DocumentSource,
    HookOutcome, HookVerdict, ImageSource, Interrupted, ModelErrorKind, ModelUsage, NanoUsd, RateLimit, RateLimitKind,
    RateLimitStatus, RetryStatus, RunFailure, RunFailureKind, RunId, RunOrigin, RunStarted, StateChange, Status,
    Steered, SteeredFate, SuccessfulRun, TaskEnded, TaskId, TaskInfo, TaskKind, TaskProgress, TaskStatus, Timestamp,
    ToolFailure, ToolFailureKind, ToolFinished, ToolProgress, ToolResultContent, ToolStarted, ToolUse, ToolUseId,
    Unsuccessful, Usage, Utilization,
};
