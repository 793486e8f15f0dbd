//! Files of a project as read at one time.

use super::{Project, ProjectError};
use windlass_project::{Layer, LiveSettings, Origin, Places, Resolved, SettingsRequest, SettingsUpdates};

/// Files of a project as read at one time.
pub(crate) struct Read {
    pub(crate) request: Project,
    pub(crate) places: Places,
    pub(crate) resolved: Resolved,
    /// Settings that open sessions begin with and refresh.
    pub(crate) live: LiveSettings,
    pub(crate) files: Vec<LoadedFile>,
    pub(crate) updates: SettingsUpdates,
    pub(crate) settings: SettingsRequest,
    /// Reason why the scope of trust could not be recorded, if that failed.
    pub(crate) not_pinned: Option<String>,
}

/// A settings file that was read.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct LoadedFile {
    /// Layer of the file.
    pub layer: Layer,
    /// Path of the file.
    pub origin: Origin,
    /// `true` if its directory is trusted, in its present form or an earlier one.
    pub trusted: bool,
}

impl Read {
    pub(super) fn of(request: Project) -> Result<Self, ProjectError> {
        let (places, settings) = (request.places()?, request.request());
        let (live, loaded) = LiveSettings::load(&places, &settings)?;
        let resolved = live.resolved().clone();
        if !cfg!(feature = "sandbox")
            && let Some(origin) = resolved.sandbox.required.clone()
        {
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
