//! An agent that works on another system: a container or another machine. To run without either, the example falls back
//! to a local shell that knows nothing of this program's environment.
//!
//! ```sh
//! cargo run -p windlass-examples --example elsewhere -- docker CONTAINER /srv/app
//! cargo run -p windlass-examples --example elsewhere -- ssh HOST /srv/app
//! ```

use serde_json::json;
use windlass::remote::{Remote, Transport};
use windlass::{EventKind, PermissionMode, ScriptedModel, ScriptedTurn, coding_tools, query};

#[tokio::main]
async fn main() -> anyhow::Result<()> {
    let folder = windlass_examples::workspace()?;
    let words: Vec<String> = std::env::args().skip(1).collect();
    let (transport, directory) = match words.iter().map(String::as_str).collect::<Vec<_>>().as_slice() {
        ["docker", container, directory] => (Transport::docker(*container), directory.into()),
        ["ssh", host, directory] => (Transport::ssh(*host), directory.into()),
        _ => (Transport::program("env", ["-i", "PATH=/usr/bin:/bin"]), folder.path().to_path_buf()),
    };
    let remote = Remote::connect(transport).await?;
    println!("connected to {}", remote.place());

    let model = ScriptedModel::from_fn(|request, _| match request.messages.len() {
        1 => ScriptedTurn::new().tool_use("Glob", json!({ "pattern": "*" })),
        3 => ScriptedTurn::new().tool_use("Write", json!({ "file_path": "seen.txt", "content": "by an agent\n" })),
        5 => ScriptedTurn::new().tool_use("Bash", json!({ "command": "pwd && cat seen.txt" })),
        _ => ScriptedTurn::new().text("Done."),
    });
    let mut run = query("What is there?")
        .provider(model)
        .tools(coding_tools(&directory))
        .permission_mode(PermissionMode::AcceptEdits)
        .workspace(&remote)
        .stream();
    let mut last = String::new();
    while let Some(event) = run.try_next().await? {
        match event.kind {
            EventKind::ToolStarted(started) => println!("> {}", started.title),
            EventKind::ToolFinished(finished) => {
                last = finished.result.content.text();
                println!("{last}");
            }
            _ => {}
        }
    }
    anyhow::ensure!(last.contains("by an agent"), "the file was not written there: {last}");
    Ok(())
}
