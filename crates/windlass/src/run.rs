//! A running query.

use crate::error::Error;
use crate::stopped::Stopped;
use futures_core::Stream;
use std::fmt;
use std::future::{Future, poll_fn};
use std::pin::Pin;
use std::task::{Context, Poll, ready};
use std::time::Duration;
use windlass_runtime::{EventStream, Session, SessionError, SessionHandle};
use windlass_types::{Event, EventKind};

/// Stream of a run's events, which ends when the session has ended. Then all entries are durable and the log is
/// released, so the program can end its tokio runtime or resume the session at once.
///
/// Commands and agents in the background may cause further runs when they end: see
/// [`Query::background_wait`](crate::Query::background_wait). Only the last result is final. If background work was
/// stopped after a success, one more result follows, with the outcome
/// [`BackgroundStopped`](crate::Outcome::BackgroundStopped).
///
/// Dropping the run stops it. Entries that the store has acknowledged stay in the log.
#[must_use = "a run does nothing until it is polled"]
pub struct Run {
    state: RunState,
    /// Time limit for background work.
    background_limit: Option<Duration>,
    notices: Vec<String>,
    stopped: Stopped,
}

type Opening = Pin<Box<dyn Future<Output = Result<(Session, Option<PromptFeed>), Error>> + Send>>;

/// Future that sends prompts to the session as they arrive. Ready when the last of their runs has ended.
pub(crate) type PromptFeed = Pin<Box<dyn Future<Output = Result<(), Error>> + Send>>;

/// Future that waits for background work. Ready when none is running, or the time limit has passed.
type QuietFuture = Pin<Box<dyn Future<Output = bool> + Send>>;

type CloseFuture = Pin<Box<dyn Future<Output = Result<(), SessionError>> + Send>>;

enum RunState {
    Opening(Opening),
    Open {
        handle: SessionHandle,
        events: EventStream,
        /// Prompts that are still to come.
        feed: Option<PromptFeed>,
    },
    /// The run has ended; background work may still run.
    Waiting {
        handle: SessionHandle,
        events: EventStream,
        quiet: Option<QuietFuture>,
    },
    Closing {
        /// Future that closes the session, until it is ready.
        closed: Option<CloseFuture>,
        events: EventStream,
    },
    /// The session has ended. One event may remain.
    Ended(Option<Box<Event>>),
}

impl Run {
    pub(crate) fn new(
        opening: impl Future<Output = Result<(Session, Option<PromptFeed>), Error>> + Send + 'static,
        wait: Option<Duration>,
    ) -> Self {
        let state = RunState::Opening(Box::pin(opening));
        Self { state, background_limit: wait, notices: Vec::new(), stopped: Stopped::default() }
    }

    /// Next event; `None` when the session has ended and its log is released. Cancel safe.
    ///
    /// # Errors
    /// The run could not start, or the session store refused an entry after the result of the run. No event follows.
    pub async fn try_next(&mut self) -> Result<Option<Box<Event>>, Error> {
        poll_fn(|cx| self.poll(cx)).await.transpose()
    }

    /// Handle for commands to the run: interrupt, steer, change the model or mode. Opens the session if that has not
    /// happened yet.
    ///
    /// # Errors
    /// The run could not start, or is over.
    pub async fn handle(&mut self) -> Result<SessionHandle, Error> {
        poll_fn(|cx| self.poll_open(cx)).await?;
        match &self.state {
            RunState::Open { handle, .. } | RunState::Waiting { handle, .. } => Ok(handle.clone()),
            _ => Err(Error::Session(SessionError::Closed)),
        }
    }

    /// Notices from opening the session: unusable allow rules, damaged lines of an earlier session, calls with an
    /// unknown outcome. The list is empty before the first event. Awaiting the query discards it.
    pub fn notices(&self) -> &[String] {
        &self.notices
    }

    fn poll_open(&mut self, cx: &mut Context<'_>) -> Poll<Result<(), Error>> {
        if let RunState::Opening(opening) = &mut self.state {
            match ready!(opening.as_mut().poll(cx)) {
                Ok((Session { handle, events, notices, .. }, feed)) => {
                    self.notices = notices;
                    self.state = RunState::Open { handle, events, feed };
                }
                Err(error) => {
                    self.state = RunState::Ended(None);
                    return Poll::Ready(Err(error));
                }
            }
        }
        Poll::Ready(Ok(()))
    }

    fn poll(&mut self, cx: &mut Context<'_>) -> Poll<Option<Result<Box<Event>, Error>>> {
        loop {
            let next = match &mut self.state {
                RunState::Opening(_) => match ready!(self.poll_open(cx)) {
                    Ok(()) => continue,
                    Err(error) => return Poll::Ready(Some(Err(error))),
                },
                RunState::Open { events, feed, .. } => match feed.as_mut().map(|feed| feed.as_mut().poll(cx)) {
                    Some(Poll::Ready(Ok(()))) => {
                        *feed = None;
                        self.wait_for_background();
                        continue;
                    }
                    Some(Poll::Ready(Err(error))) => {
                        self.state = RunState::Ended(None);
                        return Poll::Ready(Some(Err(error)));
                    }
                    Some(Poll::Pending) | None => ready!(Pin::new(events).poll_next(cx)),
                },
                RunState::Waiting { events, quiet, .. } => match (Pin::new(events).poll_next(cx), &mut *quiet) {
                    (Poll::Ready(next), _) => next,
                    (Poll::Pending, Some(waiting)) => {
                        ready!(waiting.as_mut().poll(cx));
                        // Events may have arrived in between, so they are polled once more.
                        *quiet = None;
                        continue;
                    }
                    (Poll::Pending, None) => {
                        self.close();
                        continue;
                    }
                },
                RunState::Closing { closed, events } => {
                    if closed.as_mut().is_some_and(|closed| closed.as_mut().poll(cx).is_ready()) {
                        *closed = None;
                    }
                    ready!(Pin::new(events).poll_next(cx))
                }
                RunState::Ended(last) => return Poll::Ready(last.take().map(Ok)),
            };
            match next {
                Some(Ok(event)) => {
                    self.observe(&event);
                    return Poll::Ready(Some(Ok(event)));
                }
                Some(Err(error)) => {
                    self.state = RunState::Ended(None);
                    return Poll::Ready(Some(Err(error.into())));
                }
                None => self.state = RunState::Ended(std::mem::take(&mut self.stopped).last_word()),
            }
        }
    }

    fn observe(&mut self, event: &Event) {
        self.stopped.take(event);
        let awaits_prompts = matches!(self.state, RunState::Open { feed: Some(_), .. });
        if event.agent.is_main() && matches!(event.kind, EventKind::RunFinished(_)) && !awaits_prompts {
            self.wait_for_background();
        }
    }

    /// Waits for the background work of a finished run, unless that wait has begun already.
    fn wait_for_background(&mut self) {
        if self.background_limit == Some(Duration::ZERO) {
            return self.close();
        }
        self.state = match std::mem::replace(&mut self.state, RunState::Ended(None)) {
            RunState::Open { handle, events, .. } => {
                // Work that outlasts the limit is stopped by the close that follows.
                let quiet: QuietFuture = Box::pin(handle.quiet_within(self.background_limit.unwrap_or(Duration::MAX)));
                RunState::Waiting { handle, events, quiet: Some(quiet) }
            }
            state => state,
        };
    }

    fn close(&mut self) {
        self.state = match std::mem::replace(&mut self.state, RunState::Ended(None)) {
            RunState::Open { handle, events, .. } | RunState::Waiting { handle, events, .. } => {
                self.stopped.begin();
                let closed: CloseFuture = Box::pin(async move { handle.close().await });
                RunState::Closing { closed: Some(closed), events }
            }
            state => state,
        };
    }
}

impl Stream for Run {
    type Item = Result<Box<Event>, Error>;

    fn poll_next(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        self.poll(cx)
    }
}

impl fmt::Debug for Run {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let state = match &self.state {
            RunState::Opening(_) => "opening",
            RunState::Open { .. } => "open",
            RunState::Waiting { .. } => "waiting",
            RunState::Closing { .. } => "closing",
            RunState::Ended(_) => "ended",
        };
        f.debug_struct("Run").field("state", &state).finish()
    }
}
