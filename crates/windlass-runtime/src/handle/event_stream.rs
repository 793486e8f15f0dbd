//! The events of a session, as its host reads them.

use crate::SessionError;
use crate::events::history::EventHistory;
use crate::events::queue::EventQueue;
use crate::handle::Guard;
use futures_core::Stream;
use std::fmt;
use std::future::poll_fn;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use windlass_types::Event;

/// The events of a session, in order.
///
/// An `Err` means that the session cannot continue; it is the last item. Failures of runs, tools and model calls are
/// events. The stream ends once the log is given back, which may take up to 30 seconds if the store does not answer.
///
/// The stream does not end with a run, since the session can have further ones. After the last
/// [`RunFinished`](windlass_types::EventKind::RunFinished) the program closes the session, and reads on or waits for
/// [`SessionHandle::close`](crate::SessionHandle::close).
///
/// The session waits for this stream: once it is 512 events behind, no new call begins until it is read.
/// Dropping it closes the session; [`detach`](Self::detach) does not.
#[must_use = "dropping the stream closes the session"]
pub struct EventStream {
    queue: Arc<EventQueue>,
    guard: Option<Guard>,
}

impl EventStream {
    pub(crate) fn new(queue: Arc<EventQueue>, guard: Guard) -> Self {
        Self { queue, guard: Some(guard) }
    }

    /// Returns the next event, or `None` when the session has ended. Its log is given back then: the session can be
    /// opened again at once, and a program may end its runtime. Cancel safe.
    ///
    /// # Errors
    /// The session cannot continue. Nothing follows.
    pub async fn try_next(&mut self) -> Result<Option<Box<Event>>, SessionError> {
        poll_fn(|cx| self.queue.poll(cx)).await.transpose()
    }

    /// Lets the session continue without this stream: only [watchers](crate::SessionHandle::subscribe_from) see its
    /// events, and it waits for none of them. Events that this stream has not read are kept for them.
    ///
    /// The session is closed by [`SessionHandle::close`](crate::SessionHandle::close), or when the last handle and the
    /// last watcher are dropped. Its open questions are denied then.
    pub fn detach(mut self) {
        {
            let mut inner = self.queue.lock();
            let next = inner.next_seq;
            inner.history.get_or_insert_with(|| EventHistory::from(next));
        }
        if let Some(guard) = self.guard.take() {
            guard.disarm();
        }
    }
}

impl Stream for EventStream {
    type Item = Result<Box<Event>, SessionError>;

    fn poll_next(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        self.queue.poll(cx)
    }
}

impl Drop for EventStream {
    fn drop(&mut self) {
        self.queue.detach();
    }
}

impl fmt::Debug for EventStream {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("EventStream").finish_non_exhaustive()
    }
}
