//! Counts the facts that a model still knows after a compaction. With a provider's key in the environment, the figure
//! is that of a real model; without one, a scripted model shows the procedure.
//!
//! `cargo run -p windlass-examples --example compaction_recall [MODEL]`

#![expect(clippy::disallowed_methods, reason = "a program knows its own environment")]

use serde_json::json;
use std::sync::Arc;
use windlass::options::CompactionOptions;
use windlass::session::Prompt;
use windlass::{EventKind, ModelProvider, Script, ScriptedModel, Session, coding_tools, session};

/// Number of facts that the model reads: half of them in files, half from the user.
const FACTS: usize = 12;

/// A fact that cannot be guessed: the port of a service.
fn port(service: usize) -> usize {
    20_011 + service * 733
}

/// Gives a prompt, and returns the text of the answer.
async fn ask(session: &mut Session, prompt: Prompt) -> anyhow::Result<String> {
    session.handle.prompt(prompt)?;
    while let Some(event) = session.events.try_next().await? {
        if let EventKind::RunFinished(result) = event.kind {
            return Ok(result.text);
        }
    }
    anyhow::bail!("the session has ended")
}

/// States the facts, compacts, and counts the facts that the model still knows.
async fn recalled(provider: Arc<dyn ModelProvider>, model: &str, restored: u64) -> anyhow::Result<usize> {
    let folder = tempfile::tempdir()?;
    for service in (0..FACTS).step_by(2) {
        let text = format!("service: s{service}\nport: {}\n", port(service));
        std::fs::write(folder.path().join(format!("s{service}.yaml")), text)?;
    }
    let mut session = session()
        .provider(provider)
        .model(model)
        .tools(coding_tools(folder.path()).only(&["Read", "Glob"]))
        .compaction(CompactionOptions::new().restored_files(restored))
        .open()
        .await?;
    let told: Vec<String> =
        (1..FACTS).step_by(2).map(|service| format!("s{service} has port {}", port(service))).collect();
    ask(&mut session, Prompt::text(format!("I deploy some services. {}. Say ok.", told.join(", ")))).await?;
    ask(&mut session, Prompt::text("Read all YAML files of this directory, one by one. Then say ok.")).await?;
    ask(&mut session, Prompt::text("Which port is the highest? Answer in a few words.")).await?;
    ask(&mut session, Prompt::compact("")).await?;
    let mut known = 0;
    for service in 0..FACTS {
        let question =
            format!("Which port has s{service}? Answer with the number alone, from memory, without any tool.");
        known += usize::from(ask(&mut session, Prompt::text(question)).await?.contains(&port(service).to_string()));
    }
    session.handle.close().await?;
    Ok(known)
}

/// A model that remembers what the user said and forgets the files.
fn scripted() -> ScriptedModel {
    let mut script = Script::new()
        .turn(|turn| turn.text("ok"))
        .turn(|turn| turn.tool_use("Read", json!({"file_path": "s0.yaml"})))
        .turn(|turn| turn.text("ok"))
        .turn(|turn| turn.text("The last one."))
        .turn(|turn| turn.text("<summary>The user deploys services.</summary>"));
    for service in 0..FACTS {
        let answer = if service % 2 == 1 { port(service).to_string() } else { "unknown".to_owned() };
        script = script.turn(move |turn| turn.text(answer));
    }
    ScriptedModel::new(script)
}

#[tokio::main]
async fn main() -> anyhow::Result<()> {
    let live = windlass::provider::from_env();
    let model = std::env::args().nth(1).unwrap_or_else(|| "default".to_owned());
    let has_key =
        ["ANTHROPIC_API_KEY", "OPENAI_API_KEY", "GEMINI_API_KEY"].iter().any(|name| std::env::var_os(name).is_some());
    let live: Option<Arc<dyn ModelProvider>> = has_key.then(|| Arc::new(live) as _);
    for restored in [10_000, 0] {
        let known = match &live {
            Some(provider) => recalled(Arc::clone(provider), &model, restored).await?,
            None => recalled(Arc::new(scripted()), "scripted", restored).await?,
        };
        let who = if live.is_some() { model.as_str() } else { "a scripted model" };
        println!(
            "{who} knows {known} of {FACTS} facts after a compaction, with {restored} tokens of files shown again"
        );
        anyhow::ensure!(live.is_some() || known == FACTS / 2);
    }
    Ok(())
}
