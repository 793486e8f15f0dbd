//! Sessions whose files are not on this machine: where they work, and what they lack.

use crate::machine::Surroundings;
use crate::{Error, session::Options};
use std::path::{Path, PathBuf};
use windlass_tool::{EntryKind, Workspace};

impl Surroundings {
    /// Whether the files of the session are not those of this machine.
    pub(crate) fn is_elsewhere(&self) -> bool {
        self.workspace.as_ref().is_some_and(|workspace| !workspace.is_local())
    }

    /// Puts a session there.
    #[cfg(feature = "remote")]
    pub(crate) fn move_to(&mut self, remote: &windlass_remote::Remote) {
        let files = remote.workspace();
        self.tree = Some(files.clone());
        self.workspace = Some(files);
        self.process = Some(remote.process());
        self.host_environment = Some(remote.environment().to_vec());
        self.user_home = self.user_home.take().or_else(|| remote.home().map(Path::to_path_buf));
    }
}

impl Options {
    /// Finds the directories of the session where its files are. Answers with the one that it works in.
    pub(crate) async fn settle_directories(&mut self) -> Result<PathBuf, Error> {
        let Some(workspace) = self.surroundings.workspace.clone().filter(|workspace| !workspace.is_local()) else {
            return self.working_directory();
        };
        #[cfg(feature = "project")]
        if let Some(project) = self.applied_project() {
            let problem = "settings and trust are those of directories of this machine, and the files are elsewhere: \
                           leave out `.project(..)`";
            let path = project.places().start().to_path_buf();
            return Err(Error::Directory { role: "the project", path, problem: problem.to_owned() });
        }
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

/// A directory of a workspace, with links resolved.
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
