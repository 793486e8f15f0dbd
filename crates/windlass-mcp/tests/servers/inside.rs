//! Servers inside the host.

use crate::world::{LONG, json, names, options, status, text, until};
use async_trait::async_trait;
use serde_json::{Value, json};
use std::sync::{Arc, Mutex};
use std::time::Duration;
use tokio::sync::{Notify, mpsc};
use windlass_mcp::{
    Elicitation, ElicitationAnswer, ElicitationKind, ElicitationRequest, McpChannel, McpChannelError, McpError,
    McpServerConfig, McpServerState, McpServers,
};
use windlass_tool::{DynTool, Json, ToolCx, ToolError, ToolSet, tool_fn};
use windlass_types::JsonText;

/// Host with a server of one or two tools.
struct Host {
    push: mpsc::UnboundedSender<JsonText>,
    pushed: tokio::sync::Mutex<mpsc::UnboundedReceiver<JsonText>>,
    heard: Mutex<Vec<Value>>,
    changed: Notify,
    tools: Mutex<Vec<&'static str>>,
    /// Notified when the client has dropped the host.
    dropped: Arc<Notify>,
}

impl Drop for Host {
    fn drop(&mut self) {
        self.dropped.notify_one();
    }
}

impl Host {
    fn new() -> Arc<Self> {
        let (push, pushed) = mpsc::unbounded_channel();
        let (pushed, heard) = (tokio::sync::Mutex::new(pushed), Mutex::default());
        let (tools, dropped) = (Mutex::new(vec!["one"]), Arc::default());
        Arc::new(Self { push, pushed, heard, changed: Notify::new(), tools, dropped })
    }

    fn push(&self, message: &Value) {
        self.push.send(JsonText::of(message).unwrap()).unwrap();
    }

    fn heard(&self, method: &str) -> Vec<Value> {
        self.heard.lock().unwrap().iter().filter(|message| message["method"] == method).cloned().collect()
    }
}

#[async_trait]
impl McpChannel for Host {
    async fn send(&self, message: JsonText) -> Result<Option<JsonText>, McpChannelError> {
        let message: Value = message.to().unwrap();
        self.heard.lock().unwrap().push(message.clone());
        self.changed.notify_waiters();
        let result = match message["method"].as_str() {
            Some("initialize") => json!({
                "protocolVersion": message["params"]["protocolVersion"],
                "capabilities": { "tools": { "listChanged": true } },
                "serverInfo": { "name": "inside", "version": "1" },
            }),
            Some("tools/list") => {
                let tools = self.tools.lock().unwrap().clone();
                let tools = tools.iter().map(|name| json!({ "name": name, "inputSchema": { "type": "object" } }));
                json!({ "tools": tools.collect::<Vec<_>>() })
            }
            Some("tools/call") if message["params"]["name"] == "hang" => std::future::pending().await,
            Some("tools/call") if message["params"]["name"] == "broken" => {
                return Err(McpChannelError::new("the host is on fire"));
            }
            Some("tools/call") => json!({ "content": [{ "type": "text", "text": "done" }] }),
            // Answer of hosts to notifications.
            _ => return Ok(Some(JsonText::parse(r#"{"jsonrpc":"2.0","id":0,"result":{}}"#).unwrap())),
        };
        let answer = json!({ "jsonrpc": "2.0", "id": message["id"], "result": result });
        Ok(Some(JsonText::of(&answer).unwrap()))
    }

    async fn receive(&self) -> Option<JsonText> {
        self.pushed.lock().await.recv().await
    }
}

async fn one(host: &Arc<Host>) -> McpServers {
    one_with(host, options()).await
}

async fn one_with(host: &Arc<Host>, options: windlass_mcp::McpOptions) -> McpServers {
    let servers = McpServers::new(options);
    servers.add("in", McpServerConfig::in_process(Arc::clone(host) as _)).unwrap();
    servers.settled(Duration::ZERO).await;
    servers
}

#[tokio::test]
async fn messages_go_through_the_channel_one_by_one() {
    let host = Host::new();
    let servers = one(&host).await;
    let known = status(&servers);
    assert_eq!((known.state, known.source.as_str()), (McpServerState::Connected, "sdk"));
    assert_eq!(
        servers.call("in", "one", &json("{}"), None).await.map(|result| text(&result).to_owned()),
        Ok("done".to_owned())
    );
    let methods: Vec<String> =
        host.heard.lock().unwrap().iter().map(|message| message["method"].as_str().unwrap().to_owned()).collect();
    assert_eq!(methods, ["initialize", "notifications/initialized", "tools/list", "tools/call"]);
    assert_eq!(host.heard("initialize")[0]["params"]["protocolVersion"], "2025-11-25");
}

#[tokio::test]
async fn a_changed_list_is_read_again() {
    let host = Host::new();
    let servers = one(&host).await;
    let mut changes = servers.changes();
    assert_eq!(names(&servers.tools()), ["mcp__in__one"]);
    host.tools.lock().unwrap().push("two");
    for _ in 0..100 {
        host.push(&json!({ "jsonrpc": "2.0", "method": "notifications/tools/list_changed" }));
    }
    tokio::time::timeout(LONG, changes.changed()).await.unwrap();
    assert_eq!(names(&servers.tools()), ["mcp__in__one", "mcp__in__two"]);
    let lists = host.heard("tools/list").len();
    assert!(lists < 20, "a hundred notices were answered by {lists} looks");
}

#[tokio::test]
async fn a_call_that_is_given_up_is_given_up_by_the_host_too() {
    let host = Host::new();
    host.tools.lock().unwrap().extend(["hang", "broken"]);
    let servers = one(&host).await;
    let arguments = json("{}");
    let call = servers.call("in", "hang", &arguments, None);
    assert!(tokio::time::timeout(Duration::from_millis(100), call).await.is_err());
    let changed = async {
        while host.heard("notifications/cancelled").is_empty() {
            host.changed.notified().await;
        }
    };
    tokio::time::timeout(LONG, changed).await.unwrap();
    let (call, cancelled) = (&host.heard("tools/call")[0], &host.heard("notifications/cancelled")[0]);
    assert_eq!(cancelled["params"]["requestId"], call["id"]);
    // A refusal of the host fails the call alone.
    let failed = servers.call("in", "broken", &arguments, None).await.unwrap_err();
    assert!(matches!(&failed, McpError::NotConnected { reason, .. } if reason.contains("on fire")), "{failed}");
    assert!(servers.call("in", "one", &arguments, None).await.is_ok());
}

/// Person who has to be asked.
struct Person(Mutex<Vec<ElicitationRequest>>);

#[async_trait]
impl Elicitation for Person {
    async fn elicit(&self, request: ElicitationRequest) -> ElicitationAnswer {
        self.0.lock().unwrap().push(request);
        ElicitationAnswer::Accept(Some(JsonText::parse(r#"{"name":"Ada"}"#).unwrap()))
    }
}

fn question() -> Value {
    json!({ "jsonrpc": "2.0", "id": 77, "method": "elicitation/create", "params": {
        "message": "Who are you?",
        "requestedSchema": { "type": "object", "properties": { "name": { "type": "string" } } },
    }})
}

async fn answered(host: &Host) -> Value {
    let answered = async {
        loop {
            let changed = host.changed.notified();
            if let Some(answer) = host.heard.lock().unwrap().iter().find(|message| message["id"] == 77) {
                return answer.clone();
            }
            changed.await;
        }
    };
    tokio::time::timeout(LONG, answered).await.unwrap()
}

#[tokio::test]
async fn questions_are_put_to_a_person_or_declined() {
    let (host, person) = (Host::new(), Arc::new(Person(Mutex::default())));
    let _servers = one_with(&host, options().with_elicitation(Arc::clone(&person) as _)).await;
    host.push(&question());
    assert_eq!(answered(&host).await["result"], json!({ "action": "accept", "content": { "name": "Ada" } }));
    let asked = person.0.lock().unwrap().remove(0);
    assert_eq!((asked.server.as_str(), asked.message.as_str()), ("in", "Who are you?"));
    assert!(matches!(asked.kind, ElicitationKind::Form { .. }));
    assert!(host.heard("initialize")[0]["params"]["capabilities"]["elicitation"].is_object());

    let host = Host::new();
    let _servers = one(&host).await;
    host.push(&question());
    assert_eq!(answered(&host).await["result"]["action"], "decline");
    assert!(host.heard("initialize")[0]["params"]["capabilities"]["elicitation"].is_null());
}

#[tokio::test]
async fn a_host_without_such_a_server_fails_it() {
    let parsed = windlass_mcp::parse_config(r#"{"in":{"type":"sdk"}}"#, |_| None).unwrap().remove(0).1.unwrap();
    let servers = McpServers::new(options());
    servers.add("in", parsed).unwrap();
    let known = until(&servers, McpServerState::Failed).await;
    assert!(known.error.is_some_and(|error| error.contains("no such server")));
}

#[tokio::test]
async fn the_set_ends_with_its_last_clone() {
    let host = Host::new();
    let servers = one(&host).await;
    let mut changes = servers.changes();
    let tool = servers.tools().remove(0);
    drop(servers);
    assert!(changes.servers().is_none());
    while changes.changed().await {}
    drop(tool);
    let dropped = Arc::clone(&host.dropped);
    drop(host);
    tokio::time::timeout(LONG, dropped.notified()).await.unwrap();
}

/// The host has received the call, whatever happens to the connection.
#[tokio::test]
async fn a_call_that_the_host_has_is_not_sent_again() {
    let host = Host::new();
    host.tools.lock().unwrap().push("hang");
    let servers = one(&host).await;
    let none = json("{}");
    let call = servers.call("in", "hang", &none, None);
    let reconnect = async {
        while host.heard("tools/call").is_empty() {
            tokio::task::yield_now().await;
        }
        servers.reconnect("in").await
    };
    let (called, again) = tokio::time::timeout(LONG, async { tokio::join!(call, reconnect) }).await.unwrap();
    again.unwrap();
    assert!(matches!(called, Err(McpError::Lost { .. })), "{called:?}");
    assert_eq!(host.heard("tools/call").len(), 1);
    assert_eq!(status(&servers).state, McpServerState::Connected);
    servers.close().await;
}

#[derive(serde::Deserialize, windlass_tool::schemars::JsonSchema)]
#[schemars(crate = "windlass_tool::schemars")]
struct Sum {
    numbers: Vec<u32>,
}

#[tokio::test]
async fn a_set_of_tools_is_a_server() {
    let add = tool_fn("add", "Adds numbers.", |input: Sum, cx: ToolCx| async move {
        let calls = cx.state::<std::sync::atomic::AtomicU32>().fetch_add(1, std::sync::atomic::Ordering::Relaxed);
        match input.numbers.iter().sum::<u32>() {
            0 => Err(ToolError::rejected("There is nothing to add.")),
            sum => Ok(Json(json!({ "sum": sum, "earlier_calls": calls }))),
        }
    });
    let tools = ToolSet::new([Arc::new(add) as Arc<dyn DynTool>]).unwrap();
    let servers = McpServers::new(options());
    servers.add("inside", McpServerConfig::tools("sums", tools)).unwrap();
    servers.settled(LONG).await;
    assert_eq!(names(&servers.tools()), ["mcp__inside__add"]);
    let call = async |input: Value| servers.call("inside", "add", &JsonText::of(&input).unwrap(), None).await.unwrap();
    assert_eq!(
        call(json!({ "numbers": [1, 2] })).await.structured.unwrap().to::<Value>().unwrap(),
        json!({ "sum": 3, "earlier_calls": 0 })
    );
    assert_eq!(
        call(json!({ "numbers": [4] })).await.structured.unwrap().to::<Value>().unwrap(),
        json!({ "sum": 4, "earlier_calls": 1 })
    );
    let refused = call(json!({ "numbers": [] })).await;
    assert_eq!((refused.is_error, refused.content.text()), (true, "There is nothing to add.".to_owned()));
    let unfit = call(json!({ "numbers": "1" })).await;
    assert!(unfit.is_error && unfit.content.text().contains("numbers"), "{unfit:?}");
    servers.close().await;
}
