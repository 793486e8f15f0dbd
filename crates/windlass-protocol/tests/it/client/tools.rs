//! Tools of the host, as the peer sees them.

use crate::client::fake::{Peer, ready};
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::sync::Arc;
use tokio::sync::oneshot;
use windlass_protocol::client::ClientOptions;
use windlass_tool::{DynTool, ToolCx, ToolError, ToolOutput, ToolSet, tool_fn};

type In = BTreeMap<String, Value>;

async fn call(peer: &mut Peer, method: &str, params: Value) -> Value {
    let message = json!({ "jsonrpc": "2.0", "id": 7, "method": method, "params": params });
    peer.ask("r", json!({ "subtype": "mcp_message", "server_name": "host", "message": message })).await;
    let mut answered = peer.response().await;
    assert_eq!(answered["subtype"], "success", "{answered}");
    let response = answered["response"]["mcp_response"].take();
    assert_eq!((&response["jsonrpc"], &response["id"]), (&json!("2.0"), &json!(7)), "{response}");
    response
}

fn tools() -> ToolSet {
    let add = tool_fn("add", "Adds.", |input: In, cx: ToolCx| async move {
        assert_eq!(cx.tool_use_id().as_str(), "t1");
        let sum: i64 = input.values().filter_map(Value::as_i64).sum();
        ToolOutput::text(sum.to_string()).with_structured(&json!({ "sum": sum }))
    });
    let fail = tool_fn("fail", "Fails.", |_: In, _: ToolCx| async move {
        Err::<String, _>(ToolError::rejected("It cannot be done."))
    });
    let burst = tool_fn("burst", "Panics.", |input: In, _: ToolCx| async move {
        assert!(!input.is_empty(), "on purpose");
        Ok("fine".to_owned())
    });
    ToolSet::new([Arc::new(add) as Arc<dyn DynTool>, Arc::new(fail), Arc::new(burst)]).unwrap()
}

#[tokio::test(start_paused = true)]
async fn tools_are_served_as_an_mcp_server() {
    let (_client, mut peer) = ready(ClientOptions::new().tools("host", tools())).await;
    let hello = call(&mut peer, "initialize", json!({ "protocolVersion": "2025-06-18" })).await;
    assert_eq!(hello["result"]["protocolVersion"], "2025-06-18");
    assert_eq!(hello["result"]["serverInfo"]["name"], "host");
    let listed = call(&mut peer, "tools/list", json!({})).await;
    let names: Vec<&str> =
        listed["result"]["tools"].as_array().unwrap().iter().map(|tool| tool["name"].as_str().unwrap()).collect();
    assert_eq!(names, ["add", "burst", "fail"]);
    assert_eq!(listed["result"]["tools"][0]["inputSchema"]["type"], "object");

    let params = json!({ "name": "add", "arguments": { "a": 1, "b": 2 }, "_meta": { "claudecode/toolUseId": "t1" } });
    let answered = call(&mut peer, "tools/call", params).await;
    let expected = json!({
        "content": [{ "type": "text", "text": "3" }], "isError": false, "structuredContent": { "sum": 3 },
    });
    assert_eq!(answered["result"], expected);
    for (params, text) in [
        (json!({ "name": "fail" }), "It cannot be done."),
        (json!({ "name": "burst" }), "The tool failed because of an internal error."),
        (json!({ "name": "gone" }), "There is no tool named"),
        (json!({ "name": "add", "arguments": [1] }), "must be a JSON object"),
    ] {
        let answered = call(&mut peer, "tools/call", params.clone()).await;
        assert_eq!(answered["result"]["isError"], true, "{params}");
        assert!(answered["result"]["content"][0]["text"].as_str().unwrap().contains(text), "{answered}");
    }
    assert_eq!(call(&mut peer, "ping", json!({})).await["result"], json!({}));
    assert_eq!(call(&mut peer, "tools/call", json!({})).await["error"]["code"], -32602);
    assert_eq!(call(&mut peer, "fly", json!({})).await["error"]["code"], -32601);
}

#[tokio::test(start_paused = true)]
async fn the_rest_of_the_protocol_is_polite() {
    let (_client, mut peer) = ready(ClientOptions::new().tools("host", tools())).await;
    let message = json!({ "jsonrpc": "2.0", "method": "notifications/initialized" });
    peer.ask("r", json!({ "subtype": "mcp_message", "server_name": "host", "message": message })).await;
    let expected = json!({ "mcp_response": { "jsonrpc": "2.0", "result": {} } });
    assert_eq!(peer.response().await["response"], expected);
    let message = json!({ "jsonrpc": "2.0", "id": "x", "method": "ping" });
    peer.ask("r", json!({ "subtype": "mcp_message", "server_name": "gone", "message": message })).await;
    let answered = peer.response().await;
    assert_eq!(answered["response"]["mcp_response"]["id"], "x");
    assert_eq!(answered["response"]["mcp_response"]["error"]["code"], -32601);
}

#[tokio::test(start_paused = true)]
async fn a_tool_is_cancelled_when_its_answer_is_no_longer_waited_for() {
    let (cancelled, receiver) = oneshot::channel();
    let (started, running) = oneshot::channel();
    let ends = std::sync::Mutex::new(Some((started, cancelled)));
    let wait = tool_fn("wait", "Waits.", move |_: In, cx: ToolCx| {
        let (started, cancelled) = ends.lock().unwrap().take().unwrap();
        let cancel = cx.cancel().clone();
        // Work that a tool starts may outlive its future; the signal reaches it.
        tokio::spawn(async move {
            cancel.cancelled().await;
            cancelled.send(()).unwrap();
        });
        started.send(()).unwrap();
        std::future::pending::<Result<String, ToolError>>()
    });
    let tools = ToolSet::new([Arc::new(wait) as Arc<dyn DynTool>]).unwrap();
    let (_client, mut peer) = ready(ClientOptions::new().tools("host", tools)).await;
    let message = json!({ "jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": { "name": "wait" } });
    peer.ask("r", json!({ "subtype": "mcp_message", "server_name": "host", "message": message })).await;
    let soon = std::time::Duration::from_secs(60);
    tokio::time::timeout(soon, running).await.expect("it starts").unwrap();
    peer.take_back("r").await;
    tokio::time::timeout(soon, receiver).await.expect("it is cancelled").unwrap();
}
