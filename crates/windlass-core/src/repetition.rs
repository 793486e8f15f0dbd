//! Detection of runs that repeat what they have already done.
//!
//! A turn repeats if each of its calls was made before in the run, with the same input and the same result: the same
//! command with the same failure, edits that undo one another, files that were read already. Calls that took a while
//! are taken for waiting: a run that polls a job waits between its checks.

use std::collections::HashSet;
use std::hash::{DefaultHasher, Hash, Hasher};
use windlass_types::{JsonText, ToolResultContent};

/// Minimum duration, in milliseconds, of a call that is taken for waiting.
const MIN_WAITING_MS: u64 = 1_000;
/// Maximum number of remembered calls. Later ones are treated as new, so a run that long is not stopped.
const MAX_CALLS: usize = 65_536;

/// Digest of a call with its result. `None`: the call waited, so its turn is not judged.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct CallTrace(Option<u64>);

impl CallTrace {
    pub(crate) fn new(tool: &str, input: &JsonText, result: &ToolResultContent, duration_ms: u64) -> Self {
        if duration_ms >= MIN_WAITING_MS {
            return Self(None);
        }
        let mut hasher = DefaultHasher::new();
        (tool, input.as_str()).hash(&mut hasher);
        match result {
            ToolResultContent::Text(text) => text.hash(&mut hasher),
            // Images and documents: their JSON is their content.
            blocks => JsonText::of(blocks).map(|json| json.as_str().to_owned()).unwrap_or_default().hash(&mut hasher),
        }
        Self(Some(hasher.finish()))
    }
}

/// Calls of a run, and the number of its latest turns that only repeated them.
#[derive(Debug, Default)]
pub(crate) struct Repetition {
    seen: HashSet<u64>,
    turns: u32,
}

impl Repetition {
    /// Adds the calls of a turn. Returns the number of consecutive turns, this one included, that only repeated calls.
    pub(crate) fn add(&mut self, turn: Vec<CallTrace>) -> u32 {
        let mut repeats = !turn.is_empty();
        let mut waited = false;
        for CallTrace(digest) in turn {
            match digest {
                Some(digest) if self.seen.contains(&digest) => {}
                Some(digest) => {
                    repeats = false;
                    if self.seen.len() < MAX_CALLS {
                        self.seen.insert(digest);
                    }
                }
                None => waited = true,
            }
        }
        if !repeats {
            self.turns = 0;
        } else if !waited {
            self.turns += 1;
        }
        self.turns
    }

    /// Forgets all calls: the model no longer has their results, or was told something new.
    pub(crate) fn reset(&mut self) {
        *self = Self::default();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn trace(input: &str, result: &str, duration_ms: u64) -> CallTrace {
        let input = JsonText::of(&input).unwrap();
        CallTrace::new("Bash", &input, &ToolResultContent::Text(result.to_owned()), duration_ms)
    }

    #[test]
    fn a_turn_repeats_only_if_all_of_its_calls_do() {
        let mut run = Repetition::default();
        assert_eq!(run.add(vec![trace("a", "1", 5)]), 0);
        assert_eq!(run.add(vec![trace("a", "1", 7)]), 1);
        assert_eq!(run.add(vec![trace("a", "1", 5), trace("b", "1", 5)]), 0);
        assert_eq!(run.add(vec![trace("b", "1", 5), trace("a", "1", 5)]), 1);
        assert_eq!(run.add(vec![trace("a", "2", 5)]), 0, "another result is news");
        assert_eq!(run.add(Vec::new()), 0);
    }

    #[test]
    fn waiting_neither_repeats_nor_ends_a_repetition() {
        let mut run = Repetition::default();
        run.add(vec![trace("a", "1", 5)]);
        assert_eq!(run.add(vec![trace("a", "1", 5)]), 1);
        for _ in 0..50 {
            assert_eq!(run.add(vec![trace("sleep 2; poll", "running", 2_000)]), 1);
        }
        assert_eq!(run.add(vec![trace("a", "1", 5)]), 2);
        run.reset();
        assert_eq!(run.add(vec![trace("a", "1", 5)]), 0);
    }
}
