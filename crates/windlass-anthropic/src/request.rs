//! Request bodies, spliced from texts that are already JSON.

use std::borrow::Cow;

use serde::Serialize;
use windlass_http::Bytes;
use windlass_http::provider::{COMPOSITIONS, call_id, with_members, without_compositions};
use windlass_model::Catalogue;
use windlass_types::{
    CacheTtl, ContentBlock, JsonText, Message, ModelInfo, ModelRequest, Role, ServerTool, SharedMessage, Thinking,
    ToolChoice, ToolResult, ToolResultContent, ToolSpec,
};

use crate::form::MessagesForm;
use crate::web_search::WebSearchTool;

/// Maximum number of breakpoints in the system prompt: the API takes four, and two are for the messages.
const MAX_SYSTEM_BREAKPOINTS: usize = 2;

/// Minimum thinking budget that the API takes, in tokens.
const MIN_THINKING_BUDGET: u32 = 1024;

/// Placeholder for content that cannot be sent back.
const NO_CONTENT: &str = "(no content)";

/// Writes the body of a call. Members that stay the same from request to request come first, those that can change
/// (limits, thinking) after the messages.
pub(crate) fn call(request: &ModelRequest, info: &ModelInfo, form: &MessagesForm) -> Bytes {
    let mut body = prefix(request, info, form, form.model);
    body.raw(",\"max_tokens\":");
    body.json(&request.max_output_tokens);
    body.raw(",\"stream\":true");
    body.thinking(request, info);
    body.output_config(request);
    body.tool_choice(request);
    if let Some(user) = &request.user_id {
        body.raw(",\"metadata\":{\"user_id\":");
        body.string(user);
        body.raw("}");
    }
    body.finish(request)
}

/// `true` if the request asks for adaptive reasoning, which takes a control of its binding.
pub(crate) fn thinks_adaptively(request: &ModelRequest, info: &ModelInfo) -> bool {
    thinking_of(request, info) == Thinking::Adaptive
}

/// Returns the reasoning of a request in the form that the model takes: adaptive models refuse a budget, older ones
/// take only a budget.
fn thinking_of(request: &ModelRequest, info: &ModelInfo) -> Thinking {
    let has_tools = !request.tools.is_empty() || !request.added_tools.is_empty();
    match request.thinking {
        // The API refuses reasoning when a call is forced ("Extended thinking", limitations on tool choice).
        _ if has_tools && matches!(request.tool_choice, ToolChoice::Any | ToolChoice::Tool(_)) => Thinking::Off,
        Thinking::Budget(_) if !info.thinking_budget && info.adaptive_thinking => Thinking::Adaptive,
        Thinking::Adaptive if !info.adaptive_thinking && info.thinking_budget => {
            Thinking::Budget(request.max_output_tokens.saturating_sub(1))
        }
        thinking => thinking,
    }
}

/// Writes the body of a token count.
pub(crate) fn count(request: &ModelRequest, info: &ModelInfo, form: &MessagesForm) -> Bytes {
    // Even if the path of calls holds the model, that of counts does not.
    let mut body = prefix(request, info, form, true);
    body.thinking(request, info);
    body.tool_choice(request);
    body.finish(request)
}

fn prefix<'a>(request: &ModelRequest, info: &ModelInfo, form: &'a MessagesForm, with_model: bool) -> MessagesBody<'a> {
    let mut body = MessagesBody::for_request(request, form);
    if let Some(version) = form.version {
        body.raw("{\"anthropic_version\":");
        body.string(version);
    }
    if with_model {
        body.raw(if form.version.is_some() { ",\"model\":" } else { "{\"model\":" });
        body.string(Catalogue::wire_id(&request.model));
    }
    let inline = if form.controls { &[] } else { &*request.added_tools };
    let tools: Vec<_> = request.tools.iter().chain(inline.iter().flat_map(|added| &added.tools)).collect();
    let served: Vec<_> = request.server_tools.iter().filter_map(|tool| served(tool, info)).collect();
    for (at, tool) in tools.iter().enumerate() {
        body.raw(if at == 0 { ",\"tools\":[" } else { "," });
        body.tool(tool);
    }
    for (at, tool) in served.iter().enumerate() {
        body.raw(if at == 0 && tools.is_empty() { ",\"tools\":[" } else { "," });
        body.json(tool);
    }
    body.raw(if tools.is_empty() && served.is_empty() { "" } else { "]" });
    body.system(request);
    body.messages(request);
    body
}

/// Returns a tool that the API runs, if the model supports it.
fn served<'a>(tool: &'a ServerTool, info: &ModelInfo) -> Option<WebSearchTool<'a>> {
    match tool {
        ServerTool::WebSearch(search) => info.web_search.map(|_| search.into()),
        _ => None,
    }
}

struct MessagesBody<'a> {
    text: String,
    /// Member that a breakpoint adds to a block, or an empty text.
    marker: &'static str,
    form: &'a MessagesForm,
}

impl<'a> MessagesBody<'a> {
    fn for_request(request: &ModelRequest, form: &'a MessagesForm) -> Self {
        let messages: usize = request.messages.iter().map(|message| message.json().len() + 1).sum();
        let system: usize = request.system.iter().map(|section| section.text.len() + 64).sum();
        let tools: usize =
            request.tools.iter().map(|tool| tool.description.len() + tool.input_schema.as_str().len() + 128).sum();
        let marker = match request.cache {
            None => "",
            Some(CacheTtl::OneHour) => ",\"cache_control\":{\"type\":\"ephemeral\",\"ttl\":\"1h\"}",
            Some(_) => ",\"cache_control\":{\"type\":\"ephemeral\"}",
        };
        // Escapes lengthen the text; an eighth more is enough for prose and code.
        let size = messages + (system + tools) / 8 * 9 + 1024;
        Self { text: String::with_capacity(size), marker, form }
    }

    fn finish(mut self, request: &ModelRequest) -> Bytes {
        self.raw("}");
        match &request.extra {
            None => self.text.into(),
            Some(extra) => with_members(self.text.into_bytes(), extra).into(),
        }
    }

    fn raw(&mut self, text: &str) {
        self.text.push_str(text);
    }

    fn string(&mut self, text: &str) {
        JsonText::push_string(text, &mut self.text);
    }

    fn json(&mut self, value: &impl Serialize) {
        // Names, numbers and exact JSON: this cannot fail.
        self.text.push_str(&serde_json::to_string(value).unwrap_or_default());
    }

    fn tool(&mut self, tool: &ToolSpec) {
        // The API takes no composition at the top level of a schema.
        let mut taken = without_compositions(tool, &COMPOSITIONS);
        if tool.strict && self.form.is_loose(tool) {
            taken.to_mut().strict = false;
        }
        self.raw("{\"name\":");
        self.string(&taken.name);
        self.raw(",\"description\":");
        self.string(&taken.description);
        self.raw(",\"input_schema\":");
        self.raw(taken.input_schema.as_str());
        self.raw(if taken.strict { ",\"strict\":true}" } else { "}" });
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
            self.string(&section.text);
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
            // The ends of the other messages are not examined.
            match Some(json).filter(|_| marked).and_then(|json| json.strip_suffix("}]}")) {
                Some(open) => {
                    self.raw(open);
                    self.raw(self.marker);
                    self.raw("}]}");
                }
                _ => self.raw(json),
            }
            self.added_tools(request, at + 1);
        }
        self.raw("]");
    }

    /// Writes the tools that were added after this number of messages, in a message of their own.
    fn added_tools(&mut self, request: &ModelRequest, after: usize) {
        if !self.form.controls {
            return;
        }
        for added in request.added_tools.iter().filter(|added| added.after_messages == after) {
            for (at, tool) in added.tools.iter().enumerate() {
                self.raw(if at == 0 { ",{\"role\":\"system\",\"content\":[" } else { "," });
                self.raw("{\"type\":\"tool_addition\",\"tool\":{\"type\":\"tool_definition\",\"definition\":");
                self.tool(tool);
                self.raw("}}");
            }
            self.raw("]}");
        }
    }

    fn output_config(&mut self, request: &ModelRequest) {
        if request.effort.is_none() && request.response_format.is_none() {
            return;
        }
        self.raw(",\"output_config\":{");
        if let Some(effort) = request.effort {
            self.raw("\"effort\":");
            self.json(&effort);
        }
        if let Some(format) = &request.response_format {
            self.raw(if request.effort.is_some() { "," } else { "" });
            self.raw("\"format\":{\"type\":\"json_schema\",\"schema\":");
            self.raw(format.schema.as_str());
            self.raw("}");
        }
        self.raw("}");
    }

    fn tool_choice(&mut self, request: &ModelRequest) {
        match &request.tool_choice {
            // Without tools there is no choice.
            _ if request.tools.is_empty() && request.added_tools.is_empty() => {}
            ToolChoice::Any => self.raw(",\"tool_choice\":{\"type\":\"any\"}"),
            ToolChoice::None => self.raw(",\"tool_choice\":{\"type\":\"none\"}"),
            ToolChoice::Tool(name) => {
                self.raw(",\"tool_choice\":{\"type\":\"tool\",\"name\":");
                self.string(name);
                self.raw("}");
            }
            _ => {}
        }
    }

    fn thinking(&mut self, request: &ModelRequest, info: &ModelInfo) {
        let most = request.max_output_tokens.saturating_sub(1);
        match thinking_of(request, info) {
            // The newest models return the reasoning text only on request.
            Thinking::Adaptive => {
                self.raw(",\"thinking\":{\"type\":\"adaptive\",\"display\":\"summarized\"");
                if self.form.controls {
                    // A change before a block of reasoning drops the block and does not fail the request.
                    self.raw(",\"block_binding\":{\"prefix_mismatch_behavior\":\"drop_block\"}");
                }
                self.raw("}");
            }
            Thinking::Budget(budget) if most >= MIN_THINKING_BUDGET => {
                self.raw(",\"thinking\":{\"type\":\"enabled\",\"budget_tokens\":");
                self.json(&budget.clamp(MIN_THINKING_BUDGET, most));
                self.raw("}");
            }
            _ => {}
        }
    }
}

/// Returns the message in a form that the API takes: without unsigned reasoning (which comes from another provider) and
/// without empty text, with ids that fit its rules, and no images in results of failed calls.
fn acceptable(message: &SharedMessage) -> Cow<'_, SharedMessage> {
    // Each request has all messages: each message is checked only once.
    if message.checked(|message| !message.content.is_empty() && message.content.iter().all(is_acceptable)) {
        return Cow::Borrowed(message);
    }
    let mut content: Vec<_> = message.content.iter().filter_map(made_acceptable).collect();
    if content.is_empty() {
        content.push(ContentBlock::text(NO_CONTENT));
    }
    let message = match message.role {
        Role::Assistant => Message::assistant(content),
        _ => Message::user(content),
    };
    Cow::Owned(message.into())
}

fn is_acceptable(block: &ContentBlock) -> bool {
    match block {
        ContentBlock::Text { text, .. } => !text.trim().is_empty(),
        ContentBlock::Thinking { signature, .. } => !signature.is_empty(),
        ContentBlock::ToolUse(call) => is_own(call.id.as_str()),
        ContentBlock::ToolResult(result) => is_own(result.tool_use_id.as_str()) && !has_media_of_failure(result),
        _ => true,
    }
}

fn is_own(id: &str) -> bool {
    matches!(call_id(id), Cow::Borrowed(_))
}

fn has_media_of_failure(result: &ToolResult) -> bool {
    let is_media = |block: &ContentBlock| block.as_text().is_none();
    result.is_error && matches!(&result.content, ToolResultContent::Blocks(blocks) if blocks.iter().any(is_media))
}

fn made_acceptable(block: &ContentBlock) -> Option<ContentBlock> {
    match block {
        ContentBlock::ToolUse(call) => {
            let mut call = call.clone();
            call.id = call_id(call.id.as_str()).as_ref().into();
            Some(ContentBlock::ToolUse(call))
        }
        ContentBlock::ToolResult(result) => {
            let mut result = result.clone();
            result.tool_use_id = call_id(result.tool_use_id.as_str()).as_ref().into();
            if has_media_of_failure(&result) {
                let text = result.content.text();
                result.content = if text.is_empty() { NO_CONTENT.into() } else { text.into() };
            }
            Some(ContentBlock::ToolResult(result))
        }
        block => is_acceptable(block).then(|| block.clone()),
    }
}

/// `true` if the API takes a breakpoint on a block.
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
