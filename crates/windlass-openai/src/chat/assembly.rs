//! Assembly of one message's events, in their order, from the pieces of an answer in any order.

use super::calls::{CallPiece, PartialCall, PartialCalls};
use super::compat::{AnswerCompat, Finish};
use super::details::{DetailDelta, Details};
use crate::error::protocol;
use std::collections::VecDeque;
use windlass_http::provider::stable_hash;
use windlass_model::ModelError;
use windlass_types::{
    BlockStart, JsonText, MessageId, ModelErrorKind, ModelEvent, StopReason, StreamDelta, ToolUseId, Usage,
};

/// Maximum number of bytes of one message, framing included.
pub(super) const MAX_MESSAGE_BYTES: usize = 64 << 20;

/// Assembly of one message, whose blocks follow one another. The first call is passed on as it arrives. Later calls and
/// text are kept until the end, because a server may return to any call until then.
#[derive(Debug, Default)]
pub(super) struct ChatAssembly {
    events: VecDeque<ModelEvent>,
    id: Option<String>,
    blocks: usize,
    open: Option<OpenChatBlock>,
    calls: PartialCalls,
    details: Details,
    /// Text and reasoning that came after a call.
    late_text: String,
    late_reasoning: String,
    /// Member in which reasoning came, and in which it is sent back.
    reasoning_in: Option<&'static str>,
    ending: MessageEnding,
    progress: bool,
}

/// State of the end of a message.
#[derive(Debug, Default)]
struct MessageEnding {
    finish: Option<FinishSource>,
    refused: bool,
    usage: Option<Usage>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum OpenChatBlock {
    Text,
    Thinking,
    Call,
}

#[derive(Debug, Clone)]
enum FinishSource {
    Known(Finish),
    Other(String),
}

impl ChatAssembly {
    pub(super) fn next_event(&mut self) -> Option<ModelEvent> {
        self.events.pop_front()
    }

    /// Returns `true` if something was added to the message since the last query.
    pub(super) fn takes_progress(&mut self) -> bool {
        std::mem::take(&mut self.progress)
    }

    pub(super) fn is_started(&self) -> bool {
        self.id.is_some()
    }

    pub(super) fn has_finish(&self) -> bool {
        self.ending.finish.is_some()
    }

    pub(super) fn start(&mut self, id: String, model: String) {
        let message = MessageId::from(&*id);
        self.events.push_back(ModelEvent::MessageStart { id: message, model, usage: Usage::default() });
        self.id = Some(id);
        self.progress = true;
    }

    pub(super) fn text(&mut self, text: String) {
        self.progress = true;
        if !self.calls.is_empty() {
            self.late_text.push_str(&text);
            return;
        }
        if self.open != Some(OpenChatBlock::Text) {
            self.close();
            self.begin(OpenChatBlock::Text, BlockStart::Text(String::new()));
        }
        self.delta(StreamDelta::Text(text));
    }

    /// Adds text with which the model refuses to answer.
    pub(super) fn refusal(&mut self, text: String) {
        self.ending.refused = true;
        self.text(text);
    }

    /// Adds reasoning text from the member of this name.
    pub(super) fn reasoning(&mut self, from: &'static str, text: String) {
        self.progress = true;
        self.reasoning_in.get_or_insert(from);
        if !self.calls.is_empty() {
            self.late_reasoning.push_str(&text);
            return;
        }
        self.begin_thinking();
        self.delta(StreamDelta::Thinking(text));
    }

    /// Adds reasoning details. Their text is shown unless the delta has it in another member too.
    pub(super) fn details(&mut self, delta: &DetailDelta<'_>, is_shown: bool) {
        let text = if is_shown { String::new() } else { delta.text() };
        // The block of the details is open before they are added. Encrypted reasoning has no text: it begins a block of
        // its own only if none is open.
        if !text.is_empty() {
            self.reasoning("reasoning", text);
        } else if self.open.is_none() {
            self.begin_thinking();
        }
        self.details.add(delta);
    }

    /// Adds a piece of a call.
    ///
    /// # Errors
    /// Fails if there are too many calls.
    pub(super) fn call(&mut self, piece: CallPiece<'_>) -> Result<(), ModelError> {
        self.progress = true;
        if !self.calls.add(piece) {
            return Err(protocol("a message has more than a thousand calls"));
        }
        let Some(first) = self.calls.first() else { return Ok(()) };
        if self.open == Some(OpenChatBlock::Call) {
            let arguments = std::mem::take(&mut first.arguments);
            self.input(arguments);
        } else if let Some(name) = first.name.clone() {
            let arguments = std::mem::take(&mut first.arguments);
            let id = first.id.clone();
            self.close();
            let id = self.id_of(id, 0);
            self.begin(OpenChatBlock::Call, BlockStart::ToolUse { id, name });
            self.input(arguments);
        }
        Ok(())
    }

    pub(super) fn usage(&mut self, usage: Usage) {
        // The last non-empty usage wins: some servers send one with each chunk, others end with an empty one.
        if usage != Usage::default() {
            self.ending.usage = Some(usage);
        }
    }

    pub(super) fn finish(&mut self, reason: &str, answer: &AnswerCompat) {
        let own = answer.finish_reasons.iter().find(|(name, _)| name == reason).map(|(_, finish)| *finish);
        self.ending.finish = Some(match own.or_else(|| Finish::known(reason)) {
            Some(finish) => FinishSource::Known(finish),
            None => FinishSource::Other(reason.to_owned()),
        });
    }

    /// Ends the message. `window` is the window of the model, if it is known and the server may silently overflow it.
    ///
    /// # Errors
    /// Fails if there was no finish reason, if the reason invalidates the message, or if the prompt was too long for
    /// the model and the server did not report that.
    pub(super) fn complete(&mut self, is_done: bool, window: Option<u64>) -> Result<(), ModelError> {
        let Some(id) = &self.id else { return Err(cut()) };
        let id = id.clone();
        let reason = match self.ending.finish.clone() {
            Some(reason) => reason,
            None if is_done => FinishSource::Known(Finish::Done),
            None => return Err(cut()),
        };
        self.check_overflow(&reason, window)?;
        let has_calls = !self.calls.is_empty();
        let mut stop = stop_reason(&reason, has_calls)?;
        if self.ending.refused && matches!(stop, StopReason::EndTurn) {
            stop = StopReason::Refusal;
        }
        if !self.end_blocks(&id) {
            stop = StopReason::MalformedToolCall;
        }
        let usage = self.ending.usage.unwrap_or_default();
        self.events.push_back(ModelEvent::MessageDelta { stop_reason: Some(stop), usage });
        self.events.push_back(ModelEvent::MessageStop);
        Ok(())
    }

    /// Detects a prompt that did not fit although the server answered as if it did: with more tokens than the window
    /// has, or with the output limit reached before the first token (Xiaomi MiMo).
    fn check_overflow(&self, reason: &FinishSource, window: Option<u64>) -> Result<(), ModelError> {
        let Some(usage) = self.ending.usage else { return Ok(()) };
        let input = usage.total_input();
        let wrote_none = matches!(reason, FinishSource::Known(Finish::MaxTokens)) && usage.output_tokens == 0;
        let what = match window {
            Some(window) if input > window => format!("{input} tokens were sent to a model with a window of {window}"),
            _ if wrote_none && self.blocks == 0 && self.open.is_none() => {
                format!("the model had no room for an answer after {input} tokens")
            }
            _ => return Ok(()),
        };
        Err(ModelError::new(
            ModelErrorKind::PromptTooLong,
            format!("the prompt does not fit the context window, and the API did not say so: {what}"),
        ))
    }

    /// Ends all blocks. `false` if a call has no name.
    fn end_blocks(&mut self, message: &str) -> bool {
        let first_is_open = self.open == Some(OpenChatBlock::Call);
        let mut is_complete = true;
        let mut calls = self.calls.take().into_iter().enumerate();
        if first_is_open && let Some((_, call)) = calls.next() {
            self.close_call(call.extra.as_ref());
        } else {
            self.close();
        }
        for (at, call) in calls {
            let PartialCall { id, name, arguments, extra, .. } = match call {
                call if call.is_empty() => continue,
                call => call,
            };
            let Some(name) = name else {
                is_complete = false;
                continue;
            };
            let id = id.map_or_else(|| synthetic_id(message, at), |id| ToolUseId::from(&*id));
            self.begin(OpenChatBlock::Call, BlockStart::ToolUse { id, name });
            self.input(arguments);
            self.close_call(extra.as_ref());
        }
        self.end_late();
        is_complete
    }

    fn end_late(&mut self) {
        let reasoning = std::mem::take(&mut self.late_reasoning);
        if !reasoning.is_empty() {
            self.begin_thinking();
            self.delta(StreamDelta::Thinking(reasoning));
        }
        let text = std::mem::take(&mut self.late_text);
        if !text.trim().is_empty() {
            self.close();
            self.begin(OpenChatBlock::Text, BlockStart::Text(String::new()));
            self.delta(StreamDelta::Text(text));
        }
        self.close();
    }

    fn id_of(&self, id: Option<String>, at: usize) -> ToolUseId {
        let message = self.id.as_deref().unwrap_or_default();
        id.map_or_else(|| synthetic_id(message, at), |id| ToolUseId::from(&*id))
    }

    fn input(&mut self, arguments: String) {
        if !arguments.is_empty() {
            self.delta(StreamDelta::ToolInput(arguments));
        }
    }

    fn begin_thinking(&mut self) {
        if self.open != Some(OpenChatBlock::Thinking) {
            self.close();
            let block = BlockStart::Thinking { thinking: String::new(), signature: String::new() };
            self.begin(OpenChatBlock::Thinking, block);
        }
    }

    fn begin(&mut self, open: OpenChatBlock, block: BlockStart) {
        self.open = Some(open);
        self.events.push_back(ModelEvent::BlockStart { index: self.blocks, block });
    }

    fn delta(&mut self, delta: StreamDelta) {
        self.events.push_back(ModelEvent::BlockDelta { index: self.blocks, delta });
    }

    /// Closes the open block with the data that is sent back with it.
    fn close(&mut self) {
        match self.open {
            None => return,
            Some(OpenChatBlock::Thinking) => {
                let from = self.reasoning_in.unwrap_or("reasoning");
                let signature = self.details.take().unwrap_or_else(|| from.to_owned());
                self.delta(StreamDelta::Signature(signature));
            }
            Some(OpenChatBlock::Text | OpenChatBlock::Call) => {
                if let Some(replay) = self.replay(None) {
                    self.delta(StreamDelta::Replay(replay));
                }
            }
        }
        self.stop();
    }

    fn close_call(&mut self, extra: Option<&JsonText>) {
        if let Some(replay) = self.replay(extra) {
            self.delta(StreamDelta::Replay(replay));
        }
        self.stop();
    }

    fn stop(&mut self) {
        self.open = None;
        self.events.push_back(ModelEvent::BlockStop { index: self.blocks });
        self.blocks += 1;
    }

    fn replay(&mut self, extra: Option<&JsonText>) -> Option<JsonText> {
        let details = self.details.take().map(|details| format!("\"reasoning_details\":{details}"));
        let extra = extra.map(|extra| format!("\"extra_content\":{extra}"));
        let members: Vec<String> = extra.into_iter().chain(details).collect();
        if members.is_empty() { None } else { JsonText::parse(format!("{{{}}}", members.join(","))).ok() }
    }
}

fn stop_reason(reason: &FinishSource, has_calls: bool) -> Result<StopReason, ModelError> {
    let finish = match reason {
        FinishSource::Other(other) => return Ok(StopReason::Other(other.clone())),
        FinishSource::Known(finish) => *finish,
    };
    finish.stop_reason(has_calls).ok_or_else(|| {
        let (kind, what) = match finish {
            Finish::Overloaded => (ModelErrorKind::Overloaded, "the API is overloaded and ended the message"),
            Finish::Cut => (ModelErrorKind::Cut, "the API broke the message off"),
            _ => (ModelErrorKind::Server, "the API failed inside the message"),
        };
        ModelError::new(kind, what)
    })
}

pub(super) fn cut() -> ModelError {
    ModelError::new(ModelErrorKind::Cut, "the stream ended before the message was complete")
}

/// Returns an id for a call without one: the same whenever the answer is read.
fn synthetic_id(message: &str, at: usize) -> ToolUseId {
    ToolUseId::from(&*format!("call_{:016x}_{at}", stable_hash(message.as_bytes()) as u64))
}
