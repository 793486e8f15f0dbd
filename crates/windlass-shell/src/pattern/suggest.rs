//! The rule to offer for "always allow", one for each command of a line.

mod tools;

use super::allow::{behind_wrappers, runs_arguments};
use super::parse_rule_pattern;
use crate::word::base_name;
use crate::{SimpleCommand, Word, is_judged_by_name};

/// Programs for which no rule is worth having: the next call is another one, or none should run unseen.
const NEVER: &[&str] =
    &["dd", "kill", "killall", "mkfs", "pkill", "reboot", "shred", "shutdown", "su", "eval", "exec", "source", "."];

/// Bytes of a command above which it is not offered as it is: no one reads such a rule, and it hardly comes again.
const MAX_EXACT: usize = 2048;

/// Returns the pattern to offer for "always allow" of one command: the narrowest that is of use the next time.
///
/// Suggests a rule pattern. A prefix (`npm run build *`) for programs whose purpose is to run commands from the
/// project's files, and for sub-commands of which no option runs a program. The exact command for every other program:
/// its next option may run, write or contact anything. `None` for programs that run their arguments, for commands that
/// no pattern can express, and for exact commands of more than 2,048 bytes.
#[must_use]
pub fn suggest_rule(command: &SimpleCommand) -> Option<String> {
    let words = behind_wrappers(command.words())?;
    let program = words.first()?.as_literal()?;
    if NEVER.contains(&program) || runs_arguments(words) {
        return None;
    }
    prefix(command, words).or_else(|| exact(command))
}

fn prefix(command: &SimpleCommand, words: &[Word]) -> Option<String> {
    let redirects = command.redirects().iter().any(|redirect| !redirect.is_harmless());
    if redirects || !command.has_only_safe_assignments() {
        return None;
    }
    let words: Vec<&str> = words.iter().map(Word::text).collect();
    let fixed = words.get(..prefix_words(&words)?)?;
    fixed.iter().all(|word| is_plain(word)).then(|| format!("{} *", fixed.join(" ")))
}

/// Returns the number of words that a prefix for this command has to name. `None`: no prefix is narrow enough.
fn prefix_words(words: &[&str]) -> Option<usize> {
    let (program, args) = words.split_first()?;
    if let Some(own) = tools::launcher_words(words) {
        let behind = words.get(own..)?;
        let launched = behind.first()?;
        let named = tools::FLAT.contains(launched) || is_script(launched);
        return Some(own.saturating_add(if named { 1 } else { tools::tool_words(behind)? }));
    }
    if let Some(words) = tools::tool_words(words) {
        return Some(words);
    }
    match args.first() {
        Some(script) if tools::INTERPRETERS.contains(program) => is_script(script).then_some(2),
        first if is_of_project(program) => Some(if first.is_some_and(|word| is_plain(word)) { 2 } else { 1 }),
        _ => None,
    }
}

/// Returns `true` for a program of the project itself: a path relative to the directory, by no name that the option
/// tables know.
fn is_of_project(program: &str) -> bool {
    program.contains('/')
        && !program.starts_with('/')
        && program.split('/').all(|name| name != "..")
        && !is_judged_by_name(base_name(program))
}

/// Returns `true` for a script of the project, as interpreters and launchers take it.
fn is_script(word: &str) -> bool {
    const SUFFIXES: &[&str] = &[".cjs", ".js", ".mjs", ".mts", ".php", ".pl", ".py", ".rb", ".ts"];
    is_plain(word)
        && !word.starts_with('/')
        && word.split('/').all(|name| name != "..")
        && SUFFIXES.iter().any(|suffix| word.ends_with(suffix))
}

/// Returns the command as it is, if a pattern can say that.
fn exact(command: &SimpleCommand) -> Option<String> {
    let source = Some(command.source()).filter(|source| source.len() <= MAX_EXACT)?;
    let pattern = parse_rule_pattern(source);
    (pattern.matches_source(command) && pattern.problem().is_none() && !source.contains('\n'))
        .then(|| source.to_owned())
}

/// Returns `true` for a word that means the same in a pattern.
fn is_plain(word: &str) -> bool {
    word.starts_with(|c: char| c.is_ascii_alphanumeric() || matches!(c, '.' | '/' | '_'))
        && word.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, '_' | '-' | '.' | '/' | ':' | '@' | '+'))
        && !word.ends_with(':')
}

#[cfg(test)]
mod tests;
