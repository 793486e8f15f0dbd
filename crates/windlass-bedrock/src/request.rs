//! Request bodies, written straight to bytes.

mod cache;
mod content;
mod fields;
mod media;
mod target;
mod tools;

use cache::CachePoints;
use windlass_http::Bytes;
use windlass_http::provider::JsonBody as Json;
use windlass_http::provider::with_members;
use windlass_types::{ModelRequest, ResponseFormat};

pub(crate) use target::ConverseTarget;

/// Writes the body of a call. Members that stay the same from request to request come first, those that can change
/// after the messages.
pub(crate) fn call(request: &ModelRequest, target: ConverseTarget<'_>) -> Bytes {
    let mut out = Json::for_request(request);
    out.raw("{");
    prompt(&mut out, request, target, &CachePoints::of(request, target.family));
    let fields = fields::of(request, target);
    // Nova refuses a limit beside its highest effort.
    if !fields.forbids_limit() {
        out.raw(",\"inferenceConfig\":{\"maxTokens\":");
        out.json(&request.max_output_tokens.max(1));
        out.raw("}");
    }
    if !fields.is_empty() {
        out.raw(",\"additionalModelRequestFields\":");
        out.json(&fields);
    }
    if let Some(format) = &request.response_format {
        form(&mut out, format);
    }
    out.raw("}");
    match &request.extra {
        None => out.finish(),
        Some(extra) => with_members(out.finish().into(), extra).into(),
    }
}

/// Writes the body of a token count.
pub(crate) fn count(request: &ModelRequest, target: ConverseTarget<'_>) -> Bytes {
    let mut out = Json::for_request(request);
    out.raw("{\"input\":{\"converse\":{");
    prompt(&mut out, request, target, &CachePoints::NONE);
    out.raw("}}}");
    out.finish()
}

/// Writes the prompt.
fn prompt(out: &mut Json, request: &ModelRequest, target: ConverseTarget<'_>, cache: &CachePoints) {
    tools::write(out, request, target.family, cache);
    system(out, request, cache);
    out.raw("\"messages\":[");
    content::write(out, request, target, cache);
    out.raw("]");
}

fn system(out: &mut Json, request: &ModelRequest, cache: &CachePoints) {
    let sections: Vec<_> = request.system.iter().filter(|section| !section.text.trim().is_empty()).collect();
    if sections.is_empty() {
        return;
    }
    let is_end = |at: usize| {
        let scope = |at: usize| sections.get(at).map(|section| section.scope);
        scope(at + 1) != scope(at)
    };
    let mut ends: Vec<usize> = (0..sections.len()).filter(|at| is_end(*at)).collect();
    ends.drain(..ends.len().saturating_sub(cache.of_system()));
    out.raw("\"system\":[");
    for (at, section) in sections.iter().enumerate() {
        out.raw(if at == 0 { "{\"text\":" } else { ",{\"text\":" });
        out.json(&*section.text);
        out.raw("}");
        if ends.contains(&at) {
            out.raw(",");
            out.raw(cache.point());
        }
    }
    out.raw("],");
}

/// Writes the answer format. The API takes the schema as a text.
fn form(out: &mut Json, format: &ResponseFormat) {
    out.raw(",\"outputConfig\":{\"textFormat\":{\"type\":\"json_schema\",\"structure\":{\"jsonSchema\":{\"name\":");
    out.json(&format.name);
    out.raw(",\"schema\":");
    out.json(format.schema.as_str());
    out.raw("}}}}");
}
