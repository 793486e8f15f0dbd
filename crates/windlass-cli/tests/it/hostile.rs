//! Directories that another party has filled: the command starts or reports why not, and no program in them runs.

use crate::place::{Place, call, text, write};
use serde_json::json;
use std::os::unix::fs::symlink;
use std::path::Path;
use std::process::Command;
use std::time::Duration;

/// Longer than any start, shorter than a user waits.
const PATIENCE: Duration = Duration::from_secs(60);

fn fifo(path: &Path) {
    std::fs::create_dir_all(path.parent().unwrap()).unwrap();
    assert!(Command::new("mkfifo").arg(path).status().unwrap().success());
}

fn git(place: &Place, args: &[&str]) {
    let mut git = Command::new("git");
    git.args(args).current_dir(place.work()).env("GIT_CONFIG_GLOBAL", "/dev/null");
    assert!(git.status().unwrap().success(), "git {args:?}");
}

/// Runs the command, which must end. Its exit code and what it wrote to standard error.
fn ends(place: &Place, args: &[&str]) -> (Option<i32>, String) {
    let child = place.command(&[&["-p", "Go."], args].concat()).spawn().unwrap();
    let pid = child.id().to_string();
    let (sender, ended) = std::sync::mpsc::channel();
    std::thread::spawn(move || sender.send(child.wait_with_output()));
    let output = ended.recv_timeout(PATIENCE).unwrap_or_else(|_| {
        Command::new("kill").args(["-KILL", &pid]).status().unwrap();
        panic!("it hangs: {:?}", ended.recv());
    });
    let output = output.unwrap();
    (output.status.code(), String::from_utf8_lossy(&output.stderr).into_owned())
}

type Plant = fn(&Path);

#[test]
fn odd_files_neither_hang_nor_act() {
    // Planted files, and whether the command continues beside them.
    let cases: [(&str, Plant, bool); 10] = [
        ("a pipe for settings", |work| fifo(&work.join(".claude/settings.json")), false),
        ("a pipe for local settings", |work| fifo(&work.join(".windlass/settings.local.json")), false),
        ("endless settings", |work| link("/dev/zero", &work.join(".claude/settings.json")), false),
        ("a link into itself", |work| link(".claude", &work.join(".claude")), false),
        ("the folder of a process", |work| link("/proc/self", &work.join(".windlass")), true),
        ("pipes for commands and agents", pipes, true),
        ("a pipe for the repository", |work| fifo(&work.join(".git")), true),
        ("a repository elsewhere", |work| write(&work.join(".git"), "gitdir: /dev\n"), true),
        (
            "pipes in the repository",
            |work| {
                ["config", "index", "HEAD"].map(|name| fifo(&work.join(".git").join(name))).into_iter().for_each(drop)
            },
            true,
        ),
        (
            "commands deep down",
            |work| write(&work.join(".claude/commands").join("a/".repeat(200)).join("x.md"), "x"),
            true,
        ),
    ];
    for (what, plant, continues) in cases {
        for trust in [&[][..], &["--trust"]] {
            let place = Place::with_turns(&[call("Bash", &json!({ "command": "git status" })), text("Finished.")]);
            plant(&place.work());
            let (code, output) = ends(&place, trust);
            if continues {
                assert_eq!(code, Some(0), "{what} {trust:?}: {output}");
            } else {
                assert!(code != Some(0) && output.contains("settings"), "{what} {trust:?}: {output}");
            }
        }
    }
}

fn link(target: &str, path: &Path) {
    std::fs::create_dir_all(path.parent().unwrap()).unwrap();
    symlink(target, path).unwrap();
}

fn pipes(work: &Path) {
    for folder in [".claude/commands", ".claude/agents", ".windlass/commands", ".windlass/agents"] {
        fifo(&work.join(folder).join("x.md"));
    }
}

/// Trust in a repository is no leave for it to choose the mode, through whichever file it holds.
#[test]
fn a_local_file_that_came_with_the_repository_does_not_choose_the_mode() {
    for (file, is_held, writes) in [
        (".claude/settings.local.json", false, true),
        (".claude/settings.local.json", true, false),
        (".windlass/settings.local.json", true, false),
        (".claude/settings.json", true, false),
    ] {
        for trust in [&["--trust"][..], &["--setting-sources", "user,project,local"]] {
            let write_call = call("Write", &json!({ "file_path": "made", "content": "x" }));
            let place = Place::with_turns(&[write_call, text("Finished.")]);
            git(&place, &["init", "-q"]);
            write(&place.work().join(file), r#"{"permissions":{"defaultMode":"acceptEdits"}}"#);
            if is_held {
                git(&place, &["add", "-f", "."]);
            }
            let (_, output) = ends(&place, trust);
            assert_eq!(place.work().join("made").exists(), writes, "{file} {is_held} {trust:?}: {output}");
            assert_eq!(output.contains("cannot widen the mode"), !writes, "{file} {is_held} {trust:?}: {output}");
        }
    }
}

#[test]
fn a_pipe_that_the_command_line_names_does_not_block() {
    for flag in ["--mcp-config", "--agents", "--json-schema", "--replay", "--settings"] {
        let place = Place::with_turns(&[text("Done.")]);
        fifo(&place.path("work/pipe"));
        let (code, output) = ends(&place, &[flag, "pipe"]);
        assert_ne!(code, Some(0), "{flag}");
        assert!(output.contains("it is not a regular file"), "{flag}: {output}");
    }
    let place = Place::new();
    fifo(&place.path("script.json"));
    assert!(ends(&place, &[]).1.contains("it is not a regular file"));
    let place = Place::with_turns(&[text("Done.")]);
    fifo(&place.path("work/pipe"));
    let flags = ["--input-format", "stream-json", "--output-format", "stream-json", "--system-prompt-file", "pipe"];
    let prompt = json!({"type": "user", "message": {"role": "user", "content": "Go."}});
    let ran = place.run_with(&flags, &format!("{prompt}\n"));
    assert!(format!("{ran:?}").contains("--system-prompt-file pipe"), "{ran:?}");
}

#[test]
fn what_is_skipped_on_the_way_to_the_last_session_is_reported() {
    let place = Place::with_turns(&[text("Done."), text("Again.")]);
    place.run(&["-p", "Go."]).with_code(0);
    let folder = place.logs().pop().unwrap().parent().unwrap().to_path_buf();
    fifo(&folder.join("00000000-0000-4000-8000-000000000000.jsonl"));
    let ran = place.run(&["-p", "Go on.", "--continue"]).with_code(0);
    assert!(ran.stderr.contains("looking for the last session") && ran.stderr.contains("is skipped"), "{ran:?}");
}
