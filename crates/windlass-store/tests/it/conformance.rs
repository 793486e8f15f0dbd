//! The JSONL store keeps the contract of a session store.

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
