//! Request bodies, written straight to bytes.

mod contents;
mod generation;
mod schema;
mod target;

use crate::endpoint::GeminiEndpoint;
use crate::grounding;
use serde::Serialize;
use serde_json::value::RawValue;
use std::collections::BTreeMap;
use windlass_http::Bytes;
use windlass_http::provider::{JsonBody as Json, without_compositions};
use windlass_types::{ModelRequest, ToolChoice};

pub(crate) use target::GeminiTarget;

/// Writes the body of a call. Members that stay the same from request to request come first, those that can change
/// after the contents.
pub(crate) fn call(request: &ModelRequest, target: &GeminiTarget<'_>) -> Bytes {
    let extra = Extra::read(request);
    let mut out = Json::for_request(request);
    let mut members = ObjectWriter::new(&mut out);
    prompt(&mut members, request, target, &extra);
    if let Some(out) = members.begin("generationConfig", &extra) {
        generation::write(out, request, target);
    }
    for (name, value) in &extra.0 {
        let out = members.put(name);
        out.raw(value.get());
    }
    members.end();
    out.finish()
}

/// Writes the body of a token count.
pub(crate) fn count(request: &ModelRequest, target: &GeminiTarget<'_>) -> Bytes {
    let mut out = Json::for_request(request);
    let is_wrapped = *target.endpoint == GeminiEndpoint::Gemini;
    if is_wrapped {
        out.raw("{\"generateContentRequest\":");
    }
    let mut members = ObjectWriter::new(&mut out);
    if is_wrapped {
        members.put("model").json(&target.endpoint.resource(target.model));
    }
    prompt(&mut members, request, target, &Extra::default());
    members.end();
    if is_wrapped {
        out.raw("}");
    }
    out.finish()
}

/// Writes the prompt.
fn prompt(members: &mut ObjectWriter<'_>, request: &ModelRequest, target: &GeminiTarget<'_>, extra: &Extra<'_>) {
    let system: Vec<&str> =
        request.system.iter().map(|section| &*section.text).filter(|text| !text.trim().is_empty()).collect();
    if !system.is_empty()
        && let Some(out) = members.begin("systemInstruction", extra)
    {
        out.raw("{\"parts\":[");
        for (at, text) in system.into_iter().enumerate() {
            out.raw(if at == 0 { "{\"text\":" } else { ",{\"text\":" });
            out.json(text);
            out.raw("}");
        }
        out.raw("]}");
    }
    // Before Gemini 3 the API refuses searches beside tools of the caller.
    let searches = grounding::is_wanted(&request.server_tools)
        && target.searches
        && (request.tools.is_empty() || target.family.is_modern);
    if (!request.tools.is_empty() || searches)
        && let Some(out) = members.begin("tools", extra)
    {
        tools(out, request, searches);
    }
    if !request.tools.is_empty()
        && let Some(config) = tool_config(request)
        && let Some(out) = members.begin("toolConfig", extra)
    {
        out.json(&config);
    }
    if let Some(out) = members.begin("contents", extra) {
        contents::write(out, &request.messages, target);
    }
}

fn tools(out: &mut Json, request: &ModelRequest, searches: bool) {
    if request.tools.is_empty() {
        return out.raw("[{\"googleSearch\":{}}]");
    }
    out.raw("[{\"functionDeclarations\":[");
    for (at, tool) in request.tools.iter().enumerate() {
        // Alternatives stay; the API does not support `allOf`.
        let tool = &*without_compositions(tool, &["allOf"]);
        out.raw(if at == 0 { "{\"name\":" } else { ",{\"name\":" });
        out.json(&tool.name);
        out.raw(",\"description\":");
        out.json(&tool.description);
        out.raw(",\"parametersJsonSchema\":");
        out.raw(&schema::accepted(tool.input_schema.as_str()));
        out.raw("}");
    }
    out.raw(if searches { "]},{\"googleSearch\":{}}]" } else { "]}]" });
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct ToolConfig<'a> {
    function_calling_config: FunctionCalling<'a>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct FunctionCalling<'a> {
    mode: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    allowed_function_names: Option<[&'a str; 1]>,
}

/// Returns the tool choice. `None` leaves the choice to the model, the default of the API.
fn tool_config(request: &ModelRequest) -> Option<ToolConfig<'_>> {
    let (mode, only) = match &request.tool_choice {
        // There is one mode for all tools: if one asks to be constrained to its schema, all are.
        ToolChoice::Auto if request.tools.iter().any(|tool| tool.strict) => ("VALIDATED", None),
        ToolChoice::Any => ("ANY", None),
        ToolChoice::Tool(name) => ("ANY", Some([name.as_str()])),
        ToolChoice::None => ("NONE", None),
        _ => return None,
    };
    Some(ToolConfig { function_calling_config: FunctionCalling { mode, allowed_function_names: only } })
}

/// Members that the user adds to the top level of the body.
#[derive(Default)]
struct Extra<'a>(BTreeMap<String, &'a RawValue>);

impl<'a> Extra<'a> {
    fn read(request: &'a ModelRequest) -> Self {
        let extra = request.extra.as_ref();
        Self(extra.and_then(|extra| serde_json::from_str(extra.as_str()).ok()).unwrap_or_default())
    }
}

/// Members of an object that is being written.
struct ObjectWriter<'a> {
    out: &'a mut Json,
    is_first: bool,
}

impl<'a> ObjectWriter<'a> {
    fn new(out: &'a mut Json) -> Self {
        out.raw("{");
        Self { out, is_first: true }
    }

    fn put(&mut self, name: &str) -> &mut Json {
        if !std::mem::take(&mut self.is_first) {
            self.out.raw(",");
        }
        self.out.json(name);
        self.out.raw(":");
        self.out
    }

    /// Begins a member, unless the user gives one of this name.
    fn begin(&mut self, name: &str, extra: &Extra<'_>) -> Option<&mut Json> {
        if extra.0.contains_key(name) { None } else { Some(self.put(name)) }
    }

    fn end(self) {
        self.out.raw("}");
    }
}
