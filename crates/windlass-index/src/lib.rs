//! Index of a project: languages, packages and their dependencies, commands, entry points and important files, with a
//! search over paths and symbols.
//!
//! [`ProjectIndex`] reads names of files and the beginnings of manifests and sources. It runs no program, follows no
//! link, opens no file in which people keep secrets, and leaves out ignored files. Results are cached, and updated by
//! reading only changed files.
//!
//! ```
//! use windlass_index::{IndexConfig, ProjectIndex};
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! # let directory = tempfile::tempdir()?;
//! # let root = directory.path().canonicalize()?;
//! std::fs::create_dir(root.join("src"))?;
//! std::fs::write(root.join("src/main.rs"), "fn open_door() {}\n")?;
//! std::fs::write(root.join("Cargo.toml"), "[package]\nname = \"house\"\n")?;
//!
//! let index = ProjectIndex::new(IndexConfig::new(&root));
//! let overview = index.overview(&|| false)?;
//! assert_eq!(overview.languages[0].language, "Rust");
//! assert_eq!(overview.packages[0].name, "house");
//! let found = index.search("open the door", 10, &|| false)?;
//! assert_eq!((found.hits[0].path.as_str(), found.hits[0].symbols[0].line), ("src/main.rs", 1));
//! # Ok(())
//! # }
//! ```
#![cfg_attr(docsrs, feature(doc_cfg))]
#![cfg_attr(test, allow(clippy::disallowed_methods, reason = "unit tests use real folders and clocks"))]

mod cache;
mod important;
mod index;
mod language;
mod manifest;
mod manifests;
mod overview;
mod parallel;
mod search;
mod symbols;
mod table;
mod text;
mod tool;
mod tree;
mod walk;

pub use index::{IndexConfig, ProjectIndex};
pub use manifest::{ManifestKind, Purpose};
pub use overview::{Framework, LanguageShare, Overview, Package, ProjectCommand};
pub use search::{FileHit, Found};
pub use symbols::Symbol;
pub use tool::{ProjectSearch, ProjectSearchInput};

/// The index was stopped before it was done.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("the index was stopped before it was done")]
#[expect(clippy::exhaustive_structs, reason = "there is no more to say")]
pub struct Interrupted;

/// Returns `true` if a path may be read.
pub(crate) type MayRead = std::sync::Arc<dyn Fn(&std::path::Path) -> bool + Send + Sync>;
