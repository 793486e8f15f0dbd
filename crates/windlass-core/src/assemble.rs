//! From a model's stream to its message.
//!
//! The grammar, with `Ping`, `RateLimit` and `Unknown` allowed anywhere:
//!
//! ```text
//! message = MessageStart (block | usage)* stop usage* MessageStop
//! block   = BlockStart(n) (BlockDelta(n) | usage)* BlockStop(n)    n = 0, 1, 2 …
//! usage   = MessageDelta without a stop reason, or with the one already known
//! stop    = MessageDelta with the stop reason
//! ```
//!
//! What does not follow it is an error, and so is everything after an error: a
//! stream that went wrong once never completes.

mod error;

pub use error::AssembleError;

use std::collections::{BTreeMap, HashSet};
use windlass_types::{
    BlockStart, ContentBlock, JsonText, MessageId, ModelEvent, StopReason, StreamDelta, ToolUse, ToolUseId, Usage,
};

/// The most bytes of content that one message may hold.
pub const MAX_MESSAGE_BYTES: usize = 64 << 20;

/// The most blocks that one message may hold.
pub const MAX_MESSAGE_BLOCKS: usize = 10_000;

/// Folds the events of one model call into its message.
///
/// Text is borrowed from the events on its way to the host and copied once, into
/// the message. Memory is bounded by the limits given.
#[derive(Debug)]
pub struct MessageAssembler {
    max_bytes: usize,
    max_blocks: usize,
    bytes: usize,
    state: MessagePhase,
    /// Set by the start of the message.
    id: Option<MessageId>,
    model: String,
    content: Vec<ContentBlock>,
    /// The ids of its calls.
    calls: HashSet<ToolUseId>,
    malformed: Vec<MalformedInput>,
    open: Option<Open>,
    stop_reason: Option<StopReason>,
    usage: Usage,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum MessagePhase {
    Waiting,
    Content,
    Stopping,
    Complete,
    Failed,
}

#[derive(Debug)]
enum Open {
    Text(String),
    Thinking { thinking: String, signature: String },
    ToolUse { id: ToolUseId, name: String, input: String },
    Whole { block: ContentBlock, input: String },
}

/// A message of a model, complete.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct AssembledMessage {
    /// The provider's id of the message.
    pub id: MessageId,
    /// The model that answered.
    pub model: String,
    /// The blocks, in order. May be empty.
    pub content: Vec<ContentBlock>,
    /// Tool uses whose input was unusable; their blocks hold `{}` instead.
    pub malformed: Vec<MalformedInput>,
    /// Why the model stopped.
    pub stop_reason: StopReason,
    /// Usage of the whole call.
    pub usage: Usage,
}

/// A tool use whose input cannot be taken at its word. It must be answered with
/// an error result and never run.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct MalformedInput {
    /// Position of the tool use in the message.
    pub index: usize,
    /// The call's id.
    pub id: ToolUseId,
    /// What is wrong, in words for the model.
    pub error: String,
}

/// What one event did.
#[derive(Debug, PartialEq)]
#[non_exhaustive]
pub enum Step<'a> {
    /// Nothing to see: a sign of life, or something unknown.
    Nothing,
    /// The message began.
    Started {
        /// The provider's id of the message.
        id: &'a MessageId,
        /// The model that answers.
        model: &'a str,
        /// Usage as known at the start.
        usage: Usage,
    },
    /// A block began, perhaps with a first piece of its text.
    BlockStarted {
        /// Its position.
        index: usize,
        /// What began.
        block: &'a BlockStart,
    },
    /// Text grew.
    Text {
        /// The block's position.
        index: usize,
        /// The piece.
        text: &'a str,
    },
    /// Reasoning grew.
    Thinking {
        /// The block's position.
        index: usize,
        /// The piece.
        thinking: &'a str,
    },
    /// A tool input grew. It is not to be read before its block is finished.
    ToolInput {
        /// The block's position.
        index: usize,
        /// The piece of JSON text.
        json: &'a str,
    },
    /// A block is complete. The message is not yet, and may never be.
    BlockFinished {
        /// Its position.
        index: usize,
        /// The block.
        block: &'a ContentBlock,
        /// For a tool use: why its input is unusable. The block then holds `{}`.
        malformed: Option<&'a MalformedInput>,
    },
    /// Usage so far, for the whole call, and the stop reason once known.
    Usage {
        /// Replaces earlier figures.
        usage: Usage,
        /// Why the model stopped, when this event has it.
        stop_reason: Option<&'a StopReason>,
    },
    /// The message is complete.
    Complete(Box<AssembledMessage>),
}

impl Default for MessageAssembler {
    fn default() -> Self {
        Self::new()
    }
}

impl MessageAssembler {
    /// An assembler for one call, with [`MAX_MESSAGE_BYTES`] and [`MAX_MESSAGE_BLOCKS`].
    pub fn new() -> Self {
        Self::with_limits(MAX_MESSAGE_BYTES, MAX_MESSAGE_BLOCKS)
    }

    /// An assembler for one call with these limits on bytes of content and number of blocks.
    pub fn with_limits(max_bytes: usize, max_blocks: usize) -> Self {
        Self {
            max_bytes,
            max_blocks,
            bytes: 0,
            state: MessagePhase::Waiting,
            id: None,
            model: String::new(),
            content: Vec::new(),
            calls: HashSet::new(),
            malformed: Vec::new(),
            open: None,
            stop_reason: None,
            usage: Usage::default(),
        }
    }

    /// Whether the message is complete. When the stream has ended and this is
    /// false, the stream was cut.
    pub fn is_complete(&self) -> bool {
        self.state == MessagePhase::Complete
    }

    /// Takes the next event.
    ///
    /// # Errors
    /// The event cannot stand here, or a limit is passed. The message is lost:
    /// every later event fails too.
    pub fn handle<'a>(&'a mut self, event: &'a ModelEvent) -> Result<Step<'a>, AssembleError> {
        if self.state == MessagePhase::Failed {
            return Err(AssembleError::Ended);
        }
        // Set first and lifted on success, so that no path out of an error leaves it usable.
        let state = std::mem::replace(&mut self.state, MessagePhase::Failed);
        let next = self.next_state(state, event)?;
        self.apply(next, event)
    }

    /// Whether the event may stand in a state, and the state after it.
    fn next_state(&self, state: MessagePhase, event: &ModelEvent) -> Result<MessagePhase, AssembleError> {
        if matches!(event, ModelEvent::Ping | ModelEvent::RateLimit(_) | ModelEvent::Unknown) {
            return Ok(state);
        }
        match (state, event) {
            (MessagePhase::Complete | MessagePhase::Failed, _) => Err(AssembleError::Ended),
            (MessagePhase::Waiting, ModelEvent::MessageStart { .. }) => Ok(MessagePhase::Content),
            (MessagePhase::Waiting, _) => Err(AssembleError::NotStarted),
            (_, ModelEvent::MessageStart { .. }) => Err(AssembleError::StartedTwice),
            (MessagePhase::Stopping, ModelEvent::MessageStop) => Ok(MessagePhase::Complete),
            (MessagePhase::Content, ModelEvent::MessageStop) => match self.open {
                Some(_) => Err(AssembleError::BlockOpen { index: self.content.len() }),
                None => Err(AssembleError::NoStopReason),
            },
            (_, ModelEvent::MessageDelta { stop_reason: None, .. }) => Ok(state),
            (MessagePhase::Content, ModelEvent::MessageDelta { .. }) => match self.open {
                Some(_) => Err(AssembleError::BlockOpen { index: self.content.len() }),
                None => Ok(MessagePhase::Stopping),
            },
            (MessagePhase::Stopping, ModelEvent::MessageDelta { stop_reason: Some(reason), .. }) => {
                if self.stop_reason.as_ref() == Some(reason) {
                    Ok(state)
                } else {
                    Err(AssembleError::StopReasonChanged)
                }
            }
            (MessagePhase::Stopping, _) => Err(AssembleError::AfterStopReason),
            (MessagePhase::Content, _) => Ok(MessagePhase::Content),
        }
    }

    fn apply<'a>(&'a mut self, next: MessagePhase, event: &'a ModelEvent) -> Result<Step<'a>, AssembleError> {
        match event {
            ModelEvent::MessageStart { id, model, usage } => {
                self.take(id.as_str().len().saturating_add(model.len()))?;
                self.id = Some(id.clone());
                self.model.clone_from(model);
                self.usage = *usage;
                self.state = next;
                Ok(Step::Started { id, model, usage: *usage })
            }
            ModelEvent::BlockStart { index, block } => {
                self.begin(*index, block)?;
                self.state = next;
                Ok(Step::BlockStarted { index: *index, block })
            }
            ModelEvent::BlockDelta { index, delta } => {
                let step = self.extend(*index, delta)?;
                self.state = next;
                Ok(step)
            }
            ModelEvent::BlockStop { index } => {
                self.finish_block(*index)?;
                self.state = next;
                let block = self.content.last().ok_or(AssembleError::NotOpen { index: *index })?;
                let malformed = self.malformed.last().filter(|malformed| malformed.index == *index);
                Ok(Step::BlockFinished { index: *index, block, malformed })
            }
            ModelEvent::MessageDelta { stop_reason, usage } => {
                if let Some(reason) = stop_reason {
                    self.take(reason.as_str().len())?;
                    self.stop_reason = Some(reason.clone());
                }
                self.usage = *usage;
                self.state = next;
                Ok(Step::Usage { usage: *usage, stop_reason: stop_reason.as_ref() })
            }
            ModelEvent::MessageStop => {
                self.state = next;
                Ok(Step::Complete(Box::new(AssembledMessage {
                    id: self.id.take().ok_or(AssembleError::NotStarted)?,
                    model: std::mem::take(&mut self.model),
                    content: std::mem::take(&mut self.content),
                    malformed: std::mem::take(&mut self.malformed),
                    stop_reason: self.stop_reason.take().ok_or(AssembleError::NoStopReason)?,
                    usage: self.usage,
                })))
            }
            // Ping, RateLimit, Unknown, and events of later versions.
            _ => {
                self.state = next;
                Ok(Step::Nothing)
            }
        }
    }

    fn take(&mut self, bytes: usize) -> Result<(), AssembleError> {
        self.bytes = self.bytes.saturating_add(bytes);
        if self.bytes > self.max_bytes { Err(AssembleError::TooLarge { limit: self.max_bytes }) } else { Ok(()) }
    }

    fn begin(&mut self, index: usize, start: &BlockStart) -> Result<(), AssembleError> {
        let expected = self.content.len();
        if self.open.is_some() {
            return Err(AssembleError::BlockOpen { index: expected });
        }
        if index != expected {
            return Err(AssembleError::WrongIndex { expected, found: index });
        }
        if expected >= self.max_blocks {
            return Err(AssembleError::TooManyBlocks { limit: self.max_blocks });
        }
        self.take(start_len(start))?;
        self.open = Some(match start {
            BlockStart::Text(text) => Open::Text(text.clone()),
            BlockStart::Thinking { thinking, signature } => {
                Open::Thinking { thinking: thinking.clone(), signature: signature.clone() }
            }
            BlockStart::ToolUse { id, name } => {
                self.check_call(id, name)?;
                Open::ToolUse { id: id.clone(), name: name.clone(), input: String::new() }
            }
            BlockStart::Whole(block) => {
                self.check_whole(block)?;
                Open::Whole { block: block.clone(), input: String::new() }
            }
            _ => return Err(AssembleError::ForeignBlock),
        });
        Ok(())
    }

    /// A call without id or name, or with the id of another call of the same
    /// message, could not be answered, and no provider would take it back.
    fn check_call(&self, id: &ToolUseId, name: &str) -> Result<(), AssembleError> {
        if id.as_str().is_empty() || name.is_empty() {
            return Err(AssembleError::NamelessCall);
        }
        if self.calls.contains(id) { Err(AssembleError::RepeatedCall { id: id.clone() }) } else { Ok(()) }
    }

    fn check_whole(&self, block: &ContentBlock) -> Result<(), AssembleError> {
        match block {
            ContentBlock::Text { .. } | ContentBlock::Thinking { .. } | ContentBlock::RedactedThinking { .. } => Ok(()),
            ContentBlock::ToolUse(call) => self.check_call(&call.id, &call.name),
            // A block that is unknown here must still be unknown when it is read back.
            ContentBlock::Unknown(json) => match json.to::<ContentBlock>() {
                Ok(ContentBlock::Unknown(_)) => Ok(()),
                _ => Err(AssembleError::ForeignBlock),
            },
            _ => Err(AssembleError::ForeignBlock),
        }
    }

    fn extend<'a>(&mut self, index: usize, delta: &'a StreamDelta) -> Result<Step<'a>, AssembleError> {
        self.check_open(index)?;
        self.take(delta_len(delta))?;
        match (self.open.as_mut(), delta) {
            (Some(Open::Text(text)), StreamDelta::Text(more)) => {
                text.push_str(more);
                Ok(Step::Text { index, text: more })
            }
            (Some(Open::Thinking { thinking, .. }), StreamDelta::Thinking(more)) => {
                thinking.push_str(more);
                Ok(Step::Thinking { index, thinking: more })
            }
            (Some(Open::Thinking { signature, .. }), StreamDelta::Signature(more)) => {
                signature.push_str(more);
                Ok(Step::Nothing)
            }
            (Some(Open::ToolUse { input, .. }), StreamDelta::ToolInput(more)) => {
                input.push_str(more);
                Ok(Step::ToolInput { index, json: more })
            }
            // Tools that the provider runs stream their input too.
            (Some(Open::Whole { block: ContentBlock::Unknown(_), input }), StreamDelta::ToolInput(more)) => {
                input.push_str(more);
                Ok(Step::Nothing)
            }
            (Some(Open::Whole { block: ContentBlock::Unknown(_), .. }), _) | (Some(_), StreamDelta::Unknown) => {
                Ok(Step::Nothing)
            }
            _ => Err(AssembleError::WrongDelta { index }),
        }
    }

    fn check_open(&self, index: usize) -> Result<(), AssembleError> {
        if self.open.is_some() && index == self.content.len() { Ok(()) } else { Err(AssembleError::NotOpen { index }) }
    }

    fn finish_block(&mut self, index: usize) -> Result<(), AssembleError> {
        self.check_open(index)?;
        let block = match self.open.take() {
            Some(Open::Text(text)) => ContentBlock::Text { text },
            Some(Open::Thinking { thinking, signature }) => ContentBlock::Thinking { thinking, signature },
            Some(Open::ToolUse { id, name, input }) => {
                let input = read_input(input);
                ContentBlock::ToolUse(self.settle_call(index, id, name, input))
            }
            Some(Open::Whole { block: ContentBlock::ToolUse(call), .. }) => {
                let input = check_input(call.input);
                ContentBlock::ToolUse(self.settle_call(index, call.id, call.name, input))
            }
            Some(Open::Whole { block: ContentBlock::Unknown(json), input }) if !input.is_empty() => {
                ContentBlock::Unknown(with_input(&json, input)?)
            }
            Some(Open::Whole { block, .. }) => block,
            None => return Err(AssembleError::NotOpen { index }),
        };
        self.content.push(block);
        Ok(())
    }

    fn settle_call(&mut self, index: usize, id: ToolUseId, name: String, input: Result<JsonText, String>) -> ToolUse {
        self.calls.insert(id.clone());
        let input = input.unwrap_or_else(|error| {
            self.malformed.push(MalformedInput { index, id: id.clone(), error });
            JsonText::empty_object()
        });
        ToolUse::new(id, name, input)
    }
}

/// A tool without parameters is called with no text at all.
fn read_input(text: String) -> Result<JsonText, String> {
    if text.is_empty() {
        return Ok(JsonText::empty_object());
    }
    check_input(JsonText::parse(text).map_err(|error| format!("the tool input is not valid JSON: {error}"))?)
}

fn check_input(json: JsonText) -> Result<JsonText, String> {
    if !json.is_object() {
        return Err("the tool input is not a JSON object".to_owned());
    }
    json.check_strict().map_err(|error| format!("the tool input is ambiguous or out of range: {error}"))?;
    Ok(json)
}

/// The block with its streamed input. The other members keep their exact text.
fn with_input(block: &JsonText, input: String) -> Result<JsonText, AssembleError> {
    let input = JsonText::parse_strict(input).map_err(|_| AssembleError::ForeignBlock)?;
    let mut members: BTreeMap<String, JsonText> = block.to().map_err(|_| AssembleError::ForeignBlock)?;
    members.insert("input".to_owned(), input);
    JsonText::of(&members).map_err(|_| AssembleError::ForeignBlock)
}

fn start_len(start: &BlockStart) -> usize {
    match start {
        BlockStart::Text(text) => text.len(),
        BlockStart::Thinking { thinking, signature } => thinking.len().saturating_add(signature.len()),
        BlockStart::ToolUse { id, name } => id.as_str().len().saturating_add(name.len()),
        BlockStart::Whole(block) => block_len(block),
        _ => 0,
    }
}

fn block_len(block: &ContentBlock) -> usize {
    match block {
        ContentBlock::Text { text } => text.len(),
        ContentBlock::Thinking { thinking, signature } => thinking.len().saturating_add(signature.len()),
        ContentBlock::RedactedThinking { data } => data.len(),
        ContentBlock::ToolUse(call) => call.input.as_str().len().saturating_add(call.name.len()),
        ContentBlock::Unknown(json) => json.as_str().len(),
        // Refused when the block begins.
        _ => 0,
    }
}

fn delta_len(delta: &StreamDelta) -> usize {
    match delta {
        StreamDelta::Text(text)
        | StreamDelta::Thinking(text)
        | StreamDelta::Signature(text)
        | StreamDelta::ToolInput(text) => text.len(),
        _ => 0,
    }
}

#[cfg(test)]
mod tests;
