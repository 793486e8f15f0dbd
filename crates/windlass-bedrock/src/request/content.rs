//! Messages and blocks of the conversation.

use super::cache::CachePoints;
use super::media::{self, ConverseMedia};
use crate::request::target::ConverseTarget;
use crate::request::tools;
use windlass_http::provider::JsonBody as Json;
use windlass_http::provider::call_id;
use windlass_types::{ContentBlock, Message, ModelRequest, Role, ToolResult, ToolResultContent, ToolUse};

/// Placeholder for content that cannot be sent.
const NO_CONTENT: &str = "(no content)";

/// Text of a result that has images, but no text.
const SEE_MEDIA: &str = "(see the attached media)";

/// Text of a message that has documents, but no text: the API requires text beside them.
const SEE_DOCUMENTS: &str = "(see the attached documents)";

/// Writes the elements of the member `messages`.
pub(super) fn write(out: &mut Json, request: &ModelRequest, target: ConverseTarget<'_>, cache: &CachePoints) {
    let mut turns = MessagesWriter { out, target, role: None, is_first: true, documents: 0 };
    for (at, message) in request.messages.iter().enumerate() {
        if message.role == Role::Assistant {
            of_model(&mut turns, message);
        } else {
            of_user(&mut turns, message);
            if cache.ends_message(at) {
                turns.raw_block("user", cache.point());
            }
        }
    }
    if turns.is_first {
        turns.text("user", NO_CONTENT);
    }
    turns.close();
}

/// Writer of messages, each of which begins with its first block. Neighbours of one role are merged: the API requires
/// alternating roles, even if a message has no content that can be sent.
struct MessagesWriter<'a> {
    out: &'a mut Json,
    target: ConverseTarget<'a>,
    role: Option<&'static str>,
    is_first: bool,
    /// Number of documents so far: no two may have the same name.
    documents: usize,
}

impl MessagesWriter<'_> {
    /// Begins a block.
    fn block(&mut self, role: &'static str) -> &mut Json {
        if self.role == Some(role) {
            self.out.raw(",");
            return self.out;
        }
        self.close();
        self.out.raw(if std::mem::take(&mut self.is_first) { "{\"role\":\"" } else { ",{\"role\":\"" });
        self.out.raw(role);
        self.out.raw("\",\"content\":[");
        self.role = Some(role);
        self.out
    }

    fn raw_block(&mut self, role: &'static str, block: &str) {
        self.block(role).raw(block);
    }

    fn text(&mut self, role: &'static str, text: &str) {
        let out = self.block(role);
        out.raw("{\"text\":");
        out.json(text);
        out.raw("}");
    }

    fn media(&mut self, media: &ConverseMedia<'_>) {
        let name = self.name_for(media);
        media.write(self.block("user"), name);
    }

    /// Returns the number of a document, which is its only name.
    fn name_for(&mut self, media: &ConverseMedia<'_>) -> usize {
        if media.is_document() {
            self.documents += 1;
        }
        self.documents
    }

    fn close(&mut self) {
        if self.role.take().is_some() {
            self.out.raw("]}");
        }
    }
}

/// Writes a message of the model. One of only reasoning is left out, because the API takes it for the beginning of an
/// answer.
fn of_model(turns: &mut MessagesWriter<'_>, message: &Message) {
    let has_content = message.content.iter().any(|block| match block {
        ContentBlock::Text { text, .. } => !text.trim().is_empty(),
        ContentBlock::ToolUse(_) => true,
        _ => false,
    });
    if !has_content {
        return;
    }
    for block in &message.content {
        match block {
            ContentBlock::Text { text, .. } if !text.trim().is_empty() => turns.text("assistant", text),
            // Unsigned reasoning is refused by the models that sign, and by most that do not.
            ContentBlock::Thinking { thinking, signature } if !signature.is_empty() => {
                let out = turns.block("assistant");
                out.raw("{\"reasoningContent\":{\"reasoningText\":{\"text\":");
                out.json(thinking);
                out.raw(",\"signature\":");
                out.json(signature);
                out.raw("}}}");
            }
            ContentBlock::RedactedThinking { data } => {
                let out = turns.block("assistant");
                out.raw("{\"reasoningContent\":{\"redactedContent\":");
                out.json(data);
                out.raw("}}");
            }
            ContentBlock::ToolUse(call) => model_call(turns, call),
            _ => {}
        }
    }
}

fn model_call(turns: &mut MessagesWriter<'_>, call: &ToolUse) {
    let out = turns.block("assistant");
    out.raw("{\"toolUse\":{\"toolUseId\":");
    out.json(&call_id(call.id.as_str()));
    out.raw(",\"name\":");
    out.json(&tools::name(&call.name));
    out.raw(",\"input\":");
    out.raw(if call.input.is_object() { call.input.as_str() } else { "{}" });
    out.raw("}}");
}

/// Writes a message of the user: all results first, then media that results may not hold, then the rest.
fn of_user(turns: &mut MessagesWriter<'_>, message: &Message) {
    let mut beside: Vec<(&ToolResult, ConverseMedia<'_>)> = Vec::new();
    for result in message.content.iter().filter_map(ContentBlock::as_tool_result) {
        let media = media_of(result);
        // Claude refuses media in results of failed calls.
        let is_inside = turns.target.family.has_media_in_results && !result.is_error;
        let (inside, outside) = if is_inside { (media, Vec::new()) } else { (Vec::new(), media) };
        result_block(turns, result, &inside, !outside.is_empty());
        beside.extend(outside.into_iter().map(|media| (result, media)));
    }
    let others = || message.content.iter().filter(|block| block.as_tool_result().is_none());
    let mut has_text = others().any(|block| media::text_of(block).is_some_and(|text| !text.trim().is_empty()));
    let mut last = None;
    for (result, media) in beside {
        if last.replace(&result.tool_use_id) != Some(&result.tool_use_id) {
            turns.text("user", &format!("Media of the result {}:", call_id(result.tool_use_id.as_str())));
            has_text = true;
        }
        turns.media(&media);
    }
    let mut is_empty = message.content.iter().all(|block| block.as_tool_result().is_none());
    for block in others() {
        is_empty &= !user_block(turns, block, &mut has_text);
    }
    if is_empty {
        turns.text("user", NO_CONTENT);
    }
}

/// Writes a block that is no result. Returns `true` if it has a form that the API takes. `has_text` is `true` if the
/// message has text, which documents need.
fn user_block(turns: &mut MessagesWriter<'_>, block: &ContentBlock, has_text: &mut bool) -> bool {
    if let ContentBlock::Document { title: Some(title), .. } = block
        && !title.trim().is_empty()
    {
        turns.text("user", title);
        *has_text = true;
    }
    if let Some(text) = media::text_of(block) {
        if text.trim().is_empty() {
            return false;
        }
        turns.text("user", text);
        return true;
    }
    match ConverseMedia::of(block) {
        Some(media) => {
            if media.is_document() && !std::mem::replace(has_text, true) {
                turns.text("user", SEE_DOCUMENTS);
            }
            turns.media(&media);
            true
        }
        None => match media::note_on(block) {
            Some(note) => {
                turns.text("user", &note);
                *has_text = true;
                true
            }
            None => false,
        },
    }
}

fn media_of(result: &ToolResult) -> Vec<ConverseMedia<'_>> {
    match &result.content {
        ToolResultContent::Text(_) => Vec::new(),
        ToolResultContent::Blocks(blocks) => blocks.iter().filter_map(ConverseMedia::of).collect(),
    }
}

fn result_block(
    turns: &mut MessagesWriter<'_>,
    result: &ToolResult,
    media: &[ConverseMedia<'_>],
    has_media_outside: bool,
) {
    let names: Vec<usize> = media.iter().map(|media| turns.name_for(media)).collect();
    let out = turns.block("user");
    out.raw("{\"toolResult\":{\"toolUseId\":");
    out.json(&call_id(result.tool_use_id.as_str()));
    out.raw(",\"content\":[");
    let mut is_first = true;
    let mut text = |out: &mut Json, text: &str| {
        out.raw(if std::mem::take(&mut is_first) { "{\"text\":" } else { ",{\"text\":" });
        out.json(text);
        out.raw("}");
    };
    match &result.content {
        ToolResultContent::Text(plain) if !plain.trim().is_empty() => text(out, plain),
        ToolResultContent::Text(_) => {}
        ToolResultContent::Blocks(blocks) => {
            for block in blocks {
                match media::text_of(block) {
                    Some(plain) if !plain.trim().is_empty() => text(out, plain),
                    Some(_) => {}
                    None => media::note_on(block).iter().for_each(|note| text(out, note)),
                }
            }
        }
    }
    if is_first && media.is_empty() {
        let stand_in = if has_media_outside { SEE_MEDIA } else { NO_CONTENT };
        out.raw("{\"text\":");
        out.json(stand_in);
        out.raw("}");
    }
    for (media, name) in media.iter().zip(names) {
        out.raw(if std::mem::take(&mut is_first) { "" } else { "," });
        media.write(out, name);
    }
    out.raw(if result.is_error { "],\"status\":\"error\"}}" } else { "]}}" });
}
