//! Body of a call to Ollama.

use super::super::compat::{AnswerFormat, Compat, Strict, ThinkingSwitch};
use super::super::request::{ChatBody, ContentPart, Images, instructions, list, user_parts};
use super::SentPrompt;
use std::collections::HashMap;
use windlass_http::Bytes;
use windlass_model::ModelError;
use windlass_types::{
    CacheTtl, ContentBlock, Effort, ImageSource, Message, ModelRequest, Role, Thinking, ToolResult, ToolResultContent,
    ToolUse,
};

/// Returns the body of a call, and the size that the server is expected to read.
///
/// # Errors
/// Fails if the extra members are no JSON object.
pub(in crate::chat) fn call(
    request: &ModelRequest,
    compat: &Compat,
    context_size: u32,
) -> Result<(Bytes, SentPrompt), ModelError> {
    let mut body = ChatBody::for_request(request)?;
    body.member("model", &request.model);
    if !request.tools.is_empty() && body.begins("tools") {
        list(&mut body, request, Strict::Never);
    }
    if body.begins("messages") {
        OllamaWriter { body: &mut body, compat, names: HashMap::new() }.messages(request);
    }
    body.member("stream", &true);
    body.member("truncate", &false);
    body.member("shift", &false);
    // The cache is lost with the model, which is unloaded after five minutes without a request.
    if request.cache == Some(CacheTtl::OneHour) {
        body.member("keep_alive", "1h");
    }
    if body.begins("options") {
        let output = request.max_output_tokens;
        body.raw(&format!("{{\"num_ctx\":{context_size},\"num_predict\":{output}}}"));
    }
    thinking(&mut body, request, compat);
    if let Some(format) = &request.response_format {
        body.raw_member("format", format.schema.as_str());
    }
    let bytes = text_bytes(request);
    Ok((body.finish(), SentPrompt { bytes, context_size }))
}

/// Writes `think`. Models that cannot reason refuse the member, so it is only sent if the profile supports it.
fn thinking(body: &mut ChatBody<'_>, request: &ModelRequest, compat: &Compat) {
    let profile = &compat.reasoning;
    if profile.switch == ThinkingSwitch::Never {
        return;
    }
    match (request.effort.and_then(|effort: Effort| profile.effort(effort)), request.thinking) {
        (Some(effort), _) => body.member("think", effort),
        (None, Thinking::Off) if !profile.sends_off => {}
        (None, thinking) => body.member("think", &(thinking != Thinking::Off)),
    }
}

/// Returns the bytes of text that become tokens; images are not counted.
fn text_bytes(request: &ModelRequest) -> u64 {
    let of_block = |block: &ContentBlock| match block {
        ContentBlock::Text { text, .. } => text.len(),
        ContentBlock::ToolUse(call) => call.name.len() + call.input.as_str().len(),
        ContentBlock::ToolResult(result) => result.content.text().len(),
        _ => 0,
    };
    let messages: usize = request.messages.iter().flat_map(|message| &message.content).map(of_block).sum();
    let system: usize = request.system.iter().map(|section| section.text.len()).sum();
    let tools: usize = request.tools.iter().map(|tool| tool.name.len() + tool.description.len()).sum();
    (messages + system + tools) as u64
}

struct OllamaWriter<'b, 'e, 'r> {
    body: &'b mut ChatBody<'e>,
    compat: &'b Compat,
    names: HashMap<&'r str, &'r str>,
}

impl<'r> OllamaWriter<'_, '_, 'r> {
    fn messages(&mut self, request: &'r ModelRequest) {
        self.body.raw("[");
        for text in instructions(request, true, AnswerFormat::StrictJsonSchema) {
            self.begin("system", &text);
            self.body.raw("}");
        }
        for message in &request.messages {
            match message.role {
                Role::Assistant => self.assistant(message),
                _ => self.user(&message.content),
            }
        }
        self.body.raw("]");
    }

    fn begin(&mut self, role: &str, content: &str) {
        self.body.separate();
        self.body.raw("{\"role\":");
        self.body.json(role);
        self.body.member_here("content", content);
    }

    fn assistant(&mut self, message: &'r Message) {
        self.begin("assistant", &message.text());
        let thinking: String = message
            .content
            .iter()
            .filter_map(|block| match block {
                ContentBlock::Thinking { thinking, .. } => Some(thinking.as_str()),
                _ => None,
            })
            .collect();
        if !thinking.is_empty() {
            self.body.member_here("thinking", &thinking);
        }
        let calls: Vec<&ToolUse> = message.content.iter().filter_map(ContentBlock::as_tool_use).collect();
        if !calls.is_empty() {
            self.body.raw(",\"tool_calls\":[");
            for call in calls {
                self.names.insert(call.id.as_str(), &call.name);
                self.body.separate();
                self.body.raw("{\"id\":");
                self.body.json(call.id.as_str());
                self.body.raw(",\"function\":{\"name\":");
                self.body.json(&call.name);
                // The server accepts only an object.
                self.body.raw(",\"arguments\":");
                self.body.raw(if call.input.is_object() { call.input.as_str() } else { "{}" });
                self.body.raw("}}");
            }
            self.body.raw("]");
        }
        self.body.raw("}");
    }

    fn user(&mut self, blocks: &'r [ContentBlock]) {
        let mut others = Vec::new();
        for block in blocks {
            match block {
                ContentBlock::ToolResult(result) => self.result(result),
                block => others.push(block),
            }
        }
        let parts = user_parts(others.into_iter(), self.can());
        if parts.is_empty() && blocks.iter().any(|block| matches!(block, ContentBlock::ToolResult(_))) {
            return;
        }
        self.content("user", &parts);
        self.body.raw("}");
    }

    fn result(&mut self, result: &'r ToolResult) {
        let parts = match &result.content {
            ToolResultContent::Text(text) => vec![ContentPart::Text(text.into())],
            ToolResultContent::Blocks(blocks) => user_parts(blocks.iter(), self.can()),
        };
        self.content("tool", &parts);
        self.body.member_here("tool_call_id", result.tool_use_id.as_str());
        if let Some(name) = self.names.get(result.tool_use_id.as_str()) {
            self.body.member_here("tool_name", name);
        }
        self.body.raw("}");
    }

    fn can(&self) -> Images {
        Images { images: self.compat.messages.images, documents: false }
    }

    /// Writes a message with its images, which are separate from the text and only bytes.
    fn content(&mut self, role: &str, parts: &[ContentPart<'_>]) {
        let mut texts: Vec<&str> = Vec::new();
        let mut images: Vec<&str> = Vec::new();
        for part in parts {
            match part {
                ContentPart::Text(text) => texts.push(text),
                ContentPart::Image(ImageSource::Base64 { data, .. }) => images.push(data),
                _ => texts.push("(an image at an address was left out: Ollama reads only those that are sent to it)"),
            }
        }
        let text = texts.join("\n\n");
        let blank = if role == "tool" { &*self.compat.messages.blank_output } else { "(no content)" };
        self.begin(role, if text.trim().is_empty() && images.is_empty() { blank } else { &text });
        if !images.is_empty() {
            self.body.raw(",\"images\":");
            self.body.json(&images);
        }
    }
}
