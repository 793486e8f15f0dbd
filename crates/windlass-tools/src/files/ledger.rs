//! What was read in a session, so that no content is overwritten unseen.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use windlass_tool::{SeenFiles, ToolCx};

/// The contents of files as this session last saw or wrote them, by digest.
///
/// One per session (`cx.state::<ReadLedger>()`). An edit needs an entry, and the
/// file on disk must still have the digest of that entry. Paths are absolute with
/// all links resolved.
///
/// A resumed session begins with an empty one: what an earlier process read may have
/// changed since, and the model must see a file as it is before it changes it.
#[derive(Debug, Default)]
pub struct ReadLedger(Mutex<HashMap<PathBuf, Entry>>);

#[derive(Debug, Default)]
struct Entry {
    seen: Option<Seen>,
    /// Held over one change of the file: reading, checking, writing, recording.
    turn: Arc<tokio::sync::Mutex<()>>,
}

/// What is known of a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Seen {
    Content(blake3::Hash),
    /// Read in part, and too large to be edited.
    TooLarge,
}

impl ReadLedger {
    /// Records that the model of a session knows this content of a file, as after a Read of the whole.
    pub(crate) fn know(cx: &ToolCx, path: &Path, content: &[u8]) {
        cx.state::<Self>().record(path, content);
        cx.state::<SeenFiles>().record(path, content);
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
        self.with(path, |entry| entry.seen = None);
    }

    /// Forgets all files, for instance after the conversation was cleared.
    pub fn clear(&self) {
        let mut entries = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        entries.values_mut().for_each(|entry| entry.seen = None);
    }

    /// Whether the session has seen any content of this file.
    pub fn has_read(&self, path: &Path) -> bool {
        self.seen(path).is_some()
    }

    pub(crate) fn insert(&self, path: &Path, seen: Seen) {
        self.with(path, |entry| entry.seen = Some(seen));
    }

    pub(crate) fn seen(&self, path: &Path) -> Option<Seen> {
        let entries = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        entries.get(path).and_then(|entry| entry.seen)
    }

    /// Waits until no other call of this session changes the file. Cancel safe.
    pub(crate) async fn turn(&self, path: &Path) -> tokio::sync::OwnedMutexGuard<()> {
        let turn = self.with(path, |entry| Arc::clone(&entry.turn));
        turn.lock_owned().await
    }

    fn with<T>(&self, path: &Path, act: impl FnOnce(&mut Entry) -> T) -> T {
        let mut entries = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        act(entries.entry(path.to_owned()).or_default())
    }
}
