//! Permission requests to the host.

use super::asking::{HostRequests, RequestSender};
use crate::channel::requests::AskError;
use crate::mapper::edits::HostEdit;
use crate::mapper::reason_type;
use async_trait::async_trait;
use serde::Serialize;
use windlass_conversation::{Asker, CallReference};
use windlass_permission::{CanUseTool, read_permission_answer};
use windlass_types::text::clause;
use windlass_types::{CallImpact, JsonText, PermissionAnswer, PermissionRequest, PermissionUpdate};

/// The host as the one who answers permission requests. Cheap to clone.
///
/// An error, an unreadable answer or a missing host deny.
///
/// The request follows the frame of the call, so only calls of the session that the server opened can be asked about.
#[derive(Debug, Clone)]
pub struct HostPermissions(HostRequests);

impl HostPermissions {
    pub(crate) fn new(asking: HostRequests) -> Self {
        Self(asking)
    }
}

#[derive(Serialize)]
struct PermissionFrame<'a> {
    subtype: &'static str,
    #[serde(flatten)]
    call: PermissionCall<'a>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    permission_suggestions: Vec<&'a PermissionUpdate>,
    #[serde(flatten)]
    reason: RequestReason<'a>,
    #[serde(skip_serializing_if = "Option::is_none")]
    agent_id: Option<&'a str>,
    /// `true` if an answer applies to this call alone.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    suppress_always_allow_rule: bool,
    /// Data that another process needs to answer, in a run that waits for answers.
    #[serde(skip_serializing_if = "Option::is_none")]
    windlass_question: Option<OpenRequest<'a>>,
    /// Kind of the call.
    windlass_group: &'static str,
    /// Effects, risk, paths and hosts of the call.
    #[serde(skip_serializing_if = "Option::is_none")]
    windlass_impact: Option<&'a CallImpact>,
    /// File changes that the call would make.
    #[serde(skip_serializing_if = "Option::is_none")]
    windlass_preview: Option<HostEdit<'a>>,
}

/// A request that another process can answer, too.
#[derive(Serialize)]
struct OpenRequest<'a> {
    id: &'a str,
    token: &'a str,
}

/// Call in question.
#[derive(Serialize)]
struct PermissionCall<'a> {
    tool_name: &'a str,
    display_name: &'a str,
    input: &'a JsonText,
    tool_use_id: &'a str,
    title: &'a str,
    description: &'a str,
}

/// Reason of the request.
#[derive(Serialize)]
struct RequestReason<'a> {
    #[serde(skip_serializing_if = "Option::is_none")]
    blocked_path: Option<String>,
    decision_reason: &'a str,
    decision_reason_type: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    matched_ask_rule: Option<AskRuleFrame<'a>>,
}

#[derive(Serialize)]
struct AskRuleFrame<'a> {
    source: windlass_types::RuleSource,
    tool_name: &'a str,
    rule_content: &'a str,
}

impl<'a> PermissionFrame<'a> {
    fn new(request: &'a PermissionRequest) -> Self {
        let decision = &request.decision;
        Self {
            subtype: "can_use_tool",
            call: PermissionCall {
                tool_name: &request.tool,
                display_name: &request.tool,
                input: &request.input,
                tool_use_id: request.tool_use_id.as_str(),
                title: &request.title,
                description: request.impact.as_ref().map_or(&request.title, |impact| &impact.summary),
            },
            permission_suggestions: decision.suggestions.iter().collect(),
            reason: RequestReason {
                blocked_path: decision.blocked_path.as_ref().map(|path| path.to_string_lossy().into_owned()),
                decision_reason: &decision.message,
                decision_reason_type: reason_type(decision.reason),
                matched_ask_rule: decision.rule.as_ref().map(|rule| AskRuleFrame {
                    source: rule.source,
                    tool_name: &request.tool,
                    rule_content: &rule.rule,
                }),
            },
            agent_id: request.identity.as_ref().map(|agent| agent.id.as_str()),
            suppress_always_allow_rule: decision.protected,
            windlass_question: request
                .token
                .as_ref()
                .map(|token| OpenRequest { id: request.id.as_str(), token: token.reveal() }),
            windlass_group: request.group.as_str(),
            windlass_impact: request.impact.as_deref(),
            windlass_preview: request.edits.as_ref().map(HostEdit::new),
        }
    }
}

#[async_trait]
impl CanUseTool for HostPermissions {
    async fn can_use_tool(&self, request: PermissionRequest) -> PermissionAnswer {
        let agent = request.identity.as_ref().map(|agent| agent.id.clone());
        let sender = || RequestSender {
            asker: agent.clone().map_or(Asker::Run, Asker::Agent),
            // A request that does not concern the call itself has no frame before it.
            about: (request.id.as_str() != request.tool_use_id.as_str())
                .then(|| CallReference::of(request.identity.as_ref(), &request.tool_use_id)),
            is_permission: true,
            limit: None,
        };
        let mut question = PermissionFrame::new(&request);
        let mut answer = self.0.ask(sender(), &question).await;
        if answer == Err(AskError::TooLong) && question.windlass_preview.take().is_some() {
            answer = self.0.ask(sender(), &question).await;
        }
        match answer {
            Ok(answer) => read(&request.input, answer.as_ref()),
            Err(error) => PermissionAnswer::deny(format!(
                "The host could not be asked about the call: {}.",
                clause(&error.to_string())
            )),
        }
    }
}

/// Parses the answer to a request about a call with this input. An unreadable answer is a deny.
pub(crate) fn read(input: &JsonText, answer: Option<&JsonText>) -> PermissionAnswer {
    let parsed = answer.ok_or_else(|| "it is not an object".to_owned());
    match parsed.and_then(|answer| read_permission_answer(input, answer)) {
        Ok(parsed) => {
            if let Some(problem) = parsed.unread_updates {
                tracing::warn!(problem, "the permission updates of an answer are not understood, so none is applied");
            }
            parsed.answer
        }
        Err(reason) => PermissionAnswer::deny(format!("The host's answer was not understood ({reason}).")),
    }
}

#[cfg(test)]
mod tests;
