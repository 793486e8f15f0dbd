//! Review of MCP elicitations by the hooks of a session.

use async_trait::async_trait;
use windlass_mcp::{ElicitationAnswer, ElicitationKind, ElicitationRequest, ElicitationReview, McpServers};
use windlass_runtime::SessionHandle;
use windlass_types::hook::event::{ElicitationEvent, ElicitationResultEvent};
use windlass_types::hook::{ElicitationChoice, ElicitationReply};

/// Hooks of an open session, as a review of elicitations.
struct OfSession(SessionHandle);

/// Passes the elicitations of the servers to the hooks of the session.
pub(crate) fn review(servers: &McpServers, session: &SessionHandle) {
    servers.review_elicitations(std::sync::Arc::new(OfSession(session.weak())));
}

#[async_trait]
impl ElicitationReview for OfSession {
    async fn asked(&self, request: &ElicitationRequest) -> Option<ElicitationAnswer> {
        let (mode, url, elicitation_id) = parts(&request.kind);
        let requested_schema = match &request.kind {
            ElicitationKind::Form { schema } => Some(schema.clone()),
            _ => None,
        };
        let (mcp_server_name, message) = (request.server.clone(), request.message.clone());
        let event = ElicitationEvent { mcp_server_name, message, mode, url, elicitation_id, requested_schema };
        let outcome = self.0.ask_hooks(event).await.ok()?;
        outcome.elicitation.map(answer)
    }

    async fn answered(&self, request: &ElicitationRequest, given: ElicitationAnswer) -> ElicitationAnswer {
        let (mode, _, elicitation_id) = parts(&request.kind);
        let ElicitationReply { action, content } = reply(&given);
        let mcp_server_name = request.server.clone();
        let result = ElicitationResultEvent { mcp_server_name, elicitation_id, mode, action, content };
        let outcome = self.0.ask_hooks(result).await;
        outcome.ok().and_then(|outcome| outcome.elicitation).map_or(given, answer)
    }

    fn has_ended(&self) -> bool {
        self.0.has_ended()
    }
}

/// Mode, URL and id of an elicitation.
fn parts(kind: &ElicitationKind) -> (Option<String>, Option<String>, Option<String>) {
    match kind {
        ElicitationKind::Form { .. } => (Some("form".to_owned()), None, None),
        ElicitationKind::Url { url, id } => {
            (Some("url".to_owned()), Some(url.clone()), Some(id.clone()).filter(|id| !id.is_empty()))
        }
        _ => (None, None, None),
    }
}

fn answer(reply: ElicitationReply) -> ElicitationAnswer {
    match reply.action {
        ElicitationChoice::Accept => ElicitationAnswer::Accept(reply.content),
        ElicitationChoice::Decline => ElicitationAnswer::Decline,
        ElicitationChoice::Cancel => ElicitationAnswer::Cancel,
    }
}

fn reply(answer: &ElicitationAnswer) -> ElicitationReply {
    match answer {
        ElicitationAnswer::Accept(content) => {
            ElicitationReply { action: ElicitationChoice::Accept, content: content.clone() }
        }
        ElicitationAnswer::Decline => ElicitationReply::new(ElicitationChoice::Decline),
        _ => ElicitationReply::new(ElicitationChoice::Cancel),
    }
}
