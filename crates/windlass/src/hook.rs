//! Hooks: your code at fixed points of a run.

use crate::options::Options;
#[cfg(feature = "project")]
pub use crate::project::configured_hook::{HookDefinition, HookHandler, command};
use std::sync::Arc;
pub use windlass_hook::{Hook, HookContext, HookError, Interest, InterestError, async_trait, hook_fn};
pub use windlass_types::hook::HookEvent;
pub use windlass_types::hook::action::{
    BatchAction, ConfigAction, ElicitationAction, FeedbackAction, NoAction, PermissionRequestAction, PostToolUseAction,
    PreCompactAction, PreToolUseAction, PromptAction, SessionStartAction, StopAction,
};
pub use windlass_types::hook::event::{
    ConfigChange, CwdChanged, DirectoryAdded, ElicitationEvent, ElicitationResultEvent, FileChanged,
    InstructionsLoaded, Notification, PermissionDenied, PermissionRequestEvent, PostCompact, PostModelSwitch,
    PostToolBatch, PostToolUse, PostToolUseFailure, PreCompact, PreSkillShellCommand, PreToolUse, SessionEnd,
    SessionStart, Stop, StopFailure, SubagentStart, SubagentStop, TaskCompleted, TaskCreated, UserPromptSubmit,
};
pub use windlass_types::{HookCall, HookEventName, HookOutcome, ToolMatcher};

/// Argument of [`hook`](crate::SessionBuilder::hook): a [`Hook`], or a definition as in settings files. `Kind` tells them
/// apart; the compiler infers it.
///
/// ```
/// use windlass::{Agent, hook::HookSource};
///
/// fn guarded<Kind>(agent: Agent, guard: impl HookSource<Kind>) -> Agent {
///     agent.hook(guard)
/// }
/// # let _ = guarded(windlass::agent(), windlass::hook_fn("log"));
/// ```
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a hook",
    label = "not a hook",
    note = "make one from async closures with `windlass::hook_fn`, or implement `windlass::Hook` with \
            `#[windlass::async_trait]` above the impl"
)]
pub trait HookSource<Kind> {
    /// Adds the hook to the options of a session.
    fn add_to(self, options: &mut Options);
}

impl<H: Hook> HookSource<()> for H {
    fn add_to(self, options: &mut Options) {
        options.hooks.push(Arc::new(self));
    }
}
