//! Agents that no call of the model asks for.

use crate::SessionError;
use crate::handle::SessionHandle;
use crate::order::Order;
use std::sync::Arc;
use tokio::sync::oneshot;
use windlass_tool::Agents;
use windlass_types::ToolUseId;

impl SessionHandle {
    /// What runs agents below the main one that no call of its model asks for, such as one that notes after a run what is
    /// worth remembering. They share tools, hooks and budget with the session as other agents do, and closing the
    /// session ends them; stopping a run does not. Their events come under the path of `origin`, which stands for a call.
    ///
    /// Cancel safety: the call may be dropped at any time.
    ///
    /// # Errors
    /// The session is closed.
    pub async fn agents(&self, origin: ToolUseId) -> Result<Arc<dyn Agents>, SessionError> {
        let (sender, answer) = oneshot::channel();
        self.order(Order::Agents(origin, sender))?;
        answer.await.map_err(|_| SessionError::Closed)
    }
}
