//! The Markdown files below the folders of the user and the project: commands and agents.

use crate::file::{ReadError, read_text_itself};
use crate::note::Notes;
use crate::places::{FOLDERS, Places};
use std::fs::DirEntry;
use std::path::{Path, PathBuf};
use windlass_types::text::clean_line;

/// Maximum number of bytes of a file.
pub(crate) const MOST_BYTES: u64 = 256 * 1024;
/// Maximum number of names read in one folder.
const MAX_FOLDER_NAMES: usize = 4_096;
/// Maximum number of names read in all folders of one walk.
const MAX_WALK_NAMES: usize = 4 * MAX_FOLDER_NAMES;
/// Maximum depth of folders.
const MAX_DEPTH: usize = 8;

impl Notes {
    /// Returns the text of a file, if it can be used and is not blank.
    pub(crate) fn read(&mut self, path: &Path) -> Option<String> {
        match read_text_itself(path, MOST_BYTES) {
            Ok(Some(text)) if !text.trim().is_empty() => return Some(text),
            Ok(_) => self.add(path, "the file is empty"),
            Err(ReadError::TooBig) => self.add(path, format!("the file is larger than {MOST_BYTES} bytes")),
            Err(ReadError::Io(error)) => self.add(path, format!("the file cannot be read: {error}")),
        }
        None
    }
}

/// A folder that may be there.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Folder {
    pub(crate) path: PathBuf,
    /// The directory of a project that it must lie in, whatever links there are.
    pub(crate) within: Option<PathBuf>,
}

/// Returns the user's folders of this name, the strongest first.
pub(crate) fn of_user(places: &Places, name: &str) -> Vec<Folder> {
    places.user.iter().map(|directory| Folder { path: directory.join(name), within: None }).collect()
}

/// Returns the project's folders of this name, the strongest first: the nearer to the start the stronger.
pub(crate) fn of_project(places: &Places, name: &str) -> Vec<Folder> {
    let in_directory = |directory: &PathBuf| FOLDERS.map(|folder| (directory.join(folder), directory.clone()));
    let folders =
        places.project.iter().rev().flat_map(in_directory).filter(|(folder, _)| !places.user.contains(folder));
    folders.map(|(folder, directory)| Folder { path: folder.join(name), within: Some(directory) }).collect()
}

/// A Markdown file that was found.
#[derive(Debug)]
pub(crate) struct MarkdownFile {
    pub(crate) path: PathBuf,
    /// Name without `.md`, after the names of the folders that it is in (`frontend:component`).
    pub(crate) name: String,
}

/// A walk through folders. Links are not followed, and names that begin with a dot are skipped.
#[derive(Debug)]
pub(crate) struct Walk {
    /// `true` if names must be valid command names.
    pub(crate) strict_names: bool,
    /// Number of names that may still be read.
    remaining_names: usize,
}

impl Walk {
    pub(crate) fn new(strict_names: bool) -> Self {
        Self { strict_names, remaining_names: MAX_WALK_NAMES }
    }

    /// Returns the Markdown files of a folder, sorted by their names.
    pub(crate) fn files(&mut self, folder: &Folder, notes: &mut Notes) -> Vec<MarkdownFile> {
        let mut files = Vec::new();
        // Most folders do not exist. This check avoids resolving their paths, which costs a system call for each part.
        if folder.path.symlink_metadata().is_err() {
            return files;
        }
        let Ok(resolved) = folder.path.canonicalize() else { return files };
        if folder.within.as_ref().is_some_and(|within| !resolved.starts_with(within)) {
            notes.add(&folder.path, "the folder leads out of the project and is left out");
        } else {
            self.walk(&resolved, "", MAX_DEPTH, notes, &mut files);
        }
        files
    }

    fn walk(&mut self, folder: &Path, prefix: &str, depth: usize, notes: &mut Notes, files: &mut Vec<MarkdownFile>) {
        let entries = match std::fs::read_dir(folder) {
            Ok(entries) => entries,
            Err(error) => return notes.add(folder, format!("the folder cannot be read: {error}")),
        };
        let mut entries: Vec<_> = entries.take(MAX_FOLDER_NAMES.min(self.remaining_names)).flatten().collect();
        self.remaining_names = self.remaining_names.saturating_sub(entries.len());
        entries.sort_by_key(DirEntry::file_name);
        for entry in entries {
            let (path, name) = (entry.path(), entry.file_name());
            let Some(name) = name.to_str().filter(|name| !name.starts_with('.')) else { continue };
            let Ok(kind) = entry.file_type() else { continue };
            let file = name.strip_suffix(".md");
            let stem = file.unwrap_or(name);
            if kind.is_symlink() {
                notes.add(&path, "links are not followed");
            } else if kind.is_dir() || file.is_some() {
                if self.strict_names && !is_name(stem) {
                    notes.add(&path, "a name has no blanks, control characters, slashes or colons");
                } else if kind.is_dir() && depth > 0 {
                    self.walk(&path, &format!("{prefix}{stem}:"), depth.saturating_sub(1), notes, files);
                } else if kind.is_file() {
                    files.push(MarkdownFile { path, name: format!("{prefix}{stem}") });
                }
            }
        }
    }
}

/// Returns `true` if commands and plugins can have this name.
pub(crate) fn is_name(name: &str) -> bool {
    !name.is_empty()
        && name.len() <= 100
        && !name.contains(|c: char| c.is_whitespace() || c.is_control() || matches!(c, ':' | '/' | '\\'))
}

/// Returns a text for a list: one line of limited length, without hidden characters and terminal sequences.
pub(crate) fn one_line(text: &str, max_chars: usize) -> String {
    clean_line(&text.chars().take(max_chars).collect::<String>())
}
