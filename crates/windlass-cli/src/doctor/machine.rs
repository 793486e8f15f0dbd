//! The program, the terminal, the sandbox and git.

use super::check::Check;
use crate::terminal::Terminal;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use windlass::options::WorkspaceOptions;
use windlass::sandbox::SandboxOptions;
use windlass::{Script, ScriptedModel, coding_tools, session};

/// Version and place of the program.
pub(super) fn program() -> Check {
    let version = env!("CARGO_PKG_VERSION");
    match std::env::current_exe() {
        Ok(path) => Check::ok("program", format!("windlass {version} at {}", path.display())),
        Err(error) => Check::notice("program", format!("windlass {version}; its place is not known ({error})")),
    }
}

/// Abilities of the terminal.
#[cfg(unix)]
pub(super) fn terminal(terminal: Terminal) -> Check {
    use windlass_terminal::capabilities::{Capabilities, Presentation};
    let name = std::env::var("TERM").unwrap_or_default();
    if !terminal.stdin || !terminal.stdout {
        return Check::ok("terminal", "standard input or output is no terminal: only `windlass -p` works so");
    }
    let found = Capabilities::detect(|name| std::env::var(name).ok(), true);
    let unicode = if found.unicode { "Unicode" } else { "ASCII alone" };
    let text = format!("{name}, colours: {:?}, {unicode}", found.colors);
    match found.presentation {
        Presentation::Plain => Check::notice("terminal", format!("{name:?} has no control sequences"))
            .advice("set TERM to the terminal's name, such as xterm-256color"),
        Presentation::Inline if !found.unicode => {
            Check::notice("terminal", text).advice("a locale with UTF-8, such as LANG=C.UTF-8, shows all characters")
        }
        Presentation::Inline => Check::ok("terminal", text),
    }
}

/// Abilities of the terminal.
#[cfg(not(unix))]
pub(super) fn terminal(_: Terminal) -> Check {
    Check::notice("terminal", "conversations at the terminal need Unix: only `windlass -p` works here")
}

/// Proved level of the sandbox for commands.
pub(super) async fn sandbox() -> Check {
    let advice = "install bubblewrap, or allow unprivileged user namespaces; commands ask without a sandbox, too";
    let Ok(cwd) = std::env::current_dir() else { return Check::notice("sandbox", "there is no current directory") };
    let mut builder = session()
        .provider(ScriptedModel::new(Script::new()))
        .tools(coding_tools(&cwd))
        .cwd(&cwd)
        .workspace(SandboxOptions::new());
    if let Ok(program) = std::env::current_exe() {
        builder = builder.workspace(WorkspaceOptions::new().sandbox_helper(program));
    }
    let opened = match builder.open().await {
        Ok(opened) => opened,
        Err(error) => return Check::notice("sandbox", error.to_string()).advice(advice),
    };
    let about = opened.notices.iter().find(|notice| notice.contains("sandbox")).cloned();
    let _ = opened.handle.close().await;
    match about {
        Some(text) if text.contains("without a sandbox") => Check::notice("sandbox", text).advice(advice),
        Some(text) => Check::ok("sandbox", text),
        None => Check::notice("sandbox", "its level is not known"),
    }
}

/// Version of git.
pub(super) fn git() -> Check {
    let missing = || Check::notice("git", "git is not there: no branch, no status, no worktrees").advice("install git");
    let Some(program) = program_of_path("git") else { return missing() };
    let ran = Command::new(&program).arg("--version").stdin(Stdio::null()).stderr(Stdio::null()).output();
    match ran {
        Ok(ran) if ran.status.success() => {
            Check::ok("git", format!("{} at {}", String::from_utf8_lossy(&ran.stdout).trim(), program.display()))
        }
        _ => Check::notice("git", format!("{} does not run", program.display())),
    }
}

/// Finds a program in `PATH`, but none of the current directory: a project may have brought that.
fn program_of_path(name: &str) -> Option<PathBuf> {
    let cwd = std::env::current_dir().ok()?;
    let path = std::env::var_os("PATH")?;
    let is_foreign = |folder: &Path| folder.is_absolute() && !folder.starts_with(&cwd);
    let file = format!("{name}{}", std::env::consts::EXE_SUFFIX);
    std::env::split_paths(&path)
        .filter(|folder| is_foreign(folder))
        .map(|folder| folder.join(&file))
        .find(|path| path.is_file())
}
