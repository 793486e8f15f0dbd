//! Owner of logs that are changed from outside of sessions.

use windlass_session::Owner;

/// Owner of changes to stored sessions.
pub(crate) fn owner() -> Owner {
    Owner::new(std::process::id(), "windlass")
}
