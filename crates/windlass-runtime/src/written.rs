//! Model messages beside the conversation, and their cost.

use crate::budget::Claim;
use futures_util::{FutureExt, StreamExt};
use std::collections::BTreeMap;
use std::panic::AssertUnwindSafe;
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::mpsc;
use windlass_context::estimate_request;
use windlass_core::{Input, ModelProfile};
use windlass_model::{ModelError, ModelProvider};
use windlass_types::{
    BlockStart, JsonText, ModelEvent, ModelRequest, StopReason, StreamDelta, ToolUse, ToolUseId, Usage, WebSearched,
};

/// Time limit for a message, once it may be written.
const LONGEST: Duration = Duration::from_secs(10 * 60);
/// Maximum length of a message, in bytes.
const MOST_BYTES: usize = 1_000_000;
/// Maximum number of reports of searches that are kept of one message.
const MOST_SEARCHES: usize = 1_000;

/// Usage of a request, which is booked when it ends, also when it is cancelled.
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
            // Settled before the session is told, so that its reports include it.
            claim.used = Some((self.model.clone(), self.usage));
        }
        if self.usage != Usage::default() {
            // Sending fails when the session has ended.
            let _ = self.results.send(Input::Used(Box::new(self.model.clone()), self.usage));
        }
    }
}

/// A text that a model wrote, without reasoning.
#[derive(Debug, Default)]
pub(crate) struct Written {
    pub(crate) text: String,
    /// Calls of the request's tools.
    pub(crate) calls: Calls,
    /// Results of searches by the vendor.
    pub(crate) searches: Vec<WebSearched>,
    pub(crate) stop_reason: Option<StopReason>,
    /// `true` if the text is complete: its stream came to its end, and the text is within the byte limit.
    pub(crate) is_whole: bool,
}

/// The calls of a message.
#[derive(Debug, Default)]
pub(crate) struct Calls {
    /// Calls by their places in the message: id, name and the text of the input.
    all: BTreeMap<usize, (ToolUseId, String, String)>,
    bytes: usize,
}

impl Calls {
    fn begin(&mut self, index: usize, id: ToolUseId, name: String) {
        self.bytes += id.as_str().len() + name.len();
        self.all.insert(index, (id, name, String::new()));
    }

    fn add(&mut self, index: usize, more: &str) {
        if let Some((_, _, input)) = self.all.get_mut(&index) {
            self.bytes += more.len();
            input.push_str(more);
        }
    }

    /// Returns the calls. `None` if the input of one is no object.
    pub(crate) fn read(self) -> Option<Vec<ToolUse>> {
        let read = |(id, name, input): (ToolUseId, String, String)| {
            let input = if input.trim().is_empty() { "{}".to_owned() } else { input };
            let input = JsonText::parse_strict(input).ok().filter(JsonText::is_object)?;
            Some(ToolUse::new(id, name, input))
        };
        self.all.into_values().map(read).collect()
    }
}

/// Reason why a text was not written.
pub(crate) enum Unwritten {
    /// The budget does not suffice.
    Budget,
    /// The model did not write the text.
    Failed(String),
}

/// Makes a model write a whole text, paid with a claim. Returns it with its usage.
pub(crate) async fn paid(
    provider: &dyn ModelProvider,
    (model, request): (&ModelProfile, &Arc<ModelRequest>),
    claim: Option<Claim>,
    results: &mpsc::UnboundedSender<Input>,
) -> Result<(Written, Usage), Unwritten> {
    let mut claim = claim.ok_or(Unwritten::Budget)?;
    claim.noted().await.map_err(|failure| Unwritten::Failed(failure.message))?;
    let mut bill = Bill::new(claim, model.clone(), results);
    let written = write(provider, request, MOST_BYTES, &mut bill.usage);
    let written = tokio::time::timeout(LONGEST, AssertUnwindSafe(written).catch_unwind()).await;
    let failed = |why: &str| Unwritten::Failed(why.to_owned());
    match written {
        Ok(Ok(Ok(written))) if written.is_whole => Ok((written, bill.usage)),
        Ok(Ok(Ok(_))) => Err(failed("its answer was cut off")),
        Ok(Ok(Err(error))) => Err(Unwritten::Failed(error.message)),
        Ok(Err(_)) => Err(failed("its provider panicked")),
        Err(_) => Err(failed("it took longer than ten minutes")),
    }
}

/// Makes a model write a text of at most so many bytes.
pub(crate) async fn write(
    provider: &dyn ModelProvider,
    request: &Arc<ModelRequest>,
    most_bytes: usize,
    billed: &mut Usage,
) -> Result<Written, ModelError> {
    // A request without an answer is billed with this estimate, until the usage is known.
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
            ModelEvent::BlockStart { index, block: BlockStart::ToolUse { id, name } } => {
                written.calls.begin(index, id, name);
            }
            ModelEvent::BlockDelta { index, delta: StreamDelta::ToolInput(more) } => written.calls.add(index, &more),
            ModelEvent::WebSearched(searched) if written.searches.len() < MOST_SEARCHES => {
                written.searches.push(*searched)
            }
            ModelEvent::MessageStop => {
                written.is_whole = true;
                return Ok(written);
            }
            _ => {}
        }
        if written.text.len() + written.calls.bytes > most_bytes {
            break;
        }
    }
    Ok(written)
}
