//! Reasoning bound to all content before it, over a session in which everything changes that may: tools that come and
//! go, modes, models, compaction, a fork and a resume.
//!
//! The server enforces the binding as the vendor describes it ("Preserved thinking", prefix and model checks). The
//! server signs each block with the request that the block answers, and checks the blocks that come back.

use crate::common::{finished, provider, turn};
use serde_json::{Value, json};
use std::hash::{DefaultHasher, Hash, Hasher};
use std::sync::{Arc, Mutex};
use windlass::mcp::{McpOptions, McpServerConfig, McpServers};
use windlass::options::CompactionOptions;
use windlass::session::ForkOptions;
use windlass::tool::{Access, DynTool, ToolSet, tool_fn};
use windlass::{Home, PermissionMode, Session, session};
use windlass_testkit::wire::{Dialect, Event, Failure, Message, RecordedRequest, Reply, WireServer};

/// Observations of the server.
#[derive(Debug, Default)]
struct Seen {
    requests: usize,
    /// Blocks of reasoning that came back and fit.
    valid: usize,
    /// Blocks of reasoning that did not fit, and were left out.
    dropped: usize,
    /// Requests that were refused, with the reason.
    refused: Vec<String>,
    /// Requests with tools between the messages.
    with_inline_tools: usize,
}

/// The request without what is not compared: cache markers.
fn bare(value: &Value) -> Value {
    match value {
        Value::Object(members) => members
            .iter()
            .filter(|(name, _)| *name != "cache_control")
            .map(|(name, value)| (name.clone(), bare(value)))
            .collect(),
        Value::Array(items) => items.iter().map(bare).collect(),
        other => other.clone(),
    }
}

/// Preceding part of a request, read part by part.
#[derive(Clone)]
struct Before {
    model: String,
    hasher: DefaultHasher,
}

impl Before {
    fn messages(body: &Value) -> Self {
        let mut before = Self { model: body["model"].as_str().unwrap().to_owned(), hasher: DefaultHasher::new() };
        before.read(&body["system"]);
        before.read(&body["tools"]);
        before
    }

    fn read(&mut self, part: &Value) {
        part.to_string().hash(&mut self.hasher);
    }

    /// The signature of reasoning that the model writes here.
    fn signature(&self) -> String {
        format!("{}:{:x}", self.model, self.hasher.finish())
    }
}

/// The signature of the next answer, how many blocks of reasoning fit, and those that do not: where, and why.
fn checked(body: &Value) -> (String, usize, Vec<(String, &'static str)>) {
    let mut before = Before::messages(body);
    let (mut valid, mut misfits) = (0, Vec::new());
    for (at, message) in body["messages"].as_array().unwrap().iter().enumerate() {
        let content = message["content"].as_array().filter(|_| message["role"] == "assistant");
        let mut inside = before.clone();
        for (block, thinking) in content.into_iter().flatten().enumerate() {
            if thinking["type"] == "thinking" {
                let signature = thinking["signature"].as_str().unwrap();
                let path = format!("messages.{at}.content.{block}");
                if !signature.starts_with(&format!("{}:", before.model)) {
                    misfits.push((path, "model_binding_mismatch"));
                } else if signature != inside.signature() {
                    misfits.push((path, "prefix_binding_mismatch"));
                } else {
                    valid += 1;
                }
            }
            inside.read(thinking);
        }
        before.read(message);
    }
    (before.signature(), valid, misfits)
}

fn answer(request: &RecordedRequest, seen: &Mutex<Seen>) -> Reply {
    let body = bare(&request.json().unwrap());
    let mut seen = seen.lock().unwrap();
    seen.requests += 1;
    if let Err(broken) = Dialect::Messages.read(request) {
        seen.refused.push(broken.clone());
        return Dialect::Messages.error(&Failure::invalid(broken));
    }
    let messages = body["messages"].as_array().unwrap();
    seen.with_inline_tools += usize::from(messages.iter().any(|message| message["role"] == "system"));
    let (signature, valid, misfits) = checked(&body);
    seen.valid += valid;
    let beta = request.header("anthropic-beta").unwrap_or_default();
    let drops = body["thinking"]["block_binding"]["prefix_mismatch_behavior"] == "drop_block";
    if let Some((path, reason)) = misfits.first()
        && !(drops && beta.contains("thinking-binding-controls-2026-08-01"))
    {
        seen.refused.push(format!("{path}: {reason}"));
        let text =
            format!("{path}: Invalid `signature` in `thinking` block. The block is bound to a different conversation.");
        return Reply::error(400, "invalid_request_error", &text);
    }
    let misplaced = messages.windows(2).any(|pair| pair[1]["role"] == "system" && pair[0]["role"] != "user")
        || messages.windows(2).any(|pair| pair[0]["role"] == "system" && pair[1]["role"] != "assistant");
    if misplaced {
        seen.refused.push("a system message in a wrong place".to_owned());
        return Reply::error(400, "invalid_request_error", "role 'system' must precede an 'assistant' message");
    }
    seen.dropped += misfits.len();
    let last = messages.iter().rev().find(|message| message["role"] == "user").unwrap().to_string();
    let message = Message::new().model(body["model"].as_str().unwrap()).thinking("hm", &signature);
    let message = if last.contains("about to be replaced by a summary") {
        message.text("<summary>All went well so far.</summary>")
    } else if last.contains("tool_result") || !last.contains("look") {
        message.text("Done.")
    } else {
        message.tool_use(&format!("toolu_{}", seen.requests), "look", json!({}))
    };
    let mut events = message.events("msg");
    let changes: Vec<Value> = misfits
        .iter()
        .map(|(path, reason)| json!({"type": "thinking_dropped", "path": path, "reason": reason}))
        .collect();
    let mut start: Value = serde_json::from_str(&events[0].data).unwrap();
    start["message"]["input_transformations"] = changes.into();
    events[0] = Event::new(&start);
    Reply::events(events)
}

#[derive(serde::Deserialize, windlass::schemars::JsonSchema)]
#[schemars(crate = "windlass::schemars")]
struct Nothing {}

fn tool(name: &str) -> Arc<dyn DynTool> {
    let tool = tool_fn(name, "Looks.", |_: Nothing, _| async { Ok("green") });
    Arc::new(tool.with_access(Access::NOTHING))
}

struct World {
    server: WireServer,
    seen: Arc<Mutex<Seen>>,
    servers: McpServers,
    home: tempfile::TempDir,
    workspace: tempfile::TempDir,
}

impl World {
    async fn start() -> Self {
        let server = WireServer::start().await.unwrap();
        let seen = Arc::new(Mutex::new(Seen::default()));
        let kept = Arc::clone(&seen);
        server.on_request(move |request| answer(request, &kept));
        server.forget_requests();
        let servers = McpServers::new(McpOptions::default());
        Self { server, seen, servers, home: tempfile::tempdir().unwrap(), workspace: tempfile::tempdir().unwrap() }
    }

    async fn open(&self, change: impl FnOnce(windlass::SessionBuilder) -> windlass::SessionBuilder) -> Session {
        let builder = session()
            .provider(provider(&self.server.url()))
            .model("claude-opus-5-5")
            .cwd(self.workspace.path())
            .tools(vec![tool("look")])
            .mcp_servers(self.servers.clone())
            .compaction(CompactionOptions::new().auto(false))
            .persist(Home::new(self.home.path()));
        change(builder).open().await.unwrap()
    }

    async fn server(&self, name: &str, only: &str) {
        self.servers.add(name, McpServerConfig::tools(name, ToolSet::new([tool(only)]).unwrap())).unwrap();
        self.servers.settled(std::time::Duration::from_secs(30)).await;
    }
}

#[tokio::test]
async fn two_hundred_turns_in_which_everything_changes_are_never_refused() {
    let world = World::start().await;
    let mut session = world.open(|builder| builder).await;
    let mut dropped_at = Vec::new();
    for number in 0..200 {
        match number {
            // A server comes while nothing runs, and the conversation is compacted at once.
            140 => {
                world.server("late", "late").await;
                session.handle.compact(None).unwrap();
                finished(&mut session, "the second compaction").await;
            }
            // Servers come and go, and come again.
            20 | 60 | 100 => world.server("files", "list").await,
            40 | 80 => assert!(world.servers.remove("files").await),
            110 => world.server("more", "other").await,
            // Modes, reminders, effort.
            25 | 85 => session.handle.set_permission_mode(PermissionMode::Plan).unwrap(),
            35 | 95 => session.handle.set_permission_mode(PermissionMode::AcceptEdits).unwrap(),
            50 => {
                session.handle.compact(None).unwrap();
                finished(&mut session, "the compaction").await;
            }
            // Another model, and back.
            120 => session.handle.set_model("claude-sonnet-5-5").unwrap(),
            130 => session.handle.set_model("claude-opus-5-5").unwrap(),
            // Another process.
            150 => {
                let id = session.handle.session_id().clone();
                session.handle.close().await.unwrap();
                session = world.open(|builder| builder.resume(id.as_str())).await;
            }
            // A fork of the conversation.
            170 => {
                let id = session.handle.session_id().clone();
                session.handle.close().await.unwrap();
                let home = Home::new(world.home.path());
                let fork = home.fork_session(id.as_str(), ForkOptions::default()).await.unwrap();
                session = world.open(|builder| builder.resume(fork.as_str())).await;
            }
            _ => {}
        }
        let before = world.seen.lock().unwrap().dropped;
        turn(&mut session, if number % 2 == 0 { "look around" } else { "go on" }).await;
        if world.seen.lock().unwrap().dropped > before {
            dropped_at.push(number);
        }
    }
    session.handle.close().await.unwrap();
    let seen = world.seen.lock().unwrap();
    println!("{seen:?}, dropped in turns {dropped_at:?}");
    assert_eq!(seen.refused, Vec::<String>::new());
    assert!(seen.requests > 300 && seen.valid > 10_000, "{seen:?}");
    assert!(seen.with_inline_tools > 100, "{seen:?}");
    assert!(dropped_at.is_empty(), "{dropped_at:?}");
}
