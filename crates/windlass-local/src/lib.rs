//! This machine behind the ports of windlass: its files ([`LocalWorkspace`]), its processes ([`LocalProcess`]), and
//! walks over its directories ([`TreeReader`], and [`FileWalk`](windlass_tool::FileWalk) of the workspace).
//!
//! Tools know the ports alone; a program chooses this crate, or another one, behind them.
#![cfg_attr(docsrs, feature(doc_cfg))]
#![cfg_attr(test, allow(clippy::disallowed_methods, reason = "unit tests use real folders, programs and clocks"))]

mod drop_flag;
mod file_tree;
mod process;
mod survey;
mod walk;
mod workspace;

pub use process::{KeptLimits, KeptOutput, KeptSpace, LocalProcess};
pub use walk::{TreeEntry, TreeReader};
pub use workspace::{LocalWorkspace, TemporaryFiles, WithLocalFolders};
