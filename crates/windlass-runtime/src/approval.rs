//! Approval of an act that no call of the model does.

use crate::handle::SessionHandle;
use crate::order::Order;
use crate::side::Gate;
use tokio::sync::oneshot;
use windlass_types::{Behavior, Decision, DecisionReason, EditPreview, JsonText, PermissionMode};

/// An act outside the calls of the model that the host must approve, such as running a program that has changed.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct Approval {
    /// Name of the act for hosts, like that of a tool.
    pub tool: String,
    /// Exact description of the act, like the input of a call.
    pub input: JsonText,
    /// Description in one line, for people.
    pub title: String,
    /// The reason of the question.
    pub reason: String,
    /// Changes of files that people should see. Default: none.
    pub edits: Option<EditPreview>,
}

impl Approval {
    /// An approval without changes to show.
    pub fn new(tool: impl Into<String>, input: JsonText, title: impl Into<String>, reason: impl Into<String>) -> Self {
        Self { tool: tool.into(), input, title: title.into(), reason: reason.into(), edits: None }
    }
}

/// Reason why an act was not approved.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ApprovalError {
    /// The session is closed.
    #[error("the session is closed")]
    Closed,
    /// The host denied it, or nobody can be asked.
    #[error("{0}")]
    Denied(String),
}

pub(crate) type ApprovalAnswer = Result<(), ApprovalError>;

impl SessionHandle {
    /// Asks the host of the session, as about a protected call: no rule, no mode and no hook answers it. With nobody to ask, and in
    /// the mode dontAsk, the answer is no. The log has the answer.
    ///
    /// Cancel safety: dropping the future withdraws the question.
    ///
    /// # Errors
    /// The host says no, nobody can be asked, or the session is closed.
    pub async fn approve(&self, approval: Approval) -> Result<(), ApprovalError> {
        let (sender, answer) = oneshot::channel();
        self.order(Order::Approve(Box::new(approval), sender)).map_err(|_| ApprovalError::Closed)?;
        answer.await.unwrap_or(Err(ApprovalError::Closed))
    }
}

/// Asks the question of an approval.
pub(crate) async fn ask(gate: Gate, approval: Approval) -> ApprovalAnswer {
    if gate.of.policy.mode() == PermissionMode::DontAsk {
        return Err(ApprovalError::Denied("Nobody is asked in the mode dontAsk.".to_owned()));
    }
    let mut decision = Decision::new(Behavior::Ask, DecisionReason::Protected, approval.reason);
    decision.protected = true;
    gate.ask(decision, None, approval.edits).await.map_err(ApprovalError::Denied)
}
