//! What a model writes beside the conversation, and what that costs.

use crate::budget::Claim;
use futures_util::StreamExt;
use std::sync::Arc;
use tokio::sync::mpsc;
use windlass_context::estimate_request;
use windlass_core::{Input, ModelProfile};
use windlass_model::{ModelError, ModelProvider};
use windlass_types::{BlockStart, ModelEvent, ModelRequest, StopReason, StreamDelta, Usage};

/// What a request has used, which is booked when it ends, also when it is cancelled.
pub(crate) struct Bill<'a> {
    claim: Option<Claim>,
    model: ModelProfile,
    pub(crate) usage: Usage,
    results: &'a mpsc::UnboundedSender<Input>,
}

impl<'a> Bill<'a> {
    pub(crate) fn new(claim: Claim, model: ModelProfile, results: &'a mpsc::UnboundedSender<Input>) -> Self {
        Self { claim: Some(claim), model, usage: Usage::default(), results }
    }
}

impl Drop for Bill<'_> {
    fn drop(&mut self) {
        if let Some(mut claim) = self.claim.take() {
            // Settled before the session hears of it, so that its reports have it.
            claim.cost = self.model.info.cost(&self.usage).unwrap_or_default();
        }
        if self.usage != Usage::default() {
            // It fails when the session has ended.
            let _ = self.results.send(Input::Used(Box::new(self.model.clone()), self.usage));
        }
    }
}

/// A text that a model wrote. Reasoning is not part of it.
#[derive(Debug, Default)]
pub(crate) struct Written {
    pub(crate) text: String,
    pub(crate) stop_reason: Option<StopReason>,
    /// Whether it came to its end: its stream did, and it has no more than the bytes that were allowed.
    pub(crate) is_whole: bool,
}

/// Has a model write a text of at most so many bytes.
pub(crate) async fn write(
    provider: &dyn ModelProvider,
    request: &Arc<ModelRequest>,
    most_bytes: usize,
    billed: &mut Usage,
) -> Result<Written, ModelError> {
    // What a request that gets no answer is billed with, until something else is known.
    billed.input_tokens = estimate_request(request);
    let mut stream = match provider.stream(Arc::clone(request)).await {
        Ok(stream) => stream,
        Err(error) => {
            *billed = Usage::default();
            return Err(error);
        }
    };
    let mut written = Written::default();
    while let Some(item) = stream.next().await {
        match item?.event {
            ModelEvent::MessageStart { usage, .. } => *billed = usage,
            ModelEvent::MessageDelta { usage, stop_reason } => {
                billed.raise(usage);
                written.stop_reason = stop_reason.or(written.stop_reason);
            }
            ModelEvent::BlockStart { block: BlockStart::Text(begin), .. } => written.text.push_str(&begin),
            ModelEvent::BlockDelta { delta: StreamDelta::Text(more), .. } => written.text.push_str(&more),
            ModelEvent::MessageStop => {
                written.is_whole = true;
                return Ok(written);
            }
            _ => {}
        }
        if written.text.len() > most_bytes {
            break;
        }
    }
    Ok(written)
}
