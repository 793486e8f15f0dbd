//! Permission requests.

use super::failure::RequestFailure;
use serde::{Deserialize, Serialize};
use std::path::PathBuf;
use windlass_permission::CanUseTool;
use windlass_types::{
    AgentIdentity, AgentPath, Behavior, CallDigest, Decision, DecisionReason, JsonText, MatchedRule, PermissionAnswer,
    PermissionRequest, PermissionUpdate, RuleSource, ToolUse, ToolUseId,
};

#[derive(Deserialize)]
struct PermissionFields {
    tool_name: String,
    input: JsonText,
    #[serde(default)]
    tool_use_id: String,
    #[serde(default)]
    title: Option<String>,
    #[serde(default)]
    description: Option<String>,
    #[serde(default)]
    permission_suggestions: Option<Vec<JsonText>>,
    #[serde(default)]
    blocked_path: Option<PathBuf>,
    #[serde(default)]
    decision_reason: Option<String>,
    #[serde(default)]
    decision_reason_type: Option<String>,
    #[serde(default)]
    matched_ask_rule: Option<AskRuleField>,
    #[serde(default)]
    agent_id: Option<String>,
    #[serde(default)]
    suppress_always_allow_rule: bool,
    #[serde(default)]
    windlass_impact: Option<JsonText>,
}

#[derive(Deserialize)]
struct AskRuleField {
    #[serde(default)]
    source: Option<JsonText>,
    #[serde(default)]
    rule_content: Option<String>,
}

/// An answer in the format of the protocol.
#[derive(Serialize)]
#[serde(tag = "behavior", rename_all = "lowercase", rename_all_fields = "camelCase")]
pub(super) enum PermissionWire<'a> {
    Allow {
        #[serde(skip_serializing_if = "Option::is_none")]
        updated_input: Option<&'a JsonText>,
        #[serde(skip_serializing_if = "<[_]>::is_empty")]
        updated_permissions: &'a [PermissionUpdate],
    },
    Deny {
        message: &'a str,
        interrupt: bool,
    },
}

/// Passes a request to the host's callback.
pub(super) async fn answer(callback: &dyn CanUseTool, id: &str, body: &JsonText) -> Result<JsonText, RequestFailure> {
    let fields: PermissionFields = body.to()?;
    let input = fields.input.clone();
    let answer = callback.can_use_tool(fields.into_request(id)).await;
    Ok(JsonText::of(&PermissionWire::new(&answer, Some(&input)))?)
}

impl<'a> PermissionWire<'a> {
    /// Converts an answer. `input` is repeated in an answer that does not change it, for sides that require it.
    pub(super) fn new(answer: &'a PermissionAnswer, input: Option<&'a JsonText>) -> Self {
        match answer {
            PermissionAnswer::Allow { updated_input, updates } => {
                Self::Allow { updated_input: updated_input.as_ref().or(input), updated_permissions: updates }
            }
            PermissionAnswer::Deny { message, interrupt } => Self::Deny { message, interrupt: *interrupt },
            // A kind of answer that this version does not know.
            _ => Self::Deny { message: "The host's answer cannot be passed on.", interrupt: false },
        }
    }
}

impl PermissionFields {
    fn into_request(self, id: &str) -> PermissionRequest {
        let reason = match self.decision_reason_type.as_deref() {
            Some("hook") => DecisionReason::Hook,
            Some("rule") => DecisionReason::Rule,
            Some("safetyCheck") => DecisionReason::Protected,
            Some("workingDir") => DecisionReason::WorkingDirectory,
            Some("mode") => DecisionReason::Mode,
            Some("sandboxOverride") => DecisionReason::Sandbox,
            _ => DecisionReason::Default,
        };
        let mut decision = Decision::new(Behavior::Ask, reason, self.decision_reason.unwrap_or_default());
        decision.protected |= self.suppress_always_allow_rule;
        decision.blocked_path = self.blocked_path;
        // Unknown suggestions are left out, because an answer could not contain them.
        let suggestions = self.permission_suggestions.unwrap_or_default();
        decision.suggestions = suggestions.iter().filter_map(|suggestion| suggestion.to().ok()).collect();
        decision.rule = self.matched_ask_rule.map(|rule| {
            let source = rule.source.and_then(|source| source.to().ok()).unwrap_or(RuleSource::Session);
            MatchedRule::new(rule.rule_content.unwrap_or_default(), Behavior::Ask, source)
        });
        let title = self.title.or(self.description).unwrap_or_else(|| self.tool_name.clone());
        let call = ToolUse::new(self.tool_use_id, self.tool_name, self.input);
        let mut request = PermissionRequest::new(call, title, decision, CallDigest::new(id));
        // Facts in an unknown form are left out, because no decision depends on them.
        request.impact = self.windlass_impact.and_then(|impact| impact.to().ok());
        if let Some(agent) = self.agent_id {
            request.agent = AgentPath::default().child(ToolUseId::from(agent.clone()));
            request.identity = Some(AgentIdentity::new(agent.into(), String::new()));
        }
        request
    }
}
