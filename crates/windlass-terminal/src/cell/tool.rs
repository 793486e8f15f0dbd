//! Tool calls with their results.

use crate::cell::Fold;
use crate::diff::diff_rows;
use crate::layout::{Layout, bytes, duration, plural, prefixed, tokens};
use crate::text::{Line, safe_lines, wrap, wrap_exact};
use crate::theme::Role;

/// Most bytes that are kept of one end of a result.
const MOST_END: usize = 32 * 1024;
/// Most rows of a title.
const TITLE_ROWS: usize = 4;
/// Rows of a result that are shown while it is folded.
const FOLDED_ROWS: usize = 4;
/// Rows of a failure that are shown while it is folded.
const FAILED_ROWS: usize = 8;
/// Rows of a diff that are shown while it is folded.
const DIFF_ROWS: usize = 40;
/// Tools whose results are of use to the model alone: their size is enough.
const QUIET: [&str; 8] = ["Read", "Grep", "Glob", "LS", "NotebookRead", "TodoWrite", "WebFetch", "ToolSearch"];

/// A text of which at most both ends are kept, 32 KiB each.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
#[non_exhaustive]
pub struct KeptText {
    /// Beginning.
    pub head: String,
    /// End, behind a part that was left out; empty if nothing was.
    pub tail: String,
    /// Lines of the whole text.
    pub lines: usize,
    /// Bytes of the whole text.
    pub bytes: usize,
}

impl KeptText {
    /// The ends of a text.
    #[must_use]
    pub fn new(text: &str) -> Self {
        let (lines, bytes) = (text.lines().count(), text.len());
        if bytes <= 2 * MOST_END {
            return Self { head: text.to_owned(), tail: String::new(), lines, bytes };
        }
        let boundary = |at: usize| (0..=at).rev().find(|at| text.is_char_boundary(*at)).unwrap_or(0);
        let head = text.get(..boundary(MOST_END)).unwrap_or_default();
        let tail = text.get(boundary(bytes - MOST_END)..).unwrap_or_default();
        Self { head: head.to_owned(), tail: tail.to_owned(), lines, bytes }
    }

    pub(super) fn size(&self) -> usize {
        self.head.len() + self.tail.len()
    }

    /// At most so many lines with text, from the end if `is_end` is set, and `true` if there are more. Without a limit also lines
    /// without text.
    fn shown_lines(&self, most: usize, is_end: bool) -> (Vec<String>, bool) {
        if most == usize::MAX {
            return (self.safe_lines(), false);
        }
        // Long results are common, and few of their lines are shown: the others need not be made safe.
        let has_text = |line: &&str| !line.trim().is_empty();
        let all = || self.head.lines().chain(self.tail.lines()).filter(has_text);
        let is_cut = all().nth(most).is_some();
        let mut lines: Vec<&str> = if is_end { all().rev().take(most).collect() } else { all().take(most).collect() };
        if is_end {
            lines.reverse();
        }
        (lines.iter().flat_map(|line| safe_lines(line)).collect(), is_cut)
    }

    /// Lines that were kept, safe to show, with a note where others were left out.
    pub(super) fn safe_lines(&self) -> Vec<String> {
        let mut lines = safe_lines(&self.head);
        if !self.tail.is_empty() {
            lines.push(format!("... {} left out", bytes(self.bytes - self.size())));
            lines.extend(safe_lines(&self.tail));
        }
        lines
    }
}

/// Outcome of a call.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum CallOutcome {
    /// The call gave a result.
    Done,
    /// The result is an error.
    Failed,
    /// The call did not run, for this reason.
    Denied(String),
}

/// Work of an agent that a call ran.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[non_exhaustive]
pub struct AgentWork {
    /// Tool calls.
    pub calls: usize,
    /// Tokens, read and written.
    pub tokens: u64,
}

/// A finished tool call.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct ToolCall {
    /// Name of the tool.
    pub tool: String,
    /// One line that names what the call does. A shell command whole, behind `$`.
    pub title: String,
    /// Outcome.
    pub outcome: CallOutcome,
    /// Result.
    pub output: KeptText,
    /// Unified diff of what changed on disk.
    pub diff: Option<String>,
    /// Time that it took, in milliseconds; zero if it did not run.
    pub duration_ms: u64,
    /// Work of the agent that it ran.
    pub agent: Option<AgentWork>,
}

impl ToolCall {
    /// A call that gave this result.
    pub fn new(tool: impl Into<String>, title: impl Into<String>, outcome: CallOutcome, output: &str) -> Self {
        Self {
            tool: tool.into(),
            title: title.into(),
            outcome,
            output: KeptText::new(output),
            diff: None,
            duration_ms: 0,
            agent: None,
        }
    }

    pub(super) fn size(&self) -> usize {
        self.tool.len() + self.title.len() + self.output.size() + self.diff.as_ref().map_or(0, String::len)
    }

    pub(super) fn rows(&self, layout: &Layout<'_>, fold: Fold) -> Vec<Line> {
        let mut rows = title_rows(&self.title, &self.mark(layout), layout);
        let inner = layout.narrowed(4);
        let body = match (&self.outcome, &self.diff) {
            (CallOutcome::Denied(reason), _) => wrapped(&format!("Denied: {reason}"), Role::Error, &inner),
            (CallOutcome::Done, Some(diff)) => {
                let most = if fold == Fold::Folded { DIFF_ROWS } else { usize::MAX };
                diff_rows(diff, &inner, most)
            }
            _ => self.output_rows(&inner, fold),
        };
        let first = layout.line(format!("  {} ", layout.glyphs.elbow), Role::Faint);
        rows.extend(prefixed(body, &first, &Line::plain("    ")));
        rows
    }

    fn mark(&self, layout: &Layout<'_>) -> Line {
        let role = if self.outcome == CallOutcome::Done { Role::Success } else { Role::Error };
        layout.line(format!("{} ", layout.glyphs.bullet), role)
    }

    /// Lines of the result and its size, time and agent.
    fn output_rows(&self, layout: &Layout<'_>, fold: Fold) -> Vec<Line> {
        let is_failed = self.outcome == CallOutcome::Failed;
        let role = if is_failed { Role::Error } else { Role::Faint };
        let most = match fold {
            Fold::Expanded => usize::MAX,
            Fold::Folded if is_failed => FAILED_ROWS,
            Fold::Folded if self.is_quiet() => 0,
            Fold::Folded => FOLDED_ROWS,
        };
        let (lines, is_cut) = self.output.shown_lines(most, self.tool == "Bash");
        let mut rows = Vec::new();
        for line in &lines {
            let wrapped = wrap_exact(&layout.line(line, role), layout.columns);
            let most = if fold == Fold::Expanded { usize::MAX } else { 2 };
            rows.extend(wrapped.into_iter().take(most));
        }
        let details = layout.details(self.details(is_cut));
        if !details.is_empty() {
            rows.extend(wrapped(&details, Role::Faint, layout));
        }
        rows
    }

    /// `true` if the size of the result is enough for people.
    pub(super) fn is_quiet(&self) -> bool {
        self.agent.is_some() || QUIET.contains(&self.tool.as_str())
    }

    pub(super) fn details(&self, is_cut: bool) -> Vec<String> {
        let mut details = Vec::new();
        if let Some(work) = &self.agent {
            details.push(plural(work.calls, "call"));
            details.push(format!("{} tokens", tokens(work.tokens)));
        } else if self.output.lines == 0 {
            details.push("no output".to_owned());
        } else if is_cut {
            details.push(plural(self.output.lines, "line"));
            details.push(bytes(self.output.bytes));
        }
        if self.duration_ms >= 100 {
            details.push(duration(self.duration_ms));
        }
        details
    }
}

/// Rows of a title behind a mark, at most four.
pub(crate) fn title_rows(title: &str, mark: &Line, layout: &Layout<'_>) -> Vec<Line> {
    let style = layout.style(Role::Tool);
    let room = layout.narrowed(2).columns;
    let lines = safe_lines(title);
    let mut rows: Vec<Line> = lines
        .iter()
        .flat_map(|line| wrap(&Line::styled(line, style), room, &Line::plain("  ")))
        .take(TITLE_ROWS + 1)
        .collect();
    if rows.len() > TITLE_ROWS {
        rows.truncate(TITLE_ROWS);
        rows.push(layout.line(layout.glyphs.ellipsis, Role::Faint));
    }
    prefixed(rows, mark, &Line::plain("  "))
}

pub(super) fn wrapped(text: &str, role: Role, layout: &Layout<'_>) -> Vec<Line> {
    let lines = safe_lines(text);
    lines.iter().flat_map(|line| wrap(&layout.line(line, role), layout.columns, &Line::new())).collect()
}
