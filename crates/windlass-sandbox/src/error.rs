//! Errors of opening a sandbox.

use std::io;
use std::path::PathBuf;

/// Reason for which programs cannot run in a sandbox.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum SandboxError {
    /// A directory of the policy is unusable.
    #[error("the sandbox cannot make {} writable: {problem}", path.display())]
    Directory {
        /// Directory of the policy.
        path: PathBuf,
        /// Description of the problem.
        problem: String,
    },
    /// The private folder for temporary files could not be created.
    #[error("the folder for temporary files of the sandbox could not be made below {}", path.display())]
    Temporary {
        /// Directory in which the folder was to be created.
        path: PathBuf,
        /// Error of the system.
        source: io::Error,
    },
    /// No mechanism of this machine holds.
    #[error("no sandbox holds on this machine: {reason}")]
    Unavailable {
        /// Mechanisms that were tried, each with its result.
        reason: String,
    },
}
