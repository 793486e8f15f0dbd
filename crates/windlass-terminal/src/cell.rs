//! Cells: the finished parts of a conversation, each written once.

mod message;
mod plain;
mod run;
#[cfg(test)]
mod tests;
mod todo;
mod tool;

pub use message::{AnswerPart, UserMessage};
pub use run::{LocalOutput, Notice, NoticeLevel, RunSummary, TaskNote, TaskPhase};
pub use todo::{TodoItem, TodoPhase, todo_rows};
pub use tool::{AgentWork, CallOutcome, KeptText, ToolCall};

use crate::layout::Layout;
use crate::text::Line;

/// Amount of a cell that is shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[expect(clippy::exhaustive_enums, reason = "programs choose one of both")]
pub enum Fold {
    /// Long results and diffs are cut, with their size and time.
    Folded,
    /// All that was kept.
    Expanded,
}

/// A finished part of a conversation.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub enum Cell {
    /// A message of the user.
    User(UserMessage),
    /// A part of an answer.
    Answer(AnswerPart),
    /// Reasoning of the model.
    Thinking(String),
    /// A tool call with its result.
    Tool(Box<ToolCall>),
    /// A list of tasks.
    Todos(Vec<TodoItem>),
    /// A notice, warning or error.
    Notice(Notice),
    /// Output of a command that ran without the model.
    Local(LocalOutput),
    /// The end of a run.
    Run(RunSummary),
    /// Beginning or end of background work.
    Task(TaskNote),
}

impl Cell {
    /// Rows of the cell, without one before it.
    #[must_use]
    pub fn rows(&self, layout: &Layout<'_>, fold: Fold) -> Vec<Line> {
        match self {
            Self::User(message) => message.rows(layout),
            Self::Answer(part) => part.rows(layout),
            Self::Thinking(text) => message::thinking_rows(text, layout),
            Self::Tool(call) => call.rows(layout, fold),
            Self::Todos(items) => todo_rows(items, layout, usize::MAX),
            Self::Notice(notice) => notice.rows(layout),
            Self::Local(output) => output.rows(layout, fold),
            Self::Run(summary) => summary.rows(layout),
            Self::Task(note) => note.rows(layout),
        }
    }

    /// `true` if a row without text separates the cell from the one before.
    #[must_use]
    pub fn is_separated(&self) -> bool {
        match self {
            Self::Answer(part) => !part.chunk.continues,
            Self::Local(output) => !output.command.is_empty(),
            Self::Run(_) | Self::Task(_) => false,
            _ => true,
        }
    }

    /// Lines of the cell for pipes and screen readers: labelled, without styles, not wrapped.
    #[must_use]
    pub fn plain_lines(&self) -> Vec<String> {
        plain::lines(self)
    }

    /// Bytes of text that the cell holds.
    #[must_use]
    pub fn size(&self) -> usize {
        match self {
            Self::User(message) => message.text.len(),
            Self::Answer(part) => part.chunk.source.len(),
            Self::Thinking(text) => text.len(),
            Self::Tool(call) => call.size(),
            Self::Todos(items) => items.iter().map(|item| item.text.len() + item.active.len()).sum(),
            Self::Notice(notice) => notice.text.len(),
            Self::Local(output) => output.text.size(),
            Self::Run(summary) => summary.message.len(),
            Self::Task(note) => note.description.len() + note.summary.len(),
        }
    }
}
