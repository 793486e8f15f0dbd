//! Conversion of wire events to [`ModelEvent`]s, and the rules of their order.
//!
//! Items may come interleaved. The first incomplete one is shown as it grows; the others wait until it is done.

mod block;
mod item;
mod order;

use std::collections::VecDeque;

use serde_json::value::RawValue;
use windlass_http::provider::Secrets;
use windlass_model::ModelError;
use windlass_types::{MessageId, ModelEvent, StopReason, Usage};

use super::frame::{DeltaFrame, FrameTag, OutputItem, ResponseFrame, ResponseObject};
use crate::error::{OPENAI, from_event, from_response, protocol, unreadable};
use block::OutputBlocks;
use item::{Growth, GrowthKind};
use order::Items;

/// Maximum number of bytes of event data of one message.
const MAX_MESSAGE_BYTES: usize = 64 << 20;

/// One message on its way.
#[derive(Debug)]
pub(super) struct ResponseAssembly {
    state: ResponseState,
    items: Items,
    blocks: OutputBlocks,
    bytes: usize,
    /// Model of the request, for servers that do not name the answering one.
    asked: String,
    secrets: Secrets,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum ResponseState {
    #[default]
    Waiting,
    Started,
    Complete,
}

impl ResponseAssembly {
    pub(super) fn new(asked: &str, secrets: Secrets) -> Self {
        Self {
            state: ResponseState::Waiting,
            items: Items::default(),
            blocks: OutputBlocks::default(),
            bytes: 0,
            asked: asked.to_owned(),
            secrets,
        }
    }

    /// `true` if the message is complete; its last events may still wait to be taken.
    pub(super) fn is_complete(&self) -> bool {
        self.state == ResponseState::Complete
    }

    /// Reads one event: its name, if the stream gives one, and its data. The resulting events are added to `out`.
    ///
    /// # Errors
    /// Fails if the event is an error, is unreadable or is not allowed at this point.
    pub(super) fn accept(
        &mut self,
        name: Option<&str>,
        data: &str,
        out: &mut VecDeque<ModelEvent>,
    ) -> Result<(), ModelError> {
        self.bytes = self.bytes.saturating_add(data.len());
        if self.bytes > MAX_MESSAGE_BYTES {
            return Err(protocol(format_args!("a message is larger than {MAX_MESSAGE_BYTES} bytes")));
        }
        if let Some(delta) = DeltaFrame::read(data) {
            return self.accept_delta(delta, out);
        }
        if data.trim_start().starts_with('[') {
            // End mark of Chat Completions, which some servers add.
            return if data == "[DONE]" { Ok(()) } else { Err(protocol("an event is not an object")) };
        }
        let mut frame = match ResponseFrame::read(data) {
            Ok(frame) => frame,
            Err(error) => return self.accept_foreign(name, data, &error),
        };
        let own = std::mem::take(&mut frame.kind);
        let kind = if own.is_empty() { name.unwrap_or_default() } else { &own };
        if is_foreign(kind) {
            return if kind == "error" { Err(self.failure(data)) } else { Ok(()) };
        }
        self.dispatch(kind, frame, out)
    }

    /// Reads an event of the most common form.
    fn accept_delta(&mut self, delta: DeltaFrame<'_>, out: &mut VecDeque<ModelEvent>) -> Result<(), ModelError> {
        let Some(kind) = GrowthKind::of(delta.kind) else { return Ok(()) };
        self.check_open(delta.kind)?;
        let growth = Growth::new(kind, delta.text.into_owned(), delta.content_index, delta.summary_index);
        self.items.grow(delta.output_index, delta.item_id, growth)?;
        self.items.show(&mut self.blocks, out)
    }

    /// Handles an event of another form: an error, an unknown event, or a known one that is broken.
    fn accept_foreign(&self, name: Option<&str>, data: &str, error: &serde_json::Error) -> Result<(), ModelError> {
        let unreadable = || unreadable("an event", error);
        let tag: FrameTag<'_> = serde_json::from_str(data).map_err(|_| match name {
            Some("error") => self.failure(data),
            _ => unreadable(),
        })?;
        let kind = if tag.kind.is_empty() { name.unwrap_or_default() } else { &tag.kind };
        match kind {
            "error" => Err(self.failure(data)),
            kind if is_foreign(kind) => Ok(()),
            _ => Err(unreadable()),
        }
    }

    fn dispatch(
        &mut self,
        kind: &str,
        frame: ResponseFrame<'_>,
        out: &mut VecDeque<ModelEvent>,
    ) -> Result<(), ModelError> {
        self.check_before_end(kind)?;
        let ending = matches!(kind, "response.completed" | "response.incomplete" | "response.failed");
        if ending || matches!(kind, "response.created" | "response.in_progress" | "response.queued") {
            let json = frame.response.ok_or_else(|| protocol(format_args!("{kind} without its response")))?;
            if kind == "response.failed" {
                return Err(from_response(&OPENAI, json.get(), &self.secrets));
            }
            let response = read_response(json)?;
            self.start(&response, out);
            return if ending { self.end(kind, &response, out) } else { Ok(()) };
        }
        self.check_open(kind)?;
        match kind {
            "response.output_item.added" => {
                let item = read_item(frame.item, kind)?;
                self.items.add(frame.output_index, &item)?;
            }
            "response.output_item.done" => {
                let json = frame.item.ok_or_else(|| protocol("an item that is done without its content"))?;
                let item = read_item(frame.item, kind)?;
                self.items.done(frame.output_index, &item, json.get())?;
            }
            _ => {
                let Some(growing) = GrowthKind::of(kind) else { return Ok(()) };
                let text = if growing == GrowthKind::AllArguments { frame.arguments } else { frame.delta };
                let text = text.ok_or_else(|| protocol(format_args!("{kind} without its text")))?;
                let growth = Growth::new(growing, text, frame.content_index, frame.summary_index);
                self.items.grow(frame.output_index, frame.item_id.as_deref(), growth)?;
            }
        }
        self.items.show(&mut self.blocks, out)
    }

    /// Checks that the response has not ended before this event.
    fn check_before_end(&self, event: &str) -> Result<(), ModelError> {
        if self.state == ResponseState::Complete {
            return Err(protocol(format_args!("{event} after the end of the response")));
        }
        Ok(())
    }

    /// Checks that the response has begun and has not ended.
    fn check_open(&self, event: &str) -> Result<(), ModelError> {
        self.check_before_end(event)?;
        if self.state == ResponseState::Waiting {
            return Err(protocol(format_args!("{event} before the response was created")));
        }
        Ok(())
    }

    fn start(&mut self, response: &ResponseObject<'_>, out: &mut VecDeque<ModelEvent>) {
        if self.state != ResponseState::Waiting {
            return;
        }
        self.state = ResponseState::Started;
        let text = |text: &Option<std::borrow::Cow<'_, str>>, otherwise: &str| match text.as_deref() {
            Some(text) if !text.is_empty() => text.to_owned(),
            _ => otherwise.to_owned(),
        };
        out.push_back(ModelEvent::MessageStart {
            id: MessageId::from(text(&response.id, "resp_without_id")),
            model: text(&response.model, &self.asked),
            usage: Usage::default(),
        });
    }

    fn end(
        &mut self,
        kind: &str,
        response: &ResponseObject<'_>,
        out: &mut VecDeque<ModelEvent>,
    ) -> Result<(), ModelError> {
        let is_cut = kind == "response.incomplete" || response.status.as_deref() == Some("incomplete");
        let reason = if is_cut { Some(cut_reason(response)) } else { None };
        self.items.end(reason.as_ref(), response.output.as_deref().unwrap_or_default(), &mut self.blocks, out)?;
        let mut usage = Usage::from(response.usage.unwrap_or_default());
        usage.web_search_requests = self.items.searches();
        let stop_reason = Some(reason.unwrap_or_else(|| self.blocks.stop_reason()));
        out.push_back(ModelEvent::MessageDelta { stop_reason, usage });
        out.push_back(ModelEvent::MessageStop);
        self.state = ResponseState::Complete;
        Ok(())
    }

    fn failure(&self, data: &str) -> ModelError {
        from_event(&OPENAI, data, &self.secrets)
    }
}

/// Returns the reason why the model stopped before its end.
fn cut_reason(response: &ResponseObject<'_>) -> StopReason {
    let details = response.incomplete_details.as_ref();
    match details.and_then(|details| details.reason.as_deref()) {
        Some("max_output_tokens") => StopReason::MaxTokens,
        Some("content_filter") => StopReason::ContentFilter,
        Some(other) if !other.is_empty() => StopReason::Other(other.to_owned()),
        _ => StopReason::Other("incomplete".to_owned()),
    }
}

/// `true` if an event does not belong to a message.
fn is_foreign(kind: &str) -> bool {
    !matches!(
        kind,
        "response.created"
            | "response.in_progress"
            | "response.queued"
            | "response.completed"
            | "response.incomplete"
            | "response.failed"
            | "response.output_item.added"
            | "response.output_item.done"
    ) && GrowthKind::of(kind).is_none()
}

fn read_response(json: &RawValue) -> Result<ResponseObject<'_>, ModelError> {
    serde_json::from_str(json.get()).map_err(|error| unreadable("the response", error))
}

fn read_item<'a>(json: Option<&'a RawValue>, event: &str) -> Result<OutputItem<'a>, ModelError> {
    let json = json.ok_or_else(|| protocol(format_args!("{event} without its item")))?;
    let item = OutputItem::read(json.get()).map_err(|error| unreadable("an item", error))?;
    if item.kind.is_empty() { Err(protocol("an item without a type")) } else { Ok(item) }
}

#[cfg(test)]
mod tests;
