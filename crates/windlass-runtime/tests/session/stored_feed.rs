//! Following a stored session from any position.

use crate::world::{Ran, calls, key, world};
use std::sync::Arc;
use windlass_runtime::StoredFeed;
use windlass_session::{MemoryStore, SessionStore};
use windlass_types::{Entry, EntryKind};

/// Reads so many entries.
async fn entries(feed: &mut StoredFeed, count: usize) -> Vec<Entry> {
    let mut entries = Vec::new();
    for _ in 0..count {
        entries.push(feed.next().await.unwrap());
    }
    entries
}

#[tokio::test(start_paused = true)]
async fn a_follower_reads_each_entry_once_also_over_two_openings() {
    let (store, ran) = (MemoryStore::new(), Ran::default());
    let shared = || -> Arc<dyn SessionStore> { Arc::new(store.clone()) };
    let mut feed = StoredFeed::subscribe_from(shared(), key("s"), 0);
    assert_eq!(feed.stored().await.unwrap(), None);
    let follower = tokio::spawn(async move {
        let mut all = Vec::new();
        while all.iter().filter(|entry: &&Entry| matches!(entry.kind, EntryKind::RunFinished(_))).count() < 2 {
            all.push(feed.next().await.unwrap());
        }
        all
    });
    for _ in 0..2 {
        let mut open = world(calls("act", 2), [ran.act()]).stored(&store).open().await;
        open.succeed("go").await;
        open.handle.close().await.unwrap();
    }
    let all = follower.await.unwrap();
    let prompts = all.iter().filter(|entry| matches!(entry.kind, EntryKind::User(_))).count();
    assert!(prompts >= 2, "{all:#?}");
    // A follower that comes back reads the rest, from each position.
    let mut position = 0;
    for at in 0..all.len() {
        let mut back = StoredFeed::subscribe_from(shared(), key("s"), position);
        assert_eq!(entries(&mut back, all.len() - at).await, all[at..]);
        let mut next = StoredFeed::subscribe_from(shared(), key("s"), position);
        entries(&mut next, 1).await;
        position = next.position();
    }
}
