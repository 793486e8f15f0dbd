//! Messages of a request.

mod assistant;

use super::body::ChatBody;
use super::instructions::instructions;
use crate::chat::alias::alias;
use crate::chat::compat::{Compat, InstructionRole, ToolImages};
use std::borrow::Cow;
use std::collections::HashMap;
use windlass_types::{
    CacheTtl, ContentBlock, DocumentSource, ImageSource, ModelRequest, Role, ToolResult, ToolResultContent,
};

/// Placeholders for content that cannot be sent.
const NO_CONTENT: &str = "(no content)";
const UNKNOWN: &str = "(content of a kind that this model cannot read was left out)";

pub(super) fn write(body: &mut ChatBody<'_>, request: &ModelRequest, compat: &Compat) {
    let mut writer = MessageWriter { body, compat, names: HashMap::new(), marker: marker(request, compat) };
    writer.body.raw("[");
    writer.system(request);
    let marked = marked(request);
    for (at, message) in request.messages.iter().enumerate() {
        let is_marked = marked.contains(&Some(at));
        match message.role {
            Role::Assistant => writer.assistant(message, is_marked),
            _ => writer.user(&message.content, is_marked),
        }
    }
    writer.body.raw("]");
}

/// Returns the last two messages with text, which get cache breakpoints: tool results take no breakpoint behind
/// OpenRouter (earendil-works/pi#584). The earlier one marks the end of the preceding request.
fn marked(request: &ModelRequest) -> [Option<usize>; 2] {
    let has_text = |block: &ContentBlock| block.as_text().is_some_and(|text| !text.trim().is_empty());
    let mut with_text = request
        .messages
        .iter()
        .enumerate()
        .rev()
        .filter(|(_, message)| message.content.iter().any(has_text))
        .map(|(at, _)| at);
    [with_text.next(), with_text.next()]
}

/// Returns the cache breakpoint, if the model needs one.
fn marker(request: &ModelRequest, compat: &Compat) -> &'static str {
    let wants = compat.cache.control_models.iter().any(|part| request.model.contains(&**part));
    match request.cache {
        Some(CacheTtl::OneHour) if wants => r#","cache_control":{"type":"ephemeral","ttl":"1h"}"#,
        Some(_) if wants => r#","cache_control":{"type":"ephemeral"}"#,
        _ => "",
    }
}

pub(super) struct MessageWriter<'b, 'e, 'r> {
    body: &'b mut ChatBody<'e>,
    compat: &'b Compat,
    /// Names of the tools by the ids of their calls.
    names: HashMap<&'r str, &'r str>,
    marker: &'static str,
}

/// Part of a content.
#[derive(Debug)]
pub(in crate::chat) enum ContentPart<'r> {
    Text(Cow<'r, str>),
    Image(&'r ImageSource),
    /// Document and its title.
    Document(&'r DocumentSource, Option<&'r str>),
}

/// Media types that an endpoint reads.
#[derive(Debug, Clone, Copy)]
pub(in crate::chat) struct Images {
    pub(in crate::chat) images: bool,
    pub(in crate::chat) documents: bool,
}

impl<'r> MessageWriter<'_, '_, 'r> {
    fn system(&mut self, request: &ModelRequest) {
        let is_one = self.compat.messages.one_system_message;
        let role = match self.compat.messages.instructions {
            InstructionRole::System => "system",
            InstructionRole::Developer => "developer",
        };
        for text in instructions(request, is_one, self.compat.body.answer_format) {
            self.begin(role);
            self.content(&[ContentPart::Text(Cow::Owned(text))], true);
            self.body.raw("}");
        }
    }

    fn user(&mut self, blocks: &'r [ContentBlock], is_marked: bool) {
        let results: Vec<&ToolResult> = blocks
            .iter()
            .filter_map(|block| match block {
                ContentBlock::ToolResult(result) => Some(result),
                _ => None,
            })
            .collect();
        let can = Images { images: self.compat.messages.images, documents: self.compat.messages.documents };
        let others = blocks.iter().filter(|block| !matches!(block, ContentBlock::ToolResult(_)));
        let rest = user_parts(others, can);
        let mut moved = Vec::new();
        for result in &results {
            self.result(result, &mut moved);
        }
        moved.extend(rest);
        if moved.is_empty() && !results.is_empty() {
            return;
        }
        if moved.is_empty() {
            moved.push(ContentPart::Text(Cow::Borrowed(NO_CONTENT)));
        }
        if !results.is_empty() && self.compat.messages.assistant_after_results {
            self.begin("assistant");
            self.body.member_here("content", "I have the results.");
            self.body.raw("}");
        }
        self.begin("user");
        self.content(&moved, is_marked);
        self.body.raw("}");
    }

    /// Writes the result of a call. Parts that a result cannot hold are moved to the message after all results.
    fn result(&mut self, result: &'r ToolResult, moved: &mut Vec<ContentPart<'r>>) {
        let id = alias(result.tool_use_id.as_str(), self.compat.tools.ids);
        self.begin("tool");
        self.body.member_here("tool_call_id", &id);
        if self.compat.messages.tool_name
            && let Some(name) = self.names.get(result.tool_use_id.as_str())
        {
            self.body.member_here("name", name);
        }
        let can = Images { images: self.compat.messages.images, documents: self.compat.messages.documents };
        let (mut texts, mut others) = (Vec::new(), Vec::new());
        match &result.content {
            ToolResultContent::Text(text) => texts.push(ContentPart::Text(Cow::Borrowed(text))),
            ToolResultContent::Blocks(blocks) => {
                for part in user_parts(blocks.iter(), can) {
                    let is_moved = !matches!(part, ContentPart::Text(_));
                    if is_moved { &mut others } else { &mut texts }.push(part);
                }
            }
        }
        let is_blank = texts.iter().all(|part| matches!(part, ContentPart::Text(text) if text.trim().is_empty()));
        let keeps_images = self.compat.messages.tool_images == ToolImages::InResult;
        if is_blank && !others.is_empty() && !keeps_images {
            texts = vec![ContentPart::Text(Cow::Borrowed("(the result follows)"))];
        } else if is_blank && others.is_empty() && !self.compat.messages.blank_output.is_empty() {
            texts = vec![ContentPart::Text(Cow::Owned(self.compat.messages.blank_output.clone().into_owned()))];
        }
        if keeps_images {
            texts.append(&mut others);
        } else if !others.is_empty() {
            moved.push(ContentPart::Text(Cow::Owned(format!("The result of the call {id} has this content:"))));
            moved.append(&mut others);
        }
        self.content(&texts, false);
        self.body.raw("}");
    }

    fn begin(&mut self, role: &str) {
        self.body.separate();
        self.body.raw("{\"role\":");
        self.body.json(role);
    }

    /// Writes a content: a string if it is only text without additions, because not all servers take parts.
    fn content(&mut self, parts: &[ContentPart<'_>], is_marked: bool) {
        let marker = if is_marked { self.marker } else { "" };
        let texts: Option<Vec<&str>> = parts
            .iter()
            .map(|part| match part {
                ContentPart::Text(text) => Some(&**text),
                _ => None,
            })
            .collect();
        self.body.raw(",\"content\":");
        if let Some(texts) = texts.filter(|_| marker.is_empty()) {
            self.body.json(&joined(&texts, "\n\n"));
            return;
        }
        let last_text = parts.iter().rposition(|part| matches!(part, ContentPart::Text(_)));
        self.body.raw("[");
        for (at, part) in parts.iter().enumerate() {
            self.body.separate();
            self.part(part, if Some(at) == last_text { marker } else { "" });
        }
        self.body.raw("]");
    }

    fn part(&mut self, part: &ContentPart<'_>, marker: &str) {
        match part {
            ContentPart::Text(text) => {
                self.body.raw("{\"type\":\"text\",\"text\":");
                self.body.json(&**text);
                self.body.raw(marker);
                self.body.raw("}");
            }
            ContentPart::Image(source) => {
                self.body.raw("{\"type\":\"image_url\",\"image_url\":{\"url\":");
                match source {
                    ImageSource::Base64 { media_type, data } => self.data_url(media_type, data),
                    ImageSource::Url { url } => self.body.json(url),
                    _ => self.body.json(""),
                }
                self.body.raw("}}");
            }
            ContentPart::Document(source, title) => {
                self.body.raw("{\"type\":\"file\",\"file\":{\"filename\":");
                self.body.json(title.unwrap_or("document.pdf"));
                self.body.raw(",\"file_data\":");
                match source {
                    DocumentSource::Base64 { media_type, data } => self.data_url(media_type, data),
                    DocumentSource::Url { url } => self.body.json(url),
                    _ => self.body.json(""),
                }
                self.body.raw("}}");
            }
        }
    }

    /// Base64 needs no escapes, so large images are copied and not read letter by letter.
    fn data_url(&mut self, media_type: &str, data: &str) {
        let is_base64 = data.bytes().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'/' | b'='));
        if is_base64 && !media_type.contains(['"', '\\']) {
            self.body.raw("\"data:");
            self.body.raw(media_type);
            self.body.raw(";base64,");
            self.body.raw(data);
            self.body.raw("\"");
        } else {
            self.body.json(&format!("data:{media_type};base64,{data}"));
        }
    }
}

fn joined<'t>(texts: &[&'t str], separator: &str) -> Cow<'t, str> {
    match texts {
        [text] => Cow::Borrowed(text),
        texts => Cow::Owned(texts.join(separator)),
    }
}

/// Returns the parts of a user's blocks, with notes for content that the endpoint cannot read. Blank texts are left
/// out.
pub(in crate::chat) fn user_parts<'r>(
    blocks: impl Iterator<Item = &'r ContentBlock>,
    can: Images,
) -> Vec<ContentPart<'r>> {
    let part = |block: &'r ContentBlock| match block {
        ContentBlock::Text { text, .. } if text.trim().is_empty() => None,
        ContentBlock::Text { text, .. } => Some(ContentPart::Text(Cow::Borrowed(text))),
        ContentBlock::Image { source: ImageSource::File { .. } } => Some(ContentPart::Text(Cow::Borrowed(UNKNOWN))),
        ContentBlock::Image { source } if can.images => Some(ContentPart::Image(source)),
        ContentBlock::Image { .. } => {
            Some(ContentPart::Text(Cow::Borrowed("(an image was left out: this model does not see images)")))
        }
        ContentBlock::Document { source, title } => Some(document(source, title.as_deref(), can.documents)),
        ContentBlock::Unknown(_) => Some(ContentPart::Text(Cow::Borrowed(UNKNOWN))),
        _ => None,
    };
    blocks.filter_map(part).collect()
}

fn document<'r>(source: &'r DocumentSource, title: Option<&'r str>, can_read: bool) -> ContentPart<'r> {
    match source {
        DocumentSource::Text { data, .. } => ContentPart::Text(match title {
            Some(title) => Cow::Owned(format!("Document {title}:\n{data}")),
            None => Cow::Borrowed(data),
        }),
        DocumentSource::Base64 { .. } | DocumentSource::Url { .. } if can_read => ContentPart::Document(source, title),
        _ => ContentPart::Text(Cow::Owned(note_of_document(title))),
    }
}

/// Returns the note for a document that an endpoint does not read.
pub(in crate::chat) fn note_of_document(title: Option<&str>) -> String {
    format!("(the document {} was left out: this model does not read documents)", title.unwrap_or("without a title"))
}
