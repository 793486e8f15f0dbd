//! Tasks: calls that servers continue on their own, in the two forms of the protocol revisions.

use crate::world::{LONG, json as read, options, text};
use async_trait::async_trait;
use serde_json::{Value, json};
use std::sync::{Arc, Mutex};
use std::time::Duration;
use tokio::sync::Notify;
use windlass_mcp::{
    Elicitation, ElicitationAnswer, ElicitationRequest, McpChannel, McpChannelError, McpError, McpServerConfig,
    McpServers,
};
use windlass_types::JsonText;

/// Server whose calls are tasks. `newest` selects the revision.
struct Tasks {
    newest: bool,
    heard: Mutex<Vec<Value>>,
    news: Notify,
    /// Number of polls of a task that fail before one succeeds.
    faults: Mutex<usize>,
}

impl Tasks {
    fn new(newest: bool) -> Arc<Self> {
        Arc::new(Self { newest, heard: Mutex::default(), news: Notify::new(), faults: Mutex::default() })
    }

    fn heard(&self, method: &str) -> Vec<Value> {
        self.heard.lock().unwrap().iter().filter(|message| message["method"] == method).cloned().collect()
    }

    /// Waits until a method was requested `count` times.
    async fn until(&self, method: &str, count: usize) {
        let reached = async {
            loop {
                let news = self.news.notified();
                if self.heard(method).len() >= count {
                    return;
                }
                news.await;
            }
        };
        tokio::time::timeout(LONG, reached).await.unwrap();
    }

    fn task(&self, id: &str, status: &str, more: Value) -> Value {
        let times = json!({ "createdAt": "2026-11-23T00:00:00Z", "lastUpdatedAt": "2026-11-23T00:00:00Z" });
        let own = match self.newest {
            true => json!({ "ttlMs": null, "pollIntervalMs": 100, "resultType": "complete" }),
            false => json!({ "ttl": 60_000, "pollInterval": 100 }),
        };
        let mut task = json!({ "taskId": id, "status": status });
        for part in [times, own, more] {
            task.as_object_mut().unwrap().extend(part.as_object().unwrap().clone());
        }
        task
    }

    fn called(&self, params: &Value) -> Value {
        let name = params["name"].as_str().unwrap();
        match (self.newest, params.get("task")) {
            (true, _) => self.task(name, "working", json!({ "resultType": "task" })),
            (false, Some(_)) => json!({ "task": self.task(name, "working", json!({})) }),
            (false, None) if name == "secret" => Value::Null,
            (false, None) => json!({ "content": [{ "type": "text", "text": "at once" }] }),
        }
    }

    /// Returns the polled state of a task: the name of the tool decides its course.
    fn looked(&self, id: &str) -> Value {
        let looks = self.heard("tasks/get").iter().filter(|look| look["params"]["taskId"] == id).count();
        let result = json!({ "content": [{ "type": "text", "text": format!("{id} after {looks}") }] });
        let question = json!({ "q": { "method": "elicitation/create", "params": {
            "message": "Sure?", "requestedSchema": { "type": "object", "properties": {} } } } });
        let answered = !self.heard("tasks/update").is_empty();
        match id {
            "ask" if !answered || looks < 4 => self.task(id, "input_required", json!({ "inputRequests": question })),
            "fail" if self.newest => {
                self.task(id, "failed", json!({ "error": { "code": -32000, "message": "no luck" } }))
            }
            "fail" => self.task(id, "failed", json!({})),
            "cancel" => self.task(id, "cancelled", json!({})),
            "odd" => json!({ "status": "unheard of" }),
            "hang" => self.task(id, "working", json!({})),
            _ if looks < 3 => self.task(id, "working", json!({ "statusMessage": "half" })),
            _ if self.newest => self.task(id, "completed", json!({ "result": result })),
            _ => self.task(id, "completed", json!({})),
        }
    }
}

#[async_trait]
impl McpChannel for Tasks {
    async fn send(&self, message: JsonText) -> Result<Option<JsonText>, McpChannelError> {
        let message: Value = message.to().unwrap();
        self.heard.lock().unwrap().push(message.clone());
        self.news.notify_waiters();
        let method = message["method"].as_str().unwrap_or_default();
        let id = message["params"]["taskId"].as_str().unwrap_or_default();
        let capabilities = json!({ "tools": {} });
        let error = |code: i64, text: &str| json!({ "error": { "code": code, "message": text } });
        let result = |result: Value| json!({ "result": result });
        let answer = match method {
            "initialize" if !self.newest => result(json!({
                "protocolVersion": "2025-11-25", "capabilities": capabilities, "serverInfo": { "name": "t", "version": "1" },
            })),
            "server/discover" if self.newest => result(json!({
                "resultType": "complete", "ttlMs": 0, "cacheScope": "private", "supportedVersions": ["2026-07-28"],
                "capabilities": capabilities, "serverInfo": { "name": "t", "version": "1" },
            })),
            "tools/list" => {
                let support = |name: &str| match name {
                    "plain" | "secret" => "forbidden",
                    "go" => "optional",
                    _ => "required",
                };
                let names = ["go", "ask", "fail", "cancel", "odd", "hang", "plain", "secret"];
                let tools = names.map(|name| json!({ "name": name, "inputSchema": { "type": "object" }, "execution": { "taskSupport": support(name) } }));
                result(json!({ "resultType": "complete", "ttlMs": 0, "cacheScope": "private", "tools": tools }))
            }
            "tools/call" => match self.called(&message["params"]) {
                Value::Null => error(-32601, "only as a task"),
                called => result(called),
            },
            "tasks/get" => {
                let mut faults = self.faults.lock().unwrap();
                if *faults > 0 {
                    *faults -= 1;
                    return Err(McpChannelError::new("the line is dead"));
                }
                result(self.looked(id))
            }
            "tasks/result" if id == "fail" => error(-32000, "no luck"),
            "tasks/result" => result(json!({ "content": [{ "type": "text", "text": format!("{id} is done") }] })),
            "tasks/update" | "tasks/cancel" => result(json!({ "resultType": "complete" })),
            "initialize" | "server/discover" => error(-32601, "unknown"),
            _ => return Ok(None),
        };
        let mut whole = json!({ "jsonrpc": "2.0", "id": message["id"] });
        whole.as_object_mut().unwrap().extend(answer.as_object().unwrap().clone());
        Ok(Some(JsonText::of(&whole).unwrap()))
    }

    async fn receive(&self) -> Option<JsonText> {
        std::future::pending().await
    }
}

struct Yes;

#[async_trait]
impl Elicitation for Yes {
    async fn elicit(&self, _: ElicitationRequest) -> ElicitationAnswer {
        ElicitationAnswer::Accept(None)
    }
}

async fn connected(server: &Arc<Tasks>) -> McpServers {
    let servers = McpServers::new(options().with_elicitation(Arc::new(Yes)));
    servers.add("s", McpServerConfig::in_process(Arc::clone(server) as Arc<dyn McpChannel>)).unwrap();
    servers.settled(LONG).await;
    servers
}

async fn call(servers: &McpServers, tool: &str) -> Result<String, McpError> {
    servers.call("s", tool, &read(r#"{"a":1}"#), None).await.map(|output| text(&output).to_owned())
}

#[tokio::test(start_paused = true)]
async fn the_newest_servers_decide_that_a_call_is_a_task() {
    let server = Tasks::new(true);
    let servers = connected(&server).await;
    assert_eq!(call(&servers, "go").await.unwrap(), "go after 3");
    let meta = &server.heard("tools/call")[0]["params"]["_meta"]["io.modelcontextprotocol/clientCapabilities"];
    assert!(meta["extensions"]["io.modelcontextprotocol/tasks"].is_object(), "{meta}");
    assert!(server.heard("tools/call")[0]["params"].get("task").is_none());
    // Questions are answered once, although the server repeats them until it has processed the answer.
    assert_eq!(call(&servers, "ask").await.unwrap(), "ask after 4");
    let updates = server.heard("tasks/update");
    assert_eq!(updates.len(), 1);
    let update = &updates[0]["params"];
    assert_eq!(
        (&update["taskId"], &update["inputResponses"]),
        (&json!("ask"), &json!({ "q": { "action": "accept", "content": {} } }))
    );
    for (tool, problem) in [("fail", "no luck"), ("cancel", "the server cancelled the task"), ("odd", "not understood")]
    {
        let error = call(&servers, tool).await.unwrap_err().to_string();
        assert!(error.contains(problem), "{tool}: {error}");
    }
    assert!(server.heard("tasks/result").is_empty());
    servers.close().await;
}

#[tokio::test(start_paused = true)]
async fn servers_of_2025_are_asked_for_tasks_where_a_tool_takes_them() {
    let server = Tasks::new(false);
    let servers = connected(&server).await;
    assert_eq!(call(&servers, "plain").await.unwrap(), "at once");
    assert!(server.heard("tools/call")[0]["params"].get("task").is_none());
    for tool in ["go", "ask"] {
        assert_eq!(call(&servers, tool).await.unwrap(), format!("{tool} is done"));
    }
    let asked = &server.heard("tools/call")[1]["params"];
    assert_eq!(
        (&asked["name"], &asked["arguments"], asked["task"]["ttl"].is_u64()),
        (&json!("go"), &json!({ "a": 1 }), true)
    );
    assert!(asked["_meta"]["progressToken"].is_i64() || asked["_meta"]["progressToken"].is_string(), "{asked}");
    // The result is requested when it is ready, or when questions come beside it.
    let looks = |id: &str| server.heard("tasks/get").iter().filter(|look| look["params"]["taskId"] == id).count();
    assert_eq!((looks("go"), looks("ask")), (3, 1));
    for (tool, problem) in [("fail", "no luck"), ("cancel", "the server cancelled the task")] {
        let error = call(&servers, tool).await.unwrap_err().to_string();
        assert!(error.contains(problem), "{tool}: {error}");
    }
    // A call refused as an unknown method is repeated as a task: it did not run.
    assert_eq!(call(&servers, "secret").await.unwrap(), "secret is done");
    servers.close().await;
}

#[tokio::test(start_paused = true)]
async fn a_task_outlives_its_connection() {
    for newest in [true, false] {
        let server = Tasks::new(newest);
        let servers = connected(&server).await;
        *server.faults.lock().unwrap() = 2;
        let breaks = async {
            server.until("tasks/get", 2).await;
            servers.reconnect("s").await.unwrap();
        };
        let (called, ()) = tokio::join!(call(&servers, "go"), breaks);
        let said = called.unwrap();
        assert!(said.starts_with("go "), "{said}");
        assert_eq!(server.heard("tools/call").len(), 1, "it is not called again");
        // A task that cannot be reached for long is lost.
        *server.faults.lock().unwrap() = usize::MAX;
        let lost = tokio::time::timeout(Duration::from_secs(3600), call(&servers, "go")).await.unwrap();
        assert!(lost.unwrap_err().to_string().contains("the line is dead"), "{newest}");
        servers.close().await;
    }
}

#[tokio::test(start_paused = true)]
async fn a_task_that_nobody_waits_for_is_cancelled() {
    for newest in [true, false] {
        let server = Tasks::new(newest);
        let servers = connected(&server).await;
        let limit = Duration::from_secs(90);
        let error = servers.call("s", "hang", &read("{}"), Some(limit)).await.unwrap_err();
        assert!(matches!(error, McpError::TimedOut { .. }), "{error}");
        server.until("tasks/cancel", 1).await;
        let dropped = tokio::spawn({
            let servers = servers.clone();
            async move { call(&servers, "hang").await }
        });
        let looks = server.heard("tasks/get").len();
        server.until("tasks/get", looks + 1).await;
        dropped.abort();
        server.until("tasks/cancel", 2).await;
        assert!(server.heard("tasks/cancel").iter().all(|cancelled| cancelled["params"]["taskId"] == "hang"));
        // A task with a result is not cancelled.
        call(&servers, "go").await.unwrap();
        assert_eq!(server.heard("tasks/cancel").len(), 2);
        servers.close().await;
    }
}
