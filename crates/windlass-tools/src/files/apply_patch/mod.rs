//! The tool `apply_patch`: changes of several files in one text, all or none.
//!
//! [`parse`] reads the text into changes of files, whichever of two formats it has. [`place`] finds where the hunks of one
//! file belong and what bytes it has then. Both are pure. [`plan`] looks at the files, and [`commit`] writes them.

mod commit;
mod parse;
mod place;
mod plan;
mod tool;
mod unified;
mod v4a;

pub use tool::{ApplyPatch, ApplyPatchInput};

#[cfg(test)]
mod tests;
