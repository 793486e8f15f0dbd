//! The queue between a session and its host.

use crate::SessionError;
use crate::handle::Guard;
use futures_core::Stream;
use std::collections::VecDeque;
use std::fmt;
use std::future::poll_fn;
use std::pin::Pin;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll, Waker};
use windlass_core::coalesce;
use windlass_types::Event;

/// How many events wait at most before nothing new begins. Effects that are
/// going on may still add to it.
pub(crate) const ENOUGH: usize = 512;

/// The events that the host has not read yet.
#[derive(Debug, Default)]
pub(crate) struct EventQueue(Mutex<Inner>);

#[derive(Debug, Default)]
struct Inner {
    events: VecDeque<Event>,
    next_seq: u64,
    end: Option<Option<SessionError>>,
    reader: Option<Waker>,
    writers: Vec<Waker>,
    abandoned: bool,
}

impl EventQueue {
    fn lock(&self) -> MutexGuard<'_, Inner> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Adds an event; text and progress join what waits already.
    pub(crate) fn push(&self, event: Event) {
        let mut inner = self.lock();
        if inner.abandoned {
            return;
        }
        let Event { seq, session_id, agent, run_id, turn, kind, .. } = event;
        let waiting = inner.events.iter_mut().rev().map(|waiting| (waiting.agent == agent, &mut waiting.kind));
        if let Some(kind) = coalesce(waiting, kind) {
            let mut event = Event::new(seq, session_id, run_id, turn, kind);
            event.agent = agent;
            inner.events.push_back(event);
        }
        if let Some(reader) = inner.reader.take() {
            reader.wake();
        }
    }

    /// Nothing follows, but perhaps an error.
    pub(crate) fn end(&self, error: Option<SessionError>) {
        let mut inner = self.lock();
        inner.end.get_or_insert(error);
        if let Some(reader) = inner.reader.take() {
            reader.wake();
        }
    }

    /// Whether so much waits that nothing new should begin.
    pub(crate) fn is_full(&self) -> bool {
        self.lock().events.len() >= ENOUGH
    }

    /// Waits until there is room.
    pub(crate) async fn room(&self) {
        poll_fn(|cx| {
            let mut inner = self.lock();
            if inner.events.len() < ENOUGH {
                return Poll::Ready(());
            }
            if !inner.writers.iter().any(|writer| writer.will_wake(cx.waker())) {
                inner.writers.push(cx.waker().clone());
            }
            Poll::Pending
        })
        .await;
    }

    fn abandon(&self) {
        let mut inner = self.lock();
        inner.abandoned = true;
        inner.events.clear();
        inner.writers.drain(..).for_each(Waker::wake);
    }

    pub(crate) fn poll(&self, cx: &Context<'_>) -> Poll<Option<Result<Event, SessionError>>> {
        let mut inner = self.lock();
        if let Some(mut event) = inner.events.pop_front() {
            // Numbered on the way out, so that joined events leave no gap.
            event.seq = inner.next_seq;
            inner.next_seq += 1;
            if inner.events.len() < ENOUGH {
                inner.writers.drain(..).for_each(Waker::wake);
            }
            return Poll::Ready(Some(Ok(event)));
        }
        match inner.end.take() {
            Some(error) => {
                inner.end = Some(None);
                Poll::Ready(error.map(Err))
            }
            None => {
                inner.reader = Some(cx.waker().clone());
                Poll::Pending
            }
        }
    }
}

/// The events of a session, in order.
///
/// An `Err` means that the session cannot continue; it is the last item. Failures
/// of runs, tools and model calls are events.
///
/// Dropping it closes the session.
#[must_use = "dropping the stream closes the session"]
pub struct EventStream {
    queue: Arc<EventQueue>,
    _guard: Guard,
}

impl EventStream {
    pub(crate) fn new(queue: Arc<EventQueue>, guard: Guard) -> Self {
        Self { queue, _guard: guard }
    }

    /// The next event, or `None` when the session is closed. Cancel safe.
    ///
    /// # Errors
    /// The session cannot continue. Nothing follows.
    pub async fn next(&mut self) -> Result<Option<Event>, SessionError> {
        poll_fn(|cx| self.queue.poll(cx)).await.transpose()
    }
}

impl Stream for EventStream {
    type Item = Result<Event, SessionError>;

    fn poll_next(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        self.queue.poll(cx)
    }
}

impl Drop for EventStream {
    fn drop(&mut self) {
        self.queue.abandon();
    }
}

impl fmt::Debug for EventStream {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("EventStream").finish_non_exhaustive()
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;
    use windlass_types::{Delta, EventKind, RunId, SessionId};

    pub(crate) fn text(index: usize, text: &str) -> Event {
        let kind = EventKind::BlockDelta { index, delta: Delta::Text(text.into()) };
        Event::new(9, SessionId::from("s"), RunId::from("r"), 1, kind)
    }

    pub(crate) fn drain(queue: &EventQueue) -> Vec<Event> {
        let cx = Context::from_waker(Waker::noop());
        let mut events = Vec::new();
        while let Poll::Ready(Some(Ok(event))) = queue.poll(&cx) {
            events.push(event);
        }
        events
    }

    #[test]
    fn waiting_text_is_joined_and_numbers_have_no_gap() {
        let queue = EventQueue::default();
        for event in [text(0, "a"), text(0, "b"), text(1, "c"), text(0, "d")] {
            queue.push(event);
        }
        let events = drain(&queue);
        assert_eq!(events.iter().map(|event| event.seq).collect::<Vec<_>>(), [0, 1, 2]);
        assert_eq!(events[0].kind, text(0, "ab").kind);
        queue.end(Some(SessionError::Closed));
        let cx = Context::from_waker(Waker::noop());
        assert!(matches!(queue.poll(&cx), Poll::Ready(Some(Err(SessionError::Closed)))));
        assert!(matches!(queue.poll(&cx), Poll::Ready(None)));
    }

    #[test]
    fn a_reader_that_never_reads_bounds_the_queue() {
        let queue = EventQueue::default();
        for _ in 0..10_000 {
            queue.push(text(0, "x"));
        }
        assert!(!queue.is_full());
        assert_eq!(drain(&queue).len(), 1);
    }
}
