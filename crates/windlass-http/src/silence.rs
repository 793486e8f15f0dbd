//! Limit of an answer's silence.

use std::{
    future::Future,
    pin::Pin,
    task::{Context, Poll, ready},
    time::Duration,
};

use tokio::time::{Instant, Sleep, sleep_until};

/// Idle limit. Only the time of an actual wait is measured: a slow reader still finds the bytes that arrived
/// meanwhile.
///
/// The timer is reset when it fires and not with each chunk, because chunks arrive more often than a timer needs to be
/// set.
#[derive(Debug)]
pub(crate) struct Silence {
    limit: Duration,
    since: Option<Instant>,
    timer: Option<Pin<Box<Sleep>>>,
}

impl Silence {
    pub(crate) fn new(limit: Duration) -> Self {
        Self { limit, since: None, timer: None }
    }

    /// Ends the silence: a chunk has arrived.
    pub(crate) fn end(&mut self) {
        self.since = None;
    }

    /// Is ready once the silence is too long. Outside a tokio runtime there is no limit.
    #[expect(clippy::disallowed_methods, reason = "measures how long a server is silent")]
    pub(crate) fn poll(&mut self, context: &mut Context<'_>) -> Poll<()> {
        if self.timer.is_none() && tokio::runtime::Handle::try_current().is_err() {
            return Poll::Pending;
        }
        let since = *self.since.get_or_insert_with(Instant::now);
        // A limit beyond all times is no limit.
        let Some(end) = since.checked_add(self.limit) else { return Poll::Pending };
        let timer = self.timer.get_or_insert_with(|| Box::pin(sleep_until(end)));
        loop {
            ready!(timer.as_mut().poll(context));
            if Instant::now() >= end {
                return Poll::Ready(());
            }
            timer.as_mut().reset(end);
        }
    }
}
