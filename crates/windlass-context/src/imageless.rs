//! Conversations for a model that accepts no images.

use windlass_types::{ContentBlock, Message, SharedMessage, ToolResult, ToolResultContent};

/// Replacement for an image.
const LEFT_OUT: &str = "(an image was left out: this model does not see images)";

/// `true` if a message has an image.
#[must_use]
pub fn has_images(message: &Message) -> bool {
    has_image(&message.content)
}

/// Returns the messages with a note for each image. Messages without images stay unchanged.
#[must_use]
pub fn without_images(messages: Vec<SharedMessage>) -> Vec<SharedMessage> {
    let imageless = |message: SharedMessage| {
        if !has_images(&message) {
            return message;
        }
        let mut message = message.into_message();
        message.content = noted(message.content);
        message.into()
    };
    messages.into_iter().map(imageless).collect()
}

fn has_image(blocks: &[ContentBlock]) -> bool {
    blocks.iter().any(|block| match block {
        ContentBlock::Image { .. } => true,
        ContentBlock::ToolResult(ToolResult { content: ToolResultContent::Blocks(inner), .. }) => has_image(inner),
        _ => false,
    })
}

fn noted(blocks: Vec<ContentBlock>) -> Vec<ContentBlock> {
    let note = |block: ContentBlock| match block {
        ContentBlock::Image { .. } => ContentBlock::text(LEFT_OUT),
        ContentBlock::ToolResult(mut result) => {
            if let ToolResultContent::Blocks(inner) = &mut result.content {
                *inner = noted(std::mem::take(inner));
            }
            ContentBlock::ToolResult(result)
        }
        other => other,
    };
    blocks.into_iter().map(note).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use windlass_types::ImageSource;

    #[test]
    fn a_note_stands_for_each_image() {
        let source = || ImageSource::Base64 { media_type: "image/png".to_owned(), data: "AA==".to_owned() };
        let image = || ContentBlock::Image { source: source() };
        let result = ToolResult::ok("t", ToolResultContent::Blocks(vec![ContentBlock::text("a"), image()]));
        let messages = [
            Message::user_text("plain"),
            Message::user(vec![ContentBlock::text("see"), image()]),
            Message::user(vec![ContentBlock::ToolResult(result)]),
        ];
        let sent = without_images(messages.into_iter().map(SharedMessage::from).collect());
        let json: Vec<&str> = sent.iter().map(|message| message.json()).collect();
        assert!(json[0].contains("plain"));
        assert!(json[1..].iter().all(|json| json.contains(LEFT_OUT) && !json.contains("image/png")), "{json:?}");
    }
}
