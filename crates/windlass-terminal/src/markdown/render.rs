//! Markdown events to rows.

use super::code::code_lines;
use super::table::Table;
use crate::layout::{Layout, prefixed};
use crate::text::{Line, Span, Style, safe_lines, width, wrap, wrap_exact};
use crate::theme::Role;
use pulldown_cmark::{CodeBlockKind, CowStr, Event, HeadingLevel, Options, Parser, Tag, TagEnd};

/// Deepest nesting of quotes and lists that is indented. What is deeper stands at that depth.
const DEEPEST: usize = 12;
/// Widest rule.
const RULE: usize = 40;

pub(super) fn options() -> Options {
    Options::ENABLE_TABLES | Options::ENABLE_STRIKETHROUGH | Options::ENABLE_TASKLISTS
}

/// Rows of a source. The first ordered list begins with `first_number` if that is given.
pub(super) fn rows(source: &str, first_number: Option<u64>, layout: &Layout<'_>) -> Vec<Line> {
    let mut renderer = Renderer::new(first_number, *layout);
    for event in Parser::new_ext(source, options()) {
        renderer.event(event);
    }
    renderer.finish()
}

/// A quote or a list item around blocks.
#[derive(Debug)]
enum Container {
    Quote,
    Item {
        marker: String,
        /// `true` once the marker stands before a row.
        is_marked: bool,
    },
}

#[derive(Debug)]
struct Renderer<'a> {
    layout: Layout<'a>,
    rows: Vec<Line>,
    containers: Vec<Container>,
    /// Next number of each open list; `None` for a list of bullets.
    lists: Vec<Option<u64>>,
    first_number: Option<u64>,
    /// Finished lines of the open paragraph, and the one that grows.
    lines: Vec<Line>,
    line: Line,
    styles: Vec<Style>,
    /// Targets of open links and images, with the width of the text before them.
    links: Vec<(String, String)>,
    /// Info string and text of the open block of code.
    code: Option<(String, String)>,
    html: bool,
    table: Option<Table>,
    /// `true` if a row without text is due before the next block.
    is_separated: bool,
}

impl<'a> Renderer<'a> {
    fn new(first_number: Option<u64>, layout: Layout<'a>) -> Self {
        Self {
            layout,
            rows: Vec::new(),
            containers: Vec::new(),
            lists: Vec::new(),
            first_number,
            lines: Vec::new(),
            line: Line::new(),
            styles: Vec::new(),
            links: Vec::new(),
            code: None,
            html: false,
            table: None,
            is_separated: false,
        }
    }

    fn event(&mut self, event: Event<'_>) {
        match event {
            Event::Start(tag) => self.start(tag),
            Event::End(tag) => self.end(tag),
            Event::Text(text) => self.text(&text),
            Event::Code(code) => self.styled(&code, Role::Code),
            Event::InlineHtml(html) | Event::Html(html) if !self.html => self.text(&html),
            Event::Html(html) | Event::InlineHtml(html) => self.html_lines(&html),
            Event::SoftBreak => self.text(" "),
            Event::HardBreak => self.lines.push(std::mem::take(&mut self.line)),
            Event::Rule => {
                self.begin_block();
                let columns = self.room().min(RULE);
                let rule = self.layout.line(self.layout.glyphs.rule.repeat(columns), Role::Border);
                self.emit(vec![rule]);
                self.is_separated = true;
            }
            Event::TaskListMarker(is_done) => self.text(if is_done { "[x] " } else { "[ ] " }),
            Event::InlineMath(text) | Event::DisplayMath(text) | Event::FootnoteReference(text) => self.text(&text),
        }
    }

    fn start(&mut self, tag: Tag<'_>) {
        match tag {
            Tag::Paragraph => self.begin_block(),
            Tag::Heading { level, .. } => {
                self.begin_block();
                let style = self.layout.style(Role::Heading);
                self.styles.push(if level == HeadingLevel::H1 { style.underline() } else { style });
            }
            Tag::BlockQuote(_) => {
                self.flush();
                self.begin_block();
                self.containers.push(Container::Quote);
                self.styles.push(self.layout.style(Role::Quote));
            }
            Tag::CodeBlock(kind) => {
                self.flush();
                self.begin_block();
                let info = if let CodeBlockKind::Fenced(info) = kind { info.to_string() } else { String::new() };
                self.code = Some((info, String::new()));
            }
            Tag::HtmlBlock => {
                self.begin_block();
                self.html = true;
            }
            Tag::List(first) => {
                self.flush();
                if self.lists.is_empty() {
                    self.begin_block();
                }
                self.lists.push(first.map(|first| self.first_number.take().unwrap_or(first)));
            }
            Tag::Item => self.start_item(),
            Tag::Table(_) => {
                self.begin_block();
                self.table = Some(Table::default());
            }
            Tag::Emphasis => self.push_style(Style::PLAIN.italic()),
            Tag::Strong => self.push_style(Style::PLAIN.bold()),
            Tag::Strikethrough => self.push_style(Style::PLAIN.strikethrough()),
            Tag::Link { dest_url, .. } => {
                self.start_link(&dest_url);
                self.push_style(self.layout.style(Role::Link));
            }
            Tag::Image { dest_url, .. } => {
                self.text("[image: ");
                self.start_link(&dest_url);
                self.push_style(Style::PLAIN);
            }
            _ => {}
        }
    }

    fn end(&mut self, tag: TagEnd) {
        match tag {
            TagEnd::Paragraph => self.end_block(),
            TagEnd::Heading(_) => {
                self.styles.pop();
                self.end_block();
            }
            TagEnd::BlockQuote(_) => {
                self.flush();
                self.containers.pop();
                self.styles.pop();
                self.is_separated = self.containers.is_empty();
            }
            TagEnd::CodeBlock => self.end_code(),
            TagEnd::HtmlBlock => {
                self.html = false;
                self.end_block();
            }
            TagEnd::List(_) => {
                self.lists.pop();
                self.is_separated = self.containers.is_empty();
            }
            TagEnd::Item => self.end_item(),
            TagEnd::Table => self.end_table(),
            TagEnd::TableHead | TagEnd::TableRow => {
                if let Some(table) = &mut self.table {
                    table.end_row();
                }
            }
            TagEnd::TableCell => {
                let cell = std::mem::take(&mut self.line);
                if let Some(table) = &mut self.table {
                    table.push(cell);
                }
            }
            TagEnd::Emphasis | TagEnd::Strong | TagEnd::Strikethrough => {
                self.styles.pop();
            }
            TagEnd::Link => {
                self.styles.pop();
                self.end_link("");
            }
            TagEnd::Image => {
                self.styles.pop();
                self.end_link("]");
            }
            _ => {}
        }
    }

    /// Columns inside the containers.
    fn room(&self) -> usize {
        self.layout.narrowed(self.prefix(false).width()).columns
    }

    fn start_item(&mut self) {
        self.flush();
        let depth = self.lists.len().saturating_sub(1);
        let marker = match self.lists.last_mut() {
            Some(Some(number)) => {
                let marker = format!("{number}. ");
                *number = number.saturating_add(1);
                marker
            }
            _ => {
                let [first, second, third] = self.layout.glyphs.items;
                let glyph = match depth % 3 {
                    0 => first,
                    1 => second,
                    _ => third,
                };
                format!("{glyph} ")
            }
        };
        self.containers.push(Container::Item { marker, is_marked: false });
    }

    fn end_item(&mut self) {
        self.flush();
        if let Some(Container::Item { is_marked: false, .. }) = self.containers.last() {
            // An item without text shows its marker.
            self.emit(vec![Line::new()]);
        }
        self.containers.pop();
    }

    fn end_code(&mut self) {
        let Some((info, code)) = self.code.take() else { return };
        let indent = Line::plain("  ");
        let room = self.layout.narrowed(self.prefix(false).width() + 2).columns;
        let mut rows = Vec::new();
        for line in code_lines(&code, &info, &self.layout) {
            rows.extend(prefixed(wrap_exact(&line, room), &indent, &indent));
        }
        if !rows.is_empty() {
            self.emit(rows);
        }
        self.is_separated = self.containers.is_empty();
    }

    fn end_table(&mut self) {
        let Some(table) = self.table.take() else { return };
        let layout = Layout { columns: self.room(), ..self.layout };
        let rows = table.rows(&layout);
        self.emit(rows);
        self.is_separated = self.containers.is_empty();
    }

    fn style(&self) -> Style {
        self.styles.iter().fold(self.layout.style(Role::Text), |below, style| below.patched(*style))
    }

    fn push_style(&mut self, style: Style) {
        self.styles.push(style);
    }

    fn text(&mut self, text: &str) {
        if let Some((_, code)) = &mut self.code {
            code.push_str(text);
            return;
        }
        if let Some((_, shown)) = self.links.last_mut() {
            shown.push_str(text);
        }
        self.line.push(Span::new(text, self.style()));
    }

    fn styled(&mut self, text: &str, role: Role) {
        if let Some((_, shown)) = self.links.last_mut() {
            shown.push_str(text);
        }
        self.line.push(Span::new(text, self.style().patched(self.layout.style(role))));
    }

    fn html_lines(&mut self, html: &str) {
        for line in safe_lines(html) {
            self.lines.push(self.layout.line(line, Role::Faint));
        }
    }

    fn start_link(&mut self, target: &CowStr<'_>) {
        self.links.push((target.to_string(), String::new()));
    }

    /// Shows the target behind the text of a link, unless the text is the target.
    fn end_link(&mut self, behind: &str) {
        let Some((target, shown)) = self.links.pop() else { return };
        self.line.push(Span::new(behind, self.style()));
        let is_same = target == shown || target.strip_prefix("mailto:") == Some(shown.as_str());
        if !is_same && !target.is_empty() {
            self.line.push(self.layout.span(format!(" ({target})"), Role::Faint));
        }
    }

    /// Prefix of a row inside the containers, with the markers of items if it is the first row of theirs.
    fn prefix(&self, is_first: bool) -> Line {
        let mut prefix = Line::new();
        for container in self.containers.iter().take(DEEPEST) {
            match container {
                Container::Quote => {
                    prefix.push(self.layout.span(format!("{} ", self.layout.glyphs.bar), Role::Border));
                }
                Container::Item { marker, is_marked: false } if is_first => {
                    prefix.push(self.layout.span(marker, Role::Faint));
                }
                Container::Item { marker, .. } => prefix.push(Span::plain(" ".repeat(width(marker)))),
            }
        }
        prefix
    }

    /// Begins a block: behind another one, a row without text separates them. Lists are tight.
    fn begin_block(&mut self) {
        let is_in_item = self.containers.iter().any(|container| matches!(container, Container::Item { .. }));
        if std::mem::take(&mut self.is_separated) && !is_in_item {
            let row = self.prefix(false);
            self.rows.push(row);
        }
    }

    fn end_block(&mut self) {
        self.flush();
        self.is_separated = true;
    }

    /// Lays out the text that is open.
    fn flush(&mut self) {
        if self.line.is_empty() && self.lines.is_empty() {
            return;
        }
        let last = std::mem::take(&mut self.line);
        let mut lines = std::mem::take(&mut self.lines);
        if !last.is_empty() {
            lines.push(last);
        }
        let room = self.room();
        let rows = lines.iter().flat_map(|line| wrap(line, room, &Line::new())).collect();
        self.emit(rows);
    }

    /// Appends rows, with the prefixes of the containers.
    fn emit(&mut self, rows: Vec<Line>) {
        let (first, rest) = (self.prefix(true), self.prefix(false));
        self.rows.extend(prefixed(rows, &first, &rest));
        for container in &mut self.containers {
            if let Container::Item { is_marked, .. } = container {
                *is_marked = true;
            }
        }
    }

    fn finish(mut self) -> Vec<Line> {
        self.flush();
        self.rows
    }
}
