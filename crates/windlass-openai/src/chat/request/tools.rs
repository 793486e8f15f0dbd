//! Tools of a request.

use super::body::ChatBody;
use crate::chat::compat::{Compat, Strict, ToolSupport};
use crate::schema;
use windlass_http::provider::{COMPOSITIONS, without_compositions};
use windlass_types::{ContentBlock, JsonText, ModelRequest, ToolChoice};

pub(super) fn write(body: &mut ChatBody<'_>, request: &ModelRequest, compat: &Compat) {
    // If calls cannot be forbidden, no tools are sent.
    let is_forbidden = request.tool_choice == ToolChoice::None && compat.tools.choice == ToolSupport::AutoOnly;
    if request.tools.is_empty() || is_forbidden {
        if compat.tools.empty_list && has_calls(request) {
            body.raw_member("tools", "[]");
        }
        return;
    }
    if body.begins("tools") {
        list(body, request, compat.tools.strict);
    }
    choice(body, &request.tool_choice, compat.tools.choice);
    if let Some(parallel) = compat.tools.parallel {
        body.member("parallel_tool_calls", &parallel);
    }
    if compat.tools.stream {
        body.member("tool_stream", &true);
    }
}

fn has_calls(request: &ModelRequest) -> bool {
    request.messages.iter().flat_map(|message| &message.content).any(|block| matches!(block, ContentBlock::ToolUse(_)))
}

/// Writes the tools as functions. A strict tool has its schema in the subset of strict mode; a tool whose schema has no
/// such form is not strict.
pub(in crate::chat) fn list(body: &mut ChatBody<'_>, request: &ModelRequest, strict: Strict) {
    let subset = |at: &usize| -> Option<JsonText> {
        let tool = request.tools.get(*at).filter(|tool| tool.strict && strict != Strict::Never)?;
        schema::strict(&tool.input_schema)
    };
    let mut subsets: Vec<Option<JsonText>> = (0..request.tools.len()).map(|at| subset(&at)).collect();
    if strict == Strict::AllOrNone && subsets.iter().any(Option::is_none) {
        subsets.fill(None);
    }
    body.raw("[");
    for (tool, subset) in request.tools.iter().zip(subsets) {
        // OpenAI refuses compositions at the top level, and servers that imitate it may ignore them.
        let plain = without_compositions(tool, &COMPOSITIONS);
        let tool = if subset.is_some() { tool } else { &*plain };
        body.separate();
        body.raw(r#"{"type":"function","function":{"name":"#);
        body.json(&tool.name);
        body.raw(",\"description\":");
        body.json(&tool.description);
        body.raw(",\"parameters\":");
        body.raw(subset.as_ref().unwrap_or(&tool.input_schema).as_str());
        body.raw(if subset.is_some() { ",\"strict\":true}}" } else { "}}" });
    }
    body.raw("]");
}

fn choice(body: &mut ChatBody<'_>, choice: &ToolChoice, support: ToolSupport) {
    match (support, choice) {
        (ToolSupport::AutoOnly, _) | (_, ToolChoice::Auto) | (ToolSupport::NoRequired, ToolChoice::Any) => {}
        (_, ToolChoice::None) => body.member("tool_choice", "none"),
        (_, ToolChoice::Tool(name)) => {
            if body.begins("tool_choice") {
                body.raw(r#"{"type":"function","function":{"name":"#);
                body.json(name);
                body.raw("}}");
            }
        }
        (_, _) => body.member("tool_choice", "required"),
    }
}
