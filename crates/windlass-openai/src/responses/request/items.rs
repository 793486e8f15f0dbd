//! Input items of the conversation.

mod assistant;

use windlass_types::{
    AddedTools, ContentBlock, DocumentSource, ImageSource, Role, SharedMessage, ToolResult, ToolResultContent, ToolSpec,
};

use super::body::Out;
use windlass_http::provider::call_id;

/// Writes the list of items, with tools that were added in the middle of the conversation at their position.
pub(super) fn write(
    out: &mut Out,
    messages: &[SharedMessage],
    added: &[AddedTools],
    write_tool: &mut dyn FnMut(&mut Out, &ToolSpec),
) {
    let mut list = InputItems { out, items: 0 };
    list.out.raw("[");
    for (at, message) in messages.iter().enumerate() {
        match message.role {
            Role::Assistant => assistant::write(&mut list, message),
            _ => write_user(&mut list, message),
        }
        for added in added.iter().filter(|added| added.after_messages == at + 1 && !added.tools.is_empty()) {
            let out = list.item();
            out.raw("{\"type\":\"additional_tools\",\"role\":\"developer\",\"tools\":[");
            for (at, tool) in added.tools.iter().enumerate() {
                out.raw(if at == 0 { "" } else { "," });
                write_tool(out, tool);
            }
            out.raw("]}");
        }
    }
    list.out.raw("]");
}

/// Items that have been written.
struct InputItems<'o> {
    out: &'o mut Out,
    items: usize,
}

impl InputItems<'_> {
    /// Begins the next item.
    fn item(&mut self) -> &mut Out {
        if self.items > 0 {
            self.out.raw(",");
        }
        self.items += 1;
        self.out
    }
}

/// Writes a message of the user: tool results are items of their own, the blocks between them a message each.
fn write_user(list: &mut InputItems<'_>, message: &SharedMessage) {
    let mut rest = message.content.as_slice();
    while let Some((first, others)) = rest.split_first() {
        if let ContentBlock::ToolResult(result) = first {
            write_result(list.item(), result);
            rest = others;
            continue;
        }
        let until = rest.iter().position(|block| matches!(block, ContentBlock::ToolResult(_))).unwrap_or(rest.len());
        let (parts, others) = rest.split_at_checked(until).unwrap_or((rest, &[]));
        if parts.iter().any(is_part) {
            let out = list.item();
            out.raw("{\"type\":\"message\",\"role\":\"user\",\"content\":");
            write_parts(out, parts);
            out.raw("}");
        }
        rest = others;
    }
}

fn write_result(out: &mut Out, result: &ToolResult) {
    out.raw("{\"type\":\"function_call_output\",\"call_id\":");
    out.json(&*call_id(result.tool_use_id.as_str()));
    out.raw(",\"output\":");
    match &result.content {
        ToolResultContent::Text(text) => out.json(text),
        ToolResultContent::Blocks(blocks) if blocks.iter().any(|block| is_part(block) && block.as_text().is_none()) => {
            write_parts(out, blocks);
        }
        ToolResultContent::Blocks(blocks) => out.joined(blocks.iter().filter_map(ContentBlock::as_text), "\n"),
    }
    out.raw("}");
}

/// `true` if a block is content that the API takes from the user.
fn is_part(block: &ContentBlock) -> bool {
    match block {
        ContentBlock::Text { text, .. } => !text.is_empty(),
        ContentBlock::Image { .. } | ContentBlock::Document { .. } => true,
        _ => false,
    }
}

fn write_parts(out: &mut Out, blocks: &[ContentBlock]) {
    out.raw("[");
    for (at, block) in blocks.iter().filter(|block| is_part(block)).enumerate() {
        if at > 0 {
            out.raw(",");
        }
        match block {
            ContentBlock::Text { text, .. } => write_text(out, [text.as_str()].into_iter()),
            ContentBlock::Image { source } => write_image(out, source),
            ContentBlock::Document { source, title } => write_document(out, source, title.as_deref()),
            _ => {}
        }
    }
    out.raw("]");
}

fn write_text<'t>(out: &mut Out, texts: impl Iterator<Item = &'t str>) {
    out.raw("{\"type\":\"input_text\",\"text\":");
    out.joined(texts, "\n\n");
    out.raw("}");
}

fn write_image(out: &mut Out, source: &ImageSource) {
    out.raw("{\"type\":\"input_image\",\"detail\":\"auto\",");
    match source {
        ImageSource::Base64 { media_type, data } => {
            out.raw("\"image_url\":");
            write_data(out, media_type, data);
        }
        ImageSource::File { file_id } => {
            out.raw("\"file_id\":");
            out.json(file_id);
        }
        ImageSource::Url { url } => {
            out.raw("\"image_url\":");
            out.json(url);
        }
        _ => out.raw("\"image_url\":\"\""),
    }
    out.raw("}");
}

fn write_document(out: &mut Out, source: &DocumentSource, title: Option<&str>) {
    match source {
        DocumentSource::Text { data, .. } => write_text(out, title.into_iter().chain([data.as_str()])),
        DocumentSource::Base64 { media_type, data } => {
            out.raw("{\"type\":\"input_file\",\"filename\":");
            out.json(&file_name(title, media_type));
            out.raw(",\"file_data\":");
            write_data(out, media_type, data);
            out.raw("}");
        }
        DocumentSource::File { file_id } => {
            out.raw("{\"type\":\"input_file\",\"file_id\":");
            out.json(file_id);
            out.raw("}");
        }
        DocumentSource::Url { url } => {
            out.raw("{\"type\":\"input_file\",\"file_url\":");
            out.json(url);
            out.raw("}");
        }
        _ => write_text(out, title.into_iter()),
    }
}

/// Returns a file name; the API derives the type of a file from its extension.
fn file_name(title: Option<&str>, media_type: &str) -> String {
    let title = title.filter(|title| !title.is_empty()).unwrap_or("document");
    let is_named = title.rsplit_once('.').is_some_and(|(_, ending)| ending.eq_ignore_ascii_case("pdf"));
    if media_type == "application/pdf" && !is_named { format!("{title}.pdf") } else { title.to_owned() }
}

/// Writes a data URL.
fn write_data(out: &mut Out, media_type: &str, data: &str) {
    out.raw("\"data:");
    out.inside(media_type);
    out.raw(";base64,");
    out.inside(data);
    out.raw("\"");
}
