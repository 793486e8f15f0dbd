//! Machine resources of a session: directories, files, programs and their environment.
//!
//! Without the feature `tools` a session has no files and no programs, unless the host supplies them.

use crate::storage::OutputSpace;
use std::ffi::OsString;
use std::path::PathBuf;
use std::sync::Arc;
use windlass_runtime::Diagnostics;
use windlass_tool::{FileTree, Ids, Nowhere, Process, Workspace};
use windlass_types::SessionId;

/// Workspace, programs and environment of a session.
#[derive(Clone, Default)]
pub(crate) struct Surroundings {
    pub(crate) cwd: Option<PathBuf>,
    pub(crate) additional_directories: Vec<PathBuf>,
    pub(crate) user_home: Option<PathBuf>,
    pub(crate) files: Files,
    pub(crate) process: Option<Arc<dyn Process>>,
    /// The place whose programs the session runs, unless the program gave others.
    #[cfg(feature = "remote")]
    pub(crate) remote: Option<windlass_remote::Remote>,
    #[cfg(feature = "sandbox")]
    pub(crate) sandbox: crate::sandbox::ProgramSandbox,
    /// Diagnostics that a host supplies.
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

/// Files supplied by the program in place of those of this machine.
#[derive(Clone, Default)]
pub(crate) struct Files {
    pub(crate) workspace: Option<Arc<dyn Workspace>>,
    /// Whole files of the supplied workspace.
    pub(crate) tree: Option<Arc<dyn FileTree>>,
    /// Name that distinguishes the place of remote files, if the program supplied one.
    pub(crate) place: Option<String>,
}

/// Environments supplied by the program.
#[cfg(feature = "tools")]
#[derive(Clone, Default)]
pub(crate) struct Environments {
    /// Environment of programs, if the program chose one.
    pub(crate) programs: Option<Environment>,
    /// Environment of this process, as far as the program supplied it.
    pub(crate) host: Option<Environment>,
}

/// Variables with their values.
pub(crate) type Environment = Vec<(OsString, OsString)>;

#[cfg(not(feature = "tools"))]
const NOWHERE: Nowhere = Nowhere::new(
    "this program has no files and runs no programs: it is built without the feature `tools`, and the host gives none",
);

/// Placeholder for programs of this machine, which must not run beside remote files.
const NO_PROGRAMS: Nowhere = Nowhere::new(
    "no programs run here: the files are not on this machine, and the host gives no way to run programs where they are",
);

impl Surroundings {
    #[expect(clippy::disallowed_methods, reason = "the default where the program that uses the library gives none")]
    pub(crate) fn user_home(&self) -> Option<PathBuf> {
        let given = self.user_home.clone().or_else(|| self.home_of_programs());
        given.or_else(|| std::env::var_os("HOME").map(PathBuf::from))
    }

    /// Home directory by the environment that the program chose for programs, or supplied for this process, because `~`
    /// in commands expands to it.
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

    /// Workspace of the session. For remote files, `folders` of this machine are readable as well. For local files, the
    /// list of temporary files is in the home, and files left behind by killed processes are removed.
    pub(crate) fn workspace(
        &self,
        folders: impl Iterator<Item = PathBuf>,
        home: Option<&crate::Home>,
    ) -> Arc<dyn Workspace> {
        #[cfg(feature = "tools")]
        if let Some(far) = self.files.workspace.clone().filter(|_| self.is_elsewhere()) {
            return Arc::new(windlass_local::WithLocalFolders::new(far, folders));
        }
        let _ = (folders, home);
        #[cfg(feature = "tools")]
        let own = || {
            let files = windlass_local::LocalWorkspace::default();
            let Some(lists) = home.map(crate::Home::temporary_files) else { return Arc::new(files) as _ };
            if let Err(error) = windlass_local::TemporaryFiles::remove_left_behind(&lists) {
                tracing::warn!(%error, "what killed processes have left behind was not removed");
            }
            Arc::new(files.with_temporary_files(windlass_local::TemporaryFiles::in_folder(lists))) as _
        };
        #[cfg(not(feature = "tools"))]
        let own = || Arc::new(NOWHERE) as _;
        self.files.workspace.clone().unwrap_or_else(own)
    }

    /// Process port that runs programs. Two processes may have one session at the same time, or one after the other was
    /// killed, so the session's id alone does not tell their programs apart.
    pub(crate) fn process(&self, id: &SessionId, ids: &dyn Ids, space: &OutputSpace) -> Arc<dyn Process> {
        #[cfg(feature = "tools")]
        let own = || {
            let own = windlass_local::LocalProcess::new(format!("{id}.{:032x}", ids.bits()));
            Arc::new(own.with_kept_space(space.0.clone())) as _
        };
        #[cfg(not(feature = "tools"))]
        let (own, _) = (|| Arc::new(NOWHERE) as _, (id, ids, space));
        #[cfg(feature = "remote")]
        if let (None, Some(remote)) = (&self.process, &self.remote) {
            return remote.process_in_space(space.0.clone());
        }
        match &self.process {
            Some(given) => Arc::clone(given),
            None if self.is_elsewhere() => Arc::new(NO_PROGRAMS),
            None => own(),
        }
    }

    /// Environment of programs. A notice names the supplied variables that are withheld.
    #[cfg(feature = "tools")]
    #[expect(clippy::disallowed_methods, reason = "the default where the program that uses the library gives none")]
    pub(crate) fn program_environment(&self, notices: &mut Vec<String>) -> Environment {
        let Some(given) = self.environments.programs.clone() else {
            return match &self.environments.host {
                Some(own) => windlass_tool::environment::host_environment(own.iter().cloned()),
                None if self.is_elsewhere() => Vec::new(),
                None => windlass_tool::environment::host_environment(std::env::vars_os()),
            };
        };
        let parted = windlass_tool::environment::given_environment(given);
        if !parted.kept_back.is_empty() {
            notices.push(format!(
                "these variables do not reach the programs of tools, since they look like secrets or change what programs \
                 load: {}",
                parted.kept_back.join(", ")
            ));
        }
        parted.passed
    }

    /// Adds a locale with UTF-8 as the character type to the environment. Programs that a host runs settle that by
    /// themselves.
    pub(crate) fn with_utf8(&self, environment: Environment) -> Environment {
        #[cfg(feature = "tools")]
        if self.process.is_none() && !self.is_elsewhere() {
            return windlass_tool::environment::utf8_environment(environment);
        }
        environment
    }

    /// Empty: only the feature `tools` knows which variables are safe to pass on.
    #[cfg(not(feature = "tools"))]
    pub(crate) fn program_environment(&self, _: &mut Vec<String>) -> Environment {
        Vec::new()
    }
}

#[cfg(all(test, not(feature = "tools")))]
mod tests;
