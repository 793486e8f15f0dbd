//! Location of a project in a remote workspace.

use std::path::{Path, PathBuf};
use windlass_project::SettingSources;

/// Location of a project in a remote workspace.
#[derive(Debug, Clone)]
pub(crate) struct Elsewhere {
    /// Remote directories whose instructions are read, from the uppermost to the working directory.
    directories: Vec<PathBuf>,
    /// Remote home directory.
    home: Option<PathBuf>,
    /// Setting sources that the program chose.
    sources: SettingSources,
}

impl Elsewhere {
    pub(super) fn new(start: PathBuf, home: Option<PathBuf>, sources: SettingSources) -> Self {
        // Directories above belong to others, except for those in the account's own home.
        let home_holds =
            home.as_ref().is_some_and(|home| home.parent().is_some() && start.starts_with(home) && start != *home);
        let above = start.ancestors().take_while(|folder| home_holds && Some(*folder) != home.as_deref());
        let mut directories: Vec<PathBuf> = above.map(Path::to_path_buf).collect();
        directories.reverse();
        if directories.is_empty() {
            directories.push(start);
        }
        Self { directories, home, sources }
    }

    /// Working directory of the session.
    pub(crate) fn start(&self) -> &Path {
        self.directories.last().map_or(Path::new("/"), PathBuf::as_path)
    }

    pub(super) fn directories(&self) -> &[PathBuf] {
        &self.directories
    }

    pub(super) fn home(&self) -> Option<&Path> {
        self.home.as_deref()
    }

    pub(super) fn sources(&self) -> SettingSources {
        self.sources
    }
}
