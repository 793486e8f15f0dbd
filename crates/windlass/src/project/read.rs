//! What was read of a project, at one time.

use super::{Project, ProjectError};
use windlass_project::{Layer, LiveSettings, Origin, Places, Resolved, SettingsRequest, SettingsUpdates};

/// What was read, at one time.
pub(crate) struct Read {
    pub(crate) request: Project,
    pub(crate) places: Places,
    pub(crate) resolved: Resolved,
    /// What open sessions begin with and read again.
    pub(crate) live: LiveSettings,
    pub(crate) files: Vec<LoadedFile>,
    pub(crate) updates: SettingsUpdates,
    pub(crate) settings: SettingsRequest,
    /// Why it could not be recorded what trust covers, if that failed.
    pub(crate) not_pinned: Option<String>,
}

/// A settings file that was read.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct LoadedFile {
    /// Its layer.
    pub layer: Layer,
    /// Where it is.
    pub origin: Origin,
    /// Whether its directory is trusted, now or as it was at an earlier time.
    pub trusted: bool,
}

impl Read {
    pub(super) fn of(request: Project) -> Result<Self, ProjectError> {
        let (places, settings) = (request.places()?, request.request());
        let (live, loaded) = LiveSettings::load(&places, &settings)?;
        let resolved = live.resolved().clone();
        #[cfg(not(feature = "sandbox"))]
        if let Some(origin) = resolved.sandbox.required.clone() {
            return Err(ProjectError::Sandbox { origin });
        }
        let updates = request.updates()?;
        let files = loaded.files.into_iter().map(|file| LoadedFile {
            layer: file.layer,
            origin: file.origin,
            trusted: file.standing.is_trusted(),
        });
        let files = files.collect();
        Ok(Self { request, places, resolved, live, files, updates, settings, not_pinned: None })
    }

    pub(super) fn pinned(self, pinned: Result<(), ProjectError>) -> Self {
        Self { not_pinned: pinned.err().map(|error| error.to_string()), ..self }
    }
}
