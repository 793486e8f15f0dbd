//! Lists of tasks.

use crate::layout::{Layout, prefixed};
use crate::text::{Line, truncate};
use crate::theme::Role;
use serde::Deserialize;
use windlass_types::JsonText;

/// Phase of a task.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum TodoPhase {
    /// Not begun.
    Pending,
    /// Being done.
    InProgress,
    /// Done.
    Completed,
    /// Any other.
    #[serde(other)]
    Other,
}

/// A task of the list that the model keeps.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[non_exhaustive]
pub struct TodoItem {
    /// Task as an order: "Run the tests".
    #[serde(rename = "content")]
    pub text: String,
    /// Phase.
    #[serde(rename = "status")]
    pub phase: TodoPhase,
    /// Task while it is being done: "Running the tests". Empty if it is not given.
    #[serde(rename = "activeForm", alias = "active_form", default)]
    pub active: String,
}

impl TodoItem {
    /// A task.
    pub fn new(text: impl Into<String>, phase: TodoPhase) -> Self {
        Self { text: text.into(), phase, active: String::new() }
    }

    /// The tasks of a JSON array; none if it is no list of tasks.
    #[must_use]
    pub fn list(json: &JsonText) -> Vec<Self> {
        json.to().unwrap_or_default()
    }

    fn shown(&self) -> &str {
        if self.phase == TodoPhase::InProgress && !self.active.is_empty() { &self.active } else { &self.text }
    }
}

/// Rows of tasks, one for each, at most `most`: those around the first that is not done, and how many are left out.
#[must_use]
pub fn todo_rows(items: &[TodoItem], layout: &Layout<'_>, most: usize) -> Vec<Line> {
    let first_open = items.iter().position(|item| item.phase != TodoPhase::Completed).unwrap_or(items.len());
    let is_cut = items.len() > most;
    let room = if is_cut { most.saturating_sub(1) } else { most };
    let start = if is_cut { first_open.saturating_sub(1).min(items.len() - room) } else { 0 };
    let mut rows: Vec<Line> = items.iter().skip(start).take(room).map(|item| row(item, layout)).collect();
    if is_cut && most > 0 {
        let done = items.iter().filter(|item| item.phase == TodoPhase::Completed).count();
        let text = format!("  {} {done} of {} done", layout.glyphs.ellipsis, items.len());
        rows.push(layout.line(text, Role::Faint));
    }
    prefixed(rows, &Line::plain("  "), &Line::plain("  "))
}

fn row(item: &TodoItem, layout: &Layout<'_>) -> Line {
    let (glyph, mark, role) = match item.phase {
        TodoPhase::Completed => (layout.glyphs.done, Role::Success, Role::Faint),
        TodoPhase::InProgress => (layout.glyphs.active, Role::Accent, Role::Tool),
        TodoPhase::Pending | TodoPhase::Other => (layout.glyphs.open, Role::Faint, Role::Text),
    };
    let mut line = layout.line(format!("{glyph} "), mark);
    let text = crate::text::safe_line(item.shown());
    line.push(layout.span(truncate(&text, layout.narrowed(4).columns), role));
    line
}
