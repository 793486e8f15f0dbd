//! The MCP servers of a host: those of its command line, those inside it, and
//! those that it adds.

mod asked;
mod diagnostics;
mod login;
mod prompt;

pub(crate) use diagnostics::DiagnosticsTool;
pub(crate) use prompt::PromptTool;

use crate::mcp::configured::Configured;
use async_trait::async_trait;
use login::Logins;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};
use std::time::Duration;
use windlass::event::ToolResultContent;
use windlass::mcp::{
    Elicitation, ElicitationAnswer, ElicitationKind, ElicitationRequest, McpChannel, McpChannelError, McpError,
    parse_config,
};
use windlass::{
    ContentBlock, JsonText, ToolOutput,
    mcp::{AbsentServer, McpServerConfig, McpServers, ProjectServers, ServerNotConnected},
    project::LoadedProject,
};
use windlass_protocol::{
    HostElicitation, HostMcp, HostMcpServer, McpControl, McpControlError, McpServersChanged, McpStatus,
};

/// The MCP servers of a host.
#[derive(Debug)]
pub(crate) struct HostServers {
    servers: ProjectServers,
    host: Arc<OnceLock<HostMcp>>,
    /// In-process servers that the command line named, with their settings.
    named: BTreeMap<String, McpServerConfig>,
    /// Configurations that cannot be used, with the reason.
    unusable: Mutex<Vec<(String, String)>>,
    /// Servers that the host added while the session was open, as it described them.
    added: Mutex<BTreeMap<String, JsonText>>,
    /// Servers that the host wanted to add while the session was open, and that settings exclude.
    kept_out: Mutex<BTreeSet<String>>,
    logins: Logins,
}

impl HostServers {
    /// Begins to connect the servers of the command line, as far as the project's settings allow them.
    pub(crate) fn start(configured: Configured, project: &LoadedProject) -> Self {
        let host = Arc::new(OnceLock::new());
        let asked = Arc::new(Asked(Arc::clone(&host)));
        Self::start_with(configured, project, host, asked)
    }

    /// Like [`start`](Self::start), with another receiver of the servers' questions.
    pub(crate) fn start_asking(configured: Configured, project: &LoadedProject, asked: Arc<dyn Elicitation>) -> Self {
        Self::start_with(configured, project, Arc::default(), asked)
    }

    fn start_with(
        configured: Configured,
        project: &LoadedProject,
        host: Arc<OnceLock<HostMcp>>,
        asked: Arc<dyn Elicitation>,
    ) -> Self {
        let servers = project.servers_in(|| {
            let options = project.server_options().with_client("windlass", env!("CARGO_PKG_VERSION"));
            McpServers::new(options.with_elicitation(asked).with_login_command("windlass mcp login"))
        });
        let (named, others) = configured.servers.into_iter().partition(|(_, config)| config.is_in_process());
        let all = Self {
            servers,
            host,
            named,
            unusable: Mutex::new(configured.problems),
            added: Mutex::default(),
            kept_out: Mutex::default(),
            logins: Logins::default(),
        };
        all.begin(others, "--mcp-config");
        all
    }

    /// Returns the set of servers.
    pub(crate) fn set(&self) -> &McpServers {
        self.servers.set()
    }

    /// Begins to connect servers; `place` describes their source.
    fn begin(&self, servers: BTreeMap<String, McpServerConfig>, place: &str) {
        // A second `initialize` names them again.
        for (name, error) in self.servers.connect_all(servers, place) {
            self.cannot_use(name, error.to_string());
        }
    }

    fn cannot_use(&self, name: String, problem: String) {
        let mut unusable = self.unusable();
        unusable.retain(|(known, _)| *known != name);
        unusable.push((name, problem));
    }

    /// Returns the in-process servers that the command line named.
    pub(crate) fn named(&self) -> Vec<String> {
        self.named.keys().cloned().collect()
    }

    fn added(&self) -> MutexGuard<'_, BTreeMap<String, JsonText>> {
        self.added.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns the error of a control request about a server.
    fn refusal_for(&self, server: &str, error: &McpError) -> McpControlError {
        let unknown = matches!(error, McpError::UnknownServer { .. });
        let absent =
            self.servers.absent().into_iter().find(|absent| unknown && absent.name == server && !absent.failed);
        absent.map_or_else(|| refusal(error), |absent| McpControlError::new(absent.text))
    }

    fn unusable(&self) -> MutexGuard<'_, Vec<(String, String)>> {
        self.unusable.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn kept_out(&self) -> MutexGuard<'_, BTreeSet<String>> {
        self.kept_out.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Adds a server inside the host, if it is not there yet.
    fn add_in_process(
        &self,
        name: &str,
        config: Option<McpServerConfig>,
        settings: Option<&JsonText>,
    ) -> Result<(), ServerNotConnected> {
        let Some(host) = self.host.get() else { return Ok(()) };
        let mut reached = McpServerConfig::in_process(Arc::new(Channel(host.server(name))));
        if let Some(given) = config.or_else(|| self.named.get(name).cloned()) {
            (reached.timeout, reached.policies, reached.always_load) =
                (given.timeout, given.policies, given.always_load);
        }
        let reached = settings.iter().fold(reached, |reached, settings| reached.settings(settings));
        match self.servers.connect(name, reached) {
            Err(ServerNotConnected::Refused(McpError::Duplicate { .. })) => Ok(()),
            other => other,
        }
    }

    /// Adds a server that the host sets. The error is the reason why it could not.
    fn set_server(&self, name: &str, config: McpServerConfig) -> Result<(), String> {
        if config.is_in_process() {
            return self.add_in_process(name, Some(config), None).map_err(|error| error.to_string());
        }
        let added = self.servers.connect(name, config);
        if let Err(ServerNotConnected::KeptOut(_)) = &added {
            self.kept_out().insert(name.to_owned());
        }
        added.map_err(|error| error.to_string())
    }
}

/// Returns the protocol's form of a missing server of the project.
fn absent(server: &AbsentServer) -> McpStatus {
    let status = if server.failed { "failed" } else { "disabled" };
    listed(&server.name, status, server.source.unwrap_or("dynamic"), &server.reason)
}

/// A server inside the host.
struct Channel(HostMcpServer);

#[async_trait]
impl McpChannel for Channel {
    async fn send(&self, message: JsonText) -> Result<Option<JsonText>, McpChannelError> {
        self.0.send(message).await.map_err(|error| McpChannelError::new(error.to_string()))
    }

    async fn receive(&self) -> Option<JsonText> {
        self.0.receive().await
    }
}

/// Asks the host the questions of servers.
struct Asked(Arc<OnceLock<HostMcp>>);

#[async_trait]
impl Elicitation for Asked {
    async fn elicit(&self, request: ElicitationRequest) -> ElicitationAnswer {
        let Some(host) = self.0.get() else { return ElicitationAnswer::Decline };
        let (mode, url, elicitation_id, requested_schema) = match request.kind {
            ElicitationKind::Form { schema } => ("form", None, None, Some(schema)),
            ElicitationKind::Url { url, id } => ("url", Some(url), Some(id).filter(|id| !id.is_empty()), None),
            _ => return ElicitationAnswer::Decline,
        };
        let (mcp_server_name, message) = (request.server, request.message);
        let question = HostElicitation { mcp_server_name, message, mode, url, elicitation_id, requested_schema };
        let answer = host.elicit(&question).await;
        match answer.action.as_str() {
            "accept" => ElicitationAnswer::Accept(answer.content.filter(|content| content.as_str() != "null")),
            "cancel" => ElicitationAnswer::Cancel,
            _ => ElicitationAnswer::Decline,
        }
    }
}

fn refusal(error: &McpError) -> McpControlError {
    McpControlError::new(error.to_string())
}

/// Returns the protocol's form of a server that is not started.
fn listed(name: &str, status: &str, source: &str, error: &str) -> McpStatus {
    let entry = serde_json::json!({
        "name": name, "status": status, "error": error, "scope": scope(source), "source": source,
    });
    let entry = JsonText::of(&entry).unwrap_or_else(|_| JsonText::empty_object());
    McpStatus::new(name, status, source, entry)
}

/// Returns the configuration scope of a server, by its source.
fn scope(source: &str) -> &str {
    if matches!(source, "user" | "project" | "local") { source } else { "dynamic" }
}

#[async_trait]
impl McpControl for HostServers {
    fn attach(&self, host: HostMcp) {
        // The cell is set once, because there is only one host.
        let _ = self.host.set(host);
    }

    fn announce(&self, servers: &BTreeMap<String, Option<JsonText>>) {
        for (name, settings) in servers {
            if let Err(error) = self.add_in_process(name, None, settings.as_ref()) {
                crate::notes::note_to_stderr(&error.to_string());
            }
        }
        self.servers.begin();
    }

    fn configure(&self, servers: &JsonText) -> bool {
        let Ok(read) = parse_config(servers.as_str(), |name| std::env::var(name).ok()) else { return false };
        let mut usable = BTreeMap::new();
        for (name, config) in read {
            match config {
                Ok(config) => drop(usable.insert(name, config)),
                Err(error) => self.cannot_use(name, error.to_string()),
            }
        }
        self.begin(usable, "the host");
        true
    }

    fn status(&self) -> Vec<McpStatus> {
        let known = self.set().status().into_iter().map(|status| {
            let mut entry = serde_json::to_value(&status).unwrap_or_default();
            if let Some(fields) = entry.as_object_mut() {
                fields.insert("scope".to_owned(), scope(&status.source).into());
            }
            let entry = JsonText::of(&entry).unwrap_or_else(|_| JsonText::empty_object());
            McpStatus::new(status.name, status.state.as_str(), status.source, entry)
        });
        let mut all: Vec<McpStatus> = known.collect();
        let (of_program, of_files): (Vec<_>, Vec<_>) =
            self.servers.absent().into_iter().partition(|absent| absent.source.is_none());
        let unusable = self.unusable().clone();
        let unusable = unusable.iter().map(|(name, error)| listed(name, "failed", "dynamic", error));
        for absent in of_program.iter().map(absent).chain(unusable).chain(of_files.iter().map(absent)) {
            if !all.iter().any(|status| status.name == absent.name) {
                all.push(absent);
            }
        }
        all
    }

    async fn reconnect(&self, server: &str) -> Result<(), McpControlError> {
        let outcome = self.set().reconnect(server).await;
        outcome.map_err(|error| self.refusal_for(server, &error))
    }

    async fn toggle(&self, server: &str, enabled: bool) -> Result<(), McpControlError> {
        let outcome = self.set().set_enabled(server, enabled).await;
        outcome.map_err(|error| self.refusal_for(server, &error))
    }

    async fn set_servers(&self, servers: JsonText) -> Result<McpServersChanged, McpControlError> {
        let unreadable = |error: &dyn std::fmt::Display| McpControlError::new(error.to_string());
        let described: BTreeMap<String, JsonText> = servers.to().map_err(|error| unreadable(&error))?;
        let wanted =
            parse_config(servers.as_str(), |name| std::env::var(name).ok()).map_err(|error| unreadable(&error))?;
        let mut changed = McpServersChanged::default();
        let (kept, gone): (BTreeMap<_, _>, BTreeMap<_, _>) = std::mem::take(&mut *self.added())
            .into_iter()
            .partition(|(name, entry)| described.get(name) == Some(entry));
        // Settings may have stopped an added server, or allowed an excluded one.
        let mut gone: BTreeSet<String> = gone.into_keys().collect();
        gone.append(&mut self.kept_out());
        self.servers.forget_kept_out(&gone);
        let of_files: BTreeSet<String> = self.servers.definitions().into_iter().map(|server| server.name).collect();
        for name in gone.difference(&of_files) {
            if self.set().remove(name).await {
                changed.removed.push(name.clone());
            }
        }
        for (name, config) in wanted.into_iter().filter(|(name, _)| !kept.contains_key(name)) {
            if config.as_ref().is_ok_and(|config| self.servers.refusal(&name, config).is_none()) {
                self.servers.give_way(&name).await;
            }
            let added = config.map_err(|error| error.to_string()).and_then(|config| self.set_server(&name, config));
            match added {
                Ok(()) => {
                    self.added()
                        .extend(described.get_key_value(&name).map(|(name, entry)| (name.clone(), entry.clone())));
                    changed.added.push(name);
                }
                Err(error) => drop(changed.errors.insert(name, error)),
            }
        }
        self.added().extend(kept);
        // The host reads in the answer whether the servers work.
        self.set().settled(Duration::from_secs(5)).await;
        Ok(changed)
    }

    async fn call(
        &self,
        tool: &str,
        arguments: JsonText,
        limit: Option<Duration>,
    ) -> Result<JsonText, McpControlError> {
        let (server, tool) =
            self.set().find(tool).ok_or_else(|| McpControlError::new(format!("Tool not found: {tool}")))?;
        let called = self.set().call(&server, &tool, &arguments, limit).await;
        result(&called.map_err(|error| refusal(&error))?).map_err(McpControlError::new)
    }

    async fn read_resource(&self, server: &str, uri: &str) -> Result<JsonText, McpControlError> {
        self.set().read_resource(server, uri).await.map_err(|error| refusal(&error))
    }

    async fn authenticate(&self, server: &str) -> Result<Option<String>, McpControlError> {
        let (host, name, servers) = (Arc::clone(&self.host), server.to_owned(), self.set().clone());
        let report = move |outcome: &Result<(), String>| {
            let known = servers.status().into_iter().find(|status| status.name == name);
            if let (Some(host), Some(known)) = (host.get(), known) {
                host.report(&name, known.state.as_str(), outcome.as_ref().err().map(String::as_str));
            }
        };
        self.logins.begin(self.set(), server, report).await.map_err(McpControlError::new)
    }

    async fn finish_login(&self, server: &str, address: &str) -> Result<(), McpControlError> {
        self.logins.finish(server, address).await.map_err(McpControlError::new)
    }

    async fn forget_login(&self, server: &str) -> Result<(), McpControlError> {
        let outcome = self.set().forget_login(server).await;
        outcome.map(drop).map_err(|error| self.refusal_for(server, &error))
    }
}

/// Returns a result as MCP writes it.
fn result(output: &ToolOutput) -> Result<JsonText, String> {
    use windlass::event::ImageSource;
    let text = |text: &str| serde_json::json!({ "type": "text", "text": text });
    let content = match &output.content {
        ToolResultContent::Text(words) => vec![text(words)],
        ToolResultContent::Blocks(blocks) => blocks
            .iter()
            .map(|block| match block {
                ContentBlock::Text { text: words, .. } => text(words),
                ContentBlock::Image { source: ImageSource::Base64 { media_type, data } } => {
                    serde_json::json!({ "type": "image", "data": data, "mimeType": media_type })
                }
                _ => text("[a part of another kind]"),
            })
            .collect(),
    };
    let mut result = serde_json::json!({ "content": content, "isError": output.is_error });
    if let (Some(structured), Some(fields)) = (&output.structured, result.as_object_mut()) {
        fields.insert("structuredContent".to_owned(), structured.to().map_err(|error| error.to_string())?);
    }
    JsonText::of(&result).map_err(|error| error.to_string())
}
