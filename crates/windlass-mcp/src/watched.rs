//! Resources whose changes are to be reported.

use std::collections::{BTreeSet, VecDeque};
use std::sync::{Mutex, MutexGuard, PoisonError};
use tokio::sync::{Notify, watch};

/// Maximum number of resources of a connection that are watched at a time.
const MAX_WATCHED: usize = 50;
/// Maximum number of changes of a set of servers that are kept.
const MAX_CHANGES: usize = 100;

/// Watched resources of one connection. Each is reported once, and watched again once it is read again: a server that
/// reports endlessly therefore causes no further reports.
#[derive(Debug, Default)]
pub(crate) struct WatchedResources {
    addresses: watch::Sender<BTreeSet<String>>,
    changed: Mutex<BTreeSet<String>>,
    /// Notified when a resource has changed.
    pub(crate) news: Notify,
}

impl WatchedResources {
    /// Watches a resource. Returns `true` if it was not watched before and the limit is not reached.
    pub(crate) fn add(&self, address: &str) -> bool {
        self.addresses.send_if_modified(|all| all.len() < MAX_WATCHED && all.insert(address.to_owned()))
    }

    /// Stops watching a resource. Returns `true` if it was watched.
    pub(crate) fn remove(&self, address: &str) -> bool {
        self.addresses.send_if_modified(|all| all.remove(address))
    }

    /// Records a change that the server reports.
    pub(crate) fn changed(&self, address: String) {
        if self.remove(&address) {
            self.lock().insert(address);
            self.news.notify_one();
        }
    }

    /// Returns the resources that have changed since the last call.
    pub(crate) fn take(&self) -> BTreeSet<String> {
        std::mem::take(&mut *self.lock())
    }

    /// Returns a receiver of the watched resources.
    pub(crate) fn subscribe(&self) -> watch::Receiver<BTreeSet<String>> {
        self.addresses.subscribe()
    }

    fn lock(&self) -> MutexGuard<'_, BTreeSet<String>> {
        self.changed.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Resource that a session or the program has read, and that has changed since.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct McpResourceChange {
    /// Name of the server, as configured.
    pub server: String,
    /// Address of the resource.
    pub uri: String,
}

/// Changes of a set of servers, numbered.
#[derive(Debug, Default)]
pub(crate) struct ServerChanges(Mutex<(u64, VecDeque<McpResourceChange>)>);

impl ServerChanges {
    pub(crate) fn add(&self, server: &str, uris: BTreeSet<String>) {
        let mut all = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        for uri in uris {
            all.0 += 1;
            all.1.push_back(McpResourceChange { server: server.to_owned(), uri });
            if all.1.len() > MAX_CHANGES {
                all.1.pop_front();
            }
        }
    }

    /// Returns the changes after the number `seen`, and the number of the latest one.
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
        let watched = WatchedResources::default();
        assert!(watched.add("a") && !watched.add("a"));
        watched.changed("other".to_owned());
        for _ in 0..3 {
            watched.changed("a".to_owned());
        }
        assert_eq!(watched.take(), uris(&["a"]));
        watched.changed("a".to_owned());
        assert_eq!(watched.take(), uris(&[]));
        assert!(watched.add("a"));
        assert_eq!((0..200).filter(|n| watched.add(&n.to_string())).count(), MAX_WATCHED - 1);
    }

    #[test]
    fn each_who_looks_reads_what_is_new_to_them() {
        let changes = ServerChanges::default();
        changes.add("s", uris(&["a", "b"]));
        let (first, seen) = changes.since(0);
        assert_eq!(first.iter().map(|change| change.uri.as_str()).collect::<Vec<_>>(), ["a", "b"]);
        changes.add("t", uris(&["c"]));
        assert_eq!(changes.since(seen), (vec![McpResourceChange { server: "t".to_owned(), uri: "c".to_owned() }], 3));
        assert_eq!(changes.since(3), (Vec::new(), 3));
        let many: Vec<String> = (0..500).map(|n| n.to_string()).collect();
        changes.add("s", many.into_iter().collect());
        assert_eq!(changes.since(0).0.len(), MAX_CHANGES);
    }
}
