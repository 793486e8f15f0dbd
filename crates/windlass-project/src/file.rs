//! Small files, read once, with a limit.

use std::fs::{File, OpenOptions};
use std::io::{self, Read};
use std::path::Path;
use windlass_tool::{JudgedPath, Permit, Workspace};
use windlass_types::CallDigest;

/// Reason why a file was not read.
#[derive(Debug)]
pub(crate) enum ReadError {
    /// The file is larger than the limit.
    TooBig,
    Io(io::Error),
}

impl From<io::Error> for ReadError {
    fn from(error: io::Error) -> Self {
        Self::Io(error)
    }
}

/// Reads the text of a file that the user names, without a byte-order mark. It is read only if it is a regular file, so
/// that a pipe without a writer or a device does not block.
///
/// # Errors
/// The file is missing, not a regular file, larger than `limit` bytes, not UTF-8 text, or cannot be read.
pub fn read_named(path: &Path, limit: u64) -> io::Result<String> {
    match read_text(path, limit) {
        Ok(Some(text)) => Ok(text),
        Ok(None) => Err(io::Error::new(io::ErrorKind::NotFound, "there is no such file")),
        Err(ReadError::TooBig) => Err(io::Error::other(format!("it is larger than {limit} bytes"))),
        Err(ReadError::Io(error)) => Err(error),
    }
}

/// Returns the text of a regular file of a workspace, without a byte-order mark. `resolved` is its path with links
/// followed.
pub(crate) async fn read_text_through(
    workspace: &dyn Workspace,
    path: &Path,
    resolved: &Path,
    limit: u64,
) -> Result<String, ReadError> {
    /// Bytes per read.
    const PART: usize = 64 * 1024;
    let permit = Permit::new(CallDigest::new("")).with_reads(vec![JudgedPath::new(path, resolved)]);
    let mut file = workspace.open(&permit, path).await.map_err(io::Error::other)?;
    let mut bytes = Vec::new();
    loop {
        let part = file.read(PART).await.map_err(io::Error::other)?;
        if part.is_empty() {
            break;
        }
        bytes.extend(part);
        if bytes.len() as u64 > limit {
            return Err(ReadError::TooBig);
        }
    }
    let text = String::from_utf8(bytes).map_err(|_| io::Error::other("it is not UTF-8 text"))?;
    Ok(text.strip_prefix('\u{feff}').map(str::to_owned).unwrap_or(text))
}

/// Returns the text of a regular file, without a byte-order mark; `None` if there is none of that name. A link that
/// leads nowhere is an error: the link shows that a file should be read.
pub(crate) fn read_text(path: &Path, limit: u64) -> Result<Option<String>, ReadError> {
    read(path, limit, true)
}

/// Reads a file as [`read_text`] does, but follows no link of the name itself.
pub(crate) fn read_text_itself(path: &Path, limit: u64) -> Result<Option<String>, ReadError> {
    read(path, limit, false)
}

/// Text of a file before a change.
#[derive(Debug)]
pub(crate) struct OldText {
    /// The text, without a byte-order mark.
    pub(crate) text: String,
    /// The content of the file, to be compared before the file is replaced.
    pub(crate) bytes: Vec<u8>,
}

impl OldText {
    /// Reads as [`read_text`].
    pub(crate) fn read(path: &Path, limit: u64) -> Result<Option<Self>, ReadError> {
        read_all(path, limit, true)?.map(Self::of).transpose()
    }

    /// Reads as [`read_text_itself`].
    pub(crate) fn read_itself(path: &Path, limit: u64) -> Result<Option<Self>, ReadError> {
        read_all(path, limit, false)?.map(Self::of).transpose()
    }

    fn of(bytes: Vec<u8>) -> Result<Self, ReadError> {
        Ok(Self { text: text_of(bytes.clone())?, bytes })
    }
}

/// Returns the bytes of a regular file; `None` if there is none of that name.
pub(crate) fn read_bytes(path: &Path, limit: u64) -> Result<Option<Vec<u8>>, ReadError> {
    read_all(path, limit, true)
}

fn read(path: &Path, limit: u64, follow: bool) -> Result<Option<String>, ReadError> {
    read_all(path, limit, follow)?.map(text_of).transpose()
}

fn text_of(bytes: Vec<u8>) -> Result<String, ReadError> {
    let text = String::from_utf8(bytes).map_err(|_| io::Error::other("it is not UTF-8 text"))?;
    Ok(match text.strip_prefix('\u{feff}') {
        Some(rest) => rest.to_owned(),
        None => text,
    })
}

fn read_all(path: &Path, limit: u64, follow: bool) -> Result<Option<Vec<u8>>, ReadError> {
    let file = match open(path, follow) {
        Ok(file) => file,
        Err(error) if is_missing(&error) => {
            return match path.symlink_metadata() {
                Ok(_) => Err(error.into()),
                Err(_) => Ok(None),
            };
        }
        Err(error) => return Err(error.into()),
    };
    let metadata = file.metadata()?;
    if !metadata.is_file() {
        return Err(io::Error::other("it is not a regular file").into());
    }
    // With room for the whole file, one call reads it and a second one finds its end.
    let capacity = metadata.len().min(limit).saturating_add(1);
    let mut bytes = Vec::with_capacity(usize::try_from(capacity).unwrap_or_default());
    file.take(limit.saturating_add(1)).read_to_end(&mut bytes)?;
    if u64::try_from(bytes.len()).unwrap_or(u64::MAX) > limit {
        return Err(ReadError::TooBig);
    }
    Ok(Some(bytes))
}

/// Returns `true` if the error means that no file has the name, also because a parent is a file.
fn is_missing(error: &io::Error) -> bool {
    matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory)
}

/// Opens without waiting for the other end of a pipe.
fn open(path: &Path, follow: bool) -> io::Result<File> {
    let mut options = OpenOptions::new();
    options.read(true);
    #[cfg(unix)]
    {
        use std::os::unix::fs::OpenOptionsExt;
        let mut flags = rustix::fs::OFlags::NONBLOCK | rustix::fs::OFlags::NOCTTY;
        flags.set(rustix::fs::OFlags::NOFOLLOW, !follow);
        options.custom_flags(i32::try_from(flags.bits()).unwrap_or_default());
    }
    #[cfg(not(unix))]
    if !follow && path.symlink_metadata()?.is_symlink() {
        return Err(io::Error::other("it is a link"));
    }
    options.open(path)
}
