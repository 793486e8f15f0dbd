//! A text of the editor that is kept: in the history, in the queue, or while a dialog is shown.

use super::draft::{DraftElement, ElementContent, Fragment, ImageReference};
use super::submission::{self, Submission};
use serde::{Deserialize, Serialize};
use std::ops::Range;
use std::sync::Arc;

/// A text of the editor, with its placeholders.
///
/// As JSON it is an object with `text` and, if it has some, `pastes` and `images`, each with its range in bytes. Images that
/// only the running program holds become plain text. Ranges that do not fit are read as plain text.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(from = "SavedPromptForm", into = "SavedPromptForm")]
pub struct SavedPrompt(Fragment);

impl SavedPrompt {
    /// A text without placeholders.
    #[must_use]
    pub fn text(text: impl Into<String>) -> Self {
        Self(Fragment::text(text))
    }

    pub(super) fn of(fragment: Fragment) -> Self {
        Self(fragment)
    }

    pub(super) fn into_fragment(self) -> Fragment {
        self.0
    }

    /// The text, with the labels of placeholders.
    #[must_use]
    pub fn label(&self) -> &str {
        &self.0.text
    }

    /// The text with pasted texts in the place of their placeholders.
    #[must_use]
    pub fn expanded(&self) -> String {
        submission::expanded(&self.0)
    }

    /// The prompt as it would be sent.
    #[must_use]
    pub fn submission(&self) -> Submission {
        Submission::of(&self.0)
    }

    /// `true` if the text is empty.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Bytes that the text and its pastes take up.
    #[must_use]
    pub fn size(&self) -> usize {
        self.0.size()
    }
}

#[derive(Serialize, Deserialize)]
struct SavedPromptForm {
    text: String,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pastes: Vec<(Range<usize>, Arc<str>)>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    images: Vec<(Range<usize>, String)>,
}

impl From<SavedPrompt> for SavedPromptForm {
    fn from(SavedPrompt(fragment): SavedPrompt) -> Self {
        let mut form = Self { text: fragment.text, pastes: Vec::new(), images: Vec::new() };
        for DraftElement { range, content } in fragment.elements {
            match content {
                ElementContent::PastedText(text) => form.pastes.push((range, text)),
                ElementContent::Image(ImageReference::Path(path)) => form.images.push((range, path)),
                ElementContent::Image(ImageReference::Held(_)) => {}
            }
        }
        form
    }
}

impl From<SavedPromptForm> for SavedPrompt {
    fn from(form: SavedPromptForm) -> Self {
        let pastes = form.pastes.into_iter().map(|(range, text)| (range, ElementContent::PastedText(text)));
        let images =
            form.images.into_iter().map(|(range, path)| (range, ElementContent::Image(ImageReference::Path(path))));
        let mut elements: Vec<DraftElement> =
            pastes.chain(images).map(|(range, content)| DraftElement { range, content }).collect();
        elements.sort_by_key(|element| element.range.start);
        let mut end = 0;
        elements.retain(|DraftElement { range, .. }| {
            let fits = range.start >= end && !range.is_empty() && form.text.get(range.clone()).is_some();
            if fits {
                end = range.end;
            }
            fits
        });
        Self(Fragment { text: form.text, elements })
    }
}
