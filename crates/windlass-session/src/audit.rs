//! Audit of a log: the reason for the decision on each call, the answers to permission requests, and the changed files.
//!
//! The audit uses only the log. It reads every line, including those of abandoned branches and those that a summary
//! replaced.

mod changes;
mod fold;
mod head;
#[cfg(test)]
mod tests;

pub use changes::FileChanged;
pub use head::{BadHead, HeadCheck, LogHead, NamedHead};

use crate::LoadReport;
use crate::load::{Scanned, scan};
use serde::Serialize;
use std::io::{self, BufRead};
use windlass_types::{
    AgentId, AuditedDecision, EntryId, JsonText, PendingQuestion, PermissionMode, SessionId, Timestamp, ToolUseId,
};

/// Audit of one log.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct LogAudit {
    /// Calls, in the order of their lines.
    pub calls: Vec<CallAudit>,
    /// Reliability of the lines.
    pub lines: LineAudit,
}

/// Audit of one call. A field that is `None` or empty is not recorded: the log may be older, or of another program.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct CallAudit {
    /// Id of the call. Logs of other programs may reuse an id; each use is a separate call here.
    pub tool_use_id: ToolUseId,
    /// Tool of the call. `None` if the message with the call is lost.
    pub tool: Option<String>,
    /// Input as the model wrote it.
    pub input: Option<JsonText>,
    /// Line of the call.
    #[serde(flatten)]
    pub place: CallLine,
    /// Permission mode in force at the decision, or at the call if no decision is recorded.
    pub mode: Option<PermissionMode>,
    /// Decisions on the call, in order.
    pub verdicts: Vec<VerdictAudit>,
    /// Permission requests about the call that were kept for a later answer, in order.
    pub questions: Vec<QuestionAudit>,
    /// Time when its intent was first recorded, just before it ran. Read-only calls have none.
    pub begun: Option<Timestamp>,
    /// Agent whose answers the call waits for: the call stays open, and continues with that agent.
    pub waits_for: Option<AgentId>,
    /// Result of the call.
    pub result: Option<ResultAudit>,
    /// Files changed according to the result. Changes by programs are not recorded.
    pub changed: Vec<FileChanged>,
    /// State of all lines about the call.
    pub lines: LineState,
}

/// Line of a log that contains a call.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct CallLine {
    /// Number of the line that contains the call, or else of the first line about it, counted from one.
    pub line: u64,
    /// Id of that line.
    pub entry: EntryId,
    /// Time of that line.
    pub at: Timestamp,
}

/// A decision, and the time of its record.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct VerdictAudit {
    /// Time when the decision was recorded.
    pub at: Timestamp,
    /// Decision as recorded in the log.
    #[serde(flatten)]
    pub verdict: AuditedDecision,
}

/// A permission request that was kept for a later answer.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct QuestionAudit {
    /// Time when the request was sent.
    pub at: Timestamp,
    /// Request as recorded in the log, with the hash of its token.
    #[serde(flatten)]
    pub question: PendingQuestion,
    /// `true` if the request waits for an answer: no decision, result or intent followed.
    pub is_open: bool,
}

/// Result of a call.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct ResultAudit {
    /// Time when the result was recorded.
    pub at: Timestamp,
    /// `true` if the model read the result as an error.
    pub is_error: bool,
    /// `true` if the runtime created the result because the call never ended.
    pub is_made_up: bool,
}

/// Reliability of the lines of a log.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct LineAudit {
    /// Number of lines.
    pub total: u64,
    /// Lines that do not match their checksum: they were changed, added or removed later.
    pub altered: Vec<LineRange>,
    /// Lines without a checksum: another program wrote them, or the writer ended before a sync.
    pub unchecked: Vec<LineRange>,
    /// Damage of unusable lines, a sentence each.
    pub damage: Vec<String>,
}

/// Range of log lines, counted from one.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct LineRange {
    /// First line.
    pub first: u64,
    /// Last line.
    pub last: u64,
}

/// Integrity of lines. A checksum shows damage and careless changes; someone who changes a log on purpose can write new
/// checksums, which only a [`LogHead`] that is kept elsewhere shows.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum LineState {
    /// The lines match their checksum.
    Checked,
    /// No checksum covers the lines.
    Unchecked,
    /// The lines do not match their checksum.
    Altered,
}

/// Audit of all logs of a session.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct SessionAudit {
    /// Id of the session.
    pub session: SessionId,
    /// Log of the session, then those of the agents that worked for it.
    pub logs: Vec<NamedAudit>,
}

/// Audit of one of the logs of a session.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct NamedAudit {
    /// Agent of the log; `None` for the log of the session.
    pub agent: Option<AgentId>,
    /// Audit of the log.
    #[serde(flatten)]
    pub audit: LogAudit,
}

impl SessionAudit {
    /// Returns the audit of a session from those of its logs. The log of the session has no agent.
    pub fn new(session: SessionId, logs: impl IntoIterator<Item = (Option<AgentId>, LogAudit)>) -> Self {
        let logs = logs.into_iter().map(|(agent, audit)| NamedAudit { agent, audit }).collect();
        Self { session, logs }
    }

    /// Removes the calls for which `keep` returns `false`.
    pub fn keep_calls(&mut self, mut keep: impl FnMut(&CallAudit) -> bool) {
        for log in &mut self.logs {
            log.audit.calls.retain(&mut keep);
        }
    }

    /// Returns all calls, each with its agent; `None` is the main one.
    pub fn calls(&self) -> impl Iterator<Item = (Option<&AgentId>, &CallAudit)> {
        self.logs.iter().flat_map(|log| log.audit.calls.iter().map(|call| (log.agent.as_ref(), call)))
    }
}

/// Reads a log and returns its audit. Accepts any bytes: unusable lines are reported.
///
/// # Errors
/// Only those of the reader.
pub fn audit_log(reader: impl BufRead) -> io::Result<LogAudit> {
    let Scanned { nodes, report, coverage, lines, .. } = scan(reader)?;
    let calls = fold::calls(nodes, &coverage);
    let ranges = |state| coverage.ranges(lines, state);
    let lines = LineAudit {
        total: lines,
        altered: ranges(LineState::Altered),
        unchecked: ranges(LineState::Unchecked),
        damage: damage(report),
    };
    Ok(LogAudit { calls, lines })
}

fn damage(report: LoadReport) -> Vec<String> {
    let unlisted = report.skipped_total.saturating_sub(report.skipped.len());
    let skipped = report.skipped.into_iter().map(|skipped| format!("line {}: {}", skipped.line, skipped.reason));
    let more = (unlisted > 0).then(|| format!("{unlisted} more lines could not be used"));
    skipped.chain(more).collect()
}
