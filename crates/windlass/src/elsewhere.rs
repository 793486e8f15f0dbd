//! Sessions in a remote workspace: their directories and their restrictions.

use crate::error::Error;
use crate::machine::Surroundings;
use crate::options::Options;
use std::path::{Path, PathBuf};
use windlass_session::ProjectKey;
use windlass_tool::{EntryKind, Workspace};

impl Surroundings {
    /// `true` if the files of the session are not on this machine.
    pub(crate) fn is_elsewhere(&self) -> bool {
        self.files.workspace.as_ref().is_some_and(|workspace| !workspace.is_local())
    }

    /// Moves a session into a remote workspace, with its programs and home.
    #[cfg(feature = "remote")]
    pub(crate) fn move_to(&mut self, remote: &windlass_remote::Remote) {
        let files = remote.workspace();
        self.files.place = Some(remote.name());
        self.files.tree = Some(files.clone());
        self.files.workspace = Some(files);
        (self.process, self.remote) = (None, Some(remote.clone()));
        self.environments.host = Some(remote.environment().to_vec());
        self.user_home = self.user_home.take().or_else(|| remote.home().map(Path::to_path_buf));
    }
}

impl Options {
    /// Key of the project under which sessions of a directory are stored.
    pub(crate) fn project_key(&self, cwd: &Path) -> ProjectKey {
        match self.surroundings.files.place.as_ref().filter(|_| self.surroundings.is_elsewhere()) {
            Some(place) => ProjectKey::elsewhere(place, cwd),
            None => ProjectKey::of(cwd),
        }
    }

    /// Resolves the directories of the session in its workspace. Returns the working directory.
    pub(crate) async fn settle_directories(&mut self) -> Result<PathBuf, Error> {
        #[cfg(feature = "project")]
        self.check_project()?;
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

#[cfg(feature = "project")]
impl Options {
    /// Refuses a local project for a remote workspace, and a remote project for a local one.
    fn check_project(&self) -> Result<(), Error> {
        let Some(project) = self.applied_project() else { return Ok(()) };
        let (path, problem) = match (self.surroundings.is_elsewhere(), project.place_elsewhere()) {
            (true, None) => (
                project.places().start(),
                "settings and trust are those of directories of this machine, and the files are elsewhere: leave out \
                 `.project(..)`, or give it what `Project::elsewhere` has read there",
            ),
            (false, Some(there)) => (
                there.start(),
                "it was read elsewhere, and the session works on this machine: say where with `.remote(..)`",
            ),
            _ => return Ok(()),
        };
        Err(Error::Directory { role: "the project", path: path.to_path_buf(), problem: problem.to_owned() })
    }
}

/// Resolves a directory of a workspace, with its links.
async fn directory(workspace: &dyn Workspace, role: &'static str, path: &Path) -> Result<PathBuf, Error> {
    let unusable = |problem: String| Error::Directory { role, path: path.to_path_buf(), problem };
    if !path.has_root() {
        return Err(unusable("the files are elsewhere: give the absolute path that it has there".to_owned()));
    }
    let found = workspace.resolve(path).await.map_err(|error| unusable(error.message))?;
    match found.kind {
        EntryKind::Directory => Ok(found.path),
        _ => Err(unusable("there is no such directory where the files are".to_owned())),
    }
}
