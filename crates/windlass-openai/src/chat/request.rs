//! Request bodies.

mod body;
mod instructions;
mod messages;
mod tools;

pub(super) use body::ChatBody;
pub(super) use instructions::instructions;
pub(super) use messages::{ContentPart, Images, user_parts};
pub(super) use tools::list;

use super::compat::{AnswerFormat, Compat, OutputLimit, ThinkingSwitch};
use crate::retention;
use std::borrow::Cow;
use windlass_http::Bytes;
use windlass_http::provider::stable_hash;
use windlass_model::ModelError;
use windlass_types::{ModelRequest, Thinking};

/// Maximum length of `prompt_cache_key`, in characters.
const MAX_CACHE_KEY: usize = 64;

/// Returns the body of a call. Members that stay the same from request to request come first.
///
/// # Errors
/// Fails if the extra members are no JSON object.
pub(super) fn call(request: &ModelRequest, compat: &Compat) -> Result<Bytes, ModelError> {
    let mut body = ChatBody::for_request(request)?;
    body.member("model", &request.model);
    tools::write(&mut body, request, compat);
    if body.begins("messages") {
        messages::write(&mut body, request, compat);
    }
    body.member("stream", &true);
    stream_options(&mut body, compat);
    match compat.body.output_limit {
        OutputLimit::MaxTokens => body.member("max_tokens", &request.max_output_tokens),
        OutputLimit::MaxCompletionTokens => body.member("max_completion_tokens", &request.max_output_tokens),
        OutputLimit::Omit => {}
    }
    thinking(&mut body, request, compat);
    answer_format(&mut body, request, compat);
    if let Some(key) = request.session_key.as_deref().filter(|_| compat.cache.key && request.cache.is_some()) {
        body.member("prompt_cache_key", &*cache_key(key));
    }
    if let Some((name, json)) = retention::member(request).filter(|_| compat.cache.retention) {
        body.raw_member(name, json);
    }
    if let Some(user) = request.user_id.as_deref().filter(|_| !compat.body.user_field.is_empty()) {
        body.member(&compat.body.user_field, user);
    }
    Ok(body.finish())
}

fn stream_options(body: &mut ChatBody<'_>, compat: &Compat) {
    if !compat.body.include_usage {
        return;
    }
    let options = if compat.body.plain_stream {
        r#"{"include_usage":true,"include_obfuscation":false}"#
    } else {
        r#"{"include_usage":true}"#
    };
    body.raw_member("stream_options", options);
}

fn cache_key(key: &str) -> Cow<'_, str> {
    if key.chars().count() <= MAX_CACHE_KEY {
        Cow::Borrowed(key)
    } else {
        Cow::Owned(format!("{:032x}", stable_hash(key.as_bytes())))
    }
}

/// Writes the members that control reasoning.
fn thinking(body: &mut ChatBody<'_>, request: &ModelRequest, compat: &Compat) {
    let profile = &compat.reasoning;
    let is_on = request.thinking != Thinking::Off;
    let effort = request.effort.and_then(|effort| profile.effort(effort));
    if profile.switch == ThinkingSwitch::Effort {
        if let Some(effort) = effort {
            body.member("reasoning_effort", effort);
        }
        return;
    }
    if !is_on && !profile.sends_off && (profile.switch != ThinkingSwitch::ReasoningObject || effort.is_none()) {
        return;
    }
    let budget = match request.thinking {
        Thinking::Budget(budget) => Some(budget),
        _ => None,
    };
    match profile.switch {
        ThinkingSwitch::Never | ThinkingSwitch::Effort => return,
        ThinkingSwitch::ReasoningObject => {
            let object = match (effort, budget) {
                (Some(effort), _) => format!(r#"{{"effort":"{effort}"}}"#),
                (None, Some(budget)) => format!(r#"{{"max_tokens":{budget}}}"#),
                (None, None) => format!(r#"{{"enabled":{is_on}}}"#),
            };
            body.raw_member("reasoning", &object);
            return;
        }
        ThinkingSwitch::ReasoningEnabled => body.raw_member("reasoning", &format!(r#"{{"enabled":{is_on}}}"#)),
        ThinkingSwitch::ThinkingType => {
            let kind = if is_on { "enabled" } else { "disabled" };
            let keep = if is_on && profile.keep { r#","clear_thinking":false"# } else { "" };
            body.raw_member("thinking", &format!(r#"{{"type":"{kind}"{keep}}}"#));
        }
        ThinkingSwitch::EnableThinking => {
            body.member("enable_thinking", &is_on);
            if let Some(budget) = budget {
                body.member("thinking_budget", &budget);
            }
        }
        ThinkingSwitch::ChatTemplate => {
            body.raw_member("chat_template_kwargs", &format!(r#"{{"enable_thinking":{is_on}}}"#));
        }
    }
    if let Some(effort) = effort.filter(|_| is_on) {
        body.member("reasoning_effort", effort);
    }
}

fn answer_format(body: &mut ChatBody<'_>, request: &ModelRequest, compat: &Compat) {
    let Some(format) = &request.response_format else { return };
    let strict = match compat.body.answer_format {
        AnswerFormat::StrictJsonSchema => crate::schema::strict(&format.schema),
        AnswerFormat::JsonSchema => None,
        AnswerFormat::JsonObject => return body.raw_member("response_format", r#"{"type":"json_object"}"#),
        AnswerFormat::Prompt => return,
    };
    if !body.begins("response_format") {
        return;
    }
    body.raw(r#"{"type":"json_schema","json_schema":{"name":"#);
    body.json(&format.name);
    body.raw(",\"schema\":");
    body.raw(strict.as_ref().unwrap_or(&format.schema).as_str());
    body.raw(if strict.is_some() { ",\"strict\":true}}" } else { "}}" });
}
