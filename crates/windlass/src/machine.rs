//! What a session has of this machine: directories, files, programs and their environment.
//!
//! Without the feature `tools` a session has no files and no programs, unless the host gives its own.

use crate::storage::OutputSpace;
use std::ffi::OsString;
use std::path::PathBuf;
use std::sync::Arc;
use windlass_runtime::Diagnostics;
use windlass_tool::{FileTree, Ids, Nowhere, Process, Workspace};
use windlass_types::SessionId;

/// Where a session works, and with what.
#[derive(Clone, Default)]
pub(crate) struct Surroundings {
    pub(crate) cwd: Option<PathBuf>,
    pub(crate) additional_directories: Vec<PathBuf>,
    pub(crate) user_home: Option<PathBuf>,
    pub(crate) files: Files,
    pub(crate) process: Option<Arc<dyn Process>>,
    #[cfg(feature = "sandbox")]
    pub(crate) sandbox: crate::sandbox::ProgramSandbox,
    /// What a host says of files.
    pub(crate) diagnostics: Option<Arc<dyn Diagnostics>>,
    /// The language servers of the session, to be confined with its programs.
    #[cfg(all(feature = "lsp", feature = "sandbox"))]
    pub(crate) language_servers: Option<windlass_lsp::LanguageServers>,
    pub(crate) previews_edits: bool,
    #[cfg(feature = "tools")]
    pub(crate) environments: Environments,
    #[cfg(all(feature = "store", feature = "tools"))]
    pub(crate) git_status: Option<bool>,
}

/// The files that the program gave in place of those of this machine.
#[derive(Clone, Default)]
pub(crate) struct Files {
    pub(crate) workspace: Option<Arc<dyn Workspace>>,
    /// The whole files of a workspace that the program gave.
    pub(crate) tree: Option<Arc<dyn FileTree>>,
    /// What tells the place of the files from others, where they are elsewhere and the program says that.
    pub(crate) place: Option<String>,
}

/// The environments that the program gave.
#[cfg(feature = "tools")]
#[derive(Clone, Default)]
pub(crate) struct Environments {
    /// The environment of programs, if the program chose one.
    pub(crate) programs: Option<Environment>,
    /// The environment of this process, as far as the program says it.
    pub(crate) host: Option<Environment>,
}

/// Variables with their values.
pub(crate) type Environment = Vec<(OsString, OsString)>;

#[cfg(not(feature = "tools"))]
const NOWHERE: Nowhere = Nowhere::new(
    "this program has no files and runs no programs: it is built without the feature `tools`, and the host gives none",
);

/// In the place of programs of this machine, which must not work beside files that are elsewhere.
const NO_PROGRAMS: Nowhere = Nowhere::new(
    "no programs run here: the files are not on this machine, and the host gives no way to run programs where they are",
);

impl Surroundings {
    #[expect(clippy::disallowed_methods, reason = "the default where the program that uses the library gives none")]
    pub(crate) fn user_home(&self) -> Option<PathBuf> {
        let given = self.user_home.clone().or_else(|| self.home_of_programs());
        given.or_else(|| std::env::var_os("HOME").map(PathBuf::from))
    }

    /// Where the home is by the environment that the program chose for programs, or said of this process: `~` in commands
    /// stands for that.
    fn home_of_programs(&self) -> Option<PathBuf> {
        #[cfg(feature = "tools")]
        {
            let chosen = self.environments.programs.as_ref().or(self.environments.host.as_ref())?;
            let home = chosen.iter().rev().find(|(name, _)| name == "HOME").map(|(_, value)| PathBuf::from(value));
            home.filter(|home| home.is_absolute())
        }
        #[cfg(not(feature = "tools"))]
        None
    }

    /// The files. Where they are elsewhere, `folders` of this machine are there as well, to be read. Where they are here, the
    /// home has the list of temporary files, and those that killed processes have left behind are removed.
    pub(crate) fn workspace(
        &self,
        folders: impl Iterator<Item = PathBuf>,
        home: Option<&crate::Home>,
    ) -> Arc<dyn Workspace> {
        #[cfg(feature = "tools")]
        if let Some(far) = self.files.workspace.clone().filter(|_| self.is_elsewhere()) {
            return Arc::new(windlass_tools::WithLocalFolders::new(far, folders));
        }
        let _ = (folders, home);
        #[cfg(feature = "tools")]
        let own = || {
            let files = windlass_tools::LocalWorkspace::default();
            let Some(lists) = home.map(crate::Home::temporary_files) else { return Arc::new(files) as _ };
            if let Err(error) = windlass_tools::TemporaryFiles::remove_left_behind(&lists) {
                tracing::warn!(%error, "what killed processes have left behind was not removed");
            }
            Arc::new(files.with_temporary_files(windlass_tools::TemporaryFiles::in_folder(lists))) as _
        };
        #[cfg(not(feature = "tools"))]
        let own = || Arc::new(NOWHERE) as _;
        self.files.workspace.clone().unwrap_or_else(own)
    }

    /// What runs programs. Two processes may have one session at the same time, or one after the other was killed. The
    /// session's id alone does not tell their programs apart.
    pub(crate) fn process(&self, id: &SessionId, ids: &dyn Ids, space: &OutputSpace) -> Arc<dyn Process> {
        #[cfg(feature = "tools")]
        let own = || {
            let own = windlass_tools::LocalProcess::new(format!("{id}.{:032x}", ids.bits()));
            Arc::new(own.with_kept_space(space.0.clone())) as _
        };
        #[cfg(not(feature = "tools"))]
        let (own, _) = (|| Arc::new(NOWHERE) as _, (id, ids, space));
        match &self.process {
            Some(given) => Arc::clone(given),
            None if self.is_elsewhere() => Arc::new(NO_PROGRAMS),
            None => own(),
        }
    }

    /// The environment of programs. A notice names the given variables that they do not get.
    #[cfg(feature = "tools")]
    #[expect(clippy::disallowed_methods, reason = "the default where the program that uses the library gives none")]
    pub(crate) fn program_environment(&self, notices: &mut Vec<String>) -> Environment {
        let Some(given) = self.environments.programs.clone() else {
            return match &self.environments.host {
                Some(own) => windlass_tools::host_environment(own.iter().cloned()),
                None if self.is_elsewhere() => Vec::new(),
                None => windlass_tools::host_environment(std::env::vars_os()),
            };
        };
        let parted = windlass_tools::given_environment(given);
        if !parted.kept_back.is_empty() {
            notices.push(format!(
                "these variables do not reach the programs of tools, since they look like secrets or change what programs \
                 load: {}",
                parted.kept_back.join(", ")
            ));
        }
        parted.passed
    }

    /// The environment with a locale whose character type is UTF-8. Programs that a host runs settle that by themselves.
    pub(crate) fn with_utf8(&self, environment: Environment) -> Environment {
        #[cfg(feature = "tools")]
        if self.process.is_none() && !self.is_elsewhere() {
            return windlass_tools::utf8_environment(environment);
        }
        environment
    }

    /// None: only the feature `tools` knows which variables are safe to pass on.
    #[cfg(not(feature = "tools"))]
    pub(crate) fn program_environment(&self, _: &mut Vec<String>) -> Environment {
        Vec::new()
    }
}

#[cfg(all(test, not(feature = "tools")))]
mod tests;
