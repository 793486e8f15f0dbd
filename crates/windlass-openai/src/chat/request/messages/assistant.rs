//! Messages of the model.

use super::{ContentPart, MessageWriter, NO_CONTENT, joined};
use crate::chat::alias::alias;
use crate::chat::compat::{EmptyContent, ReasoningBack, ReasoningField};
use crate::chat::reader::PART;
use serde::Deserialize;
use serde_json::value::RawValue;
use windlass_types::{Api, ContentBlock, JsonText, Message, ToolUse};

/// Reasoning that is sent back with a message.
#[derive(Debug, Default)]
struct SentReasoning<'r> {
    /// Lists of details, in order.
    details: Vec<&'r RawValue>,
    /// Members and the texts that came in them.
    texts: Vec<(&'r str, &'r str)>,
}

/// Data that a text or a call was given for sending back.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct ChatReplay<'r> {
    #[serde(borrow)]
    extra_content: Option<&'r RawValue>,
    #[serde(borrow)]
    reasoning_details: Option<&'r RawValue>,
}

fn replay(json: Option<&JsonText>) -> ChatReplay<'_> {
    json.and_then(|json| serde_json::from_str(json.as_str()).ok()).unwrap_or_default()
}

impl<'r> MessageWriter<'_, '_, 'r> {
    pub(super) fn assistant(&mut self, message: &'r Message, is_marked: bool) {
        let calls: Vec<&ToolUse> = message.content.iter().filter_map(ContentBlock::as_tool_use).collect();
        for call in &calls {
            self.names.insert(call.id.as_str(), &call.name);
        }
        // Blocks of one answer of this dialect were one text. Blocks of another dialect are paragraphs.
        let is_ours = message.origin.as_ref().is_some_and(|origin| origin.api.dialect() == Api::CHAT_COMPLETIONS);
        let texts: Vec<&str> = message
            .content
            .iter()
            .filter_map(ContentBlock::as_text)
            .filter(|text| is_ours || !text.trim().is_empty())
            .collect();
        let text = joined(&texts, if is_ours { "" } else { "\n\n" });
        let back = match self.compat.reasoning.back {
            ReasoningBack::Never => false,
            ReasoningBack::WithCalls => !calls.is_empty(),
            ReasoningBack::Always => true,
        };
        let reasoning = if back { gathered(&message.content) } else { SentReasoning::default() };
        self.begin("assistant");
        if is_marked && !self.marker.is_empty() && !text.trim().is_empty() {
            self.content(&[ContentPart::Text(text)], true);
        } else {
            self.text(&text, &reasoning, calls.is_empty());
        }
        self.reasoning(&reasoning, !calls.is_empty());
        self.calls(&calls);
        self.body.raw("}");
    }

    fn text(&mut self, text: &str, reasoning: &SentReasoning<'_>, is_all: bool) {
        let parts =
            self.compat.messages.reasoning_parts.then(|| reasoning.text_of(PART)).filter(|text| !text.is_empty());
        if let Some(thinking) = parts {
            self.body.raw(",\"content\":[{\"type\":\"thinking\",\"thinking\":[{\"type\":\"text\",\"text\":");
            self.body.json(&thinking);
            self.body.raw("}]}");
            if !text.is_empty() {
                self.body.raw(",{\"type\":\"text\",\"text\":");
                self.body.json(text);
                self.body.raw("}");
            }
            self.body.raw("]");
            return;
        }
        match (text.trim().is_empty(), self.compat.messages.without_text) {
            (false, _) => self.body.member_here("content", text),
            (true, _) if is_all => self.body.member_here("content", NO_CONTENT),
            (true, EmptyContent::Null) => self.body.raw(",\"content\":null"),
            (true, EmptyContent::Blank) => self.body.raw(",\"content\":\"\""),
            (true, EmptyContent::Omit) => {}
        }
    }

    /// Writes reasoning in the member in which it came. Details hold the text too.
    fn reasoning(&mut self, reasoning: &SentReasoning<'_>, has_calls: bool) {
        if !reasoning.details.is_empty() {
            self.body.raw(",\"reasoning_details\":[");
            for list in &reasoning.details {
                let inner =
                    list.get().trim().strip_prefix('[').and_then(|list| list.strip_suffix(']')).unwrap_or_default();
                if !inner.trim().is_empty() {
                    self.body.separate();
                    self.body.raw(inner);
                }
            }
            self.body.raw("]");
            return;
        }
        let mut any = false;
        for field in ReasoningField::ALL {
            let text = reasoning.text_of(field.name());
            if !text.is_empty() {
                self.body.member_here(field.name(), &text);
                any = true;
            }
        }
        if !any && has_calls && self.compat.reasoning.required {
            self.body.raw(",\"reasoning_content\":\"\"");
        }
    }

    fn calls(&mut self, calls: &[&ToolUse]) {
        if calls.is_empty() {
            return;
        }
        self.body.raw(",\"tool_calls\":[");
        for call in calls {
            self.body.separate();
            self.body.raw("{\"id\":");
            self.body.json(&*alias(call.id.as_str(), self.compat.tools.ids));
            self.body.raw(",\"type\":\"function\",\"function\":{\"name\":");
            self.body.json(&call.name);
            self.body.raw(",\"arguments\":");
            self.body.json(call.input.as_str());
            self.body.raw("}");
            if let Some(extra) = replay(call.replay.as_ref()).extra_content {
                self.body.raw(",\"extra_content\":");
                self.body.raw(extra.get());
            }
            self.body.raw("}");
        }
        self.body.raw("]");
    }
}

impl SentReasoning<'_> {
    fn text_of(&self, member: &str) -> String {
        self.texts.iter().filter(|(from, _)| *from == member).map(|(_, text)| *text).collect()
    }
}

fn gathered(blocks: &[ContentBlock]) -> SentReasoning<'_> {
    let mut reasoning = SentReasoning::default();
    for block in blocks {
        let replayed = match block {
            ContentBlock::Thinking { thinking, signature } => {
                match serde_json::from_str::<&RawValue>(signature).ok().filter(|list| list.get().starts_with('[')) {
                    Some(list) => reasoning.details.push(list),
                    None => reasoning.texts.push((signature, thinking)),
                }
                continue;
            }
            ContentBlock::Text { replay, .. } => replay,
            ContentBlock::ToolUse(call) => &call.replay,
            _ => continue,
        };
        let details = replay(replayed.as_ref()).reasoning_details;
        reasoning.details.extend(details.filter(|details| details.get().starts_with('[')));
    }
    reasoning
}
