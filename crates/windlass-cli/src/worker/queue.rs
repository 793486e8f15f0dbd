//! Sessions of workers, as a service sees them: messages, states, questions and answers.

use super::command::{SendArgs, StatusArgs, WorkerAnswer, WorkerAnswerArgs};
use super::configuration::Configuration;
use super::connect;
use crate::failure::Usage;
use crate::jsonl;
use crate::notes::note_to_stderr;
use crate::sessions::id::session_id;
use crate::terminal::{clean, clean_line};
use serde_json::json;
use std::io::{Write as _, stdout};
use windlass::session::SessionId;
use windlass::store::{EntryKind, SessionKey, SessionStore as _, StoreErrorKind};
use windlass::tool::{Clock as _, Ids as _, SystemClock, SystemIds};
use windlass_postgres::{InboxMessage, NewSession, PgStore, QueuedSession, SessionState};

/// Sends a prompt, and prints the id of the session.
pub(super) async fn send(args: &SendArgs) -> anyhow::Result<i32> {
    let configuration = Configuration::read(args.configuration.config.as_deref())?;
    if args.prompt.trim().is_empty() {
        return Err(Usage("the prompt is empty".to_owned()).into());
    }
    let store = connect(&configuration).await?;
    let new_id = || SessionId::from_bits(SystemIds::default().bits());
    let id = match &args.session {
        Some(id) => session_id(id)?,
        None => new_id(),
    };
    let mut new = NewSession::new(args.profile.clone().unwrap_or_default(), &args.workspace);
    if let Some(turns) = args.max_turns {
        new = new.with_max_turns(turns);
    }
    let key = new.key(id.clone());
    if let Some(profile) = &args.profile {
        let is_known =
            configuration.profiles.contains_key(profile) && configuration.workspaces.contains_key(&args.workspace);
        if !is_known {
            note_to_stderr("this configuration lacks the profile or the workspace: a worker that has both runs it");
        }
        store.begin(&key, &new).await?;
    }
    let idempotency = args.key.clone().unwrap_or_else(|| new_id().to_string());
    let sent = store.send(&key, &idempotency, &InboxMessage::prompt(&args.prompt)).await;
    let sent = sent.map_err(|error| match error.kind {
        StoreErrorKind::NotFound => {
            anyhow::anyhow!("there is no session {id} of workspace {}: name its --profile", args.workspace)
        }
        _ => error.into(),
    })?;
    if !sent.is_new {
        note_to_stderr("the message was stored before");
    }
    writeln!(stdout(), "{id}")?;
    Ok(0)
}

/// Prints sessions, or one of them.
pub(super) async fn status(args: &StatusArgs) -> anyhow::Result<i32> {
    let configuration = Configuration::read(args.configuration.config.as_deref())?;
    let store = connect(&configuration).await?;
    if let Some(id) = &args.session {
        return show(&store, &found(&store, id).await?, args.json).await;
    }
    for session in store.queue(args.limit).await? {
        if args.json {
            jsonl::write(&mut stdout().lock(), &listed(&session))?;
        } else {
            writeln!(stdout(), "{}", row(&session))?;
        }
    }
    Ok(0)
}

fn state_name(state: Option<SessionState>) -> &'static str {
    match state {
        Some(SessionState::Idle) => "idle",
        Some(SessionState::Ready) => "ready",
        Some(SessionState::Running) => "running",
        Some(SessionState::Waits) => "waits",
        Some(SessionState::Paused) => "paused",
        Some(SessionState::Poisoned) => "poisoned",
        Some(SessionState::Closed) => "closed",
        _ => "unknown",
    }
}

fn row(session: &QueuedSession) -> String {
    let QueuedSession { key, profile, workspace, state, reason, owner, messages, .. } = session;
    let owner = owner.as_ref().map(|owner| format!("  {owner}")).unwrap_or_default();
    let messages = if *messages > 0 { format!("  messages: {messages}") } else { String::new() };
    let reason = if reason.is_empty() { String::new() } else { format!("  {reason}") };
    let state = state_name(*state);
    clean_line(&format!("{}  {state:<8}  {profile} in {workspace}{messages}{owner}{reason}", key.session))
}

fn listed(session: &QueuedSession) -> serde_json::Value {
    json!({
        "session": session.key.session.as_str(),
        "state": state_name(session.state),
        "profile": session.profile,
        "workspace": session.workspace,
        "messages": session.messages,
        "owner": session.owner.as_ref().map(ToString::to_string),
        "reason": session.reason,
        "changed": session.changed.to_string(),
    })
}

/// Prints a session with its open questions and its last answer.
async fn show(store: &PgStore, session: &QueuedSession, is_json: bool) -> anyhow::Result<i32> {
    let key = &session.key;
    let entries = match store.load(key).await {
        Ok(loaded) => loaded.entries,
        Err(error) if error.kind == StoreErrorKind::NotFound => Vec::new(),
        Err(error) => return Err(error.into()),
    };
    let questions = if entries.is_empty() { Vec::new() } else { store.questions(key).await? };
    let answer = entries.iter().rev().find_map(|entry| match &entry.kind {
        EntryKind::Assistant(message) => {
            let texts: Vec<&str> = message.content.iter().filter_map(|block| block.as_text()).collect();
            Some(texts.join("\n\n")).filter(|text| !text.trim().is_empty())
        }
        _ => None,
    });
    if is_json {
        let mut document = listed(session);
        let asked = questions.iter().map(|asked| {
            json!({"id": asked.question.id.as_str(), "tool": asked.question.tool, "title": asked.question.title})
        });
        if let Some(members) = document.as_object_mut() {
            members.insert("questions".to_owned(), asked.collect());
            members.insert("answer".to_owned(), json!(answer));
        }
        jsonl::write(&mut stdout().lock(), &document)?;
        return Ok(0);
    }
    writeln!(stdout(), "{}", row(session))?;
    for asked in questions {
        let text = format!("{}: {}", asked.question.tool, asked.question.title);
        writeln!(stdout(), "question {}  {}", clean_line(asked.question.id.as_str()), clean_line(&text))?;
    }
    if let Some(answer) = answer {
        writeln!(stdout(), "\n{}", clean(&answer))?;
    }
    Ok(0)
}

/// Answers a question.
pub(super) async fn answer(args: &WorkerAnswerArgs) -> anyhow::Result<i32> {
    let configuration = Configuration::read(args.configuration.config.as_deref())?;
    let allow = args.answer == WorkerAnswer::Allow;
    if allow && args.message.is_some() {
        return Err(Usage("--message goes with deny: the model does not read it".to_owned()).into());
    }
    let store = connect(&configuration).await?;
    let key: SessionKey = found(&store, &args.session).await?.key;
    let question = args.question.to_ascii_lowercase().as_str().into();
    let answer = (allow, args.message.clone());
    store.answer_question(&key, &question, answer, SystemClock::default().now()).await?;
    Ok(0)
}

/// Returns the session of an id.
async fn found(store: &PgStore, id: &str) -> anyhow::Result<QueuedSession> {
    let id = session_id(id)?;
    store
        .queued(&id)
        .await?
        .ok_or_else(|| anyhow::anyhow!("there is no session {id}; `windlass worker status` lists those of workers"))
}
