//! Errors about unused parts of plugins.

use std::fmt;
use std::path::PathBuf;

/// Kind of a plugin problem.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum PluginErrorKind {
    /// There is no such directory, or it cannot be read.
    NotFound,
    /// The manifest cannot be used. The plugin is not loaded.
    Manifest,
    /// Another plugin has its name, or there are too many. The plugin is not loaded.
    NotLoaded,
    /// A component is unusable; the others are used.
    Component,
    /// The plugin has a component of a kind that this version does not support. The other components are used.
    Unsupported,
}

impl PluginErrorKind {
    /// Returns the name on the wire.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::NotFound => "path-not-found",
            Self::Manifest => "manifest-validation-error",
            Self::NotLoaded => "plugin-not-loaded",
            Self::Component => "component-load-failed",
            Self::Unsupported => "component-not-supported",
        }
    }

    /// Returns `true` if the plugin as a whole is not loaded.
    #[must_use]
    pub fn is_fatal(self) -> bool {
        matches!(self, Self::NotFound | Self::Manifest | Self::NotLoaded)
    }
}

/// A problem that keeps a plugin, or a part of it, from being used.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct PluginError {
    /// The plugin's name, or `inline[N]` for the directory that was named Nth (from 0) and was not loaded.
    pub plugin: String,
    /// The kind of the problem.
    pub kind: PluginErrorKind,
    /// The problem, in a sentence.
    pub message: String,
    /// The directory, if the plugin was not loaded at all.
    pub path: Option<PathBuf>,
}

impl fmt::Display for PluginError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.path {
            Some(path) => write!(f, "the plugin {} is left out: {}", path.display(), self.message),
            None => write!(f, "the plugin {}: {}", self.plugin, self.message),
        }
    }
}
