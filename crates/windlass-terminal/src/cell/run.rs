//! Notices, local output, ends of runs, background work.

use super::tool::{KeptText, wrapped};
use crate::cell::Fold;
use crate::layout::{Layout, duration, plural, prefixed, tokens};
use crate::text::Line;
use crate::theme::Role;
use windlass_types::{NanoUsd, RunResult};

/// Rows of the output of a local command that are shown while it is folded.
const LOCAL_ROWS: usize = 60;

/// Weight of a notice.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum NoticeLevel {
    /// Nothing to do.
    Info,
    /// A fact to know before going on.
    Warning,
    /// A failure.
    Error,
}

/// A notice for the user.
#[derive(Debug, Clone, PartialEq, Eq)]
#[expect(clippy::exhaustive_structs, reason = "programs make it")]
pub struct Notice {
    /// Weight.
    pub level: NoticeLevel,
    /// Text, in a sentence.
    pub text: String,
}

impl Notice {
    /// A notice.
    pub fn new(level: NoticeLevel, text: impl Into<String>) -> Self {
        Self { level, text: text.into() }
    }

    pub(super) fn rows(&self, layout: &Layout<'_>) -> Vec<Line> {
        let (mark, role) = match self.level {
            NoticeLevel::Info => (layout.glyphs.dot, Role::Faint),
            NoticeLevel::Warning => ("!", Role::Warning),
            NoticeLevel::Error => (layout.glyphs.failed, Role::Error),
        };
        let rows = wrapped(&self.text, role, &layout.narrowed(2));
        prefixed(rows, &layout.line(format!("{mark} "), role), &Line::plain("  "))
    }
}

/// Output of a command that ran without the model.
#[derive(Debug, Clone, PartialEq, Eq)]
#[expect(clippy::exhaustive_structs, reason = "programs make it")]
pub struct LocalOutput {
    /// Command as the user would write it, such as `/cost`. Empty if a cell with it stands above.
    pub command: String,
    /// Output.
    pub text: KeptText,
}

impl LocalOutput {
    pub(super) fn rows(&self, layout: &Layout<'_>, fold: Fold) -> Vec<Line> {
        let mark = layout.line(format!("{} ", layout.glyphs.bullet), Role::Accent);
        let mut rows = super::tool::title_rows(&self.command, &mark, layout);
        let inner = layout.narrowed(2);
        let lines = self.text.safe_lines();
        let most = if fold == Fold::Folded { LOCAL_ROWS } else { usize::MAX };
        let mut body: Vec<Line> = lines.iter().take(most).flat_map(|line| wrapped(line, Role::Text, &inner)).collect();
        if lines.len() > most {
            body.push(
                inner.line(format!("{} {}", inner.glyphs.ellipsis, plural(lines.len() - most, "line")), Role::Faint),
            );
        }
        let first = if self.command.is_empty() {
            layout.line(format!("{} ", layout.glyphs.elbow), Role::Faint)
        } else {
            Line::plain("  ")
        };
        rows.extend(prefixed(body, &first, &Line::plain("  ")));
        rows
    }
}

/// The end of a run.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct RunSummary {
    /// `true` if the model finished its answer.
    pub is_success: bool,
    /// The outcome in a sentence; empty for a success.
    pub message: String,
    /// Messages of the model.
    pub turns: u32,
    /// Tokens that the model read, and of them from the cache.
    pub input_tokens: u64,
    /// Tokens that the model wrote.
    pub output_tokens: u64,
    /// Cost of the session so far.
    pub cost: NanoUsd,
    /// Time of the run, in milliseconds.
    pub duration_ms: u64,
}

impl RunSummary {
    /// The summary of a result.
    #[must_use]
    pub fn new(result: &RunResult) -> Self {
        let is_success = result.outcome.is_success();
        Self {
            is_success,
            message: if is_success { String::new() } else { result.outcome.to_string() },
            turns: result.turns,
            input_tokens: result.usage.total_input(),
            output_tokens: result.usage.output_tokens,
            cost: result.cost,
            duration_ms: result.duration_ms,
        }
    }

    /// Figures of the run.
    pub(super) fn details(&self) -> Vec<String> {
        let mut details = vec![duration(self.duration_ms), plural(self.turns as usize, "turn")];
        if self.input_tokens + self.output_tokens > 0 {
            details.push(format!("{} tokens in, {} out", tokens(self.input_tokens), tokens(self.output_tokens)));
        }
        if self.cost != NanoUsd::ZERO {
            details.push(format!("{} so far", self.cost));
        }
        details
    }

    pub(super) fn rows(&self, layout: &Layout<'_>) -> Vec<Line> {
        let inner = layout.narrowed(2);
        let mut rows = Vec::new();
        if !self.is_success {
            let body = wrapped(&self.message, Role::Error, &inner);
            rows.push(Line::new());
            rows.extend(prefixed(
                body,
                &layout.line(format!("{} ", layout.glyphs.failed), Role::Error),
                &Line::plain("  "),
            ));
        }
        let body = wrapped(&layout.details(self.details()), Role::Faint, &inner);
        rows.extend(prefixed(body, &Line::plain("  "), &Line::plain("  ")));
        rows
    }
}

/// Phase of background work.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum TaskPhase {
    /// Began.
    Started,
    /// Did what it was to do.
    Completed,
    /// Failed.
    Failed,
    /// Was stopped.
    Stopped,
}

/// Beginning or end of background work.
#[derive(Debug, Clone, PartialEq, Eq)]
#[expect(clippy::exhaustive_structs, reason = "programs make it")]
pub struct TaskNote {
    /// Id of the work.
    pub id: String,
    /// Work in a line.
    pub description: String,
    /// Phase.
    pub phase: TaskPhase,
    /// Result in a sentence; empty at the beginning.
    pub summary: String,
    /// Time that it took, in milliseconds.
    pub duration_ms: u64,
}

impl TaskNote {
    /// The note in a line.
    pub(super) fn text(&self) -> String {
        let Self { id, description, .. } = self;
        match self.phase {
            TaskPhase::Started => format!("Background task {id} started: {description}"),
            TaskPhase::Completed => format!("Background task {id} completed: {description}"),
            TaskPhase::Failed => format!("Background task {id} failed: {description}. {}", self.summary),
            TaskPhase::Stopped => format!("Background task {id} was stopped: {description}"),
        }
    }

    pub(super) fn rows(&self, layout: &Layout<'_>) -> Vec<Line> {
        let (mark, role) = match self.phase {
            TaskPhase::Started => (layout.glyphs.active, Role::Faint),
            TaskPhase::Completed => (layout.glyphs.done, Role::Success),
            TaskPhase::Failed => (layout.glyphs.failed, Role::Error),
            TaskPhase::Stopped => (layout.glyphs.dot, Role::Faint),
        };
        let mut text = self.text();
        if self.duration_ms > 0 {
            text = layout.details([text, duration(self.duration_ms)]);
        }
        let rows = wrapped(&text, Role::Faint, &layout.narrowed(2));
        prefixed(rows, &layout.line(format!("{mark} "), role), &Line::plain("  "))
    }
}
