//! Tools and an agent of a program as an MCP server. With `serve`, this program is the server. Without it, the program
//! is a client that starts itself with `serve`. Any MCP client can take its place.
#![allow(clippy::disallowed_methods, reason = "a program takes its environment and time from the system")]

use std::path::PathBuf;
use std::time::Duration;
use windlass::mcp::{McpOptions, McpServerConfig, McpServers};
use windlass::{JsonText, Permissions, Script, ScriptedModel, coding_tools, session};
use windlass_mcp_server::{AgentTool, GatedTools, McpServer};

#[tokio::main]
async fn main() -> anyhow::Result<()> {
    let mut args = std::env::args().skip(1);
    if args.next().as_deref() == Some("serve") {
        return serve(args.next().unwrap_or_default().into()).await;
    }
    let folder = windlass_examples::workspace()?;
    std::fs::write(folder.path().join("notes.txt"), "Buy bread.\n")?;
    let notes = folder.path().canonicalize()?.join("notes.txt");
    let this = std::env::current_exe()?.display().to_string();
    let server = McpServerConfig::stdio(this).arg("serve").arg(folder.path().display().to_string());
    let servers = McpServers::new(McpOptions::new());
    servers.add("notes", server)?;
    servers.settled(Duration::from_secs(30)).await;

    let read = JsonText::of(&serde_json::json!({ "file_path": notes }))?;
    let text = servers.call("notes", "Read", &read, None).await?.content.text();
    println!("Read: {text}");
    // No rule allows this call, and the client cannot ask a user.
    let write = JsonText::of(&serde_json::json!({ "file_path": notes, "content": "Buy cake.\n" }))?;
    let denied = servers.call("notes", "Write", &write, None).await?;
    println!("Write: {}", denied.content.text());
    let task = JsonText::of(&serde_json::json!({ "prompt": "What is to be bought?" }))?;
    let answer = servers.call("notes", "helper", &task, None).await?.content.text();
    println!("helper: {answer}");
    servers.close().await;
    anyhow::ensure!(text.contains("Buy bread.") && denied.is_error && answer == "Bread.");
    Ok(())
}

async fn serve(folder: PathBuf) -> anyhow::Result<()> {
    let tools =
        GatedTools::open(session().tools(coding_tools(&folder).only(&["Read", "Write"])), Permissions::new()).await?;
    let agent = AgentTool::new("helper", "Knows the notes.", Permissions::new(), move || {
        let model = ScriptedModel::new(Script::new().turn(|turn| turn.text("Bread.")));
        session().provider(model).tools(coding_tools(&folder).only(&["Read"]))
    });
    McpServer::new("notes", "1.0").service(tools).service(agent).serve_stdio().await?;
    Ok(())
}
