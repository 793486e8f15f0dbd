//! The system fails us: whichever call it refuses, no process, descriptor or file is left behind, nothing hangs, and
//! an error says what happened.
//!
//! `strace` makes system calls fail; where there is none, those tests say so and end.

use std::path::Path;
use std::time::Duration;

use windlass_local::LocalProcess;
use windlass_testkit::strace::{self, Inside, Subject, inject};
use windlass_tool::{Cancel, Process, ProcessCommand};

use crate::programs::support::{alive, eventually, shell, sleeper, unique};

const TAG: &str = "WINDLASS_TEST_FAULTS";
/// Number of files that each thread opens and reads before the test begins. The loader opens and reads no more in the
/// first thread, so a fault after them does not keep the program from being loaded.
const BEFORE: usize = 8;

/// One command of each kind: it ends, it leaves something behind, its time is up, it writes a file, it leaves behind
/// what has nothing of it but the mark. A last one is dropped.
fn commands(tag: &str, place: &Path) -> Vec<ProcessCommand> {
    let sleep = sleeper(tag);
    let mut limited = shell(&format!("{sleep} & exec {sleep}"));
    limited.timeout = Some(Duration::from_millis(50));
    let mut flood = shell("printf '%05000d\\n' 1 2 3 4 5 6 7 8 9");
    flood.spill = Some(place.join("output"));
    flood.spill_above = Some(0);
    let left = shell(&format!("(setsid {sleep} &) ; {sleep} & echo left"));
    let away = format!("setsid --fork sh -c 'echo away; exec {sleep} >/dev/null 2>&1' | (read -r up; echo $up)");
    vec![shell("echo done"), left, limited, flood, shell(&away)]
}

/// Not a test of its own: the program whose system calls fail.
#[test]
#[ignore = "another test starts it, with faults"]
fn subject() {
    let (Ok(tag), Some(inside)) = (std::env::var(TAG), Inside::find()) else { return };
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    let mut report = String::new();
    runtime.block_on(async {
        // The runtime has its own descriptors by now.
        tokio::task::spawn_blocking(|| strace::open_and_read(BEFORE)).await.unwrap();
        strace::open_and_read(BEFORE);
        let before = strace::descriptors();
        inside.begin();
        let process = LocalProcess::new(tag.clone());
        for command in commands(&tag, inside.place()) {
            let ran = process.run(command, &Cancel::new()).await;
            report.push_str(&match ran {
                Ok(outcome) => {
                    let file = if outcome.spilled.as_ref().is_none_or(|file| file.is_whole) {
                        ""
                    } else {
                        ", not all on disk"
                    };
                    format!("{:?}: {}{file}\n", outcome.exit, outcome.stdout.head.len())
                }
                Err(error) => format!("error: {}\n", error.message),
            });
        }
        let never = Cancel::new();
        let dropped = tokio::time::timeout(Duration::from_millis(100), process.run(shell(&sleeper(&tag)), &never));
        report.push_str(if dropped.await.is_err() { "dropped\n" } else { "not dropped\n" });
        drop(process);
        // The watchdog that is gone is not waited for, but its pipe is closed.
        let after = strace::descriptors();
        report.push_str(&format!("descriptors: {}\n", i64::try_from(after).unwrap() - i64::try_from(before).unwrap()));
    });
    inside.report(&report);
}

/// The lines of the report of the program, run under an `strace` with these options. Nothing if it did not begin: the
/// fault was met before.
fn report_of(options: &[impl AsRef<str>], what: &str) -> Option<Vec<String>> {
    let tag = unique();
    let place = tempfile::tempdir().unwrap();
    let report = Subject::new("programs::faults::subject", place.path()).env(TAG, &tag).run(options, what)?;
    eventually(&format!("{what}: nothing is left of it"), || alive(&tag).is_empty());
    let lines: Vec<String> = report.lines().map(str::to_owned).collect();
    assert_eq!(lines.len(), 7, "{what}: {report}");
    for line in &lines {
        let names_it = line.contains("/bin/bash") || line.contains("too long");
        let says_what = line.contains("was not started") || line.contains("could not be");
        let is_clear = !line.starts_with("error: ") || (names_it && says_what);
        assert!(is_clear, "{what}: {report}");
    }
    let file = place.path().join("output").exists();
    assert!(!file || !lines[3].starts_with("error: The program was not started"), "{what}: {report}");
    Some(lines)
}

/// The options that make calls fail which concern a path.
fn at(path: &str, call: &str, error: &str, when: &str) -> Vec<String> {
    ["-P", path].map(str::to_owned).into_iter().chain(inject(call, error, when)).collect()
}

#[test]
fn without_faults_every_command_does_what_it_should() {
    let report = report_of(&[""; 0], "no fault").unwrap();
    assert_eq!(report[..2], ["Code(0): 5", "Code(0): 5"]);
    assert_eq!(report[2], "TimedOut: 0");
    assert_eq!(report[3..], ["Code(0): 45009", "Code(0): 5", "dropped", "descriptors: 0"]);
}

#[test]
fn a_call_that_the_system_refuses_leaves_nothing_behind() {
    if !strace::is_available() {
        return;
    }
    // Name of the call, its error, and the numbers of the calls that fail. Some calls come before the test begins.
    let calls = [
        ("pipe2", "EMFILE", 1..=4),
        ("vfork,fork,clone,clone3", "EAGAIN", 2..=6),
        ("setsid", "EPERM", 1..=1),
        ("chdir", "EIO", 1..=1),
        ("ioctl", "EIO", 1..=2),
        ("fcntl", "EMFILE", 5..=8),
        ("fstat,newfstatat,statx", "EIO", 9..=12),
        ("epoll_ctl", "ENOMEM", 3..=6),
        ("wait4,waitid", "ECHILD", 1..=3),
        ("kill", "EPERM", 1..=3),
        ("pidfd_open", "EMFILE", 1..=2),
        ("pidfd_send_signal", "EPERM", 1..=2),
        ("getdents64", "EIO", 3..=5),
    ];
    for (call, error, places) in calls {
        let mut met = 0;
        for when in places {
            let what = format!("{error} at {call} {when}");
            if let Some(report) = report_of(&inject(call, error, when), &what) {
                assert_eq!(report[6], "descriptors: 0", "{what}");
                met += 1;
            }
        }
        assert!(met > 0, "{call}: what is tested never began");
    }
}

#[test]
fn output_that_the_disk_does_not_take_ends_no_command() {
    if !strace::is_available() {
        return;
    }
    for (error, when) in [("ENOSPC", "1"), ("ENOSPC", "1+"), ("EIO", "1+"), ("EDQUOT", "1")] {
        let what = format!("{error} at write {when}");
        let report = report_of(&at("PLACE/output", "write", error, when), &what).unwrap();
        // All of it is in memory nevertheless.
        assert_eq!(report[3], "Code(0): 45009, not all on disk", "{what}");
        assert_eq!(report[6], "descriptors: 0", "{what}");
    }
}

/// Errors with which a file is not opened, whatever file it is. Those that say something of the file, such as that it
/// is not there, are true where the system says them: a process whose files are not there is gone.
const NOT_OPENED: &[&str] = &["EMFILE", "ENFILE", "ENOMEM", "EIO"];
/// Errors with which a file is not read.
const NOT_READ: &[&str] = &["EIO", "ENOMEM"];

/// Errors with which a program is not started, and a part of the message for each.
const NOT_STARTED: &[(&str, &str)] = &[
    ("ENOENT", "something that it needs was not found"),
    ("EACCES", "Permission denied"),
    ("ETXTBSY", "Text file busy"),
    ("ENOMEM", "Cannot allocate memory"),
    ("E2BIG", "too long"),
    ("EMFILE", "Too many open files"),
    ("ENFILE", "Too many open files in system"),
    ("EIO", "Input/output error"),
];

#[test]
fn a_program_that_the_system_does_not_start_is_named_with_the_cause() {
    if !strace::is_available() {
        return;
    }
    for (error, cause) in NOT_STARTED {
        let report = report_of(&at("/bin/bash", "execve", error, "1+"), error).unwrap();
        for line in &report[..5] {
            assert!(line.starts_with("error: ") && line.contains(cause), "{error}: {report:?}");
        }
        assert_eq!(report[5..], ["not dropped", "descriptors: 0"], "{error}");
        // Only the first one is not started.
        let report = report_of(&at("/dev/null", "openat", error, "1"), error).unwrap();
        assert_eq!(
            report[1..],
            ["Code(0): 5", "TimedOut: 0", "Code(0): 45009", "Code(0): 5", "dropped", "descriptors: 0"]
        );
    }
}

#[test]
fn without_a_watchdog_commands_run_all_the_same() {
    if !strace::is_available() {
        return;
    }
    for error in ["ENOENT", "EACCES", "ENOMEM", "EIO"] {
        let report = report_of(&at("/bin/sh", "execve", error, "1+"), error).unwrap();
        assert_eq!(report[..4], ["Code(0): 5", "Code(0): 5", "TimedOut: 0", "Code(0): 45009"], "{error}");
        assert_eq!(report[5..], ["dropped", "descriptors: 0"], "{error}");
    }
}

/// Injects every error into these calls by their number; nothing else may come of it than of the others.
fn each(call: &str, places: impl Iterator<Item = usize>, errors: &[&str], all: bool) {
    let mut met = 0;
    for when in places {
        // Another one each time, unless all are to be tried.
        let errors = if all { errors } else { std::slice::from_ref(&errors[when % errors.len()]) };
        for error in errors {
            let what = format!("{error} at {call} {when}");
            if let Some(report) = report_of(&inject(call, error, when), &what) {
                assert_eq!(report[6], "descriptors: 0", "{what}: {report:?}");
                met += 1;
            }
        }
    }
    assert!(met > 0, "{call}: what is tested never began");
}

#[test]
fn a_file_that_is_not_opened_leaves_nothing_behind() {
    if strace::is_available() {
        each("openat", (5..40).step_by(3), NOT_OPENED, false);
    }
}

#[test]
fn a_read_that_fails_leaves_nothing_behind() {
    if strace::is_available() {
        each("read", (5..60).step_by(5), NOT_READ, false);
    }
}

#[test]
#[ignore = "takes minutes: every error at every call"]
fn every_error_of_reading_and_opening_leaves_nothing_behind() {
    if strace::is_available() {
        each("openat", 5..48, NOT_OPENED, true);
        each("read", 5..64, NOT_READ, true);
    }
}
