//! Servers that are started at their first call, from their cached tools.

use crate::world::{LONG, options, program, status};
use serde_json::json;
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};
use windlass_mcp::{McpServerState, McpServers, McpToolCache};
use windlass_testkit::ToolBench;
use windlass_tool::DynTool;
use windlass_types::JsonText;

#[derive(Debug, Default)]
struct Cache(Mutex<BTreeMap<String, String>>);

impl McpToolCache for Cache {
    fn load(&self, key: &str) -> Option<JsonText> {
        self.0.lock().unwrap().get(key).map(|text| JsonText::parse(text.as_str()).unwrap())
    }

    fn store(&self, key: &str, offered: &JsonText) {
        self.0.lock().unwrap().insert(key.to_owned(), offered.as_str().to_owned());
    }
}

impl Cache {
    fn edit(&self, from: &str, to: &str) {
        for text in self.0.lock().unwrap().values_mut() {
            assert!(text.contains(from), "{text}");
            *text = text.replace(from, to);
        }
    }
}

/// Returns a set of one lazy server, settled.
async fn one(cache: &Arc<Cache>, level: &str) -> McpServers {
    let servers = McpServers::new(options().with_tool_cache(Arc::clone(cache) as Arc<dyn McpToolCache>));
    servers.add("s", program("real").env("LEVEL", level).lazy(true)).unwrap();
    servers.settled(LONG).await;
    servers
}

fn specs(servers: &McpServers) -> Vec<String> {
    servers.tools().iter().map(|tool| serde_json::to_string(&tool.spec()).unwrap()).collect()
}

/// Calls a tool like a session that was offered it.
async fn called(tool: Arc<dyn DynTool>) -> Result<String, String> {
    let called = ToolBench::shared(tool).call(json!({ "a": 20, "b": 22 })).await;
    called.map(|output| output.content.text().to_owned()).map_err(|error| error.model_text().to_owned())
}

fn add(tools: &[Arc<dyn DynTool>]) -> Arc<dyn DynTool> {
    Arc::clone(tools.iter().find(|tool| tool.spec().name == "mcp__s__add").unwrap())
}

#[tokio::test]
async fn a_known_server_is_started_at_its_first_call() {
    let cache = Arc::new(Cache::default());
    let first = one(&cache, "1").await;
    assert_eq!(status(&first).state, McpServerState::Connected, "what is not known is started");
    let offered = specs(&first);
    first.close().await;

    let again = one(&cache, "1").await;
    assert_eq!((status(&again).state, specs(&again)), (McpServerState::Idle, offered));
    assert!(again.instructions().is_empty() && again.missing().is_empty());
    assert_eq!(called(add(&again.tools())).await.unwrap(), "42");
    let known = status(&again);
    assert_eq!((known.state, known.tools_changed), (McpServerState::Connected, Vec::new()));
    again.close().await;

    // Another environment is another server.
    let other = one(&cache, "2").await;
    assert_eq!(status(&other).state, McpServerState::Connected);
    other.close().await;
}

#[tokio::test]
async fn a_tool_that_has_changed_is_not_called_as_it_was_judged() {
    let cache = Arc::new(Cache::default());
    one(&cache, "1").await.close().await;
    cache.edit(
        "\"name\":\"add\",\"description\":\"A tool.\"",
        "\"name\":\"add\",\"description\":\"Once another text.\"",
    );
    let servers = one(&cache, "1").await;
    let old = servers.tools();
    // Two concurrent calls, each judged by the old definition.
    let (one, two) = tokio::join!(called(add(&old)), called(add(&old)));
    for refused in [one, two] {
        assert!(refused.unwrap_err().contains("has changed"));
    }
    assert_eq!(status(&servers).tools_changed, ["add"]);
    assert_eq!(called(add(&servers.tools())).await.unwrap(), "42");
    servers.close().await;
}

#[tokio::test]
async fn the_way_that_a_server_was_greeted_is_known_the_next_time() {
    let cache = Arc::new(Cache::default());
    one(&cache, "1").await.close().await;
    // Programs are greeted by the handshake first, unless another lifecycle is known to work.
    cache.edit("\"lifecycle\":\"initialize\"", "\"lifecycle\":\"discover\"");
    let servers = one(&cache, "1").await;
    assert_eq!(called(add(&servers.tools())).await.unwrap(), "42");
    servers.close().await;
    // The cached lifecycle is unchanged: no other one was tried.
    cache.edit("\"lifecycle\":\"discover\"", "\"lifecycle\":\"discover\"");
}

#[tokio::test]
async fn what_is_kept_and_cannot_be_read_starts_the_server() {
    let cache = Arc::new(Cache::default());
    one(&cache, "1").await.close().await;
    for (from, to) in [("\"version\":2", "\"version\":9"), ("\"version\":2", "\"version\":\"x\"")] {
        cache.edit(from, to);
        let servers = one(&cache, "1").await;
        assert_eq!(status(&servers).state, McpServerState::Connected);
        servers.close().await;
    }
}

#[tokio::test]
async fn the_configuration_says_which_calls_run_side_by_side() {
    let servers = McpServers::new(options());
    servers.add("s", program("real").parallel("add")).unwrap();
    servers.add("all", program("real").settings(&JsonText::parse(r#"{"parallelTools":true}"#).unwrap())).unwrap();
    servers.settled(LONG).await;
    let side_by_side: Vec<String> = servers
        .tools()
        .iter()
        .filter(|tool| tool.annotations().hinted_read_only)
        .map(|tool| tool.spec().name)
        .collect();
    assert_eq!(side_by_side.len(), 6, "{side_by_side:?}");
    assert!(side_by_side.contains(&"mcp__s__add".to_owned()) && !side_by_side.contains(&"mcp__s__slow".to_owned()));
    servers.close().await;
}
