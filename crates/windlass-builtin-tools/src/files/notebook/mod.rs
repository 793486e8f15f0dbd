//! Jupyter notebooks: display, and changes of single cells.
//!
//! A notebook is not parsed into a tree: an edit replaces the bytes of the changed values, so unknown fields, their
//! order and their formatting stay unchanged.

mod document;
mod edit;
mod json;
mod show;
mod style;
mod tool;

pub(crate) use document::Notebook;
pub(crate) use show::{CellRange, Shown, show};
pub use tool::{CellKind, EditMode, NotebookEdit, NotebookEditInput};

/// `true` if a file is a notebook by its name.
pub(crate) fn is_notebook(path: &std::path::Path) -> bool {
    path.extension().is_some_and(|extension| extension.eq_ignore_ascii_case("ipynb"))
}
