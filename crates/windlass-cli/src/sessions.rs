//! `windlass sessions`: stored sessions.

mod agents;
mod audit;
mod change;
mod command;
mod gc;
mod listing;
pub(crate) mod pending;
mod rewind;
mod stats;
mod title;

pub(crate) use command::SessionsCommand;

use crate::failure::{Usage, of_start};
use crate::jsonl;
use crate::terminal::{Terminal, clean};
use command::ExportFormat;
use serde::Serialize;
use std::io::{Write, stdout};
use std::path::Path;
use std::time::{SystemTime, UNIX_EPOCH};
use windlass::crates::context::is_reminder;
use windlass::crates::session::CheckReport;
use windlass::crates::store::{check_file, export_file};
use windlass::crates::types::Role;
use windlass::{
    ContentBlock, Error, Home, SessionBuilder, SessionId, event::AgentId, provider::Message, session::StoredSession,
};

/// Carries out a command and returns the exit code.
pub(crate) async fn sessions(command: SessionsCommand, terminal: Terminal) -> anyhow::Result<i32> {
    match command {
        SessionsCommand::List(args) => listing::list(args, terminal).await,
        SessionsCommand::Search(args) => listing::search(args, terminal).await,
        SessionsCommand::Stats(args) => stats::stats(args, terminal).await,
        SessionsCommand::Agents(args) => agents::list(args, terminal).await,
        SessionsCommand::Show { session, agent } => show(&session, agent.as_deref()).await,
        SessionsCommand::Rename { session, title } => change::rename(&session, &title).await,
        SessionsCommand::Title(args) => title::title(args).await,
        SessionsCommand::Tag { session, tag, .. } => change::tag(&session, tag.as_deref()).await,
        SessionsCommand::Delete { sessions } => change::delete(&sessions).await,
        SessionsCommand::Audit(args) => audit::audit(args, terminal).await,
        SessionsCommand::Pending(args) => pending::list(args, terminal).await,
        SessionsCommand::Answer(args) => pending::answer(args).await,
        SessionsCommand::Gc(args) => gc::gc(args, terminal).await,
        SessionsCommand::Rewind(args) => rewind::rewind(args, terminal).await,
        SessionsCommand::Fork(args) => {
            writeln!(stdout(), "{}", change::fork(args).await?)?;
            Ok(0)
        }
        SessionsCommand::Check { sessions } => check(&sessions).await,
        SessionsCommand::Export { session, agent, format: ExportFormat::Messages } => {
            writeln!(stdout(), "{}", Source::named(&session, agent.as_deref()).await?.export().await?)?;
            Ok(0)
        }
    }
}

/// Resumes the session that is given by its id or its title.
pub(crate) fn resumed(builder: SessionBuilder, given: &str) -> SessionBuilder {
    match SessionId::from(given.to_ascii_lowercase()).is_uuid() {
        true => builder.resume(given),
        false => builder.resume_titled(given),
    }
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

/// A log that a command names: a file, a session, or an agent of a session.
enum Source<'a> {
    File(&'a Path),
    Session { home: Home, stored: Box<StoredSession>, agent: Option<AgentId> },
}

impl<'a> Source<'a> {
    /// The log that is given by its path or by its session's id; that of an agent by its session's id.
    async fn named(given: &'a str, agent: Option<&str>) -> anyhow::Result<Self> {
        let path = Path::new(given);
        let is_id = SessionId::from(given.to_ascii_lowercase()).is_uuid();
        if agent.is_none() && (path.exists() || (!is_id && path.components().count() > 1)) {
            return Ok(Self::File(path));
        }
        anyhow::ensure!(agent.is_none() || is_id, "--agent needs the id of a session, and {given:?} is none");
        anyhow::ensure!(is_id, "{given:?} is neither a file nor the id of a session");
        let home = Home::from_env().map_err(of_start)?;
        let stored = Box::new(find(&home, given).await?);
        Ok(Self::Session { home, stored, agent: agent.map(AgentId::new) })
    }

    /// The file.
    fn path(&self) -> &Path {
        match self {
            Self::File(path) => path,
            Self::Session { stored, .. } => &stored.log,
        }
    }

    /// The messages that a request would carry.
    async fn export(&self) -> anyhow::Result<String> {
        match self {
            Self::File(path) => Ok(export_file(path)?),
            Self::Session { home, stored, agent: None } => Ok(home.export_session(&stored.id).await?),
            Self::Session { home, stored, agent: Some(agent) } => {
                home.export_agent(&stored.id, agent).await.map_err(|error| match error {
                    Error::NoAgent { id, agent } => anyhow::anyhow!(
                        "the session has no agent {:?}; `windlass sessions agents {id}` lists those that it has",
                        agent.as_str()
                    ),
                    error => error.into(),
                })
            }
        }
    }
}

/// The session with this id.
async fn find(home: &Home, given: &str) -> anyhow::Result<StoredSession> {
    let none = || anyhow::anyhow!("No conversation found with session ID: {given}");
    match home.find_session(given).await {
        Err(Error::BadSessionId { .. }) => Err(none()),
        found => found?.ok_or_else(none),
    }
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
async fn check(sessions: &[String]) -> anyhow::Result<i32> {
    let (mut invalid, mut out) = (false, stdout());
    for given in sessions {
        let checked = Source::named(given, None).await.and_then(|log| Ok((check_file(log.path())?, log)));
        match checked {
            Ok((report, log)) => {
                invalid |= !report.valid;
                jsonl::write(&mut out, &Checked { file: &log.path().to_string_lossy(), report })?;
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
async fn show(given: &str, agent: Option<&str>) -> anyhow::Result<i32> {
    let log = Source::named(given, agent).await?;
    let messages: Vec<Message> = serde_json::from_str(&log.export().await?)?;
    if messages.is_empty() {
        let path = log.path().display();
        return Err(Usage(format!("{path} holds no conversation; `windlass sessions check` shows why")).into());
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
                (ContentBlock::Text { text, .. }, Role::User) if is_reminder(text) => continue,
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
