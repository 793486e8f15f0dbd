//! Request for the settings of a session.

use crate::settings_file::SettingsFile;
use crate::sources::SettingSources;

/// Request for the settings of a session.
#[derive(Debug, Clone, Default)]
#[non_exhaustive]
pub struct SettingsRequest {
    /// Layers to read.
    pub sources: SettingSources,
    /// The settings of the command line, if it has any: JSON text that begins with `{`, or the path of a file.
    pub flags: Option<String>,
    /// Managed settings from the host or the command line, in the same form.
    pub managed: Option<String>,
    /// `true` if this run trusts the project (`--trust`).
    pub trust: bool,
    /// Settings files of a remote project, see [`load_elsewhere`](crate::load_elsewhere).
    pub elsewhere: Vec<SettingsFile>,
}

impl SettingsRequest {
    /// Creates a request for all layers, without flags.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Sets which layers are read.
    #[must_use]
    pub fn sources(mut self, sources: SettingSources) -> Self {
        self.sources = sources;
        self
    }

    /// Sets the settings of the command line: JSON text that begins with `{`, or the path of a file.
    #[must_use]
    pub fn flags(mut self, settings: Option<String>) -> Self {
        self.flags = settings;
        self
    }

    /// Sets the managed settings of the host: JSON text that begins with `{`, or the path of a file. If the
    /// administrator of the machine has settings, only the restrictions apply.
    #[must_use]
    pub fn managed(mut self, settings: Option<String>) -> Self {
        self.managed = settings;
        self
    }

    /// Adds the settings files of a remote project, the strongest of a layer first.
    #[must_use]
    pub fn elsewhere(mut self, files: Vec<SettingsFile>) -> Self {
        self.elsewhere = files;
        self
    }

    /// Sets whether this run trusts the project.
    #[must_use]
    pub fn trust(mut self, trusts: bool) -> Self {
        self.trust = trusts;
        self
    }
}
