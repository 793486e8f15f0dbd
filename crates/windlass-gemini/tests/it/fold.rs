//! From events to the message that a transcript keeps.

use windlass_types::{BlockStart, ContentBlock, JsonText, Message, ModelEvent, StreamDelta, ToolUse};

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

/// The message as a transcript keeps it: without blank text, and without reasoning at its end.
pub(crate) fn kept(events: &[ModelEvent]) -> Message {
    let mut blocks = blocks(events);
    blocks.retain(|block| block.as_text().is_none_or(|text| !text.trim().is_empty()));
    while blocks.last().is_some_and(ContentBlock::is_thinking) {
        blocks.pop();
    }
    Message::assistant(blocks)
}

/// The text of all text blocks, together.
pub(crate) fn text(events: &[ModelEvent]) -> String {
    blocks(events).iter().filter_map(ContentBlock::as_text).collect()
}
