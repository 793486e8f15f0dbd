//! Rows of a draft on a screen, and the place of the caret.

use super::draft::{Direction, DraftElement, PromptDraft};
use crate::text::{TAB_WIDTH, clusters, width};
use std::borrow::Cow;
use std::collections::VecDeque;
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
    /// `true` if rows of the draft are above the first one shown.
    pub has_more_above: bool,
    /// `true` if rows of the draft are below the last one shown.
    pub has_more_below: bool,
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

/// The rows of one line of a draft on a screen of so many columns, of which the last stays free for the caret.
fn line_rows(draft: &PromptDraft, line: Range<usize>, columns: usize) -> Vec<ComposerRow> {
    let width = columns.saturating_sub(1).max(1);
    let mut layout = RowLayout { width, rows: Vec::new(), row: empty_row(line.start) };
    let mut at = line.start;
    let elements = &draft.content().elements;
    for element in elements.iter().filter(|element| line.start <= element.range.start && element.range.end <= line.end)
    {
        layout.text(draft.slice(at..element.range.start), at);
        layout.element(draft, element);
        at = element.range.end;
    }
    layout.text(draft.slice(at..line.end), at);
    layout.rows.push(layout.row);
    layout.rows
}

/// The view of a draft: at most so many rows, the caret among them. Only lines near the caret are laid out, so the time does
/// not grow with the draft.
pub(super) fn view(draft: &PromptDraft, columns: usize, most: usize) -> ComposerView {
    let (at, most) = (draft.caret(), most.max(1));
    let (mut start, mut end) = (draft.line_start(at), draft.line_end(at));
    let mut rows = VecDeque::from(line_rows(draft, start..end, columns));
    let (mut caret_row, caret_column) = position(rows.iter(), at);
    while caret_row.saturating_add(1) < most && start > 0 {
        let line = draft.line_start(start.saturating_sub(1))..start.saturating_sub(1);
        start = line.start;
        let above = line_rows(draft, line, columns);
        caret_row = caret_row.saturating_add(above.len());
        above.into_iter().rev().for_each(|row| rows.push_front(row));
    }
    let top = caret_row.saturating_add(1).saturating_sub(most);
    while rows.len() < top.saturating_add(most) && end < draft.text().len() {
        let line = end.saturating_add(1)..draft.line_end(end.saturating_add(1));
        end = line.end;
        rows.extend(line_rows(draft, line, columns));
    }
    let has_more_above = top > 0 || start > 0;
    let has_more_below = rows.len() > top.saturating_add(most) || end < draft.text().len();
    let rows = rows.into_iter().skip(top).take(most).collect();
    ComposerView { rows, caret_row: caret_row.saturating_sub(top), caret_column, has_more_above, has_more_below }
}

/// Column of the caret, and the row above or below it; `None` at the first or last row.
pub(super) fn neighbour(draft: &PromptDraft, columns: usize, direction: Direction) -> (usize, Option<ComposerRow>) {
    let at = draft.caret();
    let line = draft.line_start(at)..draft.line_end(at);
    let mut rows = line_rows(draft, line.clone(), columns);
    let (row, column) = position(rows.iter(), at);
    let other = match direction {
        Direction::Back => match row.checked_sub(1) {
            Some(above) => rows.into_iter().nth(above),
            None => {
                line.start.checked_sub(1).and_then(|end| line_rows(draft, draft.line_start(end)..end, columns).pop())
            }
        },
        Direction::Forward if row.saturating_add(1) < rows.len() => Some(rows.swap_remove(row.saturating_add(1))),
        Direction::Forward => {
            let start = line.end.saturating_add(1);
            let is_last = line.end >= draft.text().len();
            let below = (!is_last).then(|| line_rows(draft, start..draft.line_end(start), columns));
            below.and_then(|rows| rows.into_iter().next())
        }
    };
    (column, other)
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
fn position<'a>(rows: impl Iterator<Item = &'a ComposerRow>, at: usize) -> (usize, usize) {
    let mut last = (0, 0);
    for (index, row) in rows.enumerate() {
        if let Some((column, _)) = row.stops.iter().find(|(_, stop)| *stop == at) {
            return (index, *column);
        }
        last = (index, row.width);
    }
    last
}

/// The place in a row that is nearest to a column, not behind it.
pub(super) fn place(row: &ComposerRow, column: usize) -> usize {
    let stop = row.stops.iter().rev().find(|(stop, _)| *stop <= column).or_else(|| row.stops.first());
    stop.map_or(row.source.start, |(_, at)| *at)
}
