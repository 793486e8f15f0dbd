//! Directories and files reached without following a single link.
//!
//! A path that was judged is a path without links. Opening it here either reaches exactly that place or fails: a link
//! that has appeared in any component since, including the last one, is an error and never a detour.

use std::ffi::{OsStr, OsString};
use std::fs::File;
use std::io;
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::ffi::OsStrExt;
use std::path::{Component, Path};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use rustix::fs::{Access, AtFlags, FileType, Mode, OFlags};
use rustix::io::Errno;

use windlass_tool::FileStamp;
use windlass_tool::content_swap::SwapFolder;

use super::entry::{Entry, EntryStatus, Missing, Rights};

/// An open directory; names are looked up in it and not by a path.
#[derive(Debug)]
pub(crate) struct Dir {
    fd: OwnedFd,
}

// Special files must neither block the open nor become our terminal.
const FILE: OFlags =
    OFlags::RDONLY.union(OFlags::NONBLOCK).union(OFlags::NOCTTY).union(OFlags::NOFOLLOW).union(OFlags::CLOEXEC);
const DIRECTORY: OFlags = OFlags::DIRECTORY.union(OFlags::NOFOLLOW).union(OFlags::CLOEXEC);

/// Flags for directories on the way, which may be entered but not listed.
#[cfg(any(target_os = "linux", target_os = "android"))]
const PASSING: OFlags = DIRECTORY.union(OFlags::PATH);
#[cfg(not(any(target_os = "linux", target_os = "android")))]
const PASSING: OFlags = DIRECTORY.union(OFlags::RDONLY);

/// Opens `path`, which has no links, for reading. The result may be a directory or a special file: the caller checks
/// its metadata.
///
/// # Errors
/// [`is_link_error`] is true for the error when a link is on the way.
pub(crate) fn open_file(path: &Path) -> io::Result<File> {
    #[cfg(any(target_os = "linux", target_os = "android"))]
    if let Some(opened) = open_whole(path, FILE) {
        return opened.map(File::from);
    }
    let (parent, name) = split_path(path)?;
    let parent = walk(parent, Missing::Refuse)?;
    match rustix::fs::openat(&parent, name, FILE, Mode::empty()) {
        Ok(fd) => Ok(File::from(fd)),
        Err(error) => Err(link_aware_error(&parent, name, error)),
    }
}

/// Kind of the entry at `path`, which has no `..`, if it can be reached without following a link. `Some(None)`: there
/// is no link on the way to the name, which is missing, or is below something that is no directory.
#[cfg(any(target_os = "linux", target_os = "android"))]
pub(crate) fn kind_without_links(path: &Path) -> Option<Option<Entry>> {
    let fd = match open_whole(path, OFlags::PATH.union(OFlags::CLOEXEC))? {
        Ok(fd) => fd,
        // A link on the way, even a dangling one, is another error.
        Err(error) if matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory) => {
            return Some(None);
        }
        Err(_) => return None,
    };
    let stat = rustix::fs::fstat(&fd).ok()?;
    Some(Some(entry_of(FileType::from_raw_mode(stat.st_mode))))
}

/// Like [`open_file`], if the system knows the path without asking a disk or a server; else `None`.
pub(crate) fn open_file_at_hand(path: &Path) -> Option<File> {
    #[cfg(any(target_os = "linux", target_os = "android"))]
    {
        use rustix::fs::ResolveFlags;
        let resolve = ResolveFlags::NO_SYMLINKS.union(ResolveFlags::NO_MAGICLINKS).union(ResolveFlags::CACHED);
        // The slower way finds the error again, and reports it.
        rustix::fs::openat2(rustix::fs::CWD, path, FILE, Mode::empty(), resolve).ok().map(File::from)
    }
    #[cfg(not(any(target_os = "linux", target_os = "android")))]
    {
        let _ = path;
        None
    }
}

/// Continues to read a file, if the system has the bytes in memory; else `None`.
pub(crate) fn read_at_hand(file: &File, buffer: &mut [u8]) -> Option<usize> {
    #[cfg(any(target_os = "linux", target_os = "android"))]
    {
        use rustix::io::ReadWriteFlags;
        /// Value for the current position.
        const HERE: u64 = u64::MAX;
        let mut buffers = [io::IoSliceMut::new(buffer)];
        rustix::io::preadv2(file, &mut buffers, HERE, ReadWriteFlags::NOWAIT).ok()
    }
    #[cfg(not(any(target_os = "linux", target_os = "android")))]
    {
        let _ = (file, buffer);
        None
    }
}

#[cfg(target_os = "linux")]
impl AsFd for Dir {
    fn as_fd(&self) -> std::os::fd::BorrowedFd<'_> {
        self.fd.as_fd()
    }
}

/// Size in bytes of the buffer for one request of directory entries.
#[cfg(any(target_os = "linux", target_os = "android"))]
const LIST_BYTES: usize = 32 * 1024;

/// Entries of a directory, their names in one buffer.
#[derive(Debug, Default)]
pub(crate) struct Listed {
    names: Vec<u8>,
    /// End of each name.
    ends: Vec<(usize, Entry)>,
}

impl Listed {
    pub(crate) fn len(&self) -> usize {
        self.ends.len()
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = (&OsStr, Entry)> {
        let mut start = 0;
        self.ends.iter().map(move |(end, entry)| {
            let name = self.names.get(std::mem::replace(&mut start, *end)..*end).unwrap_or_default();
            (OsStr::from_bytes(name), *entry)
        })
    }
}

impl Dir {
    /// Opens the directory at `path`, which has no links.
    ///
    /// # Errors
    /// The same as [`open_file`].
    pub(crate) fn open(path: &Path, missing: Missing) -> io::Result<Self> {
        #[cfg(any(target_os = "linux", target_os = "android"))]
        if let Some(opened) = open_whole(path, DIRECTORY.union(OFlags::RDONLY)) {
            use io::ErrorKind::{NotADirectory, NotFound, PermissionDenied};
            match opened {
                Ok(fd) => return Ok(Self { fd }),
                Err(error) if missing == Missing::Create && error.kind() == NotFound => {}
                // A directory that may be written but not listed opens only for passing, and the step by step way
                // distinguishes a link from another non-directory.
                Err(error) if matches!(error.kind(), PermissionDenied | NotADirectory) => {}
                Err(error) => return Err(error),
            }
        }
        let fd = walk(path, missing)?;
        match rustix::fs::openat(&fd, ".", DIRECTORY.union(OFlags::RDONLY), Mode::empty()) {
            Ok(fd) => Ok(Self { fd }),
            Err(Errno::ACCESS) => Ok(Self { fd }),
            Err(error) => Err(error.into()),
        }
    }

    /// Opens the directory at `path`, which has no links, only to look up names in it.
    pub(crate) fn open_for_lookup(path: &Path) -> io::Result<Self> {
        #[cfg(any(target_os = "linux", target_os = "android"))]
        if let Some(opened) = open_whole(path, PASSING) {
            return opened.map(|fd| Self { fd });
        }
        walk(path, Missing::Refuse).map(|fd| Self { fd })
    }

    /// Modification time of a name; links are not followed.
    pub(crate) fn modified(&self, name: &OsStr) -> io::Result<SystemTime> {
        #[allow(clippy::useless_conversion, reason = "the fields differ in size from system to system")]
        let (seconds, nanos) = {
            let stat = rustix::fs::statat(&self.fd, name, AtFlags::SYMLINK_NOFOLLOW)?;
            (i64::from(stat.st_mtime), u32::try_from(stat.st_mtime_nsec).unwrap_or(0))
        };
        let whole = Duration::from_secs(seconds.unsigned_abs());
        let base = if seconds < 0 { UNIX_EPOCH.checked_sub(whole) } else { UNIX_EPOCH.checked_add(whole) };
        Ok(base.and_then(|base| base.checked_add(Duration::from_nanos(nanos.into()))).unwrap_or(UNIX_EPOCH))
    }

    /// Status of one name, without following it. `None` when it does not exist.
    #[allow(clippy::useless_conversion, reason = "the fields differ in size from system to system")]
    pub(crate) fn status(&self, name: &OsStr) -> io::Result<Option<EntryStatus>> {
        match rustix::fs::statat(&self.fd, name, AtFlags::SYMLINK_NOFOLLOW) {
            Ok(stat) => Ok(Some(EntryStatus {
                entry: entry_of(FileType::from_raw_mode(stat.st_mode)),
                names: stat.st_nlink.into(),
                rights: Rights { mode: u32::from(stat.st_mode) & 0o7777, owner: stat.st_uid, group: stat.st_gid },
            })),
            Err(Errno::NOENT) => Ok(None),
            Err(error) => Err(error.into()),
        }
    }

    /// Device number and inode number.
    #[cfg(target_os = "linux")]
    #[allow(clippy::useless_conversion, reason = "the fields differ from system to system")]
    pub(crate) fn identity(&self) -> io::Result<(u64, u64)> {
        let stat = rustix::fs::fstat(&self.fd)?;
        Ok((stat.st_dev.into(), stat.st_ino.into()))
    }

    /// Stamp of a file from the file system, without following it, and the number of the file's names. `None` when it
    /// does not exist.
    #[allow(clippy::useless_conversion, clippy::unnecessary_cast, reason = "the fields differ from system to system")]
    pub(crate) fn stamp(&self, name: &OsStr) -> io::Result<Option<(FileStamp, u64)>> {
        let stat = match rustix::fs::statat(&self.fd, name, AtFlags::SYMLINK_NOFOLLOW) {
            Ok(stat) => stat,
            Err(Errno::NOENT) => return Ok(None),
            Err(error) => return Err(error.into()),
        };
        let time = |seconds: i64, nanos: i64| seconds.saturating_mul(1_000_000_000).saturating_add(nanos);
        let modified = time(i64::from(stat.st_mtime), stat.st_mtime_nsec as i64);
        let changed = time(i64::from(stat.st_ctime), stat.st_ctime_nsec as i64);
        let size = u64::try_from(stat.st_size).unwrap_or_default();
        let mode = u32::from(stat.st_mode) & 0o7777;
        let stamp = FileStamp::new(size, modified).with_identity(changed, stat.st_ino.into(), mode);
        Ok(Some((stamp, stat.st_nlink.into())))
    }

    /// At most `limit` names for which `wanted` is true.
    pub(crate) fn names(&self, limit: usize, wanted: impl Fn(&OsStr) -> bool) -> io::Result<Vec<OsString>> {
        let mut names = Vec::new();
        for entry in rustix::fs::Dir::read_from(&self.fd)? {
            if names.len() >= limit {
                break;
            }
            let entry = entry?;
            let name = OsStr::from_bytes(entry.file_name().to_bytes());
            if name != "." && name != ".." && wanted(name) {
                names.push(name.to_owned());
            }
        }
        Ok(names)
    }

    /// Like [`entries`](Self::entries), with few allocations.
    pub(crate) fn list(&self, limit: usize) -> io::Result<Listed> {
        let mut listed = Listed::default();
        #[cfg(any(target_os = "linux", target_os = "android"))]
        {
            let mut buffer = Vec::with_capacity(LIST_BYTES);
            let mut entries = rustix::fs::RawDir::new(&self.fd, buffer.spare_capacity_mut());
            while let Some(entry) = entries.next() {
                let entry = entry?;
                if !self.add(&mut listed, entry.file_name().to_bytes(), entry.file_type(), limit)? {
                    break;
                }
            }
        }
        #[cfg(not(any(target_os = "linux", target_os = "android")))]
        for entry in rustix::fs::Dir::read_from(&self.fd)? {
            let entry = entry?;
            if !self.add(&mut listed, entry.file_name().to_bytes(), entry.file_type(), limit)? {
                break;
            }
        }
        Ok(listed)
    }

    /// Adds an entry. Returns `true` if there is space for more.
    fn add(&self, listed: &mut Listed, name: &[u8], kind: FileType, limit: usize) -> io::Result<bool> {
        if matches!(name, b"." | b"..") {
            return Ok(true);
        }
        if listed.ends.len() >= limit {
            return Ok(false);
        }
        let kind = match kind {
            // Some file systems do not report the kind.
            FileType::Unknown => self.status(OsStr::from_bytes(name))?.map_or(Entry::Special, |status| status.entry),
            kind => entry_of(kind),
        };
        listed.names.extend_from_slice(name);
        listed.ends.push((listed.names.len(), kind));
        Ok(true)
    }

    /// At most `limit` entries, links not followed.
    pub(crate) fn entries(&self, limit: usize) -> io::Result<Vec<(OsString, Entry)>> {
        let mut entries = Vec::new();
        for entry in rustix::fs::Dir::read_from(&self.fd)? {
            if entries.len() >= limit {
                break;
            }
            let entry = entry?;
            let name = OsStr::from_bytes(entry.file_name().to_bytes());
            if name == "." || name == ".." {
                continue;
            }
            let kind = match entry.file_type() {
                // Some file systems do not report the kind.
                FileType::Unknown => self.status(name)?.map_or(Entry::Special, |status| status.entry),
                kind => entry_of(kind),
            };
            entries.push((name.to_owned(), kind));
        }
        Ok(entries)
    }

    /// Checks that this process may write to the file itself, apart from replacing it.
    pub(crate) fn may_write(&self, name: &OsStr) -> io::Result<()> {
        Ok(rustix::fs::accessat(&self.fd, name, Access::WRITE_OK, AtFlags::EACCESS)?)
    }

    /// Opens a file of this directory for reading; never follows a link, never blocks.
    pub(crate) fn open_entry(&self, name: &OsStr) -> io::Result<File> {
        let fd = rustix::fs::openat(&self.fd, name, FILE, Mode::empty())?;
        Ok(File::from(fd))
    }

    /// Creates a file that must not exist yet, open for writing. The process's file creation mask applies to `mode`.
    pub(crate) fn create_new(&self, name: &OsStr, mode: u32) -> io::Result<File> {
        let flags =
            OFlags::WRONLY.union(OFlags::CREATE).union(OFlags::EXCL).union(OFlags::NOFOLLOW).union(OFlags::CLOEXEC);
        let mode = Mode::from_bits_truncate(mode as rustix::fs::RawMode);
        let fd = rustix::fs::openat(&self.fd, name, flags, mode)?;
        Ok(File::from(fd))
    }

    /// Renames within this directory, over an existing `to`.
    pub(crate) fn rename(&self, from: &OsStr, to: &OsStr) -> io::Result<()> {
        Ok(rustix::fs::renameat(&self.fd, from, &self.fd, to)?)
    }

    /// View of this directory for files whose content is compared before they are replaced.
    pub(crate) fn swap(&self) -> SwapFolder<'_> {
        SwapFolder::new(self.fd.as_fd())
    }

    /// Renames within this directory to a name that must not exist yet.
    pub(crate) fn rename_new(&self, from: &OsStr, to: &OsStr) -> io::Result<()> {
        self.rename_new_into(from, self, to)
    }

    /// Renames to a name of another directory that must not exist yet.
    pub(crate) fn rename_new_into(&self, from: &OsStr, dir: &Self, to: &OsStr) -> io::Result<()> {
        #[cfg(any(target_os = "linux", target_os = "android", target_vendor = "apple"))]
        {
            let flags = rustix::fs::RenameFlags::NOREPLACE;
            match rustix::fs::renameat_with(&self.fd, from, &dir.fd, to, flags) {
                Err(Errno::NOSYS | Errno::INVAL | Errno::NOTSUP) => {}
                other => return Ok(other?),
            }
        }
        rustix::fs::linkat(&self.fd, from, &dir.fd, to, AtFlags::empty())?;
        self.remove(from)
    }

    /// Removes one file.
    pub(crate) fn remove(&self, name: &OsStr) -> io::Result<()> {
        Ok(rustix::fs::unlinkat(&self.fd, name, AtFlags::empty())?)
    }

    /// Removes one directory, which must be empty.
    pub(crate) fn remove_empty(&self, name: &OsStr) -> io::Result<()> {
        Ok(rustix::fs::unlinkat(&self.fd, name, AtFlags::REMOVEDIR)?)
    }

    /// Makes the directory's entries durable, where the system can do that.
    pub(crate) fn sync(&self) -> io::Result<()> {
        match rustix::fs::fsync(&self.fd) {
            Ok(()) => Ok(()),
            // A directory open only for passing, or a file system without sync.
            Err(Errno::BADF | Errno::INVAL) => Ok(()),
            Err(error) => Err(error.into()),
        }
    }
}

fn entry_of(kind: FileType) -> Entry {
    match kind {
        FileType::RegularFile => Entry::File,
        FileType::Directory => Entry::Directory,
        FileType::Symlink => Entry::Link,
        _ => Entry::Special,
    }
}

/// `true` if an open failed because of an unexpected link.
pub(crate) fn is_link_error(error: &io::Error) -> bool {
    error.raw_os_error() == Some(Errno::LOOP.raw_os_error())
}

/// Error for an unexpected link.
pub(crate) fn link_error() -> io::Error {
    Errno::LOOP.into()
}

/// Opens the whole path with one system call. `None` if the kernel, or a filter before it, does not know the call.
#[cfg(any(target_os = "linux", target_os = "android"))]
fn open_whole(path: &Path, flags: OFlags) -> Option<io::Result<OwnedFd>> {
    use rustix::fs::ResolveFlags;
    let resolve = ResolveFlags::NO_SYMLINKS.union(ResolveFlags::NO_MAGICLINKS);
    match rustix::fs::openat2(rustix::fs::CWD, path, flags, Mode::empty(), resolve) {
        Ok(fd) => Some(Ok(fd)),
        Err(Errno::NOSYS | Errno::PERM | Errno::INVAL | Errno::OPNOTSUPP) => None,
        Err(error) => Some(Err(error.into())),
    }
}

fn split_path(path: &Path) -> io::Result<(&Path, &OsStr)> {
    match (path.parent(), path.file_name()) {
        (Some(parent), Some(name)) => Ok((parent, name)),
        _ => Err(io::Error::from(io::ErrorKind::IsADirectory)),
    }
}

/// Opens a path component by component from the root, so that no link is followed.
fn walk(path: &Path, missing: Missing) -> io::Result<OwnedFd> {
    let mut current = rustix::fs::open("/", PASSING, Mode::empty())?;
    for part in path.components() {
        let name = match part {
            Component::RootDir | Component::CurDir => continue,
            Component::Normal(name) => name,
            Component::ParentDir | Component::Prefix(_) => {
                return Err(io::Error::from(io::ErrorKind::InvalidInput));
            }
        };
        let mut opened = rustix::fs::openat(&current, name, PASSING, Mode::empty());
        if missing == Missing::Create && matches!(opened, Err(Errno::NOENT)) {
            match rustix::fs::mkdirat(&current, name, Mode::from_bits_truncate(0o777)) {
                Ok(()) | Err(Errno::EXIST) => {}
                Err(error) => return Err(error.into()),
            }
            opened = rustix::fs::openat(&current, name, PASSING, Mode::empty());
        }
        current = match opened {
            Ok(fd) => fd,
            Err(error) => return Err(link_aware_error(&current, name, error)),
        };
    }
    Ok(current)
}

/// Reports a link in place of a directory as a link, on every system.
fn link_aware_error(parent: &OwnedFd, name: &OsStr, error: Errno) -> io::Error {
    if matches!(error, Errno::NOTDIR | Errno::LOOP | Errno::MLINK)
        && rustix::fs::statat(parent, name, AtFlags::SYMLINK_NOFOLLOW)
            .is_ok_and(|stat| FileType::from_raw_mode(stat.st_mode).is_symlink())
    {
        return link_error();
    }
    error.into()
}
