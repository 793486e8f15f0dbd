//! MCP servers: those of the host, and its orders.

use crate::server::host::{Host, options};
use crate::server::world::{says, script};
use async_trait::async_trait;
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, OnceLock};
use std::time::Duration;
use windlass_protocol::{
    HostElicitation, HostMcp, McpControl, McpControlError, McpServersChanged, McpStatus, ServerOptions,
};
use windlass_types::JsonText;

/// Servers that take note of what is ordered.
#[derive(Debug, Default)]
struct Servers {
    host: OnceLock<HostMcp>,
    seen: Mutex<Vec<String>>,
}

impl Servers {
    fn note(&self, what: impl Into<String>) {
        self.seen.lock().unwrap().push(what.into());
    }

    fn seen(&self) -> Vec<String> {
        std::mem::take(&mut *self.seen.lock().unwrap())
    }
}

fn json_text(value: &Value) -> JsonText {
    JsonText::of(value).unwrap()
}

#[async_trait]
impl McpControl for Servers {
    fn attach(&self, host: HostMcp) {
        self.host.set(host).unwrap();
    }

    fn announce(&self, servers: &BTreeMap<String, Option<JsonText>>) {
        self.note(format!("announced {servers:?}"));
    }

    fn status(&self) -> Vec<McpStatus> {
        let entry = json!({ "name": "web", "status": "connected", "source": "dynamic", "tools": [{ "name": "t" }] });
        vec![McpStatus::new("web", "connected", "dynamic", json_text(&entry))]
    }

    async fn reconnect(&self, server: &str) -> Result<(), McpControlError> {
        if server != "calc" {
            return Err(McpControlError::unknown_server(server));
        }
        // As a server inside the host is connected: with an answer of the host.
        let hello = json_text(&json!({ "jsonrpc": "2.0", "id": 0, "method": "initialize" }));
        let answer = self.host.get().unwrap().server("calc").send(hello).await;
        self.note(format!("answered {}", answer.map_err(|error| McpControlError::new(error.to_string()))?.unwrap()));
        Ok(())
    }

    async fn toggle(&self, server: &str, enabled: bool) -> Result<(), McpControlError> {
        self.note(format!("{server} {enabled}"));
        Ok(())
    }

    async fn set_servers(&self, servers: JsonText) -> Result<McpServersChanged, McpControlError> {
        let mut changed = McpServersChanged::default();
        changed.added.push(servers.as_str().len().to_string());
        Ok(changed)
    }

    async fn call(&self, tool: &str, _: JsonText, limit: Option<Duration>) -> Result<JsonText, McpControlError> {
        Ok(json_text(&json!({ "content": [tool, limit.map(|limit| limit.as_millis())] })))
    }

    async fn read_resource(&self, server: &str, uri: &str) -> Result<JsonText, McpControlError> {
        Ok(json_text(&json!({ "contents": [server, uri] })))
    }

    async fn authenticate(&self, server: &str) -> Result<Option<String>, McpControlError> {
        match server {
            "web" => Ok(Some("https://login.example/".to_owned())),
            "machine" => Ok(None),
            _ => Err(McpControlError::unknown_server(server)),
        }
    }

    async fn finish_login(&self, server: &str, address: &str) -> Result<(), McpControlError> {
        self.note(format!("{server} returned to {address}"));
        Ok(())
    }
}

#[tokio::test(start_paused = true)]
async fn a_host_logs_in_to_servers() {
    let servers = Arc::new(Servers::default());
    let mut host = Host::start(script([says("one")]), with(&servers));
    ask(&mut host, "initialize", json!({})).await;
    servers.seen();
    for (server, answer) in [
        ("web", json!({ "requiresUserAction": true, "authUrl": "https://login.example/" })),
        ("machine", json!({ "requiresUserAction": false })),
    ] {
        let begun = ask(&mut host, "mcp_authenticate", json!({ "serverName": server })).await;
        assert_eq!(begun["response"], answer);
    }
    let refused = ask(&mut host, "mcp_authenticate", json!({ "serverName": "nope" })).await;
    assert_eq!(refused["error"], "Server not found: nope");
    let body = json!({ "serverName": "web", "callbackUrl": "http://localhost:1/callback?code=x" });
    assert_eq!(ask(&mut host, "mcp_oauth_callback_url", body).await["response"], json!({}));
    assert_eq!(servers.seen(), ["web returned to http://localhost:1/callback?code=x"]);
    let missing = ask(&mut host, "mcp_oauth_callback_url", json!({ "serverName": "web" })).await;
    assert_eq!(missing["error"], "`callbackUrl` is missing");
    // When the login has ended, the host reads it without asking.
    for (status, error) in [("connected", None), ("needs-auth", Some("x".repeat(3_000)))] {
        servers.host.get().unwrap().report("web", status, error.as_deref());
        let news = host.until("system", "mcp_server_status").await.0["mcp_server"].clone();
        let said = news["error"].as_str().map(str::len);
        assert_eq!((&news["name"], &news["status"], said), (&json!("web"), &json!(status), error.map(|_| 2_000)));
    }
    // Unsupported requests to a host's servers are refused.
    let refused = ask(&mut host, "mcp_clear_auth", json!({ "serverName": "web" })).await;
    assert_eq!(refused["error"], "logins to MCP servers are not supported here: web");
}

fn with(servers: &Arc<Servers>) -> ServerOptions {
    let mut options = options();
    options.mcp.control = Some(Arc::clone(servers) as _);
    options.mcp.named = vec!["named".to_owned()];
    options
}

async fn ask(host: &mut Host, subtype: &str, request: Value) -> Value {
    host.order("q", request, subtype).await;
    host.until("control_response", "").await.0["response"].clone()
}

#[tokio::test(start_paused = true)]
async fn orders_are_carried_out_beside_the_reading_of_answers() {
    let servers = Arc::new(Servers::default());
    let mut host = Host::start(script([says("one")]), with(&servers));
    ask(
        &mut host,
        "initialize",
        json!({
            "sdkMcpServers": ["calc"],
            "sdkMcpServerConfigs": { "calc": { "timeout": 5 }, "other": {} },
        }),
    )
    .await;
    assert_eq!(servers.seen(), [r#"announced {"calc": Some({"timeout":5}), "named": None}"#]);
    let status = ask(&mut host, "mcp_status", json!({})).await["response"]["mcpServers"].clone();
    let pending = |name: &str| json!({ "name": name, "status": "pending", "source": "sdk" });
    assert_eq!(
        (&status[0]["tools"][0]["name"], &status[1], &status[2]),
        (&json!("t"), &pending("calc"), &pending("named"))
    );

    host.order("r", json!({ "serverName": "calc" }), "mcp_reconnect").await;
    let (asked, _) = host.until("control_request", "mcp_message").await;
    assert_eq!(
        (&asked["request"]["server_name"], &asked["request"]["message"]["method"]),
        (&json!("calc"), &json!("initialize"))
    );
    // Other orders are carried out meanwhile.
    assert_eq!(
        ask(&mut host, "mcp_toggle", json!({ "serverName": "web", "enabled": false })).await["response"],
        json!({})
    );
    host.answer(&asked["request_id"], json!({ "mcp_response": { "jsonrpc": "2.0", "id": 0, "result": {} } })).await;
    assert_eq!(host.until("control_response", "success").await.0["response"]["request_id"], "r");
    assert_eq!(servers.seen(), ["web false", r#"answered {"id":0,"jsonrpc":"2.0","result":{}}"#]);

    let refused = ask(&mut host, "mcp_reconnect", json!({ "serverName": "nope" })).await;
    assert_eq!((&refused["subtype"], &refused["error"]), (&json!("error"), &json!("Server not found: nope")));
    let changed = ask(&mut host, "mcp_set_servers", json!({ "servers": { "a": {} } })).await["response"].clone();
    assert_eq!(changed, json!({ "added": ["8"], "removed": [], "errors": {} }));
    let called = ask(&mut host, "mcp_call", json!({ "tool": "mcp__a__b", "timeout_ms": 5 })).await["response"].clone();
    assert_eq!(called, json!({ "content": ["mcp__a__b", 5] }));
    let read = ask(&mut host, "mcp_read_resource", json!({ "serverName": "a", "uri": "u" })).await["response"].clone();
    assert_eq!(read, json!({ "contents": ["a", "u"] }));
    for (subtype, request) in
        [("mcp_toggle", json!({ "serverName": "web" })), ("mcp_toggle", json!({ "serverName": 7 }))]
    {
        assert_eq!(ask(&mut host, subtype, request).await["subtype"], "error");
    }
    host.say("go").await;
    let init = host.until("system", "init").await.0;
    assert_eq!(init["mcp_servers"], json!([{ "name": "web", "status": "connected", "source": "dynamic" }]));
    host.result().await;
    host.hang_up();
    host.end().await.0.unwrap();
}

#[tokio::test(start_paused = true)]
async fn what_a_server_of_the_host_sends_by_itself_is_handed_on() {
    let servers = Arc::new(Servers::default());
    let mut host = Host::start(script([]), with(&servers));
    let message = json!({ "jsonrpc": "2.0", "method": "notifications/tools/list_changed" });
    let sent = |server: &str| json!({ "server_name": server, "message": message });
    // The server is not listened to yet.
    assert_eq!(ask(&mut host, "mcp_message", sent("calc")).await["error"], "Server not found: calc");
    let calc = servers.host.get().unwrap().server("calc");
    assert_eq!(ask(&mut host, "mcp_message", sent("calc")).await["subtype"], "success");
    assert_eq!(calc.receive().await, Some(json_text(&message)));
    // A server whose messages are not taken costs little.
    let mut answers = Vec::new();
    for _ in 0..100 {
        answers.push(ask(&mut host, "mcp_message", sent("calc")).await["subtype"].clone());
    }
    assert_eq!(answers.iter().filter(|answer| *answer == "success").count(), 64);
    host.hang_up();
    host.end().await.0.unwrap();
}

#[tokio::test(start_paused = true)]
async fn a_host_that_goes_leaves_no_task_waiting() {
    let servers = Arc::new(Servers::default());
    let mut host = Host::start(script([]), with(&servers));
    ask(&mut host, "initialize", json!({})).await;
    let reach = servers.host.get().unwrap().clone();
    let question = HostElicitation {
        mcp_server_name: "web".to_owned(),
        message: "Who?".to_owned(),
        mode: "form",
        url: None,
        elicitation_id: None,
        requested_schema: None,
    };
    let asking = tokio::spawn({
        let reach = reach.clone();
        async move { reach.elicit(&question).await }
    });
    let (asked, _) = host.until("control_request", "elicitation").await;
    assert_eq!(asked["request"]["message"], "Who?");
    let sending = tokio::spawn(async move {
        reach.server("calc").send(JsonText::parse(r#"{"jsonrpc":"2.0","id":1,"method":"tools/list"}"#).unwrap()).await
    });
    host.until("control_request", "mcp_message").await;
    host.hang_up();
    assert_eq!(asking.await.unwrap().action, "decline");
    assert!(sending.await.unwrap().is_err());
    host.end().await.0.unwrap();
}

#[tokio::test(start_paused = true)]
async fn without_servers_the_host_hears_so() {
    let mut host = Host::start(script([]), options());
    ask(&mut host, "initialize", json!({ "sdkMcpServers": ["calc"] })).await;
    let status = ask(&mut host, "mcp_status", json!({})).await["response"]["mcpServers"][0].clone();
    assert_eq!((&status["name"], &status["status"]), (&json!("calc"), &json!("failed")));
    for subtype in ["mcp_reconnect", "mcp_toggle", "mcp_set_servers", "mcp_call", "mcp_read_resource"] {
        assert_eq!(ask(&mut host, subtype, json!({ "serverName": "calc" })).await["error"], "Server not found: calc");
    }
    host.hang_up();
    host.end().await.0.unwrap();
}

/// Answers that do not fit into a line of the protocol are answers all the same, and the session continues.
#[tokio::test(start_paused = true)]
async fn every_order_has_exactly_one_answer_whatever_its_size() {
    const LIMIT: usize = windlass_protocol::MAX_LINE;
    let servers = Arc::new(Servers::default());
    let mut host = Host::start(script([says("one")]), with(&servers));
    let mut asked = 0;
    for size in [0, 1, 4_000, LIMIT - 100, LIMIT - 99, LIMIT, LIMIT + 1, 2 * LIMIT, 5 * LIMIT] {
        let long = "x".repeat(size);
        let orders = [
            ("mcp_call", json!({ "tool": long })),
            ("mcp_read_resource", json!({ "serverName": "a", "uri": long })),
            ("mcp_reconnect", json!({ "serverName": long })),
            ("mcp_set_servers", json!({ "servers": { (long.clone()): {} } })),
            ("mcp_message", json!({ "server_name": long, "message": {} })),
            ("mcp_status", json!({ "x": long })),
            ("set_permission_mode", json!({ "mode": long })),
            ("set_model", json!({ "model": long })),
            ("rename_session", json!({ "title": long })),
            ("rewind_files", json!({ "user_message_id": long })),
            (long.as_str(), json!({})),
        ];
        for (subtype, request) in orders {
            asked += 1;
            let id = format!("q{asked}");
            host.order(&id, request, subtype).await;
            let (answer, before) = host.until("control_response", "").await;
            let short: String = subtype.chars().take(30).collect();
            assert_eq!(answer["response"]["request_id"], *id, "{short} {size}");
            assert!(before.iter().all(|line| line["type"] != "control_response"), "{short} {size}");
            let length = answer.to_string().len();
            assert!(length < LIMIT, "{short} {size}: {length}");
            if matches!(subtype, "mcp_call" | "mcp_read_resource") {
                let expected = if size + 200 < LIMIT { "success" } else { "error" };
                if size + 200 < LIMIT || size > LIMIT {
                    assert_eq!(answer["response"]["subtype"], expected, "{short} {size}");
                }
            }
        }
        // One whose id is long, too.
        host.order(&long, json!({}), "mcp_status").await;
        let (answer, _) = host.until("control_response", "").await;
        assert_eq!(answer["response"]["request_id"].as_str().map(str::len), Some(size));
    }
    let refused = ask(&mut host, "mcp_call", json!({ "tool": "x".repeat(LIMIT) })).await;
    let error = refused["error"].as_str().unwrap();
    assert!(error.contains("900000") && refused["error_code"] == "answer_too_long", "{error}");
    host.hang_up();
    assert!(host.end().await.1.iter().all(|line| line["type"] != "control_response"));
}
