//! The whole history of a stored session, from its log.

use serde::Deserialize;
use std::io;
use windlass::session::StoredSession;
use windlass::store::read_log;
use windlass::store::{Entry, EntryKind};
use windlass_acp::{AcpError, HistoryEntry};

/// Reads the history of a session, with all that was said before compactions.
pub(super) async fn read(stored: StoredSession) -> Result<Vec<HistoryEntry>, AcpError> {
    let path = stored.log.clone();
    let read = tokio::task::spawn_blocking(move || std::fs::read(path).and_then(|log| entries(&log))).await;
    let unreadable = |error: &dyn std::fmt::Display| {
        AcpError::internal(format!("the log of the session {} cannot be read: {error}", stored.id))
    };
    let entries = read.map_err(|error| unreadable(&error))?.map_err(|error| unreadable(&error))?;
    let mut history: Vec<HistoryEntry> = entries.into_iter().filter_map(entry).collect();
    if let Some(title) = stored.summary.and_then(|summary| summary.custom_title) {
        history.push(HistoryEntry::Title(title));
    }
    Ok(history)
}

/// Entries of all parts of a log. A conversation begins anew at each boundary, so what was said before one is the
/// conversation of the log up to there.
fn entries(log: &[u8]) -> io::Result<Vec<Entry>> {
    let mut all = Vec::new();
    for end in boundaries(log).into_iter().chain([log.len()]) {
        let part = log.get(..end).unwrap_or_default();
        all.extend(read_log(part)?.entries);
    }
    Ok(all)
}

/// Offsets of the lines at which a conversation was replaced by a summary.
fn boundaries(log: &[u8]) -> Vec<usize> {
    #[derive(Deserialize)]
    struct SubtypeLine {
        #[serde(default)]
        subtype: Option<String>,
    }
    let mut at = 0;
    let mut boundaries = Vec::new();
    for line in log.split_inclusive(|byte| *byte == b'\n') {
        let subtype = serde_json::from_slice::<SubtypeLine>(line).ok().and_then(|line| line.subtype);
        if subtype.as_deref() == Some("compact_boundary") {
            boundaries.push(at);
        }
        at += line.len();
    }
    boundaries
}

fn entry(entry: Entry) -> Option<HistoryEntry> {
    match entry.kind {
        EntryKind::User(user) if user.is_meta || user.is_summary => None,
        EntryKind::User(user) => Some(HistoryEntry::Prompt(user.content)),
        EntryKind::Assistant(message) => Some(HistoryEntry::Message(message.content)),
        EntryKind::ToolResult(result) => Some(HistoryEntry::Result(result.result)),
        EntryKind::Todos(todos) => Some(HistoryEntry::Todos(todos)),
        _ => None,
    }
}
