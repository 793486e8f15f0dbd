//! Counterpart of `dir.rs` for systems without directory handles: names are looked up by path, and the path is checked
//! to be free of links at each use.

use std::ffi::{OsStr, OsString};
use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use windlass_tool::FileStamp;
use windlass_tool::content_swap::SwapFolder;

use super::entry::{Entry, EntryStatus, Missing};

/// A directory that was free of links when it was opened.
#[derive(Debug)]
pub(crate) struct Dir {
    path: PathBuf,
}

/// Opens `path`, which has no links, for reading.
///
/// # Errors
/// [`is_link_error`] is true for the error when a link is on the way.
pub(crate) fn open_file(path: &Path) -> io::Result<File> {
    check(path)?;
    let file = File::open(path)?;
    check(path)?;
    Ok(file)
}

/// `None`: it is unknown here if opening would wait.
pub(crate) fn open_file_at_hand(_: &Path) -> Option<File> {
    None
}

/// `None`: it is unknown here if reading would wait.
pub(crate) fn read_at_hand(_: &File, _: &mut [u8]) -> Option<usize> {
    None
}

/// The entries of a directory.
#[derive(Debug)]
pub(crate) struct Listed(Vec<(OsString, Entry)>);

impl Listed {
    pub(crate) fn len(&self) -> usize {
        self.0.len()
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = (&OsStr, Entry)> {
        self.0.iter().map(|(name, entry)| (name.as_os_str(), *entry))
    }
}

impl Dir {
    /// Opens the directory at `path`, which has no links.
    ///
    /// # Errors
    /// The same as [`open_file`].
    pub(crate) fn open(path: &Path, missing: Missing) -> io::Result<Self> {
        if missing == Missing::Create {
            fs::create_dir_all(path)?;
        }
        check(path)?;
        if !fs::symlink_metadata(path)?.is_dir() {
            return Err(io::Error::from(io::ErrorKind::NotADirectory));
        }
        Ok(Self { path: path.to_owned() })
    }

    /// Opens the directory at `path`, which has no links, only to look up names in it.
    pub(crate) fn open_for_lookup(path: &Path) -> io::Result<Self> {
        Self::open(path, Missing::Refuse)
    }

    /// Modification time of a name; links are not followed.
    pub(crate) fn modified(&self, name: &OsStr) -> io::Result<SystemTime> {
        fs::symlink_metadata(self.path.join(name))?.modified()
    }

    /// Stamp of a file from the file system, without following it. `None` when it does not exist.
    pub(crate) fn stamp(&self, name: &OsStr) -> io::Result<Option<(FileStamp, u64)>> {
        check(&self.path)?;
        let meta = match fs::symlink_metadata(self.path.join(name)) {
            Ok(meta) => meta,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
            Err(error) => return Err(error),
        };
        let since = meta.modified()?.duration_since(std::time::UNIX_EPOCH).unwrap_or_default();
        let stamp = FileStamp::new(meta.len(), i64::try_from(since.as_nanos()).unwrap_or(i64::MAX));
        Ok(Some((stamp, 1)))
    }

    /// Status of one name, without following it. `None` when it does not exist.
    pub(crate) fn status(&self, name: &OsStr) -> io::Result<Option<EntryStatus>> {
        check(&self.path)?;
        match fs::symlink_metadata(self.path.join(name)) {
            Ok(meta) => Ok(Some(EntryStatus {
                entry: if meta.is_symlink() {
                    Entry::Link
                } else if meta.is_file() {
                    Entry::File
                } else if meta.is_dir() {
                    Entry::Directory
                } else {
                    Entry::Special
                },
                names: 1,
            })),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
            Err(error) => Err(error),
        }
    }

    /// At most `limit` names for which `wanted` is true.
    pub(crate) fn names(&self, limit: usize, wanted: impl Fn(&OsStr) -> bool) -> io::Result<Vec<OsString>> {
        check(&self.path)?;
        let mut names = Vec::new();
        for entry in fs::read_dir(&self.path)? {
            if names.len() >= limit {
                break;
            }
            let name = entry?.file_name();
            if wanted(&name) {
                names.push(name);
            }
        }
        Ok(names)
    }

    /// Like [`entries`](Self::entries).
    pub(crate) fn list(&self, limit: usize) -> io::Result<Listed> {
        self.entries(limit).map(Listed)
    }

    /// At most `limit` entries, links not followed.
    pub(crate) fn entries(&self, limit: usize) -> io::Result<Vec<(OsString, Entry)>> {
        check(&self.path)?;
        let mut entries = Vec::new();
        for entry in fs::read_dir(&self.path)?.take(limit) {
            let entry = entry?;
            let kind = entry.file_type()?;
            let kind = if kind.is_symlink() {
                Entry::Link
            } else if kind.is_dir() {
                Entry::Directory
            } else if kind.is_file() {
                Entry::File
            } else {
                Entry::Special
            };
            entries.push((entry.file_name(), kind));
        }
        Ok(entries)
    }

    /// Checks that this process may write to the file itself, apart from replacing it.
    pub(crate) fn may_write(&self, name: &OsStr) -> io::Result<()> {
        if fs::symlink_metadata(self.path.join(name))?.permissions().readonly() {
            return Err(io::Error::from(io::ErrorKind::PermissionDenied));
        }
        Ok(())
    }

    /// Makes a file that did not exist, open for writing.
    pub(crate) fn create_new(&self, name: &OsStr, _mode: u32) -> io::Result<File> {
        check(&self.path)?;
        File::create_new(self.path.join(name))
    }

    /// Renames within this directory, over an existing `to`.
    pub(crate) fn rename(&self, from: &OsStr, to: &OsStr) -> io::Result<()> {
        check(&self.path)?;
        fs::rename(self.path.join(from), self.path.join(to))
    }

    /// View of this directory for files whose content is compared before they are replaced.
    pub(crate) fn swap(&self) -> SwapFolder<'_> {
        SwapFolder::new(&self.path)
    }

    /// Gives a file a second name that must not exist yet, and removes the first.
    pub(crate) fn rename_new(&self, from: &OsStr, to: &OsStr) -> io::Result<()> {
        self.rename_new_into(from, self, to)
    }

    /// Like [`rename_new`](Self::rename_new), into another directory.
    pub(crate) fn rename_new_into(&self, from: &OsStr, dir: &Self, to: &OsStr) -> io::Result<()> {
        check(&self.path)?;
        check(&dir.path)?;
        fs::hard_link(self.path.join(from), dir.path.join(to))?;
        self.remove(from)
    }

    /// Removes one file.
    pub(crate) fn remove(&self, name: &OsStr) -> io::Result<()> {
        fs::remove_file(self.path.join(name))
    }

    /// Removes one directory, which must be empty.
    pub(crate) fn remove_empty(&self, name: &OsStr) -> io::Result<()> {
        fs::remove_dir(self.path.join(name))
    }

    /// Does nothing: directories need no sync of their own here.
    pub(crate) fn sync(&self) -> io::Result<()> {
        Ok(())
    }
}

/// `true` if an open failed because of an unexpected link.
pub(crate) fn is_link_error(error: &io::Error) -> bool {
    error.get_ref().is_some_and(|inner| inner.is::<LinkOnTheWay>())
}

/// Error for an unexpected link.
pub(crate) fn link_error() -> io::Error {
    io::Error::other(LinkOnTheWay)
}

#[derive(Debug, thiserror::Error)]
#[error("a symbolic link stands on the way")]
struct LinkOnTheWay;

fn check(path: &Path) -> io::Result<()> {
    if fs::canonicalize(path)? == path { Ok(()) } else { Err(link_error()) }
}
