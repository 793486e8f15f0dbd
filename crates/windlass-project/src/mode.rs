//! Order of permission modes by how much they allow.

use windlass_types::PermissionMode;

/// Returns the rank of a mode by how much it allows. Modes of one rank allow different things.
pub(crate) fn width(mode: PermissionMode) -> u8 {
    match mode {
        PermissionMode::Plan | PermissionMode::DontAsk => 0,
        PermissionMode::Default => 1,
        PermissionMode::AcceptEdits => 2,
        PermissionMode::Auto => 3,
        _ => 4,
    }
}
