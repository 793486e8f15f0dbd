//! Conversion of chunks to the events of one message.
//!
//! A block stays open until the next one begins, so that blank parts that follow it can still be kept beside it.

mod blocks;

use crate::error::GeminiErrors;
use crate::finish::GeminiFinish;
use crate::frame::{AnswerPart, Chunk, FunctionCall, Plain};
use crate::grounding::GroundingMetadata;
use crate::models::family;
use crate::usage::GeminiUsage;
use blocks::GeminiBlocks;
pub(crate) use blocks::PART;
use serde_json::value::RawValue;
use std::collections::{HashSet, VecDeque};
use windlass_http::provider::stable_hash;
use windlass_model::ModelError;
use windlass_types::{MessageId, ModelErrorKind, ModelEvent, StopReason, ToolUseId};

/// Maximum number of bytes of chunks of one message.
const MAX_MESSAGE_BYTES: usize = 64 << 20;

/// Message that is being assembled.
#[derive(Debug)]
pub(crate) struct GeminiAssembly {
    /// Model of the request.
    model: String,
    faults: GeminiErrors,
    /// Id of the message; `None` before the first chunk.
    id: Option<String>,
    ready: VecDeque<ModelEvent>,
    blocks: GeminiBlocks,
    calls: HashSet<String>,
    counts: GeminiUsage,
    finish: Option<GeminiFinish>,
    bytes: usize,
    /// Irrelevant end of text chunks, once one has been read.
    tail: Option<String>,
    /// Grounding of the answer: the last report is complete.
    grounding: Option<GroundingMetadata>,
}

impl GeminiAssembly {
    pub(crate) fn new(model: String, faults: GeminiErrors) -> Self {
        Self {
            model,
            faults,
            id: None,
            ready: VecDeque::new(),
            blocks: GeminiBlocks::default(),
            calls: HashSet::new(),
            counts: GeminiUsage::default(),
            finish: None,
            bytes: 0,
            tail: None,
            grounding: None,
        }
    }

    /// Returns the next event of the message.
    pub(crate) fn next(&mut self) -> Option<ModelEvent> {
        self.ready.pop_front()
    }

    pub(crate) fn has_events(&self) -> bool {
        !self.ready.is_empty()
    }

    /// `true` once the API has given the finish reason.
    pub(crate) fn is_finished(&self) -> bool {
        self.finish.is_some()
    }

    /// Returns the API's id of the answer.
    pub(crate) fn id(&self) -> Option<&str> {
        self.id.as_deref()
    }

    /// Reads one chunk.
    ///
    /// # Errors
    /// Fails if the chunk is an error, is unreadable, or holds content that cannot be a part of a message.
    pub(crate) fn accept(&mut self, data: &str) -> Result<(), ModelError> {
        self.bytes = self.bytes.saturating_add(data.len());
        if self.bytes > MAX_MESSAGE_BYTES {
            return Err(self.faults.protocol(format_args!("a message is larger than {MAX_MESSAGE_BYTES} bytes")));
        }
        let plain = Plain::read(data);
        match plain {
            Some(plain) if self.tail.as_deref() == Some(plain.tail) => {
                self.counts.take(&plain.usage);
                self.words(plain.text, None, plain.is_thought);
                self.check_size()
            }
            // Any members may follow the text.
            plain => self.chunk(data, plain.map(|plain| plain.tail)),
        }
    }

    /// Reads a chunk of any form. `tail` is its end, if that counts as known from then on.
    fn chunk(&mut self, data: &str, tail: Option<&str>) -> Result<(), ModelError> {
        match data.trim_start().as_bytes().first() {
            Some(b'{') => {}
            // Errors may come in an array; some gateways add other vendors' end mark.
            Some(b'[') if data.trim() == "[DONE]" => return Ok(()),
            Some(b'[') => return Err(self.faults.in_stream(data)),
            _ => return Err(self.faults.protocol("a chunk is not an object")),
        }
        let chunk: Chunk<'_> = match serde_json::from_str(data) {
            Ok(chunk) => chunk,
            Err(error) => return Err(self.faults.unreadable("a chunk", &error)),
        };
        if chunk.error.is_some() {
            return Err(self.faults.in_stream(data));
        }
        if let Some(counts) = &chunk.usage_metadata {
            self.counts.take(counts);
        }
        if self.id.is_none() {
            self.start(&chunk, data);
        }
        if let (Some(tail), None) = (tail, &chunk.prompt_feedback) {
            self.tail = Some(tail.to_owned());
        }
        self.content(chunk)
    }

    fn start(&mut self, chunk: &Chunk<'_>, data: &str) {
        let text = |json: Option<&RawValue>| {
            json.and_then(|json| serde_json::from_str::<String>(json.get()).ok()).filter(|text| !text.is_empty())
        };
        // The API names each answer; a gateway may drop the id.
        let id = text(chunk.response_id).unwrap_or_else(|| format!("msg_{:032x}", stable_hash(data.as_bytes())));
        let model = text(chunk.model_version).unwrap_or_else(|| self.model.clone());
        self.ready.push_back(ModelEvent::MessageStart {
            id: MessageId::from(id.as_str()),
            model,
            usage: self.counts.first_report(),
        });
        self.id = Some(id);
    }

    fn content(&mut self, chunk: Chunk<'_>) -> Result<(), ModelError> {
        let first = chunk.candidates.into_iter().flatten().find(|candidate| candidate.index.unwrap_or(0) == 0);
        if let Some(candidate) = first {
            for part in candidate.content.and_then(|content| content.parts).into_iter().flatten() {
                self.part(part)?;
            }
            if let Some(grounding) = candidate.grounding_metadata.and_then(GroundingMetadata::read) {
                // Before Gemini 3 a prompt with searches is billed once, however many there are.
                let billed = if family(&self.model).is_modern { u64::MAX } else { 1 };
                self.counts.searched(grounding.searches().min(billed));
                self.grounding = Some(grounding);
            }
            if let Some(later) = candidate.finish_reason.as_deref().and_then(GeminiFinish::read) {
                self.finish = Some(GeminiFinish::or_later(self.finish.take(), later));
            }
        }
        let block_reason = chunk.prompt_feedback.and_then(|feedback| feedback.block_reason);
        if block_reason.is_some_and(|reason| !matches!(&*reason, "" | "BLOCKED_REASON_UNSPECIFIED")) {
            self.finish = Some(GeminiFinish::Stopped(StopReason::ContentFilter));
        }
        self.check_size()
    }

    fn check_size(&self) -> Result<(), ModelError> {
        if self.blocks.are_too_many() {
            return Err(self.faults.protocol("a message has too many blocks"));
        }
        Ok(())
    }

    fn part(&mut self, part: AnswerPart<'_>) -> Result<(), ModelError> {
        let signature = part.thought_signature.clone().filter(|signature| !signature.is_empty());
        if let Some(call) = part.function_call {
            return self.call(call, signature);
        }
        if let Some((name, value)) = part.other() {
            return match self.blocks.other(name, value, signature.as_deref(), &mut self.ready) {
                Ok(()) => Ok(()),
                Err(error) => Err(self.faults.protocol(format_args!("a part cannot be kept: {error}"))),
            };
        }
        self.words(part.text.unwrap_or_default(), signature, part.thought == Some(true));
        Ok(())
    }

    fn words(&mut self, text: String, signature: Option<String>, is_thought: bool) {
        if is_thought {
            self.blocks.thought(text, signature, &mut self.ready);
        } else {
            self.blocks.text(text, signature, &mut self.ready);
        }
    }

    fn call(&mut self, call: FunctionCall<'_>, signature: Option<String>) -> Result<(), ModelError> {
        if call.partial_args.is_some() || call.will_continue == Some(true) {
            return Err(self.faults.protocol("a call comes in pieces, which nothing asked for"));
        }
        let Some(name) = call.name.filter(|name| !name.is_empty()) else {
            return Err(self.faults.protocol("a call without a name"));
        };
        let given = call.id.filter(|id| !id.is_empty());
        // An id that repeats in a message could not be answered.
        let id = match &given {
            Some(id) if !self.calls.contains(id) => id.clone(),
            _ => format!("call_{}_{}", self.id.as_deref().unwrap_or_default(), self.calls.len()),
        };
        if !self.calls.insert(id.clone()) {
            return Err(self.faults.protocol("two calls with one id"));
        }
        let input = call.args.map_or(String::new(), |args| args.get().to_owned());
        self.blocks.call(ToolUseId::from(id), name, input, (given, signature), &mut self.ready);
        Ok(())
    }

    /// Ends the message, at the end of the answer or when no data follows the finish reason.
    ///
    /// # Errors
    /// Fails if there was no finish reason, or if the message is empty.
    pub(crate) fn end(&mut self) -> Result<(), ModelError> {
        let stop_reason = match self.finish.take() {
            None => {
                self.report();
                let text = "the connection ended before the message was complete";
                return Err(ModelError::new(ModelErrorKind::Cut, text));
            }
            Some(GeminiFinish::SignatureMissing) => {
                self.report();
                let text = "the API refused what was sent back of its earlier messages: a signature is missing";
                return Err(ModelError::new(ModelErrorKind::ReplayRejected, text));
            }
            Some(GeminiFinish::Done) if !self.blocks.have_content() => {
                self.report();
                // The same request mostly gets an answer when it is repeated.
                return Err(ModelError::new(ModelErrorKind::Server, "the model ended its turn without an answer"));
            }
            Some(GeminiFinish::Done) if self.calls.is_empty() => StopReason::EndTurn,
            Some(GeminiFinish::Done) => StopReason::ToolUse,
            Some(GeminiFinish::Stopped(reason)) => reason,
        };
        self.blocks.close(&mut self.ready);
        let pages = self.grounding.take().and_then(GroundingMetadata::pages);
        self.ready.extend(pages.map(|pages| ModelEvent::WebSearched(Box::new(pages))));
        self.ready.push_back(ModelEvent::MessageDelta { stop_reason: Some(stop_reason), usage: self.counts.report() });
        self.ready.push_back(ModelEvent::MessageStop);
        Ok(())
    }

    /// Reports the usage of a message that will not be completed.
    pub(crate) fn report(&mut self) {
        if self.id.is_some()
            && let Some(usage) = self.counts.news()
        {
            self.ready.push_back(ModelEvent::MessageDelta { stop_reason: None, usage });
        }
    }
}
