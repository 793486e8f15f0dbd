//! Request bodies, spliced from texts that are already JSON.

use std::borrow::Cow;

use serde::Serialize;
use windlass_http::Bytes;
use windlass_model::Catalogue;
use windlass_types::{CacheTtl, ContentBlock, Message, ModelInfo, ModelRequest, Role, SharedMessage, Thinking};

/// The API takes four breakpoints; two are for the messages.
const MAX_SYSTEM_BREAKPOINTS: usize = 2;

/// The smallest thinking budget that the API takes.
const MIN_THINKING_BUDGET: u32 = 1024;

/// What stands for content that cannot be sent back.
const NO_CONTENT: &str = "(no content)";

/// The body of a call. What stays the same from request to request comes first,
/// what can change (limits, thinking) after the messages.
pub(crate) fn call(request: &ModelRequest, info: &ModelInfo) -> Bytes {
    let mut body = prefix(request);
    body.raw(",\"max_tokens\":");
    body.json(&request.max_output_tokens);
    body.raw(",\"stream\":true");
    body.thinking(request, info);
    body.effort(request);
    if let Some(user) = &request.user_id {
        body.raw(",\"metadata\":{\"user_id\":");
        body.json(user);
        body.raw("}");
    }
    body.finish()
}

/// The body of a token count.
pub(crate) fn count(request: &ModelRequest, info: &ModelInfo) -> Bytes {
    let mut body = prefix(request);
    body.thinking(request, info);
    body.finish()
}

fn prefix(request: &ModelRequest) -> Body {
    let mut body = Body::for_request(request);
    body.raw("{\"model\":");
    body.json(Catalogue::wire_id(&request.model));
    if !request.tools.is_empty() {
        body.raw(",\"tools\":");
        body.json(&*request.tools);
    }
    body.system(request);
    body.messages(request);
    body
}

struct Body {
    text: Vec<u8>,
    /// What a breakpoint adds to a block, if anything.
    marker: &'static str,
}

impl Body {
    fn for_request(request: &ModelRequest) -> Self {
        let messages: usize = request.messages.iter().map(|message| message.json().len() + 1).sum();
        let system: usize = request.system.iter().map(|section| section.text.len() + 64).sum();
        let tools: usize =
            request.tools.iter().map(|tool| tool.description.len() + tool.input_schema.as_str().len() + 128).sum();
        let marker = match request.cache {
            None => "",
            Some(CacheTtl::OneHour) => ",\"cache_control\":{\"type\":\"ephemeral\",\"ttl\":\"1h\"}",
            Some(_) => ",\"cache_control\":{\"type\":\"ephemeral\"}",
        };
        // Escapes make it longer; an eighth more is enough for prose and code.
        let size = messages + (system + tools) / 8 * 9 + 1024;
        Self { text: Vec::with_capacity(size), marker }
    }

    fn finish(mut self) -> Bytes {
        self.raw("}");
        self.text.into()
    }

    fn raw(&mut self, text: &str) {
        self.text.extend_from_slice(text.as_bytes());
    }

    fn json(&mut self, value: &(impl Serialize + ?Sized)) {
        // Strings, numbers and exact JSON, written to memory: this cannot fail.
        let _ = serde_json::to_writer(&mut self.text, value);
    }

    fn system(&mut self, request: &ModelRequest) {
        let sections: Vec<_> = request.system.iter().filter(|section| !section.text.trim().is_empty()).collect();
        if sections.is_empty() {
            return;
        }
        let mut ends: Vec<usize> = sections
            .iter()
            .enumerate()
            .filter(|(at, section)| sections.get(at + 1).is_none_or(|next| next.scope != section.scope))
            .map(|(at, _)| at)
            .collect();
        ends.drain(..ends.len().saturating_sub(MAX_SYSTEM_BREAKPOINTS));
        for (at, section) in sections.iter().enumerate() {
            self.raw(if at == 0 { ",\"system\":[" } else { "," });
            self.raw("{\"type\":\"text\",\"text\":");
            self.json(&*section.text);
            if ends.contains(&at) {
                self.raw(self.marker);
            }
            self.raw("}");
        }
        self.raw("]");
    }

    fn messages(&mut self, request: &ModelRequest) {
        let last = request.messages.len().saturating_sub(1);
        let before = request.messages.iter().take(last).rposition(|message| message.role == Role::User);
        self.raw(",\"messages\":[");
        for (at, message) in request.messages.iter().enumerate() {
            if at > 0 {
                self.raw(",");
            }
            let message = acceptable(message);
            let json = message.json();
            let marked = (at == last || Some(at) == before) && takes_marker(message.content.last());
            match json.strip_suffix("}]}") {
                Some(open) if marked => {
                    self.raw(open);
                    self.raw(self.marker);
                    self.raw("}]}");
                }
                _ => self.raw(json),
            }
        }
        self.raw("]");
    }

    fn effort(&mut self, request: &ModelRequest) {
        if let Some(effort) = request.effort {
            self.raw(",\"output_config\":{\"effort\":");
            self.json(&effort);
            self.raw("}");
        }
    }

    fn thinking(&mut self, request: &ModelRequest, info: &ModelInfo) {
        let most = request.max_output_tokens.saturating_sub(1);
        let thinking = match request.thinking {
            // Models that think by themselves refuse a budget, older ones the rest.
            Thinking::Budget(_) if !info.thinking_budget && info.adaptive_thinking => Thinking::Adaptive,
            Thinking::Adaptive if !info.adaptive_thinking && info.thinking_budget => Thinking::Budget(most),
            thinking => thinking,
        };
        match thinking {
            // The newest models keep the text to themselves unless asked for it.
            Thinking::Adaptive => self.raw(",\"thinking\":{\"type\":\"adaptive\",\"display\":\"summarized\"}"),
            Thinking::Budget(budget) if most >= MIN_THINKING_BUDGET => {
                self.raw(",\"thinking\":{\"type\":\"enabled\",\"budget_tokens\":");
                self.json(&budget.clamp(MIN_THINKING_BUDGET, most));
                self.raw("}");
            }
            _ => {}
        }
    }
}

/// The message as the API takes it: without unsigned reasoning (it
/// comes from another provider) and without empty text.
fn acceptable(message: &SharedMessage) -> Cow<'_, SharedMessage> {
    let refused = |block: &ContentBlock| match block {
        ContentBlock::Text { text, .. } => text.trim().is_empty(),
        ContentBlock::Thinking { signature, .. } => signature.is_empty(),
        _ => false,
    };
    if !message.content.is_empty() && !message.content.iter().any(refused) {
        return Cow::Borrowed(message);
    }
    let mut content: Vec<_> = message.content.iter().filter(|block| !refused(block)).cloned().collect();
    if content.is_empty() {
        content.push(ContentBlock::text(NO_CONTENT));
    }
    let message = match message.role {
        Role::Assistant => Message::assistant(content),
        _ => Message::user(content),
    };
    Cow::Owned(message.into())
}

/// Whether the API takes a breakpoint on a block.
fn takes_marker(block: Option<&ContentBlock>) -> bool {
    matches!(
        block,
        Some(
            ContentBlock::Text { .. }
                | ContentBlock::Image { .. }
                | ContentBlock::Document { .. }
                | ContentBlock::ToolUse(_)
                | ContentBlock::ToolResult(_)
        )
    )
}

#[cfg(test)]
mod tests;
