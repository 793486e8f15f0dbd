//! Agents whose files are known, and the places of these.

use super::conversion::{gemini_command, rule_of_cursor};
use crate::files;
use crate::mcp::Client;
use clap::ValueEnum;
use serde_json::Value;
use std::path::{Path, PathBuf};
use windlass::provider::StoredKeys;

/// Maximum number of files of a folder.
const MAX_FILES: usize = 200;

/// An agent whose files can be imported.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Agent {
    /// Claude Code, whose files are read as they are.
    ClaudeCode,
    /// Codex.
    Codex,
    /// Cursor.
    Cursor,
    /// The Gemini command.
    Gemini,
    /// Goose.
    Goose,
    /// Opencode.
    Opencode,
}

/// Directories of an import.
pub(super) struct Place {
    /// Directory of the project.
    pub(super) project: PathBuf,
    /// Home of the user.
    user: PathBuf,
    /// Folder of the user's configuration.
    config: PathBuf,
    /// Windlass's home.
    home: PathBuf,
}

/// A text of an agent, and its place here.
pub(super) struct FoundText {
    pub(super) kind: &'static str,
    pub(super) name: String,
    pub(super) from: PathBuf,
    pub(super) to: PathBuf,
    /// Text here, or the reason why there is none.
    pub(super) content: Result<String, String>,
}

/// Translation of a text; an error is the reason why there is none.
type Conversion = fn(&str) -> Result<String, String>;

impl Place {
    pub(super) fn here(project: PathBuf, home: PathBuf) -> Self {
        let set = |name: &str| std::env::var_os(name).map(PathBuf::from).filter(|path| path.is_absolute());
        let user = set("HOME").or_else(|| set("USERPROFILE")).unwrap_or_else(|| home.clone());
        let config = set("XDG_CONFIG_HOME").unwrap_or_else(|| user.join(".config"));
        Self { project, user, config, home }
    }
}

impl Agent {
    pub(super) const ALL: [Self; 6] =
        [Self::ClaudeCode, Self::Codex, Self::Cursor, Self::Gemini, Self::Goose, Self::Opencode];

    pub(super) fn name(self) -> &'static str {
        match self {
            Self::ClaudeCode => "claude-code",
            Self::Codex => "codex",
            Self::Cursor => "cursor",
            Self::Gemini => "gemini",
            Self::Goose => "goose",
            Self::Opencode => "opencode",
        }
    }

    /// Client whose servers are imported. Those of Claude Code are read as they are.
    pub(super) fn client(self) -> Option<Client> {
        match self {
            Self::ClaudeCode => None,
            Self::Codex => Some(Client::Codex),
            Self::Cursor => Some(Client::Cursor),
            Self::Gemini => Some(Client::Gemini),
            Self::Goose => Some(Client::Goose),
            Self::Opencode => Some(Client::Opencode),
        }
    }

    /// Instructions and commands that are there.
    pub(super) fn texts(self, place: &Place) -> Vec<FoundText> {
        let same: Conversion = |text| Ok(text.to_owned());
        let (project, user, config) = (&place.project, &place.user, &place.config);
        let project_file = place.project.join("AGENTS.md");
        let (ours, commands) = (place.home.join("AGENTS.md"), place.home.join("commands"));
        let project_commands = place.project.join(".windlass/commands");
        let mut texts = Texts(Vec::new());
        match self {
            Self::ClaudeCode => {}
            Self::Codex => {
                texts.instructions(user.join(".codex/AGENTS.md"), &ours);
                texts.folder(&user.join(".codex/prompts"), "md", &commands, same);
            }
            Self::Cursor => {
                texts.instructions(project.join(".cursorrules"), &project_file);
                texts.rules(&project.join(".cursor/rules"), &place.project.join(".windlass/rules"));
                texts.folder(&project.join(".cursor/commands"), "md", &project_commands, same);
                texts.folder(&user.join(".cursor/commands"), "md", &commands, same);
            }
            Self::Gemini => {
                texts.instructions(project.join("GEMINI.md"), &project_file);
                texts.instructions(user.join(".gemini/GEMINI.md"), &ours);
                texts.folder(&project.join(".gemini/commands"), "toml", &project_commands, gemini_command);
                texts.folder(&user.join(".gemini/commands"), "toml", &commands, gemini_command);
            }
            Self::Goose => {
                texts.instructions(project.join(".goosehints"), &project_file);
                texts.instructions(config.join("goose/.goosehints"), &ours);
            }
            Self::Opencode => {
                texts.instructions(config.join("opencode/AGENTS.md"), &ours);
                for name in ["command", "commands"] {
                    texts.folder(&project.join(".opencode").join(name), "md", &project_commands, same);
                    texts.folder(&config.join("opencode").join(name), "md", &commands, same);
                }
            }
        }
        texts.0
    }

    /// Name of the model here, or the reason why it has none, and the file that sets it.
    pub(super) fn model(self, place: &Place) -> Option<(Result<String, String>, PathBuf)> {
        let (file, client) = match self {
            Self::ClaudeCode | Self::Cursor => return None,
            Self::Codex => (place.user.join(".codex/config.toml"), Client::Codex),
            Self::Gemini => (place.user.join(".gemini/settings.json"), Client::Gemini),
            Self::Goose => (place.config.join("goose/config.yaml"), Client::Goose),
            Self::Opencode => (place.config.join("opencode/opencode.json"), Client::Opencode),
        };
        let settings = client.document(&files::text(&file).ok()?).ok()?;
        let text = |pointer: &str| settings.pointer(pointer).and_then(Value::as_str).map(str::to_owned);
        let (vendor, model) = match self {
            Self::Codex => (text("/model_provider").unwrap_or_else(|| "openai".to_owned()), text("/model")?),
            Self::Goose => (text("/GOOSE_PROVIDER")?, text("/GOOSE_MODEL")?),
            Self::Opencode => {
                text("/model")?.split_once('/').map(|(vendor, model)| (vendor.to_owned(), model.to_owned()))?
            }
            _ => ("gemini".to_owned(), text("/model/name").or_else(|| text("/model"))?),
        };
        let vendor = if vendor == "google" { "gemini" } else { vendor.as_str() };
        let is_known = StoredKeys::known_vendors().any(|known| known == vendor);
        let name = match is_known {
            true => Ok(format!("{vendor}/{model}")),
            false => Err(format!("no provider here is named {vendor:?}")),
        };
        Some((name, file))
    }
}

/// Texts that are found.
struct Texts(Vec<FoundText>);

impl Texts {
    fn add(&mut self, kind: &'static str, from: PathBuf, to: PathBuf, convert: Conversion) {
        let content = files::text(&from).map_err(|error| error.to_string());
        let content = content.and_then(|text| convert(&text));
        let name = to.file_name().unwrap_or_default().to_string_lossy().into_owned();
        self.0.push(FoundText { kind, name, from, to, content });
    }

    fn instructions(&mut self, from: PathBuf, to: &Path) {
        if from.is_file() {
            self.add("instructions", from, to.to_path_buf(), |text| Ok(text.to_owned()));
        }
    }

    fn folder(&mut self, from: &Path, ending: &str, to: &Path, convert: Conversion) {
        for path in files_with(from, ending) {
            let to = to.join(path.with_extension("md").file_name().unwrap_or_default());
            self.add("command", path, to, convert);
        }
    }

    fn rules(&mut self, from: &Path, to: &Path) {
        for path in files_with(from, "mdc") {
            let to = to.join(path.with_extension("md").file_name().unwrap_or_default());
            self.add("instructions", path, to, rule_of_cursor);
        }
    }
}

/// Files of a folder by their ending, sorted. Links are left out.
fn files_with(folder: &Path, ending: &str) -> Vec<PathBuf> {
    let entries = folder.read_dir().into_iter().flatten().flatten();
    let is_file = |entry: &std::fs::DirEntry| entry.file_type().is_ok_and(|kind| kind.is_file());
    let paths = entries.filter(is_file).map(|entry| entry.path());
    let mut paths: Vec<PathBuf> =
        paths.filter(|path| path.extension().is_some_and(|found| found == ending)).take(MAX_FILES).collect();
    paths.sort_unstable();
    paths
}
