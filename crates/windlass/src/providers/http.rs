//! Connections of providers to their vendors.

use std::sync::Arc;
use windlass_http::provider::RefreshingCredentials;
use windlass_http::{HttpOptions, HttpTransport};

/// Parts of providers that do not come from variables.
#[derive(Clone, Default)]
pub(crate) struct Connection {
    /// Transport of all providers.
    transport: Option<Arc<dyn HttpTransport>>,
    /// Source of keys for the Anthropic API, if no variable holds one.
    key: Option<RefreshingCredentials>,
}

impl Connection {
    /// Connection with a source of keys for the Anthropic API.
    pub(crate) fn keyed(key: Option<RefreshingCredentials>) -> Self {
        Self { transport: None, key }
    }

    /// Connection over this transport.
    pub(super) fn over(transport: impl HttpTransport) -> Self {
        Self { transport: Some(Arc::new(transport)), key: None }
    }

    /// Source of keys for the Anthropic API.
    pub(super) fn key(&self) -> Option<RefreshingCredentials> {
        self.key.clone()
    }

    /// Puts the transport into the options of a builder.
    pub(super) fn options(&self) -> impl Fn(&mut HttpOptions) + Clone + Send + Sync + use<> {
        let transport = self.transport.clone();
        move |options| options.transport.clone_from(&transport)
    }
}
