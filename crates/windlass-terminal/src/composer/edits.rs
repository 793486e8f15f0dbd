//! Changes of a draft that can be undone, and texts that were cut.

use super::draft::{Fragment, PromptDraft};
use std::collections::VecDeque;
use std::ops::Range;

/// Most bytes of texts that the changes hold. The oldest are forgotten first.
const MOST_BYTES: usize = 8 * 1024 * 1024;
/// Most changes.
const MOST_CHANGES: usize = 2000;
/// Most texts that were cut.
const MOST_KILLS: usize = 30;

/// A change: this was removed and that inserted at a place.
#[derive(Debug, Clone, PartialEq, Eq)]
struct DraftChange {
    at: usize,
    removed: Fragment,
    inserted: Fragment,
    caret_before: usize,
}

impl DraftChange {
    fn size(&self) -> usize {
        self.removed.size().saturating_add(self.inserted.size())
    }
}

/// Changes of a draft, for undo and redo.
#[derive(Debug, Default)]
pub(super) struct DraftEdits {
    done: VecDeque<DraftChange>,
    undone: Vec<DraftChange>,
    /// `true` while the next typed character joins the last change.
    joins: bool,
}

impl DraftEdits {
    /// Replaces a range of the draft and records the change. Returns what was removed.
    pub(super) fn replace(&mut self, draft: &mut PromptDraft, range: Range<usize>, new: Fragment) -> Fragment {
        let caret_before = draft.caret();
        let (at, removed) = draft.replace(range, new.clone());
        if removed.is_empty() && new.is_empty() {
            return removed;
        }
        self.joins = false;
        self.undone.clear();
        self.done.push_back(DraftChange { at, removed: removed.clone(), inserted: new, caret_before });
        self.bound();
        removed
    }

    /// Inserts a typed character. Those of one word are one change.
    pub(super) fn type_char(&mut self, draft: &mut PromptDraft, c: char) {
        let at = draft.caret();
        let joins = std::mem::take(&mut self.joins) && !c.is_whitespace();
        let previous = self
            .done
            .back_mut()
            .filter(|last| joins && last.removed.is_empty() && last.at.saturating_add(last.inserted.text.len()) == at);
        match previous {
            Some(last) => {
                last.inserted.text.push(c);
                draft.replace(at..at, Fragment::text(c));
            }
            None => {
                self.replace(draft, at..at, Fragment::text(c));
            }
        }
        self.joins = true;
    }

    /// Ends the change that typed characters join.
    pub(super) fn pause(&mut self) {
        self.joins = false;
    }

    pub(super) fn undo(&mut self, draft: &mut PromptDraft) -> bool {
        self.joins = false;
        let Some(change) = self.done.pop_back() else { return false };
        let end = change.at.saturating_add(change.inserted.text.len());
        draft.replace(change.at..end, change.removed.clone());
        draft.set_caret(change.caret_before);
        self.undone.push(change);
        true
    }

    pub(super) fn redo(&mut self, draft: &mut PromptDraft) -> bool {
        self.joins = false;
        let Some(change) = self.undone.pop() else { return false };
        let end = change.at.saturating_add(change.removed.text.len());
        draft.replace(change.at..end, change.inserted.clone());
        self.done.push_back(change);
        true
    }

    /// Forgets all changes: the draft is another one.
    pub(super) fn clear(&mut self) {
        *self = Self::default();
    }

    fn bound(&mut self) {
        let mut size: usize = self.done.iter().map(DraftChange::size).fold(0, usize::saturating_add);
        while self.done.len() > MOST_CHANGES || (size > MOST_BYTES && self.done.len() > 1) {
            size = size.saturating_sub(self.done.pop_front().map_or(0, |change| change.size()));
        }
    }
}

/// Texts that were cut, the newest last.
#[derive(Debug, Default)]
pub(super) struct KillRing {
    texts: VecDeque<Fragment>,
    /// `true` while the next cut joins the last one.
    joins: bool,
    /// Range of the text that was yanked last, and how many texts back it is.
    yanked: Option<(Range<usize>, usize)>,
}

impl KillRing {
    /// Adds a text that was cut. One that follows another cut joins it: in front of it if it was cut backwards.
    pub(super) fn push(&mut self, text: Fragment, is_back: bool) {
        if text.is_empty() {
            return;
        }
        self.yanked = None;
        let joined = std::mem::replace(&mut self.joins, true).then(|| self.texts.pop_back()).flatten();
        let (mut first, second) = if is_back { (text, joined) } else { (joined.unwrap_or_default(), Some(text)) };
        first.append(second.unwrap_or_default());
        self.texts.push_back(first);
        let size = |texts: &VecDeque<Fragment>| texts.iter().map(Fragment::size).fold(0, usize::saturating_add);
        while self.texts.len() > MOST_KILLS || (self.texts.len() > 1 && size(&self.texts) > MOST_BYTES) {
            self.texts.pop_front();
        }
    }

    /// The text that was cut last.
    pub(super) fn last(&self) -> Option<&Fragment> {
        self.texts.back()
    }

    /// Remembers the place of a text that was yanked.
    pub(super) fn yanked(&mut self, range: Range<usize>, back: usize) {
        self.yanked = Some((range, back));
    }

    /// The place of the text that was yanked last, the text that was cut before it, and how many texts back that is.
    pub(super) fn before(&self) -> Option<(Range<usize>, Fragment, usize)> {
        let (range, back) = self.yanked.clone()?;
        let back = back.saturating_add(1) % self.texts.len().max(1);
        let text = self.texts.get(self.texts.len().checked_sub(back.saturating_add(1))?)?;
        Some((range, text.clone(), back))
    }

    /// Another action happened: the next cut is a text of its own.
    pub(super) fn pause(&mut self) {
        self.joins = false;
        self.yanked = None;
    }
}
