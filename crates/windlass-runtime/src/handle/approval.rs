//! The handle's approval of an act that no call of the model does.

use crate::commands::SessionCommand;
use crate::commands::approval::{Approval, ApprovalError};
use crate::handle::SessionHandle;
use tokio::sync::oneshot;

impl SessionHandle {
    /// Asks the host of the session as for a protected call: no rule, mode or hook answers for it. Without a host, and
    /// in the mode dontAsk, the answer is no. The answer is logged.
    ///
    /// Cancel safety: dropping the future withdraws the question.
    ///
    /// # Errors
    /// The host says no, nobody can be asked, or the session is closed.
    pub async fn approve(&self, approval: Approval) -> Result<(), ApprovalError> {
        let (sender, answer) = oneshot::channel();
        self.command(SessionCommand::Approve(Box::new(approval), sender)).map_err(|_| ApprovalError::Closed)?;
        answer.await.unwrap_or(Err(ApprovalError::Closed))
    }
}
