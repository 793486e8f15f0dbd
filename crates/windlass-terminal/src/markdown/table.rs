//! Tables in columns, or as records where columns are too narrow.

use crate::layout::Layout;
use crate::text::{Line, Span, wrap};
use crate::theme::Role;

/// Narrowest column. A table that needs narrower ones is shown as records.
const NARROWEST: usize = 6;

/// Cells of a table. The first row is the head.
#[derive(Debug, Default)]
pub(super) struct Table {
    rows: Vec<Vec<Line>>,
    row: Vec<Line>,
}

impl Table {
    pub(super) fn push(&mut self, cell: Line) {
        self.row.push(cell);
    }

    pub(super) fn end_row(&mut self) {
        self.rows.push(std::mem::take(&mut self.row));
    }

    pub(super) fn rows(&self, layout: &Layout<'_>) -> Vec<Line> {
        match self.widths(layout.columns) {
            Some(widths) => self.grid(&widths, layout),
            None => self.records(layout),
        }
    }

    /// Widths of the columns within so many columns of the terminal; `None` if they do not fit.
    fn widths(&self, columns: usize) -> Option<Vec<usize>> {
        let count = self.rows.iter().map(Vec::len).max().unwrap_or(0);
        let widest = |at: usize| self.rows.iter().filter_map(|row| row.get(at)).map(Line::width).max().unwrap_or(0);
        let mut widths: Vec<usize> = (0..count).map(|at| widest(at).max(1)).collect();
        let room = columns.checked_sub(count.saturating_sub(1) * 3)?;
        loop {
            let total: usize = widths.iter().sum();
            if total <= room {
                return Some(widths);
            }
            // The widest column becomes as wide as the next one, or as narrow as it takes.
            let first = widths.iter().copied().max().unwrap_or(0);
            let second = widths.iter().copied().filter(|width| *width < first).max().unwrap_or(0);
            let many = widths.iter().filter(|width| **width == first).count();
            let narrower = second.max(first.saturating_sub((total - room).div_ceil(many)));
            if narrower < NARROWEST || narrower == first {
                return None;
            }
            widths.iter_mut().filter(|width| **width == first).for_each(|width| *width = narrower);
        }
    }

    fn grid(&self, widths: &[usize], layout: &Layout<'_>) -> Vec<Line> {
        let glyphs = layout.glyphs;
        let mut rows = Vec::new();
        for (at, cells) in self.rows.iter().enumerate() {
            rows.extend(grid_row(cells, widths, at == 0, layout));
            if at == 0 {
                let rules: Vec<String> = widths.iter().map(|width| glyphs.rule.repeat(*width)).collect();
                let between = format!("{}{}{}", glyphs.rule, glyphs.cross, glyphs.rule);
                rows.push(layout.line(rules.join(&between), Role::Border));
            }
        }
        rows
    }

    /// Each row as lines of `head: cell`.
    fn records(&self, layout: &Layout<'_>) -> Vec<Line> {
        let Some((head, rows)) = self.rows.split_first() else { return Vec::new() };
        let mut records = Vec::new();
        for row in rows {
            if !records.is_empty() {
                records.push(Line::new());
            }
            for (at, cell) in row.iter().enumerate() {
                let mut line = head.get(at).map(|head| headed(head, layout)).unwrap_or_default();
                line.push(layout.span(": ", Role::Faint));
                line.extend(cell.clone());
                records.extend(wrap(&line, layout.columns, &Line::plain("  ")));
            }
        }
        // A table without rows has a head to show.
        if rows.is_empty() {
            records.extend(head.iter().flat_map(|cell| wrap(&headed(cell, layout), layout.columns, &Line::new())));
        }
        records
    }
}

fn headed(cell: &Line, layout: &Layout<'_>) -> Line {
    cell.spans().iter().map(|span| Span::new(span.text(), layout.style(Role::Heading))).collect()
}

fn grid_row(cells: &[Line], widths: &[usize], is_head: bool, layout: &Layout<'_>) -> Vec<Line> {
    let empty = Line::new();
    let wrapped: Vec<Vec<Line>> = widths
        .iter()
        .enumerate()
        .map(|(at, width)| {
            let cell = cells.get(at).unwrap_or(&empty);
            let cell = if is_head { headed(cell, layout) } else { cell.clone() };
            wrap(&cell, *width, &empty)
        })
        .collect();
    let height = wrapped.iter().map(Vec::len).max().unwrap_or(1);
    let mut rows = Vec::new();
    for at in 0..height {
        let mut row = Line::new();
        for (column, (lines, width)) in wrapped.iter().zip(widths).enumerate() {
            if column > 0 {
                row.push(layout.span(format!(" {} ", layout.glyphs.bar), Role::Border));
            }
            let line = lines.get(at).unwrap_or(&empty);
            let blanks = width.saturating_sub(line.width());
            row.extend(line.clone());
            // The last column needs no blanks at its end.
            if column + 1 < widths.len() {
                row.push(Span::plain(" ".repeat(blanks)));
            }
        }
        rows.push(row);
    }
    rows
}
