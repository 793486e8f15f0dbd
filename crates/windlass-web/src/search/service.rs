//! Common parts of services over HTTP.

use std::time::Duration;

use serde::de::DeserializeOwned;
use windlass_http::{HttpClient, HttpError, HttpOptions, Response};

use super::SearchError;

/// Maximum number of bytes of an answer.
const LARGEST: usize = 2 * 1024 * 1024;

/// Service and its client.
#[derive(Debug, Clone)]
pub(super) struct Service {
    pub(super) name: &'static str,
    /// Variable that usually holds the key.
    pub(super) variable: &'static str,
    pub(super) client: HttpClient,
}

impl Service {
    pub(super) fn new(
        (name, variable): (&'static str, &'static str),
        base_url: &str,
        mut options: HttpOptions,
    ) -> Result<Self, HttpError> {
        options.idle_timeout = options.idle_timeout.min(Duration::from_secs(30));
        Ok(Self { name, variable, client: HttpClient::new(base_url, options)? })
    }

    /// Reads the answer as data.
    pub(super) async fn read<T: DeserializeOwned>(&self, sent: Result<Response, HttpError>) -> Result<T, SearchError> {
        let service = self.name;
        let unreachable = |source| SearchError::Unreachable { service, source };
        let response = sent.map_err(unreachable)?;
        match response.status() {
            200 => {}
            401 | 403 => return Err(SearchError::Key { service, variable: self.variable }),
            402 | 429 | 432 | 433 => return Err(SearchError::Limit { service }),
            status => return Err(SearchError::Status { service, status }),
        }
        let text = response.text(LARGEST).await.map_err(unreachable)?;
        serde_json::from_str(&text).map_err(|source| SearchError::Unreadable { service, source })
    }
}
