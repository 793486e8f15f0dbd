//! Jupyter notebooks: how they are shown, and changes of single cells.
//!
//! A notebook is read where its values stand, not into a tree of its own: an edit replaces the bytes of what it
//! changes, so fields that are not known here, their order and their formatting stay as they are.

mod document;
mod edit;
mod json;
mod show;
mod style;
mod tool;

pub(crate) use document::Notebook;
pub(crate) use show::{CellRange, Shown, show};
pub use tool::{CellKind, EditMode, NotebookEdit, NotebookEditInput};

/// Whether a file is a notebook by its name.
pub(crate) fn is_notebook(path: &std::path::Path) -> bool {
    path.extension().is_some_and(|extension| extension.eq_ignore_ascii_case("ipynb"))
}
