//! Leases that expire while a session is open.

use crate::world::{Open, World, act, is_started, model, soon, world};
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::oneshot;
use tokio::time::Instant;
use windlass_model::ScriptedTurn;
use windlass_runtime::SessionError;
use windlass_session::{MemoryStore, StoreErrorKind};
use windlass_testkit::fault::{FaultyStore, StoreOperation};
use windlass_types::{EventKind, Outcome, RunFailureKind};

const TERM: Duration = Duration::from_secs(15);

/// A store whose leases expire by the test's virtual clock.
fn expiring() -> FaultyStore<MemoryStore> {
    let begun = Instant::now();
    FaultyStore::new(MemoryStore::with_lease_term(TERM, move || begun.elapsed()))
}

async fn open(mut world: World, store: &FaultyStore<MemoryStore>) -> Open {
    world.store = Some(Arc::new(store.clone()));
    world.open().await
}

/// A session without tools whose model answers at once.
fn answering() -> World {
    world(model(|_, _| ScriptedTurn::new().text("Done.")), [])
}

#[tokio::test(start_paused = true)]
async fn an_idle_session_keeps_its_lease() {
    let store = expiring();
    let mut session = open(answering(), &store).await;
    tokio::time::sleep(TERM * 100).await;
    assert!(store.count(StoreOperation::Renew) >= 290);
    session.succeed("go").await;
}

#[tokio::test(start_paused = true)]
async fn effects_stop_before_a_lease_expires_that_cannot_be_renewed() {
    let store = expiring();
    let (dropped, ended) = oneshot::channel::<()>();
    let dropped = Arc::new(std::sync::Mutex::new(Some(dropped)));
    let hang = act(move |_, _| {
        let held = dropped.lock().unwrap().take();
        async move {
            std::future::pending::<()>().await;
            drop(held);
            Ok(String::new())
        }
    });
    let script = model(|_, _| ScriptedTurn::new().tool_use("act", serde_json::json!({})));
    let begun = Instant::now();
    let mut session = open(world(script, [hang]), &store).await;
    session.say("go");
    soon(session.until(is_started)).await;
    store.fail_from(StoreOperation::Renew, 1, StoreErrorKind::Unavailable);

    let (events, error) = session.rest().await;
    // The call's future was dropped before another owner may begin.
    let stopped = tokio::time::timeout(TERM.saturating_sub(begun.elapsed()), ended).await;
    assert!(stopped.is_ok_and(|end| end.is_err()), "the call went on");
    assert!(begun.elapsed() > TERM / 2, "renewals were repeated only for {:?}", begun.elapsed());
    let failed = events.iter().any(|event| {
        matches!(&event.kind, EventKind::RunFinished(result)
            if matches!(&result.outcome, Outcome::Failed(failure) if failure.kind == RunFailureKind::Store))
    });
    assert!(failed, "{events:#?}");
    assert!(matches!(error, Some(SessionError::Store { .. })), "{error:?}");
}

#[tokio::test(start_paused = true)]
async fn a_store_that_is_out_of_reach_for_a_while_ends_no_session() {
    let store = expiring();
    let mut session = open(answering(), &store).await;
    for nth in 1..=10 {
        store.fail(StoreOperation::Renew, nth, StoreErrorKind::Unavailable);
    }
    tokio::time::sleep(TERM * 3).await;
    session.succeed("go").await;
}

#[tokio::test(start_paused = true)]
async fn a_lease_of_another_owner_ends_the_session_at_once() {
    let store = expiring();
    let mut session = open(answering(), &store).await;
    store.fail_from(StoreOperation::Renew, 1, StoreErrorKind::LeaseLost);
    let begun = Instant::now();
    let (_, error) = session.rest().await;
    assert!(begun.elapsed() < TERM / 2, "it ended after {:?}", begun.elapsed());
    assert!(matches!(error, Some(SessionError::Store { .. })), "{error:?}");
}
