//! Questions of agents that wait for answers, and the logs of their parents. Each call that leads to the agent is
//! recorded as open before the question is asked, so that its answer is valid even if the process dies meanwhile.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;
use tokio::sync::{OnceCell, mpsc, oneshot};
use windlass_core::{EffectId, Input};
use windlass_types::{AgentId, AgentIdentity, Entry, EntryKind};

/// Maximum time that a question waits until the log has the entry about the open call above. Without that entry only
/// this process can answer the question.
const PATIENCE: Duration = Duration::from_secs(10);

/// The agents below a driver's own whose calls are being kept open. Clones share them.
#[derive(Debug, Clone, Default)]
pub(crate) struct OpenCalls(Arc<Mutex<OpenCallWaiters>>);

#[derive(Debug, Default)]
struct OpenCallWaiters {
    /// Senders for those that wait until the log has the entry about an agent.
    asked: BTreeMap<AgentId, oneshot::Sender<()>>,
    /// The entries on their way to the log.
    appended: BTreeMap<EffectId, Vec<oneshot::Sender<()>>>,
}

impl OpenCalls {
    fn with<T>(&self, take: impl FnOnce(&mut OpenCallWaiters) -> T) -> T {
        take(&mut self.0.lock().unwrap_or_else(PoisonError::into_inner))
    }

    fn wait_for(&self, agent: AgentId) -> oneshot::Receiver<()> {
        let (sender, durable) = oneshot::channel();
        self.with(|waiting| waiting.asked.insert(agent, sender));
        durable
    }

    /// Records that these entries are being appended.
    pub(crate) fn appended(&self, append: EffectId, entries: &[Entry]) {
        for entry in entries {
            let EntryKind::AgentWaits(call) = &entry.kind else { continue };
            self.with(|waiting| {
                if let Some(sender) = waiting.asked.remove(&call.agent) {
                    waiting.appended.entry(append).or_default().push(sender);
                }
            });
        }
    }

    /// Handles the end of an append. An append that is refused ends the session.
    pub(crate) fn answered(&self, append: EffectId) {
        for sender in self.with(|waiting| waiting.appended.remove(&append)).into_iter().flatten() {
            // The waiting side may have dropped its receiver.
            let _ = sender.send(());
        }
    }
}

/// The call above an agent that may wait for answers.
pub(crate) struct ParentCall {
    /// The effect that runs the call.
    effect: EffectId,
    agent: AgentIdentity,
    results: mpsc::UnboundedSender<Input>,
    open_calls: OpenCalls,
    /// The call above the agent that makes this one.
    above: Option<Arc<ParentCall>>,
    once: OnceCell<()>,
}

impl fmt::Debug for ParentCall {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("CallAbove").field("agent", &self.agent).finish_non_exhaustive()
    }
}

impl ParentCall {
    pub(super) fn new(
        (effect, agent): (EffectId, AgentIdentity),
        results: mpsc::UnboundedSender<Input>,
        open_calls: OpenCalls,
        above: Option<Arc<Self>>,
    ) -> Self {
        Self { effect, agent, results, open_calls, above, once: OnceCell::new() }
    }

    /// Marks the call as kept open in the logs above: the agent continues where it waited.
    pub(super) fn kept_open_before(mut self) -> Self {
        self.once = OnceCell::new_with(Some(()));
        self
    }

    /// Makes the logs above record, once, that their calls wait for this agent. Returns when the entries are durable.
    pub(crate) async fn keep_open(&self) {
        let keep = async {
            if let Some(above) = &self.above {
                Box::pin(above.keep_open()).await;
            }
            let durable = self.open_calls.wait_for(self.agent.id.clone());
            // Sending fails only when the session has ended.
            let _ = self.results.send(Input::AgentAsks(self.effect, Box::new(self.agent.clone())));
            // A call that is over keeps nothing open.
            let _ = tokio::time::timeout(PATIENCE, durable).await;
        };
        self.once.get_or_init(|| keep).await;
    }
}
