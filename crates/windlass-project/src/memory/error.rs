//! Errors of writing, reading and forgetting memories.

use std::io;
use std::path::PathBuf;
use thiserror::Error;

/// Error of a memory operation. Its text is written for the model that asked.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum MemoryError {
    /// The name breaks the rules for names of memories.
    #[error(
        "{name:?} cannot be the name of a memory: it has 1 to 64 of A-Z, a-z, 0-9, _ and -, begins with a letter or digit, \
         and is not the name of the index"
    )]
    Name {
        /// First characters of the rejected name.
        name: String,
    },
    /// There is no such memory.
    #[error("there is no memory {name:?}{hint}")]
    Unknown {
        /// The name.
        name: String,
        /// Suggestion of a similar name, as the end of the sentence; empty if there is none.
        hint: String,
    },
    /// The name is taken.
    #[error("there is a memory {name:?} already: read it, then update it, or choose another name")]
    Taken {
        /// The name.
        name: String,
    },
    /// The memory exceeds a limit: its own length, or the number or total size of all memories.
    #[error("{problem}")]
    TooMuch {
        /// Sentence that names the exceeded limit.
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
    /// The memory directory resolves to a path outside of the directory that must contain it.
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
    /// The change of the memory is stored, but the index could not be written.
    #[error("the change is kept, but the index {} could not be written: {problem}", path.display())]
    Index {
        /// The index.
        path: PathBuf,
        /// Error of the system.
        problem: io::Error,
    },
    /// A file or directory of the memory could not be read or written.
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
