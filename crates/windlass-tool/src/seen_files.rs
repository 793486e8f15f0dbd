//! Texts of the files that a model has read.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

/// Texts of files as the model of a session last read or wrote them, so that it can be reminded of one that has changed
/// since. One per session (`cx.state::<SeenFiles>()`): tools that show or write whole files record them here.
///
/// At most 64 files of at most 64 KiB of UTF-8 text each are kept, the latest ones; others are left out.
#[derive(Debug, Default)]
pub struct SeenFiles(Mutex<FileTexts>);

#[derive(Debug, Default)]
struct FileTexts {
    /// Texts of the files, each with the count at which it was recorded.
    texts: BTreeMap<PathBuf, (u64, Arc<str>)>,
    /// Text that was last shown of each file that a hook has changed.
    shown: BTreeMap<PathBuf, Arc<str>>,
    count: u64,
}

impl SeenFiles {
    /// Maximum number of bytes of a file.
    pub const MOST_BYTES: usize = 64 * 1024;
    /// Maximum number of files.
    const MAX_FILES: usize = 64;

    /// Records that the model knows this content of a file, by its path with links followed.
    pub fn record(&self, path: &Path, content: &[u8]) {
        match Self::text(content) {
            Some(text) => self.record_text(path, text),
            None => self.forget(path),
        }
    }

    /// Returns the text of a file, if it is one that is kept.
    pub fn text(content: &[u8]) -> Option<Arc<str>> {
        let text = std::str::from_utf8(content).ok().filter(|_| content.len() <= Self::MOST_BYTES);
        text.map(Arc::from)
    }

    /// Records a [text](Self::text) that the model knows of a file, by its path with links followed.
    pub fn record_text(&self, path: &Path, text: Arc<str>) {
        let mut files = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        files.shown.remove(path);
        files.count = files.count.saturating_add(1);
        let count = files.count;
        files.texts.insert(path.to_path_buf(), (count, text));
        if files.texts.len() > Self::MAX_FILES {
            let oldest = files.texts.iter().min_by_key(|(_, (count, _))| *count).map(|(path, _)| path.clone());
            oldest.map(|path| (files.texts.remove(&path), files.shown.remove(&path)));
        }
    }

    /// Records a content that the model was shown as a change of a file it has just written: it need not read the file
    /// once more before it edits it.
    pub fn record_shown(&self, path: &Path, content: &str) {
        self.record(path, content.as_bytes());
        let mut files = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((_, text)) = files.texts.get(path) {
            let text = Arc::clone(text);
            files.shown.insert(path.to_path_buf(), text);
        }
    }

    /// `true` if this content is the one that was last [shown](Self::record_shown) of a file.
    pub fn is_shown(&self, path: &Path, content: &[u8]) -> bool {
        let files = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        files.shown.get(path).is_some_and(|shown| shown.as_bytes() == content)
    }

    /// Forgets a file: a change of it is not reported.
    pub fn forget(&self, path: &Path) {
        let mut files = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        files.texts.remove(path);
        files.shown.remove(path);
    }

    /// Returns the files with their texts, in the order in which they were recorded.
    pub fn all(&self) -> Vec<(PathBuf, Arc<str>)> {
        let files = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let mut all: Vec<_> = files.texts.iter().collect();
        all.sort_by_key(|(_, (count, _))| *count);
        all.into_iter().map(|(path, (_, text))| (path.clone(), Arc::clone(text))).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_change_that_was_shown_is_known_until_the_next() {
        let (seen, path) = (SeenFiles::default(), Path::new("/a"));
        seen.record(path, b"x");
        assert!(!seen.is_shown(path, b"x"));
        seen.record_shown(path, "y");
        assert!(seen.is_shown(path, b"y") && !seen.is_shown(path, b"x"));
        seen.record(path, b"z");
        assert!(!seen.is_shown(path, b"y"));
        seen.record_shown(path, "y");
        seen.forget(path);
        assert!(!seen.is_shown(path, b"y") && seen.all().is_empty());
    }

    #[test]
    fn the_latest_small_texts_are_kept() {
        let seen = SeenFiles::default();
        for number in 0..70 {
            seen.record(Path::new(&format!("/{number}")), b"x");
        }
        seen.record(Path::new("/6"), b"y");
        seen.record(Path::new("/69"), b"\xff");
        seen.record(Path::new("/68"), &[b'x'; SeenFiles::MOST_BYTES + 1]);
        seen.forget(Path::new("/67"));
        let all = seen.all();
        assert_eq!(all.len(), 61);
        assert_eq!(all.first().map(|(path, _)| path.clone()), Some("/7".into()));
        assert_eq!(
            all.last().map(|(path, text)| (path.clone(), text.to_string())),
            Some(("/6".into(), "y".to_owned()))
        );
    }
}
