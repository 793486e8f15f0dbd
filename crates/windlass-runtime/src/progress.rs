//! The progress that running calls report.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};
use tokio::sync::mpsc;
use windlass_core::{EffectId, Input};

/// The latest message of a running call. However many it sends, one is kept.
type Latest = Arc<Mutex<Option<String>>>;

/// The progress that running calls report.
#[derive(Debug)]
pub(crate) struct Progress {
    /// The latest message of each running call that the machine has not got yet.
    latest: HashMap<EffectId, Latest>,
    /// Calls that have a message. Read last: however much they report, results, orders and the model come first.
    spoken: mpsc::UnboundedReceiver<EffectId>,
    speaking: mpsc::UnboundedSender<EffectId>,
}

impl Progress {
    pub(crate) fn new() -> Self {
        let (speaking, spoken) = mpsc::unbounded_channel();
        Self { latest: HashMap::new(), spoken, speaking }
    }

    /// What a call that begins reports its progress with.
    pub(crate) fn of_call(&mut self, effect: EffectId) -> Arc<dyn Fn(String) + Send + Sync> {
        let latest = Latest::default();
        self.latest.insert(effect, Arc::clone(&latest));
        let speaking = self.speaking.clone();
        Arc::new(move |message| {
            let before = latest.lock().unwrap_or_else(PoisonError::into_inner).replace(message);
            if before.is_none() {
                // It fails only when the session has ended.
                let _ = speaking.send(effect);
            }
        })
    }

    /// The next call that has a message. Cancel safe.
    pub(crate) async fn next(&mut self) -> Option<EffectId> {
        self.spoken.recv().await
    }

    /// The latest message of a running call, if the machine has not got it.
    pub(crate) fn take(&self, effect: EffectId) -> Option<Input> {
        let message = self.latest.get(&effect)?.lock().unwrap_or_else(PoisonError::into_inner).take()?;
        Some(Input::Progress(effect, message))
    }

    /// A call has ended.
    pub(crate) fn end(&mut self, effect: EffectId) {
        self.latest.remove(&effect);
    }
}
