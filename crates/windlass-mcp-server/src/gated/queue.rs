//! Queue of the calls of clients, from their arrival to their answer.

use crate::{Client, ServedCall};
use std::collections::{HashMap, VecDeque};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use tokio::sync::{Notify, oneshot};
use windlass::{JsonText, SessionHandle, ToolOutput};
use windlass::{event::ToolUseId, provider::ToolSpec};

/// Maximum number of calls of all clients that wait or run.
const MOST_CALLS: usize = 256;

/// Calls of clients, and the tools that they may call.
#[derive(Default)]
pub(super) struct GatedQueue {
    state: Mutex<QueueState>,
    /// Notified when a call has arrived, or the queue is closed.
    bell: Notify,
}

#[derive(Default)]
struct QueueState {
    closed: bool,
    count: u64,
    /// Calls that the model has not made yet.
    waiting: VecDeque<(ToolUseId, String, JsonText)>,
    /// Calls that have no answer yet.
    open: HashMap<ToolUseId, OpenGatedCall>,
    answers: HashMap<ToolUseId, oneshot::Receiver<ToolOutput>>,
    /// Offered tools; absent until a model was asked.
    offered: Option<Vec<Arc<ToolSpec>>>,
}

struct OpenGatedCall {
    client: Client,
    answer: oneshot::Sender<ToolOutput>,
}

impl GatedQueue {
    fn lock(&self) -> MutexGuard<'_, QueueState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Adds a call.
    pub(super) fn add(&self, call: ServedCall) -> ToolUseId {
        let mut state = self.lock();
        state.count = state.count.saturating_add(1);
        let id = ToolUseId::from(format!("call_{}", state.count).as_str());
        let (answer, answered) = oneshot::channel();
        state.answers.insert(id.clone(), answered);
        if state.closed {
            return id;
        }
        if state.open.len() >= MOST_CALLS {
            let text = format!("The call was not made: {MOST_CALLS} others wait or run.");
            let _ = answer.send(ToolOutput::text(text).failed());
            return id;
        }
        state.open.insert(id.clone(), OpenGatedCall { client: call.client, answer });
        state.waiting.push_back((id.clone(), call.tool, call.input));
        drop(state);
        self.bell.notify_one();
        id
    }

    /// Waits for the answer to a call; `None` if there will be none.
    pub(super) async fn outcome(&self, id: &ToolUseId) -> Option<ToolOutput> {
        let answered = self.lock().answers.remove(id)?;
        answered.await.ok()
    }

    /// Takes the waiting calls, which are being made from then on.
    pub(super) fn take(&self) -> Vec<(ToolUseId, String, JsonText)> {
        self.lock().waiting.drain(..).collect()
    }

    /// Waits for a call; `false` if there will be none.
    pub(super) async fn wait(&self) -> bool {
        loop {
            {
                let state = self.lock();
                if state.closed {
                    return false;
                }
                if !state.waiting.is_empty() {
                    return true;
                }
            }
            self.bell.notified().await;
        }
    }

    /// Returns the client of a call.
    pub(super) fn client(&self, id: &ToolUseId) -> Option<Client> {
        self.lock().open.get(id).map(|open| open.client.clone())
    }

    /// Answers a call.
    pub(super) fn settle(&self, id: &ToolUseId, output: ToolOutput) {
        if let Some(open) = self.lock().open.remove(id) {
            // The client may have disconnected.
            let _ = open.answer.send(output);
        }
    }

    /// Answers calls that were made and have no answer when their run has ended.
    pub(super) fn settle_unmade(&self, why: &str) {
        let mut state = self.lock();
        let QueueState { open, waiting, .. } = &mut *state;
        let made: Vec<ToolUseId> =
            open.keys().filter(|id| !waiting.iter().any(|(waits, ..)| waits == *id)).cloned().collect();
        for id in made {
            if let Some(open) = open.remove(&id) {
                let _ = open.answer.send(ToolOutput::text(why).failed());
            }
        }
    }

    /// Removes a call. Returns `true` if it may be running.
    fn forget(&self, id: &ToolUseId) -> bool {
        let mut state = self.lock();
        let waited = state.waiting.len();
        state.waiting.retain(|(waits, ..)| waits != id);
        state.answers.remove(id);
        state.open.remove(id).is_some() && state.waiting.len() == waited
    }

    /// Closes the queue: it takes no more calls, and answers none of the open ones.
    pub(super) fn close(&self) {
        let mut state = self.lock();
        state.closed = true;
        state.open.clear();
        state.waiting.clear();
        drop(state);
        self.bell.notify_one();
    }

    /// Records the tools that a model is offered. The first list is kept.
    pub(super) fn offer(&self, tools: &[Arc<ToolSpec>]) {
        let mut state = self.lock();
        state.offered.get_or_insert_with(|| tools.to_vec());
    }

    pub(super) fn offered(&self) -> Option<Vec<Arc<ToolSpec>>> {
        self.lock().offered.clone()
    }
}

/// Guard of a call while its client waits for it. Dropping it stops the call.
pub(super) struct GatedTicket<'a> {
    pub(super) queue: &'a GatedQueue,
    pub(super) handle: &'a SessionHandle,
    pub(super) id: ToolUseId,
}

impl Drop for GatedTicket<'_> {
    fn drop(&mut self) {
        if self.queue.forget(&self.id) {
            // A session that has ended has stopped the call already.
            let _ = self.handle.stop_tool(self.id.clone());
        }
    }
}
