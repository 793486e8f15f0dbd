//! Prompts that servers offer.

use crate::world::{options, until};
use async_trait::async_trait;
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use windlass_mcp::{McpChannel, McpChannelError, McpCompletionOf, McpServerConfig, McpServerState, McpServers};
use windlass_types::{ContentBlock, JsonText};

/// Host with a server that has prompts in two pages, or announces none.
#[derive(Debug, Default)]
struct Host {
    silent: bool,
    pages: AtomicUsize,
    asked: Mutex<Vec<Value>>,
}

#[async_trait]
impl McpChannel for Host {
    async fn send(&self, message: JsonText) -> Result<Option<JsonText>, McpChannelError> {
        let message: Value = message.to().unwrap();
        let result = match message["method"].as_str() {
            Some("initialize") => json!({
                "protocolVersion": message["params"]["protocolVersion"],
                "capabilities": if self.silent { json!({"tools": {}}) } else { json!({"tools": {}, "prompts": {}}) },
                "serverInfo": { "name": "inside", "version": "1" },
            }),
            Some("tools/list") => json!({ "tools": [] }),
            Some("prompts/list") if message["params"]["cursor"].is_null() => {
                self.pages.fetch_add(1, Ordering::SeqCst);
                let arguments = json!([{"name": "who", "required": true}, {"name": "how"}]);
                json!({ "prompts": [{"name": "greet", "description": "Greets.", "arguments": arguments}], "nextCursor": "2" })
            }
            Some("prompts/list") => json!({ "prompts": [{"name": "a b"}] }),
            Some("completion/complete") => {
                self.asked.lock().unwrap().push(message["params"].clone());
                json!({ "completion": { "values": vec!["Ada"; 200], "hasMore": true } })
            }
            Some("prompts/get") => {
                self.asked.lock().unwrap().push(message["params"].clone());
                let text = |text: &str| json!({"role": "user", "content": {"type": "text", "text": text}});
                json!({ "messages": [text("Hello"), text("there")] })
            }
            _ => return Ok(Some(JsonText::parse(r#"{"jsonrpc":"2.0","id":0,"result":{}}"#).unwrap())),
        };
        let answer = json!({ "jsonrpc": "2.0", "id": message["id"], "result": result });
        Ok(Some(JsonText::of(&answer).unwrap()))
    }

    async fn receive(&self) -> Option<JsonText> {
        std::future::pending().await
    }
}

async fn servers(host: &Arc<Host>) -> McpServers {
    let servers = McpServers::new(options());
    servers.add("my srv", McpServerConfig::in_process(Arc::clone(host) as Arc<dyn McpChannel>)).unwrap();
    until(&servers, McpServerState::Connected).await;
    servers
}

#[tokio::test]
async fn prompts_are_listed_page_by_page_and_given_with_their_arguments() {
    let host = Arc::new(Host::default());
    let servers = servers(&host).await;
    let prompts = servers.prompts().await;
    let names: Vec<String> = prompts.iter().map(windlass_mcp::McpPrompt::command).collect();
    assert_eq!(names, ["mcp__my_srv__greet", "mcp__my_srv__a_b"]);
    let greet = &prompts[0];
    let words = |words: &[&str]| words.iter().map(|word| (*word).to_owned()).collect::<Vec<_>>();
    assert_eq!(greet.named(&[]), Err("who".to_owned()));
    let named = greet.named(&words(&["Ada", "very", "kindly"])).unwrap();
    let expected = [("who", "Ada"), ("how", "very kindly")].map(|(name, value)| (name.to_owned(), value.to_owned()));
    assert_eq!(named, BTreeMap::from(expected));
    let blocks = servers.prompt(&greet.server, &greet.name, &named).await.unwrap();
    assert_eq!(blocks, [ContentBlock::text("Hello"), ContentBlock::text("there")]);
    assert_eq!(host.asked.lock().unwrap()[0]["arguments"], json!({"who": "Ada", "how": "very kindly"}));
    assert!(servers.prompt("absent", "greet", &named).await.is_err());
    let called = servers.named_prompt("mcp__my_srv__greet", &words(&["Ada"])).await.unwrap();
    assert_eq!(called, Some(vec![ContentBlock::text("Hello"), ContentBlock::text("there")]));
    assert_eq!(host.asked.lock().unwrap()[1]["arguments"], json!({"who": "Ada"}));
    for absent in ["mcp__my_srv__absent", "mcp__other__greet", "greet", "mcp__my_srv"] {
        assert_eq!(servers.named_prompt(absent, &[]).await.unwrap(), None, "{absent}");
    }
    let missing = servers.named_prompt("mcp__my_srv__greet", &[]).await.unwrap_err();
    assert_eq!(missing.to_string(), "/mcp__my_srv__greet needs the argument who: write it after the name");
    servers.close().await;
}

#[tokio::test]
async fn a_server_without_prompts_is_not_asked_for_any() {
    let host = Arc::new(Host { silent: true, ..Host::default() });
    let servers = servers(&host).await;
    assert!(servers.prompts().await.is_empty());
    assert_eq!(host.pages.load(Ordering::SeqCst), 0);
    servers.close().await;
}

#[tokio::test]
async fn values_of_arguments_are_suggested() {
    let host = Arc::new(Host::default());
    let servers = servers(&host).await;
    let others = BTreeMap::from([("how".to_owned(), "loudly".to_owned())]);
    let of = McpCompletionOf::Prompt("greet".to_owned());
    let values = servers.complete("my srv", &of, ("who", "A"), &others).await.unwrap();
    assert_eq!((values.len(), values[0].as_str()), (100, "Ada"));
    let of = McpCompletionOf::ResourceTemplate("x://{id}".to_owned());
    servers.complete("my srv", &of, ("id", ""), &BTreeMap::new()).await.unwrap();
    let asked = host.asked.lock().unwrap().clone();
    assert_eq!(asked[0]["ref"], json!({ "type": "ref/prompt", "name": "greet" }));
    assert_eq!(asked[0]["context"], json!({ "arguments": { "how": "loudly" } }));
    assert_eq!(asked[1]["ref"], json!({ "type": "ref/resource", "uri": "x://{id}" }));
    assert_eq!(asked[1].get("context"), None);
    servers.close().await;
}
