//! The items that trust in a project puts into effect.

use std::collections::BTreeMap;
use std::fmt;
use std::path::{Path, PathBuf};

/// Kind of a project's item.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[non_exhaustive]
pub enum TrustKind {
    /// An allow rule.
    Rule,
    /// A directory of the workspace.
    Directory,
    /// A variable of the environment.
    Variable,
    /// Another widening setting, such as a model or a mode.
    Setting,
    /// The hooks of a settings file.
    Hooks,
    /// An MCP server.
    Server,
    /// An agent.
    Agent,
    /// An output style.
    Style,
    /// The calls that a custom command allows.
    Command,
}

impl TrustKind {
    /// All kinds.
    pub const ALL: [Self; 9] = [
        Self::Rule,
        Self::Directory,
        Self::Variable,
        Self::Setting,
        Self::Hooks,
        Self::Server,
        Self::Agent,
        Self::Style,
        Self::Command,
    ];

    /// Returns the name in records.
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
            Self::Style => "style",
            Self::Command => "command",
        }
    }
}

impl fmt::Display for TrustKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.as_str())
    }
}

/// A part of a project that takes effect once it is trusted.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
#[non_exhaustive]
pub struct TrustItem {
    /// File of the item.
    pub file: PathBuf,
    /// Kind of the item.
    pub kind: TrustKind,
    /// Name of the item.
    pub name: String,
    /// Content of the item: two items of one name with the same content do the same.
    pub content: String,
    /// Effect of the item in words for people, in full.
    pub shown: String,
}

impl TrustItem {
    pub(crate) fn new(file: &Path, kind: TrustKind, name: impl Into<String>, content: impl Into<String>) -> Self {
        let content = content.into();
        Self { file: file.to_path_buf(), kind, name: name.into(), shown: content.clone(), content }
    }

    /// Sets the effect in words. Default: the content.
    #[must_use]
    pub(crate) fn showing(mut self, effect: impl Into<String>) -> Self {
        self.shown = effect.into();
        self
    }

    /// Returns the digest that records contain for the item, in hexadecimal digits.
    #[must_use]
    pub fn digest(&self) -> String {
        digest(self.kind, &self.name, &self.content)
    }
}

/// Status of an item: new, changed or already trusted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum TrustStatus {
    /// No item of its name was trusted before.
    New,
    /// Another content was trusted under its name.
    Changed,
    /// The item is unchanged since it was trusted.
    Trusted,
}

/// Returns the key of an item in a record.
pub(super) fn key(kind: TrustKind, name: &str) -> String {
    format!("{kind} {name}")
}

/// Returns the digest of an item. Each part is preceded by its length, so that no two items share their bytes.
pub(super) fn digest(kind: TrustKind, name: &str, content: &str) -> String {
    let mut hasher = blake3::Hasher::new();
    for part in [kind.as_str(), name, content] {
        hasher.update(&(part.len() as u64).to_le_bytes());
        hasher.update(part.as_bytes());
    }
    hasher.finalize().to_hex().to_string()
}

/// Returns the items in the form of the record of `directory`. Files whose names are not Unicode are left out, so they
/// are never trusted.
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
