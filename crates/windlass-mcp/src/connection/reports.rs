//! Reports of changes that a server sends only to those who ask for them.

use super::Connection;
use crate::listener::Heard;
use rmcp::model::{ServerNotification, SubscriptionFilter};
use rmcp::service::{Peer, RoleClient, ServiceError};
use std::future::Future;
use std::sync::Arc;
use std::time::Duration;
use tokio::time::sleep;

/// Before a server is asked again: this long after the first time, and twice as long after each further one.
const FIRST_PAUSE: Duration = Duration::from_secs(1);
const LONGEST_PAUSE: Duration = Duration::from_secs(60);

impl Connection {
    /// Asks for reports of changes as long as the connection lasts, and passes them on. Does not keep the connection.
    pub(crate) fn follow(&self) -> impl Future<Output = ()> + Send + use<> {
        let (peer, heard, wanted) = (self.peer.clone(), Arc::clone(&self.heard), self.introduction.reports.clone());
        async move {
            if let Some(wanted) = wanted {
                follow(&peer, &heard, &wanted).await;
            }
        }
    }
}

async fn follow(peer: &Peer<RoleClient>, heard: &Heard, wanted: &SubscriptionFilter) {
    let mut pause = FIRST_PAUSE;
    let mut is_first = true;
    while !peer.is_transport_closed() {
        match peer.listen(wanted.clone()).await {
            Ok(mut reports) => {
                if !std::mem::take(&mut is_first) {
                    // What changed while nothing was reported.
                    heard.tools_changed.notify_one();
                }
                while let Ok(Some(report)) = reports.next().await {
                    pause = FIRST_PAUSE;
                    if matches!(report, ServerNotification::ToolListChangedNotification(_)) {
                        heard.tools_changed.notify_one();
                    }
                }
            }
            // It does not know the request: it will not know it later.
            Err(ServiceError::McpError(_) | ServiceError::TransportClosed) => return,
            Err(error) => tracing::debug!(%error, "an MCP server does not report changes"),
        }
        sleep(pause).await;
        pause = pause.saturating_mul(2).min(LONGEST_PAUSE);
    }
}
