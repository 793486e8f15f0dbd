//! The tools of MCP servers in sessions.

#![allow(clippy::unwrap_used, clippy::panic, clippy::indexing_slicing, reason = "a failure here is a failed test")]

use async_trait::async_trait;
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};
use std::time::Duration;
use tokio::sync::{Notify, mpsc};
use windlass::crates::mcp::{McpChannel, McpChannelError, McpServerState};
use windlass::{
    EventKind, JsonText, McpOptions, McpServerConfig, McpServers, Permissions, Script, ScriptedModel, Session, query,
    session, tool_fn,
};

/// A server in this process whose tools say what they were given.
struct Inside {
    tools: Mutex<Vec<&'static str>>,
    push: mpsc::UnboundedSender<JsonText>,
    pushed: tokio::sync::Mutex<mpsc::UnboundedReceiver<JsonText>>,
    /// Waits before it greets, if it is there.
    door: Option<Notify>,
}

impl Inside {
    fn new(tools: &[&'static str], door: Option<Notify>) -> Arc<Self> {
        let (push, pushed) = mpsc::unbounded_channel();
        Arc::new(Self { tools: Mutex::new(tools.to_vec()), push, pushed: tokio::sync::Mutex::new(pushed), door })
    }

    fn change(&self, tools: &[&'static str]) {
        *self.tools.lock().unwrap() = tools.to_vec();
        let changed = r#"{"jsonrpc":"2.0","method":"notifications/tools/list_changed"}"#;
        self.push.send(JsonText::parse(changed).unwrap()).unwrap();
    }
}

#[async_trait]
impl McpChannel for Inside {
    async fn send(&self, message: JsonText) -> Result<Option<JsonText>, McpChannelError> {
        let message: Value = message.to().unwrap();
        let result = match message["method"].as_str() {
            Some("initialize") => {
                if let Some(door) = &self.door {
                    door.notified().await;
                }
                json!({
                    "protocolVersion": "2025-11-25",
                    "capabilities": { "tools": { "listChanged": true } },
                    "serverInfo": { "name": "inside", "version": "1" },
                })
            }
            Some("tools/list") => {
                let tools = self.tools.lock().unwrap().clone();
                let tools = tools.iter().map(|name| json!({ "name": name, "inputSchema": { "type": "object" } }));
                json!({ "tools": tools.collect::<Vec<_>>() })
            }
            Some("tools/call") => {
                let meta = &message["params"]["_meta"]["claudecode/toolUseId"];
                let text = format!("{} for {meta}", message["params"]["name"]);
                json!({ "content": [{ "type": "text", "text": text }] })
            }
            _ => return Ok(None),
        };
        let answer = json!({ "jsonrpc": "2.0", "id": message["id"], "result": result });
        Ok(Some(JsonText::of(&answer).unwrap()))
    }

    async fn receive(&self) -> Option<JsonText> {
        self.pushed.lock().await.recv().await
    }
}

fn servers(inside: &Arc<Inside>) -> McpServers {
    let servers = McpServers::new(McpOptions::new());
    servers.add("in", McpServerConfig::in_process(Arc::clone(inside) as _)).unwrap();
    servers
}

fn says(words: &[&str]) -> ScriptedModel {
    ScriptedModel::new(words.iter().fold(Script::new(), |script, text| script.turn(|turn| turn.text(*text))))
}

/// Time passes only when nothing else can happen.
async fn settled() {
    tokio::time::sleep(Duration::from_millis(1)).await;
}

/// The tools of the next run of a session.
async fn offered(session: &mut Session) -> Vec<String> {
    session.handle.prompt(windlass::crates::runtime::Prompt::text("go")).unwrap();
    let mut tools = Vec::new();
    while let Some(event) = session.events.next().await.unwrap() {
        match event.kind {
            EventKind::RunStarted(started) => tools = started.tools,
            EventKind::RunFinished(_) => return tools,
            _ => {}
        }
    }
    panic!("the session ended");
}

#[tokio::test]
async fn a_call_goes_to_the_server_if_a_rule_allows_it() {
    let inside = Inside::new(&["look"], None);
    let script = |script: Script| {
        script
            .turn(|turn| turn.tool_use_with_id("toolu_1", "mcp__in__look", json!({ "x": 1 })))
            .turn(|turn| turn.text("done"))
    };
    for (rules, expected) in
        [(vec!["mcp__in__*"], r#""look" for "toolu_1""#), (Vec::new(), "No rule allows this call of mcp__in__look")]
    {
        let model = ScriptedModel::new(script(Script::new()));
        let permissions = Permissions::new().allow(rules);
        let mut run = query("go").provider(model).mcp_servers(servers(&inside)).permissions(permissions).stream();
        let mut said = String::new();
        while let Some(event) = run.next().await.unwrap() {
            if let EventKind::ToolFinished(finished) = event.kind {
                said = serde_json::to_string(&finished.result.content).unwrap();
            }
        }
        let expected = serde_json::to_string(expected).unwrap();
        assert!(said.contains(expected.trim_matches('"')), "{said}");
    }
}

#[tokio::test(start_paused = true)]
async fn tools_that_change_are_put_in_place_and_hidden_ones_stay_hidden() {
    let inside = Inside::new(&["b", "a", "secret"], None);
    let own = tool_fn("Zoom", "A test.", |_: BTreeMap<String, Value>, _| async { Ok("ok") });
    let taken = tool_fn("mcp__in__taken", "A test.", |_: BTreeMap<String, Value>, _| async { Ok("mine") });
    let servers = servers(&inside);
    let builder = session().provider(says(&["1", "2"])).tool(own).tool(taken).mcp_servers(servers.clone());
    let mut session = builder.permissions(Permissions::new().deny(["mcp__in__secret"])).open().await.unwrap();
    assert_eq!(offered(&mut session).await, ["Zoom", "mcp__in__a", "mcp__in__b", "mcp__in__taken"]);
    let mut changes = servers.changes();
    inside.change(&["c", "secret", "taken"]);
    assert!(changes.changed().await);
    // The session takes it up beside us.
    settled().await;
    assert_eq!(offered(&mut session).await, ["Zoom", "mcp__in__c", "mcp__in__taken"]);
    session.handle.close().await;
}

#[tokio::test(start_paused = true)]
async fn only_chosen_tools_are_there_also_when_a_server_changes_them() {
    let own = || tool_fn("Zoom", "A test.", |_: BTreeMap<String, Value>, _| async { Ok("ok") });
    let schema = JsonText::parse(r#"{"type":"object"}"#).unwrap();
    for (names, before, after) in [
        (
            &["mcp__in__a", "mcp__in__c"][..],
            &["StructuredOutput", "mcp__in__a"][..],
            &["StructuredOutput", "mcp__in__c"][..],
        ),
        (
            &["Zoom", "mcp__in"],
            &["StructuredOutput", "Zoom", "mcp__in__a", "mcp__in__b"],
            &["StructuredOutput", "Zoom", "mcp__in__b", "mcp__in__c"],
        ),
        (&["mcp__other__*"], &["StructuredOutput"], &["StructuredOutput"]),
        (&[], &["StructuredOutput"], &["StructuredOutput"]),
    ] {
        let inside = Inside::new(&["a", "b"], None);
        let servers = servers(&inside);
        // The model never gives an output; that does not matter here.
        let model = ScriptedModel::from_fn(|_, _| windlass::crates::model::ScriptedTurn::new().text("no"));
        let builder = session().provider(model).tool(own()).mcp_servers(servers.clone()).output_schema(schema.clone());
        let mut session = builder.only_tools(names.iter().copied()).open().await.unwrap();
        assert_eq!(offered(&mut session).await, before, "{names:?}");
        let mut changes = servers.changes();
        inside.change(&["b", "c"]);
        assert!(changes.changed().await);
        // The session takes it up beside us.
        settled().await;
        assert_eq!(offered(&mut session).await, after, "{names:?}");
        session.handle.close().await;
    }
}

#[tokio::test]
async fn the_session_keeps_the_servers_until_it_ends() {
    let inside = Inside::new(&["a"], None);
    let servers = servers(&inside);
    let mut changes = servers.changes();
    let mut session = session().provider(says(&["1"])).mcp_servers(servers).open().await.unwrap();
    assert_eq!(offered(&mut session).await, ["mcp__in__a"]);
    assert!(changes.servers().is_some());
    drop(session);
    let gone = async { while changes.changed().await {} };
    tokio::time::timeout(Duration::from_secs(10), gone).await.unwrap();
}

#[tokio::test(start_paused = true)]
async fn a_session_does_not_wait_for_ever_for_servers_outside() {
    let servers = McpServers::new(McpOptions::new());
    // A server that never greets.
    servers.add("slow", McpServerConfig::stdio("/bin/sleep").arg("600")).unwrap();
    let mut session = session().provider(says(&["1"])).mcp_servers(servers.clone()).open().await.unwrap();
    assert_eq!(servers.status()[0].state, McpServerState::Pending);
    assert!(offered(&mut session).await.is_empty());
    session.handle.close().await;
    servers.close().await;
}

#[tokio::test(start_paused = true)]
async fn a_session_waits_for_a_server_inside_the_host() {
    let inside = Inside::new(&["a"], Some(Notify::new()));
    let opening = tokio::spawn(session().provider(says(&["1"])).mcp_servers(servers(&inside)).open());
    settled().await;
    assert!(!opening.is_finished());
    inside.door.as_ref().unwrap().notify_one();
    let mut session = opening.await.unwrap().unwrap();
    assert_eq!(offered(&mut session).await, ["mcp__in__a"]);
    session.handle.close().await;
}
