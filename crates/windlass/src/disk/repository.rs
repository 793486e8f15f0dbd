//! Status of the git repository around a session, for the model.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;
use windlass_builtin_tools::Bash;
use windlass_context::RepositoryStatus;
use windlass_runtime::{MachineConfig, Ports, judge};
use windlass_tool::environment::child_environment;
use windlass_tool::{Cancel, ProcessCommand, ProcessExit, Tool, ToolSet};
use windlass_types::{Behavior, JsonText, ToolUse};

/// Time limit of the status: enough for a large repository, and the longest delay of a session's start.
const STATUS_TIMEOUT: Duration = Duration::from_secs(2);
/// Command line of the status. Without optional locks it writes nothing.
const STATUS: [&str; 4] = ["git", "--no-optional-locks", "status", "--short"];

/// Branch of the working directory, and with `status_wanted` the status. `None` without a repository. The status is left
/// out if this command would need a permission request as a call of the model, or if it takes too long.
pub(crate) async fn repository_status(
    machine: &MachineConfig,
    ports: &Ports,
    status_wanted: bool,
) -> Option<RepositoryStatus> {
    let branch = windlass_store::git_branch(&machine.cwd)?;
    let status = RepositoryStatus::new(Some(branch).filter(|branch| branch != "HEAD"));
    let changes = if status_wanted { changes(machine, ports).await } else { None };
    Some(match changes {
        Some(printed) => status.with_changes(&printed),
        None => status,
    })
}

async fn changes(machine: &MachineConfig, ports: &Ports) -> Option<String> {
    let bash = ToolSet::new([Arc::new(Bash::new()) as _]).ok()?;
    let input = JsonText::of(&BTreeMap::from([("command", STATUS.join(" "))])).ok()?;
    let call = ToolUse::new("git-status", <Bash as Tool>::NAME, input);
    let judged = judge(&bash, &ports.workspace, &machine.policy, &call, &machine.cwd).await;
    if judged.behavior != Behavior::Allow {
        return None;
    }
    let workspace: Vec<PathBuf> = machine.policy.directories().to_vec();
    let (program, args) = STATUS.split_first()?;
    let mut command = ProcessCommand::new(*program, &machine.cwd);
    command.args = args.iter().map(OsString::from).collect();
    command.env = child_environment(&ports.system.env, &workspace);
    command.timeout = Some(STATUS_TIMEOUT);
    let output = ports.process.run(command, &Cancel::new()).await.ok()?;
    (output.exit == ProcessExit::Code(0)).then_some(output.stdout.head)
}
