//! Checks of a log without changes to it.

use crate::load::read_any_log;
use crate::{RenamedCall, SkippedLine, Transcript, check_messages, repair};
use std::io::{self, BufRead};
use windlass_types::Entry;

/// Maximum number of calls with reused ids that are named in warnings.
const LISTED_CALLS: usize = 20;

/// Findings of a log check.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize)]
#[non_exhaustive]
pub struct CheckReport {
    /// Number of entries that were read, of the conversation and beside it.
    pub entries: usize,
    /// Number of messages that a request would contain.
    pub messages: usize,
    /// Unusable lines, or parts of lines (the first thousand).
    pub skipped: Vec<SkippedLine>,
    /// Number of lines that a kill cut off while they were written. They were never acknowledged.
    pub torn: usize,
    /// Number of lines that a summary replaces.
    pub compacted: usize,
    /// Number of lines whose parent is lost. The warnings name them.
    pub lost_parents: usize,
    /// Number of results created for calls without one.
    pub synthetic_results: usize,
    /// Number of results that answer no call, or one that is answered already.
    pub dropped_results: usize,
    /// Number of calls with the id of an earlier one, or without one. They get another id.
    pub renamed_calls: usize,
    /// `true` if the rest is a conversation that can be sent. A log of which only damage is left is not valid.
    pub valid: bool,
    /// Unusual but usable content (the first thousand findings).
    pub warnings: Vec<String>,
}

/// Reads and repairs a log in memory and reports the findings.
///
/// # Errors
/// Only those of the reader.
pub fn check_log(reader: impl BufRead) -> io::Result<CheckReport> {
    let log = read_any_log(reader)?;
    let entries = log.report.entries;
    let (repaired, repairs) = repair(log.entries);
    let messages = Transcript::from_entries(&repaired).messages();
    let mut warnings = log.report.warnings;
    let checked = check_messages(messages.iter().map(|message| &**message));
    let mut warn = |holds: bool, text: String| {
        if holds {
            warnings.push(text);
        }
    };
    warn(repairs.beginning_lost, "the beginning of the conversation is lost".to_owned());
    warn(repairs.moved_results > 0, format!("{} results stood in another place", repairs.moved_results));
    warn(repairs.dropped_messages > 0, format!("{} messages have no content", repairs.dropped_messages));
    warn(log.report.off_branch > 0, format!("{} lines are on another branch", log.report.off_branch));
    for call in repairs.renamed.iter().take(LISTED_CALLS) {
        let RenamedCall { message, given, id } = call;
        warn(true, format!("the id {given:?} of a call is used again in the message {message}: it goes by {id:?}"));
    }
    let more = repairs.renamed.len().saturating_sub(LISTED_CALLS);
    warn(more > 0, format!("{more} more calls use an id again"));
    let unlisted = log.report.skipped_total.saturating_sub(log.report.skipped.len());
    warn(unlisted > 0, format!("{unlisted} more skipped lines are not listed"));
    if let Err(rule) = &checked {
        warnings.push(rule.clone());
    }
    Ok(CheckReport {
        entries,
        messages: messages.len(),
        valid: checked.is_ok() && (!messages.is_empty() || log.report.skipped.is_empty()),
        skipped: log.report.skipped,
        torn: log.report.torn,
        compacted: log.report.compacted,
        lost_parents: log.report.lost_parents,
        synthetic_results: repairs.synthetic.len(),
        dropped_results: repairs.dropped_results,
        renamed_calls: repairs.renamed.len(),
        warnings,
    })
}

/// Returns the messages that a request would contain if the session continued: a JSON array, with the exact text of
/// every tool input.
///
/// # Errors
/// Only those of the reader.
pub fn export_messages(reader: impl BufRead) -> io::Result<String> {
    Ok(export_entries(read_any_log(reader)?.entries))
}

/// Returns the messages that a request would contain if a session with these entries continued: a JSON array, with the
/// exact text of every tool input. The entries may be damaged; they are repaired first.
pub fn export_entries(entries: Vec<Entry>) -> String {
    let (entries, _) = repair(entries);
    let messages = Transcript::from_entries(&entries).messages();
    let messages: Vec<&str> = messages.iter().map(|message| message.json()).collect();
    format!("[{}]", messages.join(","))
}
