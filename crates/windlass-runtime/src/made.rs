//! Calls that running calls make: how they reach the machine, and their results their makers.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use tokio::sync::{mpsc, oneshot};
use windlass_context::runtime_text;
use windlass_core::{EffectId, Input};
use windlass_tool::{BoxFuture, Calls};
use windlass_types::{JsonText, ToolOutcome};

/// Who waits for the result of a call: the effect that runs its maker, and its number there.
type Waiting = Arc<Mutex<BTreeMap<(EffectId, u64), oneshot::Sender<ToolOutcome>>>>;

/// The calls that running calls have made, and that have not ended.
#[derive(Debug, Default)]
pub(crate) struct MadeCalls(Waiting);

impl MadeCalls {
    /// What a call that runs makes calls with.
    pub(crate) fn of_call(&self, effect: EffectId, results: &mpsc::UnboundedSender<Input>) -> Arc<dyn Calls> {
        let waiting = Arc::clone(&self.0);
        Arc::new(OfCall { effect, next: AtomicU64::new(0), waiting, results: results.clone() })
    }

    /// A call has ended. Its maker may be gone.
    pub(crate) fn give(&self, to: EffectId, number: u64, outcome: ToolOutcome) {
        let waiting = self.0.lock().unwrap_or_else(PoisonError::into_inner).remove(&(to, number));
        if let Some(waiting) = waiting {
            let _ = waiting.send(outcome);
        }
    }

    /// A call that may have made others has ended.
    pub(crate) fn end(&self, maker: EffectId) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).retain(|(of, _), _| *of != maker);
    }
}

/// What a running call makes calls with.
#[derive(Debug)]
struct OfCall {
    effect: EffectId,
    next: AtomicU64,
    waiting: Waiting,
    results: mpsc::UnboundedSender<Input>,
}

impl Calls for OfCall {
    fn call(&self, tool: String, input: JsonText) -> BoxFuture<'static, ToolOutcome> {
        let (sender, answer) = oneshot::channel();
        let number = self.next.fetch_add(1, Ordering::Relaxed);
        self.waiting.lock().unwrap_or_else(PoisonError::into_inner).insert((self.effect, number), sender);
        // It fails only when the session has ended.
        let _ = self.results.send(Input::Made(self.effect, number, tool, input));
        // Its maker has ended, or the session.
        Box::pin(async move { answer.await.unwrap_or_else(|_| ToolOutcome::error(runtime_text::CALL_STOPPED)) })
    }
}
