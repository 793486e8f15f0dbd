//! A model call in progress.

use futures_util::FutureExt;
use futures_util::future::{BoxFuture, Shared};
use std::future::Future;
use std::panic::AssertUnwindSafe;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use windlass_core::{EffectId, Input, ModelFailure, ModelProfile};
use windlass_model::{ModelError, ModelProvider, ModelStream};
use windlass_types::{ModelErrorKind, ModelEvent, ModelItem, ModelRequest};

type Opening = Pin<Box<dyn Future<Output = Result<ModelStream, ModelError>> + Send>>;

/// A model call in progress.
pub(crate) struct ModelCall {
    effect: EffectId,
    provider: Arc<dyn ModelProvider>,
    /// The requested model.
    asked: String,
    /// The item after the input that was given last.
    next: Option<ModelItem>,
    /// Work that must end before an item of the answer is given. The request is sent meanwhile.
    beside: Option<Shared<BoxFuture<'static, ()>>>,
    /// An item that came before the end of that work.
    early: Option<Result<ModelItem, ModelError>>,
    state: CallPhase,
}

enum CallPhase {
    Opening(Opening),
    Streaming(ModelStream),
    Ended,
}

impl ModelCall {
    pub(crate) fn new(effect: EffectId, provider: Arc<dyn ModelProvider>, request: Arc<ModelRequest>) -> Self {
        let (asked, asking) = (request.model.clone(), Arc::clone(&provider));
        let opening = AssertUnwindSafe(async move { asking.stream(request).await }).catch_unwind();
        let opening = async move { opening.await.unwrap_or_else(|_| Err(panicked())) };
        let state = CallPhase::Opening(Box::pin(opening));
        Self { effect, provider, asked, next: None, beside: None, early: None, state }
    }

    /// Holds back the answer until `work` has ended. The request is sent at once all the same.
    pub(crate) fn beside(mut self, work: Option<Shared<BoxFuture<'static, ()>>>) -> Self {
        self.beside = work;
        self
    }

    pub(crate) fn effect(&self) -> EffectId {
        self.effect
    }

    /// The next input for the machine; `None` when the call has ended.
    /// Cancel safe.
    pub(crate) async fn next(&mut self, jitter: impl Fn() -> u32) -> Option<Input> {
        std::future::poll_fn(|cx| self.poll_next(cx, &jitter)).await
    }

    /// Like [`next`](Self::next), without waiting.
    pub(crate) fn poll_next(&mut self, cx: &mut Context<'_>, jitter: impl Fn() -> u32) -> Poll<Option<Input>> {
        if let Some(item) = self.next.take() {
            return Poll::Ready(Some(Input::Model(self.effect, item)));
        }
        self.poll(cx).map(|item| {
            item.map(|item| match item {
                Ok(item) => match self.answered_by(&item) {
                    Some(model) => {
                        self.next = Some(item);
                        Input::AnsweredBy(self.effect, model)
                    }
                    None => Input::Model(self.effect, item),
                },
                Err(error) => Input::ModelFailed(self.effect, failure(&error, jitter())),
            })
        })
    }

    /// Returns the profile of the answering model, if the message begins with this item and the model is another one
    /// with its own price.
    fn answered_by(&self, item: &ModelItem) -> Option<Box<ModelProfile>> {
        let ModelEvent::MessageStart { model, .. } = &item.event else { return None };
        if *model == self.asked {
            return None;
        }
        // A panic of the provider means that the price is not known.
        let id = std::panic::catch_unwind(AssertUnwindSafe(|| {
            let id = self.provider.answering_model(&self.asked, model)?;
            let info = self.provider.model_info(&id);
            Some(Box::new(ModelProfile::new(id, info)))
        }));
        id.ok().flatten()
    }

    fn poll(&mut self, cx: &mut Context<'_>) -> Poll<Option<Result<ModelItem, ModelError>>> {
        let Some(mut work) = self.beside.take() else { return self.poll_answer(cx) };
        if self.early.is_none()
            && let Poll::Ready(item) = self.poll_answer(cx)
        {
            self.early = item;
        }
        if work.poll_unpin(cx).is_pending() {
            self.beside = Some(work);
            return Poll::Pending;
        }
        match self.early.take() {
            Some(item) => Poll::Ready(Some(item)),
            None => self.poll_answer(cx),
        }
    }

    fn poll_answer(&mut self, cx: &mut Context<'_>) -> Poll<Option<Result<ModelItem, ModelError>>> {
        loop {
            match &mut self.state {
                CallPhase::Opening(opening) => match opening.as_mut().poll(cx) {
                    Poll::Ready(Ok(stream)) => self.state = CallPhase::Streaming(stream),
                    Poll::Ready(Err(error)) => {
                        self.state = CallPhase::Ended;
                        return Poll::Ready(Some(Err(error)));
                    }
                    Poll::Pending => return Poll::Pending,
                },
                CallPhase::Streaming(stream) => {
                    let polled = std::panic::catch_unwind(AssertUnwindSafe(|| stream.as_mut().poll_next(cx)));
                    let item = match polled {
                        Ok(Poll::Pending) => return Poll::Pending,
                        Ok(Poll::Ready(Some(item))) => item,
                        Ok(Poll::Ready(None)) => Err(cut()),
                        Err(_) => Err(panicked()),
                    };
                    // Nothing may follow either of these, so the stream is dropped.
                    if !matches!(&item, Ok(item) if item.event != ModelEvent::MessageStop) {
                        self.state = CallPhase::Ended;
                    }
                    return Poll::Ready(Some(item));
                }
                CallPhase::Ended => return Poll::Ready(None),
            }
        }
    }
}

fn cut() -> ModelError {
    ModelError::new(ModelErrorKind::Cut, "The provider's stream ended before the message was complete.")
}

fn panicked() -> ModelError {
    ModelError::new(ModelErrorKind::Configuration, "The model provider panicked. This is a bug in the provider.")
}

fn failure(error: &ModelError, jitter: u32) -> ModelFailure {
    let message = match error.resets_at {
        Some(at) => format!("{}. It is available again at {at}.", error.message.trim_end_matches('.')),
        None => error.message.clone(),
    };
    let mut failure = ModelFailure::new(error.kind, message);
    failure.status = error.status;
    failure.retry_after = error.retry_after;
    (failure.should_retry, failure.unbilled) = (error.should_retry, error.unbilled);
    failure.rate_limit.clone_from(&error.rate_limit);
    (failure.context_window, failure.refuses_images) = (error.context_window(), error.refuses_images);
    failure.jitter = jitter;
    failure
}
