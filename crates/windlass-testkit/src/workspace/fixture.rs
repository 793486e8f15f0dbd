//! Another program that works on the same files.

use std::io;
use std::path::{Path, PathBuf};

use async_trait::async_trait;

/// An entry to put under a path.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[expect(clippy::exhaustive_enums, reason = "a fixture must be able to make, or refuse, every kind")]
pub enum Item<'a> {
    /// A regular file with this content.
    File(&'a [u8]),
    /// A directory.
    Directory,
    /// A symbolic link with this target.
    Link(&'a Path),
    /// An entry that is not a regular file: a socket, a pipe, a device.
    Special,
}

/// Another program that works on the files of a workspace, without its port and its permits.
///
/// A kind of entry that the file system does not support, such as links, may be refused with
/// [`io::ErrorKind::Unsupported`]; the kit then leaves out the checks that need it. All paths are absolute and below
/// [`Fixture::root`].
#[async_trait]
pub trait Fixture: Send + Sync {
    /// Returns a directory that exists, is empty when the kit begins, and has no link in its path.
    fn root(&self) -> PathBuf;

    /// Puts an entry under a path. Its directory exists, and the name is free.
    ///
    /// # Errors
    /// The entry could not be created.
    async fn put(&self, path: &Path, item: Item<'_>) -> io::Result<()>;

    /// Removes the entry at a path and everything below it; links are not followed.
    ///
    /// # Errors
    /// The entry could not be removed.
    async fn remove(&self, path: &Path) -> io::Result<()>;

    /// Returns the content of a file.
    ///
    /// # Errors
    /// The file could not be read.
    async fn content(&self, path: &Path) -> io::Result<Vec<u8>>;

    /// Returns all names in a directory, in any order.
    ///
    /// # Errors
    /// The directory could not be read.
    async fn names(&self, path: &Path) -> io::Result<Vec<String>>;
}

/// Local files below a directory, usually a temporary one.
#[derive(Debug, Clone)]
pub struct LocalFiles(PathBuf);

impl LocalFiles {
    /// Returns a fixture that works below this directory. It must exist and be empty.
    ///
    /// # Errors
    /// Its real path could not be found.
    pub fn new(root: impl AsRef<Path>) -> io::Result<Self> {
        root.as_ref().canonicalize().map(Self)
    }
}

#[async_trait]
impl Fixture for LocalFiles {
    fn root(&self) -> PathBuf {
        self.0.clone()
    }

    async fn put(&self, path: &Path, item: Item<'_>) -> io::Result<()> {
        match item {
            Item::File(content) => std::fs::write(path, content),
            Item::Directory => std::fs::create_dir(path),
            Item::Link(target) => link(target, path),
            Item::Special => special(path),
        }
    }

    async fn remove(&self, path: &Path) -> io::Result<()> {
        if std::fs::symlink_metadata(path)?.is_dir() {
            std::fs::remove_dir_all(path)
        } else {
            std::fs::remove_file(path)
        }
    }

    async fn content(&self, path: &Path) -> io::Result<Vec<u8>> {
        std::fs::read(path)
    }

    async fn names(&self, path: &Path) -> io::Result<Vec<String>> {
        std::fs::read_dir(path)?.map(|entry| Ok(entry?.file_name().to_string_lossy().into_owned())).collect()
    }
}

#[cfg(unix)]
fn link(target: &Path, path: &Path) -> io::Result<()> {
    std::os::unix::fs::symlink(target, path)
}

/// Creates a socket: the only special file that the standard library can create.
#[cfg(unix)]
fn special(path: &Path) -> io::Result<()> {
    std::os::unix::net::UnixListener::bind(path).map(drop)
}

#[cfg(not(unix))]
fn link(_: &Path, _: &Path) -> io::Result<()> {
    Err(io::ErrorKind::Unsupported.into())
}

#[cfg(not(unix))]
fn special(_: &Path) -> io::Result<()> {
    Err(io::ErrorKind::Unsupported.into())
}
