//! Answers to permission requests, beside the log of their session: `<session>/answers/<question>.json`, and
//! `<question>.taken` once the session has taken one. Answers to requests of its agents are there, too.
//!
//! Each file is created once under its name and never changed, so that two processes can neither both answer nor both
//! take. Files that users other than this one could have put there are not read.

use crate::{disk, open};
use std::fs::Metadata;
use std::io::{ErrorKind, Read, Write};
use std::path::{Path, PathBuf};
use windlass_session::{StoreError, StoreErrorKind, StoredAnswer};
use windlass_tool::private_file::{AtomicFile, sync_dir};
use windlass_types::QuestionId;

/// Maximum number of bytes of an answer.
const MAX_ANSWER_BYTES: u64 = 64 * 1024;

/// Answers of one session.
pub(crate) struct Answers {
    /// Data folder of the session.
    session: PathBuf,
    folder: PathBuf,
}

impl Answers {
    /// Returns the answers of the session with this log.
    pub(crate) fn of(log: &Path) -> Self {
        let session = log.with_extension("");
        Self { folder: session.join("answers"), session }
    }

    /// Stores an answer, durable.
    pub(crate) fn give(&self, answer: &StoredAnswer) -> Result<(), StoreError> {
        let path = self.path(&answer.question, "json")?;
        let text = serde_json::to_string(answer).map_err(|error| {
            StoreError::new(StoreErrorKind::Io, format!("cannot write {}: {error}", path.display()))
        })?;
        if text.len() as u64 > MAX_ANSWER_BYTES {
            let message = format!("the answer is longer than {MAX_ANSWER_BYTES} bytes: make its message shorter");
            return Err(StoreError::new(StoreErrorKind::Io, message));
        }
        let new_names = disk::create_dirs(&self.folder)?;
        self.check_folder()?;
        if !self.create_once(&path, text.as_bytes())? {
            return Err(StoreError::answered(&answer.question));
        }
        new_names.iter().try_for_each(|folder| sync_dir(folder).map_err(|error| disk::error(folder, "sync", &error)))
    }

    /// Returns the answer to a request, if there is one.
    pub(crate) fn find(&self, question: &QuestionId) -> Result<Option<StoredAnswer>, StoreError> {
        let path = self.path(question, "json")?;
        let failed = |error: &std::io::Error| disk::error(&path, "read", error);
        let file = match open::read(&path) {
            Err(error) if matches!(error.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory) => return Ok(None),
            opened => opened.map_err(|error| failed(&error))?,
        };
        self.check_folder()?;
        let metadata = file.metadata().map_err(|error| failed(&error))?;
        if metadata.len() > MAX_ANSWER_BYTES || !is_private(&metadata, 0o077) {
            return Err(not_private(&path));
        }
        let mut text = String::new();
        file.take(MAX_ANSWER_BYTES).read_to_string(&mut text).map_err(|error| failed(&error))?;
        let answer = serde_json::from_str(&text).map_err(|error| {
            StoreError::new(StoreErrorKind::Io, format!("{} is no answer: {error}", path.display()))
        })?;
        Ok(Some(answer))
    }

    /// Marks an answer as taken, durable. Returns `true` the first time.
    pub(crate) fn take(&self, question: &QuestionId) -> Result<bool, StoreError> {
        let path = self.path(question, "taken")?;
        self.check_folder()?;
        self.create_once(&path, b"")
    }

    /// Creates a durable file under a name, unless the name is taken.
    fn create_once(&self, path: &Path, content: &[u8]) -> Result<bool, StoreError> {
        let written = || {
            let mut new = AtomicFile::create(path)?;
            new.file().write_all(content)?;
            match new.place_new() {
                Err(error) if error.kind() == ErrorKind::AlreadyExists => Ok(false),
                placed => placed.and_then(|()| sync_dir(&self.folder)).map(|()| true),
            }
        };
        written().map_err(|error| disk::error(path, "write", &error))
    }

    /// Refuses links and folders that others can write.
    fn check_folder(&self) -> Result<(), StoreError> {
        for folder in [&self.session, &self.folder] {
            let metadata = folder.symlink_metadata().map_err(|error| disk::error(folder, "read", &error))?;
            if !metadata.is_dir() || !is_private(&metadata, 0o022) {
                return Err(not_private(folder));
            }
        }
        Ok(())
    }

    /// Returns the file of a request. Ids come from logs, so only those in windlass's own form are used as file names.
    fn path(&self, question: &QuestionId, extension: &str) -> Result<PathBuf, StoreError> {
        let id = question.as_str();
        let is_name =
            (1..=64).contains(&id.len()) && id.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'-');
        if !is_name {
            return Err(StoreError::new(StoreErrorKind::InvalidKey, format!("{id:?} is no id of a question")));
        }
        Ok(self.folder.join(format!("{id}.{extension}")))
    }
}

/// `true` if none of these rights is granted.
#[cfg(unix)]
fn is_private(metadata: &Metadata, to_others: u32) -> bool {
    std::os::unix::fs::PermissionsExt::mode(&metadata.permissions()) & to_others == 0
}

/// Always `true`: other systems protect a user's folder from others.
#[cfg(not(unix))]
fn is_private(_: &Metadata, _: u32) -> bool {
    true
}

fn not_private(path: &Path) -> StoreError {
    let message = format!(
        "{} is not private to this user, or is no regular file or folder, so no answer in it counts: remove it, and \
         answer again",
        path.display()
    );
    StoreError::new(StoreErrorKind::Io, message)
}
