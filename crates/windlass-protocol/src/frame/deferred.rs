//! Calls of a turn that wait for answers.

use serde::Serialize;
use windlass_types::{AgentIdentity, AgentPath, JsonText, PermissionRequest};

/// Maximum number of requests in a result that would otherwise be too long.
const MAX_REQUESTS: usize = 100;

/// Calls that wait for answers.
#[derive(Serialize)]
pub(super) struct Deferred<'a> {
    /// First waiting call: one of the main agent, if there is any. Other programs report only a single call.
    #[serde(rename = "deferred_tool_use", skip_serializing_if = "Option::is_none")]
    pub(super) tool_use: Option<DeferredCall<'a>>,
    /// All waiting calls, with the data that an external answer needs.
    #[serde(rename = "windlass_pending_questions", skip_serializing_if = "Vec::is_empty")]
    questions: Vec<DeferredQuestion<'a>>,
}

#[derive(Serialize)]
pub(super) struct DeferredCall<'a> {
    id: &'a str,
    name: &'a str,
    input: &'a JsonText,
}

#[derive(Serialize)]
struct DeferredQuestion<'a> {
    id: &'a str,
    tool_use_id: &'a str,
    tool_name: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    title: Option<&'a str>,
    /// Absent if it was given when the request was first sent.
    #[serde(skip_serializing_if = "Option::is_none")]
    token: Option<&'a str>,
    /// Tool uses that lead to the asking agent. Absent for the main one.
    #[serde(skip_serializing_if = "AgentPath::is_main")]
    agent_path: &'a AgentPath,
    #[serde(flatten)]
    identity: Option<&'a AgentIdentity>,
}

impl<'a> Deferred<'a> {
    pub(super) fn of(questions: &'a [PermissionRequest]) -> Self {
        let first_question = questions.iter().find(|question| question.agent.is_main()).or(questions.first());
        let tool_use = first_question.map(|question| DeferredCall {
            id: question.tool_use_id.as_str(),
            name: &question.tool,
            input: &question.input,
        });
        let questions = questions.iter().map(|question| DeferredQuestion {
            id: question.id.as_str(),
            tool_use_id: question.tool_use_id.as_str(),
            tool_name: &question.tool,
            title: Some(&question.title),
            token: question.token.as_ref().map(|token| token.reveal()),
            agent_path: &question.agent,
            identity: question.identity.as_ref(),
        });
        Self { tool_use, questions: questions.collect() }
    }

    /// Removes the fields that may be long.
    pub(super) fn shorten(&mut self) {
        self.questions.truncate(MAX_REQUESTS);
        self.questions.iter_mut().for_each(|question| question.title = None);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::{Value, json};
    use windlass_types::{Behavior, CallDigest, Decision, DecisionReason, ToolUse};

    fn question(call: &str) -> PermissionRequest {
        let decision = Decision::new(Behavior::Ask, DecisionReason::Default, "?");
        let call = ToolUse::new(call, "Bash", JsonText::empty_object());
        PermissionRequest::new(call, "ls".to_owned(), decision, CallDigest::new("d"))
    }

    fn of_agent(call: &str) -> PermissionRequest {
        let mut question = question(call);
        question.agent = AgentPath::default().child("t1".into()).child("t2".into());
        question.identity = Some(AgentIdentity::new("a2".into(), "scout"));
        question
    }

    fn frame(questions: &[PermissionRequest]) -> Value {
        serde_json::to_value(Deferred::of(questions)).unwrap()
    }

    #[test]
    fn questions_of_agents_say_who_asks_and_the_main_agent_comes_first() {
        let plain = json!({ "id": "c", "tool_use_id": "c", "tool_name": "Bash", "title": "ls" });
        let mut below = json!({ "id": "b", "tool_use_id": "b", "tool_name": "Bash", "title": "ls" });
        below["agent_path"] = json!(["t1", "t2"]);
        (below["agent_id"], below["agent_type"]) = (json!("a2"), json!("scout"));
        let both = frame(&[of_agent("b"), question("c")]);
        assert_eq!(both["windlass_pending_questions"], json!([below, plain]));
        assert_eq!(both["deferred_tool_use"]["id"], "c");
        assert_eq!(frame(&[of_agent("b")])["deferred_tool_use"]["id"], "b");
    }
}
