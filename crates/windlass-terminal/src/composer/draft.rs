//! The text of a prompt, with elements that are moved and deleted whole.

use std::ops::Range;
use std::sync::Arc;
use unicode_segmentation::{GraphemeCursor, UnicodeSegmentation};

/// An image that belongs to a prompt.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum ImageReference {
    /// An image file, by the path as the user gave it.
    Path(String),
    /// An image that the loop holds, by the number that it gave it.
    Held(u64),
}

/// Content of an element.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum ElementContent {
    /// A pasted text, which the label stands for until the prompt is sent.
    PastedText(Arc<str>),
    /// An image.
    Image(ImageReference),
}

/// A part of the text that is one thing: its label stands in the text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct DraftElement {
    pub(crate) range: Range<usize>,
    pub(crate) content: ElementContent,
}

/// A piece of a text with its elements, in order and apart from each other.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(crate) struct Fragment {
    pub(crate) text: String,
    pub(crate) elements: Vec<DraftElement>,
}

impl Fragment {
    pub(crate) fn text(text: impl Into<String>) -> Self {
        Self { text: text.into(), elements: Vec::new() }
    }

    /// A single element with this label.
    pub(crate) fn element(label: String, content: ElementContent) -> Self {
        Self { elements: vec![DraftElement { range: 0..label.len(), content }], text: label }
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.text.is_empty()
    }

    /// Puts another fragment behind this one.
    pub(crate) fn append(&mut self, other: Self) {
        let by = self.text.len();
        self.text.push_str(&other.text);
        self.elements.extend(other.elements.into_iter().map(|element| moved(element, 0, by)));
    }

    /// Bytes that the fragment takes up.
    pub(crate) fn size(&self) -> usize {
        let elements = self.elements.iter().map(|element| match &element.content {
            ElementContent::PastedText(text) => text.len(),
            ElementContent::Image(_) => 0,
        });
        self.text.len().saturating_add(elements.sum())
    }
}

/// The element with its range moved left by `back` and right by `by`.
fn moved(mut element: DraftElement, back: usize, by: usize) -> DraftElement {
    let shift = |at: usize| at.saturating_sub(back).saturating_add(by);
    element.range = shift(element.range.start)..shift(element.range.end);
    element
}

/// The text of a prompt and the caret in it. The caret is always at a boundary: between grapheme clusters, and never
/// inside of an element.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(crate) struct PromptDraft {
    content: Fragment,
    caret: usize,
}

/// Direction of a search in the text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Direction {
    Back,
    Forward,
}

impl PromptDraft {
    pub(crate) fn new(content: Fragment) -> Self {
        let caret = content.text.len();
        Self { content, caret }
    }

    pub(crate) fn content(&self) -> &Fragment {
        &self.content
    }

    pub(crate) fn text(&self) -> &str {
        &self.content.text
    }

    pub(crate) fn caret(&self) -> usize {
        self.caret
    }

    pub(crate) fn set_caret(&mut self, at: usize) {
        self.caret = self.boundary(at);
    }

    pub(crate) fn slice(&self, range: Range<usize>) -> &str {
        self.content.text.get(range).unwrap_or_default()
    }

    /// The element that begins, ends, or both, around a place; `at` is inside or at an edge.
    pub(crate) fn element_at(&self, at: usize) -> Option<&DraftElement> {
        self.content.elements.iter().find(|element| element.range.start <= at && at <= element.range.end)
    }

    /// The stretch between two elements that holds a place, or `Err` with the element that does.
    fn stretch(&self, at: usize) -> Result<Range<usize>, Range<usize>> {
        let mut start = 0;
        for DraftElement { range, .. } in &self.content.elements {
            if at <= range.start {
                return Ok(start..range.start);
            }
            if at < range.end {
                return Err(range.clone());
            }
            start = range.end;
        }
        Ok(start..self.content.text.len())
    }

    /// The nearest boundary at or behind a place.
    pub(crate) fn boundary(&self, at: usize) -> usize {
        let stretch = match self.stretch(at.min(self.text().len())) {
            Ok(stretch) => stretch,
            Err(element) => return element.end,
        };
        let text = self.slice(stretch.clone());
        let mut inside = at.saturating_sub(stretch.start).min(text.len());
        while !text.is_char_boundary(inside) {
            inside = inside.saturating_add(1);
        }
        let mut cursor = GraphemeCursor::new(inside, text.len(), true);
        let inside = match cursor.is_boundary(text, 0) {
            Ok(true) => inside,
            _ => cursor.next_boundary(text, 0).ok().flatten().unwrap_or(text.len()),
        };
        stretch.start.saturating_add(inside)
    }

    /// The boundary behind a place.
    pub(crate) fn next(&self, at: usize) -> usize {
        if let Some(element) = self.content.elements.iter().find(|element| element.range.start == at) {
            return element.range.end;
        }
        let Ok(stretch) = self.stretch(at) else { return self.boundary(at) };
        // At the edge of an element the stretch behind it counts.
        let stretch = if at == stretch.end { self.stretch(at.saturating_add(1)).unwrap_or(stretch) } else { stretch };
        let end = stretch.end.max(at);
        let length = self.slice(at..end).graphemes(true).next().map_or(0, str::len);
        at.saturating_add(length).min(self.text().len())
    }

    /// The boundary before a place.
    pub(crate) fn previous(&self, at: usize) -> usize {
        if let Some(element) = self.content.elements.iter().find(|element| element.range.end == at) {
            return element.range.start;
        }
        match self.stretch(at) {
            Ok(stretch) => {
                let start = stretch.start.min(at);
                at.saturating_sub(self.slice(start..at).graphemes(true).next_back().map_or(0, str::len))
            }
            Err(element) => element.start,
        }
    }

    /// The next boundary in a direction.
    pub(crate) fn neighbour(&self, at: usize, direction: Direction) -> usize {
        match direction {
            Direction::Back => self.previous(at),
            Direction::Forward => self.next(at),
        }
    }

    /// The cluster or element between a place and its neighbour, in order.
    fn between(&self, at: usize, other: usize) -> &str {
        self.slice(at.min(other)..at.max(other))
    }

    /// The place behind all clusters, in a direction, that first `skip` and then `take` accepts. An element is a word of its own.
    pub(crate) fn word(&self, direction: Direction, is_word: fn(&str) -> bool) -> usize {
        let mut at = self.caret;
        let mut found = false;
        loop {
            let next = self.neighbour(at, direction);
            if next == at {
                return at;
            }
            let is_element = self
                .content
                .elements
                .iter()
                .any(|element| (element.range.start, element.range.end) == (at.min(next), at.max(next)));
            if is_element {
                return if found { at } else { next };
            }
            match (is_word(self.between(at, next)), found) {
                (true, _) => found = true,
                (false, true) => return at,
                (false, false) => {}
            }
            at = next;
        }
    }

    /// Beginning of the line that holds a place.
    pub(crate) fn line_start(&self, at: usize) -> usize {
        let before = self.slice(0..at);
        let newline = before.char_indices().rev().find(|(index, c)| *c == '\n' && !self.is_inside(*index));
        newline.map_or(0, |(index, _)| index.saturating_add(1))
    }

    /// End of the line that holds a place, before its line end.
    pub(crate) fn line_end(&self, at: usize) -> usize {
        let behind = self.slice(at..self.text().len());
        let newline = behind.match_indices('\n').map(|(index, _)| at.saturating_add(index));
        newline.into_iter().find(|index| !self.is_inside(*index)).unwrap_or(self.text().len())
    }

    /// `true` if a byte belongs to an element.
    fn is_inside(&self, at: usize) -> bool {
        self.content.elements.iter().any(|element| element.range.contains(&at))
    }

    /// Replaces a range, widened to whole elements. Returns the place of the new text and what was removed. The caret is
    /// behind the new text.
    pub(crate) fn replace(&mut self, range: Range<usize>, new: Fragment) -> (usize, Fragment) {
        let range = self.whole(range);
        let mut behind = Fragment { text: self.content.text.split_off(range.start), elements: Vec::new() };
        let rest = behind.text.split_off(range.len().min(behind.text.len()));
        let mut removed = Fragment { text: behind.text, elements: Vec::new() };
        let mut tail = Fragment { text: rest, elements: Vec::new() };
        for element in std::mem::take(&mut self.content.elements) {
            if element.range.end <= range.start {
                self.content.elements.push(element);
            } else if element.range.start >= range.end {
                tail.elements.push(moved(element, range.end, 0));
            } else {
                removed.elements.push(moved(element, range.start, 0));
            }
        }
        self.content.append(new);
        let caret = self.content.text.len();
        self.content.append(tail);
        self.set_caret(caret);
        (range.start, removed)
    }

    /// The range at character boundaries, in order, with each element that it touches inside.
    fn whole(&self, range: Range<usize>) -> Range<usize> {
        let length = self.text().len();
        let (mut start, mut end) = (range.start.min(length), range.end.min(length));
        end = end.max(start);
        while !self.text().is_char_boundary(start) {
            start = start.saturating_sub(1);
        }
        while !self.text().is_char_boundary(end) {
            end = end.saturating_add(1);
        }
        for DraftElement { range, .. } in &self.content.elements {
            let overlaps = range.start < end && start < range.end;
            let holds = start == end && range.start < start && start < range.end;
            if overlaps || holds {
                (start, end) = (start.min(range.start), end.max(range.end));
            }
        }
        start..end
    }

    /// Takes everything out.
    pub(crate) fn take(&mut self) -> Fragment {
        self.caret = 0;
        std::mem::take(&mut self.content)
    }
}

/// `true` for a cluster of a word: letters, digits and `_`.
pub(crate) fn is_word(cluster: &str) -> bool {
    cluster.chars().next().is_some_and(|c| c.is_alphanumeric() || c == '_')
}

/// `true` for a cluster that is no blank.
pub(crate) fn is_no_blank(cluster: &str) -> bool {
    !cluster.chars().next().is_some_and(char::is_whitespace)
}
