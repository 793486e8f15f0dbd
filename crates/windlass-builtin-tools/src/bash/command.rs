//! Translation of a command's text to the program that runs it.

use std::borrow::Cow;
use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use windlass_tool::environment::child_environment;
use windlass_tool::search_path::find_bash;
use windlass_tool::{EntryKind, ProcessCommand, ToolCx, ToolError};
use windlass_types::text::visible_path;

use super::BashInput;
use super::snapshot::Taken;
use super::text::clean;

/// Variables for programs without a terminal and without a user to ask. The session may set others.
/// Git also leaves out work that is optional, such as refreshing its index while another program uses it.
const UNATTENDED: &[(&str, &str)] = &[
    ("GIT_EDITOR", "true"),
    ("GIT_OPTIONAL_LOCKS", "0"),
    ("GIT_PAGER", "cat"),
    ("GIT_TERMINAL_PROMPT", "0"),
    ("PAGER", "cat"),
    ("TERM", "dumb"),
];

/// Command of a bash without start-up files that runs exactly this text.
pub(super) fn in_bash(
    shell: Option<&Path>,
    input: &BashInput,
    cwd: &Path,
    snapshot: Option<&Taken>,
    cx: &ToolCx,
) -> Result<ProcessCommand, ToolError> {
    let env = environment(cx, snapshot, cwd);
    let shell = match shell {
        Some(shell) => shell.to_owned(),
        // The other machine looks up `bash` in its own search path.
        None if !cx.workspace().is_local() => PathBuf::from("bash"),
        None => find_bash(&env).ok_or_else(|| ToolError::rejected("No bash was found on this machine."))?,
    };
    let mut command = ProcessCommand::new(shell, cwd);
    // The last word is `$0`, by which bash names itself in messages.
    command.args = ["--noprofile", "--norc", "-c", "--", &input.command, "bash"].map(OsString::from).into();
    command.env = env;
    command.merge_streams = true;
    command.only_reads = cx.permit().only_reads();
    command.outside_sandbox = input.dangerously_disable_sandbox == Some(true);
    command.shell_text = Some(input.command.clone());
    let cx = cx.clone();
    command.progress = Some(Arc::new(move |output: &str| cx.progress(clean(output))));
    Ok(command)
}

fn environment(cx: &ToolCx, snapshot: Option<&Taken>, cwd: &Path) -> Vec<(OsString, OsString)> {
    let given = snapshot.map_or(Cow::Borrowed(cx.env()), |taken| Cow::Owned(taken.over(cx.env())));
    let mut env = agent_environment(&given, cx.directories());
    // Without `PWD` a shell forgets the name (through links) of its directory.
    env.retain(|(name, _)| name != "PWD");
    env.push(("PWD".into(), cwd.into()));
    env
}

/// Environment of commands: that of programs without a user, and the variable that tells scripts that an agent runs
/// them.
pub(super) fn agent_environment(given: &[(OsString, OsString)], workspace: &[PathBuf]) -> Vec<(OsString, OsString)> {
    let mut env = unattended_environment(given, workspace);
    env.retain(|(name, _)| name != "CLAUDECODE");
    env.push(("CLAUDECODE".into(), "1".into()));
    env
}

/// Environment of programs that run without a user: the given variables that pass [`child_environment`], and settings
/// that keep programs from asking and paging, unless the given variables set others.
pub fn unattended_environment(given: &[(OsString, OsString)], workspace: &[PathBuf]) -> Vec<(OsString, OsString)> {
    let mut env = child_environment(given, workspace);
    for (name, value) in UNATTENDED {
        if !env.iter().any(|(known, _)| known == name) {
            env.push((name.into(), value.into()));
        }
    }
    env
}

pub(super) fn variable<'a>(env: &'a [(OsString, OsString)], name: &str) -> Option<&'a OsStr> {
    env.iter().find(|(known, _)| known == name).map(|(_, value)| value.as_os_str())
}

/// Working directory of the session, or the start directory if that one is gone.
pub(super) async fn start_directory(cx: &ToolCx) -> Result<PathBuf, ToolError> {
    for directory in std::iter::once(cx.cwd()).chain(cx.directories().iter().map(PathBuf::as_path)) {
        if let Ok(resolved) = cx.workspace().resolve(directory).await
            && resolved.kind == EntryKind::Directory
        {
            return Ok(directory.to_owned());
        }
    }
    Err(ToolError::rejected(format!("The directory {} does not exist any more.", visible_path(cx.cwd()))))
}

/// Folder for a file that lives as long as the command.
pub(super) fn temporary_folder(cx: &ToolCx) -> PathBuf {
    let configured = variable(cx.env(), "TMPDIR").map(PathBuf::from).filter(|folder| folder.is_absolute());
    configured.unwrap_or_else(|| PathBuf::from("/tmp"))
}

/// Name of the file with all the output. Ids of calls come from the model's provider, so they are only used as names if
/// they are plain.
pub(super) fn spill_name(cx: &ToolCx) -> String {
    let id = cx.tool_use_id().as_str();
    let is_plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '-');
    let plain: String = id.chars().filter(|c| is_plain(*c)).take(64).collect();
    format!("bash-{plain}-{:08x}.txt", cx.ids().bits() as u32)
}
