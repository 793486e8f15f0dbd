//! Test client, and its received messages.

#[allow(deprecated, reason = "revisions that have logs stay in use")]
use rmcp::model::LoggingMessageNotificationParam;
use rmcp::model::{
    CallToolRequestParams, CallToolResult, ClientCapabilities, ClientConfig, ElicitRequestParams, ElicitResult,
    ElicitationAction, ErrorData, Implementation, ProgressNotificationParam, ProtocolVersion,
    ResourceUpdatedNotificationParam,
};
use rmcp::service::{NotificationContext, RequestContext, RoleClient, RunningService};
use rmcp::{ClientHandler, ClientLifecycleMode, ClientServiceExt, ServiceExt};
use serde_json::{Value, json};
use std::sync::{Arc, Mutex};
use std::time::Duration;
use tokio::sync::Notify;
use windlass_mcp_server::{McpServer, ServeError};

/// Longer than any working operation takes.
pub(crate) const LONG: Duration = Duration::from_secs(60);

/// Client that gives each question the same answer; without an answer it cannot be asked.
#[derive(Clone, Default)]
pub(crate) struct User {
    pub(crate) answer: Option<bool>,
    /// `true` if the client declares that it takes tasks.
    pub(crate) takes_tasks: bool,
    pub(crate) asked: Arc<Mutex<Vec<String>>>,
    pub(crate) progress: Arc<Mutex<Vec<String>>>,
    pub(crate) reported: Arc<Notify>,
    /// Log lines and changes.
    pub(crate) seen: Arc<Mutex<Vec<String>>>,
    pub(crate) news: Arc<Notify>,
}

impl User {
    pub(crate) fn answering(allow: bool) -> Self {
        Self { answer: Some(allow), ..Self::default() }
    }

    fn sees(&self, what: String) {
        self.seen.lock().unwrap().push(what);
        self.news.notify_one();
    }
}

#[allow(deprecated, reason = "revisions that have logs stay in use")]
impl ClientHandler for User {
    fn get_info(&self) -> ClientConfig {
        let mut capabilities = match self.answer {
            Some(_) => ClientCapabilities::builder().enable_elicitation().build(),
            None => ClientCapabilities::default(),
        };
        if self.takes_tasks {
            capabilities.extensions = ClientCapabilities::builder().enable_tasks().build().extensions;
        }
        ClientConfig::new(capabilities, Implementation::new("user", "1"))
    }

    async fn create_elicitation(
        &self,
        request: ElicitRequestParams,
        _: RequestContext<RoleClient>,
    ) -> Result<ElicitResult, ErrorData> {
        let ElicitRequestParams::FormElicitationParams { message, .. } = request else { panic!("{request:?}") };
        self.asked.lock().unwrap().push(message);
        let content = json!({ "allow": self.answer });
        Ok(ElicitResult::new(ElicitationAction::Accept).with_content(content))
    }

    async fn on_progress(&self, report: ProgressNotificationParam, _: NotificationContext<RoleClient>) {
        self.progress.lock().unwrap().push(report.message.unwrap_or_default());
        self.reported.notify_one();
    }

    async fn on_logging_message(&self, line: LoggingMessageNotificationParam, _: NotificationContext<RoleClient>) {
        self.sees(format!("log {}", line.data.as_str().unwrap_or_default()));
    }

    async fn on_resource_updated(&self, changed: ResourceUpdatedNotificationParam, _: NotificationContext<RoleClient>) {
        self.sees(format!("updated {}", changed.uri));
    }

    async fn on_tool_list_changed(&self, _: NotificationContext<RoleClient>) {
        self.sees("tools".to_owned());
    }
}

pub(crate) type Connected = RunningService<RoleClient, User>;
pub(crate) type Served = tokio::task::JoinHandle<Result<(), ServeError>>;

/// Connects a client to a server.
pub(crate) async fn connected(server: McpServer, user: User) -> (Connected, Served) {
    let (near, far) = tokio::io::duplex(1 << 16);
    let (read, write) = tokio::io::split(far);
    let served = tokio::spawn(server.serve(read, write));
    (user.serve(near).await.unwrap(), served)
}

/// Connects a client of 2026-07-28 to a server.
pub(crate) async fn connected_anew(server: McpServer, user: User) -> (Connected, Served) {
    let (near, far) = tokio::io::duplex(1 << 16);
    let (read, write) = tokio::io::split(far);
    let served = tokio::spawn(server.serve(read, write));
    let lifecycle = ClientLifecycleMode::Discover { preferred_versions: vec![ProtocolVersion::V_2026_07_28] };
    (user.serve_with_lifecycle(near, lifecycle).await.unwrap(), served)
}

/// Returns the parameters of a call.
pub(crate) fn params(tool: &str, input: Value) -> CallToolRequestParams {
    CallToolRequestParams::new(tool.to_owned()).with_arguments(input.as_object().unwrap().clone())
}

pub(crate) async fn call(client: &Connected, tool: &str, input: Value) -> CallToolResult {
    tokio::time::timeout(LONG, client.call_tool(params(tool, input))).await.unwrap().unwrap()
}

pub(crate) fn text(result: &CallToolResult) -> String {
    result.content.iter().filter_map(|block| block.as_text()).map(|text| text.text.clone()).collect()
}

pub(crate) fn failed(result: &CallToolResult) -> bool {
    result.is_error == Some(true)
}
