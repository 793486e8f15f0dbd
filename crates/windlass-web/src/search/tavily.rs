//! Tavily, `https://api.tavily.com`.

use async_trait::async_trait;
use serde::{Deserialize, Serialize};
use windlass_http::{Bytes, HeaderMap, HeaderValue, HttpError, HttpOptions, Secret};

use super::service::Service;
use super::{SearchBackend, SearchError, SearchHit, SearchQuery};

const BASE_URL: &str = "https://api.tavily.com";

/// Tavily, with a key of your own.
#[derive(Debug, Clone)]
pub struct TavilySearch {
    service: Service,
    headers: HeaderMap,
}

#[derive(Serialize)]
struct TavilyBody<'a> {
    query: &'a str,
    max_results: usize,
    #[serde(skip_serializing_if = "<[_]>::is_empty")]
    include_domains: &'a [String],
    #[serde(skip_serializing_if = "<[_]>::is_empty")]
    exclude_domains: &'a [String],
}

#[derive(Deserialize)]
struct TavilyAnswer {
    #[serde(default)]
    results: Vec<TavilyPage>,
}

#[derive(Deserialize)]
struct TavilyPage {
    title: String,
    url: String,
    content: Option<String>,
}

impl TavilySearch {
    /// Creates a Tavily client with this key, which `TAVILY_API_KEY` usually holds.
    ///
    /// # Errors
    /// Fails if no header can carry the key, or the connection cannot be set up.
    pub fn new(key: impl AsRef<str>, options: HttpOptions) -> Result<Self, HttpError> {
        Self::at(BASE_URL, key, options)
    }

    /// Creates a client of the same service at another address.
    ///
    /// # Errors
    /// The errors of [`new`](Self::new), and an address that is not http or https.
    pub fn at(base_url: &str, key: impl AsRef<str>, options: HttpOptions) -> Result<Self, HttpError> {
        let mut headers = HeaderMap::new();
        headers.insert("authorization", Secret::new(key).header("Bearer ")?);
        headers.insert("content-type", HeaderValue::from_static("application/json"));
        Ok(Self { service: Service::new(("Tavily", "TAVILY_API_KEY"), base_url, options)?, headers })
    }
}

#[async_trait]
impl SearchBackend for TavilySearch {
    fn name(&self) -> &str {
        self.service.name
    }

    async fn search(&self, query: &SearchQuery) -> Result<Vec<SearchHit>, SearchError> {
        let body = TavilyBody {
            query: &query.text,
            max_results: query.limit.clamp(1, 20),
            include_domains: &query.allowed_domains,
            exclude_domains: &query.blocked_domains,
        };
        let unreadable = |source| SearchError::Unreadable { service: self.service.name, source };
        let body = Bytes::from(serde_json::to_vec(&body).map_err(unreadable)?);
        let sent = self.service.client.post("/search", self.headers.clone(), body).await;
        let answer: TavilyAnswer = self.service.read(sent).await?;
        let hit = |page: TavilyPage| SearchHit { title: page.title, url: page.url, snippet: page.content };
        Ok(answer.results.into_iter().map(hit).collect())
    }
}
