//! Local files that only their user can read, and that a crash leaves whole. Needs the feature `system`.
//!
//! Sessions, results and settings contain text of the user and output of programs, so other users must not read them.
//! Such files are written with this module. The rights are set from the first moment. A file or link that already has
//! the name is not followed or cut short. A complete file can be made durable together with its name.
//!
//! The paths themselves are trusted here. Files of a workspace, which other programs may replace with a link meanwhile,
//! are written through the [`Workspace`](crate::Workspace) port instead.
//!
//! ```
//! use std::io::Write as _;
//! use windlass_tool::private_file::{AtomicFile, create_dir, sync_dir};
//!
//! # fn main() -> std::io::Result<()> {
//! # let temporary = tempfile::tempdir()?;
//! # let folder = temporary.path().join("notes");
//! create_dir(&folder)?;
//! let mut new = AtomicFile::create(&folder.join("today"))?;
//! new.file().write_all(b"a reader sees all of this, or what was there before")?;
//! new.replace()?;
//! sync_dir(&folder)
//! # }
//! ```

use crate::{Ids as _, SystemIds, content_swap};
use std::fs::{DirBuilder, File, OpenOptions, TryLockError};
use std::io::{self, ErrorKind, Read as _, Write as _};
use std::path::{Path, PathBuf};
use std::time::Duration;

/// Interval between two tries for a lock.
pub const LOCK_PAUSE: Duration = Duration::from_millis(10);

/// Creates a directory that only this user can enter, and missing ones above it.
///
/// # Errors
/// One of them cannot be created. It is not an error if the directory already exists, whatever its rights.
pub fn create_dir(path: &Path) -> io::Result<()> {
    let mut builder = DirBuilder::new();
    builder.recursive(true);
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    builder.create(path)
}

/// Creates a file that only this user can read, and opens it for writing.
///
/// # Errors
/// The name is taken, even if only by a dangling link, or the file cannot be created.
pub fn create(path: &Path) -> io::Result<File> {
    create_with_mode(path, 0o600)
}

/// Appends to a file, durably.
///
/// # Errors
/// The file does not exist, or the disk does not store the bytes.
pub fn append(path: &Path, bytes: &[u8]) -> io::Result<()> {
    let mut file = OpenOptions::new().append(true).open(path)?;
    file.write_all(bytes)?;
    file.sync_data()
}

/// Removes a file.
///
/// # Errors
/// The file does not exist, or its folder does not let it be removed.
pub fn remove(path: &Path) -> io::Result<()> {
    std::fs::remove_file(path)
}

/// Takes the lock of an open file, or of a folder, with `lock`: [`File::try_lock`] or [`File::try_lock_shared`]. While
/// another process holds it, `again` is called with the number of tries so far to decide on another try, 10 ms later;
/// this thread waits. Returns `true` if the lock is held, which ends when the file is closed or unlocked.
///
/// Some file systems have no locks. There this returns `true`: refusing to work would protect nothing.
///
/// # Errors
/// The file system refuses the lock for another reason than that it is held. An interrupted try is repeated.
pub fn lock(
    file: &File,
    lock: impl Fn(&File) -> Result<(), TryLockError>,
    mut again: impl FnMut(u32) -> bool,
) -> io::Result<bool> {
    let mut tried = 0;
    loop {
        match lock(file) {
            Ok(()) => return Ok(true),
            Err(TryLockError::Error(error)) if error.kind() == ErrorKind::Unsupported => return Ok(true),
            Err(TryLockError::Error(error)) if error.kind() == ErrorKind::Interrupted => {}
            Err(TryLockError::Error(error)) => return Err(error),
            Err(TryLockError::WouldBlock) if !again(tried) => return Ok(false),
            Err(TryLockError::WouldBlock) => std::thread::sleep(LOCK_PAUSE),
        }
        tried += 1;
    }
}

/// Makes the names in a directory durable, but not the content of the files.
///
/// # Errors
/// The directory cannot be opened, or the disk does not store the names.
#[cfg(unix)]
pub fn sync_dir(path: &Path) -> io::Result<()> {
    use rustix::fs::{Mode, OFlags};
    let opened = rustix::fs::open(path, OFlags::DIRECTORY.union(OFlags::CLOEXEC), Mode::empty());
    match opened {
        // The directory is writable but not readable: its whole file system is synced instead.
        #[cfg(target_os = "linux")]
        Err(rustix::io::Errno::ACCESS) => {
            let below = rustix::fs::open(path, OFlags::PATH.union(OFlags::CLOEXEC), Mode::empty())?;
            Ok(rustix::fs::syncfs(below)?)
        }
        opened => File::from(opened?).sync_all(),
    }
}

/// Makes the names in a directory durable. Directories cannot be opened for this on this system.
///
/// # Errors
/// None on this system.
#[cfg(not(unix))]
pub fn sync_dir(_: &Path) -> io::Result<()> {
    Ok(())
}

/// Makes the name of a file durable, and those of its folder and of the parent folder: a session creates both of them
/// for its first file.
///
/// # Errors
/// The errors of [`sync_dir`].
pub fn sync_names(file: &Path) -> io::Result<()> {
    let mut folders = file.ancestors().skip(1).take(3).filter(|folder| !folder.as_os_str().is_empty());
    folders.try_for_each(sync_dir)
}

/// A file that only this user can read, for an exchange with a program. Removed on drop.
#[derive(Debug)]
pub struct ExchangeFile {
    path: PathBuf,
}

impl ExchangeFile {
    /// Creates the file.
    ///
    /// # Errors
    /// The errors of [`create`], or the disk does not store the content.
    pub fn create(path: PathBuf, content: &[u8]) -> io::Result<Self> {
        let mut file = create(&path)?;
        // Removed if it cannot be written.
        let created = Self { path };
        file.write_all(content)?;
        Ok(created)
    }

    /// Returns the path.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Reads at most `limit` bytes from the beginning.
    ///
    /// # Errors
    /// The file was removed, or cannot be read.
    pub fn read(&self, limit: u64) -> io::Result<Vec<u8>> {
        let mut content = Vec::new();
        File::open(&self.path)?.take(limit).read_to_end(&mut content)?;
        Ok(content)
    }
}

impl Drop for ExchangeFile {
    fn drop(&mut self) {
        // The program may have removed the file.
        let _ = remove(&self.path);
    }
}

/// New content of a file, written beside it and put in its place in one step. A reader of the file sees all of the old
/// content or all of the new one, also after a crash. If this is dropped before that, the new content is removed.
///
/// A process that is killed leaves the new content behind, for [`remove_left_behind`]: on Unix it is locked while its
/// writer lives.
#[derive(Debug)]
pub struct AtomicFile {
    file: File,
    temporary: PathBuf,
    target: PathBuf,
    placed: bool,
}

impl AtomicFile {
    /// Creates a file beside `target` that only this user can read.
    ///
    /// # Errors
    /// The folder of `target` does not exist, or accepts no new file.
    pub fn create(target: &Path) -> io::Result<Self> {
        Self::create_locked(target, 0o600)
    }

    /// Creates a file beside `target` that others can read as far as the settings of this process permit.
    ///
    /// # Errors
    /// The errors of [`create`](Self::create).
    pub fn create_shared(target: &Path) -> io::Result<Self> {
        Self::create_locked(target, 0o666)
    }

    /// Returns the file, to be written.
    pub fn file(&mut self) -> &mut File {
        &mut self.file
    }

    /// Makes the content durable and gives it the name, replacing any file that has it now. The name is only durable
    /// after [`sync_dir`].
    ///
    /// # Errors
    /// The disk does not store the content, or the name cannot be given. The old file then keeps the name.
    pub fn replace(mut self) -> io::Result<()> {
        self.file.sync_all()?;
        std::fs::rename(&self.temporary, &self.target)?;
        self.placed = true;
        Ok(())
    }

    /// Makes the content durable and gives it the name if the name is free. The name is only durable after
    /// [`sync_dir`].
    ///
    /// # Errors
    /// The disk does not store the content, or the name is taken ([`ErrorKind::AlreadyExists`]).
    pub fn place_new(self) -> io::Result<()> {
        self.file.sync_all()?;
        // The first name is removed when this is dropped.
        link_new(&self.temporary, &self.target)
    }

    /// Makes the content durable and gives it the name, if the file that has the name now has exactly the content
    /// `expected`, or with `None` if no file has it: a later change by another program is not overwritten. See
    /// [`content_swap`].
    ///
    /// # Errors
    /// [`ContentChanged`](crate::content_swap::ContentChanged) if the condition does not hold; the file stays then.
    /// Else those of [`replace`](Self::replace).
    pub fn replace_expected(self, expected: Option<&[u8]>) -> io::Result<()> {
        self.file.sync_all()?;
        // The file with the first name is removed when this is dropped.
        content_swap::replace_at(&self.temporary, &self.target, expected)
    }

    fn create_locked(target: &Path, mode: u32) -> io::Result<Self> {
        loop {
            let new = Self::create_as(&temporary_name(), target, mode)?;
            // On other systems a lock keeps even readers from a file.
            if cfg!(not(unix)) {
                return Ok(new);
            }
            // Before the lock, another process may have removed the file as left behind.
            if lock(&new.file, File::try_lock, |_| false).unwrap_or(true) && new.temporary.exists() {
                return Ok(new);
            }
        }
    }

    fn create_as(name: &str, target: &Path, mode: u32) -> io::Result<Self> {
        let temporary = target.with_file_name(name);
        let file = create_with_mode(&temporary, mode)?;
        Ok(Self { file, temporary, target: target.to_owned(), placed: false })
    }
}

impl Drop for AtomicFile {
    fn drop(&mut self) {
        if !self.placed {
            // The first error is the one to report.
            drop(std::fs::remove_file(&self.temporary));
        }
    }
}

/// Replaces a file with one of this content that only this user can read, durable with its name.
///
/// # Errors
/// The content or its name is not durable. If the new file did not get its name, the old one is unchanged.
pub fn replace(target: &Path, content: &[u8]) -> io::Result<()> {
    let mut new = AtomicFile::create(target)?;
    new.file().write_all(content)?;
    new.replace()?;
    match target.parent().filter(|folder| !folder.as_os_str().is_empty()) {
        Some(folder) => sync_dir(folder),
        None => sync_dir(Path::new(".")),
    }
}

/// Creates a file of this content that only this user can read, and its folder if that is missing. Both are durable
/// with their names.
///
/// # Errors
/// The name is taken, and its file stays unchanged; or the file is not durable, and then there is none.
pub fn write_new(path: &Path, content: &[u8]) -> io::Result<()> {
    if let Some(folder) = path.parent() {
        create_dir(folder)?;
    }
    let mut new = AtomicFile::create(path)?;
    new.file().write_all(content)?;
    new.place_new()?;
    sync_names(path).inspect_err(|_| drop(std::fs::remove_file(path)))
}

/// Removes new contents ([`AtomicFile`]) that killed processes have left behind in a directory of the user. Those of
/// live processes stay. Returns the number of files that were removed; none on systems other than Unix.
///
/// # Errors
/// The directory cannot be read.
pub fn remove_left_behind(folder: &Path) -> io::Result<usize> {
    let mut removed = 0;
    if cfg!(not(unix)) {
        return Ok(removed);
    }
    for entry in std::fs::read_dir(folder)? {
        let entry = entry?;
        let is_temporary = entry.file_name().to_str().is_some_and(is_temporary_name);
        if is_temporary && entry.file_type().is_ok_and(|kind| kind.is_file()) {
            let is_left = File::open(entry.path())
                .and_then(|file| lock(&file, File::try_lock, |_| false).map(|held| (held, file)));
            // Removed while the lock is held.
            if let Ok((true, _file)) = is_left {
                removed += usize::from(std::fs::remove_file(entry.path()).is_ok());
            }
        }
    }
    Ok(removed)
}

/// `true` for a name that [`temporary_name`] makes.
fn is_temporary_name(name: &str) -> bool {
    let digits = name.strip_prefix(".windlass-").and_then(|name| name.strip_suffix(".tmp"));
    digits.is_some_and(|digits| digits.len() == 32 && digits.bytes().all(|byte| byte.is_ascii_hexdigit()))
}

/// Returns a random free name. It has its own length: that of the target may be the longest allowed.
fn temporary_name() -> String {
    format!(".windlass-{:032x}.tmp", SystemIds::default().bits())
}

fn create_with_mode(path: &Path, mode: u32) -> io::Result<File> {
    let mut options = OpenOptions::new();
    options.write(true).create_new(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, mode);
    #[cfg(not(unix))]
    let _ = mode;
    options.open(path)
}

/// Links a file to a second name if that is free. Renames it if the file system has no links.
pub(crate) fn link_new(from: &Path, to: &Path) -> io::Result<()> {
    // A link never replaces a file that another process put there meanwhile.
    match std::fs::hard_link(from, to) {
        Err(error) if error.kind() != ErrorKind::AlreadyExists => rename_new(from, to),
        linked => linked,
    }
}

/// Renames a file if the file system has no links. Never replaces another file, as far as the system can promise that.
fn rename_new(from: &Path, to: &Path) -> io::Result<()> {
    #[cfg(any(target_os = "linux", target_os = "macos"))]
    {
        use rustix::fs::{CWD, RenameFlags, renameat_with};
        use rustix::io::Errno;
        match renameat_with(CWD, from, CWD, to, RenameFlags::NOREPLACE) {
            Err(Errno::INVAL | Errno::NOSYS | Errno::NOTSUP) => {}
            renamed => return Ok(renamed?),
        }
    }
    if to.symlink_metadata().is_ok() {
        return Err(ErrorKind::AlreadyExists.into());
    }
    std::fs::rename(from, to)
}

#[cfg(test)]
mod tests;
