//! Errors of the index.

use rusqlite::{Error, ErrorCode};
use std::fmt;
use std::io;
use std::path::Path;

/// Reason why the index cannot be used.
#[derive(Debug)]
pub(super) enum Trouble {
    /// The index is not in the format of this version: it is rebuilt.
    Damaged(String),
    /// The index is in use, or the disk does not allow it: it is left alone.
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
        // All other errors are rows and tables that this version does not write.
        if is_of_the_system { Self::Unusable(problem) } else { Self::Damaged(problem) }
    }
}

impl From<serde_json::Error> for Trouble {
    fn from(error: serde_json::Error) -> Self {
        Self::Damaged(error.to_string())
    }
}
