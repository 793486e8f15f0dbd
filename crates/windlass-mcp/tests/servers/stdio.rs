//! Programs that behave.

use crate::world::{LONG, json, names, one, options, program, status, text};
use std::time::Duration;
use windlass_mcp::{McpError, McpServerConfig, McpServerState, McpServers};

#[tokio::test]
async fn a_program_offers_tools_and_carries_out_calls() {
    let servers = one("real").await;
    let known = status(&servers);
    assert_eq!((known.state, known.error.as_deref()), (McpServerState::Connected, None));
    assert!(known.server_info.is_some());
    assert_eq!(names(&servers.tools()), ["add", "fail", "grow", "slow", "steps"].map(|name| format!("mcp__s__{name}")));
    let sum = servers.call("s", "add", &json(r#"{"a":1,"b":2}"#), None).await.unwrap();
    assert_eq!((text(&sum), sum.is_error), ("3", false));
    let failed = servers.call("s", "fail", &json("{}"), None).await.unwrap();
    assert_eq!((text(&failed), failed.is_error), ("it went wrong", true));
    let refused = servers.call("s", "grow", &json("{}"), None).await.unwrap_err();
    assert!(matches!(&refused, McpError::Refused { code: -32602, .. }), "{refused}");
    assert!(matches!(servers.call("s", "gone", &json("{}"), None).await, Err(McpError::UnknownTool { .. })));
    assert!(matches!(servers.call("t", "add", &json("{}"), None).await, Err(McpError::UnknownServer { .. })));
    servers.close().await;
    assert!(servers.status().is_empty());
}

#[tokio::test]
async fn calls_run_side_by_side_and_a_dropped_one_is_taken_back() {
    let servers = one("real").await;
    let (none, two) = (json("{}"), json(r#"{"a":1,"b":1}"#));
    let slow = servers.call("s", "slow", &none, Some(Duration::from_millis(200)));
    let quick = servers.call("s", "add", &two, None);
    let (slow, quick) = tokio::join!(slow, quick);
    assert!(matches!(slow, Err(McpError::TimedOut { .. })), "{slow:?}");
    assert_eq!(text(&quick.unwrap()), "2");
    servers.close().await;
}

#[tokio::test]
async fn servers_are_switched_off_and_on_removed_and_connected_again() {
    let servers = one("real").await;
    servers.set_enabled("s", false).await.unwrap();
    assert_eq!(status(&servers).state, McpServerState::Disabled);
    assert!(servers.tools().is_empty());
    assert!(matches!(servers.call("s", "add", &json("{}"), None).await, Err(McpError::Disabled { .. })));
    assert!(matches!(servers.reconnect("s").await, Err(McpError::Disabled { .. })));
    servers.set_enabled("s", true).await.unwrap();
    assert_eq!((status(&servers).state, servers.tools().len()), (McpServerState::Connected, 5));
    servers.reconnect("s").await.unwrap();
    assert_eq!(text(&servers.call("s", "add", &json(r#"{"a":1}"#), None).await.unwrap()), "1");
    assert!(matches!(servers.reconnect("t").await, Err(McpError::UnknownServer { .. })));
    assert!(matches!(servers.add("s", program("real")), Err(McpError::Duplicate { .. })));
    let tool = servers.tools().remove(0);
    assert!(servers.remove("s").await && !servers.remove("s").await);
    // A call of a tool that is still held reports that the server is gone.
    assert_eq!(tool.spec().name, "mcp__s__add");
    assert!(servers.tools().is_empty());
}

#[tokio::test]
async fn one_server_that_cannot_be_used_leaves_the_others() {
    let servers = McpServers::new(options());
    servers.add("good", program("real")).unwrap();
    servers.add("none", McpServerConfig::stdio("no-such-program-anywhere")).unwrap();
    servers
        .add(
            "old",
            windlass_mcp::parse_config(r#"{"x":{"type":"sse","url":"http://127.0.0.1:9/"}}"#, |_| None)
                .unwrap()
                .remove(0)
                .1
                .unwrap(),
        )
        .unwrap();
    servers.settled(LONG).await;
    let states: Vec<_> = servers.status().into_iter().map(|known| (known.name, known.state, known.error)).collect();
    assert_eq!(states[0].1, McpServerState::Connected);
    for (name, problem) in [(1, "PATH"), (2, "refused")] {
        assert_eq!(states[name].1, McpServerState::Failed);
        assert!(states[name].2.as_ref().is_some_and(|error| error.contains(problem)), "{states:?}");
    }
    assert_eq!(servers.tools().len(), 5);
    servers.close().await;
}

#[tokio::test]
async fn programs_inherit_nothing_but_what_they_are_given() {
    let servers = one("plain").await;
    let answer = servers.call("s", "go", &json(r#"{"x":1}"#), None).await.unwrap();
    let answer: serde_json::Value = serde_json::from_str(text(&answer)).unwrap();
    assert_eq!(answer["arguments"], serde_json::json!({ "x": 1 }));
    assert!(answer["meta"]["progressToken"].is_number());
    servers.close().await;
}
