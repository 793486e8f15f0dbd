//! Lines of styled spans.

use super::safe::safe_line;
use super::style::Style;
use super::width::width;

/// A text in one style. Safe to show: hidden characters, escape codes and line breaks never get into one.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Default)]
pub struct Span {
    text: String,
    style: Style,
}

impl Span {
    /// A span of this text, made safe by [`safe_line`].
    pub fn new(text: impl AsRef<str>, style: Style) -> Self {
        Self { text: safe_line(text.as_ref()).into_owned(), style }
    }

    /// A span in the default colours, made safe by [`safe_line`].
    pub fn plain(text: impl AsRef<str>) -> Self {
        Self::new(text, Style::PLAIN)
    }

    /// A span of a part of a text that is safe already.
    pub(crate) fn of_safe(text: impl Into<String>, style: Style) -> Self {
        Self { text: text.into(), style }
    }

    /// Appends a part of a text that is safe already.
    pub(super) fn append_safe(&mut self, text: &str) {
        self.text.push_str(text);
    }

    /// Text of the span.
    #[must_use]
    pub fn text(&self) -> &str {
        &self.text
    }

    /// Style of the span.
    #[must_use]
    pub fn style(&self) -> Style {
        self.style
    }
}

/// A line of spans. One row of the screen, or several once it is wrapped.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Default)]
pub struct Line {
    spans: Vec<Span>,
}

impl Line {
    /// An empty line.
    #[must_use]
    pub const fn new() -> Self {
        Self { spans: Vec::new() }
    }

    /// A line of one span, made safe.
    pub fn styled(text: impl AsRef<str>, style: Style) -> Self {
        Self::new().with(text, style)
    }

    /// A line in the default colours, made safe.
    pub fn plain(text: impl AsRef<str>) -> Self {
        Self::styled(text, Style::PLAIN)
    }

    /// The line with this text behind it, made safe.
    #[must_use]
    pub fn with(mut self, text: impl AsRef<str>, style: Style) -> Self {
        self.push(Span::new(text, style));
        self
    }

    /// Appends a span. Spans of the same style become one.
    pub fn push(&mut self, span: Span) {
        if span.text.is_empty() {
            return;
        }
        match self.spans.last_mut() {
            Some(last) if last.style == span.style => last.text.push_str(&span.text),
            _ => self.spans.push(span),
        }
    }

    /// Appends the spans of another line.
    pub fn extend(&mut self, other: Self) {
        for span in other.spans {
            self.push(span);
        }
    }

    /// Spans of the line.
    #[must_use]
    pub fn spans(&self) -> &[Span] {
        &self.spans
    }

    /// Text of the line without styles.
    #[must_use]
    pub fn text(&self) -> String {
        self.spans.iter().map(Span::text).collect()
    }

    /// Width in columns.
    #[must_use]
    pub fn width(&self) -> usize {
        self.spans.iter().map(|span| width(&span.text)).sum()
    }

    /// `true` without any text.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.spans.is_empty()
    }
}

impl From<&str> for Line {
    fn from(text: &str) -> Self {
        Self::plain(text)
    }
}

impl From<String> for Line {
    fn from(text: String) -> Self {
        Self::plain(text)
    }
}

impl FromIterator<Span> for Line {
    fn from_iter<I: IntoIterator<Item = Span>>(spans: I) -> Self {
        let mut line = Self::new();
        for span in spans {
            line.push(span);
        }
        line
    }
}
