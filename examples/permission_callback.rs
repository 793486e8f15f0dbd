//! Rules decide what they can; the host is asked about the rest.

use serde_json::json;
use windlass::{EventKind, PermissionAnswer, Permissions, Script, ScriptedModel, coding_tools, query};

#[tokio::main]
async fn main() -> anyhow::Result<()> {
    let folder = windlass_examples::workspace()?;
    let model = ScriptedModel::new(
        Script::new()
            .turn(|turn| {
                turn.tool_use("Bash", json!({"command": "ls"}))
                    .tool_use("Write", json!({"file_path": "notes.txt", "content": "hello\n"}))
                    .tool_use("Bash", json!({"command": "touch also.txt"}))
                    .tool_use("Bash", json!({"command": "rm -rf /"}))
            })
            .turn(|turn| turn.text("I did what I was allowed to.")),
    );
    // A real host shows the request to a person. This one says yes to files and no to commands.
    let permissions = Permissions::ask(|request| async move {
        println!("? {}: {}", request.title, request.decision.message);
        match request.tool.as_str() {
            "Write" => PermissionAnswer::allow(),
            _ => PermissionAnswer::deny("Not now."),
        }
    });

    let mut run =
        query("Make notes").provider(model).tools(coding_tools(folder.path())).permissions(permissions).stream();
    let mut denied = 0;
    while let Some(event) = run.try_next().await? {
        match event.kind {
            EventKind::PermissionResolved { tool, decision, .. } => {
                println!("{tool}: {:?} ({:?})", decision.behavior, decision.reason);
            }
            EventKind::RunFinished(result) => denied = result.permission_denials.len(),
            _ => {}
        }
    }
    anyhow::ensure!(folder.path().join("notes.txt").exists() && !folder.path().join("also.txt").exists());
    anyhow::ensure!(denied == 2, "the second and the last command were to be denied");
    Ok(())
}
