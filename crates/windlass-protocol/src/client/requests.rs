//! Control requests to the other side that wait for an answer.

use super::outbox::LineOutbox;
use crate::channel::frames::{CancelFrame, RequestFrame};
use crate::channel::requests::{AskError, HostResponse};
use crate::line::{self, MAX_LINE};
use serde::Serialize;
use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;
use tokio::sync::oneshot;
use windlass_tool::Ids;
use windlass_types::{EntryId, JsonText};

/// Waiting requests, by id. Late, repeated and unknown answers are ignored.
#[derive(Debug)]
pub(crate) struct PendingRequests {
    table: Mutex<RequestTable>,
    outbox: LineOutbox,
    ids: Arc<dyn Ids>,
    max_line: usize,
}

#[derive(Debug, Default)]
struct RequestTable {
    waiting: HashMap<String, WaitingRequest>,
    closed: bool,
}

#[derive(Debug)]
struct WaitingRequest {
    answer: oneshot::Sender<Result<HostResponse, AskError>>,
    /// `true` if the request was sent, so that it must be cancelled.
    sent: bool,
}

impl PendingRequests {
    pub(crate) fn new(outbox: LineOutbox, ids: Arc<dyn Ids>) -> Self {
        Self { table: Mutex::default(), outbox, ids, max_line: MAX_LINE }
    }

    /// Sets the maximum number of bytes of a request's line, for a side other than a host.
    pub(crate) fn with_max_line(mut self, bytes: usize) -> Self {
        self.max_line = bytes;
        self
    }

    fn lock(&self) -> MutexGuard<'_, RequestTable> {
        self.table.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Sends a request and waits for the answer, for ever without a limit.
    ///
    /// Cancel safe: a request whose future is dropped is cancelled.
    pub(crate) async fn ask(
        &self,
        body: &impl Serialize,
        limit: Option<Duration>,
    ) -> Result<Option<JsonText>, AskError> {
        let id = EntryId::from_bits(self.ids.bits()).to_string();
        let mut bytes = Vec::new();
        let request = RequestFrame { kind: "control_request", request_id: &id, request: body };
        if !line::push_within(&mut bytes, &request, self.max_line) {
            return Err(AskError::TooLong);
        }
        let (answer, answered) = oneshot::channel();
        {
            let mut table = self.lock();
            if table.closed {
                return Err(AskError::Gone);
            }
            table.waiting.insert(id.clone(), WaitingRequest { answer, sent: false });
        }
        let cancellable = CancellableRequest { requests: self, id: &id };
        let wait = async {
            cancellable.send(bytes).await?;
            answered.await.unwrap_or(Err(AskError::Gone))
        };
        let answered = match limit {
            Some(limit) => tokio::time::timeout(limit, wait).await.unwrap_or(Err(AskError::TimedOut(limit))),
            None => wait.await,
        };
        answered?.map_err(AskError::Refused)
    }

    /// Passes an answer to the waiting request.
    pub(crate) fn answer(&self, id: &str, answer: HostResponse) {
        let request = self.lock().waiting.remove(id);
        match request {
            // Fails only when the requester is gone.
            Some(request) => drop(request.answer.send(Ok(answer))),
            None => tracing::debug!(id, "an answer came that is not waited for"),
        }
    }

    /// Fails open and later requests, because the other side is gone.
    pub(crate) fn close(&self) {
        let requests = {
            let mut table = self.lock();
            table.closed = true;
            std::mem::take(&mut table.waiting)
        };
        for request in requests.into_values() {
            drop(request.answer.send(Err(AskError::Gone)));
        }
    }

    fn send_cancel(&self, id: &str) {
        let mut bytes = Vec::new();
        if line::push(&mut bytes, &CancelFrame { kind: "control_cancel_request", request_id: id }) {
            self.outbox.send_now(bytes);
        }
    }
}

/// A request that is cancelled when it is dropped without an answer.
struct CancellableRequest<'a> {
    requests: &'a PendingRequests,
    id: &'a str,
}

impl CancellableRequest<'_> {
    async fn send(&self, bytes: Vec<u8>) -> Result<(), AskError> {
        let slot = self.requests.outbox.reserve(bytes.len()).await.map_err(|_| AskError::Gone)?;
        if let Some(request) = self.requests.lock().waiting.get_mut(self.id) {
            request.sent = true;
            slot.send(bytes);
        }
        Ok(())
    }
}

impl Drop for CancellableRequest<'_> {
    fn drop(&mut self) {
        let request = self.requests.lock().waiting.remove(self.id);
        if request.is_some_and(|request| request.sent) {
            self.requests.send_cancel(self.id);
        }
    }
}
