//! Assembly of a model's stream into its message.
//!
//! The grammar, with `Ping`, `RateLimit`, `ReasoningDropped`, `WebSearched` and `Unknown` allowed anywhere:
//!
//! ```text
//! message = MessageStart (block | usage)* stop usage* MessageStop
//! block   = BlockStart(n) (BlockDelta(n) | usage)* BlockStop(n)    n = 0, 1, 2 …
//! usage   = MessageDelta without a stop reason, or with the one already known
//! stop    = MessageDelta with the stop reason
//! ```
//!
//! A deviation from the grammar is an error, and so is every later event: a failed stream never completes.

mod error;

pub(crate) use error::AssembleError;

use std::collections::{BTreeMap, HashSet};
use windlass_types::{
    BlockStart, ContentBlock, Delta, JsonText, MessageId, ModelEvent, StopReason, StreamDelta, ToolUse, ToolUseId,
    Usage,
};

/// Maximum number of content bytes in one message.
const MAX_MESSAGE_BYTES: usize = 64 << 20;

/// Maximum number of blocks in one message.
const MAX_MESSAGE_BLOCKS: usize = 10_000;

/// Folds the events of one model request into its message.
///
/// Text is copied twice: into the message, and into the delta for the host. The limits bound the memory used.
#[derive(Debug)]
pub(crate) struct MessageAssembler {
    phase: Phase,
    message: UnfinishedMessage,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Phase {
    Waiting,
    Content,
    Stopping,
    Complete,
    Failed,
}

/// An incomplete message, as far as it was streamed.
#[derive(Debug, Default)]
struct UnfinishedMessage {
    max_bytes: usize,
    max_blocks: usize,
    bytes: usize,
    /// Set by the start of the message.
    id: Option<MessageId>,
    model: String,
    content: Vec<ContentBlock>,
    /// Ids of the message's tool calls.
    calls: HashSet<ToolUseId>,
    open: Option<UnfinishedBlock>,
    /// Reason why the input of the last finished block is unusable, if it is.
    malformed: Option<String>,
    stop_reason: Option<StopReason>,
    usage: Usage,
}

/// An unfinished block.
#[derive(Debug)]
struct UnfinishedBlock {
    block: ContentBlock,
    /// `true` if the block came in one piece.
    whole: bool,
    /// Text of the block's input, as far as it was streamed.
    input: String,
}

/// A complete message of a model.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct AssembledMessage {
    /// Provider's id of the message.
    pub(crate) id: MessageId,
    /// Model that answered.
    pub(crate) model: String,
    /// Blocks in order; may be empty. Tool uses with unusable input hold `{}` instead.
    pub(crate) content: Vec<ContentBlock>,
    /// Reason why the model stopped.
    pub(crate) stop_reason: StopReason,
    /// Usage of the whole model request.
    pub(crate) usage: Usage,
}

impl AssembledMessage {
    /// Marks the answer as cut at the output limit, even if its server calls it complete: its length equals the limit,
    /// and it ends in text. A longer answer comes from a server without a limit.
    pub(crate) fn note_cut_by(&mut self, limit: u32) {
        let ends_in_call = self.content.last().is_some_and(|block| block.as_tool_use().is_some());
        if self.stop_reason == StopReason::EndTurn && self.usage.output_tokens == u64::from(limit) && !ends_in_call {
            self.stop_reason = StopReason::MaxTokens;
        }
    }
}

/// Effect of one event on the message.
#[derive(Debug, PartialEq)]
pub(crate) enum Step<'a> {
    /// Nothing to show: a ping, an unknown event, or figures that apply at the end of the request.
    Nothing,
    /// The message began, with the usage known at its start.
    Started { id: &'a MessageId, model: &'a str, usage: Usage },
    /// Text, reasoning or a tool input grew. The input of an unfinished block must not be parsed.
    Grew { index: usize, delta: Delta },
    /// A block is complete. The message is not yet, and may never be. `malformed`: reason why the input of a tool use
    /// is unusable; the call must be answered with an error and never run. The block then holds `{}`.
    BlockFinished { index: usize, block: &'a ContentBlock, malformed: Option<&'a str> },
    /// The message is complete.
    Complete(Box<AssembledMessage>),
}

impl MessageAssembler {
    /// Returns an assembler for one request, with [`MAX_MESSAGE_BYTES`] and [`MAX_MESSAGE_BLOCKS`].
    pub(crate) fn new() -> Self {
        Self::with_limits(MAX_MESSAGE_BYTES, MAX_MESSAGE_BLOCKS)
    }

    fn with_limits(max_bytes: usize, max_blocks: usize) -> Self {
        Self {
            phase: Phase::Waiting,
            message: UnfinishedMessage { max_bytes, max_blocks, ..UnfinishedMessage::default() },
        }
    }

    /// Applies the next event. The text that extends a block is moved out of the event.
    ///
    /// # Errors
    /// The event is out of place, or a limit is exceeded. The message is lost: every later event fails too.
    pub(crate) fn handle<'a>(&'a mut self, event: &'a mut ModelEvent) -> Result<Step<'a>, AssembleError> {
        // Set first and lifted on success, so that no error path leaves the assembler usable.
        let phase = std::mem::replace(&mut self.phase, Phase::Failed);
        let next = self.message.next_phase(phase, event)?;
        let step = self.message.apply(event)?;
        self.phase = next;
        Ok(step)
    }
}

impl UnfinishedMessage {
    /// Returns the phase after the event.
    fn next_phase(&self, phase: Phase, event: &ModelEvent) -> Result<Phase, AssembleError> {
        match (phase, event) {
            (Phase::Failed, _) => Err(AssembleError::Ended),
            (
                _,
                ModelEvent::Ping
                | ModelEvent::RateLimit(_)
                | ModelEvent::ReasoningDropped { .. }
                | ModelEvent::WebSearched(_)
                | ModelEvent::Unknown,
            ) => Ok(phase),
            (Phase::Complete, _) => Err(AssembleError::Ended),
            (Phase::Waiting, ModelEvent::MessageStart { .. }) => Ok(Phase::Content),
            (Phase::Waiting, _) => Err(AssembleError::NotStarted),
            (_, ModelEvent::MessageStart { .. }) => Err(AssembleError::StartedTwice),
            (_, ModelEvent::MessageDelta { stop_reason: None, .. }) => Ok(phase),
            (Phase::Content, ModelEvent::MessageDelta { .. } | ModelEvent::MessageStop) if self.open.is_some() => {
                Err(AssembleError::BlockOpen { index: self.content.len() })
            }
            (Phase::Content, ModelEvent::MessageDelta { .. }) => Ok(Phase::Stopping),
            (Phase::Content, ModelEvent::MessageStop) => Err(AssembleError::NoStopReason),
            (Phase::Content, _) => Ok(Phase::Content),
            (Phase::Stopping, ModelEvent::MessageStop) => Ok(Phase::Complete),
            (Phase::Stopping, ModelEvent::MessageDelta { stop_reason, .. }) if *stop_reason == self.stop_reason => {
                Ok(phase)
            }
            (Phase::Stopping, ModelEvent::MessageDelta { .. }) => Err(AssembleError::StopReasonChanged),
            (Phase::Stopping, _) => Err(AssembleError::AfterStopReason),
        }
    }

    fn apply<'a>(&'a mut self, event: &'a mut ModelEvent) -> Result<Step<'a>, AssembleError> {
        match event {
            ModelEvent::MessageStart { id, model, usage } => {
                self.add_bytes(id.as_str().len().saturating_add(model.len()))?;
                (self.id, self.model, self.usage) = (Some(id.clone()), model.clone(), *usage);
                Ok(Step::Started { id, model, usage: *usage })
            }
            ModelEvent::BlockStart { index, block } => self.begin(*index, block),
            ModelEvent::BlockDelta { index, delta } => self.extend(*index, delta),
            ModelEvent::BlockStop { index } => self.finish_block(*index),
            ModelEvent::MessageDelta { stop_reason, usage } => {
                if let Some(reason) = stop_reason {
                    self.add_bytes(reason.as_str().len())?;
                    self.stop_reason = Some(reason.clone());
                }
                self.usage = *usage;
                Ok(Step::Nothing)
            }
            ModelEvent::MessageStop => Ok(Step::Complete(Box::new(AssembledMessage {
                id: self.id.take().ok_or(AssembleError::NotStarted)?,
                model: std::mem::take(&mut self.model),
                content: std::mem::take(&mut self.content),
                stop_reason: self.stop_reason.take().ok_or(AssembleError::NoStopReason)?,
                usage: self.usage,
            }))),
            // Ping, RateLimit, Unknown, and events of later versions.
            _ => Ok(Step::Nothing),
        }
    }

    fn add_bytes(&mut self, bytes: usize) -> Result<(), AssembleError> {
        self.bytes = self.bytes.saturating_add(bytes);
        if self.bytes > self.max_bytes { Err(AssembleError::TooLarge { limit: self.max_bytes }) } else { Ok(()) }
    }

    fn begin(&mut self, index: usize, start: &BlockStart) -> Result<Step<'static>, AssembleError> {
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
        let block = match start {
            BlockStart::Text(text) => ContentBlock::text(text.as_str()),
            BlockStart::Thinking { thinking, signature } => {
                ContentBlock::Thinking { thinking: thinking.clone(), signature: signature.clone() }
            }
            BlockStart::ToolUse { id, name } => {
                ContentBlock::ToolUse(ToolUse::new(id.clone(), name.clone(), JsonText::empty_object()))
            }
            BlockStart::Whole(block) => block.clone(),
            _ => return Err(AssembleError::ForeignBlock),
        };
        self.add_bytes(block_len(&block))?;
        self.check(&block)?;
        self.open = Some(UnfinishedBlock { block, whole: matches!(start, BlockStart::Whole(_)), input: String::new() });
        let first = match start {
            BlockStart::Text(text) if !text.is_empty() => Delta::Text(text.clone()),
            BlockStart::Thinking { thinking, .. } if !thinking.is_empty() => Delta::Thinking(thinking.clone()),
            _ => return Ok(Step::Nothing),
        };
        Ok(Step::Grew { index, delta: first })
    }

    fn check(&self, block: &ContentBlock) -> Result<(), AssembleError> {
        match block {
            ContentBlock::Text { .. } | ContentBlock::Thinking { .. } | ContentBlock::RedactedThinking { .. } => Ok(()),
            // A call without id or name, or with the id of another call of the same message, could not be answered, and
            // no provider would accept it back.
            ContentBlock::ToolUse(ToolUse { id, name, .. }) if id.as_str().is_empty() || name.is_empty() => {
                Err(AssembleError::NamelessCall)
            }
            ContentBlock::ToolUse(ToolUse { id, .. }) if self.calls.contains(id) => {
                Err(AssembleError::RepeatedCall { id: id.clone() })
            }
            ContentBlock::ToolUse(_) => Ok(()),
            // A block of unknown type must still be unknown when it is read back.
            ContentBlock::Unknown(json) => match json.to::<ContentBlock>() {
                Ok(ContentBlock::Unknown(_)) => Ok(()),
                _ => Err(AssembleError::ForeignBlock),
            },
            _ => Err(AssembleError::ForeignBlock),
        }
    }

    fn extend(&mut self, index: usize, delta: &mut StreamDelta) -> Result<Step<'static>, AssembleError> {
        if index != self.content.len() {
            return Err(AssembleError::NotOpen { index });
        }
        self.add_bytes(text_of(delta).len())?;
        let Some(UnfinishedBlock { block, whole, input }) = &mut self.open else {
            return Err(AssembleError::NotOpen { index });
        };
        let (target, piece, shown): (_, _, Option<Shown>) = match (block, delta) {
            // Tools that the provider runs stream their input too.
            (ContentBlock::Unknown(_), StreamDelta::ToolInput(piece)) => (input, piece, None),
            (ContentBlock::Unknown(_), _) | (_, StreamDelta::Unknown) => return Ok(Step::Nothing),
            (block @ (ContentBlock::Text { .. } | ContentBlock::ToolUse(_)), StreamDelta::Replay(data)) => {
                block.set_replay(Some(data.clone()));
                return Ok(Step::Nothing);
            }
            _ if *whole => return Err(AssembleError::WrongDelta { index }),
            (ContentBlock::Thinking { signature, .. }, StreamDelta::Signature(piece)) => (signature, piece, None),
            (ContentBlock::Text { text, .. }, StreamDelta::Text(piece)) => (text, piece, Some(Delta::Text)),
            (ContentBlock::Thinking { thinking, .. }, StreamDelta::Thinking(piece)) => {
                (thinking, piece, Some(Delta::Thinking))
            }
            (ContentBlock::ToolUse(_), StreamDelta::ToolInput(piece)) => (input, piece, Some(Delta::ToolInput)),
            _ => return Err(AssembleError::WrongDelta { index }),
        };
        target.push_str(piece);
        Ok(shown.map_or(Step::Nothing, |shown| Step::Grew { index, delta: shown(std::mem::take(piece)) }))
    }

    fn finish_block(&mut self, index: usize) -> Result<Step<'_>, AssembleError> {
        let open = self.open.take().filter(|_| index == self.content.len());
        let UnfinishedBlock { block, input, .. } = open.ok_or(AssembleError::NotOpen { index })?;
        self.malformed = None;
        self.content.push(match block {
            ContentBlock::ToolUse(mut call) => {
                call.input = read_input(call.input, input).unwrap_or_else(|error| {
                    self.malformed = Some(error);
                    JsonText::empty_object()
                });
                self.calls.insert(call.id.clone());
                ContentBlock::ToolUse(call)
            }
            ContentBlock::Unknown(json) if !input.is_empty() => ContentBlock::Unknown(with_input(&json, input)?),
            block => block,
        });
        let block = self.content.last().ok_or(AssembleError::NotOpen { index })?;
        Ok(Step::BlockFinished { index, block, malformed: self.malformed.as_deref() })
    }
}

/// Returns the input of a call: sent whole with its block, or streamed. For a tool without parameters no text is sent
/// at all.
fn read_input(whole: JsonText, streamed: String) -> Result<JsonText, String> {
    let parsed = if streamed.is_empty() { Ok(whole) } else { JsonText::parse(streamed) };
    let json = parsed.map_err(|error| format!("the tool input is not valid JSON: {error}"))?;
    if !json.is_object() {
        return Err("the tool input is not a JSON object".to_owned());
    }
    json.check_strict().map_err(|error| format!("the tool input is ambiguous or out of range: {error}"))?;
    Ok(json)
}

/// Returns the block with its streamed input. The other members keep their exact text.
fn with_input(block: &JsonText, input: String) -> Result<JsonText, AssembleError> {
    let input = JsonText::parse_strict(input).map_err(|_| AssembleError::ForeignBlock)?;
    let mut members: BTreeMap<String, JsonText> = block.to().map_err(|_| AssembleError::ForeignBlock)?;
    members.insert("input".to_owned(), input);
    JsonText::of(&members).map_err(|_| AssembleError::ForeignBlock)
}

fn block_len(block: &ContentBlock) -> usize {
    match block {
        ContentBlock::Text { text, .. } => text.len(),
        ContentBlock::Thinking { thinking, signature } => thinking.len().saturating_add(signature.len()),
        ContentBlock::RedactedThinking { data } => data.len(),
        ContentBlock::ToolUse(ToolUse { id, name, input, .. }) => {
            id.as_str().len().saturating_add(name.len()).saturating_add(input.as_str().len())
        }
        ContentBlock::Unknown(json) => json.as_str().len(),
        // Refused when the block begins.
        _ => 0,
    }
}

/// Constructor of the delta shown to the host.
type Shown = fn(String) -> Delta;

fn text_of(delta: &StreamDelta) -> &str {
    match delta {
        StreamDelta::Text(text)
        | StreamDelta::Thinking(text)
        | StreamDelta::Signature(text)
        | StreamDelta::ToolInput(text) => text,
        StreamDelta::Replay(json) => json.as_str(),
        _ => "",
    }
}

#[cfg(test)]
mod tests;
