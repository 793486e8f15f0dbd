//! Code of other languages that programs get as their input: from a here-document, a file or a pipe.

use super::carried::takes_code;
use super::{FoundCommand, ScanResult};
use crate::{RedirectKind, Undecided, Word};

/// Texts, in lower case, by which code starts other programs.
const STARTS: &[&str] = &[
    "`",
    "%x",
    "backticks",
    "child_process",
    "command",
    "exec",
    "fork",
    "passthru",
    "popen",
    "proc",
    "qx",
    "run(",
    "shell",
    "spawn",
    "subprocess",
    "syscmd",
    "system",
];

/// Programs whose lines begin with `!` for the shell.
const WITH_BANGS: &[&str] = &["dc", "ed", "ex", "gnuplot"];

/// Clients that run commands of their input as well, with what these begin with, in lower case. Whatever their
/// operands are, they read their input.
const CLIENTS: &[(&[&str], &[&str])] = &[
    (&["sqlite3", "sqlite"], &[".shell", ".system", ".sh ", ".sys ", "|"]),
    (&["psql"], &["\\!", "\\g", "\\o", "\\w", "\\setenv", "program", "`"]),
    (&["mysql", "mariadb"], &["\\!", "system", "pager", "\\p"]),
    (&["ftp", "lftp", "sftp", "telnet"], &["!"]),
    (&["gdb", "lldb"], &["!", "shell", "pipe", "python", "make", "script"]),
];

/// Leaves a text undecided in which a program runs code that is not seen, or that may start programs.
pub(super) fn note(scan: &mut ScanResult) {
    let reason = (0..scan.found.len()).find_map(|at| undecided(scan, at));
    if let Some(reason) = reason {
        scan.undecided.get_or_insert(reason);
    }
}

fn undecided(scan: &ScanResult, at: usize) -> Option<Undecided> {
    let command = scan.found.get(at)?;
    let program = command.program()?;
    let args = command.words.get(1..).unwrap_or_default();
    let is_operand = |word: &&Word| !word.text().starts_with('-');
    match program {
        // A macro of `m4` runs commands, in a file as well as in its input.
        "m4" => return Some(Undecided::Script),
        // Without a command it runs each line of its input, or of the files behind `::::`.
        "parallel" => {
            let has_command = args.iter().find(is_operand).is_some_and(|word| word.text() != "::::");
            return (!has_command).then_some(Undecided::Input);
        }
        _ if client(program).is_some_and(|marks| gets_command(scan, at, marks)) => return Some(Undecided::Script),
        _ if !takes_code(program) || args.iter().any(|word| is_operand(&word)) => return None,
        _ => {}
    }
    let starts = |text: &str| {
        let text = text.to_lowercase();
        STARTS.iter().any(|start| text.contains(start)) || (WITH_BANGS.contains(&program) && text.contains('!'))
    };
    let is_bad = |redirects: &FoundCommand| {
        redirects.redirects.iter().any(|redirect| match redirect.kind {
            RedirectKind::Inline => !redirect.target.is_literal() || starts(redirect.target.text()),
            RedirectKind::Read => true,
            _ => false,
        })
    };
    let before = scan.found.get(..at).unwrap_or_default();
    // A wrapper stands before what it starts: `command -v node`.
    let is_wrapper = |other: &FoundCommand| other.words.ends_with(&command.words);
    let mut feeders = before.iter().filter(|other| other.pipeline == command.pipeline && !is_wrapper(other));
    let is_unseen = |other: &FoundCommand| match other.program() {
        Some("echo" | "printf") => other.words.iter().skip(1).any(|word| !word.is_literal() || starts(word.text())),
        Some("cat") if other.words.iter().skip(1).all(|word| word.text() == "-") => is_bad(other),
        _ => true,
    };
    (is_bad(command) || feeders.any(is_unseen)).then_some(Undecided::Script)
}

fn client(program: &str) -> Option<&'static [&'static str]> {
    CLIENTS.iter().find(|(programs, _)| programs.contains(&program)).map(|(_, marks)| *marks)
}

/// Returns `true` if a client gets a text with a command of its shell: in a here-document, or from `echo` in its
/// pipeline. Files and the output of other programs are not seen.
fn gets_command(scan: &ScanResult, at: usize, marks: &[&str]) -> bool {
    let has_mark = |word: &Word| {
        let text = word.text().to_lowercase();
        marks.iter().any(|mark| text.contains(mark))
    };
    let is_told = |command: &FoundCommand| {
        let mut texts = command.redirects.iter().filter(|redirect| redirect.kind == RedirectKind::Inline);
        texts.any(|redirect| has_mark(&redirect.target))
    };
    let Some(command) = scan.found.get(at) else { return false };
    let mut feeders =
        scan.found.get(..at).unwrap_or_default().iter().filter(|other| other.pipeline == command.pipeline);
    is_told(command)
        || feeders.any(|other| match other.program() {
            Some("echo" | "printf") => other.words.iter().skip(1).any(has_mark),
            Some("cat") => is_told(other),
            _ => false,
        })
}
