//! Commands in the background, through the facade.
#![cfg(target_os = "linux")]
#![allow(clippy::unwrap_used, clippy::panic, clippy::indexing_slicing, reason = "a failure here is a failed test")]

use serde_json::json;
use std::time::{Duration, Instant};
use windlass::{
    EventKind, Home, Outcome, PermissionMode, Permissions, Query, RunOrigin, Script, ScriptedModel, TaskStatus,
    coding_tools, query,
};

fn background(command: &str) -> Script {
    let input = json!({ "command": command, "run_in_background": true });
    Script::new().turn(|turn| turn.tool_use("Bash", input)).turn(|turn| turn.text("It runs."))
}

fn asked(script: Script, cwd: &std::path::Path) -> Query {
    query("go")
        .provider(ScriptedModel::new(script))
        .tools(coding_tools(cwd))
        .permissions(Permissions::new().allow_bypass().mode(PermissionMode::BypassPermissions))
}

#[tokio::test]
async fn a_query_waits_for_what_it_left_behind_and_returns_the_last_result() {
    let work = tempfile::tempdir().unwrap();
    let script = background("sleep 0.2; echo out > made").turn(|turn| turn.text("It is done."));
    let mut run = asked(script, work.path()).stream();
    let mut kinds = Vec::new();
    let mut last = None;
    while let Some(event) = run.next().await.unwrap() {
        match event.kind {
            EventKind::TaskStarted(_) => kinds.push("started"),
            EventKind::TaskEnded(ended) => {
                assert_eq!(ended.status, TaskStatus::Completed);
                kinds.push("ended");
            }
            EventKind::RunFinished(result) => {
                kinds.push("result");
                last = Some(result);
            }
            _ => {}
        }
    }
    assert_eq!(kinds, ["started", "result", "ended", "result"]);
    let last = last.unwrap();
    assert_eq!(
        (last.origin, last.outcome, &*last.text),
        (RunOrigin::TaskNotification, Outcome::Success, "It is done.")
    );
    assert_eq!(std::fs::read_to_string(work.path().join("made")).unwrap(), "out\n");
}

#[tokio::test]
async fn what_takes_too_long_is_stopped() {
    let work = tempfile::tempdir().unwrap();
    for (limit, tag) in [(Duration::ZERO, "a"), (Duration::from_millis(200), "b")] {
        let began = Instant::now();
        let command = format!("touch begun-{tag}; sleep 30; touch late-{tag}");
        let result = asked(background(&command), work.path()).background_wait(Some(limit)).await.unwrap();
        assert_eq!((result.origin, &*result.text), (RunOrigin::User, "It runs."));
        assert!(began.elapsed() < Duration::from_secs(15), "{:?}", began.elapsed());
        assert!(!work.path().join(format!("late-{tag}")).exists());
    }
}

#[tokio::test]
async fn who_resumes_the_session_reads_that_it_was_stopped() {
    let (work, home) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let first = asked(background("sleep 30"), work.path())
        .persist(Home::new(home.path()))
        .background_wait(Some(Duration::ZERO))
        .await
        .unwrap();
    let model = ScriptedModel::from_fn(|request, _| {
        let said = format!("{:?}", request.messages);
        windlass::crates::model::ScriptedTurn::new().text(said)
    });
    let resumed = query("what of it?")
        .provider(model)
        .tools(coding_tools(work.path()))
        .persist(Home::new(home.path()))
        .resume(first.session_id.as_str())
        .await
        .unwrap();
    assert!(resumed.text.contains("<status>stopped</status>"), "{}", resumed.text);
}
