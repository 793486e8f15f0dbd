//! The data types of windlass, for every boundary of the agent runtime.
//!
//! Messages and content blocks ([`Message`], [`ContentBlock`]), requests to models and the events of their streams
//! ([`ModelRequest`], [`ModelEvent`]), specifications of tools and decisions of permissions ([`ToolSpec`], [`Access`],
//! [`Decision`]), events for hosts ([`Event`]) and log entries ([`Entry`]).
//!
//! This crate has no behaviour beyond keeping its own invariants, no async and
//! no dependencies but `serde` and `serde_json`, and `schemars` with the feature
//! `schema`. Tool inputs and unknown data are kept as exact JSON text
//! ([`JsonText`]), never as a parsed tree, so that numbers, key order and escapes
//! survive from the model's stream to the log and into the next request.
#![cfg_attr(docsrs, feature(doc_cfg))]

mod agent;
mod command_kinds;
mod content;
mod context_usage;
mod edit;
mod entry;
mod environment;
mod event;
pub mod hook;
mod id;
mod json;
pub mod locale;
pub mod mcp_name;
mod media;
mod media_limits;
mod message;
mod model;
mod model_failure;
mod model_info;
pub mod names;
pub mod near;
mod origin;
pub mod path;
mod permission;
mod prompt;
mod rate_limit;
mod run;
#[cfg(feature = "schema")]
mod schema;
mod scope;
pub mod secret;
mod steering;
mod task;
pub mod text;
mod time;
mod tool;
mod usage;
mod web_search;

pub use agent::{AgentIdentity, AgentPath, AgentRights};
pub use command_kinds::CommandKinds;
pub use content::{ContentBlock, ToolResult, ToolResultContent, ToolUse};
pub use context_usage::{ContextKind, ContextSection, ContextUsage};
pub use edit::EditPreview;
pub use entry::{
    AssistantEntry, CompactRecord, CompactTrigger, Entry, EntryKind, ModelFact, QueuedPrompt, RunRecord, SpentRecord,
    ToolResultEntry, TrimRecord, TrimmedResult, UserEntry,
};
pub use environment::EnvironmentContext;
pub use event::{
    Compacted, Delta, Event, EventKind, RetryStatus, RunStarted, StateChange, Status, ToolFinished, ToolProgress,
    ToolStarted, UnknownEvent, WithdrawReason,
};
pub use hook::{HookCall, HookEventName, HookOutcome, HookVerdict};
pub use id::{AgentId, AttemptId, EntryId, MessageId, QuestionId, RunId, SessionId, TaskId, ToolUseId};
pub use json::{JsonError, JsonText};
pub use media::{DocumentSource, IMAGE_TYPES, ImageSource, media_type_of};
pub use media_limits::MediaLimits;
pub use message::{Message, Role, SharedMessage};
pub use model::{
    AddedTools, BlockStart, CacheTtl, Effort, ModelEvent, ModelItem, ModelRequest, ResponseFormat, SectionScope,
    StopReason, StreamDelta, SystemSection, Thinking, ToolChoice,
};
pub use model_failure::{ErrorClass, ModelErrorKind};
pub use model_info::{LongPrompt, ModelInfo, Price};
pub use origin::{Api, Origin};
pub use permission::{
    AnsweredBy, AuditedAnswer, AuditedDecision, AuditedSandbox, Behavior, CallDigest, CallEffect, CallImpact, Decision,
    DecisionReason, InputChange, InputChangedBy, MadeCall, MatchedRule, PendingQuestion, PermissionAnswer,
    PermissionDenial, PermissionGroup, PermissionMode, PermissionRequest, PermissionUpdate, QuestionToken, RiskGrade,
    RuleOrigin, RuleSource, RuleValue, TokenHash, UpdateDestination, WaitingAgent, WaitingCall,
};
pub use prompt::{Prompt, PromptKind, Quotation};
pub use rate_limit::{RateLimit, RateLimitKind, RateLimitStatus, Utilization};
pub use run::{
    Continuation, Interrupted, ModelUsage, Outcome, RunFailure, RunFailureKind, RunOrigin, RunResult, SuccessfulRun,
    Unsuccessful,
};
pub use scope::{PromptCall, PromptCommand, PromptPart, RunModel, RunScope};
pub use steering::{Steered, SteeredFate};
pub use task::{TaskEnded, TaskInfo, TaskKind, TaskProgress, TaskRecord, TaskStatus, TaskUsage};
pub use time::Timestamp;
pub use tool::{
    Access, ContextChange, ToolFailure, ToolFailureKind, ToolLoading, ToolMatcher, ToolMatcherError, ToolOutcome,
    ToolSpec,
};
pub use usage::{ApiUsage, NanoUsd, Usage, WholeNumber};
pub use web_search::{ServerTool, ServerWebSearch, WebPage, WebSearched};
