//! Paths as text.

use std::path::{Component, Path, PathBuf};

/// A path without `.` and `..`.
pub(crate) fn normalized(path: &Path) -> PathBuf {
    let mut normal = PathBuf::new();
    for component in path.components() {
        match component {
            Component::CurDir => {}
            Component::ParentDir => {
                normal.pop();
            }
            other => normal.push(other),
        }
    }
    normal
}
