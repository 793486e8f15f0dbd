//! Custom slash commands: Markdown files that hold prompts.

use crate::error::{Note, Origin};
use crate::expand::{Piece, pieces, split_arguments};
use crate::file::{ReadError, read_text_itself};
use crate::front_matter;
use crate::places::{FOLDERS, Places};
use crate::sources::{Layer, SettingSources};
use std::fmt;
use std::path::{Path, PathBuf};
use thiserror::Error;

/// Most bytes of a command's file.
const MOST_BYTES: u64 = 256 * 1024;
/// Most bytes of a prompt.
const MOST_PROMPT: usize = 4 * 1024 * 1024;
/// Most commands, names in one folder, folders in each other, and bytes of a description.
const MOST_COMMANDS: usize = 512;
const MOST_NAMES: usize = 4_096;
const DEEPEST: usize = 8;
const MOST_DESCRIPTION: usize = 1_536;

/// Who wrote a command.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum CommandSource {
    /// The user.
    User,
    /// The project.
    Project,
}

impl fmt::Display for CommandSource {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::User => "user",
            Self::Project => "project",
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
}

impl Command {
    /// A command from the text of its file.
    pub fn parse(name: impl Into<String>, source: CommandSource, path: impl Into<PathBuf>, text: &str) -> Self {
        let (head, body) = front_matter::split(text);
        let first = || body.lines().map(|line| line.trim_start_matches(['#', ' '])).find(|line| !line.is_empty());
        let description = head.text("description").or_else(|| first().map(str::to_owned)).unwrap_or_default();
        Self {
            name: name.into(),
            description: one_line(&description),
            argument_hint: head.text("argument-hint").map(|hint| one_line(&hint)).unwrap_or_default(),
            source,
            allowed_tools: head.list("allowed-tools"),
            model: head.text("model").filter(|model| model != "inherit"),
            path: path.into(),
            body: body.trim().to_owned(),
        }
    }

    /// The prompt for arguments, in one pass, so that nothing in an argument is replaced again:
    ///
    /// - `$ARGUMENTS` is all of them as they were given; `$ARGUMENTS[N]` is one, counted from 0.
    /// - `$1` to `$9` are single ones, counted from 1; in a text that has a `$0`, from 0. What was not given is empty.
    ///   Blanks separate arguments, quotes hold one together.
    /// - A backslash before any of these keeps it as it is.
    /// - If the text has none of these, the arguments follow it as `ARGUMENTS: …`.
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
            };
            replaced |= !matches!(piece, Piece::Text(_));
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

/// A text for a list: one line, without control characters, not without end.
fn one_line(text: &str) -> String {
    text.chars().take(MOST_DESCRIPTION).map(|c| if c.is_control() { ' ' } else { c }).collect()
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
}

/// Reads the commands of the user and the project, as far as these sources are read. Nothing is executed.
///
/// The user's own command wins over one of the project with its name, one nearer to the start over one further up,
/// `.windlass` over `.claude`. Links are not followed. A file that cannot be used is left out with a note; a command
/// forbids nothing, so nothing is lost.
#[must_use]
pub fn load_commands(places: &Places, sources: SettingSources, trusted: bool) -> Commands {
    let mut found = Found::default();
    if sources.contains(Layer::User) {
        for directory in &places.user {
            found.folder(&directory.join("commands"), CommandSource::User, None);
        }
    }
    if sources.contains(Layer::Project) {
        let user: Vec<PathBuf> = places.user.clone();
        for directory in places.project.iter().rev() {
            for folder in FOLDERS.map(|name| directory.join(name)).into_iter().filter(|folder| !user.contains(folder)) {
                found.folder(&folder.join("commands"), CommandSource::Project, Some(directory));
            }
        }
    }
    let mut commands = found.commands;
    for command in commands.commands.iter_mut().filter(|command| command.source == CommandSource::Project) {
        if !trusted {
            command.allowed_tools.clear();
        }
    }
    commands.commands.sort_by(|a, b| a.name.cmp(&b.name));
    commands
}

#[derive(Default)]
struct Found {
    commands: Commands,
}

impl Found {
    fn note(&mut self, path: &Path, text: impl Into<String>) {
        // A folder full of what cannot be used is said once in a while, not a thousand times.
        if self.commands.notes.len() < 32 {
            self.commands.notes.push(Note::new(&Origin::File(path.to_path_buf()), text));
        }
    }

    /// Reads a folder of commands; one of a project must lie `within` it, whatever links there are.
    fn folder(&mut self, folder: &Path, source: CommandSource, within: Option<&Path>) {
        let Ok(resolved) = folder.canonicalize() else { return };
        if within.is_some_and(|within| !resolved.starts_with(within)) {
            self.note(folder, "the folder leads out of the project and is left out");
            return;
        }
        self.walk(&resolved, "", source, DEEPEST);
    }

    fn walk(&mut self, folder: &Path, prefix: &str, source: CommandSource, depth: usize) {
        let entries = match std::fs::read_dir(folder) {
            Ok(entries) => entries,
            Err(error) => return self.note(folder, format!("the folder cannot be read: {error}")),
        };
        let mut entries: Vec<_> = entries.take(MOST_NAMES).flatten().collect();
        entries.sort_by_key(std::fs::DirEntry::file_name);
        for entry in entries {
            let (path, name) = (entry.path(), entry.file_name());
            let Some(name) = name.to_str().filter(|name| !name.starts_with('.')) else { continue };
            let Ok(kind) = entry.file_type() else { continue };
            let command = name.strip_suffix(".md");
            let stem = command.unwrap_or(name);
            if kind.is_symlink() {
                self.note(&path, "links are not followed");
            } else if kind.is_dir() || command.is_some() {
                if !is_name(stem) {
                    self.note(&path, "a name has no blanks, control characters, slashes or colons");
                } else if kind.is_dir() && depth > 0 {
                    self.walk(&path, &format!("{prefix}{stem}:"), source, depth.saturating_sub(1));
                } else if kind.is_file() {
                    self.file(&path, format!("{prefix}{stem}"), source);
                }
            }
        }
    }

    fn file(&mut self, path: &Path, name: String, source: CommandSource) {
        if let Some(other) = self.commands.get(&name) {
            let text = format!("/{name} is that of {}", other.path.display());
            return self.note(path, text);
        }
        if self.commands.commands.len() >= MOST_COMMANDS {
            return self.note(path, format!("there are more than {MOST_COMMANDS} commands"));
        }
        match read_text_itself(path, MOST_BYTES) {
            Ok(Some(text)) if !text.trim().is_empty() => {
                self.commands.commands.push(Command::parse(name, source, path, &text));
            }
            Ok(_) => self.note(path, "the command is empty"),
            Err(ReadError::TooBig) => self.note(path, format!("the command is larger than {MOST_BYTES} bytes")),
            Err(ReadError::Io(error)) => self.note(path, format!("the command cannot be read: {error}")),
        }
    }
}

fn is_name(name: &str) -> bool {
    !name.is_empty()
        && name.len() <= 100
        && !name.contains(|c: char| c.is_whitespace() || c.is_control() || matches!(c, ':' | '/' | '\\'))
}

#[cfg(test)]
mod tests;
