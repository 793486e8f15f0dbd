//! Report of a test that cannot run, and the file in which such reports are counted.

use std::process::{Command, Output};

use windlass_testkit::{SKIPPED_FILE, skipped};

const FACILITY: &str = "a machine of gold";

/// A helper of another test: the variable is that of a process.
#[test]
#[ignore = "another test runs it"]
fn lacking() {
    skipped(FACILITY);
}

fn run(file: &std::path::Path) -> Output {
    let mut command = Command::new(std::env::current_exe().unwrap());
    command.args(["--exact", "skip::lacking", "--ignored", "--nocapture"]).env(SKIPPED_FILE, file);
    command.output().unwrap()
}

#[test]
fn each_skip_is_a_line_of_the_file() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("skipped.txt");
    for count in 1..=2 {
        let output = run(&file);
        assert!(output.status.success(), "{output:?}");
        assert!(String::from_utf8_lossy(&output.stderr).contains("skipped: skip::lacking"), "{output:?}");
        let text = std::fs::read_to_string(&file).unwrap();
        let is_whole = |line: &str| {
            line.starts_with("skipped: skip::lacking (") && line.contains("skip.rs:") && line.ends_with(FACILITY)
        };
        assert!(text.lines().count() == count && text.lines().all(is_whole), "{text}");
    }
}

#[test]
fn a_skip_that_cannot_be_counted_fails() {
    let folder = tempfile::tempdir().unwrap();
    let output = run(folder.path());
    assert!(!output.status.success(), "{output:?}");
}
