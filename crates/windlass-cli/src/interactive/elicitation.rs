//! Questions of MCP servers for the person at the terminal.

use async_trait::async_trait;
use windlass::mcp::{Elicitation, ElicitationAnswer, ElicitationKind, ElicitationRequest};
use windlass_terminal::app::ProgramLink;
use windlass_terminal::dialog::{ElicitationQuestion, ElicitationReply, ElicitationSubject};

/// The person at the terminal as the one who answers questions of servers.
#[derive(Debug)]
pub(super) struct TerminalElicitation(pub(super) ProgramLink);

#[async_trait]
impl Elicitation for TerminalElicitation {
    async fn elicit(&self, request: ElicitationRequest) -> ElicitationAnswer {
        let subject = match request.kind {
            ElicitationKind::Form { schema } => ElicitationSubject::Form(schema),
            ElicitationKind::Url { url, .. } => ElicitationSubject::Page(url),
            _ => return ElicitationAnswer::Decline,
        };
        match self.0.ask(ElicitationQuestion::new(request.server, request.message, subject)).await {
            ElicitationReply::Accept(values) => ElicitationAnswer::Accept(values),
            ElicitationReply::Decline => ElicitationAnswer::Decline,
            _ => ElicitationAnswer::Cancel,
        }
    }
}
