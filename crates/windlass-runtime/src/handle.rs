//! Orders to a session.

use crate::SessionError;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use tokio::sync::{mpsc, watch};
use windlass_core::{Input, ModelProfile, Prompt};
use windlass_types::{ContentBlock, PermissionMode, SessionId, Thinking, ToolUseId};

/// Orders to a session. Cheap to clone; outlives the event stream.
///
/// Orders are carried out in the order in which they are given. Giving one to a
/// session that is closed is an error, never a silent loss.
#[derive(Debug, Clone)]
pub struct SessionHandle {
    session_id: SessionId,
    orders: mpsc::UnboundedSender<Input>,
    /// Whether somebody closed it: what is ordered from then on would be lost.
    closing: Arc<AtomicBool>,
    ended: watch::Receiver<bool>,
}

impl SessionHandle {
    pub(crate) fn new(
        session_id: SessionId,
        orders: mpsc::UnboundedSender<Input>,
        ended: watch::Receiver<bool>,
    ) -> Self {
        Self { session_id, orders, closing: Arc::default(), ended }
    }

    /// Closes the session when it is dropped.
    pub(crate) fn guard(&self) -> Guard {
        Guard { orders: self.orders.clone(), closing: Arc::clone(&self.closing) }
    }

    fn give(&self, order: Input) -> Result<(), SessionError> {
        if self.closing.load(Ordering::Acquire) {
            return Err(SessionError::Closed);
        }
        self.orders.send(order).map_err(|_| SessionError::Closed)
    }

    /// The session.
    pub fn session_id(&self) -> &SessionId {
        &self.session_id
    }

    /// Starts a run with a prompt, or queues it behind the run that is going on.
    ///
    /// # Errors
    /// The session is closed.
    pub fn prompt(&self, prompt: Prompt) -> Result<(), SessionError> {
        self.give(Input::Prompt(prompt))
    }

    /// Says something to the run that is going on. The model reads it at the
    /// next safe point: after the tools of this turn, or before the run would end.
    /// Without a run it is a prompt.
    ///
    /// # Errors
    /// The session is closed.
    pub fn steer(&self, content: Vec<ContentBlock>) -> Result<(), SessionError> {
        self.give(Input::Steer(content))
    }

    /// Stops the run. Its result says that it was interrupted; the session goes on.
    ///
    /// # Errors
    /// The session is closed.
    pub fn interrupt(&self) -> Result<(), SessionError> {
        self.give(Input::Interrupt)
    }

    /// Stops one call; the run goes on and the model is told.
    ///
    /// # Errors
    /// The session is closed.
    pub fn stop_tool(&self, id: ToolUseId) -> Result<(), SessionError> {
        self.give(Input::StopTool(id))
    }

    /// Calls this model from the next request on.
    ///
    /// # Errors
    /// The session is closed.
    pub fn set_model(&self, model: ModelProfile) -> Result<(), SessionError> {
        self.give(Input::SetModel(Box::new(model)))
    }

    /// Judges calls by this mode from now on. A mode that the session does not
    /// permit is refused with a notice.
    ///
    /// # Errors
    /// The session is closed.
    pub fn set_permission_mode(&self, mode: PermissionMode) -> Result<(), SessionError> {
        self.give(Input::SetPermissionMode(mode))
    }

    /// Reasons like this from the next request on.
    ///
    /// # Errors
    /// The session is closed.
    pub fn set_thinking(&self, thinking: Thinking) -> Result<(), SessionError> {
        self.give(Input::SetThinking(thinking))
    }

    /// Ends the session: stops the run, settles every open call, and waits until
    /// everything is durable. Closing twice is fine.
    ///
    /// Cancel safe: the session closes even if nobody waits for it.
    pub async fn close(&self) {
        self.closing.store(true, Ordering::Release);
        // A send fails only when the session has ended already.
        let _ = self.orders.send(Input::Close);
        let mut ended = self.ended.clone();
        let _ = ended.wait_for(|ended| *ended).await;
    }

    /// Waits until the session has ended, without ending it. Cancel safe.
    pub async fn ended(&self) {
        let mut ended = self.ended.clone();
        let _ = ended.wait_for(|ended| *ended).await;
    }
}

/// Closes the session when the host lets go of its events.
#[derive(Debug)]
pub(crate) struct Guard {
    orders: mpsc::UnboundedSender<Input>,
    closing: Arc<AtomicBool>,
}

impl Drop for Guard {
    fn drop(&mut self) {
        self.closing.store(true, Ordering::Release);
        let _ = self.orders.send(Input::Close);
    }
}
