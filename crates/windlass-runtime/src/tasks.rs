//! Effects that run on tasks of their own, and work that continues after its call.

pub(crate) mod background;

use std::collections::HashMap;
use std::future::Future;
use tokio::task::JoinHandle;
use windlass_core::EffectId;
use windlass_tool::Cancel;

/// The effects in progress. Dropping this stops them all.
#[derive(Debug, Default)]
pub(crate) struct EffectTasks(HashMap<EffectId, Task>);

#[derive(Debug)]
struct Task {
    work: AbortOnDrop<()>,
    /// Set for effects that are asked to stop and then answer.
    cancel: Option<Cancel>,
}

impl EffectTasks {
    /// Starts an effect that is forgotten when it is cancelled.
    pub(crate) fn start(&mut self, id: EffectId, work: impl Future<Output = ()> + Send + 'static) {
        self.0.insert(id, Task { work: AbortOnDrop(tokio::spawn(work)), cancel: None });
    }

    /// Starts an effect that is asked to stop, and answers then.
    pub(crate) fn start_stoppable(
        &mut self,
        id: EffectId,
        cancel: Cancel,
        work: impl Future<Output = ()> + Send + 'static,
    ) {
        self.0.insert(id, Task { work: AbortOnDrop(tokio::spawn(work)), cancel: Some(cancel) });
    }

    /// Stops an effect, or asks it to stop.
    pub(crate) fn cancel(&mut self, id: EffectId) {
        if let Some(cancel) = self.0.get(&id).and_then(|task| task.cancel.as_ref()) {
            cancel.cancel();
        } else {
            self.0.remove(&id);
        }
    }

    /// Forgets effects that have ended.
    pub(crate) fn sweep(&mut self) {
        if self.0.len() > 64 {
            self.0.retain(|_, task| !task.work.0.is_finished());
        }
    }

    pub(crate) fn done(&mut self, id: EffectId) {
        self.0.remove(&id);
    }
}

/// A task that does not outlive its handle.
#[derive(Debug)]
pub(crate) struct AbortOnDrop<T>(pub(crate) JoinHandle<T>);

impl<T> Drop for AbortOnDrop<T> {
    fn drop(&mut self) {
        self.0.abort();
    }
}
