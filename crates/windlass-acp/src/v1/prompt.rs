//! Prompts of clients as content of messages.

use crate::error::AcpError;
use serde::Deserialize;
use serde_json::Value;
use windlass_conversation::Message;
use windlass_types::text::visible_line;
use windlass_types::{ContentBlock, DocumentSource, IMAGE_TYPES, ImageSource};

/// Block of a prompt.
#[derive(Debug, Deserialize)]
#[serde(tag = "type", rename_all = "snake_case")]
enum Block {
    Text {
        text: String,
    },
    Image {
        data: String,
        #[serde(rename = "mimeType")]
        mime_type: String,
    },
    ResourceLink {
        name: String,
        uri: String,
    },
    Resource {
        resource: Resource,
    },
    Audio {},
}

#[derive(Debug, Deserialize)]
struct Resource {
    uri: String,
    text: Option<String>,
    blob: Option<String>,
    #[serde(rename = "mimeType")]
    mime_type: Option<String>,
}

/// The message that a prompt becomes. With resources none of its text is a command or a mention, since others wrote
/// part of it.
pub(crate) fn message(blocks: Vec<Value>) -> Result<Message, AcpError> {
    if blocks.is_empty() {
        return Err(AcpError::invalid_params("the prompt has no content"));
    }
    let (mut content, mut has_resource) = (Vec::new(), false);
    for block in blocks {
        let block: Block = serde_json::from_value(block)
            .map_err(|error| AcpError::invalid_params(format!("a block of the prompt is unusable: {error}")))?;
        has_resource |= matches!(block, Block::Resource { .. } | Block::ResourceLink { .. });
        content.push(block.content()?);
    }
    let mut message = Message::new(content);
    message.size = message.size.max(message.content.iter().flatten().map(size).sum());
    message.is_verbatim = has_resource;
    Ok(message)
}

/// Bytes that a block takes up while it waits.
fn size(block: &ContentBlock) -> usize {
    match block {
        ContentBlock::Image { source: ImageSource::Base64 { data, .. } }
        | ContentBlock::Document {
            source: DocumentSource::Base64 { data, .. } | DocumentSource::Text { data, .. },
            ..
        } => data.len(),
        block => block.as_text().map_or(1024, str::len),
    }
}

impl Block {
    fn content(self) -> Result<ContentBlock, AcpError> {
        match self {
            Self::Text { text } => Ok(ContentBlock::text(text)),
            Self::Image { data, mime_type } => image(mime_type, data),
            Self::ResourceLink { name, uri } => {
                let place = uri.strip_prefix("file://").unwrap_or(&uri);
                Ok(ContentBlock::text(format!("[Link: {} ({})]", visible_line(&name), visible_line(place))))
            }
            Self::Resource { resource } => resource.content(),
            Self::Audio {} => Err(AcpError::invalid_params("the agent takes no audio: send text, images or resources")),
        }
    }
}

impl Resource {
    fn content(self) -> Result<ContentBlock, AcpError> {
        let mime_type = self.mime_type.unwrap_or_default();
        match (self.text, self.blob) {
            (Some(text), _) => Ok(document("text/plain", text, &self.uri, true)),
            (None, Some(data)) if IMAGE_TYPES.contains(&mime_type.as_str()) => image(mime_type, data),
            (None, Some(data)) if mime_type == "application/pdf" => Ok(document(&mime_type, data, &self.uri, false)),
            (None, Some(_)) => {
                let text = format!("[Binary resource that cannot be read: {}]", visible_line(&self.uri));
                Ok(ContentBlock::text(text))
            }
            (None, None) => {
                Err(AcpError::invalid_params(format!("the resource {:?} has neither text nor blob", self.uri)))
            }
        }
    }
}

fn document(media_type: &str, data: String, uri: &str, is_text: bool) -> ContentBlock {
    let media_type = media_type.to_owned();
    let source =
        if is_text { DocumentSource::Text { media_type, data } } else { DocumentSource::Base64 { media_type, data } };
    ContentBlock::Document { source, title: Some(visible_line(uri)) }
}

fn image(media_type: String, data: String) -> Result<ContentBlock, AcpError> {
    if !IMAGE_TYPES.contains(&media_type.as_str()) {
        let message = format!("the image type {media_type:?} cannot be read: use one of {}", IMAGE_TYPES.join(", "));
        return Err(AcpError::invalid_params(message));
    }
    Ok(ContentBlock::Image { source: ImageSource::Base64 { media_type, data } })
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn each_kind_of_block_becomes_content() {
        let message = message(vec![
            json!({ "type": "text", "text": "look" }),
            json!({ "type": "image", "data": "AA==", "mimeType": "image/png" }),
            json!({ "type": "resource_link", "name": "a\nb", "uri": "file:///w/a.rs" }),
            json!({ "type": "resource", "resource": { "uri": "file:///w/b.rs", "text": "fn main() {}" } }),
            json!({ "type": "resource", "resource": { "uri": "x:c", "blob": "AA==", "mimeType": "image/gif" } }),
            json!({ "type": "resource", "resource": { "uri": "x:d", "blob": "AA==" } }),
        ])
        .unwrap();
        assert!(message.is_verbatim, "a file must not call commands");
        let content = message.content.unwrap();
        assert_eq!(content[0], ContentBlock::text("look"));
        assert!(matches!(content[1], ContentBlock::Image { .. }));
        assert_eq!(content[2].as_text(), Some(r"[Link: a\nb (/w/a.rs)]"));
        assert!(
            matches!(&content[3], ContentBlock::Document { source: DocumentSource::Text { data, .. }, title: Some(title) }
                if data == "fn main() {}" && title == "file:///w/b.rs")
        );
        assert!(matches!(content[4], ContentBlock::Image { .. }));
        assert_eq!(content[5].as_text(), Some("[Binary resource that cannot be read: x:d]"));
    }

    #[test]
    fn unusable_blocks_are_refused() {
        for blocks in [
            json!([]),
            json!([{ "type": "hologram" }]),
            json!([{ "type": "text" }]),
            json!([{ "type": "audio", "data": "", "mimeType": "audio/wav" }]),
            json!([{ "type": "image", "data": "", "mimeType": "image/svg+xml" }]),
            json!([{ "type": "resource", "resource": { "uri": "x:d" } }]),
            json!([7]),
        ] {
            let error = message(blocks.as_array().unwrap().clone()).unwrap_err();
            assert_eq!(error.kind.code(), -32602, "{blocks}");
        }
        assert!(!message(vec![json!({ "type": "text", "text": "/compact" })]).unwrap().is_verbatim);
    }
}
