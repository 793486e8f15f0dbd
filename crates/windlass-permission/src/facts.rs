//! Facts about one call for its permission decision.

use crate::git::GitTracked;
use crate::pattern::ShellPattern;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use windlass_shell::Analysis;
use windlass_types::{Access, CallDigest, CommandKinds, JsonText};

/// Facts about one call for its permission decision. Gathered by the driver, pure data.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct CallFacts {
    /// The tool's name as the model called it.
    pub tool: String,
    /// The exact input.
    pub input: JsonText,
    /// Access declared by the tool.
    pub access: Access,
    /// The paths of `access`, with links followed, one fact for each. A call with fewer facts than paths is
    /// never allowed for being harmless.
    pub paths: Vec<PathFact>,
    /// The command, for calls that run one through the shell.
    pub command: Option<CommandFacts>,
    /// The tool's own check of the call.
    pub check: OwnCheck,
    /// `true` if the call is itself a question to the user, so that only an answer lets it run.
    pub requires_user_interaction: bool,
    /// The current directory of the call, absolute.
    pub cwd: PathBuf,
    /// The digest of this exact call.
    pub digest: CallDigest,
}

impl CallFacts {
    /// Returns the kinds of the commands of a call whose text was analysed, for display.
    #[must_use]
    pub fn command_kinds(&self) -> Option<CommandKinds> {
        self.command.as_ref().map(|command| command.analysis.kinds())
    }

    /// Creates facts without paths, command or own check.
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

    /// Adds the tool's own check.
    #[must_use]
    pub fn with_check(mut self, check: OwnCheck) -> Self {
        self.check = check;
        self
    }

    /// Sets `requires_user_interaction`: `true` if the call is itself a question to the user.
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
    /// The tool has no opinion.
    #[default]
    Undecided,
    /// The host must be asked, for this reason.
    Ask(String),
    /// The call must not run, for this reason.
    Deny(String),
}

/// Entry at a path when a call is judged.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[non_exhaustive]
pub enum Standing {
    /// The driver did not look.
    #[default]
    Unknown,
    /// The path does not exist.
    Missing,
    /// A directory.
    Directory,
    /// A file, or anything else that is no directory.
    Leaf,
}

/// One path that a call touches.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct PathFact {
    /// The path as requested: absolute, `.` and `..` removed by text alone; of a command's path, `..` is still in it
    /// (see [`CommandPath`]).
    pub requested: PathBuf,
    /// Target of the request with every link followed; for a missing entry, the resolved parent and the rest.
    pub resolved: PathBuf,
    /// The targets of the links on the way, if there are any.
    pub via: Vec<PathBuf>,
    /// `true` if the path is written (created, changed or removed).
    pub write: bool,
    /// Entry at the target.
    pub end: Standing,
    /// Git directory that the target is or lies in, recognised by its contents and not by its name; only looked up if
    /// the call writes.
    pub git_directory: Option<PathBuf>,
}

impl PathFact {
    /// Creates a path without links on the way other than those that `resolved` shows.
    pub fn new(requested: impl Into<PathBuf>, resolved: impl Into<PathBuf>, write: bool) -> Self {
        Self {
            requested: requested.into(),
            resolved: resolved.into(),
            via: Vec::new(),
            write,
            end: Standing::Unknown,
            git_directory: None,
        }
    }

    /// Sets the entry at the target.
    #[must_use]
    pub fn with_end(mut self, end: Standing) -> Self {
        self.end = end;
        self
    }

    /// Adds the git directory that it is or lies in.
    #[must_use]
    pub fn with_git_directory(mut self, directory: Option<PathBuf>) -> Self {
        self.git_directory = directory;
        self
    }

    /// Adds the targets of the links on the way.
    #[must_use]
    pub fn with_via(mut self, via: Vec<PathBuf>) -> Self {
        self.via = via;
        self
    }

    /// Returns every path that this one goes through.
    pub(crate) fn all(&self) -> impl Iterator<Item = &Path> {
        [&self.requested, &self.resolved].into_iter().chain(&self.via).map(PathBuf::as_path)
    }
}

/// Paths that a file name pattern of a command matches.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct PatternFact {
    /// The directory it starts in, as in [`CommandPath::path`].
    pub path: PathBuf,
    /// The pattern, as in [`CommandPath::pattern`].
    pub pattern: String,
    /// Possible matches, with links followed.
    pub matches: Vec<PathFact>,
    /// `true` if the list is complete.
    pub is_whole: bool,
}

impl PatternFact {
    /// Creates the fact about a pattern.
    pub fn new(path: impl Into<PathBuf>, pattern: impl Into<String>, matches: Vec<PathFact>, is_whole: bool) -> Self {
        Self { path: path.into(), pattern: pattern.into(), matches, is_whole }
    }
}

/// Entries below a path of a command.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct TreeFact {
    /// The path, as in [`CommandPath::path`].
    pub path: PathBuf,
    /// Everything below the path, relative to it; links are not followed. Empty if the path is no directory.
    pub entries: Vec<PathBuf>,
    /// The links among these, and the path itself if it is one, each followed.
    pub links: Vec<PathFact>,
    /// The links that stand at [`CommandPath::copied_to`], where one of the entries would come to lie: a copy may write
    /// through them. Each followed, and written.
    pub overwritten: Vec<PathFact>,
    /// `true` if the lists are complete.
    pub is_whole: bool,
}

impl TreeFact {
    /// Creates the fact about a path.
    pub fn new(path: impl Into<PathBuf>, entries: Vec<PathBuf>, links: Vec<PathFact>, is_whole: bool) -> Self {
        Self { path: path.into(), entries, links, overwritten: Vec::new(), is_whole }
    }

    /// Adds the links that stand where entries come to lie.
    #[must_use]
    pub fn with_overwritten(mut self, links: Vec<PathFact>) -> Self {
        self.overwritten = links;
        self
    }
}

/// A command for the shell.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct CommandFacts {
    /// The exact text that will run.
    pub text: String,
    /// Analysis of the text.
    pub analysis: Analysis,
    /// Paths that [`command_paths`](crate::command_paths) named, with links followed. A path without a fact is treated
    /// as outside the workspace. More may be added (matches of a file name pattern): they are judged as well.
    pub paths: Vec<PathFact>,
    /// Matches of the file name patterns among the paths. A pattern without a fact may match anything.
    pub patterns: Vec<PatternFact>,
    /// Entries below the paths that are taken as whole trees. Without a fact, the tree may contain anything.
    pub trees: Vec<TreeFact>,
    /// The files that git tracks around the call's current directory, if the driver looked.
    pub tracked: Option<GitTracked>,
    /// `true` if the call does not wait for the command.
    pub background: bool,
    /// `true` if git is inert in the call's current directory: the driver read the configuration and attributes of the
    /// repository, and none of them can make a reading git command run a program. While this is `false`, git commands
    /// ask.
    pub git_is_inert: bool,
    /// `true` if version control finds the repository around the workspace, or none, in each of
    /// [`version_control_places`](crate::version_control_places): no directory between such a place and a directory of
    /// the workspace is a repository of its own. A rule for a version control program covers nothing in other
    /// repositories, since their configuration may be anyone's and can run programs. While this is `false`, these
    /// commands ask.
    pub in_own_repository: bool,
}

impl CommandFacts {
    /// Creates the facts about a foreground command; `git_is_inert` and `in_own_repository` are `false`.
    pub fn new(analysis: Analysis, paths: Vec<PathFact>) -> Self {
        Self {
            text: analysis.text().to_owned(),
            analysis,
            paths,
            patterns: Vec::new(),
            trees: Vec::new(),
            tracked: None,
            background: false,
            git_is_inert: false,
            in_own_repository: false,
        }
    }

    /// Sets `background`: `true` if the call does not wait for the command.
    #[must_use]
    pub fn with_background(mut self, background: bool) -> Self {
        self.background = background;
        self
    }

    /// Adds the matches of file name patterns.
    #[must_use]
    pub fn with_patterns(mut self, patterns: Vec<PatternFact>) -> Self {
        self.patterns = patterns;
        self
    }

    /// Adds the entries below paths.
    #[must_use]
    pub fn with_trees(mut self, trees: Vec<TreeFact>) -> Self {
        self.trees = trees;
        self
    }

    /// Adds the files that git tracks.
    #[must_use]
    pub fn with_tracked(mut self, tracked: Option<GitTracked>) -> Self {
        self.tracked = tracked;
        self
    }

    /// Sets `git_is_inert`: `true` if git is inert in the call's current directory.
    #[must_use]
    pub fn with_inert_git(mut self, inert: bool) -> Self {
        self.git_is_inert = inert;
        self
    }

    /// Sets `in_own_repository`: `true` if version control finds no other repository than that of the workspace.
    #[must_use]
    pub fn with_own_repository(mut self, own: bool) -> Self {
        self.in_own_repository = own;
        self
    }
}

/// A path named by a command, whose links have to be followed before it can be judged.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub struct CommandPath {
    /// Absolute, with `..` as the command names it: to be followed component by component, as the system does. Of a
    /// file name pattern, the directory it starts in.
    pub path: PathBuf,
    /// `true` if the command writes the path.
    pub write: bool,
    /// The file name pattern from there on, of which a [`PatternFact`] is needed.
    pub pattern: Option<ShellPattern>,
    /// `true` if a [`TreeFact`] is needed: the command follows the links below the path, or copies it elsewhere with
    /// them. For a file name pattern, one fact for each of its matches, as in [`PatternFact::matches`].
    pub tree: bool,
    /// `true` if a [`TreeFact`] is of use that need not be whole: the command prints the files below the path.
    pub searched: bool,
    /// Targets to which the command copies the tree.
    pub(crate) targets: Vec<CopyTarget>,
}

/// Target of a copied tree.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(crate) struct CopyTarget {
    /// As written.
    pub(crate) directory: Arc<Path>,
    /// `true` if the tree keeps its name below a target that is a directory.
    pub(crate) keeps_name: bool,
}

impl CommandPath {
    /// Returns the paths to which the command copies the entries below a path, as written; empty if they are not
    /// copied. `written` is the path, or one that its pattern matches.
    #[must_use]
    pub fn copied_to(&self, written: &Path) -> Vec<PathBuf> {
        let places = |target: &CopyTarget| {
            let inside = written.file_name().filter(|_| target.keeps_name).map(|name| target.directory.join(name));
            std::iter::once(target.directory.to_path_buf()).chain(inside)
        };
        self.targets.iter().flat_map(places).collect()
    }
}
