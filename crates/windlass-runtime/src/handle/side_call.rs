//! The handle's model requests outside the conversation.

use crate::commands::SessionCommand;
use crate::commands::side_call::{SideCall, SideCallError, SideCallResult};
use crate::handle::SessionHandle;
use tokio::sync::oneshot;

impl SessionHandle {
    /// Makes a model write a message outside the conversation, if that is permitted: the request passes the hooks,
    /// rules and the mode of the session like a call of the tool [`SideCall::tool`], and asks where such a call would.
    /// It is part of the budget of the session and the figures of the run.
    ///
    /// Cancel safety: dropping the future withdraws the question and ends the call of the model; usage until then is
    /// booked.
    ///
    /// # Errors
    /// The request is not permitted, exceeds a limit, or failed, or no run is in progress.
    pub async fn side_call(&self, call: SideCall) -> SideCallResult {
        let (sender, answer) = oneshot::channel();
        self.command(SessionCommand::SideCall(Box::new(call), sender)).map_err(|_| SideCallError::Closed)?;
        // The sender is dropped with its run.
        answer.await.unwrap_or(Err(SideCallError::NoRun))
    }
}
