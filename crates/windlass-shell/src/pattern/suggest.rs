//! The rule to offer for "always allow", one for each command of a line.

use super::allow::{behind_wrappers, runs_arguments};
use super::parse_rule_pattern;
use crate::{SimpleCommand, Word};

/// Programs for which a prefix would allow too much, or whose first argument is a file: the exact command is offered.
const TOO_BROAD: &[&str] = &["chmod", "chown", "cp", "ln", "mkdir", "mv", "rm", "rmdir", "tee", "touch", "truncate"];

/// Programs for which no rule is worth having: the next call is another one, or none should run unseen.
const NEVER: &[&str] =
    &["dd", "kill", "killall", "mkfs", "pkill", "reboot", "shred", "shutdown", "su", "eval", "exec", "source", "."];

/// Sub-commands that reach others or cannot be taken back: the exact command is offered.
const OUTWARD: &[(&str, &str)] = &[
    ("cargo", "publish"),
    ("docker", "push"),
    ("gh", "api"),
    ("git", "clean"),
    ("git", "push"),
    ("git", "reset"),
    ("kubectl", "apply"),
    ("kubectl", "delete"),
    ("npm", "publish"),
    ("terraform", "apply"),
    ("terraform", "destroy"),
];

/// Sub-commands whose next word says what is done.
const NESTED: &[(&str, &str)] = &[
    ("aws", "s3"),
    ("bun", "run"),
    ("cargo", "xtask"),
    ("composer", "run"),
    ("deno", "task"),
    ("docker", "compose"),
    ("docker", "container"),
    ("docker", "image"),
    ("docker", "volume"),
    ("gh", "issue"),
    ("gh", "pr"),
    ("gh", "release"),
    ("gh", "run"),
    ("git", "remote"),
    ("git", "stash"),
    ("git", "worktree"),
    ("go", "mod"),
    ("go", "tool"),
    ("npm", "run"),
    ("pnpm", "run"),
    ("poetry", "run"),
    ("rustup", "component"),
    ("rustup", "toolchain"),
    ("uv", "run"),
    ("yarn", "run"),
];

/// Bytes of a command above which it is not offered as it is: no one reads such a rule, and it hardly comes again.
const MAX_EXACT: usize = 2048;

/// The pattern to offer for "always allow" of one command: the narrowest that is of use the next time.
///
/// `npm test *` for `npm test -- -u`, `npm run build *` for `npm run build`, and the exact command where a prefix would allow too much:
/// removals, pushes, interpreters with an option. `None` for programs that run their arguments, for what no pattern can say, and for exact commands of more than 2,048 bytes.
#[must_use]
pub fn suggest_rule(command: &SimpleCommand) -> Option<String> {
    let words = behind_wrappers(command.words())?;
    let program = words.first()?.as_literal()?;
    if NEVER.contains(&program) || runs_arguments(words) {
        return None;
    }
    prefix(command, words, program).or_else(|| exact(command))
}

fn prefix(command: &SimpleCommand, words: &[Word], program: &str) -> Option<String> {
    let redirects = command.redirects().iter().any(|redirect| !redirect.is_harmless());
    if redirects || !command.has_only_safe_assignments() || TOO_BROAD.contains(&program) || !is_plain(program) {
        return None;
    }
    let Some(second) = words.get(1).map(Word::text) else { return Some(format!("{program} *")) };
    if !is_plain(second) || OUTWARD.contains(&(program, second)) {
        return None;
    }
    match words.get(2).map(Word::text) {
        Some(third) if NESTED.contains(&(program, second)) && is_plain(third) => {
            Some(format!("{program} {second} {third} *"))
        }
        _ => Some(format!("{program} {second} *")),
    }
}

/// The command as it is, if a pattern can say that.
fn exact(command: &SimpleCommand) -> Option<String> {
    let source = Some(command.source()).filter(|source| source.len() <= MAX_EXACT)?;
    let pattern = parse_rule_pattern(source);
    (pattern.matches_source(command) && pattern.problem().is_none() && !source.contains('\n'))
        .then(|| source.to_owned())
}

/// A word that means the same in a pattern.
fn is_plain(word: &str) -> bool {
    word.starts_with(|c: char| c.is_ascii_alphanumeric() || matches!(c, '.' | '/' | '_'))
        && word.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, '_' | '-' | '.' | '/' | ':' | '@' | '+'))
        && !word.ends_with(':')
}
