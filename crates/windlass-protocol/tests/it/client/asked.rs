//! Questions of a peer, and what becomes of the callbacks.

use crate::client::fake::ready;
use serde_json::json;
use std::time::Duration;
use tokio::sync::watch;
use windlass_permission::can_use_tool_fn;
use windlass_protocol::client::ClientOptions;
use windlass_types::{JsonText, PermissionAnswer};

/// Counts the callbacks that run.
#[derive(Clone, Default)]
struct Running(watch::Sender<usize>);

struct One(watch::Sender<usize>);

impl Running {
    fn start(&self) -> One {
        self.0.send_modify(|count| *count += 1);
        One(self.0.clone())
    }

    fn count(&self) -> usize {
        *self.0.borrow()
    }

    /// Waits until so many run; time passes only when nothing else can happen.
    async fn until(&self, count: usize) {
        let mut counted = self.0.subscribe();
        let reached = tokio::time::timeout(Duration::from_millis(100), counted.wait_for(|now| *now == count)).await;
        assert!(reached.is_ok(), "{} callbacks run, not {count}", self.count());
    }
}

impl Drop for One {
    fn drop(&mut self) {
        self.0.send_modify(|count| *count -= 1);
    }
}

/// Never answers.
fn thinking(running: &Running) -> ClientOptions {
    let running = running.clone();
    ClientOptions::new().can_use_tool(can_use_tool_fn(move |_| {
        let one = running.start();
        async move {
            let _one = one;
            std::future::pending().await
        }
    }))
}

#[tokio::test(start_paused = true)]
async fn a_question_that_is_taken_back_drops_its_callback() {
    let running = Running::default();
    let (client, mut peer) = ready(thinking(&running)).await;
    peer.ask_permission("a").await;
    peer.ask_permission("b").await;
    running.until(2).await;
    peer.take_back("a").await;
    peer.take_back("unknown").await;
    running.until(1).await;
    assert!(peer.hears_nothing().await);
    drop(client);
    running.until(0).await;
}

#[tokio::test(start_paused = true)]
async fn a_peer_that_goes_away_drops_all_callbacks() {
    let running = Running::default();
    let (mut client, mut peer) = ready(thinking(&running)).await;
    peer.ask_permission("a").await;
    running.until(1).await;
    drop(peer);
    assert!(client.next().await.unwrap().is_none());
    running.until(0).await;
}

#[tokio::test(start_paused = true)]
async fn a_flood_of_questions_is_bounded() {
    let running = Running::default();
    let (_client, mut peer) = ready(thinking(&running)).await;
    for n in 0..300 {
        peer.ask_permission(&n.to_string()).await;
    }
    for _ in 256..300 {
        let answered = peer.response().await;
        assert_eq!((&answered["subtype"], &answered["error_code"]), (&json!("error"), &json!("overloaded")));
    }
    running.until(256).await;
    // A place is free again.
    peer.take_back("7").await;
    running.until(255).await;
    peer.ask_permission("one more").await;
    running.until(256).await;
    assert!(peer.hears_nothing().await);
}

#[tokio::test(start_paused = true)]
async fn large_questions_are_bounded_by_their_bytes() {
    let running = Running::default();
    let (_client, mut peer) = ready(thinking(&running).max_line(10_000)).await;
    for id in ["a", "b", "c"] {
        let input = json!({ "text": "x".repeat(6_000) });
        peer.ask(id, json!({ "subtype": "can_use_tool", "tool_name": "act", "input": input })).await;
    }
    for id in ["b", "c"] {
        assert_eq!(peer.response().await["request_id"], id);
    }
    running.until(1).await;
}

#[tokio::test(start_paused = true)]
async fn a_question_that_comes_twice_is_asked_once() {
    let running = Running::default();
    let (_client, mut peer) = ready(thinking(&running)).await;
    peer.ask_permission("a").await;
    peer.ask_permission("a").await;
    assert!(peer.hears_nothing().await);
    assert_eq!(running.count(), 1);
}

#[tokio::test(start_paused = true)]
async fn what_cannot_be_answered_is_refused() {
    let panics = can_use_tool_fn(|request| async move {
        assert!(request.tool != "act", "on purpose");
        PermissionAnswer::allow()
    });
    let (_client, mut peer) = ready(ClientOptions::new().can_use_tool(panics)).await;
    peer.ask_permission("a").await;
    assert_eq!(peer.response().await["error"], "the callback panicked");
    for (request, error) in [
        (json!({ "subtype": "can_use_tool", "tool_name": 7 }), "expected a string"),
        (json!({ "subtype": "can_use_tool" }), "tool_name"),
        (json!({ "subtype": "hook_callback" }), "input"),
        (json!({ "subtype": "mcp_message" }), "server_name"),
        (json!({ "subtype": "fly" }), "Unsupported control request subtype: fly"),
    ] {
        peer.ask("x", request.clone()).await;
        let answered = peer.response().await;
        assert_eq!(answered["subtype"], "error", "{request}");
        assert!(answered["error"].as_str().unwrap().contains(error), "{answered}");
    }
    peer.ask("x", json!({ "subtype": "elicitation" })).await;
    assert_eq!(peer.response().await["response"], json!({ "action": "decline" }));
}

#[tokio::test(start_paused = true)]
async fn a_question_carries_what_it_says() {
    let options = ClientOptions::new().can_use_tool(can_use_tool_fn(|request| async move {
        let decision = &request.decision;
        assert_eq!((request.title.as_str(), request.agent.tool_uses().len()), ("Run it", 1));
        assert_eq!((decision.suggestions.len(), decision.protected), (1, true));
        assert_eq!(decision.blocked_path.as_ref().unwrap().to_str(), Some("/x"));
        PermissionAnswer::Allow { updated_input: None, updates: decision.suggestions.clone() }
    }));
    let (_client, mut peer) = ready(options).await;
    let suggestion = json!({
        "type": "addRules", "rules": [{ "toolName": "act" }], "behavior": "allow", "destination": "session",
    });
    let input = r#"{"n": 123456789012345678901234567890}"#;
    peer.send_text(&format!(
        r#"{{"type":"control_request","request_id":"r","request":{{"subtype":"can_use_tool","tool_name":"act","input":{input},"title":"Run it","permission_suggestions":[{suggestion},{{"type":"fly"}}],"blocked_path":"/x","decision_reason_type":"safetyCheck","agent_id":"t0"}}}}"#
    ))
    .await;
    peer.send_text("\n").await;
    let line = peer.input.next_line().await.unwrap().unwrap();
    assert!(line.contains(&format!(r#""updatedInput":{input}"#)), "{line}");
    let updates = line.split_once(r#""updatedPermissions":[{"type":"addRules""#);
    assert!(updates.is_some_and(|(_, rest)| !rest.contains("fly")), "{line}");
}

#[tokio::test(start_paused = true)]
async fn an_answer_is_written_exactly() {
    let changed = r#"{"n": 1.0000000000000000000001}"#;
    let allow = |input: Option<&str>| {
        let updated_input = input.map(|input| JsonText::parse(input).unwrap());
        PermissionAnswer::Allow { updated_input, updates: Vec::new() }
    };
    for (answer, expected) in [
        (allow(None), r#"{"behavior":"allow","updatedInput":{"what":"it"}}"#.to_owned()),
        (allow(Some(changed)), format!(r#"{{"behavior":"allow","updatedInput":{changed}}}"#)),
        (PermissionAnswer::deny("no"), r#"{"behavior":"deny","message":"no","interrupt":false}"#.to_owned()),
        (
            PermissionAnswer::Deny { message: "stop".to_owned(), interrupt: true },
            r#"{"behavior":"deny","message":"stop","interrupt":true}"#.to_owned(),
        ),
    ] {
        let answered = answer.clone();
        let callback = can_use_tool_fn(move |_| {
            let answer = answered.clone();
            async move { answer }
        });
        let (_client, mut peer) = ready(ClientOptions::new().can_use_tool(callback)).await;
        peer.ask_permission("a").await;
        let line = peer.input.next_line().await.unwrap().unwrap();
        assert!(line.contains(&expected), "{line}");
    }
}
