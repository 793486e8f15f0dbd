//! The contract of a session store, one function a rule.
//!
//! Each function works in a project of its own, so all of them can run on one
//! store, and panics with a message where the store breaks the rule. Run
//! [`all`] from a test of every implementation.

#![expect(clippy::expect_used, reason = "a broken rule is a failed test of the store")]

mod sample;

pub use sample::{entries, header, key};

use std::future::Future;
use std::pin::Pin;
use std::task::{Context, Poll, Waker};
use windlass_session::{Durability, Lease, Owner, SessionKey, SessionStore, StoreErrorKind};
use windlass_types::{ContentBlock, Entry, EntryId, EntryKind, Timestamp, UserEntry};

/// Runs every rule of this module.
pub async fn all(store: &dyn SessionStore) {
    entries_come_back_as_they_were(store).await;
    buffered_entries_are_visible(store).await;
    appends_keep_their_order(store).await;
    an_empty_append_changes_nothing(store).await;
    an_unknown_session_is_not_found(store).await;
    an_unused_session_leaves_nothing(store).await;
    a_second_opener_is_refused(store).await;
    a_lease_comes_back_when_closed_or_dropped(store).await;
    a_wrong_position_is_refused(store).await;
    positions_go_on_over_leases(store).await;
    an_abandoned_append_is_kept(store).await;
    loading_changes_nothing(store).await;
    sessions_and_projects_are_apart(store).await;
    lists_show_the_last_changed_first(store).await;
    deleting_is_idempotent(store).await;
    an_open_session_is_not_deleted(store).await;
}

fn owner() -> Owner {
    Owner::new(4_321, "kit")
}

async fn open(store: &dyn SessionStore, key: &SessionKey) -> Lease {
    store.open(key, &owner(), header()).await.expect("a free session opens")
}

fn prompt(number: u32, parent: Option<&EntryId>) -> Entry {
    let content = vec![ContentBlock::text(format!("prompt {number}"))];
    Entry::new(
        EntryId::from_bits(u128::from(number) + 1_000),
        parent.cloned(),
        Timestamp::from_millis(1_770_000_000_000 + u64::from(number)),
        EntryKind::User(UserEntry::new(content)),
    )
}

/// Appends prompts one by one, then gives the session back.
async fn fill(store: &dyn SessionStore, key: &SessionKey, numbers: std::ops::Range<u32>) -> Vec<Entry> {
    let lease = open(store, key).await;
    let mut seq = lease.seq();
    let mut written: Vec<Entry> = Vec::new();
    for number in numbers {
        let entry = prompt(number, written.last().map(|entry| &entry.id));
        written.push(entry.clone());
        seq = store.append(&lease, seq, vec![entry], Durability::Buffered).await.expect("an append at its place works");
    }
    store.close(lease).await.expect("a healthy session closes");
    written
}

async fn loaded(store: &dyn SessionStore, key: &SessionKey) -> Vec<Entry> {
    store.load(key).await.expect("a stored session loads").entries
}

/// Every kind of entry comes back equal, tool inputs and unknown lines as exact
/// text, and nothing is reported as damaged.
pub async fn entries_come_back_as_they_were(store: &dyn SessionStore) {
    let key = key("round-trip", 1);
    let lease = open(store, &key).await;
    let written = entries();
    let seq = store.append(&lease, lease.seq(), written.clone(), Durability::Durable).await.expect("append");
    let loaded = store.load(&key).await.expect("load");
    assert_eq!(loaded.entries, written);
    assert_eq!(loaded.seq, seq, "the position after the last entry");
    assert_eq!(loaded.report.entries, written.len());
    assert_eq!(loaded.report.skipped, []);
    assert_eq!(loaded.report.warnings, Vec::<String>::new());
    store.close(lease).await.expect("close");
    assert_eq!(store.load(&key).await.expect("load").entries, written);
}

/// What was appended without waiting is seen by a load that comes after.
pub async fn buffered_entries_are_visible(store: &dyn SessionStore) {
    let key = key("buffered", 1);
    let lease = open(store, &key).await;
    let first = prompt(1, None);
    store.append(&lease, lease.seq(), vec![first.clone()], Durability::Buffered).await.expect("append");
    assert_eq!(loaded(store, &key).await, [first]);
    store.close(lease).await.expect("close");
}

/// Entries stand in the order of the appends, whatever their durability.
pub async fn appends_keep_their_order(store: &dyn SessionStore) {
    let key = key("order", 1);
    let lease = open(store, &key).await;
    let mut seq = lease.seq();
    let mut written: Vec<Entry> = Vec::new();
    for number in 0..20 {
        let durability = if number % 5 == 0 { Durability::Durable } else { Durability::Buffered };
        let entry = prompt(number, written.last().map(|entry| &entry.id));
        written.push(entry.clone());
        let next = store.append(&lease, seq, vec![entry], durability).await.expect("append");
        assert!(next > seq, "the position grows");
        seq = next;
    }
    store.close(lease).await.expect("close");
    assert_eq!(loaded(store, &key).await, written);
}

/// An append of nothing keeps the position and makes no session.
pub async fn an_empty_append_changes_nothing(store: &dyn SessionStore) {
    let key = key("empty", 1);
    let lease = open(store, &key).await;
    for durability in [Durability::Buffered, Durability::Durable] {
        let seq = store.append(&lease, lease.seq(), Vec::new(), durability).await.expect("append");
        assert_eq!(seq, lease.seq());
    }
    store.close(lease).await.expect("close");
    let error = store.load(&key).await.expect_err("nothing was stored");
    assert_eq!(error.kind, StoreErrorKind::NotFound);
}

/// A session that was never stored is a typed error that names it.
pub async fn an_unknown_session_is_not_found(store: &dyn SessionStore) {
    let key = key("unknown", 1);
    let error = store.load(&key).await.expect_err("there is no such session");
    assert_eq!(error.kind, StoreErrorKind::NotFound);
    assert!(error.to_string().contains(key.session.as_str()), "the error names the session: {error}");
}

/// A session that was opened and not used is neither listed nor loaded.
pub async fn an_unused_session_leaves_nothing(store: &dyn SessionStore) {
    let key = key("unused", 1);
    let lease = open(store, &key).await;
    store.close(lease).await.expect("close");
    assert_eq!(store.load(&key).await.expect_err("nothing was stored").kind, StoreErrorKind::NotFound);
    assert_eq!(store.list(&key.project).await.expect("list"), []);
}

/// While a lease is held, nobody else gets one, and the error names the owner.
pub async fn a_second_opener_is_refused(store: &dyn SessionStore) {
    let key = key("second", 1);
    let lease = open(store, &key).await;
    store.append(&lease, lease.seq(), vec![prompt(1, None)], Durability::Durable).await.expect("append");
    let error = store.open(&key, &Owner::new(1, "other"), header()).await.expect_err("the session is in use");
    assert_eq!(error.kind, StoreErrorKind::InUse);
    assert!(error.to_string().contains("4321"), "the error names the owner: {error}");
    store.close(lease).await.expect("close");
}

/// Closing gives the lease back at once, dropping soon; what was appended is kept.
pub async fn a_lease_comes_back_when_closed_or_dropped(store: &dyn SessionStore) {
    let key = key("lease", 1);
    let first = open(store, &key).await;
    let epoch = first.epoch();
    store.close(first).await.expect("close");
    let second = open(store, &key).await;
    assert_ne!(second.epoch(), epoch, "every lease has a number of its own");
    store.append(&second, second.seq(), vec![prompt(1, None)], Durability::Buffered).await.expect("append");
    drop(second);
    let third = open(store, &key).await;
    assert_eq!(loaded(store, &key).await, [prompt(1, None)]);
    store.close(third).await.expect("close");
}

/// An append that expects another position is refused and changes nothing.
pub async fn a_wrong_position_is_refused(store: &dyn SessionStore) {
    let key = key("position", 1);
    let lease = open(store, &key).await;
    let seq = store.append(&lease, lease.seq(), vec![prompt(1, None)], Durability::Durable).await.expect("append");
    for wrong in [lease.seq(), seq + 1, u64::MAX] {
        let append = store.append(&lease, wrong, vec![prompt(2, None)], Durability::Durable).await;
        assert_eq!(append.expect_err("the position is wrong").kind, StoreErrorKind::Conflict);
    }
    assert_eq!(loaded(store, &key).await, [prompt(1, None)]);
    let next = prompt(2, Some(&prompt(1, None).id));
    store.append(&lease, seq, vec![next], Durability::Durable).await.expect("the right position still works");
    store.close(lease).await.expect("close");
}

/// A session that is opened again goes on where it was, at a position that no
/// earlier append returned less than.
pub async fn positions_go_on_over_leases(store: &dyn SessionStore) {
    let key = key("again", 1);
    let mut written = fill(store, &key, 0..3).await;
    let loaded_before = store.load(&key).await.expect("load");
    let lease = open(store, &key).await;
    assert_eq!(lease.seq(), loaded_before.seq, "nothing came in between");
    let next = prompt(3, written.last().map(|entry| &entry.id));
    let seq = store.append(&lease, lease.seq(), vec![next.clone()], Durability::Durable).await.expect("append");
    assert!(seq > loaded_before.seq);
    written.push(next);
    store.close(lease).await.expect("close");
    let loaded = store.load(&key).await.expect("load");
    assert_eq!(loaded.entries, written);
    assert_eq!(loaded.report.warnings, Vec::<String>::new());
}

/// Whoever stops waiting for an append has still made it.
pub async fn an_abandoned_append_is_kept(store: &dyn SessionStore) {
    let key = key("abandoned", 1);
    let lease = open(store, &key).await;
    {
        let mut append: Pin<Box<dyn Future<Output = _> + Send>> =
            store.append(&lease, lease.seq(), vec![prompt(1, None)], Durability::Durable);
        let polled = append.as_mut().poll(&mut Context::from_waker(Waker::noop()));
        assert!(!matches!(polled, Poll::Ready(Err(_))), "the append works");
    }
    store.close(lease).await.expect("close");
    assert_eq!(loaded(store, &key).await, [prompt(1, None)]);
}

/// Loading twice gives the same, position included.
pub async fn loading_changes_nothing(store: &dyn SessionStore) {
    let key = key("load", 1);
    fill(store, &key, 0..5).await;
    let first = store.load(&key).await.expect("load");
    assert_eq!(store.load(&key).await.expect("load"), first);
}

/// Sessions of one project, and equal sessions of two, do not mix.
pub async fn sessions_and_projects_are_apart(store: &dyn SessionStore) {
    let (one, two, other) = (key("apart", 1), key("apart", 2), key("apart-too", 1));
    let first = fill(store, &one, 0..1).await;
    let second = fill(store, &two, 1..3).await;
    let third = fill(store, &other, 3..4).await;
    assert_eq!(loaded(store, &one).await, first);
    assert_eq!(loaded(store, &two).await, second);
    assert_eq!(loaded(store, &other).await, third);
    assert_eq!(store.list(&one.project).await.expect("list").len(), 2);
    assert_eq!(store.list(&other.project).await.expect("list").len(), 1);
}

/// Lists tell what a session is about, the last changed first, times in milliseconds.
pub async fn lists_show_the_last_changed_first(store: &dyn SessionStore) {
    let (one, two) = (key("list", 1), key("list", 2));
    fill(store, &one, 0..1).await;
    fill(store, &two, 1..2).await;
    let listed = store.list(&one.project).await.expect("list");
    let mut prompts: Vec<Option<&str>> = listed.iter().map(|session| session.first_prompt.as_deref()).collect();
    assert!(listed.is_sorted_by(|a, b| a.last_modified >= b.last_modified), "the last changed come first");
    prompts.sort_unstable();
    assert_eq!(prompts, [Some("prompt 0"), Some("prompt 1")]);
    for session in &listed {
        assert!(session.last_modified > 1_000_000_000_000, "milliseconds since 1970");
        assert_eq!(session.cwd.as_deref(), Some("/kit"));
        assert_eq!(session.git_branch.as_deref(), Some("main"));
    }
}

/// A deleted session is gone from loads and lists, and may be deleted again.
pub async fn deleting_is_idempotent(store: &dyn SessionStore) {
    let key = key("delete", 1);
    fill(store, &key, 0..1).await;
    for _ in 0..2 {
        store.delete(&key).await.expect("delete");
        assert_eq!(store.load(&key).await.expect_err("it is gone").kind, StoreErrorKind::NotFound);
    }
    assert_eq!(store.list(&key.project).await.expect("list"), []);
    let entries = fill(store, &key, 5..6).await;
    assert_eq!(loaded(store, &key).await, entries);
}

/// What somebody writes is not deleted under their hands.
pub async fn an_open_session_is_not_deleted(store: &dyn SessionStore) {
    let key = key("delete-open", 1);
    let lease = open(store, &key).await;
    store.append(&lease, lease.seq(), vec![prompt(1, None)], Durability::Durable).await.expect("append");
    assert_eq!(store.delete(&key).await.expect_err("it is in use").kind, StoreErrorKind::InUse);
    store.close(lease).await.expect("close");
    assert_eq!(loaded(store, &key).await, [prompt(1, None)]);
}
