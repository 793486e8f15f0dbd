//! Why the index cannot be used.

use rusqlite::{Error, ErrorCode};
use std::fmt;
use std::io;
use std::path::Path;

/// Why the index cannot be used.
#[derive(Debug)]
pub(super) enum Trouble {
    /// It is not what this version writes: it is made anew.
    Damaged(String),
    /// It is in use, or the disk does not allow it: it is left as it is.
    Unusable(String),
}

impl Trouble {
    pub(super) fn io(path: &Path, error: &io::Error) -> Self {
        Self::Unusable(format!("{}: {error}", path.display()))
    }
}

impl fmt::Display for Trouble {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Damaged(problem) => write!(f, "it is damaged: {problem}"),
            Self::Unusable(problem) => f.write_str(problem),
        }
    }
}

impl From<Error> for Trouble {
    fn from(error: Error) -> Self {
        let is_of_the_system = matches!(
            error.sqlite_error_code(),
            Some(
                ErrorCode::DatabaseBusy
                    | ErrorCode::DatabaseLocked
                    | ErrorCode::DiskFull
                    | ErrorCode::ReadOnly
                    | ErrorCode::CannotOpen
                    | ErrorCode::PermissionDenied
                    | ErrorCode::SystemIoFailure
                    | ErrorCode::OutOfMemory
                    | ErrorCode::FileLockingProtocolFailed
                    | ErrorCode::NoLargeFileSupport
            )
        );
        let problem = error.to_string();
        // What is left are rows and tables of another kind than this version writes.
        if is_of_the_system { Self::Unusable(problem) } else { Self::Damaged(problem) }
    }
}

impl From<serde_json::Error> for Trouble {
    fn from(error: serde_json::Error) -> Self {
        Self::Damaged(error.to_string())
    }
}
