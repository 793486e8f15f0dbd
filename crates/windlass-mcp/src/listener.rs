//! Messages that a server sends on its own.

#![expect(
    deprecated,
    reason = "roots, sampling and logging are left out of newer revisions, and servers of older ones use them"
)]

use crate::McpOptions;
use crate::answers::Answers;
use crate::connection::ConnectionLifecycle;
use crate::text::clipped;
use crate::watched::WatchedResources;
use rmcp::handler::client::ClientHandler;
use rmcp::model::{
    ClientConfig, ConstString as _, CreateMessageRequestMethod, CreateMessageRequestParams, CreateMessageResult,
    CustomRequest, CustomResult, ElicitRequestParams, ElicitResult, ElicitationAction, ErrorCode, ErrorData,
    Implementation, JsonObject, ListRootsResult, LoggingLevel, LoggingMessageNotificationParam,
    ProgressNotificationParam, ProgressToken, ProtocolVersion, ResourceUpdatedNotificationParam, TASKS_EXTENSION_ID,
};
use rmcp::service::{NotificationContext, RequestContext, RoleClient};
use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use tokio::sync::{Notify, watch};
use windlass_context::Masks;

/// Maximum length of a progress text or a log line, in characters.
const MAX_TEXT_CHARS: usize = 4000;

/// Handler of the messages that a server sends on its own.
pub(crate) struct ServerListener {
    server: String,
    config: ClientConfig,
    answers: Arc<Answers>,
    heard: Arc<ServerNotifications>,
}

/// Notifications of a server, for the tasks that wait for them.
#[derive(Debug, Default)]
pub(crate) struct ServerNotifications {
    /// Notified when the list of tools has changed.
    pub(crate) tools_changed: Notify,
    /// Resources whose changes are to be reported.
    pub(crate) watched: WatchedResources,
    progress: Mutex<HashMap<ProgressToken, watch::Sender<String>>>,
}

impl ServerNotifications {
    fn progress(&self) -> MutexGuard<'_, HashMap<ProgressToken, watch::Sender<String>>> {
        self.progress.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Subscribes to the progress of a call, for as long as the guard lives.
    pub(crate) fn listen(self: &Arc<Self>, token: ProgressToken) -> (watch::Receiver<String>, Listening) {
        let (sender, receiver) = watch::channel(String::new());
        self.progress().insert(token.clone(), sender);
        (receiver, Listening { heard: Arc::clone(self), token })
    }
}

/// Guard that ends a progress subscription when it is dropped.
#[derive(Debug)]
pub(crate) struct Listening {
    heard: Arc<ServerNotifications>,
    token: ProgressToken,
}

impl Drop for Listening {
    fn drop(&mut self) {
        self.heard.progress().remove(&self.token);
    }
}

impl ServerListener {
    pub(crate) fn new(
        server: &str,
        options: &McpOptions,
        answers: Arc<Answers>,
        lifecycle: ConnectionLifecycle,
    ) -> (Self, Arc<ServerNotifications>) {
        let client = Implementation::new(&options.client.name, &options.client.version);
        let mut capabilities = answers.capabilities();
        if lifecycle == ConnectionLifecycle::Discover {
            // Servers of older revisions know no extensions, and state for each tool whether its calls can be tasks.
            capabilities.extensions.get_or_insert_default().insert(TASKS_EXTENSION_ID.to_owned(), JsonObject::new());
        }
        let config =
            ClientConfig::new(capabilities, client).with_protocol_version(ProtocolVersion::LATEST_WITH_INITIALIZE);
        let heard = Arc::new(ServerNotifications::default());
        let listener = Self { server: server.to_owned(), config, answers, heard: Arc::clone(&heard) };
        (listener, heard)
    }
}

impl ClientHandler for ServerListener {
    async fn create_elicitation(
        &self,
        request: ElicitRequestParams,
        context: RequestContext<RoleClient>,
    ) -> Result<ElicitResult, ErrorData> {
        Ok(tokio::select! {
            answer = self.answers.elicit(request) => answer,
            () = context.ct.cancelled() => ElicitResult::new(ElicitationAction::Cancel),
        })
    }

    async fn create_message(
        &self,
        request: CreateMessageRequestParams,
        context: RequestContext<RoleClient>,
    ) -> Result<CreateMessageResult, ErrorData> {
        tokio::select! {
            answer = self.answers.sample(&request) => answer,
            () = context.ct.cancelled() => Err(ErrorData::internal_error("the request was taken back", None)),
        }
    }

    /// Refuses a malformed sampling request with the reason; other requests are unknown methods.
    async fn on_custom_request(
        &self,
        request: CustomRequest,
        context: RequestContext<RoleClient>,
    ) -> Result<CustomResult, ErrorData> {
        if request.method != CreateMessageRequestMethod::VALUE {
            return Err(ErrorData::new(ErrorCode::METHOD_NOT_FOUND, request.method, None));
        }
        tokio::select! {
            answer = self.answers.message(request.params.unwrap_or_default()) => answer.map(CustomResult::new),
            () = context.ct.cancelled() => Err(ErrorData::internal_error("the request was taken back", None)),
        }
    }

    async fn list_roots(&self, _: RequestContext<RoleClient>) -> Result<ListRootsResult, ErrorData> {
        Ok(self.answers.roots())
    }

    async fn on_progress(&self, params: ProgressNotificationParam, _: NotificationContext<RoleClient>) {
        let text = match (params.message, params.total) {
            (Some(message), _) => clipped(&message, MAX_TEXT_CHARS),
            (None, Some(total)) => format!("{} of {total}", params.progress),
            (None, None) => params.progress.to_string(),
        };
        if let Some(call) = self.heard.progress().get(&params.progress_token) {
            call.send_replace(text);
        }
    }

    async fn on_logging_message(&self, params: LoggingMessageNotificationParam, _: NotificationContext<RoleClient>) {
        let text = params.data.as_str().map_or_else(|| params.data.to_string(), str::to_owned);
        // Log lines of a server may hold keys.
        let text = Masks::new().mask(&clipped(&text, MAX_TEXT_CHARS)).into_owned();
        let server = &self.server;
        match params.level {
            LoggingLevel::Debug | LoggingLevel::Info => tracing::debug!(server, text, "an MCP server logged"),
            LoggingLevel::Notice | LoggingLevel::Warning => tracing::info!(server, text, "an MCP server logged"),
            _ => tracing::warn!(server, text, "an MCP server logged"),
        }
    }

    async fn on_resource_updated(&self, params: ResourceUpdatedNotificationParam, _: NotificationContext<RoleClient>) {
        self.heard.watched.changed(params.uri);
    }

    async fn on_tool_list_changed(&self, _: NotificationContext<RoleClient>) {
        self.heard.tools_changed.notify_one();
    }

    fn get_info(&self) -> ClientConfig {
        self.config.clone()
    }
}
