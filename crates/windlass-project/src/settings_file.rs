//! One settings file with its layer, origin and standing.

use crate::error::SettingsError;
use crate::file::{OldText, read_text};
use crate::note::Origin;
use crate::settings::Settings;
use crate::sources::Layer;
use crate::trust::{Standing, TrustItem, TrustKind};
use std::path::{Path, PathBuf};

/// Maximum number of bytes of a settings file.
pub(crate) const MOST: u64 = 1024 * 1024;

/// One settings file with its layer, origin and standing.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct SettingsFile {
    /// Layer of the file.
    pub layer: Layer,
    /// Origin of the file.
    pub origin: Origin,
    /// The directory where its patterns with a leading `/` and its relative paths start.
    pub anchor: PathBuf,
    /// The root of the project that it belongs to; the anchor by default.
    pub root: PathBuf,
    /// Trust in the file; full by default.
    pub standing: Standing,
    /// `true` if the repository contains a local file: then others wrote it, and it is treated like a shared one.
    pub shipped: bool,
    /// Content of the file.
    pub settings: Settings,
}

impl SettingsFile {
    /// Creates a file with full standing.
    pub fn new(layer: Layer, origin: Origin, anchor: impl Into<PathBuf>, settings: Settings) -> Self {
        let anchor = anchor.into();
        Self { layer, origin, root: anchor.clone(), anchor, standing: Standing::trusted(), shipped: false, settings }
    }

    /// Sets the root of the file's project.
    #[must_use]
    pub fn with_root(mut self, root: impl Into<PathBuf>) -> Self {
        self.root = root.into();
        self
    }

    /// Returns `true` if trust covers one of the file's widening settings.
    pub(crate) fn covers(&self, kind: TrustKind, name: &str, content: &str) -> bool {
        let file = match &self.origin {
            Origin::File(path) => path.as_path(),
            Origin::Inline | Origin::InlineManaged => Path::new(""),
        };
        self.standing.covers(file, kind, name, content)
    }

    /// Returns `true` if others than the user may have written the file.
    pub(crate) fn is_shared(&self) -> bool {
        self.layer == Layer::Project || self.shipped
    }

    /// Sets the standing of the file.
    #[must_use]
    pub fn with_standing(mut self, standing: Standing) -> Self {
        self.standing = standing;
        self
    }

    /// Returns the widening settings as items for trust.
    pub(crate) fn trust_items(&self) -> Vec<TrustItem> {
        let Origin::File(path) = &self.origin else { return Vec::new() };
        let settings = &self.settings;
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
        // Keys that are always ignored in a shared file need no trust.
        let needs_trust =
            |key: &str| !["apiKeyHelper", "lspServers", "shellSnapshot"].contains(&key) || !self.is_shared();
        for (key, content) in settings.widening().into_iter().filter(|(key, _)| needs_trust(key)) {
            add(TrustKind::Setting, key, content);
        }
        if !settings.hooks.is_empty() {
            add(TrustKind::Hooks, "hooks", settings.hooks.content().to_owned());
        }
        items
    }
}

/// Returns the text of a settings file or of our record of trust, if it is there.
pub(crate) fn read_settings(path: &Path) -> Result<Option<String>, SettingsError> {
    read_text(path, MOST).map_err(|error| SettingsError::unread(path, MOST, error))
}

/// Reads a settings file that is to be changed.
pub(crate) fn read_old_settings(path: &Path) -> Result<Option<OldText>, SettingsError> {
    OldText::read(path, MOST).map_err(|error| SettingsError::unread(path, MOST, error))
}
