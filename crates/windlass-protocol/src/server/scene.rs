//! What is known of the session beside its events.

use super::hooks::table::HookTable;
use std::path::PathBuf;
use windlass_types::PermissionMode;

/// What hooks of the host listen to, and what they read of the session.
#[derive(Debug, Clone, Default)]
pub(crate) struct Scene {
    pub(crate) hooks: HookTable,
    pub(crate) transcript: Option<PathBuf>,
    pub(crate) permission_mode: PermissionMode,
}
