//! Conformance of the JSONL store with the contract of a session store.

use std::fs;
use windlass_store::JsonlStore;
use windlass_testkit::store::{self, Crash};

/// Runs the kit; a crash cuts off the end of the log's file.
async fn conforms() {
    let home = tempfile::tempdir().unwrap();
    let store = JsonlStore::new(home.path());
    let tear = |key: &_| {
        let log = fs::OpenOptions::new().write(true).open(store.log_path(key)).unwrap();
        log.set_len(log.metadata().unwrap().len() - 20).unwrap();
    };
    store::all(&store, Crash::TearsLines(&tear)).await.unwrap();
}

#[tokio::test]
async fn the_jsonl_store_conforms() {
    conforms().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_jsonl_store_conforms_on_many_threads() {
    conforms().await;
}

#[tokio::test]
async fn a_new_session_has_one_opener_over_all_stores_of_a_home() {
    let home = tempfile::tempdir().unwrap();
    let (one, two) = (JsonlStore::new(home.path()), JsonlStore::new(home.path()));
    store::a_new_session_has_one_opener(&one, &two).await.unwrap();
}

#[tokio::test]
async fn opening_leaves_no_file_behind() {
    use windlass_session::{Owner, SessionStore};
    let home = tempfile::tempdir().unwrap();
    let jsonl = JsonlStore::new(home.path());
    let key = store::key("left-behind", 1);
    let lease = jsonl.open(&key, &Owner::new(1, "x"), store::header()).await.unwrap();
    assert!(jsonl.log_path(&key).exists(), "the lock is on a file");
    jsonl.close(lease).await.unwrap();
    assert!(!jsonl.log_path(&key).exists());
    // A file left by a kill is not a session, and can be opened and created.
    fs::write(jsonl.log_path(&key), "").unwrap();
    assert!(jsonl.find(&key.session).await.unwrap().is_none());
    let lease = jsonl.open(&key, &Owner::new(1, "x"), store::header()).await.unwrap();
    drop(lease);
    assert!(!jsonl.log_path(&key).exists());
}
