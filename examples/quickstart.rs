//! An agent on real files in a dozen lines. With `ANTHROPIC_API_KEY` set, replace the scripted model by
//! `Anthropic::from_env()?`.

use serde_json::json;
use windlass::{Delta, EventKind, PermissionMode, Script, ScriptedModel, coding_tools, query};

#[tokio::main]
async fn main() -> anyhow::Result<()> {
    let folder = windlass_examples::workspace()?;
    let model = ScriptedModel::new(
        Script::new()
            .turn(|turn| turn.text("Let me look. ").tool_use("Read", json!({"file_path": "greet.py"})))
            .turn(|turn| {
                turn.tool_use("Edit", json!({"file_path": "greet.py", "old_string": "Helo", "new_string": "Hello"}))
            })
            .turn(|turn| turn.text("Fixed the spelling in greet.py.")),
    );

    let mut run = query("Fix the typo in greet.py")
        .provider(model)
        .tools(coding_tools(folder.path()))
        .permission_mode(PermissionMode::AcceptEdits)
        .stream();
    while let Some(event) = run.try_next().await? {
        match event.kind {
            EventKind::BlockDelta { delta: Delta::Text(text), .. } => print!("{text}"),
            EventKind::ToolFinished(done) => println!("[{}]\n{}", done.tool, done.diff.unwrap_or_default()),
            EventKind::RunFinished(result) => println!("\n{} turns, {}", result.turns, result.cost),
            _ => {}
        }
    }
    let fixed = std::fs::read_to_string(folder.path().join("greet.py"))?;
    anyhow::ensure!(fixed.contains("Hello"), "the file was not fixed");
    Ok(())
}
