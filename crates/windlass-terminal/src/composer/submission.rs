//! A prompt as it is sent: placeholders are replaced by their content.

use super::draft::{DraftElement, ElementContent, Fragment, ImageReference};
use crate::completion::mention;

/// A prompt that was sent.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
#[non_exhaustive]
pub struct Submission {
    /// Text and images, in their order. Texts are not empty, and no two follow each other.
    pub parts: Vec<SubmissionPart>,
}

/// A part of a prompt.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum SubmissionPart {
    /// A text, pasted texts included.
    Text(String),
    /// An image.
    Image(ImageReference),
}

impl Submission {
    /// A prompt that is this text.
    #[must_use]
    pub fn text(text: impl Into<String>) -> Self {
        let text = text.into();
        Self { parts: if text.is_empty() { Vec::new() } else { vec![SubmissionPart::Text(text)] } }
    }

    /// All texts, one behind the other.
    #[must_use]
    pub fn all_text(&self) -> String {
        let texts = self.parts.iter().filter_map(|part| match part {
            SubmissionPart::Text(text) => Some(text.as_str()),
            SubmissionPart::Image(_) => None,
        });
        texts.collect()
    }

    /// The prompt as one text, with image files as mentions, which the session reads; `None` if it has an image that no file
    /// holds.
    #[must_use]
    pub fn with_mentions(&self) -> Option<String> {
        let (mut text, mut was_mention) = (String::new(), false);
        for part in &self.parts {
            let (next, is_mention) = match part {
                SubmissionPart::Text(next) => (next.clone(), false),
                SubmissionPart::Image(ImageReference::Path(path)) => (mention(path), true),
                SubmissionPart::Image(ImageReference::Held(_)) => return None,
            };
            // A mention is a word of its own.
            let touches = text.ends_with(|c: char| !c.is_whitespace()) && !next.starts_with(char::is_whitespace);
            if touches && (is_mention || was_mention) {
                text.push(' ');
            }
            text.push_str(&next);
            was_mention = is_mention;
        }
        Some(text)
    }

    /// `true` if there is nothing to send: no image, and no character but blanks.
    #[must_use]
    pub fn is_blank(&self) -> bool {
        self.parts.iter().all(|part| matches!(part, SubmissionPart::Text(text) if text.trim().is_empty()))
    }

    pub(super) fn of(content: &Fragment) -> Self {
        let mut submission = Self::default();
        let mut at = 0;
        for DraftElement { range, content: element } in &content.elements {
            submission.push(content.text.get(at..range.start).unwrap_or_default());
            match element {
                ElementContent::PastedText(text) => submission.push(text),
                ElementContent::Image(image) => submission.parts.push(SubmissionPart::Image(image.clone())),
            }
            at = range.end;
        }
        submission.push(content.text.get(at..).unwrap_or_default());
        submission
    }

    fn push(&mut self, text: &str) {
        match self.parts.last_mut() {
            _ if text.is_empty() => {}
            Some(SubmissionPart::Text(last)) => last.push_str(text),
            _ => self.parts.push(SubmissionPart::Text(text.to_owned())),
        }
    }
}

/// The text with pasted texts in the place of their labels. Labels of images stay.
pub(super) fn expanded(content: &Fragment) -> String {
    let (mut text, mut at) = (String::new(), 0);
    for DraftElement { range, content: element } in &content.elements {
        if let ElementContent::PastedText(pasted) = element {
            text.push_str(content.text.get(at..range.start).unwrap_or_default());
            text.push_str(pasted);
            at = range.end;
        }
    }
    text.push_str(content.text.get(at..).unwrap_or_default());
    text
}

/// A text in which the labels of images of another one are these images again, each at its first place.
pub(super) fn relinked(text: &str, before: &Fragment) -> Fragment {
    let mut elements: Vec<DraftElement> = Vec::new();
    for element in &before.elements {
        let label = before.text.get(element.range.clone()).unwrap_or_default();
        if let (ElementContent::Image(_), Some(at)) = (&element.content, text.find(label)) {
            let range = at..at.saturating_add(label.len());
            elements.push(DraftElement { range, content: element.content.clone() });
        }
    }
    elements.sort_by_key(|element| element.range.start);
    elements.dedup_by(|second, first| second.range.start < first.range.end);
    Fragment { text: text.to_owned(), elements }
}
