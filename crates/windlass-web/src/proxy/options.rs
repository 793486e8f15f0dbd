//! Options of a proxy.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use windlass_permission::network::Target;
use windlass_tool::{Ids, SystemIds};

use super::EgressEvent;
use crate::{Network, SystemNetwork};

pub(super) type EventSink = Arc<dyn Fn(&EgressEvent) + Send + Sync>;

/// Decides on targets that no entry of the policy names.
///
/// ```
/// use windlass_permission::network::Target;
/// use windlass_web::proxy::AskTarget;
///
/// /// Lets programs reach whatever is encrypted.
/// struct Encrypted;
///
/// #[async_trait::async_trait]
/// impl AskTarget for Encrypted {
///     async fn may_reach(&self, target: &Target) -> bool {
///         target.port() == 443
///     }
/// }
/// ```
#[async_trait]
pub trait AskTarget: Send + Sync + 'static {
    /// Returns `true` if the public addresses of the target may be dialled this time. The future is dropped when the
    /// requesting program gives up.
    async fn may_reach(&self, target: &Target) -> bool;
}

/// Bounds of an [`EgressProxy`](super::EgressProxy), and the ports that it uses.
#[derive(Clone)]
#[non_exhaustive]
pub struct EgressOptions {
    /// Maximum number of concurrent connections; further ones wait. Default: 128.
    pub max_connections: usize,
    /// Maximum number of bytes of the head of a request, at least 8 KiB. Default: 64 KiB.
    pub max_head_bytes: usize,
    /// Maximum time for the head of a request, and between two requests on one connection. Default: 10 s.
    pub head_timeout: Duration,
    /// Maximum time to look a name up and to connect, over all its addresses. Default: 30 s.
    pub connect_timeout: Duration,
    /// Maximum time in which no byte passes in either direction. Default: 600 s.
    pub idle_timeout: Duration,
    /// Name resolution and connections. Default: those of this machine.
    pub network: Arc<dyn Network>,
    /// Source of the token's random bits. Default: randomness of the operating system.
    pub ids: Arc<dyn Ids>,
    /// Decider on targets that no entry names. Default: `None`, they are refused.
    pub ask: Option<Arc<dyn AskTarget>>,
    pub(super) on_event: Option<EventSink>,
}

impl Default for EgressOptions {
    fn default() -> Self {
        Self {
            max_connections: 128,
            max_head_bytes: 64 * 1024,
            head_timeout: Duration::from_secs(10),
            connect_timeout: Duration::from_secs(30),
            idle_timeout: Duration::from_secs(600),
            network: Arc::new(SystemNetwork),
            ids: Arc::new(SystemIds::default()),
            ask: None,
            on_event: None,
        }
    }
}

impl EgressOptions {
    /// Sets a function that receives every decision. It is called on the tasks of the proxy and must not block.
    #[must_use]
    pub fn on_event(mut self, sink: impl Fn(&EgressEvent) + Send + Sync + 'static) -> Self {
        self.on_event = Some(Arc::new(sink));
        self
    }

    /// Sets the name resolution and connections.
    #[must_use]
    pub fn with_network(mut self, network: impl Network) -> Self {
        self.network = Arc::new(network);
        self
    }

    /// Sets the decider on targets that no entry names.
    #[must_use]
    pub fn with_ask(mut self, ask: impl AskTarget) -> Self {
        self.ask = Some(Arc::new(ask));
        self
    }
}

impl fmt::Debug for EgressOptions {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("EgressOptions")
            .field("max_connections", &self.max_connections)
            .field("max_head_bytes", &self.max_head_bytes)
            .field("idle_timeout", &self.idle_timeout)
            .finish_non_exhaustive()
    }
}
