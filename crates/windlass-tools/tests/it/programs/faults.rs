//! The system fails us: whichever call it refuses, no process, descriptor or file is left behind, nothing hangs, and
//! an error says what happened.
//!
//! `strace` makes system calls fail; where there is none, those tests say so and end.

use std::io::Read as _;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use windlass_tool::{Cancel, Process, ProcessCommand};
use windlass_tools::LocalProcess;

use crate::programs::support::{alive, eventually, shell, sleeper, unique};

const TAG: &str = "WINDLASS_TEST_FAULTS";
/// Where the program that is tested writes files and its report.
const PLACE: &str = "WINDLASS_TEST_FAULTS_PLACE";
/// So many files are opened and read in each thread before what is tested begins. The loader opens and reads no more
/// in the first thread, so that a fault behind them does not keep the program from being loaded.
const BEFORE: usize = 8;
/// Longer than one run of that program takes, on any machine.
const PATIENCE: Duration = Duration::from_secs(120);

fn descriptors() -> usize {
    let count = || std::fs::read_dir("/proc/self/fd")?.try_fold(0, |count, entry| entry.map(|_| count + 1));
    // The fault may be meant for this very call, or for reading on.
    count().or_else(|_: std::io::Error| count()).unwrap()
}

fn read_before() {
    for _ in 0..BEFORE {
        // The fault may be meant for this.
        let _ = std::fs::File::open("/dev/zero").and_then(|mut zeros| zeros.read(&mut [0; 1]));
    }
}

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
    let Ok(tag) = std::env::var(TAG) else { return };
    let place = std::path::PathBuf::from(std::env::var_os(PLACE).unwrap());
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    let mut report = String::new();
    runtime.block_on(async {
        // The runtime has its own descriptors by now.
        tokio::task::spawn_blocking(read_before).await.unwrap();
        read_before();
        let before = descriptors();
        std::fs::write(place.join("begun"), "").unwrap();
        let process = LocalProcess::new(tag.clone());
        for command in commands(&tag, &place) {
            let ran = process.run(command, &Cancel::new()).await;
            report.push_str(&match ran {
                Ok(outcome) => {
                    let file = if outcome.spilled_whole { "" } else { ", not all on disk" };
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
        let after = descriptors();
        report.push_str(&format!("descriptors: {}\n", i64::try_from(after).unwrap() - i64::try_from(before).unwrap()));
    });
    // The fault may be meant for this very call.
    std::fs::write(place.join("report"), &report).or_else(|_| std::fs::write(place.join("report"), &report)).unwrap();
}

/// The lines of the report of the program, run under `wrapper`. Nothing if it did not begin: the fault was met before.
fn report_of(wrapper: &[&str], what: &str) -> Option<Vec<String>> {
    let tag = unique();
    let place = tempfile::tempdir().unwrap();
    let words = wrapper.iter().map(|word| word.replace("PLACE", place.path().to_str().unwrap()));
    let mut words = words.chain([std::env::current_exe().unwrap().to_str().unwrap().to_owned()]);
    let mut child = Command::new(words.next().unwrap())
        .args(words)
        .args(["--exact", "programs::faults::subject", "--ignored", "--test-threads=1"])
        .env(TAG, &tag)
        .env(PLACE, place.path())
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let began = Instant::now();
    while child.try_wait().unwrap().is_none() {
        if began.elapsed() > PATIENCE {
            child.kill().unwrap();
            panic!("{what}: it hangs");
        }
        std::thread::sleep(Duration::from_millis(5));
    }
    let said = std::io::read_to_string(child.stderr.take().unwrap()).unwrap();
    if !place.path().join("begun").exists() {
        return None;
    }
    assert!(!said.contains("panicked"), "{what}: {said}");
    eventually(&format!("{what}: nothing is left of it"), || alive(&tag).is_empty());
    let report = std::fs::read_to_string(place.path().join("report"));
    let report = report.unwrap_or_else(|error| panic!("{what}: {error}: {said}"));
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

#[track_caller]
fn has_strace() -> bool {
    let works =
        Command::new("strace").args(["-qq", "-o", "/dev/null", "true"]).status().is_ok_and(|status| status.success());
    if !works {
        windlass_testkit::skipped("an strace that may trace");
    }
    works
}

#[test]
fn without_faults_every_command_does_what_it_should() {
    let report = report_of(&["env"], "no fault").unwrap();
    assert_eq!(report[..2], ["Code(0): 5", "Code(0): 5"]);
    assert_eq!(report[2], "TimedOut: 0");
    assert_eq!(report[3..], ["Code(0): 45009", "Code(0): 5", "dropped", "descriptors: 0"]);
}

#[test]
fn a_call_that_the_system_refuses_leaves_nothing_behind() {
    if !has_strace() {
        return;
    }
    // Which call, how it fails, and which of them does: some come before what is tested.
    let calls = [
        ("pipe2", "EMFILE", 1..=4),
        ("vfork,fork,clone", "EAGAIN", 1..=3),
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
            let inject = format!("inject={call}:error={error}:when={when}");
            let trace = format!("trace={call}");
            let wrapper = ["strace", "-f", "-qq", "-o", "/dev/null", "-e", &trace, "-e", &inject];
            if let Some(report) = report_of(&wrapper, &inject) {
                assert_eq!(report[6], "descriptors: 0", "{inject}");
                met += 1;
            }
        }
        assert!(met > 0, "{call}: what is tested never began");
    }
}

#[test]
fn output_that_the_disk_does_not_take_ends_no_command() {
    if !has_strace() {
        return;
    }
    for (error, when) in [("ENOSPC", "1"), ("ENOSPC", "1+"), ("EIO", "1+"), ("EDQUOT", "1")] {
        let inject = format!("inject=write:error={error}:when={when}");
        let wrapper =
            ["strace", "-f", "-qq", "-o", "/dev/null", "-P", "PLACE/output", "-e", "trace=write", "-e", &inject];
        let report = report_of(&wrapper, &inject).unwrap();
        // All of it is in memory nevertheless.
        assert_eq!(report[3], "Code(0): 45009, not all on disk", "{inject}");
        assert_eq!(report[6], "descriptors: 0", "{inject}");
    }
}

/// Errors with which a file is not opened, whatever file it is. Those that say something of the file, such as that it
/// is not there, are true where the system says them: a process whose files are not there is gone.
const NOT_OPENED: &[&str] = &["EMFILE", "ENFILE", "ENOMEM", "EIO"];
/// Errors with which a file is not read.
const NOT_READ: &[&str] = &["EIO", "ENOMEM"];

/// Errors with which a program is not started, and words of what is said of each.
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
    if !has_strace() {
        return;
    }
    for (error, cause) in NOT_STARTED {
        let inject = format!("inject=execve:error={error}");
        let wrapper =
            ["strace", "-f", "-qq", "-o", "/dev/null", "-P", "/bin/bash", "-e", "trace=execve", "-e", &inject];
        let report = report_of(&wrapper, &inject).unwrap();
        for line in &report[..5] {
            assert!(line.starts_with("error: ") && line.contains(cause), "{inject}: {report:?}");
        }
        assert_eq!(report[5..], ["not dropped", "descriptors: 0"], "{inject}");
        // Only the first one is not started.
        let inject = format!("inject=openat:error={error}:when=1");
        let wrapper =
            ["strace", "-f", "-qq", "-o", "/dev/null", "-P", "/dev/null", "-e", "trace=openat", "-e", &inject];
        let report = report_of(&wrapper, &inject).unwrap();
        assert_eq!(
            report[1..],
            ["Code(0): 5", "TimedOut: 0", "Code(0): 45009", "Code(0): 5", "dropped", "descriptors: 0"]
        );
    }
}

#[test]
fn without_a_watchdog_commands_run_all_the_same() {
    if !has_strace() {
        return;
    }
    for error in ["ENOENT", "EACCES", "ENOMEM", "EIO"] {
        let inject = format!("inject=execve:error={error}");
        let wrapper = ["strace", "-f", "-qq", "-o", "/dev/null", "-P", "/bin/sh", "-e", "trace=execve", "-e", &inject];
        let report = report_of(&wrapper, &inject).unwrap();
        assert_eq!(report[..4], ["Code(0): 5", "Code(0): 5", "TimedOut: 0", "Code(0): 45009"], "{inject}");
        assert_eq!(report[5..], ["dropped", "descriptors: 0"], "{inject}");
    }
}

/// Injects every error into these calls by their number; nothing else may come of it than of the others.
fn each(call: &str, places: impl Iterator<Item = usize>, errors: &[&str], all: bool) {
    let mut met = 0;
    for when in places {
        // Another one each time, unless all are to be tried.
        let errors = if all { errors } else { std::slice::from_ref(&errors[when % errors.len()]) };
        for error in errors {
            let inject = format!("inject={call}:error={error}:when={when}");
            let trace = format!("trace={call}");
            let wrapper = ["strace", "-f", "-qq", "-o", "/dev/null", "-e", &trace, "-e", &inject];
            if let Some(report) = report_of(&wrapper, &inject) {
                assert_eq!(report[6], "descriptors: 0", "{inject}: {report:?}");
                met += 1;
            }
        }
    }
    assert!(met > 0, "{call}: what is tested never began");
}

#[test]
fn a_file_that_is_not_opened_leaves_nothing_behind() {
    if has_strace() {
        each("openat", (5..40).step_by(3), NOT_OPENED, false);
    }
}

#[test]
fn a_read_that_fails_leaves_nothing_behind() {
    if has_strace() {
        each("read", (5..60).step_by(5), NOT_READ, false);
    }
}

#[test]
#[ignore = "takes minutes: every error at every call"]
fn every_error_of_reading_and_opening_leaves_nothing_behind() {
    if has_strace() {
        each("openat", 5..48, NOT_OPENED, true);
        each("read", 5..64, NOT_READ, true);
    }
}
