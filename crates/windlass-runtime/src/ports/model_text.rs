//! Texts that models write outside the conversation.

use futures_util::StreamExt;
use std::collections::BTreeMap;
use std::sync::Arc;
use windlass_context::estimate_request;
use windlass_model::{ModelError, ModelProvider};
use windlass_types::{
    BlockStart, JsonText, ModelEvent, ModelRequest, StopReason, StreamDelta, ToolUse, ToolUseId, Usage, WebSearched,
};

/// Maximum number of reports of searches that are kept of one message.
const MAX_SEARCHES: usize = 1_000;

/// A text that a model wrote, without reasoning.
#[derive(Debug, Default)]
pub(crate) struct ModelText {
    pub(crate) text: String,
    /// Calls of the request's tools.
    pub(crate) calls: TextCalls,
    /// Results of searches by the vendor.
    pub(crate) searches: Vec<WebSearched>,
    pub(crate) stop_reason: Option<StopReason>,
    /// `true` if the text is complete: its stream came to its end, and the text is within the byte limit.
    pub(crate) is_whole: bool,
}

/// The calls of a message.
#[derive(Debug, Default)]
pub(crate) struct TextCalls {
    /// Calls by their places in the message: id, name and the text of the input.
    all: BTreeMap<usize, (ToolUseId, String, String)>,
    bytes: usize,
}

impl TextCalls {
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

/// Makes a model write a text of at most so many bytes.
pub(crate) async fn write(
    provider: &dyn ModelProvider,
    request: &Arc<ModelRequest>,
    most_bytes: usize,
    billed: &mut Usage,
) -> Result<ModelText, ModelError> {
    // A request without an answer is billed with this estimate, until the usage is known.
    billed.input_tokens = estimate_request(request);
    let mut stream = match provider.stream(Arc::clone(request)).await {
        Ok(stream) => stream,
        Err(error) => {
            *billed = Usage::default();
            return Err(error);
        }
    };
    let mut model_text = ModelText::default();
    while let Some(item) = stream.next().await {
        match item?.event {
            ModelEvent::MessageStart { usage, .. } => *billed = usage,
            ModelEvent::MessageDelta { usage, stop_reason } => {
                billed.raise(usage);
                model_text.stop_reason = stop_reason.or(model_text.stop_reason);
            }
            ModelEvent::BlockStart { block: BlockStart::Text(begin), .. } => model_text.text.push_str(&begin),
            ModelEvent::BlockDelta { delta: StreamDelta::Text(more), .. } => model_text.text.push_str(&more),
            ModelEvent::BlockStart { index, block: BlockStart::ToolUse { id, name } } => {
                model_text.calls.begin(index, id, name);
            }
            ModelEvent::BlockDelta { index, delta: StreamDelta::ToolInput(more) } => model_text.calls.add(index, &more),
            ModelEvent::WebSearched(searched) if model_text.searches.len() < MAX_SEARCHES => {
                model_text.searches.push(*searched)
            }
            ModelEvent::MessageStop => {
                model_text.is_whole = true;
                return Ok(model_text);
            }
            _ => {}
        }
        if model_text.text.len() + model_text.calls.bytes > most_bytes {
            break;
        }
    }
    Ok(model_text)
}
