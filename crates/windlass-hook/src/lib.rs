//! Hooks: user code that is asked at fixed points of a run.
//!
//! Implement [`Hook`] with one method for each event that it cares about; each
//! event has its own action type, so a hook cannot answer what the event does
//! not allow. [`Hooks`] runs the hooks of a session in parallel and merges what
//! they say in declared order: deny before ask before allow, the first rewrite
//! that is given wins over later ones of the same rank.
//!
//! PreToolUse, PermissionRequest and UserPromptSubmit are gates: a hook that
//! fails or panics there denies the call or blocks the prompt, and is named. Elsewhere a failure is
//! reported and changes nothing.

mod action;
mod hook;
mod stack;

pub use action::{
    PermissionRequestAction, PostToolUseAction, PreCompactAction, PreToolUseAction, PromptAction, SessionStartAction,
    StopAction,
};
pub use hook::{
    Hook, HookError, Interest, PermissionRequestEvent, PostToolUse, PostToolUseFailure, PreCompact, PreToolUse,
    SessionEnd, SessionStart, Stop, SubagentStart, SubagentStop, UserPromptSubmit,
};
pub use stack::{HookContext, Hooks};
