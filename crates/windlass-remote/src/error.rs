//! Errors of remote connections.

use std::path::Path;

use windlass_tool::{WorkspaceError, WorkspaceErrorKind as Kind};

/// The connection was lost during a request: it is unknown if the request was carried out.
///
/// Source of the errors of both ports that it causes.
#[derive(Debug, Clone, thiserror::Error)]
#[error("the connection to {place} was lost: {why}")]
#[non_exhaustive]
pub struct ConnectionLost {
    /// Remote place, as named by [`Transport::place`](crate::Transport::place).
    pub place: String,
    /// Observed failure, with the last output of the connecting program.
    pub why: String,
}

/// The connection failed, or the remote side is unusable.
#[derive(Debug, Clone, thiserror::Error)]
#[non_exhaustive]
pub enum ConnectError {
    /// The name of the container or host, or the program, is unusable.
    #[error("{0}")]
    Unusable(String),
    /// The connection did not come up, or was lost at once.
    #[error(transparent)]
    Lost(#[from] ConnectionLost),
    /// A requirement is missing on the remote side.
    #[error("{place} cannot be worked with: {missing}")]
    Missing {
        /// Remote place.
        place: String,
        /// Missing requirement, in a sentence.
        missing: String,
    },
}

/// Error of a request for a path, when the connection is gone.
pub(crate) fn lost(lost: ConnectionLost, path: &Path, changes: bool) -> WorkspaceError {
    let unknown = if changes { "; whether it was changed is not known: look before you try again" } else { "" };
    let message = format!("{} could not be reached: {lost}{unknown}", path.display());
    WorkspaceError::new(Kind::ConnectionLost, message).with_source(lost)
}

/// Error for a code of the remote scripts about a path.
pub(crate) fn refused(code: i32, path: &Path, said: &[u8]) -> WorkspaceError {
    let shown = path.display();
    let (kind, message) = match code {
        10 => (Kind::NotFound, format!("{shown} does not exist")),
        11 => (Kind::AlreadyExists, format!("{shown} exists already")),
        12 => (Kind::IsDirectory, format!("{shown} is a directory")),
        13 => (Kind::NotDirectory, format!("a part of {shown} is not a directory")),
        14 => (Kind::NotRegular, format!("{shown} is not a regular file but a device, pipe or socket")),
        15 => (
            Kind::Changed,
            format!("{shown} leads somewhere else than when this call was judged: a link was put on the way"),
        ),
        16 => (Kind::AccessDenied, format!("the system does not allow access to {shown}")),
        17 => (Kind::ReadOnly, format!("{shown} is on a file system that is read-only")),
        18 => (Kind::NoSpace, format!("there is no space left for {shown}; it is unchanged")),
        19 => (Kind::LinkCycle, format!("symbolic links of {shown} lead in a circle")),
        22 => return WorkspaceError::content_changed(path),
        21 => (Kind::ConnectionLost, format!("{shown} is unchanged: its new content did not arrive whole")),
        _ => {
            let said = String::from_utf8_lossy(said);
            let said: String = said.trim().chars().take(300).collect();
            (Kind::Other, format!("{shown} could not be reached: {said}"))
        }
    };
    WorkspaceError::new(kind, message)
}

/// Error for a path that this side must not request.
pub(crate) fn not_permitted(path: &Path) -> WorkspaceError {
    let message = format!("{} is outside of what this call may touch", path.display());
    WorkspaceError::new(Kind::NotPermitted, message)
}
