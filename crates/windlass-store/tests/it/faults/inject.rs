//! Runs the worker, with one of its system calls failing.

use crate::faults::work::World;
use std::io::{BufRead, BufReader, Read, Write};
use std::process::{Child, Command, Stdio};

/// A call that fails.
#[derive(Debug)]
pub(crate) struct Injection<'a> {
    pub(crate) call: &'a str,
    /// Which of them, from one.
    pub(crate) number: u32,
    pub(crate) error: &'a str,
}

/// How a run ended.
#[derive(Debug)]
pub(crate) struct Ended {
    pub(crate) success: bool,
    /// Whether there was such a call.
    pub(crate) injected: bool,
    /// What the worker said it did.
    pub(crate) said: Vec<String>,
}

/// Whether strace can trace another process.
pub(crate) fn strace_works() -> bool {
    let Ok(mut child) = Command::new("sleep").arg("60").spawn() else { return false };
    let traced = attach(child.id(), &["-e", "trace=none"], "/dev/null");
    child.kill().unwrap();
    child.wait().unwrap();
    traced.is_ok_and(|mut strace| strace.wait().is_ok())
}

/// A strace that has seized a process, or what it says instead.
fn attach(pid: u32, options: &[&str], log: &str) -> Result<Child, String> {
    let mut strace = Command::new("strace")
        .args(["-f", "-o", log])
        .args(options)
        .args(["-p", &pid.to_string()])
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::piped())
        .spawn()
        .map_err(|error| error.to_string())?;
    let mut lines = BufReader::new(strace.stderr.take().unwrap()).lines();
    let mut said = String::new();
    let attached = lines.by_ref().map_while(Result::ok).any(|line| {
        said.push_str(&line);
        line.contains("attached")
    });
    // It says more with each thread, and would end if it could not.
    std::thread::spawn(move || lines.count());
    if !attached {
        strace.wait().unwrap();
    }
    if attached { Ok(strace) } else { Err(said) }
}

/// Runs the worker of a world to its end.
pub(crate) fn run(world: &World, injection: Option<&Injection<'_>>) -> Ended {
    let mut command = world.worker(Command::new(std::env::current_exe().unwrap()));
    let mut child = command.stdin(Stdio::piped()).spawn().unwrap();
    let mut stdin = child.stdin.take().unwrap();
    let log = world.trace();
    let strace = injection.map(|Injection { call, number, error }| {
        let trace = format!("trace=?{call}");
        let inject = format!("inject=?{call}:error={error}:when={number}");
        attach(child.id(), &["-e", &trace, "-e", &inject], &log.to_string_lossy())
            .unwrap_or_else(|said| panic!("{injection:?}: {said}"))
    });
    stdin.write_all(b"go\n").unwrap();
    let mut ended = wait(child);
    if let Some(mut strace) = strace {
        strace.wait().unwrap();
        ended.injected = std::fs::read_to_string(&log).unwrap().contains("(INJECTED)");
    }
    ended
}

/// Runs the worker and returns its calls of these kinds, with the paths of what they are about.
pub(crate) fn trace(world: &World, calls: &str) -> String {
    let mut command = world.worker(Command::new(std::env::current_exe().unwrap()));
    let mut child = command.stdin(Stdio::piped()).spawn().unwrap();
    let mut stdin = child.stdin.take().unwrap();
    let log = world.trace();
    let options = ["-y", "-s", "4096", "-e", &format!("trace={calls}")];
    let mut strace = attach(child.id(), &options, &log.to_string_lossy()).unwrap();
    stdin.write_all(b"go\n").unwrap();
    assert!(wait(child).success);
    strace.wait().unwrap();
    std::fs::read_to_string(&log).unwrap()
}

/// Waits for a worker.
pub(crate) fn wait(mut child: Child) -> Ended {
    let mut said = String::new();
    child.stdout.take().unwrap().read_to_string(&mut said).unwrap();
    let success = child.wait().unwrap().success();
    Ended { success, injected: false, said: said.lines().map(str::to_owned).collect() }
}
