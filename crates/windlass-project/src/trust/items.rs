//! What trust in a project lets act, one by one.

use super::{Covered, Standing};
use crate::agents::agent_files;
use crate::commands::command_files;
use crate::error::{Origin, SettingsError};
use crate::load::{SettingsRequest, load, read_trust};
use crate::places::Places;
use crate::resolved::SettingsFile;
use crate::servers::server_entries;
use crate::sources::SettingSources;
use serde::Serialize;
use serde_json::Value;
use std::collections::BTreeMap;
use std::fmt;
use std::path::{Path, PathBuf};

/// What an item of a project is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[non_exhaustive]
pub enum TrustKind {
    /// An allow rule.
    Rule,
    /// A directory of the workspace.
    Directory,
    /// A variable of the environment.
    Variable,
    /// Another setting that widens what may happen, such as a model or a mode.
    Setting,
    /// The hooks of a settings file.
    Hooks,
    /// An MCP server.
    Server,
    /// An agent.
    Agent,
    /// The calls that a custom command allows.
    Command,
}

impl TrustKind {
    /// Its name in records.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Rule => "rule",
            Self::Directory => "directory",
            Self::Variable => "variable",
            Self::Setting => "setting",
            Self::Hooks => "hooks",
            Self::Server => "server",
            Self::Agent => "agent",
            Self::Command => "command",
        }
    }
}

impl fmt::Display for TrustKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.as_str())
    }
}

/// Something in a project that acts, or lets more happen, once somebody trusts it.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
#[non_exhaustive]
pub struct TrustItem {
    /// Its file.
    pub file: PathBuf,
    /// What it is.
    pub kind: TrustKind,
    /// What it is called.
    pub name: String,
    /// What it says: two items of one name with the same content do the same.
    pub content: String,
}

impl TrustItem {
    pub(crate) fn new(file: &Path, kind: TrustKind, name: impl Into<String>, content: impl Into<String>) -> Self {
        Self { file: file.to_path_buf(), kind, name: name.into(), content: content.into() }
    }
}

/// How an item stands to what was trusted before.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum TrustStatus {
    /// Nobody has trusted an item of its name.
    New,
    /// Something else was trusted under its name.
    Changed,
    /// It is what was trusted.
    Trusted,
}

/// An item with its status.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct ReviewedItem {
    /// The item.
    pub item: TrustItem,
    /// How it stands to what was trusted before.
    pub status: TrustStatus,
}

/// All that trust in the project would let act in a session that starts here, each with its status. Nothing is
/// executed and nothing written.
///
/// # Errors
/// A settings file of the project cannot be used.
pub fn review_trust(places: &Places) -> Result<Vec<ReviewedItem>, SettingsError> {
    let trust = read_trust(places, &mut Vec::new());
    let standing = |item: &TrustItem| {
        let directory = places.project.iter().rev().find(|directory| item.file.starts_with(directory));
        directory.map(|directory| trust.standing(&places.project, directory, false)).unwrap_or_default()
    };
    let reviewed = |item: TrustItem| ReviewedItem { status: standing(&item).status(&item), item };
    Ok(trust_items(places)?.into_iter().map(reviewed).collect())
}

impl Standing {
    fn status(&self, item: &TrustItem) -> TrustStatus {
        if self.covers(&item.file, item.kind, &item.name, &item.content) {
            return TrustStatus::Trusted;
        }
        match &self.extent {
            super::Extent::Items(covered) if is_known(covered, item) => TrustStatus::Changed,
            _ => TrustStatus::New,
        }
    }
}

fn is_known(covered: &Covered, item: &TrustItem) -> bool {
    covered.get(&item.file).is_some_and(|items| items.contains_key(&key(item.kind, &item.name)))
}

/// All that trust in the project would let act in a session that starts here, sorted.
pub(crate) fn trust_items(places: &Places) -> Result<Vec<TrustItem>, SettingsError> {
    let request = SettingsRequest::new().sources(SettingSources::of_project()).trust(true);
    let loaded = load(places, &request)?;
    let of_project = loaded.files.iter().filter(|file| file.layer.lies_in_project());
    let mut items: Vec<TrustItem> = of_project.flat_map(settings_items).collect();
    for (path, name, config) in server_entries(places) {
        items.push(TrustItem::new(&path, TrustKind::Server, name, canonical(config.as_str())));
    }
    for (path, name, text) in agent_files(places) {
        items.push(TrustItem::new(&path, TrustKind::Agent, name, text));
    }
    for command in command_files(places) {
        if let Some(content) = command.allowance() {
            items.push(TrustItem::new(&command.path, TrustKind::Command, &command.name, content));
        }
    }
    items.sort();
    Ok(items)
}

/// What a settings file widens.
pub(crate) fn settings_items(file: &SettingsFile) -> Vec<TrustItem> {
    let Origin::File(path) = &file.origin else { return Vec::new() };
    let settings = &file.settings;
    let mut items = Vec::new();
    let mut add = |kind, name: &str, content: String| items.push(TrustItem::new(path, kind, name, content));
    for rule in &settings.permissions.allow {
        add(TrustKind::Rule, rule, String::new());
    }
    for directory in &settings.permissions.additional_directories {
        add(TrustKind::Directory, &directory.display().to_string(), String::new());
    }
    for (name, value) in &settings.env {
        add(TrustKind::Variable, name, value.clone());
    }
    for (key, content) in settings.widening() {
        add(TrustKind::Setting, key, content);
    }
    if !settings.hooks.is_empty() {
        add(TrustKind::Hooks, "hooks", settings.hooks.content().to_owned());
    }
    items
}

/// JSON text in one form: without blanks, keys sorted. What is no JSON stays as it is.
pub(crate) fn canonical(json: &str) -> String {
    serde_json::from_str::<Value>(json).map_or_else(|_| json.to_owned(), |value| sorted(&value).to_string())
}

/// The same value with the keys of its objects in order, whatever the features of the JSON library.
fn sorted(value: &Value) -> Value {
    match value {
        Value::Object(fields) => {
            let mut fields: Vec<_> = fields.iter().map(|(key, value)| (key.clone(), sorted(value))).collect();
            fields.sort_by(|a, b| a.0.cmp(&b.0));
            Value::Object(fields.into_iter().collect())
        }
        Value::Array(items) => items.iter().map(sorted).collect(),
        other => other.clone(),
    }
}

/// The canonical text of a value.
pub(crate) fn content_of(value: &impl Serialize) -> String {
    serde_json::to_string(value).map(|text| canonical(&text)).unwrap_or_default()
}

/// Under which key an item stands in a record.
pub(super) fn key(kind: TrustKind, name: &str) -> String {
    format!("{kind} {name}")
}

/// The digest of an item. Each part is preceded by its length, so that no two items share their bytes.
pub(super) fn digest(kind: TrustKind, name: &str, content: &str) -> String {
    let mut hasher = blake3::Hasher::new();
    for part in [kind.as_str(), name, content] {
        hasher.update(&(part.len() as u64).to_le_bytes());
        hasher.update(part.as_bytes());
    }
    hasher.finalize().to_hex().to_string()
}

/// The items as a record of `directory` holds them. Files whose names are not Unicode are left out, so they never count.
pub(crate) fn pinned(items: &[TrustItem], directory: &Path) -> BTreeMap<String, BTreeMap<String, String>> {
    let mut covers = BTreeMap::<String, BTreeMap<String, String>>::new();
    for item in items {
        if let Some(file) = item.file.strip_prefix(directory).ok().and_then(Path::to_str) {
            let digest = digest(item.kind, &item.name, &item.content);
            covers.entry(file.to_owned()).or_default().insert(key(item.kind, &item.name), digest);
        }
    }
    covers
}
