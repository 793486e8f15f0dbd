//! Context of a tool that runs away from the session that calls it.

use std::path::PathBuf;
use std::sync::Arc;
use windlass_tool::{CallAbilities, CallPlace, Cancel, Clock, Ids, Nowhere, Permit, SessionState, ToolCx, ToolCxParts};
use windlass_types::{CallDigest, SessionId, ToolUseId};

const ELSEWHERE: Nowhere = Nowhere::new("files and programs of the session are at the other end: use the host's own");

/// Parts that the calls of one server share.
pub(super) struct ServedCalls {
    pub(super) clock: Arc<dyn Clock>,
    pub(super) ids: Arc<dyn Ids>,
    pub(super) state: Arc<SessionState>,
}

/// Asks a call to stop when dropped.
pub(super) struct StopOnDrop(Cancel);

impl Drop for StopOnDrop {
    fn drop(&mut self) {
        self.0.cancel();
    }
}

impl ServedCalls {
    /// Returns the context of one call, and the guard that ends it.
    pub(super) fn cx(&self, tool: &str, tool_use_id: String) -> (ToolCx, StopOnDrop) {
        let cancel = Cancel::new();
        let cx = ToolCx::new(ToolCxParts {
            // The message does not name the session that asks.
            session_id: SessionId::from(""),
            tool_use_id: ToolUseId::from(tool_use_id),
            cancel: cancel.clone(),
            permit: Permit::new(CallDigest::new(tool)),
            workspace: Arc::new(ELSEWHERE),
            process: Arc::new(ELSEWHERE),
            clock: Arc::clone(&self.clock),
            ids: Arc::clone(&self.ids),
            place: CallPlace {
                cwd: PathBuf::from("/"),
                directories: Arc::from([]),
                env: Arc::from([]),
                artifacts: None,
            },
            state: Arc::clone(&self.state),
            abilities: CallAbilities::default(),
            progress: Arc::new(|_| {}),
        });
        (cx, StopOnDrop(cancel))
    }
}
