//! What can be wrong with settings.

use crate::file::ReadError;
use crate::hooks::GatingHook;
use crate::note::Origin;
use std::io;
use std::path::{Path, PathBuf};
use thiserror::Error;
use windlass_permission::RuleError;

/// Settings that cannot be used. Without them a rule that denies could be lost, so no session starts.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum SettingsError {
    /// A file is there and cannot be read.
    #[error("the settings {} cannot be read: {problem}", path.display())]
    Unreadable {
        /// The file.
        path: PathBuf,
        /// Why.
        #[source]
        problem: io::Error,
    },
    /// A file is larger than settings may be.
    #[error("the settings {} are larger than {limit} bytes", path.display())]
    TooBig {
        /// The file.
        path: PathBuf,
        /// The limit in bytes.
        limit: u64,
    },
    /// The text is not a JSON object of the right shape.
    #[error("the settings in {origin} cannot be used: {problem}")]
    Malformed {
        /// Where it is.
        origin: Origin,
        /// What is wrong with it.
        problem: String,
    },
    /// A hook that can deny or block cannot run, so without it more would be allowed than was wanted.
    #[error(
        "{origin}: {hook} cannot run in this version, and without it more could happen than you want: remove it, say \
         `\"onFailure\":\"continue\"` in it to go on without it, or switch hooks off with `--settings \
         '{{\"disableAllHooks\":true}}'`"
    )]
    Hook {
        /// Where it is.
        origin: Origin,
        /// The hook.
        hook: GatingHook,
    },
    /// A rule that denies or asks cannot be used.
    #[error("{origin}: {problem}")]
    Rule {
        /// Where it is.
        origin: Origin,
        /// What is wrong with it.
        #[source]
        problem: RuleError,
    },
}

impl SettingsError {
    /// Why a file of at most `limit` bytes was not read.
    pub(crate) fn unread(path: &Path, limit: u64, error: ReadError) -> Self {
        let path = path.to_path_buf();
        match error {
            ReadError::TooBig => Self::TooBig { path, limit },
            ReadError::Io(problem) => Self::Unreadable { path, problem },
        }
    }
}
