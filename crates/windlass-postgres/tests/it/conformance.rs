//! Conformance with the contract of a session store, and of leases that expire.

use crate::server::shared;
use std::future::Future;
use std::pin::Pin;
use std::time::Duration;
use windlass_testkit::store::{self, Crash, ExpiringStores};

const TERM: Duration = Duration::from_secs(3_600);

#[tokio::test]
async fn the_store_conforms() {
    let Some(server) = shared() else { return };
    let database = server.database().await;
    store::all(&database.store(TERM).await, Crash::LeavesWholeEntries).await.unwrap();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_store_conforms_on_many_threads_and_for_two_processes() {
    let Some(server) = shared() else { return };
    let database = server.database().await;
    store::all(&database.store(TERM).await, Crash::LeavesWholeEntries).await.unwrap();
    let database = server.database().await;
    let (one, two) = (database.store(TERM).await, database.store(TERM).await);
    store::a_new_session_has_one_opener(&one, &two).await.unwrap();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn leases_expire_by_the_clock_of_the_database() {
    let Some(server) = shared() else { return };
    let database = server.database().await;
    let (one, two) = (database.store(TERM).await, database.store(TERM).await);
    let pass = |time| {
        database.pass(time);
        Box::pin(std::future::ready(())) as Pin<Box<dyn Future<Output = ()> + Send>>
    };
    store::leases_expire(ExpiringStores { first: &one, second: &two, pass: &pass }).await.unwrap();
}
