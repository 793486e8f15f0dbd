//! The JSONL store keeps the contract of a session store.

use windlass_store::JsonlStore;
use windlass_testkit::store;

#[tokio::test]
async fn the_jsonl_store_conforms() {
    let home = tempfile::tempdir().unwrap();
    store::all(&JsonlStore::new(home.path())).await.unwrap();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_jsonl_store_conforms_on_many_threads() {
    let home = tempfile::tempdir().unwrap();
    store::all(&JsonlStore::new(home.path())).await.unwrap();
}
