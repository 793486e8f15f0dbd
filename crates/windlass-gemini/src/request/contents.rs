//! Contents and parts of the conversation.

mod media;

use crate::assembly::PART;
use crate::replay::{Blank, GeminiReplay};
use crate::request::target::GeminiTarget;
use media::GeminiMedia;
use serde::Deserialize;
use serde_json::value::RawValue;
use std::borrow::Cow;
use std::collections::HashMap;
use windlass_http::provider::JsonBody as Json;
use windlass_http::provider::call_id;
use windlass_types::{ContentBlock, Message, Role, SharedMessage, ToolResult, ToolResultContent, ToolUse, ToolUseId};

/// Documented signature for calls that the API did not make itself.
const FOREIGN: &str = "skip_thought_signature_validator";

/// Placeholder for content that cannot be sent.
const NO_CONTENT: &str = "(no content)";

/// Text of a result that has images, but no text.
const SEE_MEDIA: &str = "(see the attached media)";

/// Calls of the last message of the model: names, and the ids that they are sent with.
type AnsweredCalls<'a> = HashMap<&'a ToolUseId, (&'a str, Option<Cow<'a, str>>)>;

/// Writes the member `contents`.
pub(super) fn write(out: &mut Json, messages: &[SharedMessage], target: &GeminiTarget<'_>) {
    out.raw("[");
    let mut turns = ContentWriter { out, is_first: true, is_open: false };
    let mut calls = AnsweredCalls::new();
    for message in messages {
        if message.role == Role::Assistant {
            calls = of_model(&mut turns, message, target);
        } else {
            of_user(&mut turns, message, &calls, target);
        }
        turns.close();
    }
    if turns.is_first {
        turns.part("user").raw("\"text\":\"(no content)\"}");
        turns.close();
    }
    out.raw("]");
}

/// Writer of contents, each of which begins with its first part.
struct ContentWriter<'a> {
    out: &'a mut Json,
    is_first: bool,
    is_open: bool,
}

impl ContentWriter<'_> {
    /// Begins a part of a turn, including its brace. Begins the turn if none is open.
    fn part(&mut self, role: &str) -> &mut Json {
        if self.is_open {
            self.out.raw(",{");
        } else {
            self.out.raw(if std::mem::take(&mut self.is_first) { "{\"role\":\"" } else { ",{\"role\":\"" });
            self.out.raw(role);
            self.out.raw("\",\"parts\":[{");
            self.is_open = true;
        }
        self.out
    }

    fn text(&mut self, role: &str, text: &str, signature: Option<&str>) {
        let out = self.part(role);
        out.raw("\"text\":");
        out.json(text);
        end(out, signature);
    }

    fn close(&mut self) {
        if std::mem::take(&mut self.is_open) {
            self.out.raw("]}");
        }
    }
}

/// Ends a part, with its signature.
fn end(out: &mut Json, signature: Option<&str>) {
    if let Some(signature) = signature {
        out.raw(",\"thoughtSignature\":");
        out.json(signature);
    }
    out.raw("}");
}

fn of_model<'a>(turns: &mut ContentWriter<'_>, message: &'a Message, target: &GeminiTarget<'_>) -> AnsweredCalls<'a> {
    let mut calls = AnsweredCalls::new();
    // A step whose calls are not signed was made by another model, or lost its replay data.
    let is_foreign = !message.content.iter().any(is_signed_call);
    let makes_ids = is_foreign && target.makes_ids();
    let mut lacks_signature = is_foreign && target.family.is_modern;
    for block in &message.content {
        match block {
            ContentBlock::Text { text, replay } => model_text(turns, text, &GeminiReplay::read(replay.as_ref())),
            // Without a signature earlier reasoning is useless to the API.
            ContentBlock::Thinking { thinking, signature } if !signature.is_empty() => {
                let out = turns.part("model");
                out.raw("\"thought\":true,\"text\":");
                out.json(thinking);
                end(out, Some(signature));
            }
            ContentBlock::ToolUse(call) => {
                let replay = GeminiReplay::read(call.replay.as_ref());
                let foreign = std::mem::take(&mut lacks_signature).then_some(FOREIGN);
                let signature = replay.thought_signature.as_deref().or(foreign);
                blanks(turns, &replay.before);
                let id = replay.id.clone().or_else(|| makes_ids.then(|| call_id(call.id.as_str())));
                model_call(turns, call, id.as_deref(), signature);
                blanks(turns, &replay.after);
                calls.insert(&call.id, (&call.name, id));
            }
            ContentBlock::Unknown(json) => {
                if let Some(part) = part_of(json.as_str()) {
                    turns.part("model").raw(part);
                    turns.out.raw("}");
                }
            }
            _ => {}
        }
    }
    calls
}

fn is_signed_call(block: &ContentBlock) -> bool {
    let call = block.as_tool_use();
    call.is_some_and(|call| GeminiReplay::read(call.replay.as_ref()).thought_signature.is_some())
}

fn model_text(turns: &mut ContentWriter<'_>, text: &str, replay: &GeminiReplay<'_>) {
    blanks(turns, &replay.before);
    let (unsigned, signed) = replay.split(text);
    if !unsigned.trim().is_empty() || (signed.is_some() && !unsigned.is_empty()) {
        turns.text("model", unsigned, None);
    }
    if let Some((text, signature)) = signed {
        turns.text("model", text, Some(signature));
    }
    blanks(turns, &replay.after);
}

fn blanks(turns: &mut ContentWriter<'_>, blanks: &[Blank<'_>]) {
    for blank in blanks {
        turns.text("model", &blank.text, blank.thought_signature.as_deref());
    }
}

fn model_call(turns: &mut ContentWriter<'_>, call: &ToolUse, id: Option<&str>, signature: Option<&str>) {
    let out = turns.part("model");
    out.raw("\"functionCall\":{");
    if let Some(id) = id {
        out.raw("\"id\":");
        out.json(id);
        out.raw(",");
    }
    out.raw("\"name\":");
    out.json(&call.name);
    out.raw(",\"args\":");
    out.raw(if call.input.is_object() { call.input.as_str() } else { "{}" });
    out.raw("}");
    end(out, signature);
}

/// Returns the members of a part that was kept whole, as the text between the braces of its object.
fn part_of(json: &str) -> Option<&str> {
    #[derive(Deserialize)]
    struct ReplayedPart<'a> {
        #[serde(rename = "type")]
        kind: String,
        #[serde(borrow)]
        part: &'a RawValue,
    }
    let kept: ReplayedPart<'_> = serde_json::from_str(json).ok()?;
    let members = kept.part.get().strip_prefix('{')?.strip_suffix('}')?;
    (kept.kind == PART && !members.trim().is_empty()).then_some(members)
}

/// Writes a message of the user: results first, all in one turn; then the rest, in a turn of its own.
fn of_user<'a>(
    turns: &mut ContentWriter<'_>,
    message: &'a Message,
    calls: &AnsweredCalls<'_>,
    target: &GeminiTarget<'_>,
) {
    let mut beside: Vec<(&str, GeminiMedia<'a>)> = Vec::new();
    for result in message.content.iter().filter_map(ContentBlock::as_tool_result) {
        let (name, id) = calls.get(&result.tool_use_id).map_or(("unknown", None), |(name, id)| (*name, id.as_deref()));
        let media = media_of(result);
        let (inside, outside) = if target.family.is_modern { (media, Vec::new()) } else { (Vec::new(), media) };
        result_part(turns, result, (name, id), &inside, !outside.is_empty());
        beside.extend(outside.into_iter().map(|media| (name, media)));
    }
    turns.close();
    let mut last = None;
    for (name, media) in beside {
        if last.replace(name) != Some(name) {
            turns.text("user", &format!("Media of the result of {name}:"), None);
        }
        media.write(turns.part("user"));
    }
    let others = message.content.iter().filter(|block| block.as_tool_result().is_none());
    let mut is_empty = message.content.iter().all(|block| block.as_tool_result().is_none());
    for block in others {
        is_empty &= !user_block(turns, block);
    }
    if is_empty {
        turns.text("user", NO_CONTENT, None);
    }
}

/// Writes a block that is no result. Returns `true` if it has a form that the API takes.
fn user_block(turns: &mut ContentWriter<'_>, block: &ContentBlock) -> bool {
    if let ContentBlock::Text { text, .. } = block {
        if !text.trim().is_empty() {
            turns.text("user", text, None);
            return true;
        }
        return false;
    }
    let title = if let ContentBlock::Document { title, .. } = block { title.as_deref() } else { None };
    if let Some(title) = title.filter(|title| !title.trim().is_empty()) {
        turns.text("user", title, None);
    }
    if let Some(media) = GeminiMedia::of(block) {
        media.write(turns.part("user"));
        return true;
    }
    match media::text_of(block) {
        Some(text) if !text.trim().is_empty() => {
            turns.text("user", text, None);
            true
        }
        _ => false,
    }
}

fn media_of(result: &ToolResult) -> Vec<GeminiMedia<'_>> {
    match &result.content {
        ToolResultContent::Text(_) => Vec::new(),
        ToolResultContent::Blocks(blocks) => blocks.iter().filter_map(GeminiMedia::of).collect(),
    }
}

fn result_part(
    turns: &mut ContentWriter<'_>,
    result: &ToolResult,
    (name, id): (&str, Option<&str>),
    media: &[GeminiMedia<'_>],
    has_media_outside: bool,
) {
    let out = turns.part("user");
    out.raw("\"functionResponse\":{");
    if let Some(id) = id {
        out.raw("\"id\":");
        out.json(id);
        out.raw(",");
    }
    out.raw("\"name\":");
    out.json(name);
    out.raw(if result.is_error { ",\"response\":{\"error\":" } else { ",\"response\":{\"output\":" });
    let text = result_text(&result.content);
    let has_media = has_media_outside || !media.is_empty();
    out.json(if text.is_empty() && has_media { SEE_MEDIA } else { &*text });
    out.raw("}");
    for (at, media) in media.iter().enumerate() {
        out.raw(if at == 0 { ",\"parts\":[{" } else { ",{" });
        media.write(out);
    }
    out.raw(if media.is_empty() { "}}" } else { "]}}" });
}

/// Returns the text of a result, that of documents included.
fn result_text(content: &ToolResultContent) -> Cow<'_, str> {
    match content {
        ToolResultContent::Text(text) => Cow::Borrowed(text),
        ToolResultContent::Blocks(blocks) => {
            let texts: Vec<&str> = blocks.iter().filter_map(media::text_of).collect();
            match texts.as_slice() {
                [text] => Cow::Borrowed(text),
                texts => Cow::Owned(texts.join("\n")),
            }
        }
    }
}
