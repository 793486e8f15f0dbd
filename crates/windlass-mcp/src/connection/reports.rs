//! Subscription to reports of changes.

use super::Connection;
use crate::listener::ServerNotifications;
use futures_util::FutureExt;
use rmcp::model::{ServerNotification, SubscriptionFilter};
use rmcp::service::{Peer, RoleClient, ServiceError, Subscription};
use serde_json::json;
use std::collections::BTreeSet;
use std::future::Future;
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::watch;
use tokio::time::sleep;

/// Pause before a server is asked again: the first pause, doubled after each further attempt, and the longest pause.
const FIRST_PAUSE: Duration = Duration::from_secs(1);
const MAX_PAUSE: Duration = Duration::from_secs(60);
/// Maximum time for a server to accept a subscription.
const SUBSCRIBING: Duration = Duration::from_secs(5);

impl Connection {
    /// Subscribes to changes of a resource, if the server supports that and the resource is not watched yet.
    pub(crate) async fn watch(&self, uri: &str) {
        if !self.introduction.reports_resources || !self.heard.watched.add(uri) || self.introduction.reports.is_some() {
            return;
        }
        if let Err(error) = self.request("resources/subscribe", json!({ "uri": uri }), SUBSCRIBING).await {
            tracing::debug!(server = self.server, %error, "changes of a resource of an MCP server are not reported");
            self.heard.watched.remove(uri);
        }
    }

    /// Ends the subscription to a resource.
    pub(crate) async fn unwatch(&self, uri: &str) {
        if self.introduction.reports.is_none()
            && let Err(error) = self.request("resources/unsubscribe", json!({ "uri": uri }), SUBSCRIBING).await
        {
            // Further reports are ignored.
            tracing::debug!(server = self.server, %error, "an MCP server goes on to report changes of a resource");
        }
    }

    /// Subscribes to changes for as long as the connection lasts, and passes the reports on. Does not keep the
    /// connection alive.
    pub(crate) fn follow(&self) -> impl Future<Output = ()> + Send + use<> {
        let (peer, heard, wanted) = (self.peer.clone(), Arc::clone(&self.heard), self.introduction.reports.clone());
        async move {
            if let Some(wanted) = wanted {
                follow(&peer, &heard, &wanted).await;
            }
        }
    }
}

async fn follow(peer: &Peer<RoleClient>, heard: &ServerNotifications, wanted: &SubscriptionFilter) {
    let mut pause = FIRST_PAUSE;
    let mut is_first = true;
    let mut watched = heard.watched.subscribe();
    // Kept until the subscription that replaces it is acknowledged, so that no report is missed in between.
    let mut before: Option<Subscription> = None;
    while !peer.is_transport_closed() {
        let resources = watched.borrow_and_update().clone();
        let wanted = with_resources(wanted, &resources);
        if wanted == SubscriptionFilter::new() {
            // Nothing to subscribe to yet.
            if watched.changed().await.is_err() {
                return;
            }
            continue;
        }
        match peer.listen(wanted).await {
            Ok(mut reports) => {
                match before.take() {
                    Some(mut before) => {
                        while let Some(Ok(Some(report))) = before.next().now_or_never() {
                            take(report, heard);
                        }
                    }
                    // Changes may have been missed while nothing was reported.
                    None if !is_first => heard.tools_changed.notify_one(),
                    None => {}
                }
                is_first = false;
                if pass_on(&mut reports, heard, (&mut watched, &resources), &mut pause).await {
                    before = Some(reports);
                    continue;
                }
            }
            // The server does not know the request, and will not know it later.
            Err(ServiceError::McpError(_) | ServiceError::TransportClosed) => return,
            Err(error) => tracing::debug!(%error, "an MCP server does not report changes"),
        }
        sleep(pause).await;
        pause = pause.saturating_mul(2).min(MAX_PAUSE);
    }
}

fn with_resources(wanted: &SubscriptionFilter, resources: &BTreeSet<String>) -> SubscriptionFilter {
    let mut wanted = wanted.clone();
    wanted.resource_subscriptions = (!resources.is_empty()).then(|| resources.iter().cloned().collect());
    wanted
}

/// Passes reports on. Returns `false` at the end of the reports, `true` once a watched resource is not among them.
async fn pass_on(
    reports: &mut Subscription,
    heard: &ServerNotifications,
    (watched, resources): (&mut watch::Receiver<BTreeSet<String>>, &BTreeSet<String>),
    pause: &mut Duration,
) -> bool {
    loop {
        tokio::select! {
            biased;
            report = reports.next() => match report {
                Ok(Some(report)) => {
                    *pause = FIRST_PAUSE;
                    take(report, heard);
                }
                _ => return false,
            },
            Ok(()) = watched.changed() => {
                // Resources that are no longer watched may still be reported; such reports are ignored.
                if !watched.borrow_and_update().is_subset(resources) {
                    return true;
                }
            }
        }
    }
}

fn take(report: ServerNotification, heard: &ServerNotifications) {
    match report {
        ServerNotification::ToolListChangedNotification(_) => heard.tools_changed.notify_one(),
        ServerNotification::ResourceUpdatedNotification(updated) => heard.watched.changed(updated.params.uri),
        _ => {}
    }
}
