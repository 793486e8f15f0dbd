//! Surveys of whole trees.

use std::any::Any;
use std::collections::HashMap;
use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};
use std::sync::Arc;

mod changes;

pub use changes::SurveyChange;

/// Survey of a tree: the names in its folders and stamps of its files, no content.
///
/// Made by [`FileTree::survey`](crate::FileTree::survey).
#[derive(Debug, Clone, Default)]
#[non_exhaustive]
pub struct TreeSurvey {
    /// Folders that could be read, by path.
    pub folders: HashMap<PathBuf, Arc<FolderSurvey>>,
    /// `true` if the survey ended early, because the tree has more entries than the limit.
    pub is_cut: bool,
    memo: Option<Arc<dyn Any + Send + Sync>>,
}

/// The entries of one folder.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct FolderSurvey {
    /// Entries in the order of the file system.
    pub entries: Vec<(OsString, Surveyed)>,
    /// Number that identifies the rules for leaving out entries: other rules have another number.
    pub rules: u64,
    /// Latest change of a file in the folder, in nanoseconds since 1970.
    newest: i64,
}

/// Entry under a name.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[expect(clippy::exhaustive_enums, reason = "code that compares surveys must know every case")]
pub enum Surveyed {
    /// A regular file.
    File(FileStamp),
    /// A symbolic link, with the stamp of the link itself.
    Link(FileStamp),
    /// A folder. If it is not in the survey, it could not be read.
    Folder,
    /// A device, pipe or socket.
    Special,
    /// Left out by ignore files, with all that may be in it.
    LeftOut,
}

/// Metadata of a file. A file whose stamp is the same has not changed, unless it changed twice within one tick of the
/// clock.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[non_exhaustive]
pub struct FileStamp {
    /// Size in bytes.
    pub size: u64,
    /// Time of the last change of the content, in nanoseconds since 1970.
    pub modified: i64,
    /// Time of the last change of the content, rights or names, in nanoseconds since 1970. The same as `modified` if
    /// the system does not have it.
    pub changed: i64,
    /// Number of the file, which differs for another file under the same name; 0 if there is none.
    pub number: u64,
    /// Mode, if the system has modes.
    pub mode: Option<u32>,
}

impl FileStamp {
    /// Returns the stamp of a file whose content has this size and was last changed at this time.
    pub fn new(size: u64, modified: i64) -> Self {
        Self { size, modified, changed: modified, number: 0, mode: None }
    }

    /// Adds the time of the last change of any kind, the number of the file, and its mode.
    #[must_use]
    pub fn with_identity(mut self, changed: i64, number: u64, mode: u32) -> Self {
        (self.changed, self.number, self.mode) = (changed, number, Some(mode));
        self
    }
}

impl FolderSurvey {
    /// Returns the entries of a folder.
    pub fn new(entries: Vec<(OsString, Surveyed)>, rules: u64) -> Self {
        let newest = entries.iter().filter_map(|(_, what)| what.stamp()).map(|stamp| stamp.changed).max();
        Self { entries, rules, newest: newest.unwrap_or(i64::MIN) }
    }

    fn files(&self) -> impl Iterator<Item = (&OsStr, Surveyed)> {
        let files = self.entries.iter().filter(|(_, what)| !matches!(what, Surveyed::Folder | Surveyed::LeftOut));
        files.map(|(name, what)| (name.as_os_str(), *what))
    }

    /// Returns the entry under a name.
    pub fn get(&self, name: &OsStr) -> Option<Surveyed> {
        self.entries.iter().find(|(known, _)| known == name).map(|(_, what)| *what)
    }
}

impl Surveyed {
    /// Returns the stamp of a file or a link.
    pub fn stamp(&self) -> Option<FileStamp> {
        match self {
            Self::File(stamp) | Self::Link(stamp) => Some(*stamp),
            _ => None,
        }
    }
}

impl TreeSurvey {
    /// Adds data that the implementer of the tree wants to find in the survey when it is the earlier one of two. It
    /// lives as long as the survey.
    #[must_use]
    pub fn with_memo(mut self, memo: Arc<dyn Any + Send + Sync>) -> Self {
        self.memo = Some(memo);
        self
    }

    /// Returns the data that the implementer of the tree has added.
    pub fn memo(&self) -> Option<&(dyn Any + Send + Sync)> {
        self.memo.as_deref()
    }

    /// Returns the entry of a path below a surveyed folder: `None` if its folder was not read, `Some(None)` if it does
    /// not exist.
    pub fn look_up(&self, path: &Path) -> Option<Option<Surveyed>> {
        let (folder, name) = (path.parent()?, path.file_name()?);
        Some(self.folders.get(folder)?.get(name))
    }

    /// Returns every file, link and special file.
    pub fn files(&self) -> impl Iterator<Item = (PathBuf, Surveyed)> + '_ {
        let within = |(folder, survey): (&PathBuf, &Arc<FolderSurvey>)| -> Vec<(PathBuf, Surveyed)> {
            survey.files().map(|(name, what)| (folder.join(name), what)).collect()
        };
        self.folders.iter().flat_map(within)
    }
}

#[cfg(test)]
mod tests;
