//! A conversation that the owner of the sessions has begun.

use futures_util::future::BoxFuture;
use std::fmt;
use std::sync::Arc;
use windlass_conversation::{
    ConversationAsker, ConversationOptions, LiveConversation, OpenFailure, OpenSession, SessionSettings,
};
use windlass_tool::Ids;
use windlass_types::Effort;

type Open =
    dyn Fn(SessionSettings, ConversationAsker) -> BoxFuture<'static, Result<OpenSession, OpenFailure>> + Send + Sync;
type Close = Box<dyn FnOnce() -> BoxFuture<'static, ()> + Send>;

/// Conversation that an [`AcpAgent`](crate::AcpAgent) has begun, with the choices that the client is offered.
pub struct AcpConversation {
    pub(crate) options: ConversationOptions,
    open: Arc<Open>,
    pub(crate) models: Vec<AcpModel>,
    pub(crate) model: Option<String>,
    pub(crate) effort: Option<Effort>,
    pub(crate) notices: Vec<String>,
    close: Option<Close>,
}

/// Model that a client is offered.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct AcpModel {
    /// Name that sessions know it by: an id or an alias.
    pub name: String,
    /// Name for people.
    pub title: String,
    /// Description for people.
    pub description: String,
    /// Id that the name stands for, if it is another one.
    pub id: Option<String>,
    /// Efforts that it can be asked for; empty if it has no such setting.
    pub efforts: Vec<Effort>,
}

impl AcpModel {
    /// A model that sessions know by `name` and people by `title`.
    pub fn new(name: impl Into<String>, title: impl Into<String>) -> Self {
        Self { name: name.into(), title: title.into(), description: String::new(), id: None, efforts: Vec::new() }
    }

    /// Sets the description.
    #[must_use]
    pub fn with_description(mut self, description: impl Into<String>) -> Self {
        self.description = description.into();
        self
    }

    /// Sets the id that the name stands for, and the efforts of that model.
    #[must_use]
    pub fn with_id(mut self, id: impl Into<String>, efforts: Vec<Effort>) -> Self {
        (self.id, self.efforts) = (Some(id.into()), efforts);
        self
    }
}

impl AcpConversation {
    /// A conversation with these options. `open` opens its session when the first prompt comes, and once more after a
    /// session that could not be opened or broke; its questions are to go to the asker.
    pub fn new<F>(
        options: ConversationOptions,
        open: impl Fn(SessionSettings, ConversationAsker) -> F + Send + Sync + 'static,
    ) -> Self
    where
        F: Future<Output = Result<OpenSession, OpenFailure>> + Send + 'static,
    {
        Self {
            options,
            open: Arc::new(move |settings, asker| Box::pin(open(settings, asker))),
            models: Vec::new(),
            model: None,
            effort: None,
            notices: Vec::new(),
            close: None,
        }
    }

    /// Sets the models to choose from, and the name of the current one.
    #[must_use]
    pub fn with_models(mut self, models: Vec<AcpModel>, current: impl Into<String>) -> Self {
        (self.models, self.model) = (models, Some(current.into()));
        self
    }

    /// Sets the effort that the session begins with. Default: that of the model.
    #[must_use]
    pub fn with_effort(mut self, effort: Option<Effort>) -> Self {
        self.effort = effort;
        self
    }

    /// Adds notices for the person, shown with the first prompt.
    #[must_use]
    pub fn with_notices(mut self, notices: impl IntoIterator<Item = String>) -> Self {
        self.notices.extend(notices);
        self
    }

    /// Calls this once when the conversation is over and its sessions are closed, such as to close MCP servers.
    #[must_use]
    pub fn with_close<F>(mut self, close: impl FnOnce() -> F + Send + 'static) -> Self
    where
        F: Future<Output = ()> + Send + 'static,
    {
        self.close = Some(Box::new(move || Box::pin(close())));
        self
    }

    pub(crate) fn live(&self, ids: Arc<dyn Ids>) -> LiveConversation {
        let open = Arc::clone(&self.open);
        LiveConversation::new(self.options.clone(), ids, move |settings, asker| open(settings, asker))
    }

    pub(crate) async fn close(&mut self) {
        if let Some(close) = self.close.take() {
            close().await;
        }
    }
}

impl fmt::Debug for AcpConversation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("AcpConversation").field("options", &self.options).finish_non_exhaustive()
    }
}
