//! The layer of calls that a running call makes: their way to the machine, and of their results back to the call.

use crate::calls::layer::{CallEnd, CallLayer, LayeredCall};
use async_trait::async_trait;
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
#[derive(Debug, Clone, Default)]
pub(crate) struct ProgrammaticCalls(Waiting);

impl ProgrammaticCalls {
    /// Returns the layer of a running call.
    pub(crate) fn of_call(&self, effect: EffectId) -> ProgrammaticCallsLayer {
        ProgrammaticCallsLayer { effect, calls: self.clone() }
    }

    /// Returns the interface through which a running call makes calls.
    pub(crate) fn port(&self, effect: EffectId, results: &mpsc::UnboundedSender<Input>) -> Arc<dyn Calls> {
        let waiting = Arc::clone(&self.0);
        Arc::new(CallMaker { effect, next: AtomicU64::new(0), waiting, results: results.clone() })
    }

    /// Reports the result of a call. Its maker may have dropped the receiver.
    pub(crate) fn give(&self, to: EffectId, number: u64, outcome: ToolOutcome) {
        let waiting = self.0.lock().unwrap_or_else(PoisonError::into_inner).remove(&(to, number));
        if let Some(waiting) = waiting {
            let _ = waiting.send(outcome);
        }
    }

    /// Drops the open calls of a maker that has ended.
    fn end(&self, maker: EffectId) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).retain(|(of, _), _| *of != maker);
    }
}

/// Interface through which a running call makes calls.
#[derive(Debug)]
struct CallMaker {
    effect: EffectId,
    next: AtomicU64,
    waiting: Waiting,
    results: mpsc::UnboundedSender<Input>,
}

impl Calls for CallMaker {
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

/// Drops the open calls of a call when it ends.
pub(crate) struct ProgrammaticCallsLayer {
    effect: EffectId,
    calls: ProgrammaticCalls,
}

#[async_trait]
impl CallLayer for ProgrammaticCallsLayer {
    async fn after(&mut self, _: &LayeredCall, _: &mut CallEnd) {
        self.calls.end(self.effect);
    }
}
