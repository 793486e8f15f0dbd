//! Where values come from, and what can be wrong with them.

use crate::hooks::GatingHook;
use std::fmt;
use std::io;
use std::path::PathBuf;
use thiserror::Error;
use windlass_permission::RuleError;

/// Where a value comes from.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
#[non_exhaustive]
pub enum Origin {
    /// A file.
    File(PathBuf),
    /// Settings given as text on the command line or by the host.
    Inline,
}

impl fmt::Display for Origin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::File(path) => write!(f, "{}", path.display()),
            Self::Inline => f.write_str("--settings"),
        }
    }
}

/// Something that has no effect, or less than its writer may think.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Note {
    /// Where it was found.
    pub origin: Origin,
    /// What it is, in words.
    pub text: String,
}

impl Note {
    pub(crate) fn new(origin: &Origin, text: impl Into<String>) -> Self {
        Self { origin: origin.clone(), text: text.into() }
    }
}

impl fmt::Display for Note {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.origin, self.text)
    }
}

/// Settings that cannot be used. Going on without them could lose a rule that denies, so nothing starts.
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
        /// What is wrong.
        problem: String,
    },
    /// A hook that decides whether something may happen cannot run, so going on would allow more than was wanted.
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
