//! Changes of a server's tools, prompts and resources while clients are connected.

use rmcp::model::{ErrorData, ResourceUpdatedNotificationParam};
use rmcp::service::{Peer, RoleServer, SubscriptionContext};
use std::collections::BTreeSet;
use std::sync::{Arc, Mutex, PoisonError};
use tokio::sync::broadcast::{self, Receiver, Sender, error::RecvError};

/// Maximum number of changes that a client has not taken. Beyond it, the client is informed that all lists have
/// changed.
const MOST_WAITING: usize = 64;
/// Maximum number of resources that a client of an older revision may watch.
const MOST_WATCHED: usize = 256;

/// Sender of changes to clients. Cheap to clone.
///
/// ```
/// use windlass_mcp_server::McpServer;
///
/// let mut server = McpServer::new("notes", "1.0");
/// let changes = server.changes();
/// changes.resource("notes://today");
/// ```
#[derive(Debug, Clone)]
pub struct ServedChanges(Sender<OfferChange>);

#[derive(Debug, Clone)]
pub(crate) enum OfferChange {
    Tools,
    Prompts,
    Resources,
    Resource(String),
}

impl ServedChanges {
    pub(crate) fn new() -> Self {
        Self(broadcast::channel(MOST_WAITING).0)
    }

    /// Reports a change of the list of tools.
    pub fn tools(&self) {
        self.send(OfferChange::Tools);
    }

    /// Reports a change of the list of prompts.
    pub fn prompts(&self) {
        self.send(OfferChange::Prompts);
    }

    /// Reports a change of the list of resources or of templates.
    pub fn resources(&self) {
        self.send(OfferChange::Resources);
    }

    /// Reports a change of the resource at this address. Clients that watch it are informed.
    pub fn resource(&self, uri: impl Into<String>) {
        self.send(OfferChange::Resource(uri.into()));
    }

    fn send(&self, change: OfferChange) {
        // There may be no receiver.
        let _ = self.0.send(change);
    }

    pub(crate) fn listen(&self) -> Receiver<OfferChange> {
        self.0.subscribe()
    }
}

/// Resources that a client of an older revision watches.
#[derive(Default)]
pub(crate) struct LegacyWatches(Mutex<BTreeSet<String>>);

impl LegacyWatches {
    pub(crate) fn add(&self, uri: String) -> Result<(), ErrorData> {
        let mut watched = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if watched.len() >= MOST_WATCHED && !watched.contains(&uri) {
            return Err(ErrorData::invalid_params(format!("{MOST_WATCHED} resources are watched already"), None));
        }
        watched.insert(uri);
        Ok(())
    }

    pub(crate) fn remove(&self, uri: &str) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).remove(uri);
    }

    fn contains(&self, uri: &str) -> bool {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).contains(uri)
    }
}

/// Forwards changes to a client of an older revision until it disconnects.
pub(crate) async fn forward(mut changes: Receiver<OfferChange>, peer: Peer<RoleServer>, watched: Arc<LegacyWatches>) {
    while let Some(batch) = next(&mut changes).await {
        for change in batch {
            let sent = match change {
                OfferChange::Tools => peer.notify_tool_list_changed().await,
                OfferChange::Prompts => peer.notify_prompt_list_changed().await,
                OfferChange::Resources => peer.notify_resource_list_changed().await,
                OfferChange::Resource(uri) if watched.contains(&uri) => {
                    peer.notify_resource_updated(ResourceUpdatedNotificationParam::new(uri)).await
                }
                OfferChange::Resource(_) => Ok(()),
            };
            if sent.is_err() {
                return;
            }
        }
    }
}

/// Forwards changes to a client that subscribes to some of them.
pub(crate) async fn tell(mut changes: Receiver<OfferChange>, context: SubscriptionContext) {
    loop {
        let batch = tokio::select! {
            () = context.cancelled() => return,
            batch = next(&mut changes) => batch,
        };
        let Some(batch) = batch else { return };
        for change in batch {
            let sink = context.sink();
            // The sink refuses changes without a subscription, and a disconnected client cancels.
            let sent = match change {
                OfferChange::Tools => sink.notify_tool_list_changed().await,
                OfferChange::Prompts => sink.notify_prompt_list_changed().await,
                OfferChange::Resources => sink.notify_resource_list_changed().await,
                OfferChange::Resource(uri) => sink.notify_resource_updated(uri).await,
            };
            if let Err(error) = sent {
                tracing::debug!(%error, "a change was not told to an MCP client");
            }
        }
    }
}

async fn next(changes: &mut Receiver<OfferChange>) -> Option<Vec<OfferChange>> {
    match changes.recv().await {
        Ok(change) => Some(vec![change]),
        Err(RecvError::Lagged(_)) => Some(vec![OfferChange::Tools, OfferChange::Prompts, OfferChange::Resources]),
        Err(RecvError::Closed) => None,
    }
}
