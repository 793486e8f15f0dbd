//! Permission requests and their answers.

use crate::world::{Agent, Client, calls, says, statuses, text};
use serde_json::json;
use std::sync::atomic::Ordering;

#[tokio::test(start_paused = true)]
async fn a_call_is_asked_about_with_four_kinds_and_runs_when_allowed() {
    let agent = Agent::new([calls("t1", "act"), says("done")]);
    let mut client = Client::ready(&agent).await;
    let session = client.session().await;
    let id = client.prompt(&session, "a").await;
    let (mut all, request) = client.until("session/request_permission").await;
    assert_eq!(statuses(&all, "t1"), ["pending"], "the call was shown before the question");
    let kinds: Vec<&str> =
        request["params"]["options"].as_array().unwrap().iter().map(|o| o["kind"].as_str().unwrap()).collect();
    for kind in ["allow_once", "allow_always", "reject_once", "reject_always"] {
        assert!(kinds.contains(&kind), "{kinds:?}");
    }
    assert_eq!(request["params"]["toolCall"]["toolCallId"], "t1");
    assert_eq!(request["params"]["toolCall"]["rawInput"], json!({ "path": "a.txt" }));
    assert_eq!(agent.acted.load(Ordering::SeqCst), 0);
    client.choose(&request, "allow").await;
    let (before, answer) = client.answer_of(id).await;
    all.extend(before);
    assert_eq!(statuses(&all, "t1"), ["pending", "in_progress", "completed"]);
    assert_eq!((text(&all).as_str(), &answer["result"]["stopReason"]), ("done", &json!("end_turn")));
    assert_eq!(agent.acted.load(Ordering::SeqCst), 1);
}

#[tokio::test(start_paused = true)]
async fn a_lasting_yes_and_a_lasting_no_hold_for_the_session() {
    for (option, ran) in [("allow-always-1", 2), ("reject-always", 0)] {
        let agent = Agent::new([calls("t1", "act"), calls("t2", "act"), says("done")]);
        let mut client = Client::ready(&agent).await;
        let session = client.session().await;
        let id = client.prompt(&session, "a").await;
        let (_, request) = client.until("session/request_permission").await;
        client.choose(&request, option).await;
        let (before, answer) = client.answer_of(id).await;
        let asked = before.iter().any(|message| message["method"] == "session/request_permission");
        assert!(!asked, "{option}: the second call is not asked about");
        assert_eq!(answer["result"]["stopReason"], "end_turn", "{option}");
        assert_eq!(agent.acted.load(Ordering::SeqCst), ran, "{option}");
        assert_eq!(statuses(&before, "t2").last(), Some(&if ran == 0 { "failed" } else { "completed" }), "{option}");
    }
}

#[tokio::test(start_paused = true)]
async fn a_no_is_no_and_the_next_call_is_asked_about() {
    let agent = Agent::new([calls("t1", "act"), calls("t2", "act"), says("done")]);
    let mut client = Client::ready(&agent).await;
    let session = client.session().await;
    let id = client.prompt(&session, "a").await;
    let (_, request) = client.until("session/request_permission").await;
    client.choose(&request, "reject").await;
    let (before, request) = client.until("session/request_permission").await;
    assert_eq!(statuses(&before, "t1"), ["failed"]);
    // A made-up option is no yes, and neither is an error.
    client.choose(&request, "allow_once").await;
    let (_, answer) = client.answer_of(id).await;
    assert_eq!(answer["result"]["stopReason"], "end_turn");
    assert_eq!(agent.acted.load(Ordering::SeqCst), 0);
}

#[tokio::test(start_paused = true)]
async fn a_question_goes_with_its_run_and_a_late_answer_has_no_effect() {
    let agent = Agent::new([calls("t1", "act"), says("next")]);
    let mut client = Client::ready(&agent).await;
    let session = client.session().await;
    let id = client.prompt(&session, "a").await;
    let (_, request) = client.until("session/request_permission").await;
    client.notify("session/cancel", json!({ "sessionId": session })).await;
    let (before, answer) = client.answer_of(id).await;
    assert_eq!(answer["result"]["stopReason"], "cancelled");
    let withdrawn = before.iter().find(|message| message["method"] == "$/cancel_request").expect("withdrawn");
    assert_eq!(withdrawn["params"]["requestId"], request["id"]);
    client.choose(&request, "allow").await;
    client.choose(&request, "allow-always-1").await;
    let id = client.prompt(&session, "b").await;
    let (_, answer) = client.answer_of(id).await;
    assert_eq!(answer["result"]["stopReason"], "end_turn");
    assert_eq!(agent.acted.load(Ordering::SeqCst), 0);
}

#[tokio::test(start_paused = true)]
async fn an_answer_goes_to_the_session_that_asked() {
    let agent = Agent::new([calls("t1", "act"), calls("t2", "act"), says("x"), says("y")]);
    let mut client = Client::ready(&agent).await;
    let (one, other) = (client.session().await, client.session().await);
    client.prompt(&one, "a").await;
    let (_, first) = client.until("session/request_permission").await;
    client.prompt(&other, "b").await;
    let (_, second) = client.until("session/request_permission").await;
    assert_ne!(first["id"], second["id"]);
    // Ids that nobody has are ignored.
    for id in [json!("9-1"), json!("1-9"), json!(1), json!("x"), json!("1-1-1"), json!(null)] {
        client.answer(&json!({ "id": id }), json!({ "outcome": { "outcome": "selected", "optionId": "allow" } })).await;
    }
    client.choose(&second, "reject").await;
    client.choose(&first, "allow").await;
    client.until("session/update").await;
    let (rest, served) = client.end().await;
    served.unwrap();
    assert!(rest.len() > 1);
    assert!(agent.acted.load(Ordering::SeqCst) <= 1);
}
