//! The settings with which a policy is made.

use std::path::PathBuf;
use windlass_types::PermissionMode;

/// The settings with which a policy is made. All paths are absolute.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct PolicyConfig {
    /// The directory the session started in: the workspace.
    pub start_directory: PathBuf,
    /// More directories of the workspace.
    pub additional_directories: Vec<PathBuf>,
    /// The user's home, where `~/` in rules starts.
    pub home: Option<PathBuf>,
    /// The mode at the start. Without `bypass_allowed`, bypassPermissions becomes default, and without `auto_allowed`
    /// auto does.
    pub mode: PermissionMode,
    /// `true` if the mode bypassPermissions can be entered.
    pub bypass_allowed: bool,
    /// `true` if the mode auto can be entered. Default: `true`. Without a classifier, auto asks about the same calls as
    /// acceptEdits.
    pub auto_allowed: bool,
    /// Paths that are protected besides the names that are protected everywhere: resolved git directories,
    /// settings files elsewhere, the harness's own home. A last name with `*`, `?` or `[` also protects the names that it
    /// matches, behind `**` at any depth.
    pub protected_paths: Vec<PathBuf>,
    /// File names of the program that runs the session, beside `windlass`: commands of that program that write
    /// protected paths ask.
    pub own_commands: Vec<String>,
    /// Directories that are links, and their targets (`/tmp` and `/private/tmp`), so that rules and directories given
    /// in one form apply to the other.
    pub links: Vec<(PathBuf, PathBuf)>,
}

impl PolicyConfig {
    /// Creates a configuration with the mode default, no home, and the start directory as the only one.
    pub fn new(start_directory: impl Into<PathBuf>) -> Self {
        Self {
            start_directory: start_directory.into(),
            additional_directories: Vec::new(),
            home: None,
            mode: PermissionMode::Default,
            bypass_allowed: false,
            auto_allowed: true,
            protected_paths: Vec::new(),
            own_commands: Vec::new(),
            links: Vec::new(),
        }
    }

    /// Adds directories to the workspace.
    #[must_use]
    pub fn with_additional_directories(mut self, directories: impl IntoIterator<Item = PathBuf>) -> Self {
        self.additional_directories.extend(directories);
        self
    }

    /// Sets the home directory.
    #[must_use]
    pub fn with_home(mut self, home: Option<PathBuf>) -> Self {
        self.home = home;
        self
    }

    /// Sets the mode at the start.
    #[must_use]
    pub fn with_mode(mut self, mode: PermissionMode) -> Self {
        self.mode = mode;
        self
    }

    /// Sets `bypass_allowed`: `true` if the mode bypassPermissions can be entered.
    #[must_use]
    pub fn with_bypass_allowed(mut self, allowed: bool) -> Self {
        self.bypass_allowed = allowed;
        self
    }

    /// Sets `auto_allowed`: `true` if the mode auto can be entered.
    #[must_use]
    pub fn with_auto_allowed(mut self, allowed: bool) -> Self {
        self.auto_allowed = allowed;
        self
    }

    /// Protects more paths.
    #[must_use]
    pub fn with_protected_paths(mut self, paths: impl IntoIterator<Item = PathBuf>) -> Self {
        self.protected_paths.extend(paths);
        self
    }

    /// Adds file names of the program that runs the session.
    #[must_use]
    pub fn with_own_commands(mut self, names: impl IntoIterator<Item = String>) -> Self {
        self.own_commands.extend(names);
        self
    }

    /// Adds a directory that is a link, and its target.
    #[must_use]
    pub fn with_link(mut self, from: impl Into<PathBuf>, to: impl Into<PathBuf>) -> Self {
        self.links.push((from.into(), to.into()));
        self
    }
}
