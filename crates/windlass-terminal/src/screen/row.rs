//! The difference of two rows, in clusters.

use crate::text::{Line, Span, Style, clusters};
use unicode_width::UnicodeWidthChar as _;

/// Part of a row that is written anew.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Change {
    /// Column of the first changed cluster.
    pub(super) column: usize,
    /// Text from there to the last changed cluster.
    pub(super) spans: Vec<Span>,
    /// `true` if the row became shorter, so its old end is erased.
    pub(super) clears: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Cell<'a> {
    text: &'a str,
    width: usize,
    style: Style,
}

fn cells<'a>(line: &'a Line) -> Vec<Cell<'a>> {
    let of_span = |span: &'a Span| clusters(span.text()).map(|(text, width)| Cell { text, width, style: span.style() });
    line.spans().iter().flat_map(of_span).collect()
}

/// Most columns that a terminal may take for a cluster: it may draw each character by itself.
fn most_columns(cluster: &str, width: usize) -> usize {
    cluster.chars().map(|c| c.width().unwrap_or(0)).sum::<usize>().max(width)
}

/// `true` if all terminals agree on the width of a cluster.
fn is_certain(cell: &Cell<'_>) -> bool {
    most_columns(cell.text, cell.width) == cell.width
}

/// Changes that make one row of the other; `None` if they are the same.
pub(super) fn change(before: &Line, after: &Line) -> Option<Change> {
    if before == after {
        return None;
    }
    let (old, new) = (cells(before), cells(after));
    // Text behind a cluster of unsure width is where the terminal wants, so all of it is written.
    let same = old.iter().zip(&new).take_while(|(old, new)| old == new && is_certain(new)).count();
    let width = |cells: &[Cell<'_>]| cells.iter().map(|cell| cell.width).sum::<usize>();
    let (old_width, new_width) = (width(&old), width(&new));
    let (old, new) = (old.get(same..).unwrap_or_default(), new.get(same..).unwrap_or_default());
    let column = new_width - width(new);
    let is_plain = old.iter().chain(new).all(is_certain);
    let kept = if is_plain && old_width == new_width {
        old.iter().rev().zip(new.iter().rev()).take_while(|(old, new)| old == new).count()
    } else {
        0
    };
    let written = new.get(..new.len() - kept).unwrap_or_default();
    let spans: Line = written.iter().map(|cell| Span::of_safe(cell.text, cell.style)).collect();
    let clears = new_width < old_width || !is_plain;
    Some(Change { column, spans: spans.spans().to_vec(), clears })
}

/// Rows that text of this width takes on a terminal that wraps it. At least one.
pub(super) fn height(width: usize, columns: usize) -> usize {
    width.div_ceil(columns.max(1)).max(1)
}

/// The line cut so that no terminal takes more than `columns` for it.
pub(super) fn fitted(line: &Line, columns: usize) -> Line {
    let mut used = 0;
    let mut fitted = Line::new();
    for cell in cells(line) {
        used += most_columns(cell.text, cell.width);
        if used > columns {
            return fitted;
        }
        fitted.push(Span::of_safe(cell.text, cell.style));
    }
    fitted
}

#[cfg(test)]
mod tests {
    use super::*;

    fn changed(before: &str, after: &str) -> Option<(usize, String, bool)> {
        let change = change(&Line::plain(before), &Line::plain(after))?;
        Some((change.column, change.spans.iter().map(Span::text).collect(), change.clears))
    }

    #[test]
    fn only_changed_cells_are_written() {
        assert_eq!(changed("12 s · 100 tokens", "12 s · 100 tokens"), None);
        assert_eq!(changed("12 s · 100 tokens", "13 s · 100 tokens"), Some((1, "3".to_owned(), false)));
        assert_eq!(changed("abc", "abcd"), Some((3, "d".to_owned(), false)));
        assert_eq!(changed("abcd", "ab"), Some((2, String::new(), true)));
        assert_eq!(changed("日本", "日文"), Some((2, "文".to_owned(), false)));
        let family = "👨\u{200d}👩\u{200d}👧";
        assert_eq!(
            changed(&format!("{family}a"), &format!("{family}b")),
            Some((0, format!("{family}b"), true)),
            "a terminal may draw three pictures, so nothing behind them is where it was"
        );
    }

    #[test]
    fn a_row_fits_terminals_that_draw_each_character() {
        let family = "👨\u{200d}👩\u{200d}👧";
        assert_eq!(fitted(&Line::plain(family), 6).text(), family);
        assert_eq!(fitted(&Line::plain(format!("a{family}")), 6).text(), "a");
        assert_eq!(fitted(&Line::plain("日本語"), 5).text(), "日本");
    }
}
