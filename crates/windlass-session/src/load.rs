//! Reading of logs in any state.

mod conversation;
mod coverage;
mod emit;
mod group;
mod lines;
mod scan;
#[cfg(test)]
mod tests;

pub(crate) use coverage::Coverage;
pub(crate) use scan::{Scanned, scan};

use crate::codec::{MessageLine, ResultLine};
use crate::rewound::is_mark;
use crate::store::LoadReport;
use std::io::{self, BufRead};
use windlass_types::{Entry, EntryId, EntryKind, JsonText, Timestamp, UserEntry};

/// A log that was read.
#[derive(Debug)]
#[non_exhaustive]
pub struct Log {
    /// Entries of the current conversation in order, and entries beside it.
    pub entries: Vec<Entry>,
    /// Report of the findings.
    pub report: LoadReport,
    /// Number of bytes read.
    pub bytes: u64,
}

/// Reads a log. Accepts any bytes: unusable content is skipped and reported with its line number, and no line is lost
/// because of another one.
///
/// The conversation is the one that ends in the last line without a successor. If the parent of a line is lost, the
/// nearest earlier line takes its place. The entries are not yet repaired ([`crate::repair`]).
///
/// # Errors
/// Only those of the reader.
pub fn read_log(reader: impl BufRead) -> io::Result<Log> {
    Ok(log_of(scan(reader)?))
}

/// Reads the log of an agent below the main one, like [`read_log`] for a session. Its lines are marked as outside the
/// session's own conversation (`isSidechain`); in a log of its own that mark is ignored.
///
/// # Errors
/// Only those of the reader.
pub fn read_agent_log(reader: impl BufRead) -> io::Result<Log> {
    let mut scanned = scan(reader)?;
    scanned.take_agent();
    Ok(log_of(scanned))
}

/// Reads a log of either kind: a log without a line of a session's own conversation is that of an agent.
pub(crate) fn read_any_log(reader: impl BufRead) -> io::Result<Log> {
    let mut scanned = scan(reader)?;
    if !scanned.nodes.iter().any(Node::is_chained) {
        scanned.take_agent();
    }
    Ok(log_of(scanned))
}

impl Scanned {
    /// Returns the entries in the order of their lines, of all branches, each with the number of its last line.
    pub(crate) fn into_appended(self) -> Vec<(u64, Entry)> {
        emit::emit_appended(self.nodes)
    }
}

fn log_of(scanned: Scanned) -> Log {
    let mut report = scanned.report;
    let conversation = conversation::choose(&scanned.nodes, scanned.by_id);
    conversation.report(&scanned.nodes, &mut report);
    let entries = emit::emit(scanned.nodes, &conversation, &mut report);
    report.entries = entries.len();
    report.messages = entries.iter().filter(|entry| entry.is_conversation()).count();
    Log { entries, report, bytes: scanned.bytes }
}

/// A record of the log, or one of several in a line. Nodes are numbered in file order.
#[derive(Debug)]
pub(crate) struct Node {
    /// Number of its line, from one.
    pub(crate) line: u64,
    pub(crate) id: EntryId,
    parent: Link,
    pub(crate) timestamp: Timestamp,
    /// `true` for a record of another agent's conversation.
    aside: bool,
    pub(crate) body: NodeBody,
}

/// Predecessor of a node in its conversation.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Link {
    /// None: the conversation begins with the node.
    Root,
    /// Record with this id.
    Id(EntryId),
    /// Node with this index.
    Node(usize),
    /// Unknown.
    Unknown,
}

#[derive(Debug)]
pub(crate) enum NodeBody {
    User { user: UserEntry, is_summary: bool },
    Assistant(MessageLine),
    Result(ResultLine),
    Passive { json: JsonText, boundary: Option<Option<EntryId>> },
    Beside(EntryKind),
}

impl Node {
    /// `true` if the node is part of the conversation.
    fn is_chained(&self) -> bool {
        !self.aside && !matches!(self.body, NodeBody::Beside(_))
    }

    /// `true` if the node is of a kind that conversations end in.
    fn is_plain(&self) -> bool {
        match &self.body {
            NodeBody::User { user, .. } => !user.is_meta,
            NodeBody::Assistant(_) | NodeBody::Result(_) => true,
            NodeBody::Passive { json, .. } => is_mark(json),
            NodeBody::Beside(_) => false,
        }
    }
}
