//! Options of the place in which a session works: its directories, files and programs.

use super::{OptionChange, Options};
use crate::machine::FilesLayer;
use std::ffi::OsString;
use std::path::PathBuf;
use std::sync::Arc;
use windlass_tool::{FileTree, Process, Workspace};

/// Place in which a session works, beside its [working directory](crate::SessionBuilder::cwd): further directories,
/// files, programs, their environment and their sandbox. Values that are not set stay as they are.
///
/// ```
/// use windlass::options::WorkspaceOptions;
///
/// let query = windlass::query("Compare both").cwd("/srv/a").workspace(WorkspaceOptions::new().add_dir("/srv/b"));
/// ```
#[derive(Clone, Default)]
#[must_use]
pub struct WorkspaceOptions {
    directories: Vec<PathBuf>,
    user_home: Option<PathBuf>,
    files: Option<Arc<dyn Workspace>>,
    file_tree: Option<Arc<dyn FileTree>>,
    files_layer: Option<FilesLayer>,
    process: Option<Arc<dyn Process>>,
    env: Option<Vec<(OsString, OsString)>>,
    /// Values that features bring.
    pub(crate) changes: Vec<OptionChange>,
}

impl WorkspaceOptions {
    /// No value is set.
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds a directory to the workspace.
    pub fn add_dir(mut self, directory: impl Into<PathBuf>) -> Self {
        self.directories.push(directory.into());
        self
    }

    /// User's home directory: the start of `~/` in rules and commands, and protected from removal. Default: `HOME` of
    /// the environment of programs, else of this process. Programs use their own `HOME`, so keep both the same.
    pub fn user_home(mut self, home: impl Into<PathBuf>) -> Self {
        self.user_home = Some(home.into());
        self
    }

    /// Files of the session, instead of this machine's (without the feature `tools`: instead of none). If they are not
    /// local (`Workspace::is_local`), the session's directory is one of them, and programs run only through a
    /// [`process`](Self::process) given as well.
    pub fn files(mut self, files: Arc<dyn Workspace>) -> Self {
        self.files = Some(files);
        self
    }

    /// Layer over the [files](Self::files) of the session, also over those of this machine: it is given them, and tools
    /// use what it returns. File checkpoints, searches of this machine and programs pass by it.
    ///
    /// ```
    /// use std::sync::Arc;
    /// use windlass::options::WorkspaceOptions;
    /// use windlass::tool::Workspace;
    ///
    /// /// Files as they are: a real layer returns a workspace around them.
    /// fn layer(files: Arc<dyn Workspace>) -> Arc<dyn Workspace> {
    ///     files
    /// }
    ///
    /// let options = WorkspaceOptions::new().files_layer(layer);
    /// ```
    pub fn files_layer(
        mut self,
        layer: impl Fn(Arc<dyn Workspace>) -> Arc<dyn Workspace> + Send + Sync + 'static,
    ) -> Self {
        self.files_layer = Some(Arc::new(layer));
        self
    }

    /// Tree of whole files of the given [`files`](Self::files), for file checkpoints.
    pub fn file_tree(mut self, tree: Arc<dyn FileTree>) -> Self {
        self.file_tree = Some(tree);
        self
    }

    /// Process port that runs programs, instead of this machine's (without the feature `tools`: instead of none).
    pub fn process(mut self, process: Arc<dyn Process>) -> Self {
        self.process = Some(process);
        self
    }

    /// Environment of programs that tools run, instead of the default: an allow-list of the process's variables.
    /// Variables given here reach the programs, except for names that look like secrets or that change which code
    /// programs load; a notice of the session names the exceptions. Without the feature `tools` the environment is empty.
    pub fn env<K: Into<OsString>, V: Into<OsString>>(mut self, env: impl IntoIterator<Item = (K, V)>) -> Self {
        self.env = Some(env.into_iter().map(|(name, value)| (name.into(), value.into())).collect());
        self
    }

    pub(crate) fn apply(self, options: &mut Options) {
        self.changes.iter().for_each(|change| change.apply(options));
        let surroundings = &mut options.surroundings;
        surroundings.additional_directories.extend(self.directories);
        surroundings.user_home = self.user_home.or(surroundings.user_home.take());
        surroundings.files.workspace = self.files.or(surroundings.files.workspace.take());
        surroundings.files.tree = self.file_tree.or(surroundings.files.tree.take());
        surroundings.files.layer = self.files_layer.or(surroundings.files.layer.take());
        surroundings.process = self.process.or(surroundings.process.take());
        let programs = &mut surroundings.environments.programs;
        *programs = self.env.or(programs.take());
    }
}

impl<W: Workspace> From<Arc<W>> for WorkspaceOptions {
    fn from(files: Arc<W>) -> Self {
        Self::new().files(files)
    }
}

impl From<Arc<dyn Workspace>> for WorkspaceOptions {
    fn from(files: Arc<dyn Workspace>) -> Self {
        Self::new().files(files)
    }
}

impl std::fmt::Debug for WorkspaceOptions {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        // The environment may hold secrets.
        f.debug_struct("WorkspaceOptions")
            .field("directories", &self.directories)
            .field("user_home", &self.user_home)
            .finish_non_exhaustive()
    }
}
