//! Conversion of wire events to [`ModelEvent`]s, one to one except for [overlapping blocks](overlap), and the rules of
//! their order.

mod overlap;

use overlap::Overlap;
use serde_json::value::RawValue;
use windlass_model::ModelError;
use windlass_types::{
    BlockStart, ContentBlock, JsonText, MessageId, ModelErrorKind, ModelEvent, StopReason, StreamDelta, ToolUse,
    ToolUseId, Usage,
};

use crate::{
    error::{MessagesErrors, protocol},
    frame::{FrameBlock, FrameDelta, FrameOutline, MessageStart, MessagesFrame, Transformation},
    web_search,
};

/// Maximum number of bytes of event data, and of blocks, of one message.
const MAX_MESSAGE_BYTES: usize = 64 << 20;
const MAX_BLOCKS: usize = 10_000;

const KNOWN_DELTAS: [&str; 4] = ["text_delta", "thinking_delta", "signature_delta", "input_json_delta"];

/// Order of one message's events: a message start, blocks with indexes from zero, a stop reason, the stop.
#[derive(Debug, Default)]
pub(crate) struct MessagesAssembly {
    state: AssemblyState,
    blocks: usize,
    /// Open blocks by their indexes: one, unless a server lets them overlap.
    open: Vec<(usize, OpenMessagesBlock)>,
    bytes: usize,
    usage: Usage,
    stop_reason: Option<StopReason>,
    faults: MessagesErrors,
    overlap: Overlap,
    /// Event that the last wire event reported beside the message.
    beside: Option<ModelEvent>,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum AssemblyState {
    #[default]
    Waiting,
    Started,
    Complete,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum OpenMessagesBlock {
    Text,
    Thinking,
    ToolUse,
    /// Complete value: a delta may only repeat it.
    Whole,
    Unknown,
}

/// Reads the reasoning that the API left out of the prompt, if any. A list of another form is no reason to lose the
/// answer.
fn dropped_reasoning(list: &RawValue) -> Option<ModelEvent> {
    let changes: Vec<Transformation<'_>> = serde_json::from_str(list.get()).ok()?;
    let dropped: Vec<_> = changes.iter().filter(|change| change.kind == "thinking_dropped").collect();
    let reason = dropped.first()?.reason.clone().into_owned();
    Some(ModelEvent::ReasoningDropped { blocks: dropped.len(), reason })
}

impl MessagesAssembly {
    pub(crate) fn new(faults: MessagesErrors) -> Self {
        Self { faults, ..Self::default() }
    }

    pub(crate) fn is_complete(&self) -> bool {
        self.state == AssemblyState::Complete
    }

    /// Returns the next event of overlapping blocks, in order.
    pub(crate) fn take_ordered(&mut self) -> Option<ModelEvent> {
        self.overlap.next_event()
    }

    /// Returns the event that the last wire event reported beside the message, once.
    pub(crate) fn take_beside(&mut self) -> Option<ModelEvent> {
        self.beside.take()
    }

    /// Reads one event: its name, if the stream gives one, and its data. `None` if the event belongs to a block that
    /// overlaps another one; [`take_ordered`](Self::take_ordered) returns the resulting events.
    ///
    /// # Errors
    /// Fails if the event is an error, is unreadable or is not allowed at this point.
    pub(crate) fn accept(&mut self, name: Option<&str>, data: &str) -> Result<Option<ModelEvent>, ModelError> {
        let event = self.read(name, data)?;
        self.overlap.order(event)
    }

    fn read(&mut self, name: Option<&str>, data: &str) -> Result<ModelEvent, ModelError> {
        self.bytes = self.bytes.saturating_add(data.len());
        if self.bytes > MAX_MESSAGE_BYTES {
            return Err(protocol(format_args!("a message is larger than {MAX_MESSAGE_BYTES} bytes")));
        }
        if data.trim().is_empty() {
            return Ok(ModelEvent::Unknown);
        }
        if data.trim_start().starts_with('[') {
            // End mark of other vendors, which some gateways add.
            return if data == "[DONE]" { Ok(ModelEvent::Unknown) } else { Err(protocol("an event is not an object")) };
        }
        let frame = match MessagesFrame::read(data) {
            Ok(frame) => frame,
            Err(error) => return self.accept_foreign(name, data, &error),
        };
        let kind = if frame.kind.is_empty() { name.unwrap_or_default() } else { &frame.kind };
        match kind {
            "content_block_delta" => self.delta(frame.index, frame.delta),
            "content_block_start" => self.block_start(frame.index, frame.content_block),
            "content_block_stop" => self.block_stop(frame.index),
            "message_start" => self.message_start(frame.message),
            "message_delta" => self.message_delta(&frame),
            "message_stop" => self.message_stop(),
            "ping" => Ok(ModelEvent::Ping),
            "error" => Err(self.faults.event(data)),
            _ => Ok(ModelEvent::Unknown),
        }
    }

    /// Handles an event whose members have unexpected types. An unknown event or delta is accepted, anything else is an
    /// error.
    fn accept_foreign(
        &mut self,
        name: Option<&str>,
        data: &str,
        error: &serde_json::Error,
    ) -> Result<ModelEvent, ModelError> {
        if name == Some("error") {
            return Err(self.faults.event(data));
        }
        let unreadable = || protocol("an event cannot be read").with_source(ParseMessage(error.to_string()));
        let outline: FrameOutline<'_> = serde_json::from_str(data).map_err(|_| unreadable())?;
        let kind = if outline.kind.is_empty() { name.unwrap_or_default() } else { &outline.kind };
        match kind {
            "error" => Err(self.faults.event(data)),
            "ping" => Ok(ModelEvent::Ping),
            "content_block_delta" => {
                let delta = outline.delta_kind().ok_or_else(unreadable)?;
                if KNOWN_DELTAS.contains(&&*delta) {
                    return Err(unreadable());
                }
                self.check_started(kind)?;
                let (index, _) = self.check_open(outline.index())?;
                Ok(ModelEvent::BlockDelta { index, delta: StreamDelta::Unknown })
            }
            "content_block_start" | "content_block_stop" | "message_start" | "message_delta" | "message_stop" => {
                Err(unreadable())
            }
            _ => Ok(ModelEvent::Unknown),
        }
    }

    fn message_start(&mut self, message: Option<&RawValue>) -> Result<ModelEvent, ModelError> {
        if self.state != AssemblyState::Waiting {
            return Err(protocol("a second message_start"));
        }
        let start: MessageStart<'_> = part(message, "message_start")?;
        if start.content.is_some_and(|content| !content.is_empty()) {
            return Err(protocol("message_start with content"));
        }
        if let Some(usage) = start.usage {
            self.usage.raise(usage.into());
        }
        self.state = AssemblyState::Started;
        self.beside = start.input_transformations.and_then(dropped_reasoning);
        Ok(ModelEvent::MessageStart { id: MessageId::from(&*start.id), model: start.model, usage: self.usage })
    }

    fn block_start(&mut self, index: Option<usize>, block: Option<&RawValue>) -> Result<ModelEvent, ModelError> {
        self.check_started("content_block_start")?;
        if self.stop_reason.is_some() {
            return Err(protocol("a block after the stop reason"));
        }
        let index = index.filter(|index| *index == self.blocks && *index < MAX_BLOCKS);
        let index = index.ok_or_else(|| protocol("a block with a wrong index"))?;
        let (open, start) = read_block(block)?;
        self.beside = match &start {
            BlockStart::Whole(ContentBlock::Unknown(json)) if json.as_str().contains(web_search::RESULT) => {
                block.and_then(web_search::results).map(|found| ModelEvent::WebSearched(Box::new(found)))
            }
            _ => None,
        };
        self.open.push((index, open));
        self.blocks += 1;
        Ok(ModelEvent::BlockStart { index, block: start })
    }

    fn delta(&mut self, index: Option<usize>, delta: Option<FrameDelta<'_>>) -> Result<ModelEvent, ModelError> {
        self.check_started("content_block_delta")?;
        let (index, open) = self.check_open(index)?;
        let delta = delta.ok_or_else(|| protocol("a delta without content"))?;
        let missing = || protocol(format_args!("a {} without its text", delta.kind));
        let delta = match (&*delta.kind, open) {
            ("text_delta", OpenMessagesBlock::Text) => StreamDelta::Text(delta.text.ok_or_else(missing)?),
            ("thinking_delta", OpenMessagesBlock::Thinking) => {
                StreamDelta::Thinking(delta.thinking.ok_or_else(missing)?)
            }
            ("signature_delta", OpenMessagesBlock::Thinking) => {
                StreamDelta::Signature(delta.signature.ok_or_else(missing)?)
            }
            ("input_json_delta", OpenMessagesBlock::ToolUse | OpenMessagesBlock::Unknown) => {
                StreamDelta::ToolInput(delta.partial_json.ok_or_else(missing)?)
            }
            // An empty piece has no content.
            ("input_json_delta", OpenMessagesBlock::Whole) if delta.partial_json.as_deref() == Some("") => {
                StreamDelta::Unknown
            }
            (kind, open) if KNOWN_DELTAS.contains(&kind) && open != OpenMessagesBlock::Unknown => {
                return Err(protocol(format_args!("a {} in a block of another type", delta.kind)));
            }
            ("citations_delta", OpenMessagesBlock::Text) => {
                let cited = delta.citation.and_then(web_search::cited);
                self.beside = cited.map(|cited| ModelEvent::WebSearched(Box::new(cited)));
                StreamDelta::Unknown
            }
            _ => StreamDelta::Unknown,
        };
        Ok(ModelEvent::BlockDelta { index, delta })
    }

    fn block_stop(&mut self, index: Option<usize>) -> Result<ModelEvent, ModelError> {
        self.check_started("content_block_stop")?;
        let (index, _) = self.check_open(index)?;
        self.open.retain(|(open, _)| *open != index);
        Ok(ModelEvent::BlockStop { index })
    }

    fn message_delta(&mut self, frame: &MessagesFrame<'_>) -> Result<ModelEvent, ModelError> {
        self.check_started("message_delta")?;
        if let Some(usage) = &frame.usage {
            self.usage.raise((*usage).into());
        }
        let reason = frame.delta.as_ref().and_then(|delta| delta.stop_reason.as_deref()).map(StopReason::from);
        if let Some(reason) = &reason {
            if !self.open.is_empty() {
                return Err(protocol("a stop reason inside a block"));
            }
            if self.stop_reason.as_ref().is_some_and(|before| before != reason) {
                return Err(protocol("two stop reasons"));
            }
            self.stop_reason = Some(reason.clone());
        }
        Ok(ModelEvent::MessageDelta { stop_reason: reason, usage: self.usage })
    }

    fn message_stop(&mut self) -> Result<ModelEvent, ModelError> {
        self.check_started("message_stop")?;
        if !self.open.is_empty() || self.stop_reason.is_none() {
            return Err(ModelError::new(ModelErrorKind::Cut, "the API ended the message before it was complete"));
        }
        self.state = AssemblyState::Complete;
        Ok(ModelEvent::MessageStop)
    }

    fn check_started(&self, event: &str) -> Result<(), ModelError> {
        match self.state {
            AssemblyState::Started => Ok(()),
            AssemblyState::Waiting => Err(protocol(format_args!("{event} before message_start"))),
            AssemblyState::Complete => Err(protocol(format_args!("{event} after message_stop"))),
        }
    }

    fn check_open(&self, index: Option<usize>) -> Result<(usize, OpenMessagesBlock), ModelError> {
        let open = index.and_then(|index| self.open.iter().find(|(open, _)| *open == index));
        open.copied().ok_or_else(|| protocol("an event for a block that is not open"))
    }
}

fn read_block(block: Option<&RawValue>) -> Result<(OpenMessagesBlock, BlockStart), ModelError> {
    let read: FrameBlock<'_> = match part(block, "content_block_start") {
        Ok(read) => read,
        Err(error) => return unknown_block(block).ok_or(error),
    };
    Ok(match &*read.kind {
        "text" => (OpenMessagesBlock::Text, BlockStart::Text(read.text.unwrap_or_default())),
        "thinking" => {
            let (thinking, signature) = (read.thinking.unwrap_or_default(), read.signature.unwrap_or_default());
            (OpenMessagesBlock::Thinking, BlockStart::Thinking { thinking, signature })
        }
        "redacted_thinking" => {
            let data = read.data.ok_or_else(|| protocol("redacted thinking without data"))?;
            (OpenMessagesBlock::Whole, BlockStart::Whole(ContentBlock::RedactedThinking { data }))
        }
        "tool_use" => {
            // A call without an id gets one from the runtime.
            if read.name.is_empty() {
                return Err(protocol("a tool use without a name"));
            }
            let id = ToolUseId::from(&*read.id);
            match read.input.map(RawValue::get).filter(|input| !is_empty_object(input)) {
                None => (OpenMessagesBlock::ToolUse, BlockStart::ToolUse { id, name: read.name }),
                // Some gateways send the whole input at once.
                Some(input) => {
                    let input = JsonText::parse(input).map_err(protocol)?;
                    let call = ToolUse::new(id, read.name, input);
                    (OpenMessagesBlock::Whole, BlockStart::Whole(ContentBlock::ToolUse(call)))
                }
            }
        }
        _ => unknown_block(block).ok_or_else(|| protocol("a block without a type"))?,
    })
}

fn is_empty_object(json: &str) -> bool {
    json == "null" || json.bytes().all(|byte| matches!(byte, b'{' | b'}' | b' ' | b'\t' | b'\r' | b'\n'))
}

/// Returns a block of an unknown type, with its exact text.
fn unknown_block(block: Option<&RawValue>) -> Option<(OpenMessagesBlock, BlockStart)> {
    let text = block?.get();
    let tag: crate::frame::FrameType<'_> = serde_json::from_str(text).ok()?;
    if matches!(&*tag.kind, "" | "text" | "thinking" | "redacted_thinking" | "tool_use") {
        return None;
    }
    let json = JsonText::parse(text).ok()?;
    Some((OpenMessagesBlock::Unknown, BlockStart::Whole(ContentBlock::Unknown(json))))
}

fn part<'a, T: serde::Deserialize<'a>>(json: Option<&'a RawValue>, event: &str) -> Result<T, ModelError> {
    let json = json.ok_or_else(|| protocol(format_args!("{event} without content")))?;
    serde_json::from_str(json.get())
        .map_err(|error| protocol(format_args!("{event} cannot be read")).with_source(ParseMessage(error.to_string())))
}

/// Message of a JSON parser. The parser's own error would keep no more than this text.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
struct ParseMessage(String);

#[cfg(test)]
mod tests;
