//! An agent that gives a task to another one, which searches by itself and reports.

use serde_json::json;
use windlass::{
    AgentDefinition, EventKind, PermissionMode, ScriptedModel, ScriptedTurn, Subagents, coding_tools, query,
};

#[tokio::main]
async fn main() -> anyhow::Result<()> {
    let folder = windlass_examples::workspace()?;
    let proofreader = AgentDefinition::new(
        "proofreader",
        "Finds spelling mistakes in texts that people read.",
        "You proofread. Search the files you are told, and report each mistake as path:line with its correction.",
    )
    .with_tools(["Grep", "Read"])
    .with_permission_mode(PermissionMode::Plan);

    // One model plays both agents; the system prompt shows which of the two asks.
    let model = ScriptedModel::from_fn(|request, _| {
        let is_proofreader = request.system.iter().any(|section| section.text.starts_with("You proofread."));
        match (is_proofreader, request.messages.len()) {
            (false, 1) => ScriptedTurn::new().tool_use(
                "Agent",
                json!({
                    "description": "Proofread greetings", "subagent_type": "proofreader",
                    "prompt": "Check the greetings in the Python files of this directory.",
                }),
            ),
            (true, 1) => ScriptedTurn::new()
                .tool_use("Grep", json!({ "pattern": "return '", "output_mode": "content", "-n": true })),
            (true, _) => ScriptedTurn::new().text("greet.py:2: `Helo` should be `Hello`."),
            (false, _) => ScriptedTurn::new().text("There is one mistake: `Helo` in greet.py."),
        }
    });

    let mut run = query("Are there spelling mistakes in the greetings?")
        .provider(model)
        .tools(coding_tools(folder.path()))
        .subagents(Subagents::new().with(proofreader))
        .stream();
    let (mut searched, mut reported, mut answer) = (false, String::new(), String::new());
    while let Some(event) = run.try_next().await? {
        // Events of the agent below carry its own path.
        let who = if event.agent.is_main() { "main agent" } else { "proofreader" };
        match event.kind {
            EventKind::ToolStarted(started) => println!("{who}: {}", started.title),
            EventKind::ToolFinished(finished) if event.agent.is_main() => reported = finished.result.content.text(),
            EventKind::ToolFinished(finished) => searched = finished.result.content.text().contains("Helo"),
            EventKind::RunFinished(result) if event.agent.is_main() => answer = result.text,
            _ => {}
        }
    }
    println!("{answer}");
    anyhow::ensure!(searched, "the proofreader did not search");
    anyhow::ensure!(reported.starts_with("greet.py:2"), "its report did not come back: {reported}");
    Ok(())
}
