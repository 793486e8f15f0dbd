//! Memory: notes of agents for later sessions, one small file for each subject, with an index of all.

mod asked;
mod directory;
mod error;
mod index;
mod lock;
mod name;
mod note;
mod of_agent;
mod scan;
mod shown;
mod tool;

pub use asked::MEMORY_COMMAND;
pub use directory::MemoryDirectory;
pub use error::MemoryError;
pub use index::MemoryEntry;
pub use name::MemoryName;
pub use note::{MemoryKind, MemoryNote};
pub use shown::{MemoryBudget, ShownMemory};
pub use tool::{MEMORY_DESCRIPTION, MEMORY_TOOL, MemoryAction, MemoryInput};

#[cfg(test)]
mod tests;
