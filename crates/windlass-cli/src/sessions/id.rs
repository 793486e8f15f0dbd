//! Session ids of the command line.

use crate::failure::Usage;
use windlass::SessionId;

/// Reads a session id.
pub(crate) fn session_id(given: &str) -> Result<SessionId, Usage> {
    let id = SessionId::from(given.to_ascii_lowercase());
    if id.is_uuid() { Ok(id) } else { Err(Usage(format!("{given:?} is no session id: a session id is a UUID"))) }
}
