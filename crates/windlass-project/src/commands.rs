//! Custom slash commands (Markdown files with prompts) and skills (folders with such a file).

mod asks;
pub(crate) mod bundled;
pub(crate) mod definition;
mod given;
mod hooks;
mod prompt;
mod shell;
pub(crate) mod skills;
mod stamp;

pub use asks::{CommandScope, Fork};
pub use definition::{Command, CommandSource, SkillDetails};
pub use given::Skill;
pub use hooks::CommandHooks;
pub use prompt::{CommandError, CommandUse};
pub use stamp::CommandsStamp;

use crate::markdown::{Folder, MarkdownFile, Walk, is_name, of_project, of_user};
use crate::note::{Note, Notes, Origin};
use crate::places::Places;
use crate::plugin::Plugins;
use crate::records::read_trust;
use crate::request::SettingsRequest;
use crate::settings::{SkillOverride, SkillSettings};
use crate::sources::Layer;
use crate::trust::TrustKind;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// Name of the folders that contain commands.
const COMMANDS_FOLDER: &str = "commands";
/// Maximum number of commands.
const MAX_COMMANDS: usize = 512;

/// The custom commands and the skills of a session.
#[derive(Debug, Clone, Default)]
#[non_exhaustive]
pub struct Commands {
    /// Usable commands and skills, sorted by name. Names are unique.
    pub commands: Vec<Command>,
    /// Notes on files that are left out.
    pub notes: Vec<Note>,
    /// Problem of each unusable command, by name. A weaker command never replaces an unusable one.
    unusable: BTreeMap<String, String>,
}

impl Commands {
    /// Checks that the command or skill of this name is not unusable. An unknown name is no error.
    ///
    /// # Errors
    /// The command of this name cannot be used.
    pub fn check(&self, name: &str) -> Result<(), CommandError> {
        let unusable = |problem: &String| CommandError::Unusable { name: name.to_owned(), problem: problem.clone() };
        self.unusable.get(name).map_or(Ok(()), |problem| Err(unusable(problem)))
    }

    /// Returns the command or skill of this name, if users may call it.
    #[must_use]
    pub fn get(&self, name: &str) -> Option<&Command> {
        self.named(name).filter(|command| command.is_for_users())
    }

    /// Returns the commands that users may call.
    pub fn for_users(&self) -> impl Iterator<Item = &Command> {
        self.commands.iter().filter(|command| command.is_for_users())
    }

    /// Returns the skills that the model's list has from the beginning: those of [`for_models`](Self::for_models) that
    /// are listed and have no path patterns.
    pub fn listed(&self) -> impl Iterator<Item = &Command> {
        let is_listed =
            |command: &&Command| command.skill.as_ref().is_some_and(|skill| skill.listed && skill.paths.is_empty());
        self.for_models().filter(is_listed)
    }

    /// Returns the skills whose patterns match one of these absolute paths. Patterns are relative to each of the
    /// `anchors`.
    pub fn listed_for<'a>(&'a self, paths: &'a [PathBuf], anchors: &'a [PathBuf]) -> impl Iterator<Item = &'a Command> {
        let is_concerned =
            |command: &&Command| command.skill.as_ref().is_some_and(|skill| skill.concerns(paths, anchors));
        self.for_models().filter(is_concerned)
    }

    /// Returns the skills that the model may use.
    pub fn for_models(&self) -> impl Iterator<Item = &Command> {
        self.commands.iter().filter(|command| command.skill.as_ref().is_some_and(|skill| skill.for_models))
    }

    fn named(&self, name: &str) -> Option<&Command> {
        self.commands.iter().find(|command| command.name == name)
    }

    /// Restricts the model to these skills, and lists them all. A name may omit the plugin's prefix (`review` for
    /// `tools:review`). Users may still call the other skills.
    #[must_use]
    pub fn only_for_models(mut self, names: &[String]) -> Self {
        let is_named = |skill: &str| {
            let matches_without_plugin =
                |name: &String| skill.strip_suffix(name.as_str()).is_some_and(|rest| rest.ends_with(':'));
            names.iter().any(|name| name == skill || (!name.is_empty() && matches_without_plugin(name)))
        };
        for command in &mut self.commands {
            let named = is_named(&command.name);
            if let Some(skill) = &mut command.skill {
                skill.for_models &= named;
                skill.listed |= named;
            }
        }
        self
    }

    /// Adds the skills of a program. They take precedence over files, except those of the administrator. A skill whose
    /// name cannot be typed, or whose rules cannot be read, is left out with a note.
    #[must_use]
    pub fn with_given(mut self, skills: &[Skill]) -> Self {
        let mut notes = Notes::default();
        for skill in skills {
            let command = skill.command();
            let is_managed = self.named(&command.name).is_some_and(|known| known.source == CommandSource::Managed);
            if !is_name(&command.name) {
                notes.add(&command.path, format!("no skill can be called {:?}", command.name));
            } else if is_managed {
                notes.add(&command.path, format!("/{} is that of the administrator", command.name));
            } else {
                self.commands.retain(|other| other.name != command.name);
                self.unusable.remove(&command.name);
                self.push(command, &mut notes);
            }
        }
        self.commands.sort_by(|a, b| a.name.cmp(&b.name));
        self.notes.append(&mut notes.0);
        self
    }

    /// Adds the skills that are bundled with windlass, unless settings exclude them. Any other command of the same name
    /// takes precedence.
    #[must_use]
    pub fn with_bundled(mut self, settings: &SkillSettings) -> Self {
        if !settings.without_bundled {
            for command in bundled::all() {
                if self.named(&command.name).is_none() && !self.unusable.contains_key(&command.name) {
                    self.commands.push(command);
                }
            }
            self.commands.sort_by(|a, b| a.name.cmp(&b.name));
        }
        self
    }

    /// Removes the allow rules of all commands except the administrator's, for sessions in which only managed settings
    /// may allow.
    #[must_use]
    pub fn without_allow_rules(mut self) -> Self {
        for command in self.commands.iter_mut().filter(|command| command.source != CommandSource::Managed) {
            command.scope.allowed_tools.clear();
        }
        self
    }

    /// Applies the settings' overrides to the skills.
    #[must_use]
    pub fn overridden(mut self, settings: &SkillSettings) -> Self {
        let override_of =
            |command: &Command| command.skill.is_some().then(|| settings.overrides.get(&command.name)).flatten();
        self.commands.retain(|command| override_of(command) != Some(&SkillOverride::Off));
        for command in &mut self.commands {
            let skill_override = override_of(command).copied();
            if let (Some(skill), Some(skill_override)) = (&mut command.skill, skill_override) {
                skill.for_models &= skill_override != SkillOverride::UserInvocableOnly;
                skill.listed = true;
                skill.name_only = skill_override == SkillOverride::NameOnly;
            }
        }
        self
    }

    /// Adds the commands of plugins. Commands of the administrator and the user take precedence over them. Those of a
    /// project do not, because plugins need no trust in the project.
    #[must_use]
    pub fn with_plugins(mut self, plugins: &Plugins) -> Self {
        for command in plugins.all_commands() {
            if let Some(problem) = command.problem() {
                self.unusable.insert(command.name.clone(), problem);
                continue;
            }
            let position = self.commands.iter().position(|other| other.name == command.name);
            let loser = match position.and_then(|index| self.commands.get_mut(index)) {
                Some(stronger) if stronger.source != CommandSource::Project => command.clone(),
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

/// Returns the path of the command that replaces another one.
fn other_path(commands: &Commands, loser: &Command) -> String {
    commands.named(&loser.name).map(|winner| winner.path.display().to_string()).unwrap_or_default()
}

/// Reads the commands and skills of the administrator, and those of the user and the project if `request` includes
/// these sources. No program is run.
///
/// Of commands with the same name, the administrator's wins over all others, the user's over one of the project, one
/// nearer to the start over one further up, `.windlass` over `.claude` and `.agents`, and a skill over a command. Links
/// are not followed, except the user's links to skill folders. An unusable file is left out with a note, and no weaker
/// command takes its name; see [`Commands::check`].
#[must_use]
pub fn load_commands(places: &Places, request: &SettingsRequest) -> Commands {
    let mut notes = Notes::default();
    let found = find(places, request, &mut notes);
    read_found(found, places, request, notes)
}

/// Loads the commands like [`load_commands`], and returns the stamp taken before the files were read. A change during
/// the read alters the next stamp.
#[must_use]
pub fn load_stamped_commands(places: &Places, request: &SettingsRequest) -> (CommandsStamp, Commands) {
    let mut notes = Notes::default();
    let found = find(places, request, &mut notes);
    let stamp = CommandsStamp::of_found(&found, places);
    (stamp, read_found(found, places, request, notes))
}

/// A file of a command or a skill, and its source.
enum FoundFile {
    Skill(CommandSource, skills::Found),
    Command(CommandSource, MarkdownFile),
}

/// Returns the readable files of commands and skills, in the order of precedence.
fn find(places: &Places, request: &SettingsRequest, notes: &mut Notes) -> Vec<FoundFile> {
    let (mut walk, mut found_files) = (Walk::new(true), Vec::new());
    for (layer, source) in [
        (Layer::Managed, CommandSource::Managed),
        (Layer::User, CommandSource::User),
        (Layer::Project, CommandSource::Project),
    ] {
        if request.sources.contains(layer) || layer == Layer::Managed {
            found_files.extend(skills::find(places, source).into_iter().map(|found| FoundFile::Skill(source, found)));
            for folder in &folders(places, source) {
                found_files.extend(walk.files(folder, notes).into_iter().map(|file| FoundFile::Command(source, file)));
            }
        }
    }
    found_files
}

fn read_found(found: Vec<FoundFile>, places: &Places, request: &SettingsRequest, mut notes: Notes) -> Commands {
    let (sources, mut commands) = (request.sources, Commands::default());
    for file in found {
        match file {
            FoundFile::Skill(source, found) => commands.add_skill(&found, source, &mut notes),
            FoundFile::Command(source, file) => commands.add(file, source, &mut notes),
        }
    }
    let is_project_command = |command: &&mut Command| command.source == CommandSource::Project;
    let mut trust = None;
    for command in commands.commands.iter_mut().filter(is_project_command) {
        let Some(content) = command.allowance() else { continue };
        let trust = trust.get_or_insert_with(|| read_trust(places, &mut notes.0).for_this_run(request.trust));
        let directory = places.project.iter().rev().find(|directory| command.path.starts_with(directory));
        let is_included = sources.names(Layer::Project);
        let standing =
            directory.map(|directory| trust.standing(&places.project, directory, is_included)).unwrap_or_default();
        if !standing.covers(&command.path, TrustKind::Command, &command.name, &content) {
            command.narrow();
        }
    }
    commands.commands.sort_by(|a, b| a.name.cmp(&b.name));
    commands.notes = notes.0;
    commands
}

/// Returns the folders of commands, the strongest first.
fn folders(places: &Places, source: CommandSource) -> Vec<Folder> {
    match source {
        CommandSource::Project => of_project(places, COMMANDS_FOLDER),
        CommandSource::Managed => {
            skills::managed(places, COMMANDS_FOLDER).into_iter().map(|path| Folder { path, within: None }).collect()
        }
        _ => of_user(places, COMMANDS_FOLDER),
    }
}

/// Returns the commands in files of the project, also those whose allowances are ignored.
pub(crate) fn command_files(places: &Places) -> Vec<Command> {
    let (mut walk, mut notes, mut commands) = (Walk::new(true), Notes::default(), Commands::default());
    for found in skills::find(places, CommandSource::Project) {
        commands.add_skill(&found, CommandSource::Project, &mut notes);
    }
    for folder in of_project(places, COMMANDS_FOLDER) {
        for file in walk.files(&folder, &mut notes) {
            commands.add(file, CommandSource::Project, &mut notes);
        }
    }
    commands.commands
}

impl Commands {
    fn add(&mut self, file: MarkdownFile, source: CommandSource, notes: &mut Notes) {
        let MarkdownFile { path, name } = file;
        if self.has_room(&name, &path, notes)
            && let Some(text) = notes.read(&path)
        {
            self.push(Command::parse(name, source, path, &text), notes);
        }
    }

    fn add_skill(&mut self, found: &skills::Found, source: CommandSource, notes: &mut Notes) {
        let path = found.directory.join(bundled::SKILL_FILE);
        // Both paths are canonical. Comparing them as strings is faster than by component.
        let is_same_directory =
            |command: &Command| command.directory().map(Path::as_os_str) == Some(found.directory.as_os_str());
        if !self.commands.iter().any(is_same_directory)
            && self.has_room(&found.name, &path, notes)
            && let Some(text) = notes.read(&path)
        {
            self.push(Command::skill(found, source, &text), notes);
        }
    }

    /// Adds a command, unless one of its restrictions is unusable: without the restriction it might do too much.
    fn push(&mut self, command: Command, notes: &mut Notes) {
        match command.problem() {
            Some(problem) => {
                notes.add(&command.path, format!("/{} cannot be used: {problem}", command.name));
                self.unusable.insert(command.name, problem);
            }
            None => {
                command.notices().for_each(|note| notes.add(&command.path, note.clone()));
                self.commands.push(command);
            }
        }
    }

    /// Returns `true` if a command of this name can be added. Otherwise adds a note with the reason.
    fn has_room(&self, name: &str, path: &Path, notes: &mut Notes) -> bool {
        if let Some(other) = self.named(name) {
            notes.add(path, format!("/{name} is that of {}", other.path.display()));
        } else if self.unusable.contains_key(name) {
            notes.add(path, format!("/{name} is that of another file, which cannot be used"));
        } else if self.commands.len() >= MAX_COMMANDS {
            notes.add(path, format!("there are more than {MAX_COMMANDS} commands and skills"));
        } else {
            return true;
        }
        false
    }
}

#[cfg(test)]
mod tests;
