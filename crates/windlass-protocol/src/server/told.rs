//! What the host has been told of calls.

use std::collections::HashSet;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;
use tokio::sync::Notify;
use windlass_types::ToolUseId;

/// What the frame of a call may take to be on its way. A call that has none, or
/// whose frame waits for a host that does not read, is asked about all the same.
const PATIENCE: Duration = Duration::from_secs(1);

/// The calls of a run whose frames are on their way, so that no question about a
/// call overtakes it: questions do not pass through the events.
#[derive(Debug, Default)]
pub(crate) struct Told {
    calls: Mutex<HashSet<ToolUseId>>,
    more: Notify,
}

impl Told {
    fn lock(&self) -> MutexGuard<'_, HashSet<ToolUseId>> {
        self.calls.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(crate) fn tell(&self, call: &ToolUseId) {
        self.lock().insert(call.clone());
        self.more.notify_waiters();
    }

    /// The run is over.
    pub(crate) fn forget(&self) {
        self.lock().clear();
    }

    /// Waits until the host has been told of a call. Cancel safe.
    pub(crate) async fn of(&self, call: &ToolUseId) {
        let told = async {
            loop {
                let more = self.more.notified();
                if self.lock().contains(call) {
                    return;
                }
                more.await;
            }
        };
        if tokio::time::timeout(PATIENCE, told).await.is_err() {
            tracing::debug!(%call, "the host is asked about a call that it has not been told of");
        }
    }
}
