//! The files of this machine.

use std::ffi::{OsStr, OsString};
use std::fs::{File, Metadata};
use std::io::{self, Read};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::UNIX_EPOCH;

use async_trait::async_trait;
use windlass_tool::content_swap::ContentChanged;
use windlass_tool::{
    DirectoryEntry, EditOrder, EntryKind, FileInfo, FileWalk, JudgedPath, OpenFile, Permit, ResolvedPath, Workspace,
    WorkspaceError, WorkspaceErrorKind, WriteOptions,
};
use windlass_types::Timestamp;
use windlass_types::text::visible_path;

use super::dir::{self, Dir};
use super::entry::{Entry, Missing};
use super::replace::{Expect, NotRegular, Place, compare_and_remove, replace_with_mode};
use super::resolve::{is_cycle, kind, resolve};
use super::temporary_files::TemporaryFiles;
use windlass_blocking::run_blocking;

/// Maximum number of bytes that one read returns.
const MAX_READ: usize = 1024 * 1024;

/// Size in bytes of one read if the system reports no usable size for the file.
const MIN_READ: usize = 16 * 1024;

/// Maximum number of bytes copied from the page cache on the calling thread, while other tasks wait.
const MAX_CACHED_READ: usize = 256 * 1024;

/// The files of this machine, as the account of this process may use them.
///
/// A permitted file is reached by its resolved path, without following a single link: a link that was put anywhere on
/// the way after the path was judged makes the call fail and never leads elsewhere. Devices, pipes and sockets are
/// neither waited for nor read.
///
/// A file that others change between its reading and its replacement
/// ([`compare_and_write`](Workspace::compare_and_write)) keeps their content: see
/// [`content_swap`](windlass_tool::content_swap). Clones share the order in which calls change files.
///
/// Works on any thread of a tokio runtime, where waits happen on the blocking pool, and also without a runtime.
#[derive(Debug, Clone, Default)]
pub struct LocalWorkspace {
    order: EditOrder,
    /// List of the temporary files that a killed process would leave behind.
    pub(crate) temporary: Option<TemporaryFiles>,
}

impl LocalWorkspace {
    /// Workspace of the local files.
    pub fn new() -> Self {
        Self::default()
    }

    /// Records temporary files in `files`, so that those of a killed process can be removed.
    #[must_use]
    pub fn with_temporary_files(mut self, files: TemporaryFiles) -> Self {
        self.temporary = Some(files);
        self
    }
}

#[async_trait]
impl Workspace for LocalWorkspace {
    async fn resolve(&self, path: &Path) -> Result<ResolvedPath, WorkspaceError> {
        // Runs on this thread, because a few cached look-ups cost less than a change of threads.
        let found = resolve(path).map_err(|error| named(error, path))?;
        Ok(ResolvedPath::new(found.path, found.kind).with_via(found.via))
    }

    async fn open(&self, permit: &Permit, path: &Path) -> Result<Box<dyn OpenFile>, WorkspaceError> {
        let place = readable(permit, path)?;
        let path = path.to_owned();
        if let Some(file) = dir::open_file_at_hand(&place) {
            return regular_file(file, &path);
        }
        off_thread(move || {
            let file = dir::open_file(&place).map_err(|error| named(error, &path))?;
            regular_file(file, &path)
        })
        .await
    }

    async fn write(
        &self,
        permit: &Permit,
        path: &Path,
        content: &[u8],
        options: WriteOptions,
    ) -> Result<(), WorkspaceError> {
        let place = writable(permit, path)?;
        let path = path.to_owned();
        let (content, list) = (content.to_vec(), self.temporary.clone());
        off_thread(move || {
            let missing = if options.create_directories { Missing::Create } else { Missing::Refuse };
            let expect = if options.must_be_new { Expect::Absent } else { Expect::Any };
            replace_file(&place, &content, (missing, expect), list.as_ref()).map_err(|error| named(error, &path))
        })
        .await
    }

    async fn compare_and_write(
        &self,
        permit: &Permit,
        path: &Path,
        expected: &[u8],
        content: &[u8],
    ) -> Result<(), WorkspaceError> {
        let place = writable(permit, path)?;
        let path = path.to_owned();
        let (expected, content, list) = (expected.to_vec(), content.to_vec(), self.temporary.clone());
        off_thread(move || {
            let conditions = (Missing::Refuse, Expect::Content(&expected));
            replace_file(&place, &content, conditions, list.as_ref()).map_err(|error| named(error, &path))
        })
        .await
    }

    async fn remove(&self, permit: &Permit, path: &Path) -> Result<(), WorkspaceError> {
        let place = writable(permit, path)?;
        let path = path.to_owned();
        off_thread(move || remove(&place, None, None).map_err(|error| named(error, &path))).await
    }

    async fn compare_and_remove(&self, permit: &Permit, path: &Path, expected: &[u8]) -> Result<(), WorkspaceError> {
        let place = writable(permit, path)?;
        let (path, expected, list) = (path.to_owned(), expected.to_vec(), self.temporary.clone());
        off_thread(move || remove(&place, Some(&expected), list.as_ref()).map_err(|error| named(error, &path))).await
    }

    fn edit_order(&self) -> Option<&EditOrder> {
        Some(&self.order)
    }

    async fn rename(
        &self,
        permit: &Permit,
        from: &Path,
        to: &Path,
        options: WriteOptions,
    ) -> Result<(), WorkspaceError> {
        let (place, new_place) = (writable(permit, from)?, writable(permit, to)?);
        let (from, to) = (from.to_owned(), to.to_owned());
        let missing = if options.create_directories { Missing::Create } else { Missing::Refuse };
        off_thread(move || {
            let (dir, name) = open_parent(&place).map_err(|error| named(error, &from))?;
            rename(&dir, &name, &new_place, missing).map_err(|error| named(error, &to))
        })
        .await
    }

    async fn list(&self, permit: &Permit, path: &Path, limit: usize) -> Result<Vec<String>, WorkspaceError> {
        let judged = permit.listable(path).ok_or_else(|| path_error(WorkspaceErrorKind::NotPermitted, path))?;
        let place = place_of(judged, permit, path)?;
        let path = path.to_owned();
        let filter = permit.filter();
        off_thread(move || {
            let names = Dir::open(&place, Missing::Refuse)
                .and_then(|dir| {
                    dir.names(limit, |name| filter.as_ref().is_none_or(|allowed| allowed(&place.join(name))))
                })
                .map_err(|error| named(error, &path))?;
            Ok(names.into_iter().map(|name| name.to_string_lossy().into_owned()).collect())
        })
        .await
    }

    async fn entries(&self, directory: &Path, limit: usize) -> Result<Vec<DirectoryEntry>, WorkspaceError> {
        let directory = directory.to_owned();
        off_thread(move || {
            let entries = Dir::open(&directory, Missing::Refuse).and_then(|dir| dir.entries(limit));
            let entries = entries.map_err(|error| named(error, &directory))?;
            Ok(entries.into_iter().map(|(name, entry)| DirectoryEntry::new(name, entry_kind(entry))).collect())
        })
        .await
    }

    fn file_walk(&self) -> Option<&dyn FileWalk> {
        Some(self)
    }

    fn is_local(&self) -> bool {
        true
    }
}

pub(crate) fn entry_kind(entry: Entry) -> EntryKind {
    match entry {
        Entry::File => EntryKind::File,
        Entry::Directory => EntryKind::Directory,
        Entry::Link => EntryKind::Link,
        Entry::Special => EntryKind::Special,
    }
}

/// A file of this machine, held by its descriptor.
#[derive(Debug)]
struct LocalFile {
    file: Arc<File>,
    path: Arc<Path>,
    info: FileInfo,
    /// Number of bytes read so far.
    position: u64,
}

impl LocalFile {
    /// Number of bytes to request at once: the remaining size and one more, to see the end. A size of zero, or one that
    /// was exceeded, is not trusted.
    fn read_size(&self, limit: usize) -> usize {
        let remaining_size = match self.info.size.checked_sub(self.position) {
            Some(remaining) if self.info.size > 0 => usize::try_from(remaining.saturating_add(1)).unwrap_or(usize::MAX),
            _ => MIN_READ,
        };
        limit.min(MAX_READ).min(remaining_size)
    }
}

#[async_trait]
impl OpenFile for LocalFile {
    fn info(&self) -> &FileInfo {
        &self.info
    }

    async fn read(&mut self, limit: usize) -> Result<Vec<u8>, WorkspaceError> {
        let read_size = self.read_size(limit);
        if read_size <= MAX_CACHED_READ {
            let mut buffer = vec![0; read_size];
            if let Some(read) = dir::read_at_hand(&self.file, &mut buffer) {
                buffer.truncate(read);
                self.position = self.position.saturating_add(read as u64);
                return Ok(buffer);
            }
        }
        let file = Arc::clone(&self.file);
        let path = Arc::clone(&self.path);
        let read = off_thread(move || {
            let mut buffer = vec![0; read_size];
            loop {
                match (&*file).read(&mut buffer) {
                    Ok(read) => {
                        buffer.truncate(read);
                        return Ok(buffer);
                    }
                    Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                    Err(error) => return Err(named(error, &path)),
                }
            }
        })
        .await?;
        self.position = self.position.saturating_add(read.len() as u64);
        Ok(read)
    }
}

/// Wraps an open file, which must be a regular file.
fn regular_file(file: File, path: &Path) -> Result<Box<dyn OpenFile>, WorkspaceError> {
    let meta = file.metadata().map_err(|error| named(error, path))?;
    match kind(&meta) {
        EntryKind::File => {
            let info = info(&meta);
            Ok(Box::new(LocalFile { file: Arc::new(file), path: path.into(), info, position: 0 }))
        }
        EntryKind::Directory => Err(path_error(WorkspaceErrorKind::IsDirectory, path)),
        _ => Err(path_error(WorkspaceErrorKind::NotRegular, path)),
    }
}

/// Permitted place for reading `path`, free of links when judged.
fn readable(permit: &Permit, path: &Path) -> Result<PathBuf, WorkspaceError> {
    let judged = permit.readable(path).ok_or_else(|| path_error(WorkspaceErrorKind::NotPermitted, path))?;
    place_of(judged, permit, path)
}

/// Permitted place for changing `path`, free of links when judged.
fn writable(permit: &Permit, path: &Path) -> Result<PathBuf, WorkspaceError> {
    let judged = permit.writable(path).ok_or_else(|| path_error(WorkspaceErrorKind::NotPermitted, path))?;
    Ok(judged.resolved.clone())
}

fn place_of(judged: &JudgedPath, permit: &Permit, path: &Path) -> Result<PathBuf, WorkspaceError> {
    let place = if judged.requested == path {
        judged.resolved.clone()
    } else {
        // Below a judged tree, links may be used if they lead to a place in the same tree.
        let place = resolve(path).map_err(|error| named(error, path))?.path;
        if !place.starts_with(&judged.resolved) {
            return Err(path_error(WorkspaceErrorKind::NotPermitted, path));
        }
        place
    };
    if permit.allows(&place) { Ok(place) } else { Err(path_error(WorkspaceErrorKind::NotPermitted, path)) }
}

fn replace_file(
    place: &Path,
    content: &[u8],
    (missing, expect): (Missing, Expect<'_>),
    list: Option<&TemporaryFiles>,
) -> io::Result<()> {
    let (Some(parent), Some(name)) = (place.parent(), place.file_name()) else {
        return Err(io::Error::from(io::ErrorKind::IsADirectory));
    };
    let dir = Dir::open(parent, missing)?;
    let replacement = replace_with_mode(Place::new(&dir, parent, list), name, content, expect, None)?;
    if !replacement.not_kept.is_empty() {
        tracing::warn!(path = %place.display(), not_kept = ?replacement.not_kept, "attributes were not kept");
    }
    Ok(())
}

/// Opens the directory of the regular file `place`, and returns it with the file's name.
fn open_parent(place: &Path) -> io::Result<(Dir, OsString)> {
    let (Some(parent), Some(name)) = (place.parent(), place.file_name()) else {
        return Err(io::Error::from(io::ErrorKind::IsADirectory));
    };
    let dir = Dir::open(parent, Missing::Refuse)?;
    match dir.status(name)?.map(|status| status.entry) {
        Some(Entry::File) => Ok((dir, name.to_owned())),
        Some(Entry::Directory) => Err(io::Error::from(io::ErrorKind::IsADirectory)),
        Some(Entry::Link) => Err(dir::link_error()),
        Some(Entry::Special) => Err(io::Error::other(NotRegular)),
        None => Err(io::Error::from(io::ErrorKind::NotFound)),
    }
}

fn remove(place: &Path, expected: Option<&[u8]>, list: Option<&TemporaryFiles>) -> io::Result<()> {
    let (dir, name) = open_parent(place)?;
    let parent = place.parent().unwrap_or(place);
    // Checked here, because the system removes a read-only file without a question.
    dir.may_write(&name)?;
    match expected {
        Some(expected) => compare_and_remove(Place::new(&dir, parent, list), &name, expected)?,
        None => dir.remove(&name)?,
    }
    dir.sync()
}

fn rename(dir: &Dir, name: &OsStr, place: &Path, missing: Missing) -> io::Result<()> {
    let (Some(parent), Some(new_name)) = (place.parent(), place.file_name()) else {
        return Err(io::Error::from(io::ErrorKind::AlreadyExists));
    };
    let new_dir = Dir::open(parent, missing)?;
    match new_dir.status(new_name)?.map(|status| status.entry) {
        None => dir.rename_new_into(name, &new_dir, new_name)?,
        Some(Entry::Link) => return Err(dir::link_error()),
        Some(_) => return Err(io::Error::from(io::ErrorKind::AlreadyExists)),
    }
    new_dir.sync()?;
    dir.sync()
}

fn info(meta: &Metadata) -> FileInfo {
    let modified = meta
        .modified()
        .ok()
        .and_then(|time| time.duration_since(UNIX_EPOCH).ok())
        .and_then(|since| u64::try_from(since.as_millis()).ok())
        .map(Timestamp::from_millis);
    FileInfo::new(meta.len(), modified, executable(meta)).with_names(names(meta))
}

#[cfg(unix)]
fn names(meta: &Metadata) -> u64 {
    std::os::unix::fs::MetadataExt::nlink(meta)
}

#[cfg(not(unix))]
fn names(_: &Metadata) -> u64 {
    1
}

#[cfg(unix)]
fn executable(meta: &Metadata) -> bool {
    use std::os::unix::fs::PermissionsExt;
    meta.permissions().mode() & 0o111 != 0
}

#[cfg(not(unix))]
fn executable(_: &Metadata) -> bool {
    false
}

/// Runs work that may wait for a disk on a blocking thread.
pub(crate) async fn off_thread<T: Send + 'static>(
    work: impl FnOnce() -> Result<T, WorkspaceError> + Send + 'static,
) -> Result<T, WorkspaceError> {
    match run_blocking(work).await {
        Ok(result) => result,
        Err(error) => {
            let message = format!("the file could not be reached: {error}");
            Err(WorkspaceError::new(WorkspaceErrorKind::Other, message).with_source(error))
        }
    }
}

fn path_error(kind: WorkspaceErrorKind, path: &Path) -> WorkspaceError {
    let path = visible_path(path);
    let message = match kind {
        WorkspaceErrorKind::NotPermitted => format!("{path} is outside of what this call may touch"),
        WorkspaceErrorKind::IsDirectory => format!("{path} is a directory"),
        WorkspaceErrorKind::NotRegular => {
            format!("{path} is not a regular file but a device, pipe or socket")
        }
        WorkspaceErrorKind::Changed => {
            format!("{path} leads somewhere else than when this call was judged: a link was put on the way")
        }
        _ => format!("{path} could not be reached"),
    };
    WorkspaceError::new(kind, message)
}

/// Error of the system in words that name the path.
pub(crate) fn named(error: io::Error, path: &Path) -> WorkspaceError {
    use io::ErrorKind as Io;
    let shown = visible_path(path);
    let (kind, message) = match error.kind() {
        _ if ContentChanged::is(&error) => return WorkspaceError::content_changed(path).with_source(error),
        _ if dir::is_link_error(&error) => return path_error(WorkspaceErrorKind::Changed, path).with_source(error),
        _ if error.get_ref().is_some_and(|inner| inner.is::<NotRegular>()) => {
            return path_error(WorkspaceErrorKind::NotRegular, path);
        }
        _ if cannot_be_opened(&error) => return path_error(WorkspaceErrorKind::NotRegular, path).with_source(error),
        _ if is_cycle(&error) => (WorkspaceErrorKind::LinkCycle, format!("symbolic links of {shown} lead in a circle")),
        Io::NotFound => (WorkspaceErrorKind::NotFound, format!("{shown} does not exist")),
        Io::AlreadyExists => (WorkspaceErrorKind::AlreadyExists, format!("{shown} exists already")),
        Io::IsADirectory => (WorkspaceErrorKind::IsDirectory, format!("{shown} is a directory")),
        Io::NotADirectory => (WorkspaceErrorKind::NotDirectory, format!("a part of {shown} is not a directory")),
        Io::PermissionDenied => {
            (WorkspaceErrorKind::AccessDenied, format!("the system does not allow access to {shown}"))
        }
        Io::ReadOnlyFilesystem => {
            (WorkspaceErrorKind::ReadOnly, format!("{shown} is on a file system that is read-only"))
        }
        Io::StorageFull | Io::QuotaExceeded => {
            (WorkspaceErrorKind::NoSpace, format!("there is no space left for {shown}; it is unchanged"))
        }
        _ => (WorkspaceErrorKind::Other, format!("{shown} could not be reached: {error}")),
    };
    WorkspaceError::new(kind, message).with_source(error)
}

/// `true` for the system's error about a socket, or a device without a driver.
#[cfg(unix)]
fn cannot_be_opened(error: &io::Error) -> bool {
    use rustix::io::Errno;
    let code = error.raw_os_error();
    [Errno::NXIO, Errno::NODEV, Errno::OPNOTSUPP].iter().any(|errno| code == Some(errno.raw_os_error()))
}

#[cfg(not(unix))]
fn cannot_be_opened(_: &io::Error) -> bool {
    false
}

#[cfg(test)]
mod tests;
