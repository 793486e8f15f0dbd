//! `windlass uninstall`: what this program has left on the machine, and how it is removed. Removes nothing.

use crate::folder_size::{FolderSize, readable};
use crate::jsonl;
use crate::settings::current_directory;
use crate::terminal::clean_line;
use clap::Args;
use serde::Serialize;
use std::io::{Write as _, stdout};
use std::path::{Path, PathBuf};
use windlass::Home;

#[derive(Debug, Args)]
pub(crate) struct UninstallArgs {
    /// One JSON object
    #[arg(long)]
    json: bool,
}

/// A place that stays, and the command that removes it.
#[derive(Debug, Serialize)]
struct KeptPlace {
    path: PathBuf,
    content: &'static str,
    bytes: u64,
    remove: String,
}

/// Prints what would stay, and returns the exit code.
pub(crate) fn uninstall(args: &UninstallArgs) -> anyhow::Result<i32> {
    let program = std::env::current_exe().and_then(|path| path.canonicalize()).ok();
    let mut places = Vec::new();
    if let Some(program) = &program {
        places.push(place(program.clone(), "the program", remove_program(program)));
    }
    if let Ok(home) = Home::from_env() {
        let content = "sessions, settings, notes, stored keys and logins";
        places.push(removed_by_rm(home.root().to_path_buf(), content));
    }
    if let Ok(here) = current_directory() {
        let content = "settings, agents and commands of this project, which others may use";
        places.push(removed_by_rm(here.join(".windlass"), content));
    }
    places.retain(|place| place.path.symlink_metadata().is_ok());
    let mut out = stdout().lock();
    if args.json {
        jsonl::write(&mut out, &serde_json::json!({"places": places, "removed": false}))?;
        return Ok(0);
    }
    writeln!(out, "Nothing is removed by this command. windlass is in these places:")?;
    for place in &places {
        let size = readable(place.bytes);
        writeln!(out, "\n{}", clean_line(&format!("{} ({}, {size})", place.path.display(), place.content)))?;
        writeln!(out, "    {}", clean_line(&place.remove))?;
    }
    writeln!(
        out,
        "\nEach project in which you changed settings has a folder .windlass, too. Files of CLAUDE.md, AGENTS.md"
    )?;
    writeln!(
        out,
        "and .mcp.json belong to the projects; ~/.claude belongs to another program, and windlass only reads it."
    )?;
    Ok(0)
}

fn place(path: PathBuf, content: &'static str, remove: String) -> KeptPlace {
    let bytes = FolderSize::of(&path).bytes;
    KeptPlace { path, content, bytes, remove }
}

fn removed_by_rm(path: PathBuf, content: &'static str) -> KeptPlace {
    let remove = format!("rm -r {}", quoted(&path));
    place(path, content, remove)
}

/// Returns the path as one word of a shell.
fn quoted(path: &Path) -> String {
    let text = path.display().to_string();
    let is_plain = text.chars().all(|c| c.is_alphanumeric() || "/._-+".contains(c));
    if is_plain { text } else { format!("'{}'", text.replace('\'', r"'\''")) }
}

/// Returns the command that removes the program, by the place where package managers put it.
fn remove_program(program: &Path) -> String {
    let has = |part: &str| program.components().any(|component| component.as_os_str() == part);
    if has("node_modules") {
        "npm uninstall windlass        (with -g if it was installed with -g)".to_owned()
    } else if has("Cellar") || has("homebrew") {
        "brew uninstall windlass".to_owned()
    } else if program.parent().is_some_and(|bin| bin.ends_with(".cargo/bin")) {
        "cargo uninstall windlass-cli".to_owned()
    } else if is_of_python(program) {
        "pip uninstall windlass        (or: uv tool uninstall windlass, pipx uninstall windlass)".to_owned()
    } else {
        format!("rm {}", quoted(program))
    }
}

/// `true` if the program is in a virtual environment of Python, and so was installed by its package manager.
fn is_of_python(program: &Path) -> bool {
    let Some(folder) = program.parent() else { return false };
    folder.join("python").exists() && folder.parent().is_some_and(|root| root.join("pyvenv.cfg").exists())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_package_manager_removes_its_own() {
        for (path, expected) in [
            ("/usr/lib/node_modules/@windlass-rs/cli-linux-x64-gnu/bin/windlass", "npm uninstall windlass"),
            ("/opt/homebrew/bin/windlass", "brew uninstall windlass"),
            ("/home/me/.cargo/bin/windlass", "cargo uninstall windlass-cli"),
            ("/home/me/.local/bin/windlass", "rm /home/me/.local/bin/windlass"),
            ("/home/me/my bin/windlass", "rm '/home/me/my bin/windlass'"),
        ] {
            let command = remove_program(Path::new(path));
            assert!(command.starts_with(expected), "{path}: {command}");
        }
    }
}
