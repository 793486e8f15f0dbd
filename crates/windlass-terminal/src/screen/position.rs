//! Place of the live area on the screen, and its rows that a smaller screen has pushed into the scrollback.
//!
//! tmux drops rows below the cursor when it gets fewer, and then pushes rows above into the scrollback. When it gets more, it pulls
//! them back as far as it has some, and adds blank rows below. A change of the width wraps all rows anew and keeps the last ones on
//! the screen. Of other terminals no more is taken for granted than that the cursor is on the screen.

use super::{Size, row};
use crate::text::Line;

/// Most rows that are remembered above the live area. Beyond them, the stray ones are given up.
const MOST_ABOVE: usize = 500;

/// A row between the first stray row and the live area.
#[derive(Debug, Clone)]
enum RowAbove {
    /// A row of an earlier live area, with its width.
    Stray(usize),
    /// A finished row.
    Finished(Line),
}

impl RowAbove {
    fn height(&self, columns: usize) -> usize {
        let width = match self {
            Self::Stray(width) => *width,
            Self::Finished(line) => line.width(),
        };
        row::height(width, columns)
    }

    fn is_stray(&self) -> bool {
        matches!(self, Self::Stray(_))
    }
}

/// Rows of a live area around the cursor, as a terminal of some width wraps them.
#[derive(Debug, Clone)]
pub(super) struct Extent {
    pub(super) above: usize,
    /// Rows below the cursor that its own row takes.
    pub(super) own: usize,
    /// Heights of the rows below that.
    pub(super) below: Vec<usize>,
}

/// Way from the cursor to the row where the next frame begins.
#[derive(Debug, Default)]
pub(super) struct WayUp {
    pub(super) rows: usize,
    /// Finished rows to write again from there.
    pub(super) again: Vec<Line>,
}

/// Row of the screen that the cursor is on, from zero, as far as it is known.
#[derive(Debug, Clone, Copy)]
struct CursorRow {
    lowest: usize,
    highest: usize,
    /// Rows by which the cursor's row is above the screen.
    beyond: usize,
    is_exact: bool,
}

/// Place of the live area on the screen.
#[derive(Debug, Default)]
pub(super) struct AreaPosition {
    /// `true` if the terminal does with rows as tmux does.
    refills: bool,
    /// First row of the live area on the screen, from zero; a lower bound unless `is_exact`.
    top: usize,
    is_exact: bool,
    /// Rows that the terminal pulls back when it gets more rows; a lower bound.
    scrolled: usize,
    /// Finished rows that were written.
    finished: usize,
    /// Rows from the first stray row to the live area. Begins with a stray row.
    rows_above: Vec<RowAbove>,
}

impl AreaPosition {
    /// A place that is not known.
    pub(super) fn new(refills: bool) -> Self {
        Self { refills, ..Self::default() }
    }

    /// Forgets the place, such as when something else has written.
    pub(super) fn forget(&mut self) {
        *self = Self { finished: self.finished, ..Self::new(self.refills) };
    }

    /// Takes note of a change of the size, and returns the way to the row where the next frame begins: the first stray row that the
    /// screen shows again, or the first row of the live area.
    ///
    /// `shown` are the rows of the live area; `old` and `new` are the sizes, with the rows around the cursor in each.
    pub(super) fn resize(&mut self, shown: &[Line], old: (Size, &Extent), new: (Size, &Extent)) -> WayUp {
        let ((old_size, before), (size, after)) = (old, new);
        let is_wider = size.columns() > old_size.columns();
        let growth = size.rows().saturating_sub(old_size.rows());
        let cursor = self.cursor(old, new);
        let pushed = (self.top + before.above + 1).saturating_sub(size.rows());
        self.scrolled = self.scrolled.saturating_sub(growth);
        if let Some(gone) = after.above.checked_sub(cursor.highest).filter(|gone| *gone > 0) {
            let gone = gone + cursor.beyond;
            let widths = first_rows(shown.iter().map(Line::width), gone, size.columns());
            self.rows_above.extend(widths.into_iter().map(RowAbove::Stray));
            (self.top, self.is_exact) = (0, self.refills);
            let is_same_width = size.columns() == old_size.columns();
            self.count_scrolled(if is_same_width { pushed.max(gone) } else { pushed }, old_size, size);
            return WayUp { rows: cursor.highest, again: Vec::new() };
        }
        self.top = cursor.lowest.saturating_sub(after.above);
        self.is_exact = cursor.is_exact;
        if size.columns() != old_size.columns() && !self.is_exact {
            self.top = self.top.min(self.known_above());
        }
        self.count_scrolled(pushed, old_size, size);
        let height: usize = self.rows_above.iter().map(|row| row.height(size.columns())).sum();
        let is_back = !self.is_exact && (is_wider || growth >= height.max(1));
        let (reach, again) = self.reclaim(size.columns(), is_back);
        self.top = self.top.saturating_sub(reach);
        WayUp { rows: after.above + reach, again }
    }

    /// Takes note of a frame: finished rows, and a live area of `live` rows below them.
    pub(super) fn write(&mut self, finished: &[Line], live: usize, size: Size) {
        self.finished = self.finished.saturating_add(finished.len());
        let height: usize = finished.iter().map(|line| row::height(line.width(), size.columns())).sum();
        let end = self.top + height + live;
        self.is_exact |= self.refills && end >= size.rows();
        self.scrolled += if self.refills { end.saturating_sub(size.rows()) } else { 0 };
        self.top = end.min(size.rows()).saturating_sub(live);
        if !self.rows_above.is_empty() {
            self.rows_above.extend(finished.iter().cloned().map(RowAbove::Finished));
            if self.rows_above.len() > MOST_ABOVE {
                self.rows_above.clear();
            }
        }
    }

    /// The row of the cursor after a change of the size.
    fn cursor(&self, old: (Size, &Extent), new: (Size, &Extent)) -> CursorRow {
        let ((old_size, before), (size, after)) = (old, new);
        let (old_rows, rows) = (old_size.rows(), size.rows());
        let last = rows.saturating_sub(1);
        let growth = rows.saturating_sub(old_rows);
        let added = growth.saturating_sub(self.scrolled);
        let is_same_width = old_size.columns() == size.columns();
        let blanks = old_rows.checked_sub(self.top + before.above + 1 + before.below.len());
        let (true, Some(blanks)) = (self.is_exact, blanks) else {
            let lowest = if is_same_width && rows >= old_rows { self.top + after.above + growth - added } else { 0 };
            return CursorRow { lowest: lowest.min(last), highest: last, beyond: 0, is_exact: false };
        };
        let dropped = old_rows.saturating_sub(rows);
        let kept = (before.below.len() + blanks).saturating_sub(dropped);
        // Rows of the live area are dropped last, and then the terminal wraps those that are left.
        let live: usize = after.below.iter().take(kept).sum();
        let below = after.own + live + kept.saturating_sub(before.below.len());
        let is_full = is_same_width || self.known_above() + after.above + 1 + below >= rows;
        CursorRow {
            lowest: last.saturating_sub(below + added),
            highest: last.saturating_sub(below),
            beyond: below.saturating_sub(last),
            is_exact: added == 0 && is_full,
        }
    }

    /// Rows above the live area, on the screen or in the scrollback; a lower bound, as if none was wrapped.
    fn known_above(&self) -> usize {
        self.finished + self.rows_above.iter().filter(|row| row.is_stray()).count()
    }

    fn count_scrolled(&mut self, pushed: usize, old: Size, new: Size) {
        if old.rows() > new.rows() && self.refills {
            self.scrolled += pushed;
        }
        if old.columns() != new.columns() {
            self.scrolled = self.scrolled.min(self.known_above().saturating_sub(self.top));
        }
    }

    /// Takes the stray rows that the screen shows, with what stands below them. Returns their height and the finished rows of it.
    ///
    /// `is_back` tells that the stray rows are likely there, although it is not sure: then the cursor may end at the first row of the
    /// screen, which is safe as long as all finished rows among them are on it.
    fn reclaim(&mut self, columns: usize, is_back: bool) -> (usize, Vec<Line>) {
        let (mut height, mut reach, mut first) = (0, 0, self.rows_above.len());
        let mut finished = 0;
        for (at, row) in self.rows_above.iter().enumerate().rev() {
            height += row.height(columns);
            if !row.is_stray() {
                finished = height;
            } else if height <= self.top {
                (first, reach) = (at, height);
            }
        }
        if is_back && finished <= self.top {
            (first, reach) = (0, height);
        }
        let back = self.rows_above.split_off(first);
        let lines =
            back.into_iter().filter_map(|row| if let RowAbove::Finished(line) = row { Some(line) } else { None });
        let again: Vec<Line> = lines.collect();
        self.finished = self.finished.saturating_sub(again.len());
        (reach, again)
    }
}

/// Widths of the first rows that take `count` rows of a screen, the last one cut.
fn first_rows(widths: impl Iterator<Item = usize>, count: usize, columns: usize) -> Vec<usize> {
    let mut left = count;
    let mut first = Vec::new();
    for width in widths {
        if left == 0 {
            break;
        }
        let height = row::height(width, columns);
        first.push(if height > left { left * columns } else { width });
        left = left.saturating_sub(height);
    }
    first
}

#[cfg(test)]
mod tests {
    use super::*;

    fn extent(above: usize, below: usize) -> Extent {
        Extent { above, own: 0, below: vec![1; below] }
    }

    /// A live area of 16 rows on a screen of 36, which gets 10 rows, some finished rows and then 36 rows again.
    fn way_back(refills: bool, finished: usize) -> WayUp {
        let (tall, low) = (Size::new(80, 36), Size::new(80, 10));
        let lines = |count: usize| (0..count).map(|row| Line::plain(format!("row {row}"))).collect::<Vec<_>>();
        let mut position = AreaPosition::new(refills);
        position.write(&lines(60), 16, tall);
        let way = position.resize(&lines(16), (tall, &extent(11, 4)), (low, &extent(11, 4)));
        assert_eq!((way.rows, way.again.len()), (9, 0));
        position.write(&lines(finished), 5, low);
        position.resize(&lines(5), (low, &extent(4, 0)), (tall, &extent(4, 0)))
    }

    #[test]
    fn rows_that_are_back_are_taken_with_those_below_them() {
        for finished in [0, 3, 20] {
            let way = way_back(true, finished);
            assert_eq!((way.rows, way.again.len()), (4 + finished + 2, finished));
        }
        let way = way_back(true, 40);
        assert_eq!((way.rows, way.again.len()), (4, 0), "more than the screen shows again");
    }

    #[test]
    fn no_finished_row_is_written_again_where_rows_may_stay_away() {
        for finished in [1, 3, 6, 20, 40] {
            let way = way_back(false, finished);
            // Rows that are written again are on the screen even if it got blank rows only.
            assert!(way.again.is_empty() || finished + 5 <= 10, "{finished}: {way:?}");
        }
        assert_eq!(way_back(false, 0).rows, 6, "stray rows alone are no harm");
    }
}
