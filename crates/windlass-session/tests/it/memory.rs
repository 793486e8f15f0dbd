//! Conformance of the memory store with the contract of a session store.

use std::sync::{Arc, Mutex};
use std::time::Duration;
use windlass_session::MemoryStore;
use windlass_testkit::store;

#[tokio::test]
async fn the_memory_store_conforms() {
    store::all(&MemoryStore::new(), store::Crash::LeavesWholeEntries).await.unwrap();
    let store = MemoryStore::new();
    store::a_new_session_has_one_opener(&store, &store.clone()).await.unwrap();
}

#[tokio::test]
async fn leases_of_the_memory_store_can_expire() {
    let now = Arc::new(Mutex::new(Duration::ZERO));
    let clock = Arc::clone(&now);
    let one = MemoryStore::with_lease_term(Duration::from_secs(15), move || *clock.lock().unwrap());
    let pass = move |time| {
        *now.lock().unwrap() += time;
        Box::pin(std::future::ready(())) as std::pin::Pin<Box<dyn Future<Output = ()> + Send>>
    };
    let stores = store::ExpiringStores { first: &one, second: &one.clone(), pass: &pass };
    store::leases_expire(stores).await.unwrap();
    store::all(&one, store::Crash::LeavesWholeEntries).await.unwrap();
}

#[tokio::test]
async fn a_lease_of_another_store_gives_no_access() {
    use windlass_session::{Durability, Owner, SessionStore, StoreErrorKind};
    let (one, two) = (MemoryStore::new(), MemoryStore::new());
    let key = store::key("foreign-lease", 1);
    let lease = one.open(&key, &Owner::new(1, "one"), store::header()).await.unwrap();
    let error = two.append(&lease, lease.seq(), store::entries(), Durability::Durable).await.unwrap_err();
    assert_eq!(error.kind, StoreErrorKind::LeaseLost);
}
