//! Questions about tool calls, put to the host.

use super::requests::{Asker, Requests};
use super::told::Told;
use crate::answer::read_permission_answer;
use crate::mapper::reason_type;
use async_trait::async_trait;
use serde::Serialize;
use std::fmt;
use std::sync::Arc;
use tokio::sync::watch;
use windlass_permission::CanUseTool;
use windlass_types::text::clause;
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
            Err(error) => PermissionAnswer::deny(format!(
                "The host could not be asked about the call: {}.",
                clause(&error.to_string())
            )),
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

/// Reads what was answered to a question about a call with this input. What is
/// not understood is a deny.
pub(crate) fn read(input: &JsonText, answer: Option<&JsonText>) -> PermissionAnswer {
    let read = answer.ok_or_else(|| "it is not an object".to_owned());
    match read.and_then(|answer| read_permission_answer(input, answer)) {
        Ok(read) => {
            if let Some(problem) = read.unread_updates {
                tracing::warn!(problem, "the permission updates of an answer are not understood, so none is applied");
            }
            read.answer
        }
        Err(why) => PermissionAnswer::deny(format!("The host's answer was not understood ({why}).")),
    }
}

#[cfg(test)]
mod tests;
