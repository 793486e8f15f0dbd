//! Questions of MCP servers, and the hooks of a session.

use async_trait::async_trait;
use serde_json::{Value, json};
use std::sync::{Arc, Mutex};
use tokio::sync::mpsc;
use windlass::hook::HookEventName;
use windlass::{JsonText, Script, ScriptedModel, session};
use windlass_hook_runner::HookDefinition;
use windlass_mcp::{
    Elicitation, ElicitationAnswer, ElicitationRequest, McpChannel, McpChannelError, McpOptions, McpServerConfig,
    McpServers,
};

/// A server that asks when it is pushed, and keeps what it is answered.
struct Asking {
    push: mpsc::UnboundedSender<JsonText>,
    pushed: tokio::sync::Mutex<mpsc::UnboundedReceiver<JsonText>>,
    heard: mpsc::UnboundedSender<Value>,
}

#[async_trait]
impl McpChannel for Asking {
    async fn send(&self, message: JsonText) -> Result<Option<JsonText>, McpChannelError> {
        let message: Value = message.to().unwrap();
        let result = match message["method"].as_str() {
            Some("initialize") => json!({
                "protocolVersion": "2025-11-25",
                "capabilities": { "tools": {} },
                "serverInfo": { "name": "asking", "version": "1" },
            }),
            Some("tools/list") => json!({ "tools": [] }),
            None => {
                let _ = self.heard.send(message["result"].clone());
                return Ok(None);
            }
            _ => return Ok(None),
        };
        Ok(Some(JsonText::of(&json!({ "jsonrpc": "2.0", "id": message["id"], "result": result })).unwrap()))
    }

    async fn receive(&self) -> Option<JsonText> {
        self.pushed.lock().await.recv().await
    }
}

/// A person who accepts, and remembers what they were asked.
#[derive(Default)]
struct Person(Mutex<Vec<String>>);

#[async_trait]
impl Elicitation for Person {
    async fn elicit(&self, request: ElicitationRequest) -> ElicitationAnswer {
        self.0.lock().unwrap().push(request.message);
        ElicitationAnswer::Accept(Some(JsonText::parse(r#"{"name":"Ada"}"#).unwrap()))
    }
}

#[tokio::test]
async fn hooks_answer_questions_of_servers_and_change_answers() {
    let (push, pushed) = mpsc::unbounded_channel();
    let (heard, mut answers) = mpsc::unbounded_channel();
    let person = Arc::new(Person::default());
    let servers = McpServers::new(McpOptions::new().with_elicitation(Arc::clone(&person) as _));
    let asking = Asking { push, pushed: tokio::sync::Mutex::new(pushed), heard };
    let pusher = asking.push.clone();
    servers.add("in", McpServerConfig::in_process(Arc::new(asking))).unwrap();
    let ask = |message: &str| {
        let schema = json!({ "type": "object", "properties": { "name": { "type": "string" } } });
        let params = json!({ "message": message, "requestedSchema": schema });
        let question = json!({ "jsonrpc": "2.0", "id": 7, "method": "elicitation/create", "params": params });
        pusher.send(JsonText::of(&question).unwrap()).unwrap();
    };
    let robot = r#"jq -e '.message == "robot?" and .mode == "form" and .requested_schema.type == "object"' > /dev/null && echo '{"hookSpecificOutput":{"hookEventName":"Elicitation","action":"accept","content":{"name":"hook"}}}'; true"#;
    let refuses = "if grep -q secret; then exit 2; fi";
    let replaced = r#"grep -q '"Ada"' && echo '{"hookSpecificOutput":{"hookEventName":"ElicitationResult","action":"accept","content":{"name":"A."}}}'; true"#;
    let on = |line: &str, event| HookDefinition::command(line).on(event);
    let builder = session().provider(ScriptedModel::new(Script::new())).mcp_servers(servers.clone());
    let builder = builder.hook(on(robot, HookEventName::Elicitation));
    let builder = builder.hook(on(refuses, HookEventName::Elicitation));
    let builder = builder.hook(on(replaced, HookEventName::ElicitationResult));
    let open = builder.open().await.unwrap();
    ask("robot?");
    assert_eq!(answers.recv().await.unwrap(), json!({ "action": "accept", "content": { "name": "hook" } }));
    ask("the secret?");
    assert_eq!(answers.recv().await.unwrap(), json!({ "action": "decline" }));
    assert_eq!(person.0.lock().unwrap().len(), 0, "no one was asked");
    ask("who?");
    assert_eq!(answers.recv().await.unwrap(), json!({ "action": "accept", "content": { "name": "A." } }));
    assert_eq!(*person.0.lock().unwrap(), ["who?"]);
    open.handle.close().await.unwrap();
    ask("who now?");
    assert_eq!(answers.recv().await.unwrap()["content"], json!({ "name": "Ada" }), "the hooks went with their session");
}
