//! Many runs in one session: steering one in progress, and interrupting another.

use serde_json::json;
use windlass::{ContentBlock, EventKind, Outcome, Permissions, Prompt, Script, ScriptedModel, coding_tools, session};

#[tokio::main]
async fn main() -> anyhow::Result<()> {
    let folder = windlass_examples::workspace()?;
    let model = ScriptedModel::new(
        Script::new()
            .turn(|turn| turn.tool_use("Bash", json!({"command": "sleep 0.3"})))
            .turn(|turn| turn.text("Understood, in French: bonjour."))
            .turn(|turn| turn.tool_use("Bash", json!({"command": "sleep 60"})))
            .turn(|turn| turn.text("Here I am again.")),
    );
    let requests = model.clone();
    let mut session = session()
        .provider(model)
        .tools(coding_tools(folder.path()))
        .permissions(Permissions::new().allow(["Bash(sleep *)"]))
        .open()
        .await?;

    let handle = session.handle.clone();
    handle.prompt(Prompt::text("Say hello"))?;
    let mut outcomes = Vec::new();
    while let Some(event) = session.events.try_next().await? {
        match event.kind {
            // The first command runs: send one more message. The second one runs: stop it.
            EventKind::ToolStarted(_) if outcomes.is_empty() => {
                handle.steer(vec![ContentBlock::text("In French, please.")])?;
            }
            EventKind::ToolStarted(_) => handle.interrupt()?,
            EventKind::RunFinished(result) => {
                println!("{:?}: {}", result.outcome, result.text);
                outcomes.push(result.outcome);
                match outcomes.len() {
                    1 => handle.prompt(Prompt::text("Now wait for a minute"))?,
                    2 => handle.prompt(Prompt::text("Are you there?"))?,
                    _ => break,
                }
            }
            _ => {}
        }
    }
    handle.close().await?;
    anyhow::ensure!(matches!(outcomes[..], [Outcome::Success, Outcome::Interrupted { .. }, Outcome::Success]));
    anyhow::ensure!(format!("{:?}", requests.requests()[1]).contains("In French, please."));
    Ok(())
}
