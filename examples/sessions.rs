//! Stored sessions from outside: list, show, rename, tag, copy, export and delete them.

use serde_json::json;
use windlass::{
    Home, Permissions, Script, ScriptedModel, coding_tools, query,
    session::{ForkOptions, TranscriptItem},
};

#[tokio::main]
async fn main() -> anyhow::Result<()> {
    let folder = windlass_examples::workspace()?;
    // A program of yours would use `Home::from_env()?`.
    let home = Home::new(folder.path().join("home"));
    let script = Script::new()
        .turn(|turn| turn.tool_use("Read", json!({"file_path": "greet.py"})))
        .turn(|turn| turn.tool_use("Bash", json!({"command": "rm greet.py"})))
        .turn(|turn| turn.text("It greets with a typo."));
    let run = query("What does greet.py do?")
        .provider(ScriptedModel::new(script))
        .tools(coding_tools(folder.path()))
        .permissions(Permissions::new().deny(["Bash"]))
        .persist(home.clone())
        .await?;
    let id = run.session_id;

    home.rename_session(&id, "The greeting").await?;
    home.tag_session(&id, Some("typos")).await?;

    let transcript = home.transcript(&id).await?;
    for entry in &transcript.entries {
        match &entry.item {
            TranscriptItem::Prompt { .. } => println!("> {}", entry.item.text().unwrap_or_default()),
            TranscriptItem::Message { content, usage, .. } => {
                for call in content.iter().filter_map(|block| block.as_tool_use()) {
                    println!("  {} {}", call.name, call.input);
                }
                println!("< {} ({} tokens)", entry.item.text().unwrap_or_default(), usage.output_tokens);
            }
            TranscriptItem::Verdict { tool, decision, .. } => {
                println!("  {}: {:?}, {}", tool.as_deref().unwrap_or("?"), decision.behavior, decision.message);
            }
            TranscriptItem::RunFinished { outcome, cost, .. } => println!("= {outcome}, {cost}"),
            _ => {}
        }
    }

    // One copy ends at the first message of the model; another one holds everything.
    let is_message = |item: &TranscriptItem| matches!(item, TranscriptItem::Message { .. });
    let first = transcript.entries.iter().find(|entry| is_message(&entry.item));
    let first = first.ok_or_else(|| anyhow::anyhow!("the model said nothing"))?;
    let half = home.fork_session(&id, ForkOptions::new().at(first.id.clone()).title("The beginning")).await?;
    let copy = home.fork_session(&id, ForkOptions::new()).await?;

    let list = home.sessions(folder.path()).await?;
    for session in &list.sessions {
        println!("{}  {}  {}", session.session_id, session.summary, session.tag.as_deref().unwrap_or("-"));
    }
    for skipped in &list.skipped {
        println!("{skipped}");
    }
    anyhow::ensure!(list.sessions.len() == 3 && list.skipped.is_empty());

    let messages = home.export_session(&copy).await?;
    println!("{} bytes of messages", messages.len());

    // The id is enough, regardless of the session's directory.
    let stored = home.find_session(&half).await?.ok_or_else(|| anyhow::anyhow!("the copy is gone"))?;
    println!("{} works in {}", stored.id, stored.directory.unwrap_or_default().display());
    for session in [&half, &copy] {
        home.delete_session(session).await?;
    }
    anyhow::ensure!(home.sessions(folder.path()).await?.sessions.len() == 1);
    Ok(())
}
