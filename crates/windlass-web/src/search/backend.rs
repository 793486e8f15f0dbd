//! Port to services that search the web.

use std::fmt;

use async_trait::async_trait;
use windlass_http::HttpError;

/// Searches the web.
///
/// Results may be outside the domains of the query: the tool leaves these out. A service that can filter should, so
/// that there are enough results.
///
/// ```
/// use windlass_web::search::{SearchBackend, SearchError, SearchHit, SearchQuery};
///
/// /// Knows one page.
/// #[derive(Debug)]
/// struct OnePage;
///
/// #[async_trait::async_trait]
/// impl SearchBackend for OnePage {
///     fn name(&self) -> &str {
///         "one page"
///     }
///
///     async fn search(&self, query: &SearchQuery) -> Result<Vec<SearchHit>, SearchError> {
///         let hit = SearchHit::new("Doors", "https://example.com/doors").with_snippet("How doors open.");
///         Ok(if query.text.contains("door") { vec![hit] } else { Vec::new() })
///     }
/// }
/// ```
#[async_trait]
pub trait SearchBackend: fmt::Debug + Send + Sync + 'static {
    /// Returns the name of the service, for messages.
    fn name(&self) -> &str;

    /// Returns the matching pages, the best first. Dropping the future ends the request.
    ///
    /// # Errors
    /// Fails if the service cannot be reached, or refuses.
    async fn search(&self, query: &SearchQuery) -> Result<Vec<SearchHit>, SearchError>;
}

/// Search query.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct SearchQuery {
    /// Search terms.
    pub text: String,
    /// Domains to which pages must belong, subdomains included. Empty: any.
    pub allowed_domains: Vec<String>,
    /// Domains to which pages must not belong, subdomains included.
    pub blocked_domains: Vec<String>,
    /// Maximum number of pages.
    pub limit: usize,
}

impl SearchQuery {
    /// Creates a query for ten pages of any domain.
    #[must_use]
    pub fn new(text: impl Into<String>) -> Self {
        Self { text: text.into(), limit: 10, ..Self::default() }
    }
}

/// Page that was found.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct SearchHit {
    /// Title, as the service gives it.
    pub title: String,
    /// Address of the page.
    pub url: String,
    /// Excerpt that the service shows.
    pub snippet: Option<String>,
}

impl SearchHit {
    /// Creates a page without an excerpt.
    #[must_use]
    pub fn new(title: impl Into<String>, url: impl Into<String>) -> Self {
        Self { title: title.into(), url: url.into(), snippet: None }
    }

    /// Adds the excerpt that the service shows.
    #[must_use]
    pub fn with_snippet(mut self, snippet: impl Into<String>) -> Self {
        self.snippet = Some(snippet.into());
        self
    }
}

/// Reason why there are no results. Shows no key.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum SearchError {
    /// The key is wrong, or may not search.
    #[error("{service} refuses the key: check {variable}")]
    Key {
        /// Name of the service.
        service: &'static str,
        /// Variable that usually holds the key.
        variable: &'static str,
    },
    /// There were too many searches, or more than were paid for.
    #[error("{service} takes no more searches at the moment")]
    Limit {
        /// Name of the service.
        service: &'static str,
    },
    /// The service answered with another failure.
    #[error("{service} answered with status {status}")]
    Status {
        /// Name of the service.
        service: &'static str,
        /// HTTP status.
        status: u16,
    },
    /// The answer is not in the form of the service.
    #[error("the answer of {service} cannot be read")]
    Unreadable {
        /// Name of the service.
        service: &'static str,
        /// Parse error of the answer.
        source: serde_json::Error,
    },
    /// There is no answer.
    #[error("{service} cannot be reached: {source}")]
    Unreachable {
        /// Name of the service.
        service: &'static str,
        /// Cause of the failure.
        source: HttpError,
    },
}
