//! `windlass sessions`: stored sessions.

mod agents;
pub(crate) mod audit;
mod change;
pub(crate) mod command;
pub(crate) mod found;
mod gc;
pub(crate) mod id;
mod listing;
pub(crate) mod pending;
pub(crate) mod retention;
mod rewind;
mod stats;
mod title;

use crate::failure::Usage;
use crate::jsonl;
use crate::terminal::{Terminal, clean};
use command::{ExportFormat, SessionsCommand};
use found::Source;
#[cfg(unix)]
pub(crate) use found::age;
use serde::Serialize;
use std::io::{Write, stdout};
use windlass::provider::Role;
use windlass::store::CheckReport;
use windlass::store::check_file;
use windlass::text::is_reminder;
use windlass::{ContentBlock, SessionId, provider::Message, session::Resume};

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

/// Chooses a session by its id or its title.
pub(crate) fn resumed(given: &str) -> Resume {
    match SessionId::from(given.to_ascii_lowercase()).is_uuid() {
        true => Resume::session(given),
        false => Resume::titled(given),
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
                // Reminders of the runtime to the model are left out; `export` has them.
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
