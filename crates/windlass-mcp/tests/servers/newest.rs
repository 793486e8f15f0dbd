//! Servers of the revision without a handshake, and requests of older ones to the client.

use crate::world::{LONG, json as read, one_with, options, status, text, until};
use async_trait::async_trait;
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;
use tokio::sync::mpsc;
use windlass_mcp::{
    Elicitation, ElicitationAnswer, ElicitationKind, ElicitationRequest, McpChannel, McpChannelError, McpError,
    McpOptions, McpServerConfig, McpServerState, McpServers, RoundLimits, Sampling, SamplingAnswer, SamplingRequest,
};
use windlass_types::JsonText;

/// Server that knows no handshake. `ask` asks a question first, `wait` has to be called again, `circle` always,
/// `sample` requests sampling, `visit` a page visit; `grow` adds a tool.
struct Newest {
    heard: Mutex<Vec<Value>>,
    grown: Mutex<bool>,
    pushed: mpsc::UnboundedSender<Value>,
    pushes: tokio::sync::Mutex<mpsc::UnboundedReceiver<Value>>,
    /// Error code that answers `initialize`.
    refusal: i64,
}

impl Newest {
    fn new(refusal: i64) -> Arc<Self> {
        let (pushed, pushes) = mpsc::unbounded_channel();
        let (heard, grown) = (Mutex::default(), Mutex::default());
        Arc::new(Self { heard, grown, pushed, pushes: tokio::sync::Mutex::new(pushes), refusal })
    }

    fn heard(&self, method: &str) -> Vec<Value> {
        let heard = self.heard.lock().unwrap_or_else(PoisonError::into_inner);
        heard.iter().filter(|message| message["method"] == method).cloned().collect()
    }

    fn called(&self, params: &Value) -> Value {
        let done = |text: &str| json!({ "resultType": "complete", "content": [{ "type": "text", "text": text }] });
        let asks = |requests: Value, state: Value| json!({ "resultType": "input_required", "inputRequests": requests, "requestState": state });
        let question = json!({ "q": { "method": "elicitation/create", "params": {
            "message": "Sure?", "requestedSchema": { "type": "object", "properties": { "sure": { "type": "boolean", "default": true } } } } } });
        match params["name"].as_str() {
            Some("ask") if params["inputResponses"].is_null() => asks(question, json!("{\"opaque\": 1}")),
            Some("ask") => done(&format!("{} {}", params["inputResponses"]["q"], params["requestState"])),
            Some("wait") if params["requestState"].is_null() => asks(json!({}), json!("later")),
            Some("circle") => asks(json!({}), json!("again")),
            Some("ask again") => asks(question, json!("x".repeat(100))),
            Some("sample") if !params["inputResponses"].is_null() => done(&params["inputResponses"]["s"].to_string()),
            Some("sample") => asks(
                json!({ "s": { "method": "sampling/createMessage", "params": { "messages": [{ "role": "user", "content": { "type": "text", "text": "Hi" } }], "maxTokens": 9 } } }),
                json!(null),
            ),
            Some("grow") => {
                *self.grown.lock().unwrap() = true;
                let id = self.heard("subscriptions/listen")[0]["id"].clone();
                let meta = json!({ "io.modelcontextprotocol/subscriptionId": id });
                self.pushed.send(json!({ "jsonrpc": "2.0", "method": "notifications/tools/list_changed", "params": { "_meta": meta } })).unwrap();
                done("grown")
            }
            _ => done("done"),
        }
    }

    fn tools(&self) -> Value {
        let mut names = vec!["ask", "wait", "circle", "ask again", "sample", "visit", "grow", "plain"];
        names.extend(self.grown.lock().unwrap().then_some("new"));
        let tools: Vec<Value> =
            names.iter().map(|name| json!({ "name": name, "inputSchema": { "type": "object" } })).collect();
        json!({ "resultType": "complete", "ttlMs": 0, "cacheScope": "private", "tools": tools })
    }
}

#[async_trait]
impl McpChannel for Newest {
    async fn send(&self, message: JsonText) -> Result<Option<JsonText>, McpChannelError> {
        let message: Value = message.to().unwrap();
        self.heard.lock().unwrap().push(message.clone());
        let result = match message["method"].as_str() {
            Some("initialize") => {
                let error = json!({ "code": self.refusal, "message": "no handshake here" });
                return Ok(Some(
                    JsonText::of(&json!({ "jsonrpc": "2.0", "id": message["id"], "error": error })).unwrap(),
                ));
            }
            Some("server/discover") => json!({
                "resultType": "complete", "ttlMs": 0, "cacheScope": "private", "supportedVersions": ["2026-07-28"],
                "capabilities": { "tools": { "listChanged": true } }, "serverInfo": { "name": "newest", "version": "1" },
            }),
            Some("tools/list") => self.tools(),
            Some("tools/call") if message["params"]["name"] == "visit" => {
                let pages = json!([{ "mode": "url", "url": "https://a.example/in", "message": "Log in.", "elicitationId": "e" }]);
                let error = json!({ "code": -32042, "message": "not yet", "data": { "elicitations": pages } });
                return Ok(Some(
                    JsonText::of(&json!({ "jsonrpc": "2.0", "id": message["id"], "error": error })).unwrap(),
                ));
            }
            Some("tools/call" | "prompts/get") => self.called(&message["params"]),
            Some("subscriptions/listen") => {
                let meta = json!({ "io.modelcontextprotocol/subscriptionId": message["id"] });
                let notifications = message["params"]["notifications"].clone();
                let params = json!({ "_meta": meta, "notifications": notifications });
                self.pushed.send(json!({ "jsonrpc": "2.0", "method": "notifications/subscriptions/acknowledged", "params": params })).unwrap();
                // The answer comes when the subscription ends.
                return std::future::pending().await;
            }
            _ => return Ok(None),
        };
        Ok(Some(JsonText::of(&json!({ "jsonrpc": "2.0", "id": message["id"], "result": result })).unwrap()))
    }

    async fn receive(&self) -> Option<JsonText> {
        let pushed = self.pushes.lock().await.recv().await?;
        Some(JsonText::of(&pushed).unwrap())
    }
}

/// Handler that accepts every elicitation, and records them.
#[derive(Default)]
struct Yes(Mutex<Vec<ElicitationKind>>);

#[async_trait]
impl Elicitation for Yes {
    async fn elicit(&self, request: ElicitationRequest) -> ElicitationAnswer {
        self.0.lock().unwrap().push(request.kind);
        ElicitationAnswer::Accept(None)
    }
}

async fn connected(server: &Arc<Newest>, options: McpOptions) -> McpServers {
    let servers = McpServers::new(options);
    servers.add("s", McpServerConfig::in_process(Arc::clone(server) as Arc<dyn McpChannel>)).unwrap();
    servers.settled(LONG).await;
    servers
}

#[tokio::test]
async fn servers_without_a_handshake_are_reached_whatever_they_answer_to_it() {
    for refusal in [-32601, -32022, -32600, -32602, -32000, 7] {
        let server = Newest::new(refusal);
        let servers = connected(&server, options()).await;
        let known = status(&servers);
        assert_eq!((known.state, known.error), (McpServerState::Connected, None), "{refusal}");
        let meta = server.heard("tools/list")[0]["params"]["_meta"].clone();
        assert_eq!(meta["io.modelcontextprotocol/protocolVersion"], "2026-07-28", "{refusal}");
        // The next time it is not asked for a handshake.
        servers.reconnect("s").await.unwrap();
        assert_eq!((server.heard("initialize").len(), server.heard("server/discover").len()), (1, 2));
        servers.close().await;
    }
}

#[tokio::test]
async fn questions_in_place_of_a_result_are_answered_and_the_call_is_sent_again() {
    let server = Newest::new(-32601);
    let servers = connected(&server, options().with_elicitation(Arc::new(Yes::default()))).await;
    let asked = servers.call("s", "ask", &read("{}"), None).await.unwrap();
    assert_eq!(text(&asked), r#"{"action":"accept","content":{"sure":true}} "{\"opaque\": 1}""#);
    let calls = server.heard("tools/call");
    assert_eq!(calls.len(), 2);
    assert_ne!(calls[0]["id"], calls[1]["id"]);

    let waited = servers.call("s", "wait", &read("{}"), None).await.unwrap();
    assert_eq!(text(&waited), "done");
    assert!(server.heard("tools/call")[3]["params"].get("inputResponses").is_none());
    servers.close().await;
}

#[tokio::test]
async fn what_is_asked_for_without_end_or_is_not_offered_fails_the_call() {
    let server = Newest::new(-32601);
    let servers = connected(&server, options()).await;
    let error = servers.call("s", "circle", &read("{}"), Some(LONG)).await.unwrap_err().to_string();
    assert!(error.contains("more than 10 times"), "{error}");
    assert_eq!(server.heard("tools/call").len(), 11);
    let error = servers.call("s", "sample", &read("{}"), None).await.unwrap_err().to_string();
    assert!(error.contains("does not offer"), "{error}");
    // A question that no person can be asked is declined.
    let asked = servers.call("s", "ask", &read("{}"), None).await.unwrap();
    assert!(text(&asked).starts_with(r#"{"action":"decline"}"#), "{}", text(&asked));
    servers.close().await;
}

/// Person who takes ten minutes for each answer.
struct Slow;

#[async_trait]
impl Elicitation for Slow {
    async fn elicit(&self, _: ElicitationRequest) -> ElicitationAnswer {
        tokio::time::sleep(Duration::from_secs(600)).await;
        ElicitationAnswer::Accept(None)
    }
}

fn limited(limits: RoundLimits) -> McpOptions {
    options().with_elicitation(Arc::new(Slow)).with_round_limits(limits)
}

#[tokio::test(start_paused = true)]
async fn what_a_server_asks_for_in_place_of_a_result_is_bounded() {
    let none = RoundLimits::default();
    for (limits, calls, expected) in [
        (none, 11, "more than 10 times"),
        (none.rounds(2), 3, "more than 2 times"),
        (none.rounds(0), 1, "more than 0 times"),
        (none.state_bytes(99), 1, "a request state of more than 99 bytes"),
        (none.state_bytes(100).rounds(1), 2, "more than 1 times"),
        // Questions at 0, 10 and 20 minutes.
        (none.time(Duration::from_secs(1500)), 3, "did not answer within 1500 s"),
        (none.time(Duration::ZERO), 1, "did not answer within 0 s"),
    ] {
        let server = Newest::new(-32601);
        let servers = connected(&server, limited(limits)).await;
        let begun = tokio::time::Instant::now();
        let error = servers.call("s", "ask again", &read("{}"), None).await.unwrap_err().to_string();
        assert!(error.contains(expected), "{expected}: {error}");
        assert_eq!(server.heard("tools/call").len(), calls, "{expected}");
        assert!(begun.elapsed() <= Duration::from_secs(6001), "{expected}: {:?}", begun.elapsed());
        servers.close().await;
    }
}

#[tokio::test(start_paused = true)]
async fn the_time_of_a_call_is_that_of_all_its_rounds() {
    let server = Newest::new(-32601);
    let servers = connected(&server, limited(RoundLimits::default())).await;
    let begun = tokio::time::Instant::now();
    let limit = Some(Duration::from_secs(1500));
    let error = servers.call("s", "ask again", &read("{}"), limit).await.unwrap_err().to_string();
    assert!(error.contains("did not answer within 1500 s"), "{error}");
    assert_eq!((begun.elapsed().as_secs(), server.heard("tools/call").len()), (1500, 3));
    // Calls without rounds may take longer than the limit of rounds.
    let servers = connected(&server, limited(RoundLimits::default().time(Duration::ZERO))).await;
    assert_eq!(text(&servers.call("s", "plain", &read("{}"), None).await.unwrap()), "done");
    servers.close().await;
}

#[tokio::test(start_paused = true)]
async fn prompts_are_bounded_as_calls_are() {
    for (limits, expected) in [
        (RoundLimits::default(), "more than 10 times"),
        (RoundLimits::default().state_bytes(99), "more than 99 bytes"),
        (RoundLimits::default().time(Duration::from_secs(1500)), "did not answer within 1500 s"),
    ] {
        let server = Newest::new(-32601);
        let servers = connected(&server, limited(limits)).await;
        let error = servers.prompt("s", "ask again", &BTreeMap::new()).await.unwrap_err().to_string();
        assert!(error.contains(expected), "{expected}: {error}");
        servers.close().await;
    }
}

/// Answers sampling requests of limited length.
struct Short;

#[async_trait]
impl Sampling for Short {
    async fn sample(&self, request: SamplingRequest) -> Result<SamplingAnswer, String> {
        let said = request.messages[0].content[0].as_text().unwrap_or_default();
        if request.max_tokens > 5 { Err(format!("{said}: too long")) } else { Ok(SamplingAnswer::new("m", said)) }
    }
}

/// Answers any sampling request.
struct Any;

#[async_trait]
impl Sampling for Any {
    async fn sample(&self, request: SamplingRequest) -> Result<SamplingAnswer, String> {
        Ok(SamplingAnswer::new("m", format!("{} tokens for {}", request.max_tokens, request.server)))
    }
}

#[tokio::test]
async fn messages_of_a_model_are_written_by_the_host_if_it_wants_to() {
    let server = Newest::new(-32601);
    let servers = connected(&server, options().with_sampling(Arc::new(Any))).await;
    let said = servers.call("s", "sample", &read("{}"), None).await.unwrap();
    let said: Value = serde_json::from_str(text(&said)).unwrap();
    assert_eq!(
        (&said["content"]["text"], &said["model"], &said["role"]),
        (&json!("9 tokens for s"), &json!("m"), &json!("assistant"))
    );
    let capabilities = &server.heard("tools/call")[0]["params"]["_meta"]["io.modelcontextprotocol/clientCapabilities"];
    assert!(capabilities["sampling"].is_object() && capabilities["elicitation"].is_null(), "{capabilities}");
    servers.close().await;

    let servers = connected(&server, options().with_sampling(Arc::new(Short))).await;
    let error = servers.call("s", "sample", &read("{}"), None).await.unwrap_err().to_string();
    assert!(error.contains("Hi: too long"), "{error}");
    servers.close().await;
}

#[tokio::test]
async fn pages_to_visit_reach_the_person_and_the_model() {
    let (server, person) = (Newest::new(-32601), Arc::new(Yes::default()));
    let servers = connected(&server, options().with_elicitation(Arc::clone(&person) as Arc<dyn Elicitation>)).await;
    let error = servers.call("s", "visit", &read("{}"), None).await.unwrap_err();
    assert!(error.to_string().contains("https://a.example/in"), "{error}");
    let McpError::VisitNeeded { message, visits, .. } = error else { panic!("{error}") };
    assert_eq!((message.as_str(), visits[0].message.as_str()), ("not yet", "Log in."));
    let asked = person.0.lock().unwrap().clone();
    assert_eq!(asked, [ElicitationKind::Url { url: "https://a.example/in".to_owned(), id: "e".to_owned() }]);
    servers.close().await;
}

#[tokio::test]
async fn reports_of_changes_are_asked_for() {
    let server = Newest::new(-32601);
    let servers = connected(&server, options()).await;
    let mut changes = servers.changes();
    while server.heard("subscriptions/listen").is_empty() {
        tokio::task::yield_now().await;
    }
    servers.call("s", "grow", &read("{}"), None).await.unwrap();
    let grown = async {
        while servers.tools().len() < 9 {
            assert!(changes.changed().await);
        }
    };
    tokio::time::timeout(LONG, grown).await.unwrap();
    servers.close().await;
}

#[cfg(unix)]
#[tokio::test]
async fn roots_are_given_to_servers_that_ask() {
    let servers = one_with("asks for roots", options().with_roots(["/srv/a b"])).await;
    until(&servers, McpServerState::Connected).await;
    let said = servers.call("s", "go", &read("{}"), None).await.unwrap();
    assert_eq!(text(&said), r#"{"roots":[{"uri":"file:///srv/a%20b"}]}"#);
    servers.close().await;
}
