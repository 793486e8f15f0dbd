//! Progress reports of running calls.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};
use tokio::sync::mpsc;
use windlass_core::{EffectId, Input};

/// The latest message of a running call; earlier ones are dropped.
type Latest = Arc<Mutex<Option<String>>>;

/// Progress reports of running calls.
#[derive(Debug)]
pub(crate) struct Progress {
    /// Latest messages by call. Messages that the machine has got are removed.
    latest: HashMap<EffectId, Latest>,
    /// Calls that have a message. Read last, so that results, orders and the model come first however much calls
    /// report.
    spoken: mpsc::UnboundedReceiver<EffectId>,
    speaking: mpsc::UnboundedSender<EffectId>,
}

impl Progress {
    pub(crate) fn new() -> Self {
        let (speaking, spoken) = mpsc::unbounded_channel();
        Self { latest: HashMap::new(), spoken, speaking }
    }

    /// Returns the function with which a new call reports its progress.
    pub(crate) fn of_call(&mut self, effect: EffectId) -> Arc<dyn Fn(String) + Send + Sync> {
        let latest = Latest::default();
        self.latest.insert(effect, Arc::clone(&latest));
        let speaking = self.speaking.clone();
        Arc::new(move |message| {
            let before = latest.lock().unwrap_or_else(PoisonError::into_inner).replace(message);
            if before.is_none() {
                // Sending fails only when the session has ended.
                let _ = speaking.send(effect);
            }
        })
    }

    /// Returns the next call that has a message. Cancel safe.
    pub(crate) async fn next(&mut self) -> Option<EffectId> {
        self.spoken.recv().await
    }

    /// Returns the latest message of a running call, if the machine has not got it.
    pub(crate) fn take(&self, effect: EffectId) -> Option<Input> {
        let message = self.latest.get(&effect)?.lock().unwrap_or_else(PoisonError::into_inner).take()?;
        Some(Input::Progress(effect, message))
    }

    /// Forgets a call that has ended.
    pub(crate) fn end(&mut self, effect: EffectId) {
        self.latest.remove(&effect);
    }
}
