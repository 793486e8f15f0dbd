//! A session obeys the files of a project as the `windlass` command does: rules, agents, custom commands.

#![expect(clippy::disallowed_methods, reason = "a program knows its own environment")]

use serde_json::json;
use windlass::{EventKind, Home, Project, Script, ScriptedModel, coding_tools, query};

#[tokio::main]
async fn main() -> anyhow::Result<()> {
    let (folder, home) = (windlass_examples::workspace()?, tempfile::tempdir()?);
    for (file, text) in [
        (".claude/settings.json", r#"{"permissions":{"allow":["Bash(python3 *)"],"deny":["Read(.env)"]}}"#),
        (".claude/commands/greet.md", "Greet $1 in greet.py."),
        (".env", "KEY=secret"),
    ] {
        let path = folder.path().join(file);
        std::fs::create_dir_all(path.parent().unwrap_or(&path))?;
        std::fs::write(path, text)?;
    }
    let model = ScriptedModel::new(
        Script::new()
            .turn(|turn| {
                turn.tool_use("Read", json!({"file_path": ".env"}))
                    .tool_use("Bash", json!({"command": "python3 greet.py"}))
                    .tool_use("Read", json!({"file_path": "greet.py"}))
            })
            .turn(|turn| turn.text("I read what I was allowed to.")),
    );

    let project = Project::at(folder.path()).home(Home::new(home.path())).environment(std::env::vars_os()).load()?;
    // The folder is not trusted: its denials count, its allowances do not.
    for notice in project.take_notices() {
        println!("note: {notice}");
    }
    let asked = project.expand("/greet Ada", None)?;
    println!("asked: {}", asked.content.iter().filter_map(|block| block.as_text()).collect::<String>());

    let mut run = query("/greet Ada").provider(model).tools(coding_tools(folder.path())).project(project).stream();
    let mut denied = 0;
    while let Some(event) = run.try_next().await? {
        match event.kind {
            EventKind::ToolFinished(tool) => {
                println!("{}: {}", tool.tool, tool.denied.map_or("ran".to_owned(), |decision| decision.message));
            }
            EventKind::RunFinished(result) => denied = result.permission_denials.len(),
            _ => {}
        }
    }
    anyhow::ensure!(denied == 2, ".env is denied, and the rule for python3 is not trusted");
    Ok(())
}
