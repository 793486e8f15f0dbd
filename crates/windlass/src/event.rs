//! Output of a session: events, results of runs, and their parts.

pub use crate::typed::{RunOutput, Typed};
pub use windlass_runtime::{EventFeed, EventStream, UnknownPosition, Watched};
pub use windlass_types::{
    AgentId, AgentIdentity, AgentPath, AgentRights, AttemptId, CommandKinds, CompactTrigger, Compacted, ContentBlock,
    Continuation, Delta, DocumentSource, EntryId, Event, EventKind, HookEventName, HookOutcome, HookVerdict,
    ImageSource, Interrupted, JsonError, JsonText, MessageId, ModelErrorKind, ModelUsage, NanoUsd, Outcome, QuestionId,
    RateLimit, RateLimitKind, RateLimitStatus, RetryStatus, RunFailure, RunFailureKind, RunId, RunOrigin, RunResult,
    RunStarted, SessionId, StateChange, Status, Steered, SteeredFate, StopReason, SuccessfulRun, TaskEnded, TaskId,
    TaskInfo, TaskKind, TaskProgress, TaskStatus, TaskUsage, Timestamp, ToolFailure, ToolFailureKind, ToolFinished,
    ToolProgress, ToolResult, ToolResultContent, ToolStarted, ToolUse, ToolUseId, UnknownEvent, Unsuccessful, Usage,
    Utilization, WithdrawReason,
};
