//! Rows of a terminal: none is wider than the terminal, so that the number of rows on the screen is known.

/// Minimum and maximum width of a row, in columns. Other terminal widths are clamped to this range.
const NARROWEST: usize = 20;
const WIDEST: usize = 400;

/// Returns the maximum columns of a character. Some terminals show every character beyond ASCII on two: an
/// overestimated row ends early, an underestimated one would break without being counted.
fn columns_of(c: char) -> usize {
    if c.is_ascii() { 1 } else { 2 }
}

/// Returns a width for rows.
pub(super) fn usable(columns: usize) -> usize {
    // The last column stays free: some terminals break behind it.
    columns.saturating_sub(1).clamp(NARROWEST, WIDEST)
}

/// Wraps one line into rows, the first behind `first`, the others behind `rest`. The text has no line ends.
pub(super) fn wrapped(first: &str, rest: &str, text: &str, width: usize) -> Vec<String> {
    let mut rows = Vec::new();
    let mut row = first.to_owned();
    let mut used: usize = first.chars().map(columns_of).sum();
    for c in text.chars() {
        if used + columns_of(c) > width {
            rows.push(std::mem::replace(&mut row, rest.to_owned()));
            used = rest.chars().map(columns_of).sum();
        }
        row.push(c);
        used += columns_of(c);
    }
    rows.push(row);
    rows
}

/// Like [`wrapped`], with at most `most` rows. The last row states the number of characters left out.
pub(super) fn bounded(first: &str, rest: &str, text: &str, width: usize, most: usize) -> Vec<String> {
    let rows = wrapped(first, rest, text, width);
    if rows.len() <= most {
        return rows;
    }
    let all = text.chars().count();
    // Leaves space for the number of omitted characters.
    let most_chars = most.saturating_mul(width) / 2;
    let mut kept = all.min(most_chars);
    loop {
        let beginning: String = text.chars().take(kept).collect();
        let shown = wrapped(first, rest, &format!("{beginning} … ({} more characters)", all - kept), width);
        if shown.len() <= most || kept == 0 {
            return shown;
        }
        kept = kept.saturating_sub(8);
    }
}
