//! Hooks: your code at fixed points of a run.

pub use windlass_hook::*;
pub use windlass_types::{
    CompactTrigger, ContentBlock, HookCall, HookEventName, HookOutcome, HookVerdict, JsonText, PermissionAnswer,
    PermissionMode, PermissionUpdate, SessionId, ToolMatcher, ToolMatcherError, ToolUseId,
};
