//! Errors of writing, reading and forgetting memories.

use std::io;
use std::path::PathBuf;
use thiserror::Error;

/// Reason why a memory was not written, read or forgotten. The text is written for the model that asked.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum MemoryError {
    /// This cannot be the name of a memory.
    #[error(
        "{name:?} cannot be the name of a memory: it has 1 to 64 of A-Z, a-z, 0-9, _ and -, begins with a letter or digit, \
         and is not the name of the index"
    )]
    Name {
        /// Beginning of the name.
        name: String,
    },
    /// There is no such memory.
    #[error("there is no memory {name:?}{hint}")]
    Unknown {
        /// The name.
        name: String,
        /// A name that may have been meant, as the end of the sentence; else empty.
        hint: String,
    },
    /// The name is taken.
    #[error("there is a memory {name:?} already: read it, then update it, or choose another name")]
    Taken {
        /// The name.
        name: String,
    },
    /// The memory does not fit: too long, or too much in all.
    #[error("{problem}")]
    TooMuch {
        /// Limit that is exceeded, and the size that would fit.
        problem: String,
    },
    /// The memory contains a likely secret.
    #[error(
        "it is not kept: it holds what looks like {kind}. Leave secrets out; note where the value is found instead"
    )]
    Secret {
        /// Kind of the likely secret.
        kind: windlass_context::SecretKind,
    },
    /// The memory says too little to be of use.
    #[error("{missing}")]
    Incomplete {
        /// Missing part.
        missing: &'static str,
    },
    /// The memory directory leads out of the directory that must contain it.
    #[error("the memory is not used: {} leads out of {}", path.display(), within.display())]
    Outside {
        /// The directory.
        path: PathBuf,
        /// Directory that must contain the memory.
        within: PathBuf,
    },
    /// Another session has held the lock for too long.
    #[error("another session is writing the memory: try again")]
    Busy,
    /// The memory is saved, but its line in the index is not.
    #[error("the change is kept, but the index {} could not be written: {problem}", path.display())]
    Index {
        /// The index.
        path: PathBuf,
        /// Error of the system.
        problem: io::Error,
    },
    /// The disk did not take it or give it.
    #[error("{}: {problem}", path.display())]
    Io {
        /// The file or directory.
        path: PathBuf,
        /// Error of the system.
        problem: io::Error,
    },
}

impl MemoryError {
    pub(super) fn io(path: impl Into<PathBuf>) -> impl FnOnce(io::Error) -> Self {
        let path = path.into();
        move |problem| Self::Io { path, problem }
    }
}
