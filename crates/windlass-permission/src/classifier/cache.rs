//! Cache of classifier verdicts.

use super::answer::Classified;
use super::question::ClassifierQuestion;
use std::collections::VecDeque;

/// Maximum number of verdicts of each kind that are remembered.
const MOST: usize = 128;

/// The verdicts of one session.
///
/// An *allow* applies to a call with exactly the same question to the model: same tool, input, directories, words of
/// the user, and relevant earlier calls. An *ask* applies to more, since that is safe: to all commands that begin like
/// this one, until the user writes again. A failed verdict is not cached.
#[derive(Debug, Default)]
pub struct ClassifierCache {
    allowed: VecDeque<(String, String)>,
    asked: VecDeque<(String, String)>,
}

impl ClassifierCache {
    /// Returns the verdict on a call, if it is known.
    #[must_use]
    pub fn get(&self, question: &ClassifierQuestion) -> Option<Classified> {
        let found = |kept: &VecDeque<(String, String)>, key: &str| {
            kept.iter().find(|(known, _)| known == key).map(|(_, reason)| reason.clone())
        };
        let asked = found(&self.asked, &question.topic()).map(Classified::Ask);
        asked.or_else(|| found(&self.allowed, &question.data()).map(Classified::Allow))
    }

    /// Remembers a verdict.
    pub fn put(&mut self, question: &ClassifierQuestion, verdict: &Classified) {
        let (kept, key, reason) = match verdict {
            Classified::Allow(reason) => (&mut self.allowed, question.data(), reason),
            Classified::Ask(reason) => (&mut self.asked, question.topic(), reason),
            Classified::Failed(_) => return,
        };
        kept.retain(|(known, _)| *known != key);
        if kept.len() >= MOST {
            kept.pop_front();
        }
        kept.push_back((key, reason.clone()));
    }
}
