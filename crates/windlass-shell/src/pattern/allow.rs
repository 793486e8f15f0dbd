//! Allow rules against understood commands.

use super::matching::glob;
use crate::command::SimpleCommand;
use crate::scan::{SHELLS, is_wrapper};
use crate::word::{Word, base_name};

/// Programs whose job is to run the commands in their arguments or another file, beside the wrappers.
const RUNNERS: &[&str] = &[
    ".",
    "bwrap",
    "coproc",
    "entr",
    "eval",
    "exec",
    "expect",
    "gosu",
    "nsenter",
    "parallel",
    "pkexec",
    "run-parts",
    "runuser",
    "script",
    "source",
    "su",
    "su-exec",
    "systemd-run",
    "trap",
    "unshare",
    "watchexec",
];

const FIND_ACTIONS: &[&str] =
    &["-delete", "-exec", "-execdir", "-fls", "-fprint", "-fprint0", "-fprintf", "-ok", "-okdir"];

pub(super) fn matches_words(prefix: &[String], command: &SimpleCommand) -> bool {
    candidates(command, prefix.len()).iter().any(|words| starts_with(words, prefix))
}

fn starts_with(words: &[Word], prefix: &[String]) -> bool {
    words.len() >= prefix.len() && words.iter().zip(prefix).all(|(word, expected)| word.as_literal() == Some(expected))
}

pub(super) fn matches_wildcard(parts: &[String], command: &SimpleCommand) -> bool {
    let head_words = parts.first().map_or(0, |head| head.split_whitespace().count());
    candidates(command, head_words).iter().any(|words| glob(parts, &joined(words)))
}

/// Joins the words with single blanks. A blank inside a word becomes a character that no pattern contains: a blank of
/// the pattern means a word's end.
fn joined(words: &[Word]) -> String {
    let words: Vec<String> = words.iter().map(|w| w.text().replace([' ', '\t', '\n'], "\u{1}")).collect();
    words.join(" ")
}

/// Returns the forms of the command that a pattern may cover: behind its wrappers, and with them if the literal
/// beginning of the pattern reaches beyond them. `None` if no pattern may cover it.
fn candidates(command: &SimpleCommand, literal_words: usize) -> Vec<&[Word]> {
    let covered = command.has_only_safe_assignments() && command.redirects().iter().all(crate::Redirect::is_harmless);
    if !covered {
        return Vec::new();
    }
    let Some(wrappers) = wrapper_words(command.words()) else {
        return Vec::new();
    };
    let Some(inner) = command.words().get(wrappers..).filter(|inner| !runs_arguments(inner)) else {
        return Vec::new();
    };
    let mut candidates = vec![inner];
    if wrappers > 0 && literal_words > wrappers {
        candidates.push(command.words());
    }
    candidates
}

/// Returns the command behind the wrappers that are looked through; `None` if it is not clear where it begins.
pub(super) fn behind_wrappers(words: &[Word]) -> Option<&[Word]> {
    words.get(wrapper_words(words)?..)
}

/// Returns the number of words of wrappers that are looked through; `None` if that is not clear.
fn wrapper_words(words: &[Word]) -> Option<usize> {
    let mut skipped = 0usize;
    loop {
        let rest = words.get(skipped..)?;
        let program = rest.first()?.as_literal()?;
        let options: fn(&str) -> usize = match program {
            "timeout" => timeout_option,
            "time" => |option| usize::from(option == "-p"),
            "nice" => nice_option,
            "stdbuf" => stdbuf_option,
            "nohup" | "command" | "builtin" | "xargs" => |_| 0,
            _ => return Some(skipped),
        };
        let mut own = 1usize;
        while let Some(option) = rest.get(own)?.as_literal().filter(|w| w.starts_with('-')) {
            match options(option) {
                0 => return None,
                words => own = own.saturating_add(words),
            }
        }
        if program == "timeout" {
            let duration = rest.get(own)?.as_literal()?;
            if !duration.starts_with(|c: char| c.is_ascii_digit()) {
                return None;
            }
            own = own.saturating_add(1);
        }
        skipped = skipped.saturating_add(own);
    }
}

/// Returns the number of words of an option; 0 if the option is unknown.
fn timeout_option(option: &str) -> usize {
    match option {
        "-s" | "-k" | "--signal" | "--kill-after" => 2,
        "-v" | "--verbose" | "-f" | "--foreground" | "-p" | "--preserve-status" => 1,
        _ if option.starts_with("--signal=") || option.starts_with("--kill-after=") => 1,
        _ => 0,
    }
}

fn nice_option(option: &str) -> usize {
    match option.strip_prefix('-') {
        Some("n" | "-adjustment") => 2,
        Some(rest) => {
            let number = rest.strip_prefix('n').or_else(|| rest.strip_prefix("-adjustment=")).unwrap_or(rest);
            usize::from(number.trim_start_matches('-').chars().all(|c| c.is_ascii_digit()))
        }
        None => 0,
    }
}

fn stdbuf_option(option: &str) -> usize {
    match option {
        "-i" | "-o" | "-e" | "--input" | "--output" | "--error" => 2,
        _ if ["-i", "-o", "-e", "--input=", "--output=", "--error="].iter().any(|p| option.starts_with(p)) => 1,
        _ => 0,
    }
}

/// Returns `true` if the program's job is to run its arguments, so that a rule for the program does not cover the
/// command that would run.
pub(super) fn runs_arguments(words: &[Word]) -> bool {
    let Some(program) = words.first().and_then(Word::as_literal).map(base_name) else {
        return true;
    };
    if RUNNERS.contains(&program) || is_wrapper(program) {
        return true;
    }
    let mut args = words.iter().skip(1);
    match program {
        "find" | "gfind" => args.any(|w| FIND_ACTIONS.contains(&w.text()) || !(w.is_literal() || w.cannot_be_option())),
        "fd" | "fdfind" => args.any(|w| {
            let short = w.text().starts_with('-') && !w.text().starts_with("--") && w.text().contains(['x', 'X']);
            short || w.text().starts_with("--exec") || !(w.is_literal() || w.cannot_be_option())
        }),
        _ if SHELLS.contains(&program) => {
            let mut options = args.clone().take_while(|w| w.text().starts_with(['-', '+'])).peekable();
            let script = options.any(|w| !w.text().starts_with("--") && w.text().contains(['c', 's']));
            script || args.all(|w| w.text().starts_with(['-', '+']) && w.text() != "--version" && w.text() != "--help")
        }
        _ => false,
    }
}
