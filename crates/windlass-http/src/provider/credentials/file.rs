use super::read::{MAX_BYTES, credential_in};
use super::{Credential, Credentials};
use async_trait::async_trait;
use std::fs::{self, File};
use std::io::{self, Read};
use std::path::{Path, PathBuf};
use windlass_blocking::run_blocking;
use windlass_model::ModelError;
use windlass_types::ModelErrorKind;

/// Credential in a file that another program writes, such as a token that an orchestrator mounts. The file is read at
/// each request, at most 64 KiB of it.
///
/// The file holds a token alone, or the JSON that [`CommandCredentials`](super::CommandCredentials) describes.
#[derive(Debug, Clone)]
pub struct FileCredentials {
    path: PathBuf,
}

impl FileCredentials {
    /// Creates a source of the file at this path.
    pub fn new(path: impl Into<PathBuf>) -> Self {
        Self { path: path.into() }
    }
}

#[async_trait]
impl Credentials for FileCredentials {
    async fn credential(&self) -> Result<Credential, ModelError> {
        let text = text_of(self.path.clone()).await?;
        credential_in(&text).map_err(|what| refused(&self.path, what))
    }
}

/// Reads the text of a regular file of at most 64 KiB.
///
/// # Errors
/// `Authentication` if there is no such file; `Configuration` if it is unreadable.
pub(super) async fn text_of(path: PathBuf) -> Result<String, ModelError> {
    let reading = run_blocking(move || {
        let read = bounded(&path);
        read.map_err(|error| match error.kind() {
            io::ErrorKind::NotFound => unavailable(&path, "does not exist").with_source(error),
            io::ErrorKind::PermissionDenied => refused(&path, "may not be read").with_source(error),
            io::ErrorKind::InvalidData => refused(&path, &error.to_string()),
            _ => refused(&path, "cannot be read").with_source(error),
        })
    });
    reading.await.unwrap_or_else(|error| {
        let text = "the file of the credential was not read to its end";
        Err(ModelError::new(ModelErrorKind::Connection, text).with_source(error).unbilled())
    })
}

pub(super) fn bounded(path: &Path) -> io::Result<String> {
    let invalid = |what: &str| io::Error::new(io::ErrorKind::InvalidData, what);
    // Opening a pipe would block.
    if !fs::metadata(path)?.is_file() {
        return Err(invalid("is no regular file"));
    }
    let mut bytes = Vec::new();
    File::open(path)?.take(MAX_BYTES + 1).read_to_end(&mut bytes)?;
    if bytes.len() as u64 > MAX_BYTES {
        return Err(invalid("is larger than 64 KiB"));
    }
    String::from_utf8(bytes).map_err(|_| invalid("is not UTF-8"))
}

fn refused(path: &Path, what: &str) -> ModelError {
    ModelError::new(ModelErrorKind::Configuration, sentence(path, what)).unbilled()
}

fn unavailable(path: &Path, what: &str) -> ModelError {
    ModelError::new(ModelErrorKind::Authentication, sentence(path, what)).unbilled()
}

fn sentence(path: &Path, what: &str) -> String {
    format!("the file of the credential, {}, {what}", path.display())
}
