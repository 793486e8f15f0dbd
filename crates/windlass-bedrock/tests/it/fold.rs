//! From events to the message that a transcript keeps.

use std::sync::Arc;
use windlass_session::Transcript;
use windlass_types::{
    BlockStart, ContentBlock, JsonText, Message, ModelEvent, Origin, StreamDelta, ToolResult, ToolUse, ToolUseId,
};

/// The blocks of a message, as they were streamed.
pub(crate) fn blocks(events: &[ModelEvent]) -> Vec<ContentBlock> {
    let mut blocks: Vec<ContentBlock> = Vec::new();
    let mut input = String::new();
    for event in events {
        match event {
            ModelEvent::BlockStart { block, .. } => blocks.push(match block.clone() {
                BlockStart::Text(text) => ContentBlock::text(text),
                BlockStart::Thinking { thinking, signature } => ContentBlock::Thinking { thinking, signature },
                BlockStart::ToolUse { id, name } => {
                    ContentBlock::ToolUse(ToolUse::new(id, name, JsonText::empty_object()))
                }
                BlockStart::Whole(block) => block,
                other => panic!("{other:?}"),
            }),
            ModelEvent::BlockDelta { delta, .. } => match (blocks.last_mut().unwrap(), delta) {
                (block, StreamDelta::Replay(data)) => block.set_replay(Some(data.clone())),
                (ContentBlock::Text { text, .. }, StreamDelta::Text(more)) => text.push_str(more),
                (ContentBlock::Thinking { thinking, .. }, StreamDelta::Thinking(more)) => thinking.push_str(more),
                (ContentBlock::Thinking { signature, .. }, StreamDelta::Signature(more)) => signature.push_str(more),
                (ContentBlock::ToolUse(_), StreamDelta::ToolInput(more)) => input.push_str(more),
                other => panic!("{other:?}"),
            },
            ModelEvent::BlockStop { .. } => {
                if let (Some(ContentBlock::ToolUse(call)), false) = (blocks.last_mut(), input.is_empty()) {
                    call.input = JsonText::parse(std::mem::take(&mut input)).unwrap();
                }
            }
            _ => {}
        }
    }
    blocks
}

/// A conversation of one message of the model, as a transcript keeps it. Its calls are answered; without calls the user says more.
pub(crate) fn conversation(events: &[ModelEvent], origin: Origin) -> Vec<Message> {
    let mut transcript = Transcript::new();
    transcript.push_user(vec![ContentBlock::text("hi")]);
    transcript.push_assistant(blocks(events), Some(Arc::new(origin)));
    let calls: Vec<ToolUseId> = transcript.open_calls().map(|call| call.id.clone()).collect();
    for call in &calls {
        assert!(transcript.push_result(ToolResult::ok(call.clone(), "done")));
    }
    if calls.is_empty() {
        transcript.push_user(vec![ContentBlock::text("next")]);
    }
    transcript.messages().iter().map(|message| Message::clone(message)).collect()
}
