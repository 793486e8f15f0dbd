//! What a log says of its calls: why each ran or did not, who was asked, and which files it changed.
//!
//! All of it comes from the log alone. Every line is read, also those of branches that the conversation left and those that
//! a summary stands for.

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

/// What one log says of its calls.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct LogAudit {
    /// The calls, in the order of their lines.
    pub calls: Vec<CallAudit>,
    /// Which lines can be relied on.
    pub lines: LineAudit,
}

/// What the log says of one call. Whatever is `None` or empty is not recorded: the log may be older, or of another program.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct CallAudit {
    /// The call. Logs of other programs may use an id again; each use is a call of its own here.
    pub tool_use_id: ToolUseId,
    /// Its tool. `None` if the message that holds the call is lost.
    pub tool: Option<String>,
    /// The input that the model gave.
    pub input: Option<JsonText>,
    /// The line that it is in.
    #[serde(flatten)]
    pub place: CallLine,
    /// The permission mode in force when the call was judged, or made if no verdict is recorded.
    pub mode: Option<PermissionMode>,
    /// The verdicts on it, in order.
    pub verdicts: Vec<VerdictAudit>,
    /// The questions about it that were kept for a later answer, in order.
    pub questions: Vec<QuestionAudit>,
    /// When its intent was first recorded: it was about to run. Calls that only read have none.
    pub begun: Option<Timestamp>,
    /// The agent whose answers it waits for: it stays open, and continues with that.
    pub waits_for: Option<AgentId>,
    /// How it ended.
    pub result: Option<ResultAudit>,
    /// The files that its result says it changed. What programs change is not recorded.
    pub changed: Vec<FileChanged>,
    /// Whether all lines that speak of it are as they were written.
    pub lines: LineState,
}

/// The line of a log that a call is in.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct CallLine {
    /// The line of the log that holds the call, or else the first that speaks of it, counted from one.
    pub line: u64,
    /// The id of that line.
    pub entry: EntryId,
    /// When that line was made.
    pub at: Timestamp,
}

/// A verdict, and when it was recorded.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct VerdictAudit {
    /// When it was recorded.
    pub at: Timestamp,
    /// The verdict as the log has it.
    #[serde(flatten)]
    pub verdict: AuditedDecision,
}

/// A question that was kept for a later answer.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct QuestionAudit {
    /// When it was asked.
    pub at: Timestamp,
    /// The question as the log has it, with the hash of its token.
    #[serde(flatten)]
    pub question: PendingQuestion,
    /// Whether it waits for an answer: no verdict, result or intent followed.
    pub is_open: bool,
}

/// How a call ended.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct ResultAudit {
    /// When the result was recorded.
    pub at: Timestamp,
    /// Whether the model read it as an error.
    pub is_error: bool,
    /// Whether the runtime made it because the call never ended.
    pub is_made_up: bool,
}

/// Which lines of a log can be relied on.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct LineAudit {
    /// How many lines there are.
    pub total: u64,
    /// Lines that do not match the checksum that was written behind them: they were changed, added or removed since.
    pub altered: Vec<LineRange>,
    /// Lines that no checksum covers: another program wrote them, or the one that did ended before they were synced.
    pub unchecked: Vec<LineRange>,
    /// Lines that could not be used, a sentence each.
    pub damage: Vec<String>,
}

/// Lines of a log, counted from one.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct LineRange {
    /// The first.
    pub first: u64,
    /// The last.
    pub last: u64,
}

/// Whether lines are as they were written. A checksum shows damage and careless changes; someone who changes a log on purpose
/// can write new ones, which only a [`LogHead`] that is kept elsewhere shows.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum LineState {
    /// They match their checksum.
    Checked,
    /// No checksum covers them.
    Unchecked,
    /// They do not match their checksum.
    Altered,
}

/// What the logs of a session say of its calls.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct SessionAudit {
    /// The session.
    pub session: SessionId,
    /// Its log, then those of the agents that worked for it.
    pub logs: Vec<NamedAudit>,
}

/// The audit of one of the logs of a session.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct NamedAudit {
    /// The agent whose log it is; `None` for that of the session.
    pub agent: Option<AgentId>,
    /// What it says.
    #[serde(flatten)]
    pub audit: LogAudit,
}

impl SessionAudit {
    /// The audit of a session, of those of its logs. The log of the session has no agent.
    pub fn new(session: SessionId, logs: impl IntoIterator<Item = (Option<AgentId>, LogAudit)>) -> Self {
        let logs = logs.into_iter().map(|(agent, audit)| NamedAudit { agent, audit }).collect();
        Self { session, logs }
    }

    /// Leaves out the calls for which the function is false.
    pub fn keep_calls(&mut self, mut keep: impl FnMut(&CallAudit) -> bool) {
        for log in &mut self.logs {
            log.audit.calls.retain(&mut keep);
        }
    }

    /// All calls, each with the agent that made it; `None` is the main one.
    pub fn calls(&self) -> impl Iterator<Item = (Option<&AgentId>, &CallAudit)> {
        self.logs.iter().flat_map(|log| log.audit.calls.iter().map(|call| (log.agent.as_ref(), call)))
    }
}

/// What a log says of its calls. Any bytes will do: what cannot be used is reported.
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
