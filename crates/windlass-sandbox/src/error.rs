//! Why there is no sandbox.

use std::io;
use std::path::PathBuf;

/// Why programs cannot run in a sandbox.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum SandboxError {
    /// A directory of the policy cannot be used.
    #[error("the sandbox cannot make {} writable: {problem}", path.display())]
    Directory {
        /// The directory.
        path: PathBuf,
        /// What is wrong with it.
        problem: String,
    },
    /// The private folder for temporary files could not be made.
    #[error("the folder for temporary files of the sandbox could not be made below {}", path.display())]
    Temporary {
        /// Where it was to be.
        path: PathBuf,
        /// Why.
        source: io::Error,
    },
    /// No mechanism of this machine holds.
    #[error("no sandbox holds on this machine: {reason}")]
    Unavailable {
        /// What was tried, and what came of it.
        reason: String,
    },
}
