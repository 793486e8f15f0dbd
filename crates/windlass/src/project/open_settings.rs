//! Settings of open sessions.

use std::path::PathBuf;
use windlass_project::LiveSettings;
use windlass_runtime::SessionHandle;

/// Settings of an open session.
#[derive(Debug)]
pub(crate) struct OpenSettings {
    pub(super) session: SessionHandle,
    pub(super) live: LiveSettings,
    /// Directories added by the program. Settings never remove them.
    pub(super) directories: Vec<PathBuf>,
    pub(super) follows: Follows,
}

/// Options that follow the settings files because the program did not set them.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Follows {
    pub(crate) model: bool,
    pub(crate) effort: bool,
}

impl OpenSettings {
    pub(super) fn has_ended(&self) -> bool {
        self.session.has_ended()
    }
}
