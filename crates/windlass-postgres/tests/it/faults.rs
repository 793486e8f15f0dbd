//! Faults of the database while sessions are open. The number of trials is `WINDLASS_TRIALS`, or a few.

use crate::server::{Server, shared};
use std::time::Duration;
use tokio::time::Instant;
use windlass_session::{Durability, Owner, SessionStore, StoreErrorKind};
use windlass_testkit::store::{header, key};
use windlass_types::{ContentBlock, Entry, EntryId, EntryKind, Timestamp, UserEntry};

const TERM: Duration = Duration::from_secs(60);

fn trials(few: u32) -> u32 {
    std::env::var("WINDLASS_TRIALS").ok().and_then(|count| count.parse().ok()).unwrap_or(few)
}

fn owner() -> Owner {
    Owner::new(1, "test")
}

fn prompt(number: u32) -> Entry {
    let parent = (number > 0).then(|| EntryId::from_bits(u128::from(number)));
    let kind = EntryKind::User(UserEntry::new(vec![ContentBlock::text(format!("prompt {number}"))]));
    Entry::new(EntryId::from_bits(u128::from(number) + 1), parent, Timestamp::from_millis(u64::from(number)), kind)
}

/// Row 12: the database restarts while entries are appended.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_restart_of_the_database_loses_and_repeats_nothing() {
    let Some(server) = Server::start() else { return };
    let database = server.database().await;
    let (store, key) = (database.store(TERM).await, key("restart", 1));
    let lease = store.open(&key, &owner(), header()).await.unwrap();
    let (mut seq, mut written) = (lease.seq(), 0);
    for trial in 0..trials(4) {
        let mode = if trial % 2 == 0 { "fast" } else { "immediate" };
        let restarted = std::sync::atomic::AtomicBool::new(false);
        std::thread::scope(|scope| {
            scope.spawn(|| {
                server.control(&["-m", mode, "restart"]);
                restarted.store(true, std::sync::atomic::Ordering::Release);
            });
            let append = async {
                let mut after = 0;
                while after < 5 {
                    seq = store.append(&lease, seq, vec![prompt(written)], Durability::Durable).await.unwrap();
                    written += 1;
                    after += u32::from(restarted.load(std::sync::atomic::Ordering::Acquire));
                }
            };
            tokio::task::block_in_place(|| tokio::runtime::Handle::current().block_on(append));
        });
        assert!(store.renew(&lease).await.unwrap().is_some(), "trial {trial}");
    }
    let loaded = store.load(&key).await.unwrap();
    assert_eq!(loaded.entries, (0..written).map(prompt).collect::<Vec<_>>());
    store.close(lease).await.unwrap();
}

/// Row 12: an outage that is longer than the lease ends the session with an error, and leaves a whole log.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_outage_longer_than_the_lease_is_an_error() {
    let Some(server) = Server::start() else { return };
    let database = server.database().await;
    let (term, key) = (Duration::from_secs(1), key("outage", 1));
    let store = database.store(term).await;
    let lease = store.open(&key, &owner(), header()).await.unwrap();
    let seq = store.append(&lease, lease.seq(), vec![prompt(0)], Durability::Durable).await.unwrap();
    server.control(&["-m", "immediate", "stop"]);
    let begun = Instant::now();
    let error = store.append(&lease, seq, vec![prompt(1)], Durability::Durable).await.unwrap_err();
    assert_eq!(error.kind, StoreErrorKind::Unavailable, "{error}");
    assert!(begun.elapsed() < term * 3);
    server.control(&["start"]);
    let again = store.append(&lease, seq, vec![prompt(1)], Durability::Durable).await.unwrap_err();
    assert_eq!(again.kind, StoreErrorKind::Unavailable, "a failed lease stays failed");
    drop(lease);
    database.pass(term);
    let other = database.store(term * 60).await;
    let next = other.open(&key, &owner(), header()).await.unwrap();
    assert_eq!(other.load(&key).await.unwrap().entries, [prompt(0)]);
    other.close(next).await.unwrap();
}

/// Row 14: the owner is cut off past its lease, another one goes on, and the first comes back.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_late_owner_writes_nothing() {
    let Some(server) = shared() else { return };
    let database = server.database().await;
    let (first, second) = (database.store(TERM).await, database.store(TERM).await);
    for trial in 0..trials(5) {
        let key = key("late", trial);
        let old = first.open(&key, &owner(), header()).await.unwrap();
        let seq = first.append(&old, old.seq(), vec![prompt(0)], Durability::Durable).await.unwrap();
        database.pass(TERM + Duration::from_secs(1));
        let new = second.open(&key, &owner(), header()).await.unwrap();
        let (late, next) = tokio::join!(
            first.append(&old, seq, vec![prompt(7)], Durability::Durable),
            second.append(&new, seq, vec![prompt(1)], Durability::Durable),
        );
        assert_eq!(late.unwrap_err().kind, StoreErrorKind::LeaseLost);
        next.unwrap();
        assert_eq!(second.load(&key).await.unwrap().entries, [prompt(0), prompt(1)]);
        second.close(new).await.unwrap();
    }
}

/// Rows 13 and 30: a database that was set back is not written on.
#[tokio::test]
async fn lost_history_is_reported() {
    let Some(server) = shared() else { return };
    let database = server.database().await;
    let (store, key) = (database.store(TERM).await, key("lost", 1));
    let lease = store.open(&key, &owner(), header()).await.unwrap();
    let mut seq = lease.seq();
    for number in 0..2 {
        seq = store.append(&lease, seq, vec![prompt(number)], Durability::Durable).await.unwrap();
    }
    // As a standby that took over without the last commit.
    database.sql("delete from wl_log where seq = (select max(seq) from wl_log)");
    database.sql("update wl_session set seq = (select max(seq) from wl_log)");
    let error = store.append(&lease, seq, vec![prompt(2)], Durability::Durable).await.unwrap_err();
    assert_eq!(error.kind, StoreErrorKind::Changed, "{error}");
    assert_eq!(store.load(&key).await.unwrap().entries, [prompt(0)]);
}

/// Row 18: two owners want one session at the same moment.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn one_of_two_owners_gets_a_session() {
    let Some(server) = shared() else { return };
    let database = server.database().await;
    let (one, two) = (database.store(TERM).await, database.store(TERM).await);
    for trial in 0..trials(50) {
        let (key, owner) = (key("two", trial), owner());
        let (first, second) = tokio::join!(one.open(&key, &owner, header()), two.open(&key, &owner, header()));
        assert!(first.is_ok() != second.is_ok(), "trial {trial}: {first:?} {second:?}");
        if let Ok(lease) = first {
            one.close(lease).await.unwrap();
        }
        if let Ok(lease) = second {
            two.close(lease).await.unwrap();
        }
    }
}
