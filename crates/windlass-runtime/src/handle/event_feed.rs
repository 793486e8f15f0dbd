//! Watching a session from several places, each at its own pace.

use crate::events::history::{EventHistory, HistoryItem};
use crate::events::queue::EventQueue;
use crate::{SessionError, SessionHandle};
use futures_core::Stream;
use std::future::poll_fn;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use windlass_types::Event;

/// Item of a watcher: an event or a gap.
///
/// In JSON, an event is serialized as itself, and a gap as an object of the type `missed` with the numbers `from` and
/// `to`. Both can be deserialized.
#[derive(Debug, Clone, PartialEq)]
#[expect(clippy::exhaustive_enums, reason = "a position of the feed holds an event, or no longer does")]
pub enum Watched {
    /// An event. Watchers share it.
    Event(Arc<Event>),
    /// The events with the numbers `from` up to, but not including, `to` are no longer history. The session's log has
    /// their durable content.
    Missed {
        /// The number of the first one.
        from: u64,
        /// The number of the event that follows.
        to: u64,
    },
}

/// A position that a session does not have.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("event {asked} is not known yet, the next one is {next}: numbers begin anew each time a session is opened")]
#[non_exhaustive]
pub struct UnknownPosition {
    /// The requested number.
    pub asked: u64,
    /// The number that the next event will have.
    pub next: u64,
}

/// The events of a session as one of many watchers sees them, at its own pace. Made by
/// [`SessionHandle::subscribe_from`].
///
/// A watcher that is slow, or never reads, blocks neither the session nor other watchers; missed events are an item of
/// their own ([`Watched::Missed`]). While the host holds the session's [`EventStream`](crate::EventStream), watchers
/// see the events that this stream has read; after [`EventStream::detach`](crate::EventStream::detach), all events at
/// once.
///
/// A feed keeps the session open as a handle does. It ends when the session has ended; if the session could not
/// continue, the last item is an `Err`.
///
/// # Coming back
/// A client that lost its connection gives the [opening](Self::opening) and the [position](Self::position) that it has
/// seen. If the session was opened anew meanwhile, such as after a restart of the service, the opening is another one.
/// The client then begins from zero.
#[derive(Debug)]
#[must_use = "a watcher sees events when it is polled"]
pub struct EventFeed {
    handle: SessionHandle,
    next: u64,
    watcher: u64,
    is_over: bool,
}

impl EventFeed {
    /// Watches from now on.
    pub(crate) fn now(handle: SessionHandle) -> Self {
        let next = handle.events().lock().next_seq;
        Self::at(handle, next)
    }

    /// Watches from this number on.
    pub(crate) fn from(handle: SessionHandle, seq: u64) -> Result<Self, UnknownPosition> {
        let next = handle.events().lock().next_seq;
        if seq > next { Err(UnknownPosition { asked: seq, next }) } else { Ok(Self::at(handle, seq)) }
    }

    fn at(handle: SessionHandle, next: u64) -> Self {
        let mut inner = handle.events().lock();
        let first = inner.next_seq;
        let watcher = inner.history.get_or_insert_with(|| EventHistory::from(first)).watcher();
        drop(inner);
        Self { handle, next, watcher, is_over: false }
    }

    /// Returns the next item, or `None` when the session has ended. Cancel safe.
    ///
    /// # Errors
    /// The session could not continue. `None` follows.
    pub async fn try_next(&mut self) -> Result<Option<Watched>, SessionError> {
        poll_fn(|cx| self.poll(cx)).await.transpose()
    }

    /// Returns the number of the event that this watcher waits for: the position to
    /// [subscribe](SessionHandle::subscribe_from) from again.
    pub fn position(&self) -> u64 {
        self.next
    }

    /// Returns the [opening](SessionHandle::opening) of the session that the numbers belong to.
    pub fn opening(&self) -> &str {
        self.handle.opening()
    }

    /// Returns the handle for orders to the session and answers to its questions.
    pub fn handle(&self) -> &SessionHandle {
        &self.handle
    }

    fn queue(&self) -> &Arc<EventQueue> {
        self.handle.events()
    }

    fn poll(&mut self, cx: &Context<'_>) -> Poll<Option<Result<Watched, SessionError>>> {
        if self.is_over {
            return Poll::Ready(None);
        }
        let (seen, over) = {
            let mut inner = self.queue().lock();
            let ended = inner.ended();
            match (inner.history.as_mut(), ended) {
                (None, _) => (None, true),
                (Some(history), ended) => match (history.at(self.next), ended) {
                    (HistoryItem::Event(event), _) => (Some(Ok(Watched::Event(event))), false),
                    (HistoryItem::Missed(to), _) => (Some(Ok(Watched::Missed { from: self.next, to })), false),
                    (HistoryItem::Ahead, Some(error)) => (error.map(Err), true),
                    (HistoryItem::Ahead, None) => {
                        history.wait(self.watcher, cx.waker().clone());
                        return Poll::Pending;
                    }
                },
            }
        };
        match &seen {
            Some(Ok(Watched::Event(_))) => self.next += 1,
            Some(Ok(Watched::Missed { to, .. })) => self.next = *to,
            _ => {}
        }
        self.is_over = over;
        Poll::Ready(seen)
    }
}

impl SessionHandle {
    /// Watches the session from now on, independently of its stream and other watchers.
    ///
    /// Events are kept for watchers from the first subscription, or from
    /// [`EventStream::detach`](crate::EventStream::detach), on: at most the last 4,096 and 4 MiB of them.
    pub fn subscribe(&self) -> EventFeed {
        EventFeed::now(self.clone())
    }

    /// Watches the session from the event with this number on: first the kept past events, then new ones. Events that
    /// are no longer kept are reported as [`Watched::Missed`](crate::Watched::Missed). A watcher that comes back begins
    /// behind the last event that it has seen.
    ///
    /// # Errors
    /// The session has not reached this number. Each opening numbers from zero, so this may be a position of an earlier
    /// opening.
    pub fn subscribe_from(&self, seq: u64) -> Result<EventFeed, UnknownPosition> {
        EventFeed::from(self.clone(), seq)
    }
}

impl Stream for EventFeed {
    type Item = Result<Watched, SessionError>;

    fn poll_next(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        self.poll(cx)
    }
}

impl Drop for EventFeed {
    fn drop(&mut self) {
        if let Some(history) = &mut self.queue().lock().history {
            history.forget(self.watcher);
        }
    }
}
