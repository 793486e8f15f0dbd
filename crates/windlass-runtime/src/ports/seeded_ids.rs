//! Ids that follow from a seed, for recordings.

use std::collections::HashMap;
use std::fmt;
use std::sync::{Arc, Mutex, PoisonError};
use windlass_model::{ModelProvider, SessionFact};
use windlass_tool::Ids;

/// Ids derived from a seed and from the names for which they are made, so that a replay has the ids of the recording,
/// in whatever order calls run. Without the seed no one can guess them.
#[derive(Clone)]
pub struct SeededIds {
    seed: [u8; 32],
    made: Arc<Mutex<HashMap<String, u64>>>,
}

impl SeededIds {
    /// Ids from a seed.
    #[must_use]
    pub fn new(seed: &str) -> Self {
        Self { seed: *blake3::hash(seed.as_bytes()).as_bytes(), made: Arc::default() }
    }

    /// Returns the ids of a session whose provider records it, or replays a recording; `None` for others.
    pub fn recorded(provider: &dyn ModelProvider, fresh: &dyn Ids) -> Option<Self> {
        let seed = format!("{:032x}", fresh.bits());
        provider.recorded_fact(SessionFact::Ids, &seed).map(|seed| Self::new(&seed))
    }

    /// Returns the ids for a name: its first id, its second and so on.
    pub fn of(&self, name: &str) -> Arc<dyn Ids> {
        Arc::new(NamedIds { seeded: self.clone(), name: name.to_owned() })
    }
}

impl fmt::Debug for SeededIds {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("SeededIds")
    }
}

#[derive(Debug)]
struct NamedIds {
    seeded: SeededIds,
    name: String,
}

impl Ids for NamedIds {
    fn bits(&self) -> u128 {
        let mut counts = self.seeded.made.lock().unwrap_or_else(PoisonError::into_inner);
        let count = counts.entry(self.name.clone()).or_default();
        *count = count.wrapping_add(1);
        let mut hasher = blake3::Hasher::new_keyed(&self.seeded.seed);
        hasher.update(&count.to_le_bytes()).update(self.name.as_bytes());
        let mut bytes = [0; 16];
        hasher.finalize_xof().fill(&mut bytes);
        u128::from_le_bytes(bytes)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_same_seed_gives_the_same_ids_in_any_order() {
        let (recorded, replayed) = (SeededIds::new("5eed"), SeededIds::new("5eed"));
        let first: Vec<u128> = ["a", "b", "a"].map(|name| recorded.of(name).bits()).into();
        let again: Vec<u128> = ["a", "a", "b"].map(|name| replayed.of(name).bits()).into();
        assert_eq!((first[0], first[2], first[1]), (again[0], again[1], again[2]));
        let all =
            std::collections::HashSet::from([first[0], first[1], first[2], SeededIds::new("5eee").of("a").bits()]);
        assert_eq!(all.len(), 4);
    }
}
