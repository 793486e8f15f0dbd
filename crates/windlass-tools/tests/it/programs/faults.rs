//! The system fails us: whichever call it refuses, no process, descriptor or file is left behind, nothing hangs, and
//! an error says what happened.
//!
//! `strace` makes system calls fail; where there is none, those tests say so and end.

use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use windlass_tool::{Cancel, Process, ProcessCommand};
use windlass_tools::LocalProcess;

use crate::programs::support::{alive, eventually, shell, sleeper, unique};

const TAG: &str = "WINDLASS_TEST_FAULTS";
/// Where the program that is tested writes files and its report.
const PLACE: &str = "WINDLASS_TEST_FAULTS_PLACE";
/// Longer than one run of that program takes, on any machine.
const PATIENCE: Duration = Duration::from_secs(120);

fn descriptors() -> usize {
    let count = || std::fs::read_dir("/proc/self/fd")?.try_fold(0, |count, entry| entry.map(|_| count + 1));
    // The fault may be meant for this very call, or for reading on.
    count().or_else(|_: std::io::Error| count()).unwrap()
}

/// One command of each kind: it ends, it leaves something behind, its time is up, it is cancelled, it writes a file.
fn commands(tag: &str, place: &Path) -> Vec<ProcessCommand> {
    let sleep = sleeper(tag);
    let mut limited = shell(&format!("{sleep} & exec {sleep}"));
    limited.timeout = Some(Duration::from_millis(50));
    let mut flood = shell("printf '%05000d\\n' 1 2 3 4 5 6 7 8 9");
    flood.spill = Some(place.join("output"));
    flood.spill_above = Some(0);
    vec![shell("echo done"), shell(&format!("(setsid {sleep} &) ; {sleep} & echo left")), limited, flood]
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
        tokio::task::spawn_blocking(|| ()).await.unwrap();
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
    std::fs::write(place.join("report"), report).unwrap();
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
    assert_eq!(lines.len(), 6, "{what}: {report}");
    for line in &lines {
        let is_clear =
            !line.starts_with("error: ") || line.contains("was not started") || line.contains("could not be");
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
    assert_eq!(report[3..], ["Code(0): 45009", "dropped", "descriptors: 0"]);
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
                assert_eq!(report[5], "descriptors: 0", "{inject}");
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
        assert_eq!(report[5], "descriptors: 0", "{inject}");
    }
}
