//! The classifier of the mode auto: the question to a model about a call that rules leave undecided, the parser of the
//! answer, and the cache of verdicts. Pure: a driver makes the call.
//!
//! The classifier can only allow a call or have it asked about. [`Policy::leaves_to_classifier`] selects the calls it
//! is asked about.

mod answer;
mod cache;
mod heard;
mod question;

pub use answer::{Classified, read_answer};
pub use cache::ClassifierCache;
pub use heard::Heard;
pub use question::{Boundary, CLASSIFIER_SYSTEM, ClassifierQuestion};

use crate::facts::{CallFacts, CommandFacts};
use crate::policy::Policy;
use crate::programs;
use crate::raise::Gap;
use std::path::Path;
use windlass_shell::{FoundCommand, NotUnderstood, Word, WordKind};
use windlass_types::secret::is_secret;
use windlass_types::{Behavior, Decision, DecisionReason, PermissionMode};

impl Policy {
    /// Returns `true` if a classifier may be asked about a call with this verdict: the mode is auto, and the call asks
    /// only because no rule, mode or read-only set allows it.
    ///
    /// `false` in these cases, because rules and floor could not be sure of them: a hook, a rule, the safety floor or
    /// the tool itself asks; the tool's definition has changed since a rule allowed it; the commands or their directory
    /// are unknown; the call accesses paths at which credentials are kept.
    pub fn leaves_to_classifier(&self, facts: &CallFacts, decision: &Decision) -> bool {
        let open = matches!(
            decision.reason,
            DecisionReason::Default | DecisionReason::WorkingDirectory | DecisionReason::NotUnderstood
        );
        if self.mode.current != PermissionMode::Auto
            || self.mode.never_asks
            || decision.behavior != Behavior::Ask
            || decision.protected
            || decision.rule.is_some()
            || !open
        {
            return false;
        }
        let call = self.prepare(facts);
        let secret = || call.all_touches().any(|touch| touch.subjects().any(|subject| is_secret(&subject.path)));
        if call.asks_the_user() || secret() || facts.command.as_ref().is_some_and(names_secrets) {
            return false;
        }
        match (self.grants().cover(&call), &facts.command) {
            (Err(Gap::Edit | Gap::NoRule | Gap::ReadOutside(_) | Gap::WriteOutside(_)), _) => true,
            (Err(Gap::NotUnderstood(why)), Some(command)) => is_seen_through(why, command),
            _ => false,
        }
    }
}

/// Returns `true` if the deny side has seen every command of a text that is not understood, and the changes of each:
/// only then rules and floor hold for all of it.
fn is_seen_through(why: NotUnderstood, command: &CommandFacts) -> bool {
    let is_structure = matches!(
        why,
        NotUnderstood::Expansion | NotUnderstood::Structure | NotUnderstood::Background | NotUnderstood::Redirection
    );
    is_structure && command.analysis.undecided().is_none() && !command.analysis.found().iter().any(changes_unseen)
}

/// Returns `true` if a command changes files whose names only the shell knows.
fn changes_unseen(command: &FoundCommand) -> bool {
    let unseen = |word: &Word| !matches!(word.kind(), WordKind::Literal | WordKind::Glob);
    let program = command.program().unwrap_or_default();
    let changes = programs::works_on_files(program) && !programs::only_reads(program);
    (changes && command.words().iter().skip(1).any(unseen))
        || command.redirects().iter().any(|redirect| !redirect.is_harmless() && unseen(&redirect.target))
}

fn names_secrets(command: &CommandFacts) -> bool {
    let words = command.analysis.found().iter().flat_map(FoundCommand::words);
    words.map(Word::text).any(names_secret)
}

#[cfg(test)]
mod tests;

/// Returns `true` if a word of a command names a place of secrets, also behind `@`, `=` or `:`.
fn names_secret(word: &str) -> bool {
    let mut paths = word.split(['@', '=', ':', ',']).map(|path| path.trim_matches(['"', '\'']).replace('\\', "/"));
    paths.any(|path| is_secret(Path::new(&path)))
}
