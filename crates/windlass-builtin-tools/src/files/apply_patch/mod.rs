//! The tool `apply_patch`: changes of several files in one text, all or none.
//!
//! [`parse`] reads the text, in either of two formats, into changes of files. [`place`] finds the positions of one
//! file's hunks and computes its new bytes. Both are pure. [`plan`] reads the files, and [`commit`] writes them.

mod commit;
mod parse;
mod patch;
mod place;
mod plan;
mod tool;
mod unified;
mod v4a;

pub use tool::{ApplyPatch, ApplyPatchInput};

#[cfg(test)]
mod tests;
