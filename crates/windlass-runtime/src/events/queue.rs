//! The queue between a session and its host.

use crate::SessionError;
use crate::events::history::EventHistory;
use std::collections::VecDeque;
use std::future::poll_fn;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll, Waker};
use windlass_core::coalesce;
use windlass_types::Event;

/// Maximum number of waiting events before effects are deferred. Effects in progress may still add events.
pub(crate) const ENOUGH: usize = 512;

/// The events that the host has not read yet, and those that are kept for watchers.
#[derive(Debug, Default)]
pub(crate) struct EventQueue(Mutex<Inner>);

#[derive(Debug, Default)]
pub(crate) struct Inner {
    events: VecDeque<Box<Event>>,
    pub(crate) next_seq: u64,
    end: Option<End>,
    reader: Option<Waker>,
    writers: Vec<Waker>,
    reading: FeedMode,
    /// Events kept for watchers. `None`: no one has ever watched.
    pub(crate) history: Option<EventHistory>,
}

/// Mode in which the host gets the events.
#[derive(Debug, Default, PartialEq, Eq)]
enum FeedMode {
    /// Events wait until the host reads them.
    #[default]
    Attached,
    /// Only watchers see events.
    Detached,
}

/// End of the events.
#[derive(Debug, Clone)]
struct End {
    error: Option<SessionError>,
    /// `true` once the host has read the error.
    is_reported: bool,
}

impl Inner {
    /// Gives an event its number: on the way out, so that joined events leave no gap.
    fn number(&mut self, event: &mut Event) {
        event.seq = self.next_seq;
        self.next_seq += 1;
    }

    fn keep(&mut self, mut event: Box<Event>) {
        self.number(&mut event);
        if let Some(history) = &mut self.history {
            history.push(*event);
        }
    }

    /// Leaves the waiting events to watchers alone.
    fn detach(&mut self) {
        self.reading = FeedMode::Detached;
        for event in std::mem::take(&mut self.events) {
            self.keep(event);
        }
        self.writers.drain(..).for_each(Waker::wake);
        self.wake();
    }

    fn wake(&mut self) {
        if let Some(reader) = self.reader.take() {
            reader.wake();
        }
        if let (Some(history), true) = (&mut self.history, self.end.is_some()) {
            history.wake();
        }
    }

    /// Returns the end of the events, once the last event has its number.
    pub(crate) fn ended(&self) -> Option<Option<SessionError>> {
        self.end.as_ref().filter(|_| self.events.is_empty()).map(|end| end.error.clone())
    }
}

impl EventQueue {
    pub(crate) fn lock(&self) -> MutexGuard<'_, Inner> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Adds an event; text and progress are joined with waiting ones.
    pub(crate) fn push(&self, mut event: Box<Event>) {
        let mut inner = self.lock();
        if inner.reading == FeedMode::Detached {
            return inner.keep(event);
        }
        let Event { agent, kind, .. } = &mut *event;
        let waiting = inner.events.iter_mut().rev().map(|waiting| (waiting.agent == *agent, &mut waiting.kind));
        if !coalesce(waiting, kind) {
            inner.events.push_back(event);
        }
        if let Some(reader) = inner.reader.take() {
            reader.wake();
        }
    }

    /// Ends the events, perhaps with an error.
    pub(crate) fn end(&self, error: Option<SessionError>) {
        let mut inner = self.lock();
        inner.end.get_or_insert(End { error, is_reported: false });
        inner.wake();
    }

    /// Returns `true` if so many events wait that nothing new should begin.
    pub(crate) fn is_full(&self) -> bool {
        self.lock().events.len() >= ENOUGH
    }

    /// Waits until the queue has room.
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

    /// Stops keeping events for the host. Later ones go to watchers, if any are kept.
    pub(crate) fn detach(&self) {
        self.lock().detach();
    }

    pub(crate) fn poll(&self, cx: &Context<'_>) -> Poll<Option<Result<Box<Event>, SessionError>>> {
        let mut inner = self.lock();
        if let Some(mut event) = inner.events.pop_front() {
            inner.number(&mut event);
            if let Some(history) = &mut inner.history {
                history.push(Event::clone(&event));
            }
            if inner.events.len() < ENOUGH {
                inner.writers.drain(..).for_each(Waker::wake);
            }
            return Poll::Ready(Some(Ok(event)));
        }
        match &mut inner.end {
            Some(end) => {
                let error = end.error.clone().filter(|_| !std::mem::replace(&mut end.is_reported, true));
                Poll::Ready(error.map(Err))
            }
            None => {
                inner.reader = Some(cx.waker().clone());
                Poll::Pending
            }
        }
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;
    use windlass_types::{Delta, EventKind, RunId, SessionId};

    pub(crate) fn text(index: usize, text: &str) -> Box<Event> {
        let kind = EventKind::BlockDelta { index, delta: Delta::Text(text.into()) };
        Box::new(Event::new(9, SessionId::from("s"), RunId::from("r"), 1, kind))
    }

    pub(crate) fn drain(queue: &EventQueue) -> Vec<Event> {
        let cx = Context::from_waker(Waker::noop());
        let mut events = Vec::new();
        while let Poll::Ready(Some(Ok(event))) = queue.poll(&cx) {
            events.push(*event);
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
