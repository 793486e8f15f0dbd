//! Sessions that are deleted while they are opened, and opened while programs start.

use std::process::{Command, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use windlass_session::{Durability, Owner, SessionKey, SessionStore, StoreErrorKind};
use windlass_store::JsonlStore;
use windlass_testkit::store::{header, key};
use windlass_types::{ContentBlock, Entry, EntryId, EntryKind, Timestamp, UserEntry};

/// Number of times that the session is opened and appended to with success.
const ROUNDS: u32 = 60;

fn prompt(number: u32) -> Entry {
    let content = vec![ContentBlock::text(format!("prompt-{number}-"))];
    let id = EntryId::from_bits(u128::from(number) + 1);
    Entry::new(id, None, Timestamp::from_millis(0), EntryKind::User(UserEntry::new(content)))
}

/// Opens and appends in turn. Returns the number of acknowledged entries, and those that are not in the file at the
/// session's path although the lease is still held.
async fn write(store: &JsonlStore, key: &SessionKey) -> (u32, Vec<u32>) {
    let (mut acknowledged, mut lost) = (0, Vec::new());
    let mut number = 0;
    while acknowledged < ROUNDS {
        number += 1;
        let lease = match store.open(key, &Owner::new(1, "writer"), header()).await {
            Ok(lease) => lease,
            Err(error) => {
                assert_eq!(error.kind, StoreErrorKind::InUse, "{error}");
                continue;
            }
        };
        let appended = store.append(&lease, lease.seq(), vec![prompt(number)], Durability::Durable).await;
        match appended {
            Ok(_) => {
                acknowledged += 1;
                let log = std::fs::read_to_string(store.log_path(key)).unwrap_or_default();
                if !log.contains(&format!("prompt-{number}-")) {
                    lost.push(number);
                }
            }
            Err(error) => assert_eq!(error.kind, StoreErrorKind::InUse, "{error}"),
        }
        let _ = store.close(lease).await;
    }
    (acknowledged, lost)
}

async fn survives(written: SessionKey, deleted: SessionKey) {
    let home = tempfile::tempdir().unwrap();
    let (store, other) = (JsonlStore::new(home.path()), JsonlStore::new(home.path()));
    let done = Arc::new(AtomicBool::new(false));
    let is_done = Arc::clone(&done);
    let deleter = tokio::spawn(async move {
        while !is_done.load(Ordering::Relaxed) {
            if let Err(error) = other.delete(&deleted).await {
                assert_eq!(error.kind, StoreErrorKind::InUse, "{error}");
            }
        }
    });
    let (acknowledged, lost) = write(&store, &written).await;
    done.store(true, Ordering::Relaxed);
    deleter.await.unwrap();
    assert_eq!(lost, Vec::<u32>::new(), "acknowledged while the lease was held, of {acknowledged}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_is_acknowledged_is_in_the_file_at_its_path_despite_deletions_meanwhile() {
    survives(key("race", 1), key("race", 1)).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_an_agent_is_acknowledged_is_there_despite_deletions_of_the_session() {
    survives(key("race", 2).of_agent("a1".into()), key("race", 2)).await;
}

#[cfg(unix)]
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_session_is_reopened_at_any_time_while_programs_start() {
    let home = tempfile::tempdir().unwrap();
    let done = Arc::new(AtomicBool::new(false));
    let starters: Vec<_> = (0..4)
        .map(|_| {
            let is_done = Arc::clone(&done);
            std::thread::spawn(move || {
                while !is_done.load(Ordering::Relaxed) {
                    let _ = Command::new("/nowhere/at/all").stdin(Stdio::null()).status();
                }
            })
        })
        .collect();
    let (store, key) = (JsonlStore::new(home.path()), key("starts", 1));
    let mut refused = Vec::new();
    for number in 0..ROUNDS {
        match store.open(&key, &Owner::new(1, "one"), header()).await {
            Ok(lease) => {
                store.append(&lease, lease.seq(), vec![prompt(number)], Durability::Durable).await.unwrap();
                store.close(lease).await.unwrap();
            }
            Err(error) => refused.push(error),
        }
    }
    done.store(true, Ordering::Relaxed);
    starters.into_iter().for_each(|starter| starter.join().unwrap());
    assert_eq!(refused, Vec::new(), "of {ROUNDS}");
}
