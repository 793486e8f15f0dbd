//! State of the session beside its events.

use super::hooks::table::HookTable;
use std::path::PathBuf;
use windlass_types::PermissionMode;

/// Registered hooks of the host, and the session state that they read.
#[derive(Debug, Clone, Default)]
pub(crate) struct Scene {
    pub(crate) hooks: HookTable,
    pub(crate) transcript: Option<PathBuf>,
    pub(crate) permission_mode: PermissionMode,
}
