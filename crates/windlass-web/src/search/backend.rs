//! The port to services that search the web.

use std::fmt;

use async_trait::async_trait;
use windlass_http::HttpError;

/// Searches the web.
///
/// What it gives need not keep to the domains of the query: the tool leaves out what does not. A service that can filter
/// should, so that there are enough results.
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
    /// The name of the service, for messages.
    fn name(&self) -> &str;

    /// The pages that fit, the best first. Dropping the future ends the request.
    ///
    /// # Errors
    /// The service cannot be reached, or refuses.
    async fn search(&self, query: &SearchQuery) -> Result<Vec<SearchHit>, SearchError>;
}

/// What is searched for.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct SearchQuery {
    /// The words.
    pub text: String,
    /// Domains that pages must be of, with those below them. Empty: any.
    pub allowed_domains: Vec<String>,
    /// Domains that pages must not be of, with those below them.
    pub blocked_domains: Vec<String>,
    /// Most pages.
    pub limit: usize,
}

impl SearchQuery {
    /// Ten pages of any domain.
    #[must_use]
    pub fn new(text: impl Into<String>) -> Self {
        Self { text: text.into(), limit: 10, ..Self::default() }
    }
}

/// A page that was found.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct SearchHit {
    /// Its title, as the service gives it.
    pub title: String,
    /// Its address.
    pub url: String,
    /// What the service shows of it.
    pub snippet: Option<String>,
}

impl SearchHit {
    /// A page.
    #[must_use]
    pub fn new(title: impl Into<String>, url: impl Into<String>) -> Self {
        Self { title: title.into(), url: url.into(), snippet: None }
    }

    /// Adds what the service shows of it.
    #[must_use]
    pub fn with_snippet(mut self, snippet: impl Into<String>) -> Self {
        self.snippet = Some(snippet.into());
        self
    }
}

/// Why there are no results. Shows no key.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum SearchError {
    /// The key is wrong, or may not search.
    #[error("{service} refuses the key: check {variable}")]
    Key {
        /// The name of the service.
        service: &'static str,
        /// The variable that usually holds the key.
        variable: &'static str,
    },
    /// Too many searches, or more than were paid for.
    #[error("{service} takes no more searches at the moment")]
    Limit {
        /// The name of the service.
        service: &'static str,
    },
    /// The service answered with another failure.
    #[error("{service} answered with status {status}")]
    Status {
        /// The name of the service.
        service: &'static str,
        /// The status of HTTP.
        status: u16,
    },
    /// The answer is none of the service.
    #[error("the answer of {service} cannot be read")]
    Unreadable {
        /// The name of the service.
        service: &'static str,
        /// What is wrong with it.
        source: serde_json::Error,
    },
    /// There is no answer.
    #[error("{service} cannot be reached: {source}")]
    Unreachable {
        /// The name of the service.
        service: &'static str,
        /// Why.
        source: HttpError,
    },
}
