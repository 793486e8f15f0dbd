//! What is known of one call when it is judged.

use std::path::{Path, PathBuf};
use windlass_shell::Analysis;
use windlass_types::{Access, CallDigest, JsonText};

/// What is known of one call when it is judged. Made by the driver, pure data.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct CallFacts {
    /// The tool's name as the model called it.
    pub tool: String,
    /// The exact input.
    pub input: JsonText,
    /// What the tool declares to touch.
    pub access: Access,
    /// The paths of `access`, with links followed. One for each; a call with fewer facts than paths is
    /// never allowed for being harmless.
    pub paths: Vec<PathFact>,
    /// The command, for calls that run one through the shell.
    pub command: Option<CommandFacts>,
    /// What the tool itself thinks of the call.
    pub check: OwnCheck,
    /// Whether the call is itself a question to the user, so that nothing but an answer lets it run.
    pub requires_user_interaction: bool,
    /// The current directory of the call, absolute.
    pub cwd: PathBuf,
    /// The digest of this exact call.
    pub digest: CallDigest,
}

impl CallFacts {
    /// Facts without paths, command or own check.
    pub fn new(
        tool: impl Into<String>,
        input: JsonText,
        access: Access,
        digest: CallDigest,
        cwd: impl Into<PathBuf>,
    ) -> Self {
        Self {
            tool: tool.into(),
            input,
            access,
            paths: Vec::new(),
            command: None,
            check: OwnCheck::Undecided,
            requires_user_interaction: false,
            cwd: cwd.into(),
            digest,
        }
    }

    /// Adds a path.
    #[must_use]
    pub fn with_path(mut self, path: PathFact) -> Self {
        self.paths.push(path);
        self
    }

    /// Replaces all paths.
    #[must_use]
    pub fn with_paths(mut self, paths: Vec<PathFact>) -> Self {
        self.paths = paths;
        self
    }

    /// Adds the command.
    #[must_use]
    pub fn with_command(mut self, command: CommandFacts) -> Self {
        self.command = Some(command);
        self
    }

    /// Adds what the tool itself thinks.
    #[must_use]
    pub fn with_check(mut self, check: OwnCheck) -> Self {
        self.check = check;
        self
    }

    /// Says whether the call is itself a question to the user.
    #[must_use]
    pub fn with_user_interaction(mut self, required: bool) -> Self {
        self.requires_user_interaction = required;
        self
    }
}

/// A tool's own opinion on a call. It can lower a verdict, never raise it.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
#[expect(clippy::exhaustive_enums, reason = "a tool leaves a call alone or lowers it to one of two verdicts")]
pub enum OwnCheck {
    /// Nothing to say.
    #[default]
    Undecided,
    /// Somebody must say, for this reason.
    Ask(String),
    /// It must not run, for this reason.
    Deny(String),
}

/// One path that a call touches.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct PathFact {
    /// The path as requested: absolute, `.` and `..` removed by text alone.
    pub requested: PathBuf,
    /// Where the request ends when every link is followed; for what does not exist yet, the resolved
    /// parent and the rest.
    pub resolved: PathBuf,
    /// The targets of the links on the way, if there are any.
    pub via: Vec<PathBuf>,
    /// Whether it is written (created, changed or removed).
    pub write: bool,
}

impl PathFact {
    /// A path without links on the way other than those that `resolved` shows.
    pub fn new(requested: impl Into<PathBuf>, resolved: impl Into<PathBuf>, write: bool) -> Self {
        Self { requested: requested.into(), resolved: resolved.into(), via: Vec::new(), write }
    }

    /// Adds the targets of the links on the way.
    #[must_use]
    pub fn with_via(mut self, via: Vec<PathBuf>) -> Self {
        self.via = via;
        self
    }

    /// Every path that this one goes through.
    pub(crate) fn all(&self) -> impl Iterator<Item = &Path> {
        [&self.requested, &self.resolved].into_iter().chain(&self.via).map(PathBuf::as_path)
    }
}

/// A command for the shell.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct CommandFacts {
    /// The exact text that will run.
    pub text: String,
    /// What the text means.
    pub analysis: Analysis,
    /// The paths that [`command_paths`] named, with links followed. A path without a fact counts as outside
    /// the workspace. More may be added (what a file name pattern stands for): they are judged as well.
    pub paths: Vec<PathFact>,
    /// Whether the call does not wait for the command.
    pub background: bool,
    /// Whether git is inert in the call's current directory: the driver looked at the configuration and
    /// attributes of the repository and nothing there can make a reading git command run a program. While
    /// false, git asks.
    pub git_is_inert: bool,
}

impl CommandFacts {
    /// A command in the foreground; git is not known to be inert.
    pub fn new(analysis: Analysis, paths: Vec<PathFact>) -> Self {
        Self { text: analysis.text().to_owned(), analysis, paths, background: false, git_is_inert: false }
    }

    /// Says whether the call waits for the command.
    #[must_use]
    pub fn with_background(mut self, background: bool) -> Self {
        self.background = background;
        self
    }

    /// Says whether git is inert in the call's current directory.
    #[must_use]
    pub fn with_inert_git(mut self, inert: bool) -> Self {
        self.git_is_inert = inert;
        self
    }
}

/// A path that a command names and whose links have to be followed before it can be judged.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub struct CommandPath {
    /// Absolute, `.` and `..` removed by text alone. Of a file name pattern, the directory it starts in.
    pub path: PathBuf,
    /// Whether the command writes there.
    pub write: bool,
}

/// The paths of a command that the driver resolves for [`CommandFacts::paths`], in order, each once.
#[must_use]
pub fn command_paths(analysis: &Analysis, cwd: &Path) -> Vec<CommandPath> {
    crate::command::paths(analysis, cwd)
}
