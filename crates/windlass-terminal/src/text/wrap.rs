//! Wrapping of lines at blanks, and between clusters where a word is wider than the row.

use super::line::{Line, Span};
use super::style::Style;
use super::width::clusters;

/// The rows of a line that is wrapped at `columns`, each but the first begun with `indent`. A word that is wider than
/// a row is cut between clusters. At least one row is given, and each takes at least one cluster.
#[must_use]
pub fn wrap(line: &Line, columns: usize, indent: &Line) -> Vec<Line> {
    if line.width() <= columns {
        return vec![line.clone()];
    }
    let indent_width = indent.width();
    let (indent, indent_width) =
        if indent_width * 2 > columns { (Line::new(), 0) } else { (indent.clone(), indent_width) };
    let mut rows = Wrapping { columns: columns.max(1), indent, indent_width, ..Wrapping::default() };
    for span in line.spans() {
        for (cluster, width) in clusters(span.text()) {
            rows.add(cluster, width, span.style());
        }
    }
    rows.finish()
}

/// The rows of a text in one style, wrapped at `columns`.
#[must_use]
pub fn wrap_text(text: &str, columns: usize, style: Style) -> Vec<Line> {
    wrap(&Line::styled(text, style), columns, &Line::new())
}

/// The rows of a line that is cut between clusters at `columns`, blanks included: for code and output.
#[must_use]
pub fn wrap_exact(line: &Line, columns: usize) -> Vec<Line> {
    if line.width() <= columns {
        return vec![line.clone()];
    }
    let (mut rows, mut row, mut used) = (Vec::new(), Line::new(), 0);
    for span in line.spans() {
        for (cluster, width) in clusters(span.text()) {
            if used + width > columns && used > 0 {
                rows.push(std::mem::take(&mut row));
                used = 0;
            }
            row.push(Span::of_safe(cluster, span.style()));
            used += width;
        }
    }
    rows.push(row);
    rows
}

/// Rows under construction. The last word is kept apart until it is known to fit.
#[derive(Debug, Default)]
struct Wrapping {
    columns: usize,
    indent: Line,
    indent_width: usize,
    rows: Vec<Line>,
    row: Line,
    row_width: usize,
    /// Blanks behind the row, dropped at a wrap.
    gap: Vec<Span>,
    gap_width: usize,
    word: Vec<Span>,
    word_width: usize,
}

impl Wrapping {
    fn add(&mut self, cluster: &str, width: usize, style: Style) {
        if cluster == " " {
            self.take_word();
            push(&mut self.gap, cluster, style);
            self.gap_width += 1;
            return;
        }
        if width > 1 && self.word_width > 0 || self.word_width + width > self.room() {
            // A row may end before and behind a wide character, and inside a word that is wider than a row.
            self.take_word();
        }
        push(&mut self.word, cluster, style);
        self.word_width += width;
        if width > 1 {
            self.take_word();
        }
    }

    /// Columns of an empty row.
    fn room(&self) -> usize {
        let taken = if self.rows.is_empty() { 0 } else { self.indent_width };
        self.columns.saturating_sub(taken)
    }

    fn take_word(&mut self) {
        if self.word.is_empty() {
            return;
        }
        let is_first = self.row.is_empty();
        if self.row_width + self.gap_width + self.word_width > self.columns && !(is_first && self.gap.is_empty()) {
            self.end_row();
        }
        for span in self.gap.drain(..).chain(self.word.drain(..)) {
            self.row.push(span);
        }
        self.row_width += self.gap_width + self.word_width;
        (self.gap_width, self.word_width) = (0, 0);
    }

    fn end_row(&mut self) {
        self.gap.clear();
        self.gap_width = 0;
        let row = std::mem::replace(&mut self.row, self.indent.clone());
        self.row_width = self.indent_width;
        self.rows.push(row);
    }

    fn finish(mut self) -> Vec<Line> {
        self.take_word();
        self.rows.push(self.row);
        self.rows
    }
}

fn push(spans: &mut Vec<Span>, cluster: &str, style: Style) {
    match spans.last_mut() {
        Some(last) if last.style() == style => last.append_safe(cluster),
        _ => spans.push(Span::of_safe(cluster, style)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::text::{Color, width};
    use proptest::prelude::*;

    fn rows(text: &str, columns: usize, indent: &str) -> Vec<String> {
        wrap(&Line::plain(text), columns, &Line::plain(indent)).iter().map(Line::text).collect()
    }

    #[test]
    fn rows_end_at_blanks() {
        assert_eq!(rows("the quick brown fox", 10, ""), ["the quick", "brown fox"]);
        assert_eq!(rows("the quick brown fox", 10, "  "), ["the quick", "  brown", "  fox"]);
        assert_eq!(rows("", 10, ""), [""]);
        assert_eq!(rows("exactly 10", 10, ""), ["exactly 10"]);
        assert_eq!(rows("    four blanks", 8, ""), ["    four", "blanks"]);
    }

    #[test]
    fn long_words_are_cut_between_clusters() {
        assert_eq!(rows("abcdefghij", 4, ""), ["abcd", "efgh", "ij"]);
        assert_eq!(rows("日本語の文章", 5, ""), ["日本", "語の", "文章"]);
        assert_eq!(rows("ab👨\u{200d}👩\u{200d}👧cd", 3, ""), ["ab", "👨\u{200d}👩\u{200d}👧", "cd"]);
        assert_eq!(rows("日本", 1, ""), ["日", "本"], "each row takes a cluster");
    }

    #[test]
    fn code_keeps_its_blanks() {
        let rows = wrap_exact(&Line::plain("  let  x = 日本;"), 7);
        assert_eq!(rows.iter().map(Line::text).collect::<Vec<_>>(), ["  let  ", "x = 日", "本;"]);
    }

    #[test]
    fn styles_stay_with_their_words() {
        let red = Style::PLAIN.foreground(Color::Ansi(1));
        let line = Line::plain("plain ").with("red words here", red);
        let rows = wrap(&line, 10, &Line::new());
        assert_eq!(rows.iter().map(Line::text).collect::<Vec<_>>(), ["plain red", "words here"]);
        assert_eq!(rows[1].spans()[0].style(), red);
    }

    proptest! {
        #[test]
        fn nothing_but_blanks_is_lost_and_no_row_is_too_wide(text in "[a-z 日é👍]{0,80}", columns in 2usize..30) {
            let shown = rows(&text, columns, "");
            for row in &shown {
                prop_assert!(width(row) <= columns, "{row:?}");
            }
            let letters = |text: &str| text.chars().filter(|c| *c != ' ').collect::<String>();
            prop_assert_eq!(letters(&shown.concat()), letters(&text));
        }
    }
}
