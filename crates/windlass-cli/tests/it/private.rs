//! Protection of the command's secrets from its programs.

use crate::living::{alive, ended, eventually, number, signal, unique};
use crate::place::{Place, call, text};
use serde_json::json;
use std::os::unix::fs::{MetadataExt, PermissionsExt, chown};
use std::os::unix::process::CommandExt;
use std::process::Command;

/// An account without rights.
const OTHER_USER: u32 = 65_534;

/// The command for an account that is not the administrator, who may read everything.
fn unprivileged(place: &Place, args: &[&str]) -> Command {
    let mut command = place.command(args);
    if std::fs::metadata("/proc/self").unwrap().uid() != 0 {
        return command;
    }
    let program = place.path("windlass");
    // Written by another process: one that this one has open for writing cannot be run, and a child that another test
    // just forks has it open for a moment longer.
    let copied = Command::new("cp").arg(env!("CARGO_BIN_EXE_windlass")).arg(&program).status().unwrap();
    assert!(copied.success());
    for path in [place.path(""), place.home(), place.work(), place.path("script.json")] {
        chown(&path, Some(OTHER_USER), Some(OTHER_USER)).unwrap();
    }
    std::fs::set_permissions(&program, std::fs::Permissions::from_mode(0o755)).unwrap();
    let environment: Vec<_> =
        command.get_envs().map(|(name, value)| (name.to_owned(), value.map(Into::into))).collect();
    let environment: Vec<(_, std::ffi::OsString)> =
        environment.into_iter().filter_map(|(name, value)| Some((name, value?))).collect();
    command = Command::new(program);
    command.args(args).current_dir(place.work()).env_clear().envs(environment).uid(OTHER_USER).gid(OTHER_USER);
    command
}

#[test]
fn a_command_cannot_read_the_key_of_the_process_that_started_it() {
    // The parent of a command is its keeper, and the parent of that the process.
    let script = "host=$(sed 's/.*) [A-Z] \\([0-9]*\\) .*/\\1/' /proc/$PPID/stat)
                  cat /proc/$host/environ > environment; echo $? > codes
                  head -c 1 /proc/$host/mem; echo $? >> codes
                  cat /proc/$host/maps > maps; echo $? >> codes
                  ls /proc/$host/fd; echo $? >> codes
                  cat /proc/self/environ > own; echo $? >> codes
                  cat /proc/$PPID/environ > keeper
                  echo $host > parent; while [ ! -e go ]; do sleep 0.05; done";
    let place = Place::with_turns(&[call("Bash", &json!({ "command": script })), text("done")]);
    let mut run = unprivileged(&place, &["-p", "x", "--allowedTools", "Bash"]);
    let mut child = run.env("ANTHROPIC_API_KEY", "hush-hush").spawn().unwrap();
    let parent = number(&place.work().join("parent"));
    assert_eq!(parent, child.id().to_string());
    // A file that the system does not let its own account read belongs to the administrator.
    assert_eq!(std::fs::metadata(format!("/proc/{parent}/environ")).unwrap().uid(), 0);
    let codes = std::fs::read_to_string(place.work().join("codes")).unwrap();
    let codes: Vec<bool> = codes.lines().map(|code| code == "0").collect();
    assert_eq!(codes, [false, false, false, false, true]);
    assert_eq!(std::fs::read_to_string(place.work().join("environment")).unwrap(), "");
    for file in ["own", "keeper"] {
        assert!(!std::fs::read_to_string(place.work().join(file)).unwrap().contains("hush"), "{file}");
    }
    std::fs::write(place.work().join("go"), "").unwrap();
    assert_eq!(ended(&mut child), Some(0));
}

/// The process's protection keeps it from nothing that it needs.
#[test]
fn a_private_process_ends_its_trees_and_is_ended_with_them() {
    let tag = unique();
    let sleep = format!("sleep 1000.{tag}");
    let limited = json!({ "command": format!("setsid {sleep} & (trap '' TERM; {sleep}) & {sleep}"), "timeout": 300 });
    let last = json!({ "command": format!("setsid {sleep} & echo $$ > second; {sleep}") });
    let place = Place::with_turns(&[call("Bash", &limited), call("Bash", &last), text("done")]);
    let mut child = unprivileged(&place, &["-p", "x", "--allowedTools", "Bash"]).spawn().unwrap();
    number(&place.work().join("second"));
    // Processes of the second call alone: the shell, the one that left its session, and the one it waits for.
    eventually("the first call is over", || (alive(&format!("1000.{tag}")).len() <= 3).then_some(()));
    signal("-KILL", &child);
    ended(&mut child);
    eventually("nothing is left", || alive(&format!("1000.{tag}")).is_empty().then_some(()));
}
