//! Files that a session has read, so that no content is overwritten unseen.

use std::collections::{HashMap, VecDeque};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use windlass_tool::{SeenFiles, ToolCx};

/// Contents of files as this session last saw or wrote them, by digest; the latest short texts in full.
///
/// One per session (`cx.state::<ReadLedger>()`). An edit needs an entry, and the file on disk must still have the
/// content of that entry. Paths are absolute with all links resolved.
///
/// A resumed session begins with an empty ledger: files may have changed since an earlier process read them, and the
/// model must see a file in its present state before it changes it.
#[derive(Debug, Default)]
pub struct ReadLedger(Mutex<LedgerState>);

/// Maximum number of texts kept in full. [`SeenFiles`] has as many, and shares them.
const MAX_TEXTS: usize = 64;

#[derive(Debug, Default)]
struct LedgerState {
    files: HashMap<PathBuf, Seen>,
    /// Files whose texts are kept in full, and perhaps some whose are not any more. The latest come last.
    texts: VecDeque<PathBuf>,
}

/// Known content of a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Seen {
    /// Text in full, because a digest takes longer than a copy, and most files that are read are never changed.
    Text(Arc<str>),
    Content(blake3::Hash),
    /// Read in part, and too large to be edited.
    TooLarge,
}

impl ReadLedger {
    /// Records that the model of a session knows this content of a file, as after a Read of the whole file.
    pub(crate) fn know(cx: &ToolCx, path: &Path, content: &[u8]) {
        match SeenFiles::text(content) {
            Some(text) => Self::know_text(cx, path, text),
            None => {
                cx.state::<Self>().record(path, content);
                cx.state::<SeenFiles>().forget(path);
            }
        }
    }

    /// Like [`know`](Self::know), with a text that [`SeenFiles`] keeps.
    pub(crate) fn know_text(cx: &ToolCx, path: &Path, text: Arc<str>) {
        cx.state::<Self>().insert(path, Seen::Text(Arc::clone(&text)));
        cx.state::<SeenFiles>().record_text(path, text);
    }

    /// Forgets one file in a session.
    pub(crate) fn lose(cx: &ToolCx, path: &Path) {
        cx.state::<Self>().forget(path);
        cx.state::<SeenFiles>().forget(path);
    }

    /// Records that the session knows this content of a file, as after a Read.
    pub fn record(&self, path: &Path, content: &[u8]) {
        self.insert(path, Seen::Content(blake3::hash(content)));
    }

    /// Forgets one file: it must be read again before it can be changed.
    pub fn forget(&self, path: &Path) {
        self.lock().files.remove(path);
    }

    /// Forgets all files, for instance after the conversation was cleared.
    pub fn clear(&self) {
        let mut state = self.lock();
        state.files.clear();
        state.texts.clear();
    }

    /// `true` if the session has seen any content of this file.
    pub fn has_read(&self, path: &Path) -> bool {
        self.seen(path).is_some()
    }

    pub(crate) fn insert(&self, path: &Path, seen: Seen) {
        let mut state = self.lock();
        if matches!(seen, Seen::Text(_)) {
            state.texts.push_back(path.to_owned());
        }
        state.files.insert(path.to_owned(), seen);
        if state.texts.len() > MAX_TEXTS {
            state.shorten();
        }
    }

    pub(crate) fn seen(&self, path: &Path) -> Option<Seen> {
        self.lock().files.get(path).cloned()
    }

    fn lock(&self) -> MutexGuard<'_, LedgerState> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Seen {
    /// `true` if this content is the one that was seen.
    pub(crate) fn is(&self, content: &[u8]) -> bool {
        match self {
            Self::Text(text) => text.as_bytes() == content,
            Self::Content(digest) => *digest == blake3::hash(content),
            Self::TooLarge => false,
        }
    }
}

impl LedgerState {
    /// Reduces the file whose text was recorded first to its digest.
    fn shorten(&mut self) {
        let Some(path) = self.texts.pop_front().filter(|path| !self.texts.contains(path)) else { return };
        if let Some(seen) = self.files.get_mut(&path)
            && let Seen::Text(text) = seen
        {
            *seen = Seen::Content(blake3::hash(text.as_bytes()));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_known_outlasts_the_texts() {
        let ledger = ReadLedger::default();
        let path = |number: usize| PathBuf::from(format!("/{number}"));
        let text = |number: usize| Arc::<str>::from(format!("text {number}"));
        for number in 0..MAX_TEXTS + 5 {
            ledger.insert(&path(number), Seen::Text(text(number)));
        }
        for number in 0..MAX_TEXTS + 5 {
            let seen = ledger.seen(&path(number)).unwrap();
            assert_eq!(matches!(seen, Seen::Text(_)), number >= 5, "{number}");
            assert!(seen.is(text(number).as_bytes()) && !seen.is(b"another"), "{number}");
        }
        for _ in 0..MAX_TEXTS {
            ledger.insert(&path(7), Seen::Text(text(7)));
        }
        assert!(matches!(ledger.seen(&path(7)), Some(Seen::Text(_))), "its text came last as well");
        assert!(matches!(ledger.seen(&path(MAX_TEXTS + 4)), Some(Seen::Content(_))));
        ledger.forget(&path(7));
        ledger.insert(&path(8), Seen::TooLarge);
        (0..=MAX_TEXTS).for_each(|number| ledger.insert(&path(1_000 + number), Seen::Text(text(number))));
        assert_eq!((ledger.seen(&path(7)), ledger.seen(&path(8))), (None, Some(Seen::TooLarge)));
    }
}
