//! Directories and project key of a session whose workspace may be remote.

use crate::error::Error;
use crate::options::Options;
use std::path::{Path, PathBuf};
use windlass_session::ProjectKey;
use windlass_tool::{EntryKind, Workspace};

impl Options {
    /// Returns the project key under which the sessions of `cwd` are stored. With remote files, the key contains their
    /// place.
    pub(crate) fn project_key(&self, cwd: &Path) -> ProjectKey {
        match self.surroundings.files.place.as_ref().filter(|_| self.surroundings.is_elsewhere()) {
            Some(place) => ProjectKey::elsewhere(place, cwd),
            None => ProjectKey::of(cwd),
        }
    }

    /// Resolves the working directory and the additional directories in a remote workspace, and stores them.
    /// Returns the working directory.
    pub(crate) async fn settle_directories(&mut self) -> Result<PathBuf, Error> {
        self.project.check_place(self.surroundings.is_elsewhere())?;
        let Some(workspace) = self.surroundings.files.workspace.clone().filter(|workspace| !workspace.is_local())
        else {
            return self.working_directory();
        };
        let role = "the working directory";
        let cwd = directory(&*workspace, role, self.given_directory().unwrap_or(Path::new(""))).await?;
        let mut additional = Vec::new();
        for extra in &self.surroundings.additional_directories {
            let extra = windlass_types::path::absolute(&cwd, extra);
            additional.push(directory(&*workspace, "the additional directory", &extra).await?);
        }
        self.surroundings.additional_directories = additional;
        self.surroundings.cwd = Some(cwd.clone());
        Ok(cwd)
    }
}

/// Returns the path of a directory with all links resolved. Fails if the path is relative or no directory.
async fn directory(workspace: &dyn Workspace, role: &'static str, path: &Path) -> Result<PathBuf, Error> {
    let unusable = |problem: String| Error::Directory { role, path: path.to_path_buf(), problem };
    if !path.has_root() {
        return Err(unusable("the files are elsewhere: give the absolute path that it has there".to_owned()));
    }
    let entry = workspace.resolve(path).await.map_err(|error| unusable(error.message))?;
    match entry.kind {
        EntryKind::Directory => Ok(entry.path),
        _ => Err(unusable("there is no such directory where the files are".to_owned())),
    }
}
