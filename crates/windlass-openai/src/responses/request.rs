//! Request bodies, written straight to bytes.

mod body;
mod items;

use body::ResponsesBody;
use windlass_http::Bytes;
use windlass_model::ModelError;
use windlass_types::{AddedTools, JsonText, ModelRequest, ResponseFormat, Thinking, ToolChoice, ToolSpec};

use super::web_search::{self, SearchToolBody};
use crate::models::Model;
use crate::retention;
use crate::schema;
use windlass_http::provider::{COMPOSITIONS, stable_hash, without_compositions};

/// Maximum length of keys and names that the API takes, in bytes.
const MAX_KEY: usize = 64;

/// Minimum output limit in tokens; the API refuses a lower one.
const MIN_OUTPUT_TOKENS: u32 = 16;

/// Members that a token count takes.
const COUNTED: [&str; 9] = [
    "input",
    "instructions",
    "model",
    "parallel_tool_calls",
    "personality",
    "reasoning",
    "text",
    "tool_choice",
    "tools",
];

/// Form of a request, beside its content.
#[derive(Clone, Copy, Debug)]
pub(super) struct ResponsesForm<'a> {
    pub(super) model: &'a Model,
    /// `true` if schemas may be strict.
    pub(super) strict: bool,
    /// `true` if summaries of the reasoning are requested.
    pub(super) summaries: bool,
}

impl ResponsesForm<'_> {
    /// Returns the web search tool, if the request has one and the model supports it.
    fn web_search<'r>(&self, request: &'r ModelRequest) -> Option<SearchToolBody<'r>> {
        self.model.info.web_search.and_then(|_| web_search::of(&request.server_tools))
    }
}

/// Request body, and `true` if it holds a strict schema.
#[derive(Debug)]
pub(super) struct WrittenRequest {
    pub(super) body: Bytes,
    pub(super) is_strict: bool,
}

/// Writes the body of a call.
///
/// # Errors
/// Fails if the request's extra members are no object.
pub(super) fn call(request: &ModelRequest, form: ResponsesForm<'_>) -> Result<WrittenRequest, ModelError> {
    let mut body = ResponsesBody::new(request)?;
    let is_strict = prompt(&mut body, request, form);
    body.member("max_output_tokens", |out| out.json(&request.max_output_tokens.max(MIN_OUTPUT_TOKENS)));
    body.member("stream", |out| out.raw("true"));
    body.member("store", |out| out.raw("false"));
    let reasoning = form.model.reasons().then_some("reasoning.encrypted_content");
    let sources = form.web_search(request).map(|_| web_search::SOURCES);
    let include: Vec<_> = reasoning.into_iter().chain(sources).collect();
    if !include.is_empty() {
        body.member("include", |out| out.json(&include));
    }
    if let Some(key) = cache_key(request) {
        body.member("prompt_cache_key", |out| out.json(&*key));
    }
    if let Some((name, json)) = retention::member(request) {
        body.member(name, |out| out.raw(json));
    }
    if let Some(user) = &request.user_id {
        body.member("safety_identifier", |out| out.json(&*shortened(user)));
    }
    body.extra(|_| true);
    Ok(WrittenRequest { body: body.finish(), is_strict })
}

/// Writes the body of a token count.
///
/// # Errors
/// Fails if the request's extra members are no object.
pub(super) fn count(request: &ModelRequest, form: ResponsesForm<'_>) -> Result<Bytes, ModelError> {
    let mut body = ResponsesBody::new(request)?;
    prompt(&mut body, request, form);
    body.extra(|name| COUNTED.contains(&name));
    Ok(body.finish())
}

/// Returns the key by which the API finds the cached prompt of a conversation, unless caching is off.
pub(super) fn cache_key(request: &ModelRequest) -> Option<String> {
    let key = request.session_key.as_deref().filter(|key| !key.is_empty() && request.cache.is_some())?;
    Some(shortened(key))
}

/// Returns the text, or a hash of one that is too long.
fn shortened(text: &str) -> String {
    if text.len() <= MAX_KEY { text.to_owned() } else { format!("{:032x}", stable_hash(text.as_bytes())) }
}

/// Writes the prompt. Members that stay the same from request to request come first. Returns `true` if a schema is
/// strict.
fn prompt(body: &mut ResponsesBody<'_>, request: &ModelRequest, form: ResponsesForm<'_>) -> bool {
    let mut is_strict = false;
    body.member("model", |out| out.json(&request.model));
    let sections = || request.system.iter().filter(|section| !section.text.trim().is_empty());
    if sections().next().is_some() {
        body.member("instructions", |out| out.joined(sections().map(|section| &*section.text), "\n\n"));
    }
    let (in_front, inside): (&[AddedTools], &[AddedTools]) =
        if form.model.info.appends_tools { (&[], &request.added_tools) } else { (&request.added_tools, &[]) };
    let mut tools = request.tools.iter().chain(in_front.iter().flat_map(|added| &added.tools)).peekable();
    let search = form.web_search(request);
    if tools.peek().is_some() || search.is_some() {
        body.member("tools", |out| {
            out.raw("[");
            let are_any = tools.peek().is_some();
            for (at, tool) in tools.enumerate() {
                out.raw(if at == 0 { "" } else { "," });
                is_strict |= write_tool(out, tool, form.strict);
            }
            if let Some(search) = search {
                out.raw(if are_any { "," } else { "" });
                out.json(&search);
            }
            out.raw("]");
        });
    }
    if !request.tools.is_empty() || !request.added_tools.is_empty() {
        tool_choice(body, &request.tool_choice);
    }
    body.member("input", |out| {
        items::write(out, &request.messages, inside, &mut |out, tool| {
            is_strict |= write_tool(out, tool, form.strict);
        });
    });
    reasoning(body, request, form);
    if let Some(format) = &request.response_format {
        body.member("text", |out| is_strict |= write_format(out, format, form.strict));
    }
    is_strict
}

fn write_tool(out: &mut body::Out, tool: &ToolSpec, may_be_strict: bool) -> bool {
    let strict = (may_be_strict && tool.strict).then(|| schema::strict(&tool.input_schema)).flatten();
    let plain = without_compositions(tool, &COMPOSITIONS);
    let tool = if strict.is_some() { tool } else { &*plain };
    out.raw("{\"type\":\"function\",\"name\":");
    out.json(&tool.name);
    if !tool.description.is_empty() {
        out.raw(",\"description\":");
        out.json(&tool.description);
    }
    out.raw(",\"parameters\":");
    match &strict {
        Some(schema) => out.raw(schema.as_str()),
        None => out.raw(&schema::parameters(&tool.input_schema)),
    }
    // The API treats a tool without the member as strict.
    out.raw(if strict.is_some() { ",\"strict\":true}" } else { ",\"strict\":false}" });
    strict.is_some()
}

fn tool_choice(body: &mut ResponsesBody<'_>, choice: &ToolChoice) {
    match choice {
        ToolChoice::Any => body.member("tool_choice", |out| out.raw("\"required\"")),
        ToolChoice::None => body.member("tool_choice", |out| out.raw("\"none\"")),
        ToolChoice::Tool(name) => body.member("tool_choice", |out| {
            out.raw("{\"type\":\"function\",\"name\":");
            out.json(name);
            out.raw("}");
        }),
        _ => {}
    }
}

fn reasoning(body: &mut ResponsesBody<'_>, request: &ModelRequest, form: ResponsesForm<'_>) {
    let wants = request.effort.is_some() || request.thinking != Thinking::Off;
    let effort = match request.effort {
        Some(effort) => Some(form.model.info.effort_for(effort).unwrap_or(effort).as_str()),
        None if !wants && form.model.can_skip_reasoning => Some("none"),
        None => None,
    };
    let summary = form.summaries && form.model.reasons() && effort != Some("none");
    if effort.is_none() && !summary {
        return;
    }
    body.member("reasoning", |out| {
        out.raw("{");
        if let Some(effort) = effort {
            out.raw("\"effort\":");
            out.json(effort);
        }
        if summary {
            out.raw(if effort.is_some() { ",\"summary\":\"auto\"" } else { "\"summary\":\"auto\"" });
        }
        out.raw("}");
    });
}

fn write_format(out: &mut body::Out, format: &ResponseFormat, may_be_strict: bool) -> bool {
    let strict: Option<JsonText> = may_be_strict.then(|| schema::strict(&format.schema)).flatten();
    out.raw("{\"format\":{\"type\":\"json_schema\",\"name\":");
    let is_plain = |char: &char| char.is_ascii_alphanumeric() || matches!(char, '_' | '-');
    let name: String = format.name.chars().filter(is_plain).take(MAX_KEY).collect();
    out.json(if name.is_empty() { "answer" } else { &name });
    out.raw(",\"schema\":");
    out.raw(strict.as_ref().unwrap_or(&format.schema).as_str());
    out.raw(if strict.is_some() { ",\"strict\":true}}" } else { ",\"strict\":false}}" });
    strict.is_some()
}
