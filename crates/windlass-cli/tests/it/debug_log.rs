//! The debug log of the command.
#![cfg(unix)]

use crate::place::{Place, Ran, text};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

const FOLDER: &str = "CLAUDE_CODE_DEBUG_LOGS_DIR";

fn files(folder: &Path) -> Vec<PathBuf> {
    std::fs::read_dir(folder).into_iter().flatten().map(|entry| entry.unwrap().path()).collect()
}

fn mode(path: &Path) -> u32 {
    std::fs::metadata(path).unwrap().permissions().mode() & 0o777
}

#[test]
fn a_log_is_private_and_written_where_it_is_asked_for() {
    let host = ["-p", "--input-format", "stream-json", "--output-format", "stream-json", "--verbose"];
    for args in [&["-p", "x"][..], &host] {
        for place_of_log in ["variable", "flag", "file", "none"] {
            let place = Place::with_turns(&[text("Done.")]);
            let folder = match place_of_log {
                "flag" => place.home().join(".windlass/debug"),
                _ => place.path("logs"),
            };
            let file = place.path("the.log");
            let path = file.to_str().unwrap();
            let more: &[&str] = match place_of_log {
                "flag" => &["--debug"],
                "file" => &["--debug-file", path],
                _ => &[],
            };
            let mut command = place.command(&[args, more].concat());
            command.env("ANTHROPIC_API_KEY", "sk-ant-api03-of-the-test");
            if place_of_log == "variable" {
                command.env(FOLDER, &folder);
            }
            let ran = Ran::from(command.stdin(std::process::Stdio::null()).output().unwrap()).with_code(0);
            let mut logs = files(&folder);
            logs.extend(file.exists().then(|| file.clone()));
            if place_of_log == "none" {
                assert!(logs.is_empty() && files(&place.home().join(".windlass/debug")).is_empty(), "{logs:?}");
                continue;
            }
            let [log] = logs.as_slice() else { panic!("{place_of_log} {args:?}: {logs:?} {ran:?}") };
            assert_eq!(mode(log), 0o600, "{place_of_log}");
            let text = std::fs::read_to_string(log).unwrap();
            assert!(text.contains("windlass debug log: version"), "{text}");
            assert!(text.contains("DEBUG windlass::debug_log: the debug log begins"), "{text}");
            assert!(!text.contains("of-the-test"), "{text}");
        }
    }
}

/// A log that cannot be written is said, and keeps no one from working.
#[test]
fn a_file_of_the_user_is_not_replaced() {
    let place = Place::with_turns(&[text("Done.")]);
    let file = place.path("notes.txt");
    std::fs::write(&file, "my notes").unwrap();
    let args = ["-p", "x", "--debug-file", file.to_str().unwrap()];
    let ran = place.run(&args).with_code(0);
    assert!(ran.stderr.contains("there is no debug log") && ran.stderr.contains("is no debug log"), "{ran:?}");
    assert_eq!(std::fs::read_to_string(&file).unwrap(), "my notes");
    // The log of an earlier run is replaced.
    std::fs::remove_file(&file).unwrap();
    for _ in 0..2 {
        place.run(&args);
        assert_eq!(std::fs::read_to_string(&file).unwrap().matches("windlass debug log: version").count(), 1);
    }
}
