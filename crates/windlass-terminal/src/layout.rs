//! Room, styles and glyphs that rows are laid out with.

use crate::text::{Line, Span, Style};
use crate::theme::{Role, Theme};

/// Characters beside the text, for terminals with and without Unicode.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct Glyphs {
    /// Mark of an answer or a tool call. One column.
    pub bullet: &'static str,
    /// Mark of a message of the user. One column.
    pub prompt: &'static str,
    /// Mark of a result below its call. One column.
    pub elbow: &'static str,
    /// Vertical line. One column.
    pub bar: &'static str,
    /// Horizontal line. One column.
    pub rule: &'static str,
    /// Crossing of both lines. One column.
    pub cross: &'static str,
    /// Mark of text that is left out. At most three columns.
    pub ellipsis: &'static str,
    /// Mark between details. One column.
    pub dot: &'static str,
    /// Mark of what is done. One column.
    pub done: &'static str,
    /// Mark of what is being done. One column.
    pub active: &'static str,
    /// Mark of what is to do. One column.
    pub open: &'static str,
    /// Mark of what failed. One column.
    pub failed: &'static str,
    /// Marks of the items of a list, from the outermost list. One column.
    pub items: [&'static str; 3],
    /// Frames of the spinner. One column each.
    pub spinner: &'static [&'static str],
}

impl Glyphs {
    /// Glyphs beyond ASCII.
    pub const UNICODE: Self = Self {
        bullet: "●",
        prompt: "❯",
        elbow: "└",
        bar: "│",
        rule: "─",
        cross: "┼",
        ellipsis: "…",
        dot: "·",
        done: "✓",
        active: "▸",
        open: "○",
        failed: "✗",
        items: ["•", "◦", "▪"],
        spinner: &["⠋", "⠙", "⠹", "⠸", "⠼", "⠴", "⠦", "⠧", "⠇", "⠏"],
    };

    /// Glyphs of ASCII.
    pub const ASCII: Self = Self {
        bullet: "*",
        prompt: ">",
        elbow: "|",
        bar: "|",
        rule: "-",
        cross: "+",
        ellipsis: "...",
        dot: "-",
        done: "x",
        active: ">",
        open: "o",
        failed: "!",
        items: ["*", "-", "+"],
        spinner: &["|", "/", "-", "\\"],
    };
}

/// Room, styles and glyphs of rows.
#[derive(Debug, Clone, Copy)]
#[expect(clippy::exhaustive_structs, reason = "programs make it for each frame")]
pub struct Layout<'a> {
    /// Columns of a row. At least one is used.
    pub columns: usize,
    /// Styles.
    pub theme: &'a Theme,
    /// Characters beside the text.
    pub glyphs: Glyphs,
}

impl<'a> Layout<'a> {
    /// The same with fewer columns, but at least eight, or as many as there are.
    #[must_use]
    pub fn narrowed(self, by: usize) -> Self {
        Self { columns: self.columns.saturating_sub(by).max(self.columns.min(8)), ..self }
    }

    /// The style of a role.
    #[must_use]
    pub fn style(&self, role: Role) -> Style {
        self.theme.style(role)
    }

    /// A span in the style of a role.
    #[must_use]
    pub fn span(&self, text: impl AsRef<str>, role: Role) -> Span {
        Span::new(text, self.style(role))
    }

    /// A line in the style of a role.
    #[must_use]
    pub fn line(&self, text: impl AsRef<str>, role: Role) -> Line {
        Line::styled(text, self.style(role))
    }

    /// Details behind each other, with dots between them.
    #[must_use]
    pub fn details<T: AsRef<str>>(&self, details: impl IntoIterator<Item = T>) -> String {
        let mut joined = String::new();
        for detail in details {
            if !joined.is_empty() {
                joined.push(' ');
                joined.push_str(self.glyphs.dot);
                joined.push(' ');
            }
            joined.push_str(detail.as_ref());
        }
        joined
    }
}

/// Rows with `first` before the first and `rest` before the others.
pub(crate) fn prefixed(rows: impl IntoIterator<Item = Line>, first: &Line, rest: &Line) -> Vec<Line> {
    let mut prefix = first;
    let mut prefixed = Vec::new();
    for row in rows {
        let mut line = prefix.clone();
        line.extend(row);
        prefixed.push(line);
        prefix = rest;
    }
    prefixed
}

/// A number of bytes for people, such as `1.2 MB`.
pub(crate) fn bytes(count: usize) -> String {
    match count {
        0..1_000 => format!("{count} B"),
        1_000..1_000_000 => format!("{:.1} kB", count as f64 / 1e3),
        _ => format!("{:.1} MB", count as f64 / 1e6),
    }
}

/// A number of tokens for people, such as `12.3k`.
pub(crate) fn tokens(count: u64) -> String {
    match count {
        0..1_000 => count.to_string(),
        1_000..1_000_000 => format!("{:.1}k", count as f64 / 1e3),
        _ => format!("{:.1}M", count as f64 / 1e6),
    }
}

/// A duration for people, such as `340 ms`, `12.3 s` and `4m 05s`.
pub(crate) fn duration(millis: u64) -> String {
    match millis {
        0..1_000 => format!("{millis} ms"),
        1_000..60_000 => format!("{:.1} s", millis as f64 / 1e3),
        60_000..3_600_000 => format!("{}m {:02}s", millis / 60_000, millis / 1_000 % 60),
        _ => format!("{}h {:02}m", millis / 3_600_000, millis / 60_000 % 60),
    }
}

/// A word for a number of things: `1 line`, `2 lines`.
pub(crate) fn plural(count: usize, noun: &str) -> String {
    let ending = if count == 1 { "" } else { "s" };
    format!("{count} {noun}{ending}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn figures_are_short() {
        assert_eq!([bytes(999), bytes(1_234), bytes(5_600_000)], ["999 B", "1.2 kB", "5.6 MB"]);
        assert_eq!([tokens(999), tokens(12_345), tokens(1_000_000)], ["999", "12.3k", "1.0M"]);
        assert_eq!(
            [duration(340), duration(12_345), duration(245_000), duration(3_700_000)],
            ["340 ms", "12.3 s", "4m 05s", "1h 01m"]
        );
        assert_eq!([plural(1, "line"), plural(2, "line")], ["1 line", "2 lines"]);
    }
}
