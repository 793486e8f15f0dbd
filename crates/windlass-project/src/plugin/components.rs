//! Components of a plugin.

use super::error::{PluginError, PluginErrorKind};
use super::manifest::{Manifest, Named, inside, read_inside};
use super::unsupported::UNSUPPORTED;
use crate::agents::Agents;
use crate::commands::bundled::SKILL_FILE;
use crate::commands::definition::{Command, CommandSource};
use crate::commands::skills::{Found, in_folder};
use crate::expand::PLUGIN_ROOT_PLACEHOLDER;
use crate::markdown::{Folder, MarkdownFile, Walk, is_name};
use crate::note::Notes;
use crate::servers::definition::{ServerDefinition, ServerScope};
use crate::servers::entries::entries;
use std::collections::BTreeMap;
use std::path::Path;
use windlass_types::JsonText;

/// Maximum number of commands and skills of a plugin, and maximum number of its agents.
const MAX_COMPONENTS: usize = 512;
/// Maximum number of MCP servers of a plugin.
const MAX_SERVERS: usize = 64;
/// Maximum size of the texts of all commands, skills and agents of a plugin, in bytes.
const MAX_TEXT_BYTES: usize = 16 * 1024 * 1024;
/// Maximum number of errors of a plugin.
const MAX_ERRORS: usize = 64;

/// Finds the components of a plugin.
pub(super) struct Components<'a> {
    pub(super) root: &'a Path,
    pub(super) manifest: &'a Manifest,
    errors: Vec<PluginError>,
    /// Number of bytes of text that may still be read.
    remaining_bytes: usize,
}

impl<'a> Components<'a> {
    pub(super) fn new(root: &'a Path, manifest: &'a Manifest) -> Self {
        Self { root, manifest, errors: Vec::new(), remaining_bytes: MAX_TEXT_BYTES }
    }

    pub(super) fn finish(self) -> Vec<PluginError> {
        self.errors
    }

    pub(super) fn error(&mut self, kind: PluginErrorKind, message: impl Into<String>) {
        if self.errors.len() < MAX_ERRORS {
            let (plugin, message) = (self.manifest.name.clone(), message.into());
            self.errors.push(PluginError { plugin, kind, message, path: None });
        }
    }

    /// Returns the slash commands.
    pub(super) fn commands(&mut self) -> Vec<Command> {
        let mut commands: Vec<Command> = Vec::new();
        for (file, text) in self.texts("commands") {
            let name = format!("{}:{}", self.manifest.name, file.name);
            if let Some(other) = commands.iter().find(|other| other.name == name) {
                let message = format!("{}: /{name} is that of {}", file.path.display(), other.path.display());
                self.error(PluginErrorKind::Component, message);
            } else {
                commands.push(Command::parse(name, CommandSource::Plugin, file.path, &text).of_plugin(self.root));
            }
        }
        self.skills(&mut commands);
        for command in &commands {
            for problem in command.problem().iter().chain(command.notices()) {
                self.error(PluginErrorKind::Component, format!("{}: {problem}", command.path.display()));
            }
        }
        commands.sort_by(|a, b| a.name.cmp(&b.name));
        commands
    }

    /// Adds the skills: those of the folder `skills`, or of the folders that the manifest names. A `SKILL.md` in the
    /// root of the plugin is a skill, too.
    fn skills(&mut self, commands: &mut Vec<Command>) {
        let mut notes = Notes::default();
        for found in self.skill_folders() {
            let name = format!("{}:{}", self.manifest.name, found.name);
            let path = found.directory.join(SKILL_FILE);
            if commands.iter().any(|other| other.skill.is_some() && other.name == name) {
                notes.add(&path, format!("there is another skill {name}"));
            } else if commands.len() >= MAX_COMPONENTS {
                notes.add(&path, format!("a plugin has at most {MAX_COMPONENTS} commands and skills"));
            } else if let Some(text) = notes.read(&path)
                && let Some(left) = self.remaining_bytes.checked_sub(text.len())
            {
                self.remaining_bytes = left;
                // A skill takes precedence over a command of its name.
                commands.retain(|other| other.name != name);
                let skill = Command::skill(&Found { name, ..found }, CommandSource::Plugin, &text);
                commands.push(skill.of_plugin(self.root));
            }
        }
        for note in notes.0 {
            self.error(PluginErrorKind::Component, note.to_string());
        }
    }

    fn skill_folders(&mut self) -> Vec<Found> {
        let paths = match self.manifest.paths("skills") {
            None => vec!["skills".to_owned()],
            Some(Ok(paths)) => paths,
            Some(Err(problem)) => {
                self.error(PluginErrorKind::Component, problem);
                Vec::new()
            }
        };
        let root_is_skill = self.root.join(SKILL_FILE).is_file();
        let name = self.manifest.name.clone();
        let mut found: Vec<Found> =
            root_is_skill.then(|| Found { name, directory: self.root.to_path_buf(), file: None }).into_iter().collect();
        for path in paths {
            match inside(self.root, &path) {
                // A path may be the folder of one skill.
                Ok(Some(folder)) if folder.join(SKILL_FILE).is_file() => {
                    let name = folder.file_name().and_then(|name| name.to_str()).filter(|name| is_name(name));
                    let name = name.map(str::to_owned);
                    found.extend(name.map(|name| Found { name, directory: folder, file: None }));
                }
                Ok(Some(folder)) => found.extend(in_folder(&folder, Some(self.root))),
                Ok(None) if path == "skills" => {}
                Ok(None) => self.error(PluginErrorKind::Component, format!("`skills`: {path:?}: it is not there")),
                Err(problem) => self.error(PluginErrorKind::Component, format!("`skills`: {path:?}: {problem}")),
            }
        }
        found
    }

    /// Returns the agents.
    pub(super) fn agents(&mut self) -> Agents {
        let mut agents = Agents::default();
        for (file, text) in self.texts("agents") {
            let text = text.replace(PLUGIN_ROOT_PLACEHOLDER, &self.root.to_string_lossy());
            for problem in agents.add_of_plugin(&self.manifest.name, &file.name, &text, &file.path) {
                self.error(PluginErrorKind::Component, format!("{}: {problem}", file.path.display()));
            }
        }
        agents
    }

    /// Returns the Markdown files of a kind of component, in the folder of that name or where the manifest names them.
    fn texts(&mut self, kind: &str) -> Vec<(MarkdownFile, String)> {
        let paths = match self.manifest.paths(kind) {
            None => self.root.join(kind).symlink_metadata().map(|_| kind.to_owned()).into_iter().collect(),
            Some(Ok(paths)) => paths,
            Some(Err(problem)) => {
                self.error(PluginErrorKind::Component, problem);
                Vec::new()
            }
        };
        let (mut walk, mut notes, mut files) = (Walk::new(true), Notes::default(), Vec::new());
        for path in paths {
            if let Err(problem) = self.files(&path, &mut walk, &mut notes, &mut files) {
                self.error(PluginErrorKind::Component, format!("`{kind}`: {path:?}: {problem}"));
            }
        }
        let mut texts = Vec::new();
        for file in files {
            if texts.len() >= MAX_COMPONENTS {
                notes.add(&file.path, format!("a plugin has at most {MAX_COMPONENTS} {kind}"));
            } else if let Some(text) = notes.read(&file.path) {
                match self.remaining_bytes.checked_sub(text.len()) {
                    Some(left) => {
                        self.remaining_bytes = left;
                        texts.push((file, text));
                    }
                    None => notes.add(&file.path, format!("the plugin has more than {MAX_TEXT_BYTES} bytes of text")),
                }
            }
        }
        for note in notes.0 {
            self.error(PluginErrorKind::Component, note.to_string());
        }
        texts
    }

    /// Returns the Markdown files of a path: the file itself, or those of a folder.
    fn files(
        &self,
        written: &str,
        walk: &mut Walk,
        notes: &mut Notes,
        files: &mut Vec<MarkdownFile>,
    ) -> Result<(), String> {
        let path = inside(self.root, written)?.ok_or("it is not there")?;
        if path.is_dir() {
            files.extend(walk.files(&Folder { path, within: Some(self.root.to_path_buf()) }, notes));
            return Ok(());
        }
        let stem = path.file_name().and_then(|name| name.to_str()).and_then(|name| name.strip_suffix(".md"));
        let name = stem.filter(|name| is_name(name)).ok_or("it is neither a folder nor a Markdown file with a name")?;
        files.push(MarkdownFile { name: name.to_owned(), path });
        Ok(())
    }

    /// Returns the MCP servers: those of `.mcp.json`, and those of the manifest, which take precedence.
    pub(super) fn servers(&mut self) -> Vec<ServerDefinition> {
        let mut servers = BTreeMap::new();
        self.add_server_file(".mcp.json", false, &mut servers);
        match self.manifest.named("mcpServers") {
            None => {}
            Some(Named::One(path)) => self.add_server_file(&path, true, &mut servers),
            Some(Named::Many(parts)) => {
                for part in parts {
                    match part.to::<String>() {
                        Ok(path) => self.add_server_file(&path, true, &mut servers),
                        Err(_) => self.inline_servers(&part, &mut servers),
                    }
                }
            }
            Some(Named::Other(inline)) => self.inline_servers(&inline, &mut servers),
        }
        servers.into_values().collect()
    }

    fn add_server_file(&mut self, written: &str, is_required: bool, servers: &mut BTreeMap<String, ServerDefinition>) {
        let read = read_inside(self.root, written).and_then(|text| match text {
            Some(text) => entries(&text).map_err(|problem| format!("{written}: {problem}")),
            None if is_required => Err(format!("{written}: it is not there")),
            None => Ok(BTreeMap::new()),
        });
        match read {
            Ok(found) => self.add_servers(written, found, servers),
            Err(problem) => self.error(PluginErrorKind::Component, format!("MCP servers: {problem}")),
        }
    }

    fn inline_servers(&mut self, inline: &JsonText, servers: &mut BTreeMap<String, ServerDefinition>) {
        match entries(inline.as_str()) {
            Ok(found) => self.add_servers(".claude-plugin/plugin.json", found, servers),
            Err(problem) => self.error(PluginErrorKind::Component, format!("`mcpServers`: {problem}")),
        }
    }

    fn add_servers(
        &mut self,
        file: &str,
        found: BTreeMap<String, JsonText>,
        servers: &mut BTreeMap<String, ServerDefinition>,
    ) {
        for (name, config) in found {
            let full_name = format!("plugin:{}:{name}", self.manifest.name);
            if !servers.contains_key(&full_name) && servers.len() >= MAX_SERVERS {
                let message = format!("MCP servers: a plugin has at most {MAX_SERVERS}; {file} has more");
                return self.error(PluginErrorKind::Component, message);
            }
            let server = ServerDefinition::new(&full_name, ServerScope::Plugin, self.root.join(file), config);
            servers.insert(full_name, server.of_plugin(self.root));
        }
    }

    /// Reports the components of unsupported kinds.
    pub(super) fn unsupported(&mut self) {
        for kind in UNSUPPORTED {
            let named = kind.keys.iter().find(|key| self.manifest.has(key)).map(|key| format!("`{key}`"));
            let default_place = || kind.places.iter().find(|place| self.has(place)).map(|place| (*place).to_owned());
            if let Some(place) = named.or_else(default_place) {
                let component = kind.what;
                let message =
                    format!("its {component} ({place}) are not supported in this version: none is used or run");
                self.error(PluginErrorKind::Unsupported, message);
            }
        }
    }

    /// Returns `true` if a path exists and is more than an empty folder.
    fn has(&self, place: &str) -> bool {
        let path = self.root.join(place);
        match path.metadata() {
            Ok(metadata) if metadata.is_dir() => {
                !std::fs::read_dir(&path).is_ok_and(|mut entries| entries.next().is_none())
            }
            Ok(_) => true,
            Err(_) => path.symlink_metadata().is_ok(),
        }
    }
}
