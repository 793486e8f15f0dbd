//! Background work: turns that it wakes, orders to it, and the end of the input while it runs.

use crate::server::host::{Host, options};
use crate::server::world::{says, script};
use serde_json::{Value, json};
use std::time::Duration;
use windlass_model::ScriptedTurn;

fn leaves() -> ScriptedTurn {
    ScriptedTurn::new().tool_use_with_id("t1", "leave", json!({}))
}

fn of<'a>(lines: &'a [Value], kind: &str) -> Vec<&'a Value> {
    lines.iter().filter(|line| line["type"] == kind || line["subtype"] == kind).collect()
}

fn woken(result: &Value) -> bool {
    result["origin"] == json!({ "kind": "task-notification" })
}

/// A host whose session has left work behind, and its name.
async fn left(
    turns: impl IntoIterator<Item = ScriptedTurn>,
    change: impl FnOnce(&mut windlass_protocol::ServerOptions),
) -> (Host, String) {
    let mut options = options();
    change(&mut options);
    let turns = [leaves(), says("It runs.")].into_iter().chain(turns);
    let mut host = Host::start(script(turns), options);
    host.say("go").await;
    let (result, before) = host.until("result", "").await;
    assert!(!woken(&result));
    let name = of(&before, "task_started")[0]["task_id"].as_str().unwrap().to_owned();
    (host, name)
}

#[tokio::test(start_paused = true)]
async fn the_end_of_the_input_waits_for_work_and_for_the_turn_that_it_wakes() {
    let (mut host, name) = left([says("It is done.")], |_| {}).await;
    host.hang_up();
    let let_go = std::sync::Arc::clone(&host.seen.let_go);
    tokio::time::sleep(Duration::from_secs(60)).await;
    let_go.notify_one();
    let (served, lines) = host.end().await;
    assert!(!served.unwrap().is_error);
    assert_eq!(of(&lines, "task_notification")[0]["task_id"], name);
    let results = of(&lines, "result");
    assert_eq!((results.len(), &results[0]["result"]), (1, &json!("It is done.")));
    assert!(woken(results[0]));
    assert!(!of(&lines, "keep_alive").is_empty(), "nothing shows that the host is there");
}

#[tokio::test(start_paused = true)]
async fn work_that_takes_too_long_is_stopped_at_the_end() {
    for wait in [0, 30] {
        let (mut host, _) = left([], |options| options.background_wait = Some(Duration::from_secs(wait))).await;
        host.hang_up();
        let began = tokio::time::Instant::now();
        let (served, lines) = host.end().await;
        assert!(!served.unwrap().is_error);
        assert!(began.elapsed() <= Duration::from_secs(wait + 5), "{:?}", began.elapsed());
        assert_eq!(of(&lines, "task_notification")[0]["status"], "stopped");
        assert!(of(&lines, "result").is_empty());
    }
}

#[tokio::test(start_paused = true)]
async fn without_a_limit_it_is_waited_for() {
    let (mut host, _) = left([says("It is done.")], |options| options.background_wait = None).await;
    let let_go = std::sync::Arc::clone(&host.seen.let_go);
    host.hang_up();
    tokio::time::sleep(Duration::from_secs(24 * 3600)).await;
    let_go.notify_one();
    assert_eq!(of(&host.end().await.1, "result").len(), 1);
}

#[tokio::test(start_paused = true)]
async fn messages_and_woken_turns_have_a_result_each() {
    for asked_first in [true, false] {
        let (mut host, _) = left([says("One."), says("Two.")], |options| options.reports.session_state = true).await;
        let message = json!({
            "type": "user", "uuid": "00000000-0000-4000-8000-000000000009",
            "message": { "role": "user", "content": "and?" },
        });
        if !asked_first {
            host.seen.let_go.notify_one();
        }
        host.send(message).await;
        if asked_first {
            host.seen.let_go.notify_one();
        }
        host.hang_up();
        let (served, lines) = host.end().await;
        assert!(!served.unwrap().is_error);
        let results = of(&lines, "result");
        let answers: Vec<bool> = results.iter().map(|result| result.get("user_message_uuid").is_some()).collect();
        let wakes: Vec<bool> = results.iter().map(|result| woken(result)).collect();
        // The end of work during a turn is reported in it; else it has a turn of its own. No message loses its answer.
        assert_eq!(answers.iter().filter(|answers| **answers).count(), 1, "{results:?}");
        assert!(answers.iter().zip(&wakes).all(|(answers, wakes)| answers != wakes), "{results:?}");
        assert_eq!(of(&lines, "task_notification").len(), 1);
        let states = of(&lines, "session_state_changed");
        assert_eq!(states.last().unwrap()["state"], "idle");
        let last = lines.iter().rposition(|line| line["type"] == "result").unwrap();
        let after: Vec<&Value> = lines[last + 1..].iter().map(|line| &line["type"]).collect();
        assert!(
            after.iter().all(|kind| ["system", "command_lifecycle"].contains(&kind.as_str().unwrap())),
            "{after:?}"
        );
    }
}

#[tokio::test(start_paused = true)]
async fn a_woken_turn_can_be_stopped() {
    let wait = ScriptedTurn::new().tool_use_with_id("t2", "wait", json!({}));
    let (mut host, _) = left([wait], |_| {}).await;
    host.seen.let_go.notify_one();
    host.until("assistant", "").await;
    host.order("r", json!({}), "interrupt").await;
    let result = host.result().await;
    assert!(woken(&result), "{result}");
    assert_eq!(result["subtype"], "error_during_execution");
    host.hang_up();
    host.end().await.0.unwrap();
}

#[tokio::test(start_paused = true)]
async fn a_cleared_session_takes_its_work_along() {
    let (mut host, name) = left([], |_| {}).await;
    host.say("/clear").await;
    let (_, before) = host.until("result", "").await;
    assert_eq!(
        (&of(&before, "task_notification")[0]["task_id"], &of(&before, "task_notification")[0]["status"]),
        (&json!(name), &json!("stopped"))
    );
    host.hang_up();
    let (served, lines) = host.end().await;
    assert!(!served.unwrap().is_error && of(&lines, "result").is_empty());
}

#[tokio::test(start_paused = true)]
async fn a_host_that_leaves_takes_the_work_along() {
    for reports in [true, false] {
        let (mut host, _) = left([], |_| {}).await;
        if reports {
            host.tell_to_end();
        } else {
            host.die();
        }
        // The end checks that nothing of the session is left.
        let _ = host.end().await;
    }
}
