//! Diagnostics that a server publishes on its own.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use serde_json::Value;
use tokio::sync::watch;
use windlass_context::Diagnostic;

use crate::{answer, uri};

/// Maximum number of files whose diagnostics are kept.
const MOST_FILES: usize = 512;

/// Latest diagnostics of a server for each file.
#[derive(Debug)]
pub(crate) struct Published {
    files: Mutex<HashMap<PathBuf, DiagnosticWords>>,
    /// Number of publications of the server.
    count: watch::Sender<u64>,
}

#[derive(Debug, Clone)]
struct DiagnosticWords {
    /// Count of publications when this one arrived.
    at: u64,
    /// Version of the file that the diagnostics are about, if the server gives it.
    version: Option<i64>,
    diagnostics: Vec<Diagnostic>,
}

impl Default for Published {
    fn default() -> Self {
        Self { files: Mutex::default(), count: watch::Sender::new(0) }
    }
}

impl Published {
    /// Records the parameters of `textDocument/publishDiagnostics`.
    pub(crate) fn note(&self, params: &Value) {
        let Some(path) = params.get("uri").and_then(Value::as_str).and_then(uri::to_path) else { return };
        let said = params.get("diagnostics").unwrap_or(&Value::Null);
        let words = DiagnosticWords {
            at: self.count() + 1,
            version: params.get("version").and_then(Value::as_i64),
            diagnostics: answer::diagnostics(&path, said),
        };
        let mut files = self.files.lock().unwrap_or_else(PoisonError::into_inner);
        if files.len() >= MOST_FILES && !files.contains_key(&path) {
            let oldest = files.iter().min_by_key(|(_, words)| words.at).map(|(path, _)| path.clone());
            oldest.map(|path| files.remove(&path));
        }
        files.insert(path, words);
        drop(files);
        self.count.send_modify(|count| *count += 1);
    }

    /// Returns the number of publications of the server.
    pub(crate) fn count(&self) -> u64 {
        *self.count.borrow()
    }

    /// Returns the latest diagnostics of a file: published after `count` publications, or for this version of the file
    /// or a later one.
    pub(crate) fn since(&self, path: &Path, count: u64, version: i64) -> Option<Vec<Diagnostic>> {
        let files = self.files.lock().unwrap_or_else(PoisonError::into_inner);
        let words = files.get(path)?;
        let is_of_version = words.version.map_or(words.at > count, |said| said >= version);
        is_of_version.then(|| words.diagnostics.clone())
    }

    /// Waits for the next publication. Cancel safe.
    pub(crate) async fn next(&self, count: u64) {
        // Cannot fail: `self` owns the sender.
        let _ = self.count.subscribe().wait_for(|now| *now > count).await;
    }
}

#[cfg(all(test, unix))]
mod tests {
    use super::*;
    use serde_json::json;

    fn said(version: Option<i64>, message: &str) -> Value {
        let range = json!({"start": {"line": 0, "character": 0}});
        json!({"uri": "file:///a", "version": version, "diagnostics": [{"range": range, "message": message}]})
    }

    #[test]
    fn old_words_do_not_count_for_a_new_version() {
        let (published, path) = (Published::default(), Path::new("/a"));
        published.note(&said(Some(1), "old"));
        assert_eq!(published.since(path, 0, 2), None);
        assert_eq!(published.since(path, 9, 1).unwrap()[0].message, "old");
        published.note(&said(None, "new"));
        assert_eq!(published.since(path, 2, 2), None, "without a version only what comes later counts");
        assert_eq!(published.since(path, 1, 2).unwrap()[0].message, "new");
        published.note(&json!({"uri": "http://x", "diagnostics": 7}));
        assert_eq!(published.count(), 2);
    }

    #[test]
    fn words_on_few_files_are_kept() {
        let published = Published::default();
        for at in 0..2 * MOST_FILES {
            published.note(&json!({"uri": format!("file:///{at}"), "diagnostics": []}));
        }
        assert_eq!(published.since(Path::new("/0"), 0, 0), None);
        assert!(published.since(Path::new(&format!("/{}", MOST_FILES)), 0, 0).is_some());
    }
}
