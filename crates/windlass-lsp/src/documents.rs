//! Open files of a server, and the messages that keep them up to date. Pure.

use std::collections::HashMap;
use std::path::{Path, PathBuf};

use serde_json::{Value, json};

use crate::uri;

/// Maximum number of files that a server has open.
const MOST: usize = 64;

/// Open files of a server.
#[derive(Debug, Default)]
pub(crate) struct Documents {
    open: HashMap<PathBuf, OpenDocument>,
    used: u64,
}

#[derive(Debug)]
struct OpenDocument {
    version: i64,
    text: String,
    used: u64,
}

/// Messages that bring a file of a server up to date.
#[derive(Debug, PartialEq)]
pub(crate) struct DocumentUpdate {
    /// Notifications, in order: method and parameters.
    pub(crate) messages: Vec<(&'static str, Value)>,
    /// Version of the file after the messages.
    pub(crate) version: i64,
}

impl Documents {
    /// Updates the text of a file.
    pub(crate) fn update(&mut self, path: &Path, language: &str, text: String) -> DocumentUpdate {
        self.used += 1;
        let (used, uri) = (self.used, uri::of_path(path));
        if let Some(known) = self.open.get_mut(path) {
            known.used = used;
            if known.text == text {
                return DocumentUpdate { messages: Vec::new(), version: known.version };
            }
            known.version += 1;
            known.text.clone_from(&text);
            let document = json!({ "uri": uri, "version": known.version });
            let change = json!({ "textDocument": document, "contentChanges": [{ "text": text }] });
            let saved = json!({ "textDocument": { "uri": uri }, "text": text });
            let messages = vec![("textDocument/didChange", change), ("textDocument/didSave", saved)];
            return DocumentUpdate { messages, version: known.version };
        }
        let mut messages = Vec::new();
        if self.open.len() >= MOST {
            let oldest = self.open.iter().min_by_key(|(_, document)| document.used).map(|(path, _)| path.clone());
            if let Some(oldest) = oldest {
                self.open.remove(&oldest);
                let closed = json!({ "textDocument": { "uri": uri::of_path(&oldest) } });
                messages.push(("textDocument/didClose", closed));
            }
        }
        let document = json!({ "uri": uri, "languageId": language, "version": 1, "text": text });
        messages.push(("textDocument/didOpen", json!({ "textDocument": document })));
        self.open.insert(path.to_owned(), OpenDocument { version: 1, text, used });
        DocumentUpdate { messages, version: 1 }
    }

    /// Returns the open files.
    pub(crate) fn paths(&self) -> Vec<PathBuf> {
        self.open.keys().cloned().collect()
    }

    /// Closes a file that is gone.
    pub(crate) fn close(&mut self, path: &Path) -> DocumentUpdate {
        let Some(known) = self.open.remove(path) else { return DocumentUpdate { messages: Vec::new(), version: 0 } };
        let closed = json!({ "textDocument": { "uri": uri::of_path(path) } });
        DocumentUpdate { messages: vec![("textDocument/didClose", closed)], version: known.version }
    }
}

#[cfg(all(test, unix))]
mod tests {
    use super::*;

    fn methods(update: &DocumentUpdate) -> Vec<&'static str> {
        update.messages.iter().map(|(method, _)| *method).collect()
    }

    #[test]
    fn a_file_is_opened_once_and_changed_when_it_has_changed() {
        let (mut documents, path) = (Documents::default(), Path::new("/a"));
        assert_eq!(methods(&documents.update(path, "rust", "a".into())), ["textDocument/didOpen"]);
        assert_eq!(documents.update(path, "rust", "a".into()), DocumentUpdate { messages: Vec::new(), version: 1 });
        let changed = documents.update(path, "rust", "b".into());
        assert_eq!((methods(&changed).len(), changed.version), (2, 2));
        assert_eq!(methods(&documents.close(path)), ["textDocument/didClose"]);
        assert!(documents.close(path).messages.is_empty());
    }

    #[test]
    fn the_file_that_was_not_used_for_longest_is_closed() {
        let mut documents = Documents::default();
        for at in 0..MOST {
            documents.update(Path::new(&format!("/{at}")), "rust", String::new());
        }
        documents.update(Path::new("/0"), "rust", String::new());
        let update = documents.update(Path::new("/more"), "rust", String::new());
        assert_eq!(methods(&update), ["textDocument/didClose", "textDocument/didOpen"]);
        assert!(!documents.paths().contains(&PathBuf::from("/1")));
    }
}
