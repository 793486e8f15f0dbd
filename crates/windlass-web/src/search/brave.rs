//! Brave Search, `https://api.search.brave.com`.

use async_trait::async_trait;
use serde::Deserialize;
use url::form_urlencoded::Serializer;
use windlass_http::{HeaderMap, HttpError, HttpOptions, Secret};

use super::service::Service;
use super::{SearchBackend, SearchError, SearchHit, SearchQuery};

const BASE_URL: &str = "https://api.search.brave.com";

/// Brave Search, with a key of your own. Domains become `site:` operators in the search terms.
#[derive(Debug, Clone)]
pub struct BraveSearch {
    service: Service,
    headers: HeaderMap,
}

#[derive(Deserialize)]
struct BraveAnswer {
    web: Option<Web>,
}

#[derive(Deserialize)]
struct Web {
    #[serde(default)]
    results: Vec<BravePage>,
}

#[derive(Deserialize)]
struct BravePage {
    title: String,
    url: String,
    description: Option<String>,
}

impl BraveSearch {
    /// Creates a Brave Search client with this key, which `BRAVE_API_KEY` usually holds.
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
        headers.insert("x-subscription-token", Secret::new(key).header("")?);
        Ok(Self { service: Service::new(("Brave Search", "BRAVE_API_KEY"), base_url, options)?, headers })
    }
}

/// Returns the search terms, with the domains as operators.
fn words(query: &SearchQuery) -> String {
    let sites: Vec<String> = query.allowed_domains.iter().map(|domain| format!("site:{domain}")).collect();
    let mut words = query.text.clone();
    match sites.as_slice() {
        [] => {}
        [one] => words.push_str(&format!(" {one}")),
        more => words.push_str(&format!(" ({})", more.join(" OR "))),
    }
    for domain in &query.blocked_domains {
        words.push_str(&format!(" -site:{domain}"));
    }
    words
}

fn path(query: &SearchQuery) -> String {
    let count = query.limit.clamp(1, 20).to_string();
    let mut form = Serializer::new(String::new());
    form.append_pair("q", &words(query)).append_pair("count", &count).append_pair("text_decorations", "false");
    format!("/res/v1/web/search?{}", form.finish())
}

#[async_trait]
impl SearchBackend for BraveSearch {
    fn name(&self) -> &str {
        self.service.name
    }

    async fn search(&self, query: &SearchQuery) -> Result<Vec<SearchHit>, SearchError> {
        let path = path(query);
        let answer: BraveAnswer = self.service.read(self.service.client.get(&path, self.headers.clone()).await).await?;
        let pages = answer.web.map(|web| web.results).unwrap_or_default();
        let hit = |page: BravePage| SearchHit { title: page.title, url: page.url, snippet: page.description };
        Ok(pages.into_iter().map(hit).collect())
    }
}
