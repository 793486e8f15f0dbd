//! The layer that reports the progress of a call.

use crate::calls::layer::{CallEnd, CallLayer, LayeredCall};
use async_trait::async_trait;
use std::sync::{Arc, Mutex, PoisonError};
use tokio::sync::mpsc;
use windlass_core::{EffectId, Input};

/// The latest message of a call; earlier ones are dropped.
#[derive(Debug, Default)]
struct Latest {
    message: Option<String>,
    has_ended: bool,
}

/// Progress reports of running calls.
#[derive(Debug)]
pub(crate) struct ProgressReports {
    /// Calls that have a message. Read last, so that results, commands and the model come first however much calls
    /// report.
    reported: mpsc::UnboundedReceiver<ProgressReport>,
    reporting: mpsc::UnboundedSender<ProgressReport>,
}

/// A call that has a message.
#[derive(Debug)]
pub(crate) struct ProgressReport {
    effect: EffectId,
    latest: Arc<Mutex<Latest>>,
}

impl ProgressReports {
    /// No reports yet.
    pub(crate) fn new() -> Self {
        let (reporting, reported) = mpsc::unbounded_channel();
        Self { reported, reporting }
    }

    /// Returns the layer of a new call.
    pub(crate) fn of_call(&self, effect: EffectId, results: mpsc::UnboundedSender<Input>) -> ProgressLayer {
        let latest = Arc::default();
        ProgressLayer { effect, latest, reporting: self.reporting.clone(), results }
    }

    /// Returns the next call that has a message. Cancel safe.
    pub(crate) async fn next(&mut self) -> Option<ProgressReport> {
        self.reported.recv().await
    }
}

impl ProgressReport {
    /// Returns the latest message, if the machine has not got it.
    pub(crate) fn into_input(self) -> Option<Input> {
        let message = self.latest.lock().unwrap_or_else(PoisonError::into_inner).message.take()?;
        Some(Input::Progress(self.effect, message))
    }
}

/// Hands the last message of a call to the machine before the call's outcome, and drops later ones.
pub(crate) struct ProgressLayer {
    effect: EffectId,
    latest: Arc<Mutex<Latest>>,
    reporting: mpsc::UnboundedSender<ProgressReport>,
    results: mpsc::UnboundedSender<Input>,
}

impl ProgressLayer {
    /// Returns the function with which the call reports its progress.
    pub(crate) fn reporter(&self) -> Arc<dyn Fn(String) + Send + Sync> {
        let (effect, latest, reporting) = (self.effect, Arc::clone(&self.latest), self.reporting.clone());
        Arc::new(move |message| {
            let is_first = {
                let mut latest = latest.lock().unwrap_or_else(PoisonError::into_inner);
                !latest.has_ended && latest.message.replace(message).is_none()
            };
            if is_first {
                // Sending fails only when the session has ended.
                let _ = reporting.send(ProgressReport { effect, latest: Arc::clone(&latest) });
            }
        })
    }
}

#[async_trait]
impl CallLayer for ProgressLayer {
    async fn after(&mut self, _: &LayeredCall, _: &mut CallEnd) {
        let last = {
            let mut latest = self.latest.lock().unwrap_or_else(PoisonError::into_inner);
            latest.has_ended = true;
            latest.message.take()
        };
        if let Some(message) = last {
            // Sending fails only when the session has ended.
            let _ = self.results.send(Input::Progress(self.effect, message));
        }
    }
}
