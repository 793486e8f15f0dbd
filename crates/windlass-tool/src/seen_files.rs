//! The texts of the files that a model has read.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

/// The texts of files as the model of a session last read or wrote them, so that it can be reminded of one that has changed
/// since. One per session (`cx.state::<SeenFiles>()`): tools that show or write whole files record them here.
///
/// It holds the latest 64 files of at most 64 KiB of UTF-8 text each; others are left out.
#[derive(Debug, Default)]
pub struct SeenFiles(Mutex<Files>);

#[derive(Debug, Default)]
struct Files {
    /// When each was recorded, as a count, and its text.
    texts: BTreeMap<PathBuf, (u64, Arc<str>)>,
    count: u64,
}

impl SeenFiles {
    /// Most bytes of a file.
    pub const MOST_BYTES: usize = 64 * 1024;
    /// Most files.
    const MOST: usize = 64;

    /// Records that the model knows this content of a file, by its path with links followed.
    pub fn record(&self, path: &Path, content: &[u8]) {
        let text = std::str::from_utf8(content).ok().filter(|_| content.len() <= Self::MOST_BYTES);
        let Some(text) = text else { return self.forget(path) };
        let mut files = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        files.count = files.count.saturating_add(1);
        let count = files.count;
        files.texts.insert(path.to_path_buf(), (count, text.into()));
        if files.texts.len() > Self::MOST {
            let oldest = files.texts.iter().min_by_key(|(_, (count, _))| *count).map(|(path, _)| path.clone());
            oldest.map(|path| files.texts.remove(&path));
        }
    }

    /// Forgets a file: a change of it is not reported.
    pub fn forget(&self, path: &Path) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).texts.remove(path);
    }

    /// The files with their texts, in the order in which they were recorded.
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
