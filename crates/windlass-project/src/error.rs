//! Errors in settings.

use crate::file::ReadError;
use crate::note::Origin;
use std::io;
use std::path::{Path, PathBuf};
use thiserror::Error;
use windlass_hook_runner::BrokenHook;
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
        /// Reason of the error.
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
        /// Place of the setting.
        origin: Origin,
        /// Problem with the setting.
        problem: String,
    },
    /// A hook that can deny or block cannot be used, so without it more would be allowed than was wanted.
    #[error(
        "{origin}: {hook}; without it more could happen than you want: mend or remove it, say \
         `\"onFailure\":\"continue\"` in it to start without it, or switch hooks off with `--settings \
         '{{\"disableAllHooks\":true}}'`"
    )]
    Hook {
        /// Place of the setting.
        origin: Origin,
        /// The hook.
        hook: BrokenHook,
    },
    /// A key restricts in a way that this version cannot enforce.
    #[error(
        "{origin}: `{key}` restricts what may happen, and this version cannot hold that, so no session starts with it: remove \
         it{}", if *.is_managed { "" } else { ", or leave its file out with `--setting-sources`" }
    )]
    Restricts {
        /// Place of the setting.
        origin: Origin,
        /// The key.
        key: &'static str,
        /// `true` if the key is in a file of the administrator.
        is_managed: bool,
    },
    /// A rule that denies or asks cannot be used.
    #[error("{origin}: {problem}")]
    Rule {
        /// Place of the rule.
        origin: Origin,
        /// Problem with the rule.
        #[source]
        problem: RuleError,
    },
}

impl SettingsError {
    /// Creates the error for a file of at most `limit` bytes that was not read.
    pub(crate) fn unread(path: &Path, limit: u64, error: ReadError) -> Self {
        let path = path.to_path_buf();
        match error {
            ReadError::TooBig => Self::TooBig { path, limit },
            ReadError::Io(problem) => Self::Unreadable { path, problem },
        }
    }
}
