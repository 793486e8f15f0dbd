//! Prompts, their updates, and their one answer.

use crate::world::{Agent, Client, calls, kinds, says, statuses, text};
use serde_json::json;
use std::sync::atomic::Ordering;
use std::time::Duration;

#[tokio::test(start_paused = true)]
async fn a_prompt_is_answered_once_behind_its_updates() {
    let agent = Agent::new([says("Good morning."), says("Good night.")]);
    let mut client = Client::ready(&agent).await;
    let session = client.session().await;
    let id = client.prompt(&session, "hello").await;
    let (before, answer) = client.answer_of(id).await;
    assert_eq!(text(&before), "Good morning.");
    assert_eq!(answer["result"], json!({ "stopReason": "end_turn" }));
    let messages: Vec<&str> =
        before.iter().filter_map(|message| message["params"]["update"]["messageId"].as_str()).collect();
    assert!(!messages.is_empty() && messages.iter().all(|id| *id == messages[0]), "{messages:?}");
    let id = client.prompt(&session, "bye").await;
    let (before, answer) = client.answer_of(id).await;
    assert_eq!((text(&before).as_str(), &answer["result"]["stopReason"]), ("Good night.", &json!("end_turn")));
    let (rest, served) = client.end().await;
    assert!(rest.iter().all(|message| message.get("id").is_none()), "{rest:?}");
    served.unwrap();
    assert_eq!(agent.closed.load(Ordering::SeqCst), 1);
}

#[tokio::test(start_paused = true)]
async fn a_prompt_that_comes_during_a_turn_has_its_own_turn() {
    let agent = Agent::new([says("one"), says("two")]);
    let mut client = Client::ready(&agent).await;
    let session = client.session().await;
    let first = client.prompt(&session, "a").await;
    let second = client.prompt(&session, "b").await;
    let (before, _) = client.answer_of(first).await;
    assert_eq!(text(&before), "one");
    let (before, answer) = client.answer_of(second).await;
    assert_eq!(text(&before), "two");
    assert_eq!(answer["result"]["stopReason"], "end_turn");
}

#[tokio::test(start_paused = true)]
async fn a_cancelled_turn_ends_as_cancelled_and_so_do_prompts_behind_it() {
    let agent = Agent::new([calls("t1", "hang"), says("again")]);
    let mut client = Client::ready(&agent).await;
    let session = client.session().await;
    let first = client.prompt(&session, "a").await;
    let (_, request) = client.until("session/request_permission").await;
    client.choose(&request, "allow").await;
    let second = client.prompt(&session, "b").await;
    client.notify("session/cancel", json!({ "sessionId": session })).await;
    let mut answers = Vec::new();
    let mut all = Vec::new();
    while answers.len() < 2 {
        let message = client.next().await;
        if message.get("method").is_none() {
            answers.push(message);
        } else {
            all.push(message);
        }
    }
    answers.sort_by_key(|answer| answer["id"].as_u64());
    assert_eq!([&answers[0]["id"], &answers[1]["id"]], [&json!(first), &json!(second)]);
    for answer in &answers {
        assert_eq!(answer["result"]["stopReason"], "cancelled");
    }
    assert_eq!(statuses(&all, "t1").last(), Some(&"failed"), "{all:?}");
    // The next prompt is answered by itself: no second answer to the ones before.
    let third = client.prompt(&session, "c").await;
    let (before, answer) = client.answer_of(third).await;
    assert!(before.iter().all(|message| message.get("id").is_none()), "{before:?}");
    assert_eq!((text(&before).as_str(), &answer["result"]["stopReason"]), ("again", &json!("end_turn")));
}

#[tokio::test(start_paused = true)]
async fn one_request_is_cancelled_by_its_id() {
    let agent = Agent::new([calls("t1", "hang"), says("two")]);
    let mut client = Client::ready(&agent).await;
    let session = client.session().await;
    let first = client.prompt(&session, "a").await;
    let (_, request) = client.until("session/request_permission").await;
    client.choose(&request, "allow").await;
    let second = client.prompt(&session, "b").await;
    client.notify("$/cancel_request", json!({ "requestId": 12345 })).await;
    client.notify("$/cancel_request", json!({ "requestId": first })).await;
    let (_, answer) = client.answer_of(first).await;
    assert_eq!(answer["result"]["stopReason"], "cancelled");
    let (before, answer) = client.answer_of(second).await;
    assert_eq!((text(&before).as_str(), &answer["result"]["stopReason"]), ("two", &json!("end_turn")));
}

#[tokio::test(start_paused = true)]
async fn sessions_work_beside_each_other() {
    let agent = Agent::new([calls("t1", "hang"), says("other")]);
    let mut client = Client::ready(&agent).await;
    let (one, other) = (client.session().await, client.session().await);
    client.prompt(&one, "a").await;
    let (_, request) = client.until("session/request_permission").await;
    assert_eq!(request["params"]["sessionId"], one.as_str());
    client.choose(&request, "allow").await;
    client.until("session/update").await;
    let id = client.prompt(&other, "b").await;
    let (before, answer) = client.answer_of(id).await;
    let of_other: Vec<_> =
        before.into_iter().filter(|message| message["params"]["sessionId"] == other.as_str()).collect();
    assert_eq!(text(&of_other), "other");
    assert_eq!(answer["result"]["stopReason"], "end_turn");
}

#[tokio::test(start_paused = true)]
async fn a_session_that_cannot_be_opened_says_why_and_the_next_prompt_tries_again() {
    let agent = Agent::new([says("now")]);
    agent.fails.store(1, Ordering::SeqCst);
    let mut client = Client::ready(&agent).await;
    let session = client.session().await;
    let id = client.prompt(&session, "a").await;
    let (_, answer) = client.answer_of(id).await;
    let message = answer["error"]["message"].as_str().unwrap();
    assert!(message.contains("No API key found."), "{answer}");
    let id = client.prompt(&session, "b").await;
    let (before, answer) = client.answer_of(id).await;
    assert_eq!((text(&before).as_str(), &answer["result"]["stopReason"]), ("now", &json!("end_turn")));
}

#[tokio::test(start_paused = true)]
async fn a_failed_turn_is_an_error_of_the_prompt() {
    let agent = Agent::new([]);
    let mut client = Client::ready(&agent).await;
    let session = client.session().await;
    let id = client.prompt(&session, "a").await;
    let (_, answer) = client.answer_of(id).await;
    assert_eq!(answer["error"]["code"], -32603, "{answer}");
    assert!(!answer["error"]["message"].as_str().unwrap().is_empty());
}

#[tokio::test(start_paused = true)]
async fn a_command_that_would_leave_the_session_is_explained() {
    let agent = Agent::new([]);
    let mut client = Client::ready(&agent).await;
    let session = client.session().await;
    let id = client.prompt(&session, "/clear").await;
    let (before, answer) = client.answer_of(id).await;
    assert!(text(&before).contains("Start a new session"), "{before:?}");
    assert_eq!(answer["result"]["stopReason"], "end_turn");
    // Other commands of the conversation work.
    let id = client.prompt(&session, "/cost").await;
    let (before, answer) = client.answer_of(id).await;
    assert!(!text(&before).is_empty());
    assert_eq!(answer["result"]["stopReason"], "end_turn");
}

#[tokio::test(start_paused = true)]
async fn a_client_that_does_not_read_can_still_cancel() {
    let long = "x".repeat(50_000);
    let agent = Agent::new([ScriptedTurns::texts(&long, 40), says("after")]);
    let mut client = Client::with_buffer(&agent, 2_000);
    client.initialize(json!({})).await;
    let session = client.session().await;
    let id = client.prompt(&session, "a").await;
    client.notify("session/cancel", json!({ "sessionId": session })).await;
    let (before, answer) = client.answer_of(id).await;
    assert_eq!(answer["result"]["stopReason"], "cancelled");
    let chunks = kinds(&before).into_iter().filter(|kind| *kind == "agent_message_chunk").count();
    assert!(chunks < 40, "the rest of the answer was not written");
}

#[tokio::test(start_paused = true)]
async fn a_client_that_vanishes_ends_its_sessions() {
    let agent = Agent::new([calls("t1", "hang")]);
    let mut client = Client::ready(&agent).await;
    let session = client.session().await;
    client.prompt(&session, "a").await;
    let (_, request) = client.until("session/request_permission").await;
    client.choose(&request, "allow").await;
    let _ = client.vanish().await;
    assert_eq!(agent.closed.load(Ordering::SeqCst), 1);
}

#[tokio::test(start_paused = true)]
async fn a_client_that_does_not_read_does_not_keep_the_server_from_its_end() {
    let long = "x".repeat(50_000);
    let agent = Agent::new([ScriptedTurns::texts(&long, 40)]);
    let (stop, stopped) = tokio::sync::oneshot::channel::<()>();
    let mut client = Client::until_shutdown(&agent, 2_000, async { drop(stopped.await) });
    client.initialize(json!({})).await;
    let session = client.session().await;
    client.prompt(&session, "a").await;
    // Answers for which there is no room.
    for _ in 0..200 {
        let sent = tokio::time::timeout(Duration::from_secs(1), client.request("unknown", json!({}))).await;
        if sent.is_err() {
            break;
        }
    }
    stop.send(()).unwrap();
    let began = tokio::time::Instant::now();
    client.outcome().await.unwrap_err();
    assert!(began.elapsed() < Duration::from_secs(9), "{:?}", began.elapsed());
    assert_eq!(agent.closed.load(Ordering::SeqCst), 1, "the session was closed in order");
}

struct ScriptedTurns;

impl ScriptedTurns {
    /// A turn with many blocks of text.
    fn texts(text: &str, count: usize) -> windlass_model::ScriptedTurn {
        (0..count).fold(windlass_model::ScriptedTurn::new(), |turn, _| turn.text(text))
    }
}
