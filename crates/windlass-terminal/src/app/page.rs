//! Pages of their own on the alternate screen: the transcript, texts and diffs.

use crate::cell::Fold;
use crate::diff::diff_rows;
use crate::layout::Layout;
use crate::pager::Pager;
use crate::text::{Line, safe_lines, wrap_text};
use crate::theme::Role;
use crate::transcript::Transcript;

/// Source of the rows of a page, which are laid out again for another size.
#[derive(Debug)]
pub(super) enum PageSource {
    Transcript,
    Text(String),
    /// A unified diff.
    Diff(String),
}

/// A page that is shown.
#[derive(Debug)]
pub(super) struct Page {
    pub(super) source: PageSource,
    pub(super) pager: Pager,
}

impl PageSource {
    /// Rows for this layout.
    pub(super) fn rows(&self, transcript: &Transcript, layout: &Layout<'_>) -> Vec<Line> {
        match self {
            Self::Transcript => transcript.rows(layout, Fold::Expanded),
            Self::Text(text) => {
                let style = layout.style(Role::Text);
                safe_lines(text).iter().flat_map(|line| wrap_text(line, layout.columns, style)).collect()
            }
            Self::Diff(diff) => diff_rows(diff, layout, usize::MAX),
        }
    }
}
