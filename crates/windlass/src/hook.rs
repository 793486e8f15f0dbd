//! Hooks: your code at fixed points of a run.

use crate::options::Options;
use std::sync::Arc;
pub use windlass_hook::{Hook, HookContext, HookError, Interest, InterestError, async_trait, hook_fn};
#[cfg(feature = "project")]
pub use windlass_hook_runner::{HookDefinition, HookHandler};
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
        options.hooks.code.push(Arc::new(self));
    }
}

#[cfg(feature = "project")]
impl HookSource<Self> for HookDefinition {
    fn add_to(self, options: &mut Options) {
        options.hooks.configured.push(self);
    }
}

/// A hook that runs a bash line before each tool call, with the event as JSON on standard input. Pass it to
/// [`hook`](crate::SessionBuilder::hook).
///
/// Exit code 2 denies the call, with standard error as the reason. Exit code 0 lets it pass, unless the program prints
/// an object with another decision. Any other exit is a failure, and denies the call too. The program runs like those
/// of Bash, for at most ten minutes.
///
/// ```
/// use windlass::{Outcome, Script, ScriptedModel, coding_tools, hook, query};
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// # let folder = tempfile::tempdir()?;
/// let guard = hook::command("grep -q secret && { echo 'Not that file.' >&2; exit 2; } || true").for_tools("Read|Write")?;
/// let model = ScriptedModel::new(Script::new()
///     .turn(|turn| turn.tool_use("Read", serde_json::json!({ "file_path": "secret.txt" })))
///     .turn(|turn| turn.text("I may not read it.")));
/// let tools = coding_tools(folder.path());
/// query("What is in secret.txt?").provider(model.clone()).tools(tools).hook(guard).await?;
/// assert!(format!("{:?}", model.requests()).contains("Not that file."));
/// # Ok(()) }
/// ```
#[cfg(feature = "project")]
#[must_use]
pub fn command(line: impl Into<String>) -> HookDefinition {
    HookDefinition::command(line)
}
