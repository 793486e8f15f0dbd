//! Replaces and removes only files whose content is known. Needs the feature `system`.
//!
//! Between reading a file and replacing it another program may have changed it. Here the content is compared as the
//! last step before the file is replaced:
//!
//! 1. A lock on the file itself (`flock`) makes other processes that replace it in the same way wait. No other program
//!    needs to know of the lock. It ends with the process, and with the file.
//! 2. The content is compared through the locked descriptor.
//! 3. If the system can exchange two names in one step (Linux, macOS), the new file and the old one change places, and
//!    the old one is compared once more. If it has another content, both change places again.
//!
//! Remaining risk: a program that has the old file open and writes to it after the last comparison writes to a file
//! without a name. On systems and file systems without the exchange, a program that does not take the lock can replace
//! the file between the comparison and the rename. Where locks are not supported (some network file systems), step 1 is
//! left out. Without `flock` and without exchange (Windows), only step 2 and a rename are left.

use crate::private_file;
use std::ffi::OsStr;
use std::fs::File;
use std::io::{self, ErrorKind, Read};
use std::path::Path;

/// Maximum number of tries, 10 ms apart, for the lock of a file. Programs that replace files hold it for far less time
/// than one try. Another program may hold it for hours, for its own purpose, and does not keep files from being
/// changed.
#[cfg(unix)]
const LOCK_TRIES: u32 = 100;

/// Maximum number of times that a file is opened again because it was replaced before it was locked.
#[cfg(unix)]
const MAX_REOPENS: u32 = 10_000;

/// The error for a file that has another content than expected. Wrapped in an [`io::Error`].
#[derive(Debug, Clone, Copy, thiserror::Error)]
#[error("the content of the file has changed since it was read")]
#[expect(clippy::exhaustive_structs, reason = "a mark without content")]
pub struct ContentChanged;

impl ContentChanged {
    /// `true` if an error is this one.
    #[must_use]
    pub fn is(error: &io::Error) -> bool {
        error.get_ref().is_some_and(|inner| inner.is::<Self>())
    }
}

impl From<ContentChanged> for io::Error {
    fn from(changed: ContentChanged) -> Self {
        Self::other(changed)
    }
}

/// A directory in which files are replaced.
#[derive(Debug, Clone, Copy)]
pub struct SwapFolder<'a> {
    #[cfg(unix)]
    fd: rustix::fd::BorrowedFd<'a>,
    #[cfg(not(unix))]
    path: &'a Path,
}

#[cfg(unix)]
impl<'a> SwapFolder<'a> {
    /// Returns an open directory.
    #[must_use]
    pub fn new(fd: rustix::fd::BorrowedFd<'a>) -> Self {
        Self { fd }
    }
}

#[cfg(not(unix))]
impl<'a> SwapFolder<'a> {
    /// Returns a directory by its path.
    #[must_use]
    pub fn new(path: &'a Path) -> Self {
        Self { path }
    }
}

impl SwapFolder<'_> {
    /// Puts the file `new` in place of the file `name`, if that has the content `expected`. Afterwards `new` is the
    /// name of a file that may be removed, or of none.
    ///
    /// # Errors
    /// [`ContentChanged`] if the file has another content, is missing or is not a regular file; then it stays. Else an
    /// error of the system.
    pub fn replace(&self, new: &OsStr, name: &OsStr, expected: &[u8]) -> io::Result<()> {
        self.replace_with(new, name, expected, || ())
    }

    /// Removes the file `name` if it has the content `expected`. `aside` is a free name for temporary use.
    ///
    /// # Errors
    /// The errors of [`replace`](Self::replace).
    pub fn remove(&self, name: &OsStr, aside: &OsStr, expected: &[u8]) -> io::Result<()> {
        self.remove_with(name, aside, expected, || ())
    }
}

/// Puts the file `new` in place of the file `target` in the same directory, if that has the content `expected`, or with
/// `None` if there is none. Afterwards `new` is the name of a file that may be removed, or of none. The directory is
/// trusted here.
///
/// # Errors
/// [`ContentChanged`] if the condition does not hold; then the file stays. Else an error of the system.
pub fn replace_at(new: &Path, target: &Path, expected: Option<&[u8]>) -> io::Result<()> {
    let Some(expected) = expected else {
        return private_file::link_new(new, target).map_err(|error| match error.kind() {
            ErrorKind::AlreadyExists => ContentChanged.into(),
            _ => error,
        });
    };
    let folder = target.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let (Some(new), Some(name)) = (new.file_name(), target.file_name()) else {
        return Err(ErrorKind::InvalidInput.into());
    };
    #[cfg(unix)]
    {
        use rustix::fd::AsFd as _;
        let folder = File::open(folder)?;
        SwapFolder::new(folder.as_fd()).replace(new, name, expected)
    }
    #[cfg(not(unix))]
    SwapFolder::new(folder).replace(new, name, expected)
}

#[cfg(unix)]
impl SwapFolder<'_> {
    /// Like [`replace`](Self::replace). `compared` runs between the comparison and the exchange.
    fn replace_with(&self, new: &OsStr, name: &OsStr, expected: &[u8], compared: impl FnOnce()) -> io::Result<()> {
        let (old, ours) = (self.lock(name)?, self.open(new)?);
        if !holds(&old, expected)? {
            return Err(ContentChanged.into());
        }
        // Prevents others from building on the new content before it is final.
        let _ = ours.try_lock();
        compared();
        if !self.exchange(new, name)? {
            return Ok(rustix::fs::renameat(self.fd, new, self.fd, name)?);
        }
        if self.is_expected(&old, new, expected) {
            return Ok(());
        }
        // Another program was faster: its file gets the name back.
        self.exchange(new, name)?;
        if !self.is_at(&ours, new)? {
            // That program has replaced even our file, and its latest file stays.
            self.exchange(new, name)?;
        }
        Err(ContentChanged.into())
    }

    /// Like [`remove`](Self::remove). `compared` runs between the comparison and the removal.
    fn remove_with(&self, name: &OsStr, aside: &OsStr, expected: &[u8], compared: impl FnOnce()) -> io::Result<()> {
        let old = self.lock(name)?;
        if !holds(&old, expected)? {
            return Err(ContentChanged.into());
        }
        compared();
        rustix::fs::renameat(self.fd, name, self.fd, aside)?;
        if self.is_expected(&old, aside, expected) {
            return Ok(rustix::fs::unlinkat(self.fd, aside, rustix::fs::AtFlags::empty())?);
        }
        // If the name was given to a third file meanwhile, it stays with that one.
        self.put_back(aside, name)?;
        Err(ContentChanged.into())
    }

    /// `true` if the name is that of the compared file, and the file still has the content. A file that cannot be read
    /// is treated as changed, and gets its name back.
    fn is_expected(&self, compared: &File, name: &OsStr, expected: &[u8]) -> bool {
        self.is_at(compared, name).unwrap_or(false)
            && self.open(name).and_then(|file| holds(&file, expected)).unwrap_or(false)
    }

    /// Gives a file, or any other entry, its name back, if that is free.
    fn put_back(&self, aside: &OsStr, name: &OsStr) -> io::Result<()> {
        use rustix::fs::AtFlags;
        #[cfg(any(target_os = "linux", target_os = "android", target_vendor = "apple"))]
        if rustix::fs::renameat_with(self.fd, aside, self.fd, name, rustix::fs::RenameFlags::NOREPLACE).is_ok() {
            return Ok(());
        }
        if rustix::fs::linkat(self.fd, aside, self.fd, name, AtFlags::empty()).is_ok() {
            rustix::fs::unlinkat(self.fd, aside, AtFlags::empty())?;
        }
        Ok(())
    }

    /// Opens and locks the file that has the name now.
    fn lock(&self, name: &OsStr) -> io::Result<File> {
        for _ in 0..MAX_REOPENS {
            let file = match self.open(name) {
                Err(error) if error.kind() == ErrorKind::NotFound => return Err(ContentChanged.into()),
                opened => opened?,
            };
            // A failed lock does not prevent the change: the exchange shows which file was replaced.
            let _ = private_file::lock(&file, File::try_lock, |tried| tried < LOCK_TRIES);
            if self.is_at(&file, name)? {
                return Ok(file);
            }
        }
        Err(ContentChanged.into())
    }

    /// Opens a regular file without waiting and without following a link.
    fn open(&self, name: &OsStr) -> io::Result<File> {
        use rustix::fs::{Mode, OFlags, openat};
        let flags = OFlags::RDONLY | OFlags::NONBLOCK | OFlags::NOCTTY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        let file = File::from(openat(self.fd, name, flags, Mode::empty())?);
        if file.metadata()?.is_file() { Ok(file) } else { Err(ContentChanged.into()) }
    }

    /// `true` if the name is that of this open file.
    fn is_at(&self, file: &File, name: &OsStr) -> io::Result<bool> {
        let ours = rustix::fs::fstat(file)?;
        match rustix::fs::statat(self.fd, name, rustix::fs::AtFlags::SYMLINK_NOFOLLOW) {
            Ok(there) => Ok((ours.st_dev, ours.st_ino) == (there.st_dev, there.st_ino)),
            Err(rustix::io::Errno::NOENT) => Ok(false),
            Err(error) => Err(error.into()),
        }
    }

    /// Exchanges two names in one step. `false` if the system has no such step.
    fn exchange(&self, one: &OsStr, other: &OsStr) -> io::Result<bool> {
        #[cfg(any(target_os = "linux", target_os = "android", target_vendor = "apple"))]
        {
            use rustix::fs::{RenameFlags, renameat_with};
            use rustix::io::Errno;
            match renameat_with(self.fd, one, self.fd, other, RenameFlags::EXCHANGE) {
                Ok(()) => Ok(true),
                // Filters of system calls refuse unknown calls.
                Err(Errno::NOSYS | Errno::INVAL | Errno::NOTSUP | Errno::PERM) => Ok(false),
                // The file that had the name was removed.
                Err(Errno::NOENT) => Err(ContentChanged.into()),
                Err(error) => Err(error.into()),
            }
        }
        #[cfg(not(any(target_os = "linux", target_os = "android", target_vendor = "apple")))]
        {
            let _ = (one, other);
            Ok(false)
        }
    }
}

#[cfg(not(unix))]
impl SwapFolder<'_> {
    fn replace_with(&self, new: &OsStr, name: &OsStr, expected: &[u8], compared: impl FnOnce()) -> io::Result<()> {
        self.check(name, expected)?;
        compared();
        std::fs::rename(self.path.join(new), self.path.join(name))
    }

    fn remove_with(&self, name: &OsStr, _: &OsStr, expected: &[u8], compared: impl FnOnce()) -> io::Result<()> {
        self.check(name, expected)?;
        compared();
        std::fs::remove_file(self.path.join(name))
    }

    fn check(&self, name: &OsStr, expected: &[u8]) -> io::Result<()> {
        let path = self.path.join(name);
        match path.symlink_metadata() {
            Ok(found) if found.is_file() => {}
            Err(error) if error.kind() != ErrorKind::NotFound => return Err(error),
            _ => return Err(ContentChanged.into()),
        }
        if holds(&File::open(path)?, expected)? { Ok(()) } else { Err(ContentChanged.into()) }
    }
}

/// `true` if the file, read from its current position, has exactly this content.
fn holds(mut file: &File, mut expected: &[u8]) -> io::Result<bool> {
    if file.metadata()?.len() != expected.len() as u64 {
        return Ok(false);
    }
    let mut buffer = vec![0; expected.len().clamp(1, 64 * 1024)];
    loop {
        let read = match file.read(&mut buffer) {
            Err(error) if error.kind() == ErrorKind::Interrupted => continue,
            read => read?,
        };
        let found = buffer.get(..read).unwrap_or_default();
        match expected.strip_prefix(found) {
            Some(rest) if read > 0 => expected = rest,
            found => return Ok(found.is_some() && expected.is_empty()),
        }
    }
}

#[cfg(test)]
#[cfg(unix)]
mod tests;
