//! Read, Write, Edit, MultiEdit, NotebookEdit and `apply_patch`.
//!
//! Edits work on the bytes of a file and change only the text they replace.
//! A file must have been read in the session before it is changed, and must not have
//! changed since; digests are compared, not times ([`ReadLedger`]). All files are
//! reached through the `Workspace` port.

mod apply_patch;
mod canonical;
mod change;
mod charset;
mod edit;
mod edit_tool;
mod kind;
mod ledger;
mod near;
mod notebook;
pub(crate) mod open;
mod page;
mod patch;
#[cfg(feature = "pdf")]
mod pdf;
mod picture;
mod read;
pub(crate) mod suggest;
mod write;

pub use apply_patch::{ApplyPatch, ApplyPatchInput};
pub use edit_tool::{Edit, EditInput, EditStep, MultiEdit, MultiEditInput};
pub use ledger::ReadLedger;
pub use notebook::{CellKind, EditMode, NotebookEdit, NotebookEditInput};
pub use patch::{Hunk, Patch};
pub use read::{Read, ReadInput};
pub use write::{Write, WriteInput};
