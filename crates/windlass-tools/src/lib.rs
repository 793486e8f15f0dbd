//! Built-in tools of windlass: Read, Write, Edit, MultiEdit, Glob, Grep, Bash, TodoWrite
pub mod search;
mod workspace;
pub use workspace::LocalWorkspace;
