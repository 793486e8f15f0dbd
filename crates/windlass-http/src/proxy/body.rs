use std::{
    fmt,
    future::Future,
    pin::Pin,
    sync::{
        Arc,
        atomic::{AtomicU8, Ordering},
    },
    task::{Context, Poll, ready},
    time::Duration,
};

use bytes::Bytes;
use hyper::body::{Body, Frame, Incoming, SizeHint};
use tokio::time::{Instant, Sleep, sleep};

use super::redact::RedactionFilter;

/// Reason why the body of a request did not reach its end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum UploadFault {
    TooLarge = 1,
    Silent,
    Broken,
}

/// End state of an upload; the body itself is moved into the request upstream.
#[derive(Clone, Default)]
pub(super) struct UploadState(Arc<AtomicU8>);

impl UploadState {
    pub(super) fn fault(&self) -> Option<UploadFault> {
        [UploadFault::TooLarge, UploadFault::Silent, UploadFault::Broken]
            .into_iter()
            .find(|fault| *fault as u8 == self.0.load(Ordering::Relaxed))
    }

    fn set(&self, fault: UploadFault) -> BodyError {
        self.0.store(fault as u8, Ordering::Relaxed);
        BodyError
    }
}

/// Error of a body that did not reach its end. Its text is empty: the cause is reported at a place that knows the
/// reportable details.
#[derive(Debug)]
pub(super) struct BodyError;

impl fmt::Display for BodyError {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("the body broke off")
    }
}

impl std::error::Error for BodyError {}

/// Body of a request on its way upstream: bounded in size and in silence.
pub(super) struct Upload {
    body: Incoming,
    room: u64,
    patience: Duration,
    waiting: Option<Pin<Box<Sleep>>>,
    state: UploadState,
}

impl Upload {
    pub(super) fn new(body: Incoming, most: u64, patience: Duration) -> (Self, UploadState) {
        let state = UploadState::default();
        (Self { body, room: most, patience, waiting: None, state: state.clone() }, state)
    }

    fn poll_silence(&mut self, context: &mut Context<'_>) -> Poll<BodyError> {
        let patience = self.patience;
        let waiting = self.waiting.get_or_insert_with(|| Box::pin(sleep(patience)));
        waiting.as_mut().poll(context).map(|()| self.state.set(UploadFault::Silent))
    }

    #[expect(clippy::disallowed_methods, reason = "a deadline on the clock of tokio, which tests can hold")]
    fn received(&mut self, frame: Frame<Bytes>) -> Option<Result<Frame<Bytes>, BodyError>> {
        if let Some(waiting) = &mut self.waiting {
            waiting.as_mut().reset(Instant::now() + self.patience);
        }
        // Trailers are dropped: they could carry headers past the gate.
        let data = frame.into_data().ok()?;
        let Some(room) = self.room.checked_sub(data.len() as u64) else {
            return Some(Err(self.state.set(UploadFault::TooLarge)));
        };
        self.room = room;
        Some(Ok(Frame::data(data)))
    }
}

impl Body for Upload {
    type Data = Bytes;
    type Error = BodyError;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, BodyError>>> {
        loop {
            let Poll::Ready(next) = Pin::new(&mut self.body).poll_frame(context) else {
                let error = ready!(self.poll_silence(context));
                return Poll::Ready(Some(Err(error)));
            };
            match next {
                None => return Poll::Ready(None),
                Some(Err(_)) => return Poll::Ready(Some(Err(self.state.set(UploadFault::Broken)))),
                Some(Ok(frame)) => {
                    if let Some(passed) = self.received(frame) {
                        return Poll::Ready(Some(passed));
                    }
                }
            }
        }
    }

    fn is_end_stream(&self) -> bool {
        self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.body.size_hint()
    }
}

/// Body of an answer.
pub(super) enum AnswerBody {
    /// Answer of the proxy itself.
    Own(Option<Bytes>),
    /// Answer of the upstream, with the credential masked.
    Relayed { body: reqwest::Body, filter: RedactionFilter, finished: bool },
}

impl AnswerBody {
    pub(super) fn relayed(body: reqwest::Body, filter: RedactionFilter) -> Self {
        Self::Relayed { body, filter, finished: false }
    }
}

impl Body for AnswerBody {
    type Data = Bytes;
    type Error = BodyError;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, BodyError>>> {
        let (body, filter, finished) = match &mut *self {
            Self::Own(text) => return Poll::Ready(text.take().map(|text| Ok(Frame::data(text)))),
            Self::Relayed { body, filter, finished } => (body, filter, finished),
        };
        while !*finished {
            match ready!(Pin::new(&mut *body).poll_frame(context)) {
                Some(Ok(frame)) => {
                    let Ok(data) = frame.into_data() else { continue };
                    let passed = filter.pass(data);
                    if !passed.is_empty() {
                        return Poll::Ready(Some(Ok(Frame::data(passed))));
                    }
                }
                Some(Err(_)) => {
                    *finished = true;
                    return Poll::Ready(Some(Err(BodyError)));
                }
                None => {
                    *finished = true;
                    let rest = filter.finish();
                    if !rest.is_empty() {
                        return Poll::Ready(Some(Ok(Frame::data(rest))));
                    }
                }
            }
        }
        Poll::Ready(None)
    }

    fn is_end_stream(&self) -> bool {
        match self {
            Self::Own(text) => text.is_none(),
            Self::Relayed { .. } => false,
        }
    }

    fn size_hint(&self) -> SizeHint {
        match self {
            Self::Own(text) => SizeHint::with_exact(text.as_ref().map_or(0, |text| text.len() as u64)),
            Self::Relayed { body, .. } => body.size_hint(),
        }
    }
}
