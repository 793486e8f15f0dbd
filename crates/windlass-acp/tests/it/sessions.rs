//! Sessions: loading, resuming, listing, deleting, closing.

use crate::world::{Agent, Client, STORED, calls, kinds, says, text};
use serde_json::{Value, json};
use std::path::PathBuf;
use std::sync::atomic::Ordering;
use windlass_acp::{AcpMcpTransport, AcpStart};

fn stored() -> Value {
    json!({ "sessionId": STORED, "cwd": "/w", "mcpServers": [] })
}

#[tokio::test(start_paused = true)]
async fn loading_shows_the_whole_history_and_then_answers() {
    let agent = Agent::new([says("more")]);
    let mut client = Client::ready(&agent).await;
    let (before, answer) = client.ask("session/load", stored()).await;
    let expected = [
        "user_message_chunk",
        "agent_thought_chunk",
        "agent_message_chunk",
        "tool_call",
        "tool_call_update",
        "agent_message_chunk",
        "session_info_update",
    ];
    assert_eq!(kinds(&before), expected);
    assert_eq!(before[4]["params"]["update"]["status"], "completed");
    assert_eq!(answer["result"]["modes"]["currentModeId"], "default");
    assert_eq!(kinds(&[client.next().await]), ["available_commands_update"]);
    let id = client.prompt(STORED, "go on").await;
    let (before, _) = client.answer_of(id).await;
    assert_eq!(text(&before), "more");
    assert_eq!(agent.begun.lock().unwrap()[0].start, AcpStart::Load);
}

#[tokio::test(start_paused = true)]
async fn resuming_shows_no_history() {
    let agent = Agent::new([]);
    let mut client = Client::ready(&agent).await;
    let (before, answer) = client.ask("session/resume", stored()).await;
    assert!(before.is_empty() && answer["result"]["configOptions"].is_array(), "{before:?} {answer}");
    assert_eq!(agent.begun.lock().unwrap()[0].start, AcpStart::Resume);
}

#[tokio::test(start_paused = true)]
async fn an_unknown_session_fails_at_once_with_all_that_wait_for_it() {
    let agent = Agent::new([]);
    let mut client = Client::ready(&agent).await;
    for method in ["session/load", "session/resume"] {
        let load = client.request(method, json!({ "sessionId": "nope", "cwd": "/w", "mcpServers": [] })).await;
        let prompt = client.prompt("nope", "a").await;
        let mut answers = [client.next().await, client.next().await];
        answers.sort_by_key(|answer| answer["id"].as_u64());
        assert_eq!([&answers[0]["id"], &answers[1]["id"]], [&json!(load), &json!(prompt)]);
        assert!(answers.iter().all(|answer| answer["error"]["code"] == -32002), "{answers:?}");
    }
    let (_, answer) = client.ask("session/close", json!({ "sessionId": "nope" })).await;
    assert_eq!(answer["error"]["code"], -32002);
}

#[tokio::test(start_paused = true)]
async fn a_session_that_is_open_is_closed_before_it_is_loaded_again() {
    let agent = Agent::new([calls("t1", "hang")]);
    let mut client = Client::ready(&agent).await;
    client.ask("session/load", stored()).await;
    let prompt = client.prompt(STORED, "a").await;
    client.until("session/request_permission").await;
    let load = client.request("session/load", stored()).await;
    let (before, answer) = client.answer_of(load).await;
    let stopped = before.iter().find(|message| message["id"] == prompt).expect("the prompt is answered");
    assert_eq!(stopped["result"]["stopReason"], "cancelled");
    assert!(answer["result"]["modes"].is_object(), "{answer}");
    assert_eq!(agent.closed.load(Ordering::SeqCst), 1);
}

#[tokio::test(start_paused = true)]
async fn closing_stops_the_turn_and_answers_everything() {
    let agent = Agent::new([calls("t1", "hang")]);
    let mut client = Client::ready(&agent).await;
    let session = client.session().await;
    let prompt = client.prompt(&session, "a").await;
    let (_, request) = client.until("session/request_permission").await;
    client.choose(&request, "allow").await;
    let (before, answer) = client.ask("session/close", json!({ "sessionId": session })).await;
    let stopped = before.iter().find(|message| message["id"] == prompt).expect("the prompt is answered");
    assert_eq!(stopped["result"]["stopReason"], "cancelled");
    assert_eq!(answer["result"], json!({}));
    assert_eq!(agent.closed.load(Ordering::SeqCst), 1);
    let id = client.prompt(&session, "b").await;
    let (_, answer) = client.answer_of(id).await;
    assert_eq!(answer["error"]["code"], -32002, "{answer}");
}

#[tokio::test(start_paused = true)]
async fn lists_have_pages_and_unknown_sessions_are_deleted_in_silence() {
    let agent = Agent::new([]);
    let mut client = Client::ready(&agent).await;
    let (_, answer) = client.ask("session/list", Value::Null).await;
    assert_eq!(answer["result"]["sessions"][0]["sessionId"], STORED);
    let cursor = answer["result"]["nextCursor"].clone();
    let (_, answer) = client.ask("session/list", json!({ "cwd": "/w", "cursor": cursor })).await;
    assert_eq!(answer["result"]["sessions"], json!([]));
    for params in [json!({ "cursor": "made up" }), json!({ "cwd": "relative" }), json!({ "cursor": 7 })] {
        let (_, answer) = client.ask("session/list", params).await;
        assert_eq!(answer["error"]["code"], -32602, "{answer}");
    }
    client.ask("session/load", stored()).await;
    let (_, answer) = client.ask("session/delete", json!({ "sessionId": STORED })).await;
    assert_eq!(answer["result"], json!({}));
    assert_eq!(*agent.deleted.lock().unwrap(), [STORED]);
    assert_eq!(agent.closed.load(Ordering::SeqCst), 1, "it was closed before");
}

#[tokio::test(start_paused = true)]
async fn directories_and_servers_reach_the_agent() {
    let agent = Agent::new([]);
    let mut client = Client::ready(&agent).await;
    let servers = json!([
        { "name": "a", "command": "/bin/a", "args": ["x"], "env": [{ "name": "K", "value": "V" }] },
        { "type": "http", "name": "b", "url": "https://b", "headers": [{ "name": "H", "value": "V" }] },
        { "type": "sse", "name": "c", "url": "https://c", "headers": [] },
    ]);
    let params = json!({ "cwd": "/w", "additionalDirectories": ["/more"], "mcpServers": servers });
    let (_, answer) = client.ask("session/new", params).await;
    assert!(answer["result"]["sessionId"].is_string(), "{answer}");
    let begun = agent.begun.lock().unwrap()[0].clone();
    assert_eq!(begun.additional_directories, [PathBuf::from("/more")]);
    let [a, b, c] = begun.mcp_servers.as_slice() else { panic!("{begun:?}") };
    assert!(matches!(&a.transport, AcpMcpTransport::Stdio { command, .. } if command == "/bin/a"));
    assert!(matches!(&b.transport, AcpMcpTransport::Http { headers, .. } if headers.len() == 1));
    assert!(matches!(&c.transport, AcpMcpTransport::Sse { .. }));
    assert!(!format!("{begun:?}").contains("\"V\""), "secrets are not shown");
}

#[tokio::test(start_paused = true)]
async fn the_number_of_open_sessions_is_limited() {
    let agent = Agent::new([]);
    let mut client = Client::ready(&agent).await;
    let first = client.session().await;
    client.session().await;
    client.session().await;
    let new = json!({ "cwd": "/w", "mcpServers": [] });
    let (_, answer) = client.ask("session/new", new).await;
    assert_eq!(answer["error"]["code"], -32603, "{answer}");
    client.ask("session/close", json!({ "sessionId": first })).await;
    client.session().await;
}
