//! Targets of mentions in prompts.

use async_trait::async_trait;
use std::fmt::Debug;
use std::sync::Arc;

/// Targets of mentions in prompts (`@src/main.rs`). Default of a session: mentions are ordinary words.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct Mentions {
    /// Tool that reads mentioned files: it must be one of the session, and takes `file_path`, `offset` and `limit`. A
    /// mention is read as a call of it would be: in the same words, by the same rules, and recorded as read.
    pub reader: String,
    /// Targets beside files. Default: none.
    pub others: Option<Arc<dyn MentionSource>>,
}

impl Mentions {
    /// Files alone, read by the tool of this name.
    #[must_use]
    pub fn new(reader: impl Into<String>) -> Self {
        Self { reader: reader.into(), others: None }
    }

    /// Adds agents and resources of servers.
    #[must_use]
    pub fn with_others(mut self, others: Arc<dyn MentionSource>) -> Self {
        self.others = Some(others);
        self
    }
}

/// Agents and resources of servers that a prompt may mention.
///
/// ```
/// use windlass_runtime::MentionSource;
///
/// /// Tickets, mentioned as `@tickets:123`.
/// #[derive(Debug)]
/// struct Tickets;
///
/// #[async_trait::async_trait]
/// impl MentionSource for Tickets {
///     fn servers(&self) -> Vec<String> {
///         vec!["tickets".to_owned()]
///     }
///
///     async fn resource(&self, _: &str, uri: &str) -> Result<String, String> {
///         Ok(format!("Ticket {uri}: the door squeaks."))
///     }
/// }
/// ```
#[async_trait]
pub trait MentionSource: Debug + Send + Sync + 'static {
    /// The agents that `@agent-NAME` may name. Default: none.
    fn agents(&self) -> Vec<String> {
        Vec::new()
    }

    /// The servers whose resources `@SERVER:URI` may name. Default: none.
    fn servers(&self) -> Vec<String> {
        Vec::new()
    }

    /// Reads a resource of one of these servers. A call that takes longer than 20 seconds is dropped, and the prompt is sent
    /// without it. Cancel safe.
    ///
    /// # Errors
    /// The reason why the resource cannot be read, in words for the model.
    async fn resource(&self, server: &str, uri: &str) -> Result<String, String>;
}
