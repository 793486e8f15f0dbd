//! Resources whose changes are to be reported.

use std::collections::{BTreeSet, VecDeque};
use std::sync::{Mutex, MutexGuard, PoisonError};
use tokio::sync::{Notify, watch};

/// Most resources of a connection that are watched at a time.
const MOST_WATCHED: usize = 50;
/// Most changes of a set of servers that are kept for those who have not looked yet.
const MOST_CHANGES: usize = 100;

/// The resources of one connection that are watched. Each is reported once, and watched again when it is read again: so a server
/// that reports without end says nothing more.
#[derive(Debug, Default)]
pub(crate) struct Watched {
    addresses: watch::Sender<BTreeSet<String>>,
    changed: Mutex<BTreeSet<String>>,
    /// Notified when one has changed.
    pub(crate) news: Notify,
}

impl Watched {
    /// Watches one more. Returns whether it was not watched before, and there is room for it.
    pub(crate) fn add(&self, address: &str) -> bool {
        self.addresses.send_if_modified(|all| all.len() < MOST_WATCHED && all.insert(address.to_owned()))
    }

    /// Watches it no more. Returns whether it was watched.
    pub(crate) fn remove(&self, address: &str) -> bool {
        self.addresses.send_if_modified(|all| all.remove(address))
    }

    /// The server reports that it has changed.
    pub(crate) fn changed(&self, address: String) {
        if self.remove(&address) {
            self.lock().insert(address);
            self.news.notify_one();
        }
    }

    /// What has changed since the last call.
    pub(crate) fn take(&self) -> BTreeSet<String> {
        std::mem::take(&mut *self.lock())
    }

    /// What is watched, as it changes.
    pub(crate) fn subscribe(&self) -> watch::Receiver<BTreeSet<String>> {
        self.addresses.subscribe()
    }

    fn lock(&self) -> MutexGuard<'_, BTreeSet<String>> {
        self.changed.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A resource that a session or the program has read, and that has changed since.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct McpResourceChange {
    /// The name of the server, as it was configured.
    pub server: String,
    /// The address of the resource.
    pub uri: String,
}

/// The changes of a set of servers, numbered.
#[derive(Debug, Default)]
pub(crate) struct Changes(Mutex<(u64, VecDeque<McpResourceChange>)>);

impl Changes {
    pub(crate) fn add(&self, server: &str, uris: BTreeSet<String>) {
        let mut all = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        for uri in uris {
            all.0 += 1;
            all.1.push_back(McpResourceChange { server: server.to_owned(), uri });
            if all.1.len() > MOST_CHANGES {
                all.1.pop_front();
            }
        }
    }

    /// Those behind a number, and the number of the last one.
    pub(crate) fn since(&self, seen: u64) -> (Vec<McpResourceChange>, u64) {
        let all = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let new = usize::try_from(all.0.saturating_sub(seen)).unwrap_or(usize::MAX);
        (all.1.iter().skip(all.1.len().saturating_sub(new)).cloned().collect(), all.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn uris(all: &[&str]) -> BTreeSet<String> {
        all.iter().map(|uri| (*uri).to_owned()).collect()
    }

    #[test]
    fn a_change_is_reported_once_for_each_time_it_was_asked_for() {
        let watched = Watched::default();
        assert!(watched.add("a") && !watched.add("a"));
        watched.changed("other".to_owned());
        for _ in 0..3 {
            watched.changed("a".to_owned());
        }
        assert_eq!(watched.take(), uris(&["a"]));
        watched.changed("a".to_owned());
        assert_eq!(watched.take(), uris(&[]));
        assert!(watched.add("a"));
        assert_eq!((0..200).filter(|n| watched.add(&n.to_string())).count(), MOST_WATCHED - 1);
    }

    #[test]
    fn each_who_looks_reads_what_is_new_to_them() {
        let changes = Changes::default();
        changes.add("s", uris(&["a", "b"]));
        let (first, seen) = changes.since(0);
        assert_eq!(first.iter().map(|change| change.uri.as_str()).collect::<Vec<_>>(), ["a", "b"]);
        changes.add("t", uris(&["c"]));
        assert_eq!(changes.since(seen), (vec![McpResourceChange { server: "t".to_owned(), uri: "c".to_owned() }], 3));
        assert_eq!(changes.since(3), (Vec::new(), 3));
        let many: Vec<String> = (0..500).map(|n| n.to_string()).collect();
        changes.add("s", many.into_iter().collect());
        assert_eq!(changes.since(0).0.len(), MOST_CHANGES);
    }
}
