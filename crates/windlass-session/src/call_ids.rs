//! Ids of tool uses: each identifies one call of a conversation.
//!
//! Models, and gateways in front of them, repeat ids. No provider accepts a conversation in which two calls have the
//! same id. A call whose id is taken therefore gets another one, which follows from the earlier calls alone: every
//! reading of the same conversation produces the same ids.

use std::borrow::Cow;
use std::collections::{HashMap, HashSet};
use windlass_types::ToolUseId;

/// Name stem of calls without an id.
const NAMELESS: &str = "call";

/// Ids of the calls of a conversation.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct CallIds {
    taken: HashSet<ToolUseId>,
    /// Next number to try for an id that was repeated before.
    next: HashMap<ToolUseId, u64>,
}

impl CallIds {
    /// `true` if a call has this id.
    pub fn contains(&self, id: &ToolUseId) -> bool {
        self.taken.contains(id)
    }

    /// Marks an id as taken.
    pub fn take(&mut self, id: &ToolUseId) {
        self.taken.insert(id.clone());
    }

    /// Returns a unique id for a call, and marks it as taken: the given one, unless it is taken or empty.
    pub fn name(&mut self, given: &ToolUseId) -> ToolUseId {
        self.name_beside(given, &Self::default())
    }

    /// Returns a unique id like [`CallIds::name`], for a call after those of another conversation, which is not
    /// changed.
    pub fn name_beside(&mut self, given: &ToolUseId, before: &Self) -> ToolUseId {
        let is_taken = |taken: &HashSet<ToolUseId>, id: &ToolUseId| taken.contains(id) || before.taken.contains(id);
        let mut id = Cow::Borrowed(given);
        if given.as_str().is_empty() || is_taken(&self.taken, given) {
            let (stem, first) = if given.as_str().is_empty() { (NAMELESS, 1) } else { (given.as_str(), 2) };
            let known = self.next.get(given).or_else(|| before.next.get(given)).copied();
            let mut number = known.unwrap_or(first);
            loop {
                let other = ToolUseId::from(format!("{stem}_{number}"));
                number = number.saturating_add(1);
                if !is_taken(&self.taken, &other) {
                    id = Cow::Owned(other);
                    break;
                }
            }
            self.next.insert(given.clone(), number);
        }
        let id = id.into_owned();
        self.taken.insert(id.clone());
        id
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn named(given: &[&str]) -> Vec<String> {
        let mut ids = CallIds::default();
        given.iter().map(|id| ids.name(&ToolUseId::from(*id)).to_string()).collect()
    }

    #[test]
    fn an_id_is_changed_only_if_it_is_taken_or_empty() {
        assert_eq!(named(&["a", "b", "a_2", "-"]), ["a", "b", "a_2", "-"]);
        assert_eq!(named(&["a", "a", "a", "a_2"]), ["a", "a_2", "a_3", "a_2_2"]);
        assert_eq!(named(&["a_2", "a", "a"]), ["a_2", "a", "a_3"]);
        assert_eq!(named(&["", "call_2", ""]), ["call_1", "call_2", "call_3"]);
    }

    #[test]
    fn what_is_named_again_is_named_the_same() {
        let once = named(&["a", "a", "", "", "a_2", "a"]);
        let again: Vec<&str> = once.iter().map(String::as_str).collect();
        assert_eq!(named(&again), once);
    }

    #[test]
    fn a_message_is_named_beside_the_conversation_as_in_it() {
        let given: Vec<ToolUseId> = ["a", "a", "b", "a", "", "b", "", "a_3"].map(ToolUseId::from).to_vec();
        for split in 0..given.len() {
            let (first, rest) = given.split_at(split);
            let (mut one, mut before, mut message) = (CallIds::default(), CallIds::default(), CallIds::default());
            let in_it: Vec<ToolUseId> = given.iter().map(|id| one.name(id)).collect();
            let mut beside: Vec<ToolUseId> = first.iter().map(|id| before.name(id)).collect();
            beside.extend(rest.iter().map(|id| message.name_beside(id, &before)));
            assert_eq!(beside, in_it, "{split}");
        }
    }

    #[test]
    fn many_calls_of_one_id_are_named_in_no_time() {
        let given = vec!["a"; 20_000];
        assert_eq!(named(&given).last().map(String::as_str), Some("a_20000"));
    }
}
