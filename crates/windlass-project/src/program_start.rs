//! The directory and the variables with which programs of a configuration start.
//!
//! In a trusted project, programs start in its directory. The files of an untrusted project belong to others: a program
//! that searches the directory (`node_modules/.bin`, `.npmrc`, a module beside it) would run their code. So the user's
//! programs start in a neutral directory, with a search path outside of the project. Programs that take their code from
//! the directory do not start.

mod line;
mod neutral;

pub use neutral::neutral_directory;

use crate::places::Places;
use crate::sources::Layer;
use line::Judge;
use std::ffi::OsString;
use std::fmt;
use std::path::{Path, PathBuf};
use windlass_tool::search_path::environment_outside;
use windlass_types::text::visible_line;

/// Maximum number of characters of a program in a message.
const MAX_SHOWN_CHARS: usize = 100;
/// Variables with the root of the project.
const PROJECT_VARIABLES: [&str; 2] = ["CLAUDE_PROJECT_DIR", "WINDLASS_PROJECT_DIR"];

/// The author of the configuration that names a program.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum ProgramAuthor {
    /// The administrator of the machine.
    Managed,
    /// The user, or the settings of the program that uses the library.
    User,
    /// A plugin, by its directory: to name a plugin is to trust it, wherever it lies.
    Plugin(PathBuf),
    /// The project: its programs run only as trust, or the user's approval, covers them.
    Project,
}

impl ProgramAuthor {
    /// Returns the author of a settings file.
    #[must_use]
    pub fn of_layer(layer: Layer) -> Self {
        match layer {
            Layer::Managed => Self::Managed,
            layer if layer.lies_in_project() => Self::Project,
            _ => Self::User,
        }
    }
}

/// A program as a configuration names it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum ProgramLine<'a> {
    /// A line that a shell reads.
    Shell(&'a str),
    /// A program and its arguments, without a shell.
    Words(&'a str, &'a [String]),
    /// A language server, by its name.
    LanguageServer(&'a str),
}

/// The reason why a program of a configuration does not start, for people.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct StartRefusal {
    /// The program, as it is written.
    pub program: String,
    /// The cause.
    pub cause: StartCause,
}

/// The cause of a [`StartRefusal`].
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum StartCause {
    /// A path that starts in the current directory.
    Relative,
    /// A program or script inside of the project.
    Inside,
    /// A runner of packages (`npx`), which prefers programs of the current directory.
    PackageRunner,
    /// `python -m` of an interpreter that is not named by an absolute path.
    Module,
    /// The line changes into the project.
    Directory,
    /// The line chooses its program at run time.
    Unreadable,
    /// A language server, which builds the project to read it.
    LanguageServer,
    /// There is no neutral directory.
    NoPlace(String),
}

impl fmt::Display for StartRefusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let program = visible_line(&self.program.chars().take(MAX_SHOWN_CHARS).collect::<String>());
        let cause = match &self.cause {
            StartCause::Relative => "names a file of the directory in which it starts",
            StartCause::Inside => "runs a file of the project",
            StartCause::PackageRunner => "prefers programs of the directory in which it starts",
            StartCause::Module => "prefers modules of the directory in which it starts",
            StartCause::Directory => "changes into the project",
            StartCause::Unreadable => "chooses its program while it runs",
            StartCause::LanguageServer => "builds the project to read it",
            StartCause::NoPlace(problem) => {
                return write!(f, "`{program}` needs a directory outside of the project: {problem} (`windlass trust`)");
            }
        };
        write!(f, "`{program}` {cause}, and this project is not trusted (`windlass trust`)")
    }
}

impl std::error::Error for StartRefusal {}

/// The directory and the variables with which a program starts.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct ProgramPlace {
    /// The directory.
    pub directory: PathBuf,
    /// `true` for the neutral directory: then search paths leave out the project.
    pub is_neutral: bool,
}

/// The rule by which programs of configurations start in a project.
///
/// ```
/// use windlass_project::{Places, ProgramAuthor, ProgramLine, ProgramStarts};
///
/// let untrusted = ProgramStarts::new(&Places::new("/work/project"), false);
/// let place = |line| untrusted.place(&ProgramAuthor::User, &ProgramLine::Shell(line), &[], || Ok("/neutral".into()));
/// assert_eq!(place("/usr/bin/notify done")?.directory.to_str(), Some("/neutral"));
/// let refusal = place("npx prettier --write .").unwrap_err();
/// assert!(refusal.to_string().starts_with("`npx prettier --write .` prefers programs of the directory"));
/// # Ok::<(), windlass_project::StartRefusal>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ProgramStarts {
    is_trusted: bool,
    start: PathBuf,
    root: PathBuf,
    home: Option<PathBuf>,
    /// The directories of the project and those that the session adds.
    workspace: Vec<PathBuf>,
}

impl ProgramStarts {
    /// Returns the rule for a project, which is trusted or not.
    #[must_use]
    pub fn new(places: &Places, is_trusted: bool) -> Self {
        let root = places.project.first().map_or_else(|| places.start().to_path_buf(), Clone::clone);
        Self {
            is_trusted,
            start: places.start().to_path_buf(),
            workspace: vec![root.clone()],
            root,
            home: places.user_home.clone(),
        }
    }

    /// Adds directories of the workspace: no program is taken from there either.
    #[must_use]
    pub fn with_directories<P: Into<PathBuf>>(mut self, directories: impl IntoIterator<Item = P>) -> Self {
        self.workspace.extend(directories.into_iter().map(Into::into));
        self
    }

    /// Returns `true` if programs of this author start in the directory of the project.
    #[must_use]
    pub fn are_in_project(&self, author: &ProgramAuthor) -> bool {
        self.is_trusted || *author == ProgramAuthor::Project
    }

    /// Returns the directories that programs are not taken from.
    #[must_use]
    pub fn workspace(&self) -> &[PathBuf] {
        &self.workspace
    }

    /// Returns the place where a program starts that has this environment. `neutral` makes the neutral directory, and
    /// is called only if the program starts there.
    ///
    /// # Errors
    /// The program would take code from a project that is not trusted, or there is no neutral directory.
    pub fn place(
        &self,
        author: &ProgramAuthor,
        line: &ProgramLine<'_>,
        env: &[(OsString, OsString)],
        neutral: impl FnOnce() -> Result<PathBuf, String>,
    ) -> Result<ProgramPlace, StartRefusal> {
        if self.are_in_project(author) {
            return Ok(ProgramPlace { directory: self.start.clone(), is_neutral: false });
        }
        let own: Option<&Path> = match author {
            ProgramAuthor::Plugin(root) => Some(root),
            _ => None,
        };
        let variables = self.variables(author).chain(env.iter().cloned()).collect::<Vec<_>>();
        let judge = Judge { workspace: &self.workspace, own, home: self.home.as_deref(), env: &variables };
        let refusal = match line {
            ProgramLine::Shell(line) => judge.line(line),
            ProgramLine::Words(program, args) => judge.words(program, args),
            ProgramLine::LanguageServer(name) => {
                Some(StartRefusal { program: (*name).to_owned(), cause: StartCause::LanguageServer })
            }
        };
        if let Some(refusal) = refusal {
            return Err(refusal);
        }
        let directory = neutral().map_err(|problem| {
            let program = match line {
                ProgramLine::Shell(text) | ProgramLine::Words(text, _) | ProgramLine::LanguageServer(text) => *text,
            };
            StartRefusal { program: program.to_owned(), cause: StartCause::NoPlace(problem) }
        })?;
        Ok(ProgramPlace { directory, is_neutral: true })
    }

    /// Returns the variables of a program that starts in a place: those given, with search paths outside of the project
    /// if the place is neutral, and the root of the project.
    #[must_use]
    pub fn environment(&self, place: &ProgramPlace, given: &[(OsString, OsString)]) -> Vec<(OsString, OsString)> {
        let mut env = if place.is_neutral { environment_outside(given, &self.workspace) } else { given.to_vec() };
        let project_variables = self.project_variables();
        env.retain(|(name, _)| {
            !project_variables.iter().any(|(known, _)| known == name) && (!place.is_neutral || name != "PWD")
        });
        env.extend(project_variables);
        if place.is_neutral {
            env.push(("PWD".into(), place.directory.clone().into()));
        }
        env
    }

    /// Returns the variables with the root of the project.
    #[must_use]
    pub fn project_variables(&self) -> [(OsString, OsString); 2] {
        PROJECT_VARIABLES.map(|name| (name.into(), self.root.clone().into()))
    }

    /// Returns the variables that a line can name in addition to those of its environment.
    fn variables(&self, author: &ProgramAuthor) -> impl Iterator<Item = (OsString, OsString)> + use<> {
        let plugin = match author {
            ProgramAuthor::Plugin(root) => Some(root.clone()),
            _ => None,
        };
        let of_plugin = plugin.into_iter().flat_map(|root| {
            ["CLAUDE_PLUGIN_ROOT", "WINDLASS_PLUGIN_ROOT"].map(|name| (OsString::from(name), root.clone().into()))
        });
        // A hook knows the directory of its call by this name.
        let current = (OsString::from("PWD"), OsString::from(self.start.clone()));
        self.project_variables().into_iter().chain([current]).chain(of_plugin)
    }
}

#[cfg(test)]
mod tests;
