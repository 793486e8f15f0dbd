//! Custom slash commands: Markdown files that hold prompts.

use crate::error::{Note, Origin};
use crate::expand::{PLUGIN_ROOT, Piece, pieces, split_arguments};
use crate::front_matter;
use crate::load::{SettingsRequest, read_trust};
use crate::markdown::{MarkdownFile, Notes, Walk, of_project, of_user, one_line};
use crate::places::Places;
use crate::plugin::Plugins;
use crate::sources::Layer;
use crate::trust::{TrustKind, content_of};
use std::fmt;
use std::path::{Path, PathBuf};
use thiserror::Error;

/// The name of their folders.
const FOLDER: &str = "commands";
/// Most bytes of a prompt.
const MOST_PROMPT: usize = 4 * 1024 * 1024;
/// Most commands, and characters of a description.
const MOST_COMMANDS: usize = 512;
const MOST_DESCRIPTION: usize = 1_536;

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

/// A custom slash command.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Command {
    /// Its name without the slash: the file's name, after the names of the folders that it is in
    /// (`frontend:component` for `commands/frontend/component.md`).
    pub name: String,
    /// What it does, in a line: from its head, or the first line of its text.
    pub description: String,
    /// What may follow the name, such as `[file]`; empty if the head does not say.
    pub argument_hint: String,
    /// Who wrote it.
    pub source: CommandSource,
    /// Rules of calls that need no question while it runs. Empty for a project that nobody trusts.
    pub allowed_tools: Vec<String>,
    /// The model that it wants, if its head says.
    pub model: Option<String>,
    /// Its file.
    pub path: PathBuf,
    body: String,
    /// The directory of its plugin, if it has one.
    plugin_root: Option<String>,
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
            *rule = rule.replace(PLUGIN_ROOT, &root);
        }
        self.plugin_root = Some(root);
        self
    }

    /// The prompt for arguments, in one pass, so that nothing in an argument is replaced again:
    ///
    /// - `$ARGUMENTS` is all of them as they were given; `$ARGUMENTS[N]` is one, counted from 0.
    /// - `$1` to `$9` are single ones, counted from 1; in a text that has a `$0`, from 0. What was not given is empty.
    ///   Blanks separate arguments, quotes hold one together.
    /// - A backslash before any of these keeps it as it is.
    /// - If the text has none of these, the arguments follow it as `ARGUMENTS: …`.
    /// - In a command of a plugin `${CLAUDE_PLUGIN_ROOT}` is the plugin's directory.
    ///
    /// Nothing is executed and no file read: `` !`command` `` and `@file` stay as they are.
    ///
    /// # Errors
    /// The prompt would be longer than 4 MiB.
    pub fn expand(&self, arguments: &str) -> Result<String, PromptTooLong> {
        let arguments = arguments.trim();
        let single = split_arguments(arguments);
        let first = usize::from(!pieces(&self.body).any(|piece| piece == Piece::Number(0)));
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
                Piece::PluginRoot => self.plugin_root.as_deref().unwrap_or(PLUGIN_ROOT),
            };
            replaced |= !matches!(piece, Piece::Text(_) | Piece::PluginRoot);
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

/// The custom commands of a session.
#[derive(Debug, Clone, Default)]
#[non_exhaustive]
pub struct Commands {
    /// One of each name, sorted by name.
    pub commands: Vec<Command>,
    /// Files that are left out, and why.
    pub notes: Vec<Note>,
}

impl Commands {
    /// The command of this name.
    #[must_use]
    pub fn get(&self, name: &str) -> Option<&Command> {
        self.commands.iter().find(|command| command.name == name)
    }

    /// Adds the commands of plugins. The user's own of the same name counts for more; one of the project counts for
    /// less, since nobody had to trust the project for it.
    #[must_use]
    pub fn with_plugins(mut self, plugins: &Plugins) -> Self {
        for command in plugins.commands() {
            let same = self.commands.iter().position(|other| other.name == command.name);
            let loser = match same.and_then(|at| self.commands.get_mut(at)) {
                Some(own) if own.source == CommandSource::User => command.clone(),
                Some(other) => std::mem::replace(other, command.clone()),
                None => {
                    self.commands.push(command.clone());
                    continue;
                }
            };
            let text = format!("/{} is that of {}, which counts for more", loser.name, other_path(&self, &loser));
            self.notes.push(Note::new(&Origin::File(loser.path), text));
        }
        self.commands.sort_by(|a, b| a.name.cmp(&b.name));
        self
    }
}

/// Where the command that counts instead of another one is.
fn other_path(commands: &Commands, loser: &Command) -> String {
    commands.get(&loser.name).map(|winner| winner.path.display().to_string()).unwrap_or_default()
}

/// Reads the commands of the user and the project, as far as these sources are read. Nothing is executed.
///
/// The user's own command wins over one of the project with its name, one nearer to the start over one further up,
/// `.windlass` over `.claude`. Links are not followed. A file that cannot be used is left out with a note; a command
/// forbids nothing, so nothing is lost.
#[must_use]
pub fn load_commands(places: &Places, request: &SettingsRequest) -> Commands {
    let (mut walk, mut notes, mut commands) = (Walk::new(true), Notes::default(), Commands::default());
    let sources = request.sources;
    for (layer, source) in [(Layer::User, CommandSource::User), (Layer::Project, CommandSource::Project)] {
        let folders = match source {
            CommandSource::Project => of_project(places, FOLDER),
            _ => of_user(places, FOLDER),
        };
        for folder in folders.iter().filter(|_| sources.contains(layer)) {
            for file in walk.files(folder, &mut notes) {
                commands.add(file, source, &mut notes);
            }
        }
    }
    let of_project = |command: &&mut Command| command.source == CommandSource::Project;
    let mut trust = None;
    for command in commands.commands.iter_mut().filter(of_project) {
        let Some(content) = command.allowance() else { continue };
        let trust = trust.get_or_insert_with(|| read_trust(places, &mut notes.0).for_this_run(request.trust));
        let directory = places.project.iter().rev().find(|directory| command.path.starts_with(directory));
        let named = sources.names(Layer::Project);
        let standing = directory.map(|directory| trust.standing(&places.project, directory, named)).unwrap_or_default();
        if !standing.covers(&command.path, TrustKind::Command, &command.name, &content) {
            command.allowed_tools.clear();
        }
    }
    commands.commands.sort_by(|a, b| a.name.cmp(&b.name));
    commands.notes = notes.0;
    commands
}

/// The commands in files of the project, also those whose allowances do not count.
pub(crate) fn command_files(places: &Places) -> Vec<Command> {
    let (mut walk, mut notes, mut commands) = (Walk::new(true), Notes::default(), Commands::default());
    for folder in of_project(places, FOLDER) {
        for file in walk.files(&folder, &mut notes) {
            commands.add(file, CommandSource::Project, &mut notes);
        }
    }
    commands.commands
}

impl Commands {
    fn add(&mut self, file: MarkdownFile, source: CommandSource, notes: &mut Notes) {
        let MarkdownFile { path, name } = file;
        if let Some(other) = self.get(&name) {
            notes.add(&path, format!("/{name} is that of {}", other.path.display()));
        } else if self.commands.len() >= MOST_COMMANDS {
            notes.add(&path, format!("there are more than {MOST_COMMANDS} commands"));
        } else if let Some(text) = notes.read(&path) {
            self.commands.push(Command::parse(name, source, path, &text));
        }
    }
}

#[cfg(test)]
mod tests;
