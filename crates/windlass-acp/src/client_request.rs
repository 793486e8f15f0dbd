//! Request on its way to the client of a session.

use serde_json::Value;
use std::fmt;
use tokio::sync::oneshot;

/// Request to the client of a session.
pub(crate) struct ClientRequest {
    /// Number by which the requester withdraws it.
    pub(crate) number: u64,
    pub(crate) method: &'static str,
    pub(crate) params: Value,
    pub(crate) answer: oneshot::Sender<Result<Value, String>>,
}

impl fmt::Debug for ClientRequest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ClientRequest").field("method", &self.method).finish_non_exhaustive()
    }
}
