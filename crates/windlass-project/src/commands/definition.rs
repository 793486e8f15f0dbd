//! One custom command or skill, as its file defines it.

use super::asks::{CommandScope, Fork};
use super::bundled::Bundled;
use crate::front_matter::{self, FrontMatter};
use crate::markdown::one_line;
use crate::spelling::misspelt_key;
use std::fmt;
use std::path::{Path, PathBuf};
use windlass_context::foreign_text;
use windlass_hook_runner::HookDefinition;
use windlass_types::near::is_same_but_for_case;

/// Maximum number of characters of a description.
pub(super) const MOST_DESCRIPTION: usize = 1_536;

/// Source of a command.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum CommandSource {
    /// The user.
    User,
    /// The project.
    Project,
    /// A plugin.
    Plugin,
    /// The administrator of this machine.
    Managed,
    /// The program that uses the library.
    Host,
    /// windlass itself.
    Bundled,
}

impl CommandSource {
    /// Returns `true` if someone other than the user wrote the command. Then imitations of the runtime in its text are
    /// marked.
    pub(super) fn is_of_others(self) -> bool {
        matches!(self, Self::Project | Self::Plugin)
    }

    /// Returns `true` if the command comes from the project.
    pub(super) fn is_of_project(self) -> bool {
        self == Self::Project
    }
}

impl fmt::Display for CommandSource {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::User => "user",
            Self::Project => "project",
            Self::Plugin => "plugin",
            Self::Managed => "managed",
            Self::Host => "host",
            Self::Bundled => "bundled",
        })
    }
}

/// A custom slash command, or a skill.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Command {
    /// Name without the slash: the file's name, after the names of the folders that it is in (`frontend:component` for
    /// `commands/frontend/component.md`).
    pub name: String,
    /// Description in one line: from the front matter, or the first line of the text.
    pub description: String,
    /// Hint for the arguments, such as `[file]`; empty if the front matter has none.
    pub argument_hint: String,
    /// Source of the command.
    pub source: CommandSource,
    /// Rules, hooks and model settings while the command runs.
    pub scope: CommandScope,
    /// Agent below the main one that runs the command, if there is one.
    pub fork: Option<Fork>,
    /// File of the command.
    pub path: PathBuf,
    /// Further properties of a skill; `None` for a plain command.
    pub skill: Option<SkillDetails>,
    /// `true` if the programs in the text may run. `false` for a project that is not trusted.
    pub(super) runs_programs: bool,
    /// Names of the arguments.
    argument_names: Vec<String>,
    body: String,
    /// Directory of the command's plugin, if it has one.
    plugin_root: Option<String>,
    /// Problem of the front matter that makes the command unusable.
    problem: Option<String>,
    /// Notices about the front matter.
    notices: Vec<String>,
}

/// Front matter keys that restrict. A misspelling of one makes the command unusable.
const RESTRICTING_KEYS: [&str; 3] = ["disallowed-tools", "disable-model-invocation", "user-invocable"];
/// Other front matter keys that have an effect.
const OTHER_KEYS: [&str; 12] = [
    "name",
    "description",
    "argument-hint",
    "arguments",
    "allowed-tools",
    "model",
    "effort",
    "hooks",
    "context",
    "agent",
    "when_to_use",
    "paths",
];

/// Properties of a skill beyond those of a command.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct SkillDetails {
    /// Folder of the skill, with the files that it refers to; absolute, links followed. `None`: it has none, or it is
    /// bundled with windlass, see [`Command::extracted`].
    pub directory: Option<PathBuf>,
    /// Occasions to use the skill, if the front matter has them apart from the description.
    pub when_to_use: String,
    /// `true` if the model may use the skill on its own. Default: `true`.
    pub for_models: bool,
    /// `true` if users may call the skill as a command. Default: `true`.
    pub for_users: bool,
    /// `true` if the skill is in the list that the model reads. Default: `true`.
    pub listed: bool,
    /// `true` if the list has the skill without its description. Default: `false`.
    pub name_only: bool,
    /// Patterns of files: the skill is listed once a matching file is used. Default: none, and the skill is listed from
    /// the beginning.
    pub paths: Vec<String>,
    pub(super) bundled: Option<&'static Bundled>,
}

impl Command {
    /// Returns a command from the text of its file.
    pub fn parse(name: impl Into<String>, source: CommandSource, path: impl Into<PathBuf>, text: &str) -> Self {
        Self::of(name.into(), source, path.into(), &front_matter::split(text))
    }

    /// Creates a command from the head and the body of its file.
    pub(super) fn of(name: String, source: CommandSource, path: PathBuf, (head, body): &(FrontMatter, &str)) -> Self {
        let first_line = || body.lines().map(|line| line.trim_start_matches(['#', ' '])).find(|line| !line.is_empty());
        let description = head.text("description").or_else(|| first_line().map(str::to_owned)).unwrap_or_default();
        let (scope, scope_problem) = match CommandScope::of(head) {
            Ok(scope) => (scope, None),
            Err(problem) => (CommandScope::default(), Some(problem)),
        };
        let (argument_names, names_problem) = match read_argument_names(head) {
            Ok(names) => (names, None),
            Err(problem) => (Vec::new(), Some(problem)),
        };
        let mut notices = head.notices().to_vec();
        if let Some(effort) = head.text("effort").filter(|_| scope.effort.is_none()) {
            notices.push(format!("`effort: {effort}` has no effect: there is no such effort"));
        }
        notices.extend(scope.without_effect());
        let marked = |text: &str| if source.is_of_others() { foreign_text(text) } else { text.to_owned() };
        let mut problems =
            [head.problem().map(str::to_owned), scope_problem, names_problem, misspelt(head)].into_iter().flatten();
        Self {
            name,
            description: marked(&one_line(&description, MOST_DESCRIPTION)),
            argument_hint: head
                .text("argument-hint")
                .map(|hint| marked(&one_line(&hint, MOST_DESCRIPTION)))
                .unwrap_or_default(),
            source,
            scope,
            fork: Fork::of(head),
            path,
            skill: None,
            runs_programs: true,
            argument_names,
            body: body.trim().to_owned(),
            plugin_root: None,
            problem: problems.next(),
            notices,
        }
    }

    /// Makes the command a skill with these details, or with the problem of reading them.
    pub(super) fn with_details(mut self, details: Result<SkillDetails, String>) -> Self {
        match details {
            Ok(mut details) => {
                if self.source.is_of_others() {
                    details.when_to_use = foreign_text(&details.when_to_use);
                }
                self.skill = Some(details);
            }
            Err(problem) => self.problem = self.problem.or(Some(problem)),
        }
        self
    }

    /// Returns the reason why the command must not be used: an unreadable head, or a restriction that cannot be
    /// applied.
    pub(crate) fn problem(&self) -> Option<String> {
        self.problem.clone().or_else(|| self.scope.problem())
    }

    /// Notices about the head and the hooks in it.
    pub(crate) fn notices(&self) -> impl Iterator<Item = &String> {
        self.notices.iter().chain(&self.scope.hooks.notes)
    }

    /// Returns the parts that trust has to cover, in one canonical text; `None` for nothing.
    pub(crate) fn allowance(&self) -> Option<String> {
        self.scope.content(&self.programs())
    }

    /// Returns the allowance in words for people.
    pub(crate) fn shown_allowance(&self) -> String {
        self.scope.shown(&self.programs())
    }

    /// Removes the parts that need trust in the project: the text and the restrictions stay.
    pub(super) fn narrow(&mut self) {
        self.scope.narrow();
        self.runs_programs = false;
    }

    /// Sets the root directory of the command's plugin, and replaces its placeholder in rules.
    pub(crate) fn of_plugin(mut self, root: &Path) -> Self {
        self.scope.place_plugin(root);
        self.plugin_root = Some(root.to_string_lossy().into_owned());
        self
    }

    /// Returns the hooks of the front matter that are in effect.
    #[must_use]
    pub fn hooks(&self) -> &[HookDefinition] {
        &self.scope.hooks.all
    }

    /// Returns the folder of a skill.
    #[must_use]
    pub fn directory(&self) -> Option<&Path> {
        self.skill.as_ref()?.directory.as_deref()
    }

    pub(super) fn body(&self) -> &str {
        &self.body
    }

    /// Returns the directory of its plugin, if it has one.
    #[must_use]
    pub fn plugin_root(&self) -> Option<&str> {
        self.plugin_root.as_deref()
    }

    pub(super) fn argument_names(&self) -> &[String] {
        &self.argument_names
    }

    /// Returns `true` if a setting can keep the command's programs from running.
    pub(super) fn obeys_switch(&self) -> bool {
        !matches!(self.source, CommandSource::Managed | CommandSource::Bundled)
    }
}

/// Returns the argument names, from a list or from words. Names that begin with a digit are dropped, because they would
/// hide a numbered placeholder.
fn read_argument_names(head: &FrontMatter) -> Result<Vec<String>, String> {
    let listed = head.list("arguments")?;
    let words = listed.iter().flat_map(|names| names.split_whitespace());
    let is_name = |name: &&str| name.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_') && *name != "ARGUMENTS";
    Ok(words.map(|name| name.trim_start_matches('$')).filter(is_name).map(str::to_owned).collect())
}

/// Returns the problem of an unknown key that looks like a misspelt restricting key.
fn misspelt(head: &FrontMatter) -> Option<String> {
    let is_known =
        |key: &&str| RESTRICTING_KEYS.iter().chain(&OTHER_KEYS).any(|known| is_same_but_for_case(known, key));
    head.keys().filter(|key| !is_known(key)).find_map(|key| misspelt_key(key, &RESTRICTING_KEYS))
}
