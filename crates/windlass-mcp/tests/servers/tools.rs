//! Tools of servers as tools of windlass.

use crate::world::{LONG, one, program};
use serde_json::json;
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::Notify;
use windlass_mcp::{McpOptions, McpServers, McpToolPolicy};
use windlass_testkit::ToolBench;
use windlass_tool::{DynTool, ToolCheck, ToolErrorKind};
use windlass_types::Access;

fn tool(servers: &McpServers, name: &str) -> ToolBench {
    let tool: Arc<dyn DynTool> = servers.tools().into_iter().find(|tool| tool.spec().name == name).unwrap();
    ToolBench::shared(tool)
}

#[tokio::test]
async fn they_are_tools_like_any_other() {
    let servers = one("real").await;
    let add = tool(&servers, "mcp__s__add");
    windlass_testkit::tool::all(&add, &[json!({ "a": 1, "b": 2 }), json!({})]).await.unwrap();
    let prepared = add.prepare(json!({ "a": 1 })).unwrap();
    assert_eq!((prepared.access(), prepared.check()), (Access::Unknown, ToolCheck::Undecided));
    assert_eq!(prepared.title(), "add (s)");
    assert!(add.prepare(json!({ "a": "one" })).is_err(), "the server's schema counts");
    let failed = tool(&servers, "mcp__s__fail").call(json!({})).await.unwrap();
    assert!(failed.is_error);
    // A refusal in the server's own words is a tool result.
    let refused = tool(&servers, "mcp__s__grow").call(json!({})).await.unwrap();
    assert!(refused.is_error && refused.content.text().contains("MCP error -32602"), "{refused:?}");
    servers.close().await;
    let gone = add.call(json!({})).await.unwrap_err();
    assert_eq!(gone.kind(), ToolErrorKind::Rejected);
}

#[tokio::test]
async fn calls_carry_their_id_and_report_their_progress() {
    let servers = one("real").await;
    let steps = tool(&servers, "mcp__s__steps");
    assert_eq!(steps.call(json!({})).await.unwrap().content.text(), "walked");
    // Only the latest progress is sure to be reported.
    assert!(steps.progress().iter().all(|sign| sign.starts_with("step ")), "{:?}", steps.progress());
    servers.close().await;

    let servers = one("plain").await;
    let output = tool(&servers, "mcp__s__go").call(json!({})).await.unwrap().content.text().to_owned();
    assert!(output.contains(r#""claudecode/toolUseId":"toolu_0""#) && output.contains("progressToken"), "{output}");
    servers.close().await;
}

#[tokio::test]
async fn a_call_that_is_stopped_ends_at_once_and_the_server_hears_of_it() {
    let servers = one("real").await;
    let begun = Arc::new(Notify::new());
    let begins = Arc::clone(&begun);
    let slow = tool(&servers, "mcp__s__slow").with(|parts| parts.progress = Arc::new(move |_| begins.notify_one()));
    let cancel = slow.cancel();
    let (called, ()) = tokio::join!(slow.call(json!({})), async {
        begun.notified().await;
        cancel.cancel();
    });
    assert_eq!(called.unwrap_err().kind(), ToolErrorKind::Cancelled);
    servers.close().await;
}

#[tokio::test]
async fn a_policy_makes_a_tool_stricter() {
    let servers = McpServers::new(McpOptions::new());
    let config = program("real").policy("add", McpToolPolicy::Ask).policy("fail", McpToolPolicy::Deny);
    servers.add("s", config).unwrap();
    servers.settled(LONG).await;
    let check = |name: &str| tool(&servers, name).prepare(json!({})).unwrap().check();
    assert!(matches!(check("mcp__s__add"), ToolCheck::Ask(_)));
    assert!(matches!(check("mcp__s__fail"), ToolCheck::Deny(_)));
    assert_eq!(check("mcp__s__slow"), ToolCheck::Undecided);
    servers.close().await;
}

#[tokio::test]
async fn silence_has_a_limit_and_so_has_the_whole_call() {
    use crate::world::one_with;
    let silent = one_with("no answer", crate::world::options().with_call_timeout(Duration::from_millis(100))).await;
    let late = tool(&silent, "mcp__s__go").call(json!({})).await.unwrap_err();
    assert!(late.model_text().contains("did not answer within 0.1 s"), "{late}");
    silent.close().await;
    let servers = McpServers::new(McpOptions::new());
    servers.add("s", program("no answer").timeout(Duration::from_millis(150))).unwrap();
    servers.settled(LONG).await;
    let late = tool(&servers, "mcp__s__go").call(json!({})).await.unwrap_err();
    assert!(late.model_text().contains("did not answer within 0.15 s"), "{late}");
    servers.close().await;
}

#[tokio::test]
async fn the_model_does_not_read_what_a_dying_server_wrote() {
    let servers = one("dies in a call").await;
    let failed = tool(&servers, "mcp__s__go").call(json!({})).await.unwrap_err();
    let text = failed.model_text();
    assert!(text.contains("exit status: 11") && !text.contains("segmentation fault"), "{text}");
    let known = servers.status()[0].error.clone().unwrap();
    assert!(known.contains("segmentation fault"), "the host reads it: {known}");
    servers.close().await;
}
