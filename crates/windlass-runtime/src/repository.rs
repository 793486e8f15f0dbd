//! Whose repository version control would find. No program is run.

use std::path::{Path, PathBuf};
use windlass_permission::REPOSITORY_NAMES;
use windlass_tool::{EntryKind, Workspace};

/// Whether no directory between one of these places and the directory of the workspace that it lies in is a repository of
/// its own. What cannot be seen counts as one.
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
    for at in there.path.ancestors() {
        if directories.iter().any(|directory| directory == at) {
            return true;
        }
        for name in REPOSITORY_NAMES {
            let name = at.join(name);
            match workspace.resolve(&name).await {
                Ok(found) if found.kind == EntryKind::Missing && found.path == name => {}
                _ => return false,
            }
        }
    }
    false
}
