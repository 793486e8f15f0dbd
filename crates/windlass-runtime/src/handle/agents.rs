//! Agents that run without a call of the model.

use crate::SessionError;
use crate::commands::SessionCommand;
use crate::handle::SessionHandle;
use std::sync::Arc;
use tokio::sync::oneshot;
use windlass_tool::Agents;
use windlass_types::ToolUseId;

impl SessionHandle {
    /// Returns an interface that runs agents below the main one without a call of its model, such as one that saves
    /// memory notes after a run. They share tools, hooks and budget with the session as other agents do. Closing the
    /// session ends them; stopping a run does not. Their events come under the path of `origin`, which takes the place
    /// of a call.
    ///
    /// Cancel safety: the call may be dropped at any time.
    ///
    /// # Errors
    /// The session is closed.
    pub async fn agents(&self, origin: ToolUseId) -> Result<Arc<dyn Agents>, SessionError> {
        let (sender, answer) = oneshot::channel();
        self.command(SessionCommand::Agents(origin, sender))?;
        answer.await.map_err(|_| SessionError::Closed)
    }
}
