//! Outcome of hooks in the format of the protocol.

use crate::client::permission::PermissionWire;
use serde::Serialize;
use windlass_types::hook::ElicitationReply;
use windlass_types::{Behavior, HookEventName, HookOutcome, HookVerdict, JsonError, JsonText, ToolResultContent};

/// Output of a callback.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct CallbackOutput {
    #[serde(skip_serializing_if = "Option::is_none")]
    r#continue: Option<bool>,
    #[serde(skip_serializing_if = "Option::is_none")]
    stop_reason: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    system_message: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    decision: Option<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    reason: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    hook_specific_output: Option<EventOutput>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct EventOutput {
    hook_event_name: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    permission_decision: Option<CallDecision>,
    #[serde(skip_serializing_if = "Option::is_none")]
    permission_decision_reason: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    updated_input: Option<JsonText>,
    /// Answer to a permission request.
    #[serde(skip_serializing_if = "Option::is_none")]
    decision: Option<JsonText>,
    #[serde(skip_serializing_if = "Option::is_none")]
    updated_tool_output: Option<ToolResultContent>,
    /// Answer to an elicitation of an MCP server.
    #[serde(flatten)]
    elicitation: Option<ElicitationReply>,
    #[serde(skip_serializing_if = "Option::is_none")]
    additional_context: Option<String>,
}

/// Decision of a hook about a call.
#[derive(Serialize)]
#[serde(untagged)]
enum CallDecision {
    Now(Behavior),
    Defer(Defer),
}

#[derive(Serialize)]
#[serde(rename_all = "lowercase")]
enum Defer {
    Defer,
}

impl CallbackOutput {
    pub(super) fn new(event: HookEventName, outcome: HookOutcome) -> Result<Self, JsonError> {
        let answer =
            outcome.answer.as_ref().map(|answer| JsonText::of(&PermissionWire::new(answer, None))).transpose()?;
        let (decision, reason) = match outcome.block {
            Some(HookVerdict { reason, .. }) => (Some("block"), Some(reason)),
            None => (None, None),
        };
        let (permission_decision, permission_decision_reason) = match outcome.verdict {
            Some(HookVerdict { defers: true, reason, .. }) => (Some(CallDecision::Defer(Defer::Defer)), Some(reason)),
            Some(HookVerdict { behavior, reason, .. }) => (Some(CallDecision::Now(behavior)), Some(reason)),
            None => (None, None),
        };
        let join_lines = |texts: Vec<String>| (!texts.is_empty()).then(|| texts.join("\n"));
        let event_output = EventOutput {
            hook_event_name: event.as_str(),
            permission_decision,
            permission_decision_reason,
            updated_input: outcome.updated_input,
            decision: answer,
            updated_tool_output: outcome.updated_output,
            elicitation: outcome.elicitation,
            additional_context: join_lines(outcome.additional_context),
        };
        let has_content = event_output.permission_decision.is_some()
            || event_output.updated_input.is_some()
            || event_output.decision.is_some()
            || event_output.updated_tool_output.is_some()
            || event_output.elicitation.is_some()
            || event_output.additional_context.is_some();
        Ok(Self {
            r#continue: outcome.stop.is_some().then_some(false),
            stop_reason: outcome.stop,
            system_message: join_lines(outcome.system_messages),
            decision,
            reason,
            hook_specific_output: has_content.then_some(event_output),
        })
    }
}
