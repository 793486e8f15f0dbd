//! `windlass sessions`: stored sessions.

mod agents;
mod change;
mod command;
mod rewind;

pub(crate) use command::SessionsCommand;

use crate::failure::{Usage, of_start};
use crate::jsonl;
use crate::terminal::{Terminal, clean, clean_line};
use command::ExportFormat;
use serde::Serialize;
use std::io::{Write, stderr, stdout};
use std::path::{Path, PathBuf};
use std::time::{SystemTime, UNIX_EPOCH};
use windlass::crates::context::is_reminder;
use windlass::crates::session::{CheckReport, ProjectKey, SessionKey};
use windlass::crates::store::{JsonlStore, Listed, check_file, export_file};
use windlass::crates::types::{AgentId, Role};
use windlass::{ContentBlock, Home, Message, SessionId};

/// Carries out a command and returns the exit code.
pub(crate) async fn sessions(command: SessionsCommand, terminal: Terminal) -> anyhow::Result<i32> {
    match command {
        SessionsCommand::List { cwd } => list(cwd, terminal).await,
        SessionsCommand::Agents(args) => agents::list(args, terminal).await,
        SessionsCommand::Show { session, agent } => show(&file(&session, agent.as_deref())?),
        SessionsCommand::Rename { session, title } => change::rename(&session, &title).await,
        SessionsCommand::Tag { session, tag, .. } => change::tag(&session, tag.as_deref()).await,
        SessionsCommand::Delete { sessions } => change::delete(&sessions).await,
        SessionsCommand::Rewind(args) => rewind::rewind(args, terminal).await,
        SessionsCommand::Fork(args) => {
            writeln!(stdout(), "{}", change::fork(args).await?)?;
            Ok(0)
        }
        SessionsCommand::Check { sessions } => check(&sessions),
        SessionsCommand::Export { session, agent, format: ExportFormat::Messages } => {
            writeln!(stdout(), "{}", export_file(&file(&session, agent.as_deref())?)?)?;
            Ok(0)
        }
    }
}

fn store(home: &Home) -> JsonlStore {
    JsonlStore::with_imports(home.root(), home.also_read().to_vec())
}

async fn list(cwd: Option<PathBuf>, terminal: Terminal) -> anyhow::Result<i32> {
    let cwd = cwd.unwrap_or_else(|| PathBuf::from("."));
    let project = cwd
        .canonicalize()
        .map_err(|error| anyhow::anyhow!("the directory {} cannot be used: {error}", cwd.display()))?;
    let mut out = stdout().lock();
    let home = Home::from_env().map_err(of_start)?;
    let Listed { sessions, skipped, .. } = store(&home).list_all(&ProjectKey::of(&project)).await?;
    for skipped in skipped {
        let _ = writeln!(stderr(), "warning: {}", clean(&skipped.to_string()));
    }
    if terminal.stdout && sessions.is_empty() {
        let _ = writeln!(stderr(), "no sessions in {}", clean(&project.to_string_lossy()));
    }
    for session in sessions {
        if terminal.stdout {
            let summary = clean_line(&session.summary);
            let short: String = summary.chars().take(60).collect();
            let more = if short.len() < summary.len() { "…" } else { "" };
            writeln!(out, "{}  {:>9}  {short}{more}", session.session_id, age(session.last_modified))?;
        } else {
            jsonl::write(&mut out, &session)?;
        }
    }
    Ok(0)
}

/// How long ago something was, in the largest unit that fits; the time is in milliseconds since 1970.
fn age(then: u64) -> String {
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default().as_secs();
    let seconds = now.saturating_sub(then / 1000);
    match seconds {
        0..60 => "just now".to_owned(),
        60..3600 => format!("{} min ago", seconds / 60),
        3600..86_400 => format!("{} h ago", seconds / 3600),
        _ => format!("{} d ago", seconds / 86_400),
    }
}

/// The file of a session that is given by its path or its id, or of an agent of a session that is given by its id.
fn file(given: &str, agent: Option<&str>) -> anyhow::Result<PathBuf> {
    let path = Path::new(given);
    let id = SessionId::from(given.to_ascii_lowercase());
    if agent.is_none() && (path.exists() || (!id.is_uuid() && path.components().count() > 1)) {
        return Ok(path.to_path_buf());
    }
    anyhow::ensure!(agent.is_none() || id.is_uuid(), "--agent needs the id of a session, and {given:?} is none");
    anyhow::ensure!(id.is_uuid(), "{given:?} is neither a file nor the id of a session");
    let home = Home::from_env().map_err(of_start)?;
    let mut key = find(&home, given)?;
    if let Some(agent) = agent {
        key = key.of_agent(AgentId::new(agent));
        key.check_agent()?;
    }
    let roots = std::iter::once(home.root()).chain(home.also_read().iter().map(PathBuf::as_path));
    let mut paths = roots.map(|root| JsonlStore::new(root).log_path(&key));
    paths.find(|path| path.exists()).ok_or_else(|| match agent {
        Some(agent) => anyhow::anyhow!(
            "the session has no agent {agent:?}; `windlass sessions agents {id}` lists those that it has"
        ),
        None => anyhow::anyhow!("the session {given} has no file any more"),
    })
}

/// The session with this id.
fn find(home: &Home, given: &str) -> anyhow::Result<SessionKey> {
    let key = store(home).find(&SessionId::from(given.to_ascii_lowercase()))?;
    key.ok_or_else(|| anyhow::anyhow!("No conversation found with session ID: {given}"))
}

#[derive(Serialize)]
struct Checked<'a> {
    file: &'a str,
    #[serde(flatten)]
    report: CheckReport,
}

#[derive(Serialize)]
struct Unreadable<'a> {
    file: &'a str,
    error: String,
    valid: bool,
}

/// Checks files and returns the exit code: 1 when one cannot be read or is no
/// conversation that could be continued.
fn check(sessions: &[String]) -> anyhow::Result<i32> {
    let (mut invalid, mut out) = (false, stdout().lock());
    for given in sessions {
        let checked = file(given, None).and_then(|path| Ok((check_file(&path)?, path)));
        match checked {
            Ok((report, path)) => {
                invalid |= !report.valid;
                jsonl::write(&mut out, &Checked { file: &path.to_string_lossy(), report })?;
            }
            Err(error) => {
                invalid = true;
                jsonl::write(&mut out, &Unreadable { file: given, error: format!("{error:#}"), valid: false })?;
            }
        }
    }
    Ok(i32::from(invalid))
}

/// Prints the conversation for people.
fn show(path: &Path) -> anyhow::Result<i32> {
    let messages: Vec<Message> = serde_json::from_str(&export_file(path)?)?;
    if messages.is_empty() {
        return Err(
            Usage(format!("{} holds no conversation; `windlass sessions check` shows why", path.display())).into()
        );
    }
    let mut out = stdout().lock();
    for message in &messages {
        for block in &message.content {
            let (who, text) = match (block, message.role) {
                (ContentBlock::ToolUse(call), _) => (format!("● {}", call.name), call.input.to_string()),
                (ContentBlock::ToolResult(result), _) => {
                    let mark = if result.is_error { "✗" } else { "└" };
                    (mark.to_owned(), result.content.text())
                }
                (ContentBlock::Thinking { thinking, .. }, _) => ("(thinking)".to_owned(), thinking.clone()),
                // What the runtime wrote to the model; `export` has it.
                (ContentBlock::Text { text }, Role::User) if is_reminder(text) => continue,
                (block, Role::User) => (">".to_owned(), text_of(block)),
                (block, _) => ("<".to_owned(), text_of(block)),
            };
            writeln!(out, "{} {}", clean(&who), clean(&text).trim_end().replace('\n', "\n  "))?;
        }
    }
    Ok(0)
}

fn text_of(block: &ContentBlock) -> String {
    block.as_text().map_or_else(|| "[not text]".to_owned(), str::to_owned)
}
