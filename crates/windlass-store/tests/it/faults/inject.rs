//! Runs of the worker, with one of its system calls failing.

use crate::faults::work::{READY, World};
use std::io::{Read, Write};
use std::process::{Child, Command, Stdio};
use windlass_testkit::strace::attach;

/// A call that fails.
#[derive(Debug)]
pub(crate) struct Injection<'a> {
    pub(crate) call: &'a str,
    /// Number of the failing call, from one.
    pub(crate) number: u32,
    pub(crate) error: &'a str,
}

/// Result of a run.
#[derive(Debug)]
pub(crate) struct Ended {
    pub(crate) success: bool,
    /// `true` if the call occurred.
    pub(crate) injected: bool,
    /// Lines printed by the worker.
    pub(crate) report: Vec<String>,
}

/// Runs the worker of a world to its end.
pub(crate) fn run(world: &World, injection: Option<&Injection<'_>>) -> Ended {
    let mut command = world.worker(Command::new(std::env::current_exe().unwrap()));
    let mut child = command.stdin(Stdio::piped()).spawn().unwrap();
    let mut stdin = child.stdin.take().unwrap();
    until_ready(&mut child);
    let log = world.trace();
    let strace = injection.map(|Injection { call, number, error }| {
        let trace = format!("trace=?{call}");
        let inject = format!("inject=?{call}:error={error}:when={number}");
        attach(child.id(), &["-e", &trace, "-e", &inject], &log)
            .unwrap_or_else(|error| panic!("{injection:?}: {error}"))
    });
    stdin.write_all(b"go\n").unwrap();
    let mut ended = wait(child);
    if let Some(mut strace) = strace {
        strace.wait().unwrap();
        ended.injected = std::fs::read_to_string(&log).unwrap().contains("(INJECTED)");
    }
    ended
}

/// Runs the worker and returns its calls of these kinds, with the paths of their arguments.
pub(crate) fn trace(world: &World, calls: &str) -> String {
    let mut command = world.worker(Command::new(std::env::current_exe().unwrap()));
    let mut child = command.stdin(Stdio::piped()).spawn().unwrap();
    let mut stdin = child.stdin.take().unwrap();
    until_ready(&mut child);
    let log = world.trace();
    let options = ["-y", "-s", "4096", "-e", &format!("trace={calls}")];
    let mut strace = attach(child.id(), &options, &log).unwrap();
    stdin.write_all(b"go\n").unwrap();
    assert!(wait(child).success);
    strace.wait().unwrap();
    std::fs::read_to_string(&log).unwrap()
}

/// Waits until a worker waits itself: the first output of the test harness around it is not meant to fail.
fn until_ready(child: &mut Child) {
    let stdout = child.stdout.as_mut().unwrap();
    let mut greeting = Vec::new();
    let mut byte = [0];
    while !greeting.ends_with(READY.as_bytes()) {
        assert!(stdout.read(&mut byte).unwrap() == 1, "{}", String::from_utf8_lossy(&greeting));
        greeting.extend(byte);
    }
}

/// Waits for the end of a worker.
pub(crate) fn wait(mut child: Child) -> Ended {
    let mut report = String::new();
    child.stdout.take().unwrap().read_to_string(&mut report).unwrap();
    let success = child.wait().unwrap().success();
    Ended { success, injected: false, report: report.lines().map(str::to_owned).collect() }
}
