//! Configured hooks that a program gives.

use crate::hook::HookSource;
use crate::options::Options;
pub use windlass_hook_runner::{HookDefinition, HookHandler};

impl HookSource<Self> for HookDefinition {
    fn add_to(self, options: &mut Options) {
        options.project.hooks.push(self);
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
#[must_use]
pub fn command(line: impl Into<String>) -> HookDefinition {
    HookDefinition::command(line)
}
