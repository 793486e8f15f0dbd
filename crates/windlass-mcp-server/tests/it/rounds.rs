//! Clients of 2026-07-28, which are asked in rounds.

use crate::world::{LONG, User, call, connected_anew, failed, params, text};
use rmcp::model::{CallToolResponse, InputRequiredResult};
use serde_json::json;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use windlass::{JsonText, Permissions, ToolOutput, async_trait, coding_tools, session};
use windlass_mcp_server::{
    ClientAbility, ClientAnswer, GatedTools, McpServer, McpService, Question, ServedCall, ServedTool,
};

fn form(name: &str) -> Question {
    let schema = r#"{"type":"object","properties":{"allow":{"type":"boolean"}}}"#;
    Question::form("May I?", JsonText::parse(schema).unwrap()).named(name)
}

/// Service that asks two questions, one after the other, and counts its begun and ended calls.
#[derive(Default)]
struct Twice {
    begun: AtomicUsize,
    ended: AtomicUsize,
}

#[async_trait]
impl McpService for Twice {
    fn tools(&self) -> Vec<ServedTool> {
        let plain = ServedTool::new("twice", "Asks twice.", JsonText::empty_object());
        vec![
            plain,
            ServedTool::new("needy", "Needs a model.", JsonText::empty_object()).with_need(ClientAbility::Sampling),
        ]
    }

    async fn call(&self, call: ServedCall) -> ToolOutput {
        self.begun.fetch_add(1, Ordering::SeqCst);
        let first = call.client.ask_all(vec![form("first"), Question::roots()]).await;
        assert_eq!(first[1], ClientAnswer::Unsupported, "the client has said that it has none");
        let second = call.client.ask_all(vec![form("second")]).await;
        self.ended.fetch_add(1, Ordering::SeqCst);
        ToolOutput::text(format!("{:?} {:?}", first[0], second[0]))
    }
}

#[tokio::test]
async fn the_gate_asks_a_client_in_rounds() {
    for (user, runs) in [(User::answering(true), true), (User::answering(false), false), (User::default(), false)] {
        let ground = tempfile::tempdir().unwrap();
        let path = ground.path().canonicalize().unwrap().join("new.txt");
        let tools = session().tools(coding_tools(ground.path().canonicalize().unwrap()).only(&["Write"]));
        let tools = GatedTools::open(tools, Permissions::new()).await.unwrap();
        let (client, _served) = connected_anew(McpServer::new("g", "1").service(tools), user.clone()).await;
        let written = call(&client, "Write", json!({ "file_path": path, "content": "x" })).await;
        assert_eq!((failed(&written), path.exists()), (!runs, runs), "{written:?}");
        assert_eq!(user.asked.lock().unwrap().len(), usize::from(user.answer.is_some()));
    }
}

#[tokio::test]
async fn a_call_continues_where_it_asked() {
    let service = Arc::new(Twice::default());
    let server = McpServer::new("t", "1").shared_service(Arc::clone(&service) as Arc<_>);
    let (client, _served) = connected_anew(server, User::answering(true)).await;
    let said = text(&call(&client, "twice", json!({})).await);
    assert_eq!(said.matches("Accepted").count(), 2, "{said}");
    assert_eq!((service.begun.load(Ordering::SeqCst), service.ended.load(Ordering::SeqCst)), (1, 1));
    let refused = client.call_tool(params("needy", json!({}))).await.unwrap_err();
    assert!(format!("{refused:?}").contains("-32021"), "{refused:?}");
    assert_eq!(service.begun.load(Ordering::SeqCst), 1, "it was not called");
}

async fn once(
    client: &crate::world::Connected,
    input: serde_json::Value,
    state: Option<String>,
) -> Result<InputRequiredResult, String> {
    let mut call = params("twice", input);
    call.request_state = state;
    match tokio::time::timeout(LONG, client.call_tool_once(call)).await.unwrap() {
        Ok(CallToolResponse::InputRequired(asked)) => Ok(asked),
        Ok(other) => panic!("{other:?}"),
        Err(error) => Err(error.to_string()),
    }
}

#[tokio::test]
async fn a_handle_holds_once_and_for_its_call_alone() {
    let service = Arc::new(Twice::default());
    let server = McpServer::new("t", "1").shared_service(Arc::clone(&service) as Arc<_>);
    let (client, _served) = connected_anew(server, User::answering(true)).await;
    let asked = once(&client, json!({}), None).await.unwrap();
    let state = asked.request_state.unwrap();
    assert_eq!(asked.input_requests.unwrap().into_keys().collect::<Vec<_>>(), ["first"]);
    let tampered = once(&client, json!({}), Some(format!("{state}x"))).await;
    assert!(tampered.unwrap_err().contains("request state"));
    let other = once(&client, json!({ "other": 1 }), Some(state.clone())).await;
    assert!(other.unwrap_err().contains("request state"));
    // Without answers the questions stay, under a new handle.
    let again = once(&client, json!({}), Some(state.clone())).await.unwrap();
    assert_eq!(again.input_requests.unwrap().into_keys().collect::<Vec<_>>(), ["first"]);
    assert!(once(&client, json!({}), Some(state)).await.unwrap_err().contains("request state"));
    assert_eq!(service.begun.load(Ordering::SeqCst), 1);
}

#[tokio::test]
async fn calls_that_wait_are_bounded() {
    let service = Arc::new(Twice::default());
    let server = McpServer::new("t", "1").shared_service(Arc::clone(&service) as Arc<_>);
    let (client, _served) = connected_anew(server, User::answering(true)).await;
    let first = once(&client, json!({}), None).await.unwrap().request_state;
    let second = once(&client, json!({}), None).await.unwrap().request_state;
    for _ in 0..63 {
        once(&client, json!({}), None).await.unwrap();
    }
    assert!(once(&client, json!({}), first).await.unwrap_err().contains("request state"), "the oldest was given up");
    assert!(once(&client, json!({}), second).await.is_ok());
}
