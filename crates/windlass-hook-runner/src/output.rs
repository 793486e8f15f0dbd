//! The answer of a hook in another process: an output object.

use crate::texts::HookTexts;
use serde::Deserialize;
use windlass_hook::{PermissionRequestEvent, PreToolUse};
use windlass_permission::{read_permission_answer, same_json};
use windlass_types::hook::{AnswerKind, ElicitationChoice, ElicitationReply};
use windlass_types::{
    Behavior, HookCall, HookEventName, HookOutcome, HookVerdict, JsonText, PermissionAnswer, ToolResultContent,
};

#[derive(Deserialize, Default)]
#[serde(rename_all = "camelCase")]
struct Output {
    #[serde(default)]
    r#async: Option<bool>,
    #[serde(default)]
    r#continue: Option<bool>,
    #[serde(default)]
    stop_reason: Option<String>,
    #[serde(default)]
    system_message: Option<String>,
    #[serde(default)]
    decision: Option<Decision>,
    #[serde(default)]
    reason: Option<String>,
    #[serde(default)]
    hook_specific_output: Option<Specific>,
}

#[derive(Deserialize, Clone, Copy, PartialEq, Eq)]
#[serde(rename_all = "lowercase")]
enum Decision {
    Block,
    Approve,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Specific {
    hook_event_name: String,
    #[serde(default)]
    permission_decision: Option<PermissionDecision>,
    #[serde(default)]
    permission_decision_reason: Option<String>,
    #[serde(default)]
    updated_input: Option<JsonText>,
    /// The answer of a PermissionRequest hook.
    #[serde(default)]
    decision: Option<JsonText>,
    /// Answer to an elicitation of a server.
    #[serde(default)]
    action: Option<ElicitationChoice>,
    #[serde(default)]
    content: Option<JsonText>,
    #[serde(default)]
    additional_context: Option<String>,
    #[serde(default)]
    updated_tool_output: Option<JsonText>,
    #[serde(default, rename = "updatedMCPToolOutput")]
    updated_mcp_tool_output: Option<JsonText>,
}

#[derive(Deserialize, Clone, Copy, PartialEq, Eq)]
#[serde(rename_all = "lowercase")]
enum PermissionDecision {
    Allow,
    Deny,
    Ask,
    Defer,
}

/// Reads a hook's answer to an event. `hook` is its name.
///
/// # Errors
/// The text is not an output object, or is about another event. The hook then has no opinion.
pub fn read_output(hook: &str, call: &HookCall, output: &JsonText, texts: &HookTexts) -> Result<HookOutcome, String> {
    if !output.is_object() {
        return Err("its output is not an object".to_owned());
    }
    let Output { r#async, r#continue, stop_reason, system_message, decision, reason, hook_specific_output } =
        output.to().map_err(|error| format!("its output is not understood: {error}"))?;
    let mut outcome = HookOutcome::default();
    if r#async == Some(true) {
        return Ok(outcome);
    }
    let event = call.event();
    if let Some(message) = system_message {
        let subject = call.tool_name().map(|tool| format!(":{tool}")).unwrap_or_default();
        outcome.system_messages.push(format!("{event}{subject} says: {}", texts.short(message)));
    }
    if r#continue == Some(false) {
        outcome.stop = Some(texts.short(stop_reason.unwrap_or_else(|| format!("The {event} hook stopped the run."))));
    }
    let reason = reason.map(|reason| texts.short(reason));
    match (decision, event.answer()) {
        (Some(Decision::Approve), AnswerKind::Verdict) => {
            outcome.verdict = Some(verdict(Behavior::Allow, hook, reason, ""));
        }
        (Some(Decision::Block), kind) => {
            let otherwise = match kind {
                AnswerKind::Verdict => "The call was blocked by a hook.",
                AnswerKind::Permission => "A hook refused this call.",
                _ => "It was blocked by a hook.",
            };
            let reason = reason.filter(|reason| kind == AnswerKind::Permission || !reason.is_empty());
            outcome.merge(HookOutcome::refused(event, hook, reason.unwrap_or_else(|| otherwise.to_owned())));
        }
        _ => {}
    }
    if let Some(specific) = hook_specific_output {
        if specific.hook_event_name != event.as_str() {
            return Err(format!("its output is about {}, not {event}", specific.hook_event_name));
        }
        apply(specific, hook, call, texts, &mut outcome)?;
    }
    Ok(outcome)
}

fn apply(
    specific: Specific,
    hook: &str,
    call: &HookCall,
    texts: &HookTexts,
    outcome: &mut HookOutcome,
) -> Result<(), String> {
    let context = specific.additional_context.map(|text| texts.short(text)).filter(|text| !text.is_empty());
    match call.event().answer() {
        AnswerKind::Verdict => {
            let given = specific.permission_decision_reason.map(|reason| texts.short(reason));
            let verdict = specific.permission_decision.map(|decision| match decision {
                PermissionDecision::Allow => verdict(Behavior::Allow, hook, given, ""),
                PermissionDecision::Ask => {
                    verdict(Behavior::Ask, hook, given, "A hook wants this call to be confirmed.")
                }
                PermissionDecision::Deny => verdict(Behavior::Deny, hook, given, "The call was blocked by a hook."),
                PermissionDecision::Defer => {
                    let reason = given.filter(|reason| !reason.is_empty());
                    HookVerdict::defer(hook, reason.unwrap_or_else(|| "A hook deferred this call.".to_owned()))
                }
            });
            outcome.verdict = verdict.or(outcome.verdict.take());
            if let Some(input) = specific.updated_input {
                if !input.is_object() {
                    return Err("its `updatedInput` is not an object".to_owned());
                }
                // JSON is written in many ways: an equal value is no change.
                outcome.updated_input = match call {
                    HookCall::PreToolUse(PreToolUse { tool_input, .. }) if same_json(&input, tool_input) => None,
                    _ => Some(input),
                };
            }
            outcome.additional_context.extend(context);
        }
        AnswerKind::Permission => {
            if let HookCall::PermissionRequest(PermissionRequestEvent { tool_input, .. }) = call {
                let decision = specific.decision.filter(|decision| decision.as_str() != "null");
                let answer = decision.map(|decision| answer(tool_input, &decision));
                outcome.answer = answer.or(outcome.answer.take());
            }
        }
        AnswerKind::Output => {
            // The error of a tool is not replaced from outside.
            let output = specific.updated_tool_output.or(specific.updated_mcp_tool_output);
            let output = output.filter(|_| call.event() == HookEventName::PostToolUse);
            outcome.updated_output = output.as_ref().map(content);
            outcome.additional_context.extend(context);
        }
        // Context at the end makes the run continue.
        AnswerKind::Feedback => {
            if let (None, Some(context)) = (&outcome.block, context) {
                outcome.block = Some(HookVerdict::new(Behavior::Deny, hook, context));
            }
        }
        AnswerKind::Elicitation => {
            let content = specific.content.filter(|content| content.is_object());
            let reply = specific.action.map(|action| ElicitationReply { action, content });
            outcome.elicitation = reply.or(outcome.elicitation.take());
        }
        AnswerKind::Context | AnswerKind::None => outcome.additional_context.extend(context),
    }
    Ok(())
}

/// Reads the answer of a PermissionRequest hook. An answer that is not understood is a deny.
fn answer(input: &JsonText, decision: &JsonText) -> PermissionAnswer {
    match read_permission_answer(input, decision) {
        Ok(read) => {
            if let Some(problem) = read.unread_updates {
                tracing::warn!(problem, "the permission updates of a hook are not understood, so none is applied");
            }
            read.answer
        }
        Err(why) => PermissionAnswer::deny(format!("The hook's answer was not understood ({why}).")),
    }
}

fn verdict(behavior: Behavior, hook: &str, reason: Option<String>, otherwise: &str) -> HookVerdict {
    let reason = reason.filter(|reason| !reason.is_empty()).unwrap_or_else(|| otherwise.to_owned());
    HookVerdict::new(behavior, hook, reason)
}

/// Returns the tool result content of a hook's output: a text, content blocks, or JSON.
fn content(output: &JsonText) -> ToolResultContent {
    output.to::<ToolResultContent>().unwrap_or_else(|_| ToolResultContent::from(output.as_str()))
}

#[cfg(test)]
mod tests;
