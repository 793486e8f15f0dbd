//! Conversion of the events of a stream to the blocks that a transcript keeps.

use std::sync::Arc;
use windlass_types::{
    BlockStart, ContentBlock, JsonText, Message, ModelEvent, Origin, StopReason, StreamDelta, ToolResult, ToolUse,
    ToolUseId, Usage,
};

use super::stream::Transcript;
use crate::Violation;

impl Transcript {
    /// Returns the blocks of the message.
    ///
    /// # Errors
    /// A delta that does not belong to its block, or a tool input that is not JSON.
    pub fn blocks(&self) -> Result<Vec<ContentBlock>, Violation> {
        blocks(self.items.iter().map(|item| &item.event))
    }

    /// Returns the reason why the model stopped.
    pub fn stop_reason(&self) -> Option<&StopReason> {
        self.items.iter().rev().find_map(|item| match &item.event {
            ModelEvent::MessageDelta { stop_reason, .. } => stop_reason.as_ref(),
            _ => None,
        })
    }

    /// Returns the last usage of the stream.
    pub fn usage(&self) -> Usage {
        let last = self.items.iter().rev().find_map(|item| match &item.event {
            ModelEvent::MessageDelta { usage, .. } | ModelEvent::MessageStart { usage, .. } => Some(*usage),
            _ => None,
        });
        last.unwrap_or_default()
    }

    /// Returns the events, except those without content.
    pub(super) fn events(&self) -> Vec<ModelEvent> {
        let events = self.items.iter().map(|item| item.event.clone());
        events.filter(|event| !matches!(event, ModelEvent::Ping | ModelEvent::Unknown)).collect()
    }
}

/// Returns the blocks of a message, as they were streamed.
///
/// # Errors
/// A delta that does not belong to its block, or a tool input that is not JSON.
pub fn blocks<'a>(events: impl IntoIterator<Item = &'a ModelEvent>) -> Result<Vec<ContentBlock>, Violation> {
    let mut blocks = Vec::new();
    let mut input = String::new();
    for event in events {
        match event {
            ModelEvent::BlockStart { block, .. } => blocks.push(begun(block)?),
            ModelEvent::BlockDelta { delta, .. } => {
                let last = blocks.last_mut().ok_or_else(|| Violation::new("a delta before the first block"))?;
                extend(last, delta, &mut input)?;
            }
            ModelEvent::BlockStop { .. } if !input.is_empty() => {
                let text = std::mem::take(&mut input);
                let parsed = JsonText::parse(text.as_str());
                let parsed = parsed.map_err(|error| Violation::new(format!("the input {text}: {error}")))?;
                if let Some(ContentBlock::ToolUse(call)) = blocks.last_mut() {
                    call.input = parsed;
                }
            }
            _ => {}
        }
    }
    Ok(blocks)
}

/// Returns a conversation with one message of the model, as a transcript keeps it. Its calls are answered; without
/// calls the user adds a message.
///
/// # Errors
/// The errors of [`blocks`].
pub fn conversation(events: &[ModelEvent], origin: Origin) -> Result<Vec<Message>, Violation> {
    let mut transcript = windlass_session::Transcript::new();
    transcript.push_user(vec![ContentBlock::text("hi")]);
    transcript.push_assistant(blocks(events)?, Some(Arc::new(origin)));
    let calls: Vec<ToolUseId> = transcript.open_calls().map(|call| call.id.clone()).collect();
    for call in &calls {
        transcript.push_result(ToolResult::ok(call.clone(), "done"));
    }
    if calls.is_empty() {
        transcript.push_user(vec![ContentBlock::text("next")]);
    }
    Ok(transcript.messages().iter().map(|message| Message::clone(message)).collect())
}

fn begun(block: &BlockStart) -> Result<ContentBlock, Violation> {
    Ok(match block.clone() {
        BlockStart::Text(text) => ContentBlock::text(text),
        BlockStart::Thinking { thinking, signature } => ContentBlock::Thinking { thinking, signature },
        BlockStart::ToolUse { id, name } => ContentBlock::ToolUse(ToolUse::new(id, name, JsonText::empty_object())),
        BlockStart::Whole(block) => block,
        other => return Err(Violation::new(format!("a block of an unknown kind: {other:?}"))),
    })
}

fn extend(block: &mut ContentBlock, delta: &StreamDelta, input: &mut String) -> Result<(), Violation> {
    match (block, delta) {
        (block, StreamDelta::Replay(data)) => block.set_replay(Some(data.clone())),
        (ContentBlock::Text { text, .. }, StreamDelta::Text(more)) => text.push_str(more),
        (ContentBlock::Thinking { thinking, .. }, StreamDelta::Thinking(more)) => thinking.push_str(more),
        (ContentBlock::Thinking { signature, .. }, StreamDelta::Signature(more)) => signature.push_str(more),
        (ContentBlock::ToolUse(_), StreamDelta::ToolInput(more)) => input.push_str(more),
        (block, delta) => return Err(Violation::new(format!("{delta:?} in {block:?}"))),
    }
    Ok(())
}
