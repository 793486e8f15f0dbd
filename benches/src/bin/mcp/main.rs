//! Calls of MCP servers beside those of a raw client, which writes the same request and reads the answer. Other rows
//! show the cost of many servers at start. Each round runs both, one after the other; the figures are medians, in
//! milliseconds.
//!
//! `mcp [ROW_PREFIX…]` runs all rows or some: `stdio`, `http`, `parallel`, `lazy`. The last one needs the command line
//! beside it.
#![allow(clippy::disallowed_methods, reason = "it measures real time")]

mod lazy;
mod raw;
mod server;

use anyhow::{Context, Result, ensure};
use serde_json::json;
use std::time::{Duration, Instant};
use windlass::JsonText;
use windlass::mcp::{McpOptions, McpServerConfig, McpServers};
use windlass_benches::stats::{median, micros};

const CALLS: usize = 400;
const ROUNDS: usize = 7;
/// Delay before each server greets in the rows of many servers.
const SLOW: Duration = Duration::from_millis(300);
/// Timeout that no working call reaches.
const LONG: Duration = Duration::from_secs(60);

fn main() -> Result<()> {
    let args: Vec<String> = std::env::args().skip(1).collect();
    if let [mode, delay, tools] = args.as_slice()
        && mode == "serve"
    {
        return server::stdio(Duration::from_millis(delay.parse()?), tools.parse()?);
    }
    let wants = |row: &str| args.is_empty() || args.iter().any(|wanted| row.starts_with(wanted.as_str()));
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build()?;
    println!("| row | target | raw client, ms | windlass, ms | more, ms |\n|---|---|---|---|---|");
    if wants("stdio") {
        let mut raw = raw::Stdio::start(&this()?)?;
        let config = McpServerConfig::stdio(this()?).arg("serve").arg("0").arg("1");
        runtime.block_on(calls("a call over stdio", "0.3 ms more", config, || raw.call()))?;
    }
    if wants("http") {
        let address = server::http()?;
        let mut raw = raw::Http::connect(address)?;
        let config = McpServerConfig::http(format!("http://{address}/mcp"));
        runtime.block_on(calls("a call over HTTP", "0.5 ms more", config, || raw.call()))?;
    }
    if wants("parallel") {
        runtime.block_on(parallel())?;
    }
    if wants("lazy") {
        lazy::measure()?;
    }
    Ok(())
}

fn this() -> Result<String> {
    Ok(std::env::current_exe()?.display().to_string())
}

fn row(name: &str, target: &str, floor: Duration, ours: Duration) {
    let (floor, ours) = (micros(floor) / 1e3, micros(ours) / 1e3);
    println!("| {name} | {target} | {floor:.3} | {ours:.3} | {:.3} |", ours - floor);
}

/// Calls one after the other, in turns for the two clients.
async fn calls(name: &str, target: &str, config: McpServerConfig, mut raw: impl FnMut() -> Result<()>) -> Result<()> {
    let servers = McpServers::new(McpOptions::new());
    servers.add("s", config)?;
    servers.settled(LONG).await;
    let input = JsonText::of(&json!({ "text": "hello" }))?;
    let (mut floor, mut ours) = (Vec::new(), Vec::new());
    for round in 0..CALLS {
        let began = Instant::now();
        raw()?;
        let raw_took = began.elapsed();
        let began = Instant::now();
        let result = servers.call("s", "echo", &input, None).await?;
        let took = began.elapsed();
        ensure!(!result.is_error && result.content.text() == "hello", "the call failed: {result:?}");
        // The first calls also pay for one-time setup.
        if round >= CALLS / 10 {
            floor.push(raw_took);
            ours.push(took);
        }
    }
    servers.close().await;
    row(name, target, median(floor), median(ours));
    Ok(())
}

/// Measures the time until one slow server is connected, and until ten are.
async fn parallel() -> Result<()> {
    let (mut one, mut ten) = (Vec::new(), Vec::new());
    for _ in 0..ROUNDS {
        one.push(connected(1).await?);
        ten.push(connected(10).await?);
    }
    row("ten servers that take 300 ms to greet, beside one", "the slowest", median(one), median(ten));
    Ok(())
}

async fn connected(count: usize) -> Result<Duration> {
    let servers = McpServers::new(McpOptions::new());
    let began = Instant::now();
    for number in 0..count {
        let delay = SLOW.as_millis().to_string();
        servers.add(format!("s{number}"), McpServerConfig::stdio(this()?).arg("serve").arg(delay).arg("1"))?;
    }
    servers.settled(LONG).await;
    let took = began.elapsed();
    let tools = servers.status().iter().map(|status| status.tools.len()).sum::<usize>();
    ensure!(tools == count, "{tools} of {count} servers are connected");
    servers.close().await;
    Ok(took)
}

/// Returns a tool as a server lists it.
fn tool(number: usize) -> serde_json::Value {
    let name = if number == 0 { "echo".to_owned() } else { format!("look_at_{number}") };
    json!({
        "name": name,
        "description": format!("Returns the text that it is given, number {number}, and says a few words about it."),
        "inputSchema": {"type": "object", "properties": {"text": {"type": "string", "description": "The text"}}, "required": ["text"]},
    })
}

/// Returns a server's answer to a request, or nothing for a notification.
fn answer(message: &serde_json::Value, tools: usize) -> Option<String> {
    let id = message.get("id")?;
    let result = match message.get("method").and_then(|method| method.as_str()) {
        Some("initialize") => json!({
            "protocolVersion": "2025-11-25", "capabilities": {"tools": {}}, "serverInfo": {"name": "bench", "version": "1"},
        }),
        Some("tools/list") => json!({"tools": (0..tools).map(tool).collect::<Vec<_>>()}),
        Some("tools/call") => json!({"content": [{"type": "text", "text": message.pointer("/params/arguments/text")}]}),
        _ => {
            let error = json!({"code": -32601, "message": "unknown method"});
            return Some(json!({"jsonrpc": "2.0", "id": id, "error": error}).to_string());
        }
    };
    Some(json!({"jsonrpc": "2.0", "id": id, "result": result}).to_string())
}

/// Returns the request of the raw clients.
fn request(number: u64) -> String {
    let params = json!({"name": "echo", "arguments": {"text": "hello"}});
    json!({"jsonrpc": "2.0", "id": number, "method": "tools/call", "params": params}).to_string()
}

/// Fails unless the answer is that to request `number`.
fn fits(answer: &str, number: u64) -> Result<()> {
    let answer: serde_json::Value = serde_json::from_str(answer).context("the answer is no JSON")?;
    let text = answer.pointer("/result/content/0/text").and_then(|text| text.as_str());
    ensure!(answer.get("id") == Some(&number.into()) && text == Some("hello"), "another answer: {answer}");
    Ok(())
}
