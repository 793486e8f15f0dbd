//! The editor of the prompt: a text of several lines, its caret, and what was cut, undone and put aside.
//!
//! A pure state machine: characters, pastes and actions come in, rows and the place of the caret go out.

mod draft;
mod edits;
mod layout;
mod saved;
mod submission;

pub use draft::ImageReference;
pub use layout::{ComposerRow, ComposerView};
pub use saved::SavedPrompt;
pub use submission::{Submission, SubmissionPart};

pub(crate) use layout::shown;

use crate::keys::KeyAction;
use draft::{Direction, ElementContent, Fragment, PromptDraft, is_no_blank, is_word};
use edits::{DraftEdits, KillRing};
use std::borrow::Cow;
use std::ops::Range;
use std::sync::Arc;

/// Options of a [`Composer`].
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct ComposerOptions {
    /// Lines from which on a paste is shown as a placeholder. Default: 10.
    pub placeholder_lines: usize,
    /// Bytes from which on a paste is shown as a placeholder. Default: 2,000.
    pub placeholder_bytes: usize,
}

impl Default for ComposerOptions {
    fn default() -> Self {
        Self { placeholder_lines: 10, placeholder_bytes: 2_000 }
    }
}

/// The editor of the prompt.
///
/// ```
/// use windlass_terminal::composer::{Composer, ComposerOptions};
/// use windlass_terminal::keys::KeyAction;
///
/// let mut composer = Composer::new(ComposerOptions::default());
/// composer.paste("fix the test");
/// composer.edit(KeyAction::KillWordBack, 80);
/// assert_eq!(composer.text(), "fix the ");
/// composer.edit(KeyAction::Undo, 80);
/// assert_eq!(composer.text(), "fix the test");
/// ```
#[derive(Debug, Default)]
pub struct Composer {
    options: ComposerOptions,
    draft: PromptDraft,
    edits: DraftEdits,
    kills: KillRing,
    stash: Vec<Fragment>,
    /// Number of pastes and images so far, for their labels.
    labels: u64,
    /// Column that moves between rows keep.
    column: Option<usize>,
}

impl Composer {
    /// An empty editor.
    #[must_use]
    pub fn new(options: ComposerOptions) -> Self {
        Self { options, ..Self::default() }
    }

    /// `true` if the text is empty.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.draft.text().is_empty()
    }

    /// The text, with the labels of placeholders.
    #[must_use]
    pub fn text(&self) -> &str {
        self.draft.text()
    }

    /// Place of the caret in [`text`](Self::text), in bytes.
    #[must_use]
    pub fn caret(&self) -> usize {
        self.draft.caret()
    }

    /// Moves the caret to the boundary at or behind a place, in bytes.
    pub fn set_caret(&mut self, at: usize) {
        self.settle();
        self.draft.set_caret(at);
    }

    /// The text as it would be sent: pasted texts in the place of their placeholders.
    #[must_use]
    pub fn expanded(&self) -> String {
        submission::expanded(self.draft.content())
    }

    /// The prompt as it would be sent.
    #[must_use]
    pub fn submission(&self) -> Submission {
        Submission::of(self.draft.content())
    }

    /// `true` if no placeholder is in the range or around its beginning.
    pub(crate) fn is_plain(&self, range: Range<usize>) -> bool {
        let elements = &self.draft.content().elements;
        !elements.iter().any(|element| element.range.start < range.end && range.start < element.range.end)
    }

    /// The rows on a screen of so many columns, at most `most_rows` around the caret.
    #[must_use]
    pub fn view(&self, columns: usize, most_rows: usize) -> ComposerView {
        layout::view(&self.draft, columns, most_rows)
    }

    /// Inserts a typed character. Control characters other than tab and line end type nothing.
    pub fn type_char(&mut self, c: char) {
        if c.is_control() && c != '\n' && c != '\t' {
            return;
        }
        self.kills.pause();
        self.column = None;
        self.edits.type_char(&mut self.draft, c);
    }

    /// Inserts a pasted text: a long one as a placeholder, and a path of an image as that image.
    pub fn paste(&mut self, text: &str) {
        if text.is_empty() {
            return;
        }
        let text = &*line_ends(text);
        if let Some(path) = image_path(text) {
            return self.attach_image(ImageReference::Path(path));
        }
        let lines = text.lines().count();
        let is_long = lines >= self.options.placeholder_lines.max(2) || text.len() >= self.options.placeholder_bytes;
        let fragment = if is_long {
            self.labels = self.labels.saturating_add(1);
            let unit =
                if lines == 1 { format!("{} characters", text.chars().count()) } else { format!("{lines} lines") };
            let label = format!("[Pasted text #{}, {unit}]", self.labels);
            Fragment::element(label, ElementContent::PastedText(Arc::from(text)))
        } else {
            Fragment::text(text)
        };
        self.insert(fragment);
    }

    /// Inserts an image as a placeholder.
    pub fn attach_image(&mut self, image: ImageReference) {
        self.labels = self.labels.saturating_add(1);
        let name = match &image {
            ImageReference::Path(path) => path.rsplit(['/', '\\']).next().unwrap_or_default(),
            ImageReference::Held(_) => "",
        };
        let name: String = windlass_types::text::visible_line(name).chars().take(40).collect();
        let separator = if name.is_empty() { "" } else { ", " };
        let label = format!("[Image #{}{separator}{name}]", self.labels);
        self.insert(Fragment::element(label, ElementContent::Image(image)));
    }

    /// Replaces a range of the text, in bytes, by another text: the caret is behind it. Placeholders are replaced whole.
    pub fn replace(&mut self, range: Range<usize>, text: &str) {
        self.settle();
        self.edits.replace(&mut self.draft, range, Fragment::text(text));
    }

    /// Replaces the whole text by what an external editor gave back. Labels of images that are still there stay images.
    /// [`KeyAction::Undo`] takes it back.
    pub fn replace_all(&mut self, text: &str) {
        self.settle();
        let fragment = submission::relinked(&line_ends(text), self.draft.content());
        let all = 0..self.draft.text().len();
        self.edits.replace(&mut self.draft, all, fragment);
    }

    /// Takes the text out, for the history or for sending. Changes of it can no longer be undone.
    pub fn take(&mut self) -> SavedPrompt {
        self.settle();
        self.edits.clear();
        SavedPrompt::of(self.draft.take())
    }

    /// A copy of the text.
    #[must_use]
    pub fn saved(&self) -> SavedPrompt {
        SavedPrompt::of(self.draft.content().clone())
    }

    /// Replaces the text by a saved one, with the caret at its end. The text before is dropped: save it first.
    pub fn restore(&mut self, saved: SavedPrompt) {
        self.settle();
        self.edits.clear();
        self.draft = PromptDraft::new(saved.into_fragment());
    }

    /// Puts a saved text in front of the text, on lines of its own.
    pub fn prepend(&mut self, saved: SavedPrompt) {
        self.settle();
        let mut fragment = saved.into_fragment();
        if fragment.is_empty() {
            return;
        }
        if !self.is_empty() {
            fragment.append(Fragment::text("\n"));
        }
        self.edits.replace(&mut self.draft, 0..0, fragment);
        self.draft.set_caret(self.draft.text().len());
    }

    /// `true` if a text is put aside.
    #[must_use]
    pub fn has_stash(&self) -> bool {
        !self.stash.is_empty()
    }

    /// Takes the texts out that are put aside, the newest last.
    pub fn take_stash(&mut self) -> Vec<SavedPrompt> {
        std::mem::take(&mut self.stash).into_iter().map(SavedPrompt::of).collect()
    }

    /// Carries out an editing action on a screen of so many columns. Returns `false` if the action is none of editing, or
    /// has nothing to do, as [`KeyAction::Up`] on the first row.
    pub fn edit(&mut self, action: KeyAction, columns: usize) -> bool {
        self.edits.pause();
        let is_vertical = matches!(action, KeyAction::Up | KeyAction::Down);
        if !is_vertical {
            self.column = None;
        }
        if let Some((range, is_back)) = self.cut_range(action) {
            return self.cut(range, is_back);
        }
        if !matches!(action, KeyAction::Yank | KeyAction::YankPop) {
            self.kills.pause();
        }
        match action {
            KeyAction::Up => self.vertical(Direction::Back, columns),
            KeyAction::Down => self.vertical(Direction::Forward, columns),
            KeyAction::DeleteBack => self.delete(Direction::Back),
            KeyAction::DeleteForward | KeyAction::DeleteOrExit => self.delete(Direction::Forward),
            KeyAction::NewLine => {
                self.insert(Fragment::text("\n"));
                true
            }
            KeyAction::Yank => self.yank(),
            KeyAction::YankPop => self.yank_pop(),
            KeyAction::Undo => self.edits.undo(&mut self.draft),
            KeyAction::Redo => self.edits.redo(&mut self.draft),
            KeyAction::Stash => self.stash(),
            KeyAction::ExpandPaste => self.expand_paste(),
            _ => self.move_caret(action),
        }
    }

    /// Replaces a backslash before the caret by a line end. Returns `false` if there is none.
    pub fn continue_line(&mut self) -> bool {
        let caret = self.draft.caret();
        let previous = self.draft.previous(caret);
        if self.draft.slice(previous..caret) != "\\" {
            return false;
        }
        self.replace(previous..caret, "\n");
        true
    }

    fn insert(&mut self, fragment: Fragment) {
        self.settle();
        let at = self.draft.caret();
        self.edits.replace(&mut self.draft, at..at, fragment);
    }

    /// Ends what the actions before have begun.
    fn settle(&mut self) {
        self.edits.pause();
        self.kills.pause();
        self.column = None;
    }

    fn move_caret(&mut self, action: KeyAction) -> bool {
        let at = self.draft.caret();
        let to = match action {
            KeyAction::Left => self.draft.previous(at),
            KeyAction::Right => self.draft.next(at),
            KeyAction::WordLeft => self.draft.word(Direction::Back, is_word),
            KeyAction::WordRight => self.draft.word(Direction::Forward, is_word),
            KeyAction::LineStart => self.draft.line_start(at),
            KeyAction::LineEnd => self.draft.line_end(at),
            KeyAction::TextStart => 0,
            KeyAction::TextEnd => self.draft.text().len(),
            _ => return false,
        };
        self.draft.set_caret(to);
        to != at
    }

    fn vertical(&mut self, direction: Direction, columns: usize) -> bool {
        let (column, target) = layout::neighbour(&self.draft, columns, direction);
        let Some(target) = target else { return false };
        let column = *self.column.get_or_insert(column);
        self.draft.set_caret(layout::place(&target, column));
        true
    }

    fn delete(&mut self, direction: Direction) -> bool {
        let at = self.draft.caret();
        let other = self.draft.neighbour(at, direction);
        if at == other {
            return false;
        }
        self.edits.replace(&mut self.draft, at.min(other)..at.max(other), Fragment::default());
        true
    }

    /// The range that an action cuts, and whether it is before the caret; `None` if the action cuts nothing.
    fn cut_range(&self, action: KeyAction) -> Option<(Range<usize>, bool)> {
        let at = self.draft.caret();
        Some(match action {
            KeyAction::KillWordBack => (self.draft.word(Direction::Back, is_no_blank)..at, true),
            KeyAction::KillPartBack => (self.draft.word(Direction::Back, is_word)..at, true),
            KeyAction::KillWordForward => (at..self.draft.word(Direction::Forward, is_word), false),
            KeyAction::KillLineStart => {
                let start = self.draft.line_start(at);
                // At the beginning of a line its line end goes.
                (if start == at { self.draft.previous(at) } else { start }..at, true)
            }
            KeyAction::KillLineEnd => {
                let end = self.draft.line_end(at);
                (at..if end == at { self.draft.next(at) } else { end }, false)
            }
            _ => return None,
        })
    }

    fn cut(&mut self, range: Range<usize>, is_back: bool) -> bool {
        let removed = self.edits.replace(&mut self.draft, range, Fragment::default());
        let has_cut = !removed.is_empty();
        self.kills.push(removed, is_back);
        has_cut
    }

    fn yank(&mut self) -> bool {
        let Some(text) = self.kills.last().cloned() else { return false };
        let at = self.draft.caret();
        let length = text.text.len();
        self.edits.replace(&mut self.draft, at..at, text);
        self.kills.pause();
        self.kills.yanked(at..at.saturating_add(length), 0);
        true
    }

    fn yank_pop(&mut self) -> bool {
        let Some((range, text, back)) = self.kills.before() else { return false };
        let (start, length) = (range.start, text.text.len());
        self.edits.replace(&mut self.draft, range, text);
        self.kills.yanked(start..start.saturating_add(length), back);
        true
    }

    fn stash(&mut self) -> bool {
        if !self.is_empty() {
            // The change can be undone, and the text is put aside as well.
            let all = 0..self.draft.text().len();
            let text = self.edits.replace(&mut self.draft, all, Fragment::default());
            self.stash.push(text);
            return true;
        }
        let Some(text) = self.stash.pop() else { return false };
        self.insert(text);
        true
    }

    fn expand_paste(&mut self) -> bool {
        let Some(element) = self.draft.element_at(self.draft.caret()) else { return false };
        let ElementContent::PastedText(text) = &element.content else { return false };
        let (range, text) = (element.range.clone(), Fragment::text(&**text));
        self.edits.replace(&mut self.draft, range, text);
        true
    }
}

/// The text with `\n` as its only line end.
fn line_ends(text: &str) -> Cow<'_, str> {
    if text.contains('\r') { Cow::Owned(text.replace("\r\n", "\n").replace('\r', "\n")) } else { Cow::Borrowed(text) }
}

/// The path of a pasted text that is nothing but the path of an image, as terminals paste a file that is dropped.
fn image_path(text: &str) -> Option<String> {
    const MOST: usize = 4096;
    let text = text.trim();
    if text.len() > MOST || text.contains('\n') {
        return None;
    }
    let quoted = ['"', '\''].iter().find_map(|quote| text.strip_prefix(*quote)?.strip_suffix(*quote));
    let path = match (quoted, text.strip_prefix("file://")) {
        (Some(path), _) => path.to_owned(),
        (None, Some(path)) => path.replace("%20", " "),
        (None, None) => text.replace("\\ ", " "),
    };
    let is_rooted = path.starts_with(['/', '~', '.']) || path.get(1..3) == Some(":\\");
    let lower = path.to_lowercase();
    let is_image = [".png", ".jpg", ".jpeg", ".gif", ".webp"].iter().any(|ending| lower.ends_with(ending));
    (is_rooted && is_image).then_some(path)
}

#[cfg(test)]
mod tests;
