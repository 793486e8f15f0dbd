//! Owner of the repository that version control would find. Runs no program.

use std::path::{Path, PathBuf};
use windlass_permission::REPOSITORY_NAMES;
use windlass_tool::{EntryKind, Workspace};

/// Returns `true` if no directory between one of these places and its directory of the workspace is a repository of its
/// own. A directory that cannot be read is treated as one.
pub(crate) async fn is_own(workspace: &dyn Workspace, directories: &[PathBuf], places: &[PathBuf]) -> bool {
    for place in places.iter().filter(|place| !directories.contains(place)) {
        if !is_own_place(workspace, directories, place).await {
            return false;
        }
    }
    true
}

async fn is_own_place(workspace: &dyn Workspace, directories: &[PathBuf], place: &Path) -> bool {
    let Ok(there) = workspace.resolve(place).await else { return false };
    for ancestor in there.path.ancestors() {
        if directories.iter().any(|directory| directory == ancestor) {
            return true;
        }
        for name in REPOSITORY_NAMES {
            let name = ancestor.join(name);
            match workspace.resolve(&name).await {
                Ok(found) if found.kind == EntryKind::Missing && found.path == name => {}
                _ => return false,
            }
        }
    }
    false
}
