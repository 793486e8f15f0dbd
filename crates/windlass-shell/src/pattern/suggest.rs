//! The rule to offer for "always allow".

use super::allow::runs_arguments;
use crate::{Analysis, Effect, SimpleCommand, Word};

/// Programs for which a prefix would allow too much.
const TOO_BROAD: &[&str] = &[
    "chmod", "chown", "dd", "kill", "killall", "mkfs", "mv", "pkill", "reboot", "rm", "rmdir", "shred", "shutdown",
    "truncate",
];

/// The prefix pattern to offer for "always allow" (`npm test *` for `npm test`).
///
/// `None` if the text is not fully understood, has more than one command that would need a rule, or runs a
/// program for which a prefix would allow too much (removal, programs that run their arguments, interpreters
/// with an option).
#[must_use]
pub fn suggest_prefix(analysis: &Analysis) -> Option<String> {
    let commands = analysis.understood().ok()?.commands();
    let free = |c: &SimpleCommand| {
        let class = c.classify();
        class.is_read_only() || class.effect == Effect::ChangeDirectory
    };
    let mut suggestion = None;
    for command in commands.iter().filter(|c| !free(c)) {
        let prefix = prefix(command)?;
        if suggestion.as_ref().is_some_and(|s| *s != prefix) {
            return None;
        }
        suggestion = Some(prefix);
    }
    suggestion
}

fn prefix(command: &SimpleCommand) -> Option<String> {
    let words = command.words();
    let program = command.program()?;
    if !command.has_only_safe_assignments() || TOO_BROAD.contains(&program) || runs_arguments(words) {
        return None;
    }
    if !is_plain(program) {
        return None;
    }
    match words.get(1).map(Word::text) {
        None => Some(format!("{program} *")),
        Some(second) if is_plain(second) => Some(format!("{program} {second} *")),
        Some(_) => None,
    }
}

/// A word that means the same in a pattern.
fn is_plain(word: &str) -> bool {
    word.starts_with(|c: char| c.is_ascii_alphanumeric() || matches!(c, '.' | '/' | '_'))
        && word.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, '_' | '-' | '.' | '/' | ':' | '@' | '+'))
        && !word.ends_with(':')
}
