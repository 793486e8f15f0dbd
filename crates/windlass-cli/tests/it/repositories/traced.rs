//! What the command opens, starts and connects to, as `strace` has it.

use crate::place::Place;
use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;
use std::process::Command;

/// What a run did.
#[derive(Debug, Default)]
pub(super) struct Traced {
    pub(super) code: i32,
    /// What it printed.
    pub(super) output: String,
    /// The files and directories that it opened to read or write them, links followed.
    pub(super) opened: BTreeSet<PathBuf>,
    /// The names of the programs that it started.
    pub(super) programs: BTreeSet<String>,
    /// Whether it connected to a network.
    pub(super) connects: bool,
}

/// Runs the command with a prompt in a place.
pub(super) fn traced(place: &Place, prompt: &str, args: &[&str]) -> Traced {
    let log = place.path("trace");
    let inner = place.command(&[&["-p", prompt], args].concat());
    let mut command = Command::new("strace");
    command
        .args(["-f", "-qq", "-y", "-s", "300", "-e", "trace=openat,openat2,open,execve,execveat,connect", "-o"])
        .arg(&log)
        .arg(inner.get_program())
        .args(inner.get_args())
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
    let own = inner.get_program().to_string_lossy().into_owned();
    calls(&trace).iter().for_each(|call| traced.note(call, &own));
    traced
}

/// The calls of a trace, each whole: another thread may have come between its beginning and its end.
fn calls(trace: &str) -> Vec<String> {
    let mut begun = BTreeMap::new();
    let mut calls = Vec::new();
    for line in trace.lines() {
        let Some((thread, call)) = line.split_once(' ') else { continue };
        let call = call.trim_start();
        if let Some(beginning) = call.strip_suffix("<unfinished ...>") {
            begun.insert(thread, beginning);
        } else if let Some((_, end)) = call.split_once(" resumed>") {
            calls.push(format!("{}{end}", begun.remove(thread).unwrap_or_default()));
        } else {
            calls.push(call.to_owned());
        }
    }
    // What never ended may have happened.
    calls.extend(begun.into_values().map(|beginning| format!("{beginning}) = 0</unknown>")));
    calls
}

impl Traced {
    /// Notes one call. What failed did not happen.
    fn note(&mut self, call: &str, own: &str) {
        let result = call.rsplit_once(" = ").map_or("", |(_, result)| result);
        if call.starts_with("connect(") {
            self.connects |= call.contains("AF_INET");
        } else if call.starts_with("execve") && result.starts_with('0') {
            let program = call.split('"').nth(1).unwrap_or_default();
            if program != own {
                self.programs.insert(program.rsplit('/').next().unwrap_or_default().to_owned());
            }
        } else if call.starts_with("open") && !call.contains("O_PATH") {
            // A handle that only names a place reads nothing.
            let path = result.split_once('<').and_then(|(_, path)| path.rsplit_once('>'));
            self.opened.extend(path.map(|(path, _)| PathBuf::from(path)));
        }
    }
}

#[test]
fn a_call_that_is_cut_in_two_counts_whole() {
    let trace = "7 execve(\"/bin/sh\", [\"sh\"] <unfinished ...>\n8  openat(AT_FDCWD, \"x\", O_PATH) = 3</w/x>\n\
                 7 <... execve resumed>) = 0\n9 openat(3, \"y\", O_RDONLY <unfinished ...>\n\
                 9 <... openat resumed>) = 4</w/y>\n9 execve(\"/no\", []) = -1 ENOENT\n9 open(\"z\", O_RDONLY) = -1 EACCES\n";
    let mut traced = Traced::default();
    calls(trace).iter().for_each(|call| traced.note(call, "/own"));
    assert_eq!(traced.programs, BTreeSet::from(["sh".to_owned()]));
    assert_eq!(traced.opened, BTreeSet::from([PathBuf::from("/w/y")]));
}
