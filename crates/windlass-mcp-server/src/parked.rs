//! Calls that wait for the request with which their client answers.

use crate::client::Client;
use crate::handler::HandledResult;
use crate::rounds::QuestionRounds;
use rmcp::model::ErrorData;
use std::collections::HashMap;
use std::future::Future;
use std::pin::Pin;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};
use std::time::Duration;
use windlass::tool::{Ids, SystemIds};

/// Maximum number of waiting calls. Beyond it, the one that has waited longest is dropped.
const MOST: usize = 64;
/// Maximum waiting time of a call.
const LONGEST: Duration = Duration::from_secs(10 * 60);

/// Call that continues when it is polled.
pub(crate) struct ParkedCall {
    pub(crate) future: Pin<Box<dyn Future<Output = Result<HandledResult, ErrorData>> + Send>>,
    pub(crate) rounds: Arc<QuestionRounds>,
    pub(crate) client: Client,
    /// Text of the original request: the answers are for this request alone.
    pub(crate) request: String,
    /// Duration after which the call becomes a task, if it can.
    pub(crate) task_after: Option<Duration>,
}

/// Waiting calls, by the handle that their client shows. A handle is random and valid once.
#[derive(Default)]
pub(crate) struct Parked(Mutex<ParkedState>);

#[derive(Default)]
struct ParkedState {
    count: u64,
    calls: HashMap<String, (u64, ParkedCall)>,
}

impl Parked {
    fn lock(&self) -> MutexGuard<'_, ParkedState> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Parks a call, and returns its handle.
    pub(crate) fn park(self: &Arc<Self>, call: ParkedCall) -> String {
        let handle = format!("{:032x}", SystemIds::default().bits());
        let mut state = self.lock();
        if state.calls.len() >= MOST {
            let oldest = state.calls.iter().min_by_key(|(_, (number, _))| *number).map(|(handle, _)| handle.clone());
            oldest.and_then(|oldest| state.calls.remove(&oldest));
        }
        state.count = state.count.saturating_add(1);
        let number = state.count;
        state.calls.insert(handle.clone(), (number, call));
        drop(state);
        tokio::spawn(given_up(Arc::downgrade(self), handle.clone()));
        handle
    }

    /// Takes the call of a handle, if it waits and belongs to this request.
    pub(crate) fn take(&self, handle: &str, request: &str) -> Option<ParkedCall> {
        let mut state = self.lock();
        state.calls.get(handle).filter(|(_, call)| call.request == request)?;
        state.calls.remove(handle).map(|(_, call)| call)
    }
}

/// Drops a call that has waited too long.
async fn given_up(parked: Weak<Parked>, handle: String) {
    tokio::time::sleep(LONGEST).await;
    if let Some(parked) = parked.upgrade() {
        let call = parked.lock().calls.remove(&handle);
        drop(call);
    }
}
