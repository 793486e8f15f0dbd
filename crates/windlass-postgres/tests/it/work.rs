//! The queue and the inbox.

use crate::server::shared;
use std::collections::HashSet;
use std::time::Duration;
use windlass_postgres::{InboxMessage, NewSession, PgStore, SessionState, WorkerOffer};
use windlass_session::{Durability, Owner, SessionKey, SessionStore, StoreErrorKind};
use windlass_testkit::store::{header, key};
use windlass_types::{ContentBlock, Entry, EntryKind, Timestamp, UserEntry};

const TERM: Duration = Duration::from_secs(3_600);

fn owner() -> Owner {
    Owner::new(1, "worker").on_host("test")
}

fn offer() -> WorkerOffer {
    WorkerOffer::new(vec!["small".to_owned()], vec!["repository".to_owned()])
}

async fn begin(store: &PgStore, key: &SessionKey) {
    store.begin(key, &NewSession::new("small", "repository")).await.unwrap();
    store.send(key, "first", &InboxMessage::prompt("go")).await.unwrap();
}

async fn claim_all(store: PgStore) -> Vec<SessionKey> {
    let mut all = Vec::new();
    loop {
        let claimed = store.claim(&owner(), &offer(), 4).await.unwrap();
        if claimed.is_empty() {
            return all;
        }
        all.extend(claimed.into_iter().map(|claimed| claimed.key));
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn each_ready_session_is_claimed_by_one_worker() {
    let Some(server) = shared() else { return };
    let database = server.database().await;
    let stores = [database.store(TERM).await, database.store(TERM).await, database.store(TERM).await];
    let count = 60;
    for number in 0..count {
        begin(&stores[0], &key("queue", number)).await;
    }
    // One of a profile that no worker has is left.
    stores[0].begin(&key("queue", 999), &NewSession::new("unknown", "repository")).await.unwrap();
    stores[0].send(&key("queue", 999), "first", &InboxMessage::prompt("go")).await.unwrap();
    let [one, two, three] = stores.map(|store| tokio::spawn(claim_all(store)));
    let claimed: Vec<SessionKey> =
        [one.await.unwrap(), two.await.unwrap(), three.await.unwrap()].into_iter().flatten().collect();
    assert_eq!(claimed.len(), count as usize);
    assert_eq!(claimed.iter().collect::<HashSet<_>>().len(), claimed.len());
}

#[tokio::test]
async fn a_message_is_taken_by_the_append_of_its_entry() {
    let Some(server) = shared() else { return };
    let database = server.database().await;
    let (store, key) = (database.store(TERM).await, key("taken", 1));
    begin(&store, &key).await;
    let claimed = store.claim(&owner(), &offer(), 9).await.unwrap();
    assert_eq!((claimed.len(), claimed[0].exists, claimed[0].attempts), (1, false, 1));
    let lease = store.open(&key, &owner(), header()).await.unwrap();
    let pending = store.pending(&key, 0).await.unwrap();
    assert_eq!((pending.len(), pending[0].message.text.as_str()), (1, "go"));
    let kind = EntryKind::User(UserEntry::new(vec![ContentBlock::text("go")]));
    let entry = Entry::new(pending[0].entry.clone(), None, Timestamp::from_millis(1), kind);
    store.append(&lease, lease.seq(), vec![entry], Durability::Durable).await.unwrap();
    assert!(store.pending(&key, 0).await.unwrap().is_empty());
    // Idle, unless a message came meanwhile.
    assert!(store.leave_as(&key, SessionState::Idle));
    store.close(lease).await.unwrap();
    assert_eq!(store.state(&key).await.unwrap().unwrap().0, SessionState::Idle);
    assert!(store.claim(&owner(), &offer(), 9).await.unwrap().is_empty());
    store.send(&key, "second", &InboxMessage::prompt("on")).await.unwrap();
    assert_eq!(store.state(&key).await.unwrap().unwrap().0, SessionState::Ready);
    assert_eq!(store.claim(&owner(), &offer(), 9).await.unwrap().len(), 1);
    let lease = store.open(&key, &owner(), header()).await.unwrap();
    store.leave_as(&key, SessionState::Idle);
    store.close(lease).await.unwrap();
    assert_eq!(store.state(&key).await.unwrap().unwrap().0, SessionState::Ready, "its message was not taken");
}

#[tokio::test]
async fn a_session_that_ends_its_workers_is_poisoned() {
    let Some(server) = shared() else { return };
    let database = server.database().await;
    let key = key("poison", 1);
    begin(&database.store(TERM).await, &key).await;
    for attempt in 1..=3 {
        let store = database.store(TERM).await;
        let claimed = store.claim(&owner(), &offer(), 9).await.unwrap();
        assert_eq!(claimed[0].attempts, attempt);
        // The worker dies.
        database.pass(TERM * 2);
    }
    let store = database.store(TERM).await;
    assert!(store.claim(&owner(), &offer(), 9).await.unwrap().is_empty());
    let (state, reason) = store.state(&key).await.unwrap().unwrap();
    assert!(state == SessionState::Poisoned && reason.contains("three workers"), "{reason}");
}

#[tokio::test]
async fn an_unknown_session_has_no_inbox() {
    let Some(server) = shared() else { return };
    let store = server.database().await.store(TERM).await;
    let error = store.send(&key("unknown", 1), "k", &InboxMessage::prompt("go")).await.unwrap_err();
    assert_eq!(error.kind, StoreErrorKind::NotFound);
}
