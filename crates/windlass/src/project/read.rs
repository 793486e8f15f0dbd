//! What was read of a project, at one time.

use super::{Project, ProjectError};
use windlass_project::{Layer, Origin, Places, Resolved, SettingsRequest, SettingsUpdates, load};

/// What was read, at one time.
pub(crate) struct Read {
    pub(crate) request: Project,
    pub(crate) places: Places,
    pub(crate) resolved: Resolved,
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
        let loaded = load(&places, &settings)?;
        let resolved = loaded.resolve()?;
        if let Some(origin) = resolved.sandbox.required.clone() {
            return Err(ProjectError::Sandbox { origin });
        }
        let mut updates = SettingsUpdates::new(places.clone(), request.sources);
        if request.in_claude_folder {
            updates = updates.in_claude_folder();
        }
        let files = loaded.files.into_iter().map(|file| LoadedFile {
            layer: file.layer,
            origin: file.origin,
            trusted: file.standing.is_trusted(),
        });
        let files = files.collect();
        Ok(Self { request, places, resolved, files, updates, settings, not_pinned: None })
    }

    pub(super) fn pinned(self, pinned: Result<(), ProjectError>) -> Self {
        Self { not_pinned: pinned.err().map(|error| error.to_string()), ..self }
    }
}
