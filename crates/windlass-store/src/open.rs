//! Opening of files without waiting for another program: there may be a pipe, a device or a link in the place of a
//! file.

use std::fmt;
use std::fs::{File, FileType, OpenOptions};
use std::io::{self, ErrorKind};
use std::path::Path;

/// Treatment of a link as the last component of a path.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Links {
    Followed,
    Refused,
}

/// Opens a file of the store for reading.
pub(crate) fn read(path: &Path) -> io::Result<File> {
    open(OpenOptions::new().read(true), path, Links::Refused)
}

/// Opens a file for reading that the user or another program named or created: it may be a link.
pub(crate) fn read_named(path: &Path) -> io::Result<File> {
    open(OpenOptions::new().read(true), path, Links::Followed)
}

/// Opens a file of the store for appending; a new one is readable by its user only.
pub(crate) fn append(path: &Path, create: bool) -> io::Result<File> {
    open(private().append(true).read(true).create(create), path, Links::Refused)
}

/// Opens a directory, to lock or sync it.
#[cfg(unix)]
pub(crate) fn directory(path: &Path) -> io::Result<File> {
    use rustix::fs::OFlags;
    let mut options = OpenOptions::new();
    std::os::unix::fs::OpenOptionsExt::custom_flags(&mut options, flags(OFlags::DIRECTORY));
    options.read(true).open(path)
}

/// `true` if the file is the one at this path.
#[cfg(unix)]
pub(crate) fn is_at(file: &File, path: &Path) -> io::Result<bool> {
    use std::os::unix::fs::MetadataExt;
    let ours = file.metadata()?;
    match path.symlink_metadata() {
        Ok(there) => Ok((ours.dev(), ours.ino()) == (there.dev(), there.ino())),
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(false),
        Err(error) => Err(error),
    }
}

/// `true` if the file is the one at this path. Other systems keep the name of an open file.
#[cfg(not(unix))]
pub(crate) fn is_at(_: &File, _: &Path) -> io::Result<bool> {
    Ok(true)
}

fn private() -> OpenOptions {
    let mut options = OpenOptions::new();
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    options
}

#[cfg(unix)]
fn flags(flags: rustix::fs::OFlags) -> i32 {
    // The flags of the system fit the type in which the system accepts them.
    i32::try_from(flags.bits()).unwrap_or_default()
}

fn open(options: &mut OpenOptions, path: &Path, links: Links) -> io::Result<File> {
    #[cfg(unix)]
    {
        use rustix::fs::OFlags;
        let mut extra_flags = OFlags::NONBLOCK | OFlags::NOCTTY;
        extra_flags.set(OFlags::NOFOLLOW, links == Links::Refused);
        std::os::unix::fs::OpenOptionsExt::custom_flags(options, flags(extra_flags));
    }
    let file = options.open(path).map_err(|error| match path.symlink_metadata() {
        // The errors for pipes, sockets and links differ from system to system.
        Ok(found) if !is_fit(found.file_type(), links) && error.kind() != ErrorKind::AlreadyExists => {
            not_regular(found.file_type())
        }
        _ => error,
    })?;
    let found = file.metadata()?.file_type();
    if !found.is_file() {
        return Err(not_regular(found));
    }
    if cfg!(not(unix)) && links == Links::Refused && path.symlink_metadata()?.is_symlink() {
        return Err(io::Error::new(ErrorKind::InvalidInput, NotRegular("a link")));
    }
    Ok(file)
}

fn is_fit(found: FileType, links: Links) -> bool {
    found.is_file() || (found.is_symlink() && links == Links::Followed)
}

fn not_regular(found: FileType) -> io::Error {
    io::Error::new(ErrorKind::InvalidInput, NotRegular(kind_name(found)))
}

/// `true` if an error means that there is no regular file at the path.
pub(crate) fn is_odd(error: &io::Error) -> bool {
    error.get_ref().is_some_and(|inner| inner.is::<NotRegular>())
}

/// Error for an entry that is not a regular file.
#[derive(Debug)]
struct NotRegular(&'static str);

impl fmt::Display for NotRegular {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "it is {}, not a regular file", self.0)
    }
}

impl std::error::Error for NotRegular {}

fn kind_name(found: FileType) -> &'static str {
    if found.is_dir() {
        return "a directory";
    }
    if found.is_symlink() {
        return "a link";
    }
    #[cfg(unix)]
    {
        use std::os::unix::fs::FileTypeExt;
        if found.is_fifo() {
            return "a named pipe";
        }
        if found.is_socket() {
            return "a socket";
        }
    }
    "a device"
}
