//! Questions about tool calls, put to the host.

use super::requests::{Asker, Requests};
use super::told::Told;
use crate::mapper::reason_type;
use crate::same::same_json;
use async_trait::async_trait;
use serde::{Deserialize, Serialize};
use std::fmt;
use std::sync::Arc;
use tokio::sync::watch;
use windlass_permission::CanUseTool;
use windlass_types::{JsonText, PermissionAnswer, PermissionRequest, PermissionUpdate};

/// The host as the one who answers questions about tool calls. Cheap to clone.
///
/// An error, an answer that is not understood and a host that is gone deny.
#[derive(Clone)]
pub struct HostPermissions {
    requests: Arc<Requests>,
    told: Arc<Told>,
    /// How many questions wait.
    asking: watch::Sender<usize>,
}

impl fmt::Debug for HostPermissions {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("HostPermissions").field("asking", &*self.asking.borrow()).finish_non_exhaustive()
    }
}

impl HostPermissions {
    pub(crate) fn new(requests: Arc<Requests>, told: Arc<Told>) -> Self {
        Self { requests, told, asking: watch::Sender::new(0) }
    }

    /// How many questions wait for the host.
    pub(crate) fn asking(&self) -> watch::Receiver<usize> {
        self.asking.subscribe()
    }
}

#[derive(Serialize)]
struct Question<'a> {
    subtype: &'static str,
    tool_name: &'a str,
    display_name: &'a str,
    input: &'a JsonText,
    tool_use_id: &'a str,
    title: &'a str,
    description: &'a str,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    permission_suggestions: Vec<&'a PermissionUpdate>,
    #[serde(skip_serializing_if = "Option::is_none")]
    blocked_path: Option<String>,
    decision_reason: &'a str,
    decision_reason_type: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    matched_ask_rule: Option<AskRule<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    agent_id: Option<&'a str>,
    /// Whether an answer holds for this call alone.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    suppress_always_allow_rule: bool,
}

#[derive(Serialize)]
struct AskRule<'a> {
    source: windlass_types::RuleSource,
    tool_name: &'a str,
    rule_content: &'a str,
}

impl<'a> Question<'a> {
    fn new(request: &'a PermissionRequest) -> Self {
        let decision = &request.decision;
        Self {
            subtype: "can_use_tool",
            tool_name: &request.tool,
            display_name: &request.tool,
            input: &request.input,
            tool_use_id: request.tool_use_id.as_str(),
            title: &request.title,
            description: &request.title,
            permission_suggestions: decision.suggestions.iter().collect(),
            blocked_path: decision.blocked_path.as_ref().map(|path| path.to_string_lossy().into_owned()),
            decision_reason: &decision.message,
            decision_reason_type: reason_type(decision.reason),
            matched_ask_rule: decision.rule.as_ref().map(|rule| AskRule {
                source: rule.source,
                tool_name: &request.tool,
                rule_content: &rule.rule,
            }),
            agent_id: request.identity.as_ref().map(|agent| agent.id.as_str()),
            suppress_always_allow_rule: decision.protected,
        }
    }
}

#[async_trait]
impl CanUseTool for HostPermissions {
    async fn can_use_tool(&self, request: PermissionRequest) -> PermissionAnswer {
        self.told.of(request.identity.as_ref(), &request.tool_use_id).await;
        let asker = request.identity.as_ref().map_or(Asker::Run, |agent| Asker::Agent(agent.id.clone()));
        let _counted = Counted::new(&self.asking);
        match self.requests.ask_for(asker, &Question::new(&request), None).await {
            Ok(answer) => read(&request.input, answer.as_ref()),
            Err(error) => PermissionAnswer::deny(format!("The host could not be asked about the call: {error}.")),
        }
    }
}

struct Counted<'a>(&'a watch::Sender<usize>);

impl<'a> Counted<'a> {
    fn new(asking: &'a watch::Sender<usize>) -> Self {
        asking.send_modify(|count| *count += 1);
        Self(asking)
    }
}

impl Drop for Counted<'_> {
    fn drop(&mut self) {
        self.0.send_modify(|count| *count = count.saturating_sub(1));
    }
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Said {
    behavior: String,
    #[serde(default)]
    updated_input: Option<JsonText>,
    #[serde(default)]
    updated_permissions: Option<JsonText>,
    #[serde(default)]
    message: Option<String>,
    #[serde(default)]
    interrupt: Option<bool>,
}

/// Reads what was answered to a question about a call with this input. What is
/// not understood is a deny.
pub(crate) fn read(input: &JsonText, answer: Option<&JsonText>) -> PermissionAnswer {
    let misread = |why: &str| PermissionAnswer::deny(format!("The host's answer was not understood ({why})."));
    let said: Said = match answer.filter(|answer| answer.is_object()).map(JsonText::to) {
        Some(Ok(said)) => said,
        Some(Err(error)) => return misread(&error.to_string()),
        None => return misread("it is not an object"),
    };
    match said.behavior.as_str() {
        "allow" => {
            let updated_input = said.updated_input.filter(|updated| !same_json(updated, input));
            if updated_input.as_ref().is_some_and(|input| !input.is_object()) {
                return misread("`updatedInput` is not an object");
            }
            let updates = said.updated_permissions.as_ref().map(updates).unwrap_or_default();
            PermissionAnswer::Allow { updated_input, updates }
        }
        "deny" => {
            let message = said.message.filter(|message| !message.is_empty());
            let message = message.unwrap_or_else(|| "The user refused this call.".to_owned());
            PermissionAnswer::Deny { message, interrupt: said.interrupt == Some(true) }
        }
        other => misread(&format!("unknown behavior {other:?}")),
    }
}

/// The changes that come with an answer: all of them, or none if one cannot be
/// understood, since that one may restrict the others.
fn updates(json: &JsonText) -> Vec<PermissionUpdate> {
    // A rule whose content is null is not one for the whole tool.
    #[derive(Deserialize)]
    struct Rules {
        #[serde(default)]
        rules: Vec<BTreeRule>,
    }
    type BTreeRule = std::collections::BTreeMap<String, Option<String>>;
    let vague = match json.to::<Vec<Rules>>() {
        Ok(all) => all.iter().flat_map(|update| &update.rules).any(|rule| rule.values().any(Option::is_none)),
        Err(_) => true,
    };
    match json.to::<Vec<PermissionUpdate>>() {
        Ok(updates) if !vague => updates,
        _ => {
            tracing::warn!("the permission updates of an answer are not understood, so none is applied");
            Vec::new()
        }
    }
}

#[cfg(test)]
mod tests;
