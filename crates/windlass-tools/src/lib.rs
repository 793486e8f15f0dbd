//! Built-in tools of windlass: Read, Write, Edit, MultiEdit, Glob, Grep, Bash, TodoWrite

mod files;
mod bash;
mod process;
pub mod search;
mod workspace;
mod todo;

pub use workspace::LocalWorkspace;

pub use bash::{Bash, BashInput};
pub use process::{LocalProcess, host_environment};
pub use files::{
    Edit, EditInput, EditStep, Hunk, MultiEdit, MultiEditInput, Patch, Read, ReadInput, ReadLedger, Write, WriteInput,
};
pub use todo::{Todo, TodoList, TodoPriority, TodoStatus, TodoWrite, TodoWriteInput};
