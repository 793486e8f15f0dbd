//! Conformance of workspaces: checks of the promises of [`Workspace`].
//!
//! Each function checks one promise and returns a [`Violation`] if it is broken; [`all`] runs them all. Beside the
//! workspace they need a [`Fixture`]: another program that works on the same files and can do operations that the port
//! cannot, such as replacing a directory with a link. [`LocalFiles`] is a fixture for local files.
//!
//! ```
//! use windlass_testkit::{Violation, fake::MemoryWorkspace, workspace};
//!
//! # #[tokio::main(flavor = "current_thread")]
//! # async fn main() -> Result<(), Violation> {
//! let files = MemoryWorkspace::new();
//! workspace::all(&files, &files).await
//! # }
//! ```

mod fixture;
mod links;
mod permits;
mod reading;
mod removing;
mod site;
mod writing;

pub use fixture::{Fixture, Item, LocalFiles};
pub use links::{
    follows_links_when_resolving, never_follows_a_swapped_link, stays_inside_of_a_judged_tree,
    tells_entries_without_following,
};
pub use permits::refuses_what_is_not_permitted;
pub use reading::{lists_names, opens_only_regular_files, reads_files};
pub use removing::{removes_only_permitted_files, renames_without_replacing};
pub use writing::{
    a_dropped_write_is_whole_or_not_made, compares_before_it_replaces, creates_directories_only_when_asked,
    keeps_the_kind_of_a_file, makes_only_new_files_when_asked, readers_see_whole_files, writes_only_over_regular_files,
    writes_whole_files,
};

use crate::Violation;
use windlass_tool::Workspace;

/// Checks every promise of this module in turn.
///
/// # Errors
/// The first broken promise.
pub async fn all(workspace: &dyn Workspace, fixture: &dyn Fixture) -> Result<(), Violation> {
    follows_links_when_resolving(workspace, fixture).await?;
    tells_entries_without_following(workspace, fixture).await?;
    refuses_what_is_not_permitted(workspace, fixture).await?;
    reads_files(workspace, fixture).await?;
    opens_only_regular_files(workspace, fixture).await?;
    lists_names(workspace, fixture).await?;
    never_follows_a_swapped_link(workspace, fixture).await?;
    stays_inside_of_a_judged_tree(workspace, fixture).await?;
    writes_whole_files(workspace, fixture).await?;
    writes_only_over_regular_files(workspace, fixture).await?;
    makes_only_new_files_when_asked(workspace, fixture).await?;
    creates_directories_only_when_asked(workspace, fixture).await?;
    keeps_the_kind_of_a_file(workspace, fixture).await?;
    compares_before_it_replaces(workspace, fixture).await?;
    removes_only_permitted_files(workspace, fixture).await?;
    renames_without_replacing(workspace, fixture).await?;
    readers_see_whole_files(workspace, fixture).await?;
    a_dropped_write_is_whole_or_not_made(workspace, fixture).await
}
