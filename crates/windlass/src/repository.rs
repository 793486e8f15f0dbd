//! Status of the git repository around a session, for the model.

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;
use windlass_builtin_tools::Bash;
use windlass_context::RepositoryStatus;
use windlass_permission::Policy;
use windlass_runtime::judge;
use windlass_tool::environment::child_environment;
use windlass_tool::{Cancel, Process, ProcessCommand, ProcessExit, Tool, ToolSet, Workspace};
use windlass_types::{Behavior, JsonText, ToolUse};

/// Time limit of the status: enough for a large repository, and the longest delay of a session's start.
const LONGEST: Duration = Duration::from_secs(2);
/// Command line of the status. Without optional locks it writes nothing.
const STATUS: [&str; 4] = ["git", "--no-optional-locks", "status", "--short"];

/// Parts of a session that the repository status needs.
pub(crate) struct Look<'a> {
    pub(crate) policy: &'a Policy,
    pub(crate) workspace: &'a Arc<dyn Workspace>,
    pub(crate) process: &'a Arc<dyn Process>,
    pub(crate) cwd: &'a Path,
    pub(crate) env: &'a [(OsString, OsString)],
}

impl Look<'_> {
    /// Branch, and the status if it is wanted. `None` without a repository. The status is left out if this command
    /// would need a permission request as a call of the model, or if it takes too long.
    pub(crate) async fn repository(&self, status_wanted: bool) -> Option<RepositoryStatus> {
        let branch = windlass_store::git_branch(self.cwd)?;
        let status = RepositoryStatus::new(Some(branch).filter(|branch| branch != "HEAD"));
        let changes = if status_wanted { self.changes().await } else { None };
        Some(match changes {
            Some(printed) => status.with_changes(&printed),
            None => status,
        })
    }

    async fn changes(&self) -> Option<String> {
        let bash = ToolSet::new([Arc::new(Bash::new()) as _]).ok()?;
        let input = JsonText::of(&std::collections::BTreeMap::from([("command", STATUS.join(" "))])).ok()?;
        let call = ToolUse::new("git-status", <Bash as Tool>::NAME, input);
        if judge(&bash, self.workspace, self.policy, &call, self.cwd).await.behavior != Behavior::Allow {
            return None;
        }
        let workspace: Vec<PathBuf> = self.policy.directories().to_vec();
        let (program, args) = STATUS.split_first()?;
        let mut command = ProcessCommand::new(*program, self.cwd);
        command.args = args.iter().map(OsString::from).collect();
        command.env = child_environment(self.env, &workspace);
        command.timeout = Some(LONGEST);
        let ended = self.process.run(command, &Cancel::new()).await.ok()?;
        (ended.exit == ProcessExit::Code(0)).then_some(ended.stdout.head)
    }
}
