//! The agent in a process of its own, driven over the host protocol. A tool, a permission callback and a hook of this
//! program work there as they do in process.
//!
//! The example builds the command when needed, or takes it from `WINDLASS_BIN`. The command's model answers from a
//! script, so no key is needed.
#![allow(clippy::disallowed_methods, reason = "a program takes its environment and time from the system")]

use anyhow::Context;
use serde_json::json;
use std::path::PathBuf;
use std::process::Command;
use std::sync::Arc;
use windlass::{
    PermissionAnswer, PreToolUseAction, ToolCx, hook_fn,
    permission::can_use_tool_fn,
    tool::{DynTool, ToolSet},
    tool_fn,
};
use windlass_protocol::client::{Client, ClientOptions, Message, Program};

#[derive(windlass::ToolInput)]
struct City {
    /// City to look up.
    name: String,
}

#[tokio::main]
async fn main() -> anyhow::Result<()> {
    let folder = windlass_examples::workspace()?;
    let weather = tool_fn("weather", "Current weather for a city.", |city: City, _: ToolCx| async move {
        Ok(format!("It is sunny in {}.", city.name))
    });
    let no_deleting = hook_fn("no-deleting").before_tool(["Bash"], |event| async move {
        Ok(match event.tool_input.as_str().contains("rm ") {
            true => PreToolUseAction::deny("Nothing is deleted here."),
            false => PreToolUseAction::Continue,
        })
    });
    let options = ClientOptions::new()
        .tools("home", ToolSet::new([Arc::new(weather) as Arc<dyn DynTool>])?)
        .hook(no_deleting)
        .can_use_tool(can_use_tool_fn(|request| async move {
            println!("? {}", request.title);
            match request.tool.as_str() {
                "Write" => PermissionAnswer::allow(),
                _ => PermissionAnswer::deny("Not now."),
            }
        }));
    let program = Program::new(command()?)
        .cwd(folder.path())
        .env("HOME", folder.path())
        .env("WINDLASS_SCRIPT", script(folder.path())?)
        .allowed_tools(["mcp__home__weather"])
        .on_stderr(|line| eprintln!("windlass: {line}"));

    let mut client = Client::spawn(program, options).await?;
    client.prompt("Write down what the weather is like in Porto, and tidy up").await?;
    let denied = loop {
        match client.next().await?.context("it ended too early")? {
            Message::Assistant(message) => {
                for call in message.content.iter().filter_map(|block| block.as_tool_use()) {
                    println!("> {} {}", call.name, call.input);
                }
                println!("{}", message.text());
            }
            Message::User(user) => {
                for result in user.content.iter().filter_map(|block| block.as_tool_result()) {
                    println!("  {}", result.content.text());
                }
            }
            Message::Result(result) => break result.permission_denials.len(),
            _ => {}
        }
    };
    client.close().await?;
    anyhow::ensure!(folder.path().join("weather.txt").exists(), "the file was to be written");
    anyhow::ensure!(denied == 1, "the last command was to be denied");
    Ok(())
}

/// Writes the script of the model and returns its path.
fn script(folder: &std::path::Path) -> anyhow::Result<PathBuf> {
    let call = |name: &str, input: serde_json::Value| json!({ "type": "tool_use", "name": name, "input": input });
    let script = json!({ "version": 1, "turns": [
        { "blocks": [call("mcp__home__weather", json!({ "name": "Porto" }))] },
        { "blocks": [call("Write", json!({ "file_path": "weather.txt", "content": "Sunny.\n" }))] },
        { "blocks": [call("Bash", json!({ "command": "rm greet.py" }))] },
        { "blocks": [{ "type": "text", "text": "I wrote it down. Tidying up was not allowed." }] },
    ] });
    let path = folder.join("script.json");
    std::fs::write(&path, script.to_string())?;
    Ok(path)
}

/// Returns the path of the `windlass` command, built beside this example.
fn command() -> anyhow::Result<PathBuf> {
    if let Some(path) = std::env::var_os("WINDLASS_BIN") {
        return Ok(path.into());
    }
    let example = std::env::current_exe()?;
    let profile = example.parent().and_then(|examples| examples.parent()).context("the example lies elsewhere")?;
    let name = match profile.file_name().and_then(|name| name.to_str()) {
        Some("debug") | None => "dev",
        Some(name) => name,
    };
    let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let built = Command::new(cargo)
        .args(["build", "--quiet", "-p", "windlass-cli", "--profile", name])
        .current_dir(env!("CARGO_MANIFEST_DIR"))
        .status()?;
    anyhow::ensure!(built.success(), "windlass could not be built");
    Ok(profile.join(format!("windlass{}", std::env::consts::EXE_SUFFIX)))
}
