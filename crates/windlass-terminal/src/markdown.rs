//! Markdown of models: laid out as rows, and cut into finished parts while it streams.

mod code;
mod render;
mod stream;
mod table;
#[cfg(test)]
mod tests;

pub use stream::{MarkdownChunk, MarkdownStream};

use crate::layout::Layout;
use crate::text::Line;

/// Rows of a Markdown text: headings, paragraphs, lists, quotes, tables, blocks of code, links with their targets. HTML is shown
/// as text.
#[must_use]
pub fn markdown_rows(source: &str, layout: &Layout<'_>) -> Vec<Line> {
    render::rows(source, None, layout)
}
