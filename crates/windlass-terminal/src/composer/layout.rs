//! Rows of a draft on a screen, and the place of the caret.

use super::draft::{DraftElement, PromptDraft};
use crate::text::{TAB_WIDTH, clusters, width};
use std::borrow::Cow;
use std::ops::Range;
use unicode_segmentation::UnicodeSegmentation;
use windlass_types::text::visible_line;

/// A tab as it is shown.
const TAB: &str = "    ";
const _: () = assert!(TAB.len() == TAB_WIDTH);

/// A row of the draft as it is shown.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct ComposerRow {
    /// Text of the row: nothing in it is hidden or controls a terminal.
    pub text: String,
    /// Columns that the text takes.
    pub width: usize,
    /// Parts of the text that are placeholders, in bytes.
    pub placeholders: Vec<Range<usize>>,
    /// Range of the draft in bytes.
    pub(super) source: Range<usize>,
    /// Columns and places of the boundaries of the row, its beginning included.
    pub(super) stops: Vec<(usize, usize)>,
}

/// The rows of a draft and the place of the caret.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct ComposerView {
    /// Rows to show, at least one.
    pub rows: Vec<ComposerRow>,
    /// Row of the caret among these, from 0 on.
    pub caret_row: usize,
    /// Column of the caret, from 0 on.
    pub caret_column: usize,
    /// Rows of the draft above the first one shown.
    pub rows_above: usize,
    /// Rows of the draft below the last one shown.
    pub rows_below: usize,
}

/// A cluster as it is shown: tabs are blanks, and hidden characters are written out. The second value is its width in
/// columns.
pub(crate) fn shown(cluster: &str) -> (Cow<'_, str>, usize) {
    match cluster.as_bytes() {
        [b' '..=b'~'] => return (Cow::Borrowed(cluster), 1),
        [b'\t'] => return (Cow::Borrowed(TAB), TAB.len()),
        _ => {}
    }
    let written = visible_line(cluster);
    let text = if written == cluster || joins_letters(cluster) { Cow::Borrowed(cluster) } else { Cow::Owned(written) };
    let columns = width(&text);
    (text, columns)
}

/// `true` for a cluster of letters in which only joiners are hidden, as the scripts of Persian and of India write them.
fn joins_letters(cluster: &str) -> bool {
    let is_letter = cluster.chars().next().is_some_and(|first| !first.is_ascii() && first.is_alphabetic());
    let without: String = cluster.chars().filter(|c| !matches!(c, '\u{200c}' | '\u{200d}')).collect();
    is_letter && visible_line(&without) == without
}

/// All rows of a draft on a screen of so many columns, of which the last stays free for the caret.
pub(super) fn rows(draft: &PromptDraft, columns: usize) -> Vec<ComposerRow> {
    let mut layout = RowLayout { width: columns.saturating_sub(1).max(1), rows: Vec::new(), row: empty_row(0) };
    let mut at = 0;
    for element in &draft.content().elements {
        layout.text(draft.slice(at..element.range.start), at);
        layout.element(draft, element);
        at = element.range.end;
    }
    layout.text(draft.slice(at..draft.text().len()), at);
    layout.rows.push(layout.row);
    layout.rows
}

fn empty_row(at: usize) -> ComposerRow {
    ComposerRow { text: String::new(), width: 0, placeholders: Vec::new(), source: at..at, stops: vec![(0, at)] }
}

struct RowLayout {
    width: usize,
    rows: Vec<ComposerRow>,
    row: ComposerRow,
}

impl RowLayout {
    fn text(&mut self, text: &str, from: usize) {
        for (at, cluster) in text.grapheme_indices(true) {
            let at = from.saturating_add(at);
            let end = at.saturating_add(cluster.len());
            if matches!(cluster, "\n" | "\r\n") {
                self.row.source.end = at;
                let full = std::mem::replace(&mut self.row, empty_row(end));
                self.rows.push(full);
                continue;
            }
            self.cluster(cluster, at, end);
        }
    }

    fn cluster(&mut self, cluster: &str, at: usize, end: usize) {
        let (shown, columns) = shown(cluster);
        if columns <= self.width {
            return self.push(&shown, columns, at, Some(end));
        }
        // A character that is written out may be wider than the screen: it goes over several rows.
        let mut parts = clusters(&shown).peekable();
        while let Some((part, columns)) = parts.next() {
            let is_last = parts.peek().is_none();
            self.push(part, columns, at, is_last.then_some(end));
        }
    }

    fn element(&mut self, draft: &PromptDraft, element: &DraftElement) {
        let (shown, columns) = shown(draft.slice(element.range.clone()));
        if self.row.width.saturating_add(columns) > self.width && self.row.width > 0 {
            self.wrap(element.range.start);
        }
        // A label that is wider than the screen is cut, so that the row is not.
        let shown = if columns > self.width { Cow::Owned(fitting(&shown, self.width)) } else { shown };
        let start = self.row.text.len();
        let columns = width(&shown);
        self.push(&shown, columns, element.range.start, Some(element.range.end));
        self.row.placeholders.push(start..self.row.text.len());
    }

    /// Adds a cluster that begins at a place of the draft, or a part of it. The last part ends at another place.
    fn push(&mut self, shown: &str, columns: usize, start: usize, end: Option<usize>) {
        if self.row.width.saturating_add(columns) > self.width && self.row.width > 0 {
            self.wrap(start);
        }
        self.row.text.push_str(shown);
        self.row.width = self.row.width.saturating_add(columns);
        if let Some(end) = end {
            self.row.source.end = end;
            self.row.stops.push((self.row.width, end));
        }
    }

    /// Begins a row with the cluster at a place. The place between two rows belongs to the second one.
    fn wrap(&mut self, at: usize) {
        let mut row = empty_row(at);
        match self.row.stops.last() {
            // Inside of a cluster: its beginning is on the row before.
            Some((column, _)) if *column != self.row.width => row.stops.clear(),
            _ => {
                self.row.stops.pop();
            }
        }
        self.rows.push(std::mem::replace(&mut self.row, row));
    }
}

/// The beginning of a text that fits into so many columns.
fn fitting(text: &str, most: usize) -> String {
    let mut kept = String::new();
    let mut used = 0_usize;
    for (cluster, columns) in clusters(text) {
        used = used.saturating_add(columns);
        if used > most {
            break;
        }
        kept.push_str(cluster);
    }
    kept
}

/// Row and column of a place.
pub(super) fn position(rows: &[ComposerRow], at: usize) -> (usize, usize) {
    for (index, row) in rows.iter().enumerate() {
        if let Some((column, _)) = row.stops.iter().find(|(_, stop)| *stop == at) {
            return (index, *column);
        }
    }
    let last = rows.len().saturating_sub(1);
    (last, rows.last().map_or(0, |row| row.width))
}

/// The place in a row that is nearest to a column, not behind it.
pub(super) fn place(row: &ComposerRow, column: usize) -> usize {
    let stop = row.stops.iter().rev().find(|(stop, _)| *stop <= column).or_else(|| row.stops.first());
    stop.map_or(row.source.start, |(_, at)| *at)
}

/// At most so many rows around the caret.
pub(super) fn window(mut rows: Vec<ComposerRow>, at: usize, most: usize) -> ComposerView {
    let (row, caret_column) = position(&rows, at);
    let most = most.max(1);
    let above = row.saturating_add(1).saturating_sub(most);
    let below = rows.len().saturating_sub(above.saturating_add(most));
    rows.truncate(rows.len().saturating_sub(below));
    let rows = rows.split_off(above.min(rows.len()));
    ComposerView { rows, caret_row: row.saturating_sub(above), caret_column, rows_above: above, rows_below: below }
}
