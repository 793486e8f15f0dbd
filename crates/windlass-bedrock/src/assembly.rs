//! Conversion of frames to the events of one message.

mod blocks;

use crate::error::ConverseErrors;
use crate::event::{
    BlockGrows, BlockStarts, BlockStops, ConverseDelta, MessageStops, MetadataEvent, TokenUsage, text_delta,
};
use crate::eventstream::BinaryFrame;
pub(crate) use blocks::BlockPiece;
use blocks::ConverseBlocks;
use serde::Deserialize;
use std::collections::{HashSet, VecDeque};
use windlass_model::ModelError;
use windlass_types::{MessageId, ModelErrorKind, ModelEvent, StopReason, ToolUseId, Usage};

/// Maximum number of bytes of payloads of one message.
const MAX_MESSAGE_BYTES: usize = 64 << 20;

/// Message that is being assembled.
#[derive(Debug)]
pub(crate) struct ConverseAssembly {
    /// Model of the request: the API does not name the answering one.
    model: String,
    /// Id of the message: that of the request, which the API gives in a header.
    id: String,
    faults: ConverseErrors,
    has_begun: bool,
    ready: VecDeque<ModelEvent>,
    blocks: ConverseBlocks,
    calls: HashSet<String>,
    usage: Option<Usage>,
    stop_reason: Option<StopReason>,
    bytes: usize,
}

impl ConverseAssembly {
    pub(crate) fn new(model: String, id: String, faults: ConverseErrors) -> Self {
        Self {
            model,
            id,
            faults,
            has_begun: false,
            ready: VecDeque::new(),
            blocks: ConverseBlocks::default(),
            calls: HashSet::new(),
            usage: None,
            stop_reason: None,
            bytes: 0,
        }
    }

    /// Returns the next event of the message.
    pub(crate) fn next(&mut self) -> Option<ModelEvent> {
        self.ready.pop_front()
    }

    pub(crate) fn has_events(&self) -> bool {
        !self.ready.is_empty()
    }

    /// `true` once the API has given the stop reason. Only the token counts can follow.
    pub(crate) fn is_finished(&self) -> bool {
        self.stop_reason.is_some()
    }

    /// `true` if nothing more can follow.
    pub(crate) fn is_whole(&self) -> bool {
        self.is_finished() && self.usage.is_some()
    }

    /// Returns the factory of errors of this call.
    pub(crate) fn faults(&self) -> &ConverseErrors {
        &self.faults
    }

    /// Reads one frame.
    ///
    /// # Errors
    /// Fails if the frame is an exception, is unreadable, or holds content that cannot be a part of a message.
    pub(crate) fn accept(&mut self, frame: &BinaryFrame) -> Result<(), ModelError> {
        self.bytes = self.bytes.saturating_add(frame.payload.len());
        if self.bytes > MAX_MESSAGE_BYTES {
            return Err(self.faults.protocol(format_args!("a message is larger than {MAX_MESSAGE_BYTES} bytes")));
        }
        let head = frame.head().map_err(|error| self.faults.protocol(error))?;
        match head.message_type {
            "event" => self.event(head.event_type, &frame.payload),
            // A message that the API has ended is complete, whatever follows.
            _ if self.is_finished() => Ok(()),
            "exception" => Err(self.faults.in_stream(head.exception_type, &String::from_utf8_lossy(&frame.payload))),
            "error" => Err(self.faults.in_stream(head.error_code, head.error_message)),
            other => Err(self.faults.protocol(format_args!("a frame of the type {other:?}"))),
        }
    }

    fn event(&mut self, name: &str, payload: &[u8]) -> Result<(), ModelError> {
        match name {
            "contentBlockDelta" => {
                if let Some((at, text)) = text_delta(payload) {
                    self.begin();
                    return self.put(at, BlockPiece::Text(text.to_owned()));
                }
                let BlockGrows { content_block_index: at, delta } = self.read(name, payload)?;
                self.begin();
                self.delta(at, delta)?;
            }
            "contentBlockStart" => {
                let start: BlockStarts = self.read(name, payload)?;
                self.begin();
                self.block(start)?;
            }
            "contentBlockStop" => {
                let stop: BlockStops = self.read(name, payload)?;
                self.put(stop.content_block_index, BlockPiece::Stop)?;
            }
            "messageStart" => self.begin(),
            "messageStop" => {
                let stop: MessageStops = self.read(name, payload)?;
                self.stop(stop.stop_reason.as_deref().unwrap_or_default())?;
            }
            "metadata" => {
                let metadata = match self.read::<MetadataEvent>(name, payload) {
                    // A complete message is not lost with unreadable counts.
                    Err(_) if self.is_finished() => MetadataEvent::default(),
                    metadata => metadata?,
                };
                self.count(metadata.usage.as_ref());
            }
            // Events of a later version of the API.
            _ => {}
        }
        Ok(())
    }

    fn read<'a, T: Deserialize<'a>>(&self, name: &str, payload: &'a [u8]) -> Result<T, ModelError> {
        // Serde would read the members of an array as those of the object.
        if payload.trim_ascii_start().first() != Some(&b'{') {
            return Err(self.faults.protocol(format_args!("the event {name} is not an object")));
        }
        serde_json::from_slice(payload).map_err(|error| self.faults.unreadable(name, &error))
    }

    /// Takes the token counts of the message.
    pub(crate) fn count(&mut self, usage: Option<&TokenUsage>) {
        self.usage = Some(usage.map_or_else(Usage::default, Usage::from));
    }

    /// Begins the message, if it has not begun.
    pub(crate) fn begin(&mut self) {
        if !std::mem::replace(&mut self.has_begun, true) {
            let id = MessageId::from(self.id.as_str());
            self.ready.push_back(ModelEvent::MessageStart { id, model: self.model.clone(), usage: Usage::default() });
        }
    }

    /// Takes a piece of a block.
    ///
    /// # Errors
    /// Fails if the piece cannot be part of the message.
    pub(crate) fn put(&mut self, at: u64, piece: BlockPiece) -> Result<(), ModelError> {
        if self.is_finished() {
            return Err(self.faults.protocol("content comes after the end of the message"));
        }
        self.blocks.take(at, piece, &mut self.ready).map_err(|text| self.faults.protocol(text))
    }

    fn delta(&mut self, at: u64, delta: ConverseDelta) -> Result<(), ModelError> {
        if let Some(text) = delta.text {
            return self.put(at, BlockPiece::Text(text));
        }
        if let Some(call) = delta.tool_use {
            return self.put(at, BlockPiece::Input(call.input));
        }
        let Some(reasoning) = delta.reasoning_content else { return Ok(()) };
        if let Some(text) = reasoning.text {
            self.put(at, BlockPiece::Thinking(text))?;
        }
        if let Some(signature) = reasoning.signature {
            self.put(at, BlockPiece::Signature(signature))?;
        }
        match reasoning.redacted_content {
            Some(data) => self.put(at, BlockPiece::Redacted(data)),
            None => Ok(()),
        }
    }

    /// Takes the beginning of a block.
    ///
    /// # Errors
    /// Fails if the block cannot be part of the message.
    pub(crate) fn block(&mut self, start: BlockStarts) -> Result<(), ModelError> {
        let Some(call) = start.start.tool_use else { return Ok(()) };
        // The service answers these calls itself: they must not be run here.
        if call.kind.is_some_and(|kind| kind != "tool_use") {
            return self.put(start.content_block_index, BlockPiece::Skipped);
        }
        let Some(name) = call.name.filter(|name| !name.is_empty()) else {
            return Err(self.faults.protocol("a call without a name"));
        };
        // An id that repeats in a message could not be answered.
        let id = match call.tool_use_id.filter(|id| !id.is_empty()) {
            Some(id) if !self.calls.contains(&id) => id,
            _ => format!("call_{}_{}", self.id, self.calls.len()),
        };
        if !self.calls.insert(id.clone()) {
            return Err(self.faults.protocol("two calls with one id"));
        }
        self.put(start.content_block_index, BlockPiece::Call { id: ToolUseId::from(id), name })
    }

    /// Takes the stop reason.
    ///
    /// # Errors
    /// Fails if the message has ended before.
    pub(crate) fn stop(&mut self, reason: &str) -> Result<(), ModelError> {
        if self.is_finished() {
            return Err(self.faults.protocol("a message ends twice"));
        }
        self.begin();
        self.blocks.end(&mut self.ready).map_err(|text| self.faults.protocol(text))?;
        let reason = stop_reason(reason);
        // Some models end their turn with a plain reason, but call tools.
        let calls = reason == StopReason::EndTurn && !self.calls.is_empty();
        self.stop_reason = Some(if calls { StopReason::ToolUse } else { reason });
        Ok(())
    }

    /// Ends the message, at the end of the answer or when no data follows the stop reason.
    ///
    /// # Errors
    /// Fails if there was no stop reason.
    pub(crate) fn end(&mut self) -> Result<(), ModelError> {
        let Some(stop_reason) = self.stop_reason.take() else {
            let text = "the connection ended before the message was complete";
            return Err(ModelError::new(ModelErrorKind::Cut, text));
        };
        let usage = self.usage.unwrap_or_default();
        self.ready.push_back(ModelEvent::MessageDelta { stop_reason: Some(stop_reason), usage });
        self.ready.push_back(ModelEvent::MessageStop);
        Ok(())
    }
}

/// Converts a stop reason. Source: the enumeration `StopReason` of the API reference.
fn stop_reason(reason: &str) -> StopReason {
    match reason {
        "guardrail_intervened" | "content_filtered" => StopReason::ContentFilter,
        "malformed_tool_use" | "malformed_model_output" => StopReason::MalformedToolCall,
        // Other reasons have the names of the Messages API. Names are short; a text of a server may not be.
        other => StopReason::from(other.chars().take(64).collect::<String>()),
    }
}
