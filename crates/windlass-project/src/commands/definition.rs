//! One custom command: the text of its file, and the prompt that it makes of arguments.

use crate::canonical::content_of;
use crate::expand::{PLUGIN_ROOT_PLACEHOLDER, Piece, SKILL_DIRECTORY, pieces, split_arguments};
use crate::front_matter;
use crate::markdown::one_line;
use std::fmt;
use std::path::{Path, PathBuf};
use thiserror::Error;

/// Most bytes of a prompt.
pub(super) const MOST_PROMPT: usize = 4 * 1024 * 1024;
/// Most characters of a description.
pub(super) const MOST_DESCRIPTION: usize = 1_536;

/// Who wrote a command.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum CommandSource {
    /// The user.
    User,
    /// The project.
    Project,
    /// A plugin.
    Plugin,
}

impl fmt::Display for CommandSource {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::User => "user",
            Self::Project => "project",
            Self::Plugin => "plugin",
        })
    }
}

/// The arguments would make a prompt that is too long.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[error("the prompt of /{name} would be longer than {MOST_PROMPT} bytes: give it shorter arguments")]
#[non_exhaustive]
pub struct PromptTooLong {
    /// The command.
    pub name: String,
}

/// A custom slash command, or a skill.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Command {
    /// Its name without the slash: the file's name, after the names of the folders that it is in
    /// (`frontend:component` for `commands/frontend/component.md`).
    pub name: String,
    /// What it does, in a line: from its head, or the first line of its text.
    pub description: String,
    /// What may follow the name, such as `[file]`; empty if the head has no hint.
    pub argument_hint: String,
    /// Who wrote it.
    pub source: CommandSource,
    /// Rules of calls that need no question while it runs. Empty for a project that is not trusted.
    pub allowed_tools: Vec<String>,
    /// The model that it wants, if its head names one.
    pub model: Option<String>,
    /// Its file.
    pub path: PathBuf,
    /// What it has beside that, if it is a skill.
    pub skill: Option<Skill>,
    body: String,
    /// The directory of its plugin, if it has one.
    plugin_root: Option<String>,
}

/// What a skill has beside what a command has.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Skill {
    /// Its folder, with the files that it speaks of; absolute, links followed.
    pub directory: PathBuf,
    /// When it is to be used, if the head of its file says that apart from what it does.
    pub when_to_use: String,
    /// Whether the model may use it by itself. Default: yes.
    pub for_models: bool,
    /// Whether users may call it as a command. Default: yes.
    pub for_users: bool,
}

impl Command {
    /// A command from the text of its file.
    pub fn parse(name: impl Into<String>, source: CommandSource, path: impl Into<PathBuf>, text: &str) -> Self {
        let (head, body) = front_matter::split(text);
        let first = || body.lines().map(|line| line.trim_start_matches(['#', ' '])).find(|line| !line.is_empty());
        let description = head.text("description").or_else(|| first().map(str::to_owned)).unwrap_or_default();
        Self {
            name: name.into(),
            description: one_line(&description, MOST_DESCRIPTION),
            argument_hint: head.text("argument-hint").map(|hint| one_line(&hint, MOST_DESCRIPTION)).unwrap_or_default(),
            source,
            allowed_tools: head.list("allowed-tools"),
            model: head.text("model").filter(|model| model != "inherit"),
            path: path.into(),
            skill: None,
            body: body.trim().to_owned(),
            plugin_root: None,
        }
    }

    /// What it allows while it runs, if anything, in one form.
    pub(crate) fn allowance(&self) -> Option<String> {
        (!self.allowed_tools.is_empty()).then(|| content_of(&self.allowed_tools))
    }

    /// Names the directory of its plugin.
    pub(crate) fn of_plugin(mut self, root: &Path) -> Self {
        let root = root.to_string_lossy().into_owned();
        for rule in &mut self.allowed_tools {
            *rule = rule.replace(PLUGIN_ROOT_PLACEHOLDER, &root);
        }
        self.plugin_root = Some(root);
        self
    }

    /// The prompt for arguments, in one pass, so that placeholders in an argument are not replaced:
    ///
    /// - `$ARGUMENTS` is all of them as they were given; `$ARGUMENTS[N]` is one, counted from 0.
    /// - `$1` to `$9` are single ones, counted from 1; in a text that has a `$0`, from 0. What was not given is empty.
    ///   Blanks separate arguments, quotes hold one together.
    /// - A backslash before any of these keeps it as it is.
    /// - If the text has none of these, the arguments follow it as `ARGUMENTS: …`.
    /// - In a command of a plugin `${CLAUDE_PLUGIN_ROOT}` is the plugin's directory, and in a skill `${CLAUDE_SKILL_DIR}` the
    ///   skill's.
    ///
    /// No program is run and no file read: `` !`command` `` and `@file` stay as they are.
    ///
    /// # Errors
    /// The prompt would be longer than 4 MiB.
    pub fn expand(&self, arguments: &str) -> Result<String, PromptTooLong> {
        let arguments = arguments.trim();
        let single = split_arguments(arguments);
        let first = usize::from(!pieces(&self.body).any(|piece| piece == Piece::Number(0)));
        let directory = self.skill.as_ref().map(|skill| skill.directory.to_string_lossy());
        let mut prompt = String::new();
        let mut replaced = false;
        for piece in pieces(&self.body) {
            let text = match piece {
                Piece::Text(text) => text,
                Piece::All => arguments,
                Piece::Index(at) => single.get(at).map_or("", String::as_str),
                Piece::Number(number) => {
                    number.checked_sub(first).and_then(|at| single.get(at)).map_or("", String::as_str)
                }
                Piece::PluginRoot => self.plugin_root.as_deref().unwrap_or(PLUGIN_ROOT_PLACEHOLDER),
                Piece::SkillDirectory => directory.as_deref().unwrap_or(SKILL_DIRECTORY),
            };
            replaced |= !matches!(piece, Piece::Text(_) | Piece::PluginRoot | Piece::SkillDirectory);
            prompt.push_str(text);
            if prompt.len() > MOST_PROMPT {
                return Err(PromptTooLong { name: self.name.clone() });
            }
        }
        if !replaced && !arguments.is_empty() {
            prompt.push_str("\n\nARGUMENTS: ");
            prompt.push_str(arguments);
        }
        if prompt.len() > MOST_PROMPT { Err(PromptTooLong { name: self.name.clone() }) } else { Ok(prompt) }
    }
}
