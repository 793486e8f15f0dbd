//! Files, programs and connections of the command, from `strace`.

use crate::place::Place;
use std::collections::BTreeSet;
use std::path::PathBuf;
use std::process::Command;
use windlass_testkit::strace;

/// Record of a run.
#[derive(Debug, Default)]
pub(super) struct Traced {
    pub(super) code: i32,
    /// Output of the command.
    pub(super) output: String,
    /// The files and directories that it opened to read or write them, links followed.
    pub(super) opened: BTreeSet<PathBuf>,
    /// The names of the programs that it started.
    pub(super) programs: BTreeSet<String>,
    /// `true` if it connected to a network.
    pub(super) connects: bool,
}

/// Runs the command with a prompt in a place.
pub(super) fn traced(place: &Place, prompt: &str, args: &[&str]) -> Traced {
    let log = place.path("trace");
    let (inner, own) = (place.command(&[]), env!("CARGO_BIN_EXE_windlass"));
    let mut command = Command::new("strace");
    command
        .args(["-f", "-qq", "-y", "-s", "300", "-e", "trace=openat,openat2,open,execve,execveat,connect", "-o"])
        .arg(&log)
        .args([own, "-p", prompt])
        .args(args)
        .current_dir(place.work())
        .env_clear();
    command.envs(inner.get_envs().filter_map(|(name, value)| Some((name, value?))));
    let output = command.stdin(std::process::Stdio::null()).output().unwrap();
    let trace = String::from_utf8_lossy(&std::fs::read(&log).unwrap()).into_owned();
    std::fs::remove_file(log).unwrap();
    let printed = [output.stdout, output.stderr].concat();
    let mut traced = Traced {
        code: output.status.code().unwrap_or(-1),
        output: String::from_utf8_lossy(&printed).into_owned(),
        ..Traced::default()
    };
    strace::calls(&trace).iter().for_each(|call| traced.note(call, own));
    traced
}

impl Traced {
    /// Records one call. Failed calls are ignored.
    fn note(&mut self, call: &str, own: &str) {
        let result = call.rsplit_once(" = ").map_or("", |(_, result)| result);
        if call.starts_with("connect(") {
            self.connects |= call.contains("AF_INET");
        } else if call.starts_with("execve") && result.starts_with('0') {
            let program = call.split('"').nth(1).unwrap_or_default();
            // The keeper above each program comes from the command itself and has no name.
            if program != own && !program.starts_with("/proc/self/fd/") {
                self.programs.insert(program.rsplit('/').next().unwrap_or_default().to_owned());
            }
        } else {
            self.opened.extend(strace::opened(call));
        }
    }
}
