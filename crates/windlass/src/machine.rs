//! Machine resources of a session: directories, files, programs and their environment.
//!
//! Without the feature `tools` a session has no files and no programs, unless the host supplies them.

use crate::home::Home;
use crate::local::{self, OutputSpace};
use crate::sandbox::ProgramSandbox;
use crate::server_guard::ServerGuard;
use std::ffi::OsString;
use std::path::PathBuf;
use std::sync::Arc;
use windlass_runtime::Diagnostics;
use windlass_tool::{FileTree, Ids, Nowhere, Process, Workspace};
use windlass_types::SessionId;

/// Programs of a place, with the disk space for their outputs.
pub(crate) type ProgramSource = Arc<dyn Fn(&OutputSpace) -> Arc<dyn Process> + Send + Sync>;

/// Layer over the files of a session.
pub(crate) type FilesLayer = Arc<dyn Fn(Arc<dyn Workspace>) -> Arc<dyn Workspace> + Send + Sync>;

/// Gives servers a guard for their programs.
pub(crate) type GuardServers = Arc<dyn Fn(Arc<dyn ServerGuard>) + Send + Sync>;

/// Workspace, programs and environment of a session.
#[derive(Clone, Default)]
pub(crate) struct Surroundings {
    pub(crate) cwd: Option<PathBuf>,
    pub(crate) additional_directories: Vec<PathBuf>,
    pub(crate) user_home: Option<PathBuf>,
    pub(crate) files: Files,
    pub(crate) process: Option<Arc<dyn Process>>,
    /// Programs of the place where the session works, unless the program gave others.
    pub(crate) remote: Option<ProgramSource>,
    pub(crate) sandbox: ProgramSandbox,
    /// Diagnostics that a host supplies.
    pub(crate) diagnostics: Option<Arc<dyn Diagnostics>>,
    /// Gives the language servers of the session a guard for their programs.
    pub(crate) language_servers: Option<GuardServers>,
    pub(crate) previews_edits: bool,
    pub(crate) environments: Environments,
    /// `true` if the model is told the state of the repository; `None` if unset.
    pub(crate) git_status: Option<bool>,
}

/// Files supplied by the program in place of those of this machine.
#[derive(Clone, Default)]
pub(crate) struct Files {
    pub(crate) workspace: Option<Arc<dyn Workspace>>,
    /// Layer over the files, supplied or of this machine.
    pub(crate) layer: Option<FilesLayer>,
    /// Whole files of the supplied workspace.
    pub(crate) tree: Option<Arc<dyn FileTree>>,
    /// Name that distinguishes the place of remote files, if the program supplied one.
    pub(crate) place: Option<String>,
}

/// Environments supplied by the program.
#[derive(Clone, Default)]
pub(crate) struct Environments {
    /// Environment of programs, if the program chose one.
    pub(crate) programs: Option<Environment>,
    /// Environment of this process, as far as the program supplied it.
    pub(crate) host: Option<Environment>,
}

/// Variables with their values.
pub(crate) type Environment = Vec<(OsString, OsString)>;

/// Placeholder for programs of this machine, which must not run beside remote files.
const NO_PROGRAMS: Nowhere = Nowhere::new(
    "no programs run here: the files are not on this machine, and the host gives no way to run programs where they are",
);

impl Surroundings {
    #[expect(clippy::disallowed_methods, reason = "the default where the program that uses the library gives none")]
    pub(crate) fn user_home(&self) -> Option<PathBuf> {
        let configured = self.user_home.clone().or_else(|| self.home_of_programs());
        configured.or_else(|| std::env::var_os("HOME").map(PathBuf::from))
    }

    /// Home directory by the environment that the program chose for programs, or supplied for this process, because `~`
    /// in commands expands to it.
    fn home_of_programs(&self) -> Option<PathBuf> {
        let environment = self.environments.programs.as_ref().or(self.environments.host.as_ref())?;
        let home = environment.iter().rev().find(|(name, _)| name == "HOME").map(|(_, value)| PathBuf::from(value));
        home.filter(|home| home.is_absolute())
    }

    /// Workspace of the session. For remote files, `folders` of this machine are readable as well.
    pub(crate) fn workspace(&self, folders: impl Iterator<Item = PathBuf>, home: Option<&Home>) -> Arc<dyn Workspace> {
        let files = match &self.files.workspace {
            Some(far) if !far.is_local() => local::files_and_folders(Arc::clone(far), folders),
            Some(given) => Arc::clone(given),
            None => local::files(home),
        };
        match &self.files.layer {
            Some(layer) => layer(files),
            None => files,
        }
    }

    /// Process port that runs programs. Two processes may have one session at the same time, or one after the other was
    /// killed, so the session's id alone does not tell their programs apart.
    pub(crate) fn process(&self, id: &SessionId, ids: &dyn Ids, space: &OutputSpace) -> Arc<dyn Process> {
        match &self.process {
            Some(given) => Arc::clone(given),
            None if self.is_elsewhere() => Arc::new(NO_PROGRAMS),
            None => local::programs(format!("{id}.{:032x}", ids.bits()), space),
        }
    }

    /// Environment of programs. A notice names the supplied variables that are withheld.
    pub(crate) fn program_environment(&self, notices: &mut Vec<String>) -> Environment {
        let (chosen, host) = (self.environments.programs.clone(), self.environments.host.as_ref());
        local::environment(chosen, host, !self.is_elsewhere(), notices)
    }

    /// Adds a locale with UTF-8 as the character type to the environment. Programs that a host runs settle that by
    /// themselves.
    pub(crate) fn with_utf8(&self, environment: Environment) -> Environment {
        if self.process.is_none() && !self.is_elsewhere() { local::utf8(environment) } else { environment }
    }

    /// `true` if the files of the session are not on this machine.
    pub(crate) fn is_elsewhere(&self) -> bool {
        self.files.workspace.as_ref().is_some_and(|workspace| !workspace.is_local())
    }
}

#[cfg(all(test, not(feature = "tools")))]
mod tests;
