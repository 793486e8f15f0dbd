//! Messages of the user and answers of the model.

use crate::layout::{Layout, prefixed};
use crate::markdown::MarkdownChunk;
use crate::text::{Line, safe_lines, wrap};
use crate::theme::Role;

/// Most rows of a message of the user; a long paste shows its beginning.
const USER_ROWS: usize = 40;

/// A message of the user.
#[derive(Debug, Clone, PartialEq, Eq)]
#[expect(clippy::exhaustive_structs, reason = "programs make it")]
pub struct UserMessage {
    /// Text as the user wrote it.
    pub text: String,
    /// `true` if the message joined a run that continued.
    pub joined: bool,
}

impl UserMessage {
    pub(super) fn rows(&self, layout: &Layout<'_>) -> Vec<Line> {
        let style = layout.style(Role::User);
        let room = layout.narrowed(2).columns;
        let all = safe_lines(&self.text);
        let mut rows = Vec::new();
        let mut taken = 0;
        for line in &all {
            if rows.len() >= USER_ROWS {
                break;
            }
            rows.extend(wrap(&Line::styled(line, style), room, &Line::new()));
            taken += 1;
        }
        rows.truncate(USER_ROWS);
        let left = all.len().saturating_sub(taken);
        if left > 0 {
            rows.push(layout.line(format!("{} {left} more", layout.glyphs.ellipsis), Role::Faint));
        }
        if rows.is_empty() {
            rows.push(Line::new());
        }
        let first = layout.line(format!("{} ", layout.glyphs.prompt), Role::Accent);
        prefixed(rows, &first, &Line::plain("  "))
    }
}

/// A finished part of an answer.
#[derive(Debug, Clone, PartialEq, Eq)]
#[expect(clippy::exhaustive_structs, reason = "programs make it")]
pub struct AnswerPart {
    /// Markdown of the part.
    pub chunk: MarkdownChunk,
    /// `true` for the first part of an answer, which has the mark.
    pub is_first: bool,
}

impl AnswerPart {
    pub(crate) fn rows(&self, layout: &Layout<'_>) -> Vec<Line> {
        let mark = format!("{} ", layout.glyphs.bullet);
        let rest = Line::plain("  ");
        let first = if self.is_first { layout.line(mark, Role::Accent) } else { rest.clone() };
        prefixed(self.chunk.rows(&layout.narrowed(2)), &first, &rest)
    }
}

pub(super) fn thinking_rows(text: &str, layout: &Layout<'_>) -> Vec<Line> {
    let style = layout.style(Role::Faint).italic();
    let room = layout.narrowed(2).columns;
    let lines = safe_lines(text);
    let rows = lines.iter().flat_map(|line| wrap(&Line::styled(line, style), room, &Line::new()));
    prefixed(rows, &layout.line(format!("{} ", layout.glyphs.dot), Role::Faint), &Line::plain("  "))
}
