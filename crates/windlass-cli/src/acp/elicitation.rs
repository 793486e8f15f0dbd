//! Questions of MCP servers for the person at the editor.

use async_trait::async_trait;
use std::sync::atomic::{AtomicU64, Ordering};
use windlass::mcp::{Elicitation, ElicitationAnswer, ElicitationKind, ElicitationRequest};
use windlass_acp::{AcpClient, AcpElicitation, AcpElicitationAnswer, AcpElicitationKind};

/// Way for questions of servers to the editor of one session.
#[derive(Debug)]
pub(super) struct EditorElicitation {
    client: AcpClient,
    /// Number of pages that had no id.
    pages: AtomicU64,
}

impl EditorElicitation {
    /// The way to this client; `None` if it can show neither forms nor pages.
    pub(super) fn of(client: &AcpClient) -> Option<Self> {
        let can_ask = client.shows_forms() || client.opens_pages();
        can_ask.then(|| Self { client: client.clone(), pages: AtomicU64::new(0) })
    }
}

#[async_trait]
impl Elicitation for EditorElicitation {
    async fn elicit(&self, request: ElicitationRequest) -> ElicitationAnswer {
        let kind = match request.kind {
            ElicitationKind::Form { schema } => AcpElicitationKind::Form { schema },
            ElicitationKind::Url { url, id } if id.is_empty() => {
                let id = format!("page-{}", self.pages.fetch_add(1, Ordering::Relaxed));
                AcpElicitationKind::Url { url, id }
            }
            ElicitationKind::Url { url, id } => AcpElicitationKind::Url { url, id },
            _ => return ElicitationAnswer::Decline,
        };
        let message = format!("The MCP server {:?} asks: {}", request.server, request.message);
        match self.client.elicit(AcpElicitation::new(message, kind)).await {
            AcpElicitationAnswer::Accept(content) => ElicitationAnswer::Accept(content),
            AcpElicitationAnswer::Cancel => ElicitationAnswer::Cancel,
            _ => ElicitationAnswer::Decline,
        }
    }
}
