//! Sessions that are handed over in the middle of a run, and continued by another opening.

use serde_json::json;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;
use tokio::sync::Notify;
use windlass::session::{Prompt, Session};
use windlass::tool::tool_fn_with;
use windlass::{
    EventKind, Home, Outcome, Permissions, RunResult, Script, ScriptedModel, SessionBuilder, ToolCx, session,
};
use windlass_session::{OUTCOME_UNKNOWN, ProjectKey, SessionKey, SessionStore};
use windlass_store::JsonlStore;

const SESSION: &str = "00000000-0000-4000-8000-000000000042";

/// A tool whose calls last until they are let go.
#[derive(Debug, Default)]
struct Work {
    begun: Notify,
    go: Notify,
    ran: AtomicUsize,
}

type Input = std::collections::BTreeMap<String, u32>;

fn builder(place: &Path, work: &Arc<Work>, script: Script) -> SessionBuilder {
    let tool = tool_fn_with("work", "Works.", Arc::clone(work), |work, _: Input, _: ToolCx| async move {
        work.ran.fetch_add(1, Ordering::Relaxed);
        work.begun.notify_one();
        work.go.notified().await;
        Ok("worked")
    });
    session()
        .provider(ScriptedModel::new(script))
        .tools(tool)
        .cwd(place)
        .permissions(Permissions::new().allow(["work"]))
        .persist(Home::new(place.join("home")))
}

async fn working(place: &Path, work: &Arc<Work>) -> Session {
    let script = Script::new().turn(|turn| turn.tool_use("work", json!({}))).turn(|turn| turn.text("Never."));
    let open = builder(place, work, script).session_id(SESSION).open().await.unwrap();
    open.handle.prompt(Prompt::text("do it")).unwrap();
    work.begun.notified().await;
    open
}

async fn last_result(mut open: Session) -> RunResult {
    let mut last = None;
    while let Some(event) = open.events.try_next().await.unwrap() {
        if let EventKind::RunFinished(result) = event.kind {
            last = Some(result);
        }
    }
    last.unwrap()
}

async fn log(place: &Path) -> String {
    let project = ProjectKey::of(&std::fs::canonicalize(place).unwrap());
    let loaded = JsonlStore::new(place.join("home")).load(&SessionKey::new(project, SESSION.into())).await.unwrap();
    format!("{:?}", loaded.entries)
}

#[tokio::test]
async fn a_run_that_is_handed_over_goes_on_where_the_session_is_opened_next() {
    let (place, work) = (tempfile::tempdir().unwrap(), Arc::<Work>::default());
    let home = Home::new(place.path().join("home"));
    let open = working(place.path(), &work).await;
    let handle = open.handle.clone();
    let (handed, result, ()) = tokio::join!(handle.hand_over(Duration::from_secs(60)), last_result(open), async {
        work.go.notify_one();
    });
    handed.unwrap();
    assert_eq!((result.outcome, handle.prompt("more").is_err()), (Outcome::HandedOver, true));
    let run = home.open_run(SESSION).await.unwrap().unwrap();
    assert_eq!((run.turns, run.resumes, run.answered), (1, 0, None));

    let script = Script::new().turn(|turn| turn.text("It is done."));
    let result = builder(place.path(), &work, script).resume(SESSION).query(Prompt::continue_run()).await.unwrap();
    let result = result.success().unwrap();
    assert_eq!((&*result.text, result.turns, work.ran.load(Ordering::Relaxed)), ("It is done.", 2, 1));
    assert_eq!(home.open_run(SESSION).await.unwrap(), None);
    let log = log(place.path()).await;
    assert!(log.contains("worked") && !log.contains("interrupted by user") && !log.contains(OUTCOME_UNKNOWN), "{log}");
}

#[tokio::test]
async fn a_call_that_outlasts_the_grace_period_has_an_unknown_outcome() {
    let (place, work) = (tempfile::tempdir().unwrap(), Arc::<Work>::default());
    let open = working(place.path(), &work).await;
    let handle = open.handle.clone();
    let (handed, result) = tokio::join!(handle.hand_over(Duration::ZERO), last_result(open));
    handed.unwrap();
    assert_eq!(result.outcome, Outcome::HandedOver);

    let model = ScriptedModel::new(Script::new().turn(|turn| turn.text("It is done.")));
    let again = builder(place.path(), &work, Script::new())
        .provider(model.clone())
        .resume(SESSION)
        .query(Prompt::continue_run());
    assert_eq!(again.await.unwrap().success().unwrap().text, "It is done.");
    assert!(format!("{:?}", model.requests()[0]).contains(OUTCOME_UNKNOWN));
    assert_eq!(work.ran.load(Ordering::Relaxed), 1);
}

#[tokio::test]
async fn messages_that_wait_are_read_by_the_run_that_continues() {
    let (place, work) = (tempfile::tempdir().unwrap(), Arc::<Work>::default());
    let open = working(place.path(), &work).await;
    open.handle.steer("and mind the tests").unwrap();
    open.handle.prompt("then the docs").unwrap();
    let handle = open.handle.clone();
    let (handed, _) = tokio::join!(handle.hand_over(Duration::ZERO), last_result(open));
    handed.unwrap();
    let model = ScriptedModel::new(Script::new().turn(|turn| turn.text("It is done.")));
    let again = builder(place.path(), &work, Script::new())
        .provider(model.clone())
        .resume(SESSION)
        .query(Prompt::continue_run());
    again.await.unwrap().success().unwrap();
    let requests = model.requests();
    let said = format!("{:?}", requests[0]);
    let places = [said.find("and mind the tests"), said.find("then the docs")];
    assert!(places.iter().all(Option::is_some) && places.is_sorted(), "{said}");
    assert_eq!(requests.len(), 1);
}
