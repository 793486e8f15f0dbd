//! Markdown that streams: blocks that no further text can change are given out.

use super::render;
use crate::layout::Layout;
use crate::text::Line;
use pulldown_cmark::{Event, Parser, Tag};
use std::ops::Range;
use windlass_types::text::TerminalFilter;

/// Most bytes that wait for the end of their block. A longer block is given out in parts.
const MOST_OPEN: usize = 16 * 1024;

/// A finished part of a Markdown text, of whole blocks, list items or lines of code.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
#[non_exhaustive]
pub struct MarkdownChunk {
    /// Markdown, without anything that a terminal would obey.
    pub source: String,
    /// `true` if the part continues the block before, so no row separates them.
    pub continues: bool,
    /// Number of the first item, if the part continues an ordered list.
    pub first_number: Option<u64>,
}

impl MarkdownChunk {
    /// Rows of the part.
    #[must_use]
    pub fn rows(&self, layout: &Layout<'_>) -> Vec<Line> {
        render::rows(&self.source, self.first_number, layout)
    }
}

/// Cutter of a Markdown text that arrives in pieces.
///
/// The parts that were given out and the [`tail`](Self::tail) are the whole text at each moment. At most 16 KiB wait in the
/// tail, besides the pieces since the last call of [`take_finished`](Self::take_finished).
#[derive(Debug, Default)]
pub struct MarkdownStream {
    filter: TerminalFilter,
    /// Text that was not given out.
    open: String,
    /// Opening line of the block of code that `open` continues.
    fence: Option<String>,
    continues: bool,
    next_number: Option<u64>,
    /// Length of `open` up to the last line end that was looked at.
    seen: usize,
}

impl MarkdownStream {
    /// Appends a piece of the text.
    pub fn push(&mut self, piece: &str) {
        let clean = self.filter.clean(piece);
        self.open.push_str(&clean);
    }

    /// `true` if nothing waits.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.open.trim().is_empty()
    }

    /// Bytes of the tail.
    pub(crate) fn tail_size(&self) -> usize {
        self.open.len()
    }

    /// Takes the parts that no further text can change.
    pub fn take_finished(&mut self) -> Vec<MarkdownChunk> {
        let mut chunks = Vec::new();
        loop {
            let complete = self.open.rfind('\n').map_or(0, |at| at + 1);
            if complete > self.seen {
                self.seen = complete;
                chunks.extend(self.take_blocks(complete));
                self.seen = self.open.rfind('\n').map_or(0, |at| at + 1);
            }
            if self.open.len() <= MOST_OPEN {
                return chunks;
            }
            chunks.push(self.take_forced());
        }
    }

    /// Takes all that is left, at the end of the text.
    pub fn finish(&mut self) -> Vec<MarkdownChunk> {
        let mut chunks = self.take_finished();
        let rest = std::mem::take(self);
        if !rest.is_empty() {
            chunks.push(rest.tail());
        }
        chunks
    }

    /// The text that was not given out, as it is now.
    #[must_use]
    pub fn tail(&self) -> MarkdownChunk {
        self.chunk(&self.open)
    }

    fn chunk(&self, text: &str) -> MarkdownChunk {
        let mut source = self.fence.clone().unwrap_or_default();
        source.push_str(text);
        MarkdownChunk { source, continues: self.continues, first_number: self.next_number }
    }

    /// Takes the finished blocks of the complete lines.
    fn take_blocks(&mut self, complete: usize) -> Option<MarkdownChunk> {
        let lines = self.open.get(..complete)?;
        let source = self.chunk(lines).source;
        let fence = self.fence.as_ref().map_or(0, String::len);
        let cut = cut(&source, self.next_number)?;
        // Of a block of code that continues, a cut in its own opening line gives out nothing.
        let length = cut.at.checked_sub(fence).filter(|length| *length > 0)?;
        let chunk = self.chunk(self.open.get(..length)?);
        self.open.drain(..length);
        self.fence = cut.fence;
        self.continues = cut.is_inside;
        self.next_number = cut.next_number;
        Some(chunk)
    }

    /// Takes the beginning of a block that is too long to wait for its end.
    fn take_forced(&mut self) -> MarkdownChunk {
        let limit = (0..=MOST_OPEN).rev().find(|at| self.open.is_char_boundary(*at)).unwrap_or(0);
        let head = self.open.get(..limit).unwrap_or_default();
        let length = head.rfind('\n').or_else(|| head.rfind(' ')).map_or(limit, |at| at + 1);
        let chunk = self.chunk(self.open.get(..length).unwrap_or_default());
        self.open.drain(..length);
        self.seen = 0;
        self.continues = true;
        chunk
    }
}

/// Place behind the finished part of a text of complete lines.
#[derive(Debug)]
struct Cut {
    at: usize,
    /// `true` if it is inside a block.
    is_inside: bool,
    fence: Option<String>,
    next_number: Option<u64>,
}

impl Cut {
    fn between(at: usize) -> Self {
        Self { at, is_inside: false, fence: None, next_number: None }
    }
}

/// The last block of a text, with the beginnings of the items if it is a list.
#[derive(Debug)]
struct LastBlock {
    kind: BlockKind,
    range: Range<usize>,
    items: Vec<usize>,
}

#[derive(Debug, Clone, Copy)]
enum BlockKind {
    Heading,
    Rule,
    /// Ends at a line without text.
    Closed,
    Fence,
    List(Option<u64>),
    /// Nothing but the next block ends it.
    Open,
}

/// The place behind the last block that no further line can change; `None` if there is none.
fn cut(source: &str, first_number: Option<u64>) -> Option<Cut> {
    let (count, last) = last_block(source)?;
    let end = last.range.end;
    let behind = source.get(end..).unwrap_or_default();
    // The range of some blocks ends before their line end, of others behind it.
    let ends_line = source.get(..end).is_some_and(|text| text.ends_with('\n'));
    let is_followed = behind.chars().filter(|c| *c == '\n').count() >= if ends_line { 1 } else { 2 };
    let inner = match last.kind {
        BlockKind::Heading | BlockKind::Rule => Some(Cut::between(source.len())),
        BlockKind::Closed if is_followed => Some(Cut::between(source.len())),
        BlockKind::Fence => cut_fence(source, &last),
        BlockKind::List(number) => {
            let items = last.items.len().saturating_sub(1);
            let at = last.items.last().copied().filter(|_| items > 0);
            let first = if count == 1 { first_number.or(number) } else { number };
            let next_number = number.and(first).map(|first| first.saturating_add(items as u64));
            at.map(|at| Cut { at, is_inside: true, fence: None, next_number })
        }
        BlockKind::Closed | BlockKind::Open => None,
    };
    inner.or_else(|| (count > 1).then(|| Cut::between(last.range.start)))
}

/// All complete lines of a block of code are finished, and the block itself behind its closing line.
fn cut_fence(source: &str, last: &LastBlock) -> Option<Cut> {
    let block = source.get(last.range.clone()).unwrap_or_default();
    let opening = block.lines().next().unwrap_or_default();
    let trimmed = opening.trim_start();
    let mark = trimmed.chars().next().unwrap_or('`');
    let length = trimmed.chars().take_while(|c| *c == mark).count();
    let is_closing = |line: &str| {
        let line = line.trim();
        line.chars().count() >= length && line.chars().all(|c| c == mark)
    };
    if block.lines().count() < 2 {
        return None;
    }
    let is_closed = block.lines().last().is_some_and(is_closing);
    if is_closed {
        return Some(Cut::between(source.len()));
    }
    let indent = opening.len() - trimmed.len();
    let fence = format!("{}{trimmed}\n", " ".repeat(indent));
    Some(Cut { at: source.len(), is_inside: true, fence: Some(fence), next_number: None })
}

/// Number of blocks at the top, and the last of them.
fn last_block(source: &str) -> Option<(usize, LastBlock)> {
    let (mut depth, mut count) = (0_usize, 0);
    let mut last: Option<LastBlock> = None;
    for (event, range) in Parser::new_ext(source, render::options()).into_offset_iter() {
        match event {
            Event::Start(tag) => {
                match (depth, &tag) {
                    (0, _) => {
                        count += 1;
                        last = Some(LastBlock { kind: block_kind(&tag, source, &range), range, items: Vec::new() });
                    }
                    (1, Tag::Item) => {
                        if let Some(last) = &mut last {
                            last.items.push(range.start);
                        }
                    }
                    _ => {}
                }
                depth += 1;
            }
            Event::End(_) => depth = depth.saturating_sub(1),
            Event::Rule if depth == 0 => {
                count += 1;
                last = Some(LastBlock { kind: BlockKind::Rule, range, items: Vec::new() });
            }
            _ => {}
        }
    }
    last.map(|last| (count, last))
}

fn block_kind(tag: &Tag<'_>, source: &str, range: &Range<usize>) -> BlockKind {
    match tag {
        Tag::Heading { .. } => BlockKind::Heading,
        Tag::Paragraph | Tag::BlockQuote(_) | Tag::Table(_) => BlockKind::Closed,
        Tag::List(first) => BlockKind::List(*first),
        Tag::CodeBlock(pulldown_cmark::CodeBlockKind::Fenced(_)) => {
            let block = source.get(range.clone()).unwrap_or_default().trim_start();
            if block.starts_with("```") || block.starts_with("~~~") { BlockKind::Fence } else { BlockKind::Open }
        }
        _ => BlockKind::Open,
    }
}
