//! Writes a session with two agents, one below the other, and lists them.
//!
//! `cargo run -p windlass-store --example agent_logs HOME PROJECT`
#![expect(clippy::print_stdout, reason = "a program for people")]

use std::path::Path;
use windlass_session::{AgentHeader, Durability, LogHeader, Owner, ProjectKey, SessionKey, SessionStore, StoreError};
use windlass_store::JsonlStore;
use windlass_types::{
    AssistantEntry, ContentBlock, Entry, EntryId, EntryKind, SessionId, StopReason, Timestamp, Usage, UserEntry,
};

/// Returns a prompt and its answer.
fn turn(number: u128, prompt: &str, answer: &str) -> Vec<Entry> {
    let (asked, answered) = (EntryId::from_bits(number << 64 | 1), EntryId::from_bits(number << 64 | 2));
    let time = |more: u64| Timestamp::from_millis(1_780_000_000_000 + number as u64 * 1_000 + more);
    let user = UserEntry::new(vec![ContentBlock::text(prompt)]);
    let message = AssistantEntry::new(
        format!("msg_{number}").as_str().into(),
        "claude-sonnet-4-5".into(),
        vec![ContentBlock::text(answer)],
        vec![answered.clone()],
        Some(StopReason::EndTurn),
        Usage::new(10, 5),
    );
    vec![
        Entry::new(asked.clone(), None, time(0), EntryKind::User(user)),
        Entry::new(answered, Some(asked), time(1), EntryKind::Assistant(message)),
    ]
}

async fn write(store: &JsonlStore, key: &SessionKey, header: LogHeader, entries: Vec<Entry>) -> Result<(), StoreError> {
    let lease = store.open(key, &Owner::new(std::process::id(), "example"), header).await?;
    store.append(&lease, lease.seq(), entries, Durability::Durable).await?;
    store.close(lease).await
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), StoreError> {
    let mut arguments = std::env::args().skip(1);
    let (Some(home), Some(project)) = (arguments.next(), arguments.next()) else {
        println!("usage: agent_logs HOME PROJECT");
        return Ok(());
    };
    let store = JsonlStore::new(home);
    let session = SessionKey::new(ProjectKey::of(Path::new(&project)), SessionId::from_bits(7));
    let header = LogHeader::new(project, env!("CARGO_PKG_VERSION"), "example");
    write(&store, &session, header.clone(), turn(1, "Find the parser.", "It is in parse.rs.")).await?;

    // Call of the parent's model that started the agent, and its parent agent, if any.
    let finder = AgentHeader::new("explore", "Find the parser", "toolu_1".into());
    let reader = AgentHeader::new("general-purpose", "Read a file", "toolu_2".into()).with_parent(Some("a1".into()));
    let first = turn(2, "Where is the parser?", "In parse.rs.");
    write(&store, &session.of_agent("a1".into()), header.clone().with_agent(finder), first).await?;
    let second = turn(3, "Read parse.rs.", "It parses.");
    write(&store, &session.of_agent("a2".into()), header.with_agent(reader), second).await?;

    println!("{}", session.session);
    for agent in store.agents(&session).await? {
        let log = store.log_path(&session.of_agent(agent.id.clone()));
        println!("{} {}: {} ({})", agent.id, agent.agent_type, agent.description, log.display());
    }
    Ok(())
}
