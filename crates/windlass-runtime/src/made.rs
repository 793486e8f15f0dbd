//! Calls that running calls make: their way to the machine, and of their results to their makers.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use tokio::sync::{mpsc, oneshot};
use windlass_context::runtime_text;
use windlass_core::{EffectId, Input};
use windlass_tool::{BoxFuture, Calls};
use windlass_types::{JsonText, ToolOutcome};

/// Receivers of results, by the effect that runs the maker and a number.
type Waiting = Arc<Mutex<BTreeMap<(EffectId, u64), oneshot::Sender<ToolOutcome>>>>;

/// The calls that running calls have made, and that have not ended.
#[derive(Debug, Default)]
pub(crate) struct MadeCalls(Waiting);

impl MadeCalls {
    /// Returns the interface through which a running call makes calls.
    pub(crate) fn of_call(&self, effect: EffectId, results: &mpsc::UnboundedSender<Input>) -> Arc<dyn Calls> {
        let waiting = Arc::clone(&self.0);
        Arc::new(OfCall { effect, next: AtomicU64::new(0), waiting, results: results.clone() })
    }

    /// Reports the result of a call. Its maker may have dropped the receiver.
    pub(crate) fn give(&self, to: EffectId, number: u64, outcome: ToolOutcome) {
        let waiting = self.0.lock().unwrap_or_else(PoisonError::into_inner).remove(&(to, number));
        if let Some(waiting) = waiting {
            let _ = waiting.send(outcome);
        }
    }

    /// Drops the open calls of a maker that has ended.
    pub(crate) fn end(&self, maker: EffectId) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).retain(|(of, _), _| *of != maker);
    }
}

/// Interface through which a running call makes calls.
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
        // Sending fails only when the session has ended.
        let _ = self.results.send(Input::Made(self.effect, number, tool, input));
        // The maker or the session has ended.
        Box::pin(async move { answer.await.unwrap_or_else(|_| ToolOutcome::error(runtime_text::CALL_STOPPED)) })
    }
}
