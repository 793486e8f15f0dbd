//! The tools of an MCP server, which is a program of its own. Here it is this program, started once more with `serve`.
//! Yours is any server that speaks over its standard streams, or an HTTP endpoint (`McpServerConfig::http`).
#![allow(clippy::disallowed_methods, reason = "a program takes its environment and time from the system")]

use serde_json::{Value, json};
use std::io::{BufRead, Write};
use windlass::{
    EventKind, Permissions, Script, ScriptedModel, coding_tools,
    mcp::{McpOptions, McpServerConfig, McpServers},
    query,
    tool::environment::host_environment,
};

#[tokio::main]
async fn main() -> anyhow::Result<()> {
    if std::env::args().nth(1).as_deref() == Some("serve") {
        return serve();
    }
    let this = std::env::current_exe()?.display().to_string();
    // A server inherits no variables by itself. This option gives it PATH and the like, and no keys.
    let servers = McpServers::new(McpOptions::new().with_env(host_environment(std::env::vars_os())));
    servers.add("home", McpServerConfig::stdio(this).arg("serve"))?;

    let folder = windlass_examples::workspace()?;
    let model = ScriptedModel::new(
        Script::new()
            .turn(|turn| turn.tool_use("mcp__home__weather", json!({"city": "Porto"})))
            .turn(|turn| turn.text("Take a hat.")),
    );
    let mut run = query("Do I need an umbrella in Porto?")
        .provider(model)
        .tools(coding_tools(folder.path()))
        .mcp_servers(servers.clone())
        // The effects of a server's tools are unknown, so each call without a rule needs an answer.
        .permissions(Permissions::new().allow(["mcp__home__weather"]))
        .stream();
    let mut seen = String::new();
    while let Some(event) = run.try_next().await? {
        match event.kind {
            EventKind::ToolFinished(done) => {
                seen = done.result.content.text();
                println!("{}: {seen}", done.tool);
            }
            EventKind::RunFinished(result) => println!("{}", result.text),
            _ => {}
        }
    }
    // `close` waits until the servers are gone; dropping the last handle also ends them, without waiting.
    servers.close().await;
    // Text from others stands between two lines with a mark of its own.
    anyhow::ensure!(seen.contains("\nSunny in Porto.\n"), "the server was not asked");
    Ok(())
}

/// Runs a server with one tool: JSON-RPC, one message per line.
fn serve() -> anyhow::Result<()> {
    for line in std::io::stdin().lock().lines() {
        let request: Value = serde_json::from_str(&line?)?;
        let result = match request["method"].as_str() {
            Some("initialize") => json!({
                "protocolVersion": request["params"]["protocolVersion"],
                "capabilities": { "tools": {} },
                "serverInfo": { "name": "home", "version": "1.0" },
            }),
            Some("tools/list") => json!({ "tools": [{
                "name": "weather",
                "description": "Current weather for a city.",
                "inputSchema": {
                    "type": "object",
                    "properties": { "city": { "type": "string" } },
                    "required": ["city"],
                },
            }] }),
            Some("tools/call") => {
                let city = request["params"]["arguments"]["city"].as_str().unwrap_or("?");
                json!({ "content": [{ "type": "text", "text": format!("Sunny in {city}.") }] })
            }
            // Notifications need no answer.
            _ => continue,
        };
        let answer = json!({ "jsonrpc": "2.0", "id": request["id"], "result": result });
        writeln!(std::io::stdout(), "{answer}")?;
    }
    Ok(())
}
