//! Results of calls, for the model.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use rmcp::model::{CallToolResult, ContentBlock as Remote, ResourceContents};
use serde_json::Value;
use windlass_tool::ToolOutput;
use windlass_types::{ContentBlock, IMAGE_TYPES, ImageSource, JsonText, ToolResultContent, media_type_of};

/// Maximum size of an image, in bytes of its base64 text: the limit of the Messages API.
const MAX_IMAGE_BYTES: usize = 5 * 1024 * 1024;
/// Maximum numbers of images and of blocks in one result.
const MAX_IMAGES: usize = 20;
const MAX_BLOCKS: usize = 1000;

/// Converts a result to the output that the model reads.
pub(crate) fn output(result: CallToolResult) -> ToolOutput {
    let failed = result.is_error == Some(true);
    collect(result.content.into_iter(), result.structured_content, failed)
}

/// Converts a result that may be malformed: unknown parts are shown as JSON. `None` if the value is no result.
pub(crate) fn lenient_output(result: Value) -> Option<ToolOutput> {
    let Value::Object(mut result) = result else { return None };
    let content = match result.remove("content") {
        Some(Value::Array(content)) => content,
        Some(Value::String(text)) => vec![serde_json::json!({ "type": "text", "text": text })],
        Some(_) => return None,
        None if result.contains_key("structuredContent") => Vec::new(),
        None => return None,
    };
    let parts = content
        .into_iter()
        .map(|part| serde_json::from_value(part.clone()).unwrap_or_else(|_| Remote::text(part.to_string())));
    let failed = result.get("isError") == Some(&Value::Bool(true));
    Some(collect(parts, result.remove("structuredContent"), failed))
}

fn collect(parts: impl Iterator<Item = Remote>, structured: Option<Value>, failed: bool) -> ToolOutput {
    let structured = structured.and_then(|value| JsonText::of(&value).ok());
    let mut blocks = Vec::new();
    let mut images = 0;
    let mut parts = parts;
    for part in parts.by_ref().take(MAX_BLOCKS) {
        blocks.push(block(part, &mut images));
    }
    let omitted = parts.count();
    if omitted > 0 {
        blocks.push(ContentBlock::text(format!("[{omitted} more parts of the result were left out]")));
    }
    if blocks.is_empty() {
        let text = structured.as_ref().map_or("The tool returned nothing.", JsonText::as_str);
        blocks.push(ContentBlock::text(text));
    }
    let mut output = ToolOutput::default();
    output.content = match blocks.as_mut_slice() {
        [ContentBlock::Text { text, .. }] => ToolResultContent::Text(std::mem::take(text)),
        _ => ToolResultContent::Blocks(blocks),
    };
    output.structured = structured;
    if failed { output.failed() } else { output }
}

fn block(part: Remote, images: &mut usize) -> ContentBlock {
    match part {
        Remote::Text(text) => ContentBlock::text(text.text),
        Remote::Image(image) => picture(&image.mime_type, image.data, images),
        Remote::Audio(audio) => left_out("audio", &audio.mime_type, audio.data.len()),
        Remote::Resource(resource) => match resource.resource {
            ResourceContents::TextResourceContents { uri, text, .. } => {
                ContentBlock::text(format!("[Resource {}]\n{text}", short(&uri)))
            }
            ResourceContents::BlobResourceContents { mime_type, blob, .. } => {
                let kind = mime_type.unwrap_or_default();
                if kind.starts_with("image/") {
                    picture(&kind, blob, images)
                } else {
                    left_out("data", &kind, blob.len())
                }
            }
            _ => ContentBlock::text("[A resource of an unknown kind was left out]"),
        },
        Remote::ResourceLink(link) => {
            ContentBlock::text(format!("[Resource {}: {}]", short(&link.name), short(&link.uri)))
        }
        other => ContentBlock::text(serde_json::to_string(&other).unwrap_or_default()),
    }
}

/// Converts an image that models can read; others become a note, because they would make every later request fail.
fn picture(kind: &str, data: String, images: &mut usize) -> ContentBlock {
    let starts = data.get(..32).and_then(|start| STANDARD.decode(start).ok()).and_then(|bytes| media_type_of(&bytes));
    let Some(media_type) = starts.filter(|found| IMAGE_TYPES.contains(found)) else {
        return left_out("image", kind, data.len());
    };
    let is_whole = data.len() <= MAX_IMAGE_BYTES && STANDARD.decode(&data).is_ok();
    if !is_whole || *images >= MAX_IMAGES {
        return left_out("image", kind, data.len());
    }
    *images += 1;
    ContentBlock::Image { source: ImageSource::Base64 { media_type: media_type.to_owned(), data } }
}

fn left_out(what: &str, kind: &str, bytes: usize) -> ContentBlock {
    let kind = short(kind);
    ContentBlock::text(format!("[{what} ({kind}, {bytes} bytes of base64) was left out: the model cannot read it]"))
}

fn short(text: &str) -> String {
    text.chars().filter(|c| !c.is_control()).take(300).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    const PNG: &str =
        "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==";

    fn read(result: Value) -> ToolOutput {
        match serde_json::from_value(result.clone()) {
            Ok(result) => output(result),
            Err(_) => lenient_output(result).unwrap(),
        }
    }

    fn texts(output: &ToolOutput) -> Vec<String> {
        match &output.content {
            ToolResultContent::Text(text) => vec![text.clone()],
            ToolResultContent::Blocks(blocks) => {
                blocks.iter().map(|block| block.as_text().unwrap_or("<image>").to_owned()).collect()
            }
        }
    }

    #[test]
    fn parts_become_blocks() {
        for (result, expected) in [
            (json!({ "content": [{ "type": "text", "text": "3" }] }), vec!["3"]),
            (json!({ "content": [] }), vec!["The tool returned nothing."]),
            (json!({ "content": [], "structuredContent": { "a": 1 } }), vec![r#"{"a":1}"#]),
            (json!({ "structuredContent": [1] }), vec!["[1]"]),
            (
                json!({ "content": [
                    { "type": "text", "text": "a" },
                    { "type": "image", "data": PNG, "mimeType": "image/jpeg" },
                    { "type": "resource", "resource": { "uri": "file:///x", "text": "t" } },
                    { "type": "resource", "resource": { "uri": "file:///x", "blob": PNG, "mimeType": "image/png" } },
                    { "type": "resource_link", "uri": "u", "name": "n" },
                ] }),
                vec!["a", "<image>", "[Resource file:///x]\nt", "<image>", "[Resource n: u]"],
            ),
            (json!({ "content": [{ "type": "new", "x": 1 }] }), vec![r#"{"type":"new","x":1}"#]),
            (json!({ "content": "plain" }), vec!["plain"]),
        ] {
            assert_eq!(texts(&read(result.clone())), expected, "{result}");
        }
        let failed = read(json!({ "content": [{ "type": "text", "text": "no" }], "isError": true }));
        assert!(failed.is_error);
        assert!(read(json!({ "content": [{ "type": "new" }], "isError": true })).is_error);
        assert_eq!(lenient_output(json!({ "x": 1 })), None);
    }

    #[test]
    fn what_no_model_reads_becomes_a_note() {
        for (data, kind) in [
            ("not base64", "image/png"),
            ("", "image/png"),
            (&STANDARD.encode("<svg xmlns='http://www.w3.org/2000/svg'></svg>"), "image/svg+xml"),
            (&format!("{PNG}!"), "image/png"),
            (&PNG.repeat(1 + MAX_IMAGE_BYTES / PNG.len()), "image/png"),
        ] {
            let result = json!({ "content": [{ "type": "image", "data": data, "mimeType": kind }] });
            assert!(texts(&read(result))[0].contains("left out"), "{kind}");
        }
        let many = vec![json!({ "type": "image", "data": PNG, "mimeType": "image/png" }); MAX_IMAGES + 1];
        assert!(texts(&read(json!({ "content": many })))[MAX_IMAGES].contains("left out"));
        let many = vec![json!({ "type": "text", "text": "x" }); MAX_BLOCKS + 7];
        assert_eq!(
            texts(&read(json!({ "content": many }))).last().unwrap(),
            "[7 more parts of the result were left out]"
        );
    }
}
