//! How much the modes of permissions allow.

use windlass_types::PermissionMode;

/// How much a mode allows, in steps. Modes of one step allow different things.
pub(crate) fn width(mode: PermissionMode) -> u8 {
    match mode {
        PermissionMode::Plan | PermissionMode::DontAsk => 0,
        PermissionMode::Default => 1,
        PermissionMode::AcceptEdits => 2,
        PermissionMode::Auto => 3,
        _ => 4,
    }
}
