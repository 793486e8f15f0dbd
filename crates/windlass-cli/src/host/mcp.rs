//! The MCP servers of a host: those of its command line, those inside it, and
//! those that it adds.

mod files;
mod kept_out;
mod prompt;

pub(crate) use prompt::PromptTool;

use crate::mcp::{Configured, options};
use async_trait::async_trait;
use files::Files;
use kept_out::{KeptOut, NotConnected};
use std::collections::BTreeMap;
use std::path::Path;
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};
use std::time::Duration;
use windlass::crates::mcp::{
    Elicitation, ElicitationAnswer, ElicitationKind, ElicitationRequest, McpChannel, McpChannelError, McpError,
    parse_config,
};
use windlass::crates::project::ServerPolicy;
use windlass::crates::types::ToolResultContent;
use windlass::{ContentBlock, JsonText, McpServerConfig, McpServers, ToolOutput};
use windlass_protocol::{
    HostElicitation, HostMcp, HostMcpServer, McpControl, McpControlError, McpServersChanged, McpStatus,
};

/// The MCP servers of a host.
#[derive(Debug)]
pub(crate) struct HostServers {
    pub(crate) servers: McpServers,
    host: Arc<OnceLock<HostMcp>>,
    /// In-process servers that the command line named, with their settings.
    named: BTreeMap<String, McpServerConfig>,
    /// Configurations that cannot be used, with the reason.
    unusable: Mutex<Vec<(String, String)>>,
    /// Servers that the host added while the session was open, as it described them.
    added: Mutex<BTreeMap<String, JsonText>>,
    /// Servers that files define.
    files: Mutex<Files>,
    /// Which servers may be connected at all.
    policy: ServerPolicy,
    /// Servers of the command line and the host that may not.
    kept_out: Mutex<BTreeMap<String, KeptOut>>,
}

impl HostServers {
    /// Begins to connect the servers of the command line.
    pub(crate) fn start(configured: Configured, policy: ServerPolicy, cwd: &Path) -> Self {
        let host = Arc::new(OnceLock::new());
        let asked = Arc::new(Asked(Arc::clone(&host)));
        let servers = McpServers::new(options(cwd).with_elicitation(asked));
        let (named, others) = configured.servers.into_iter().partition(|(_, config)| config.is_in_process());
        let all = Self {
            servers,
            host,
            named,
            unusable: Mutex::new(configured.problems),
            added: Mutex::default(),
            files: Mutex::default(),
            policy,
            kept_out: Mutex::default(),
        };
        all.begin(others, "--mcp-config");
        all
    }

    /// Begins to connect servers that `place` describes.
    fn begin(&self, servers: BTreeMap<String, McpServerConfig>, place: &str) {
        let mut kept_out = Vec::new();
        for (name, config) in servers {
            match self.connect(&name, config) {
                // A second `initialize` says it again.
                Ok(()) | Err(NotConnected::Refused(McpError::Duplicate { .. })) => {}
                Err(NotConnected::KeptOut(why)) => {
                    self.keep_out(&name, &why, false);
                    kept_out.push((name, why));
                }
                Err(NotConnected::Refused(error)) => self.cannot_use(name, error.to_string()),
            }
        }
        let kept_out = kept_out.iter().map(|(name, why)| (name.as_str(), place.to_owned(), why.as_str()));
        kept_out::notes(kept_out).iter().for_each(|note| super::note_to_stderr(note));
    }

    fn cannot_use(&self, name: String, problem: String) {
        let mut unusable = self.unusable();
        unusable.retain(|(known, _)| *known != name);
        unusable.push((name, problem));
    }

    /// The in-process servers that the command line named.
    pub(crate) fn named(&self) -> Vec<String> {
        self.named.keys().cloned().collect()
    }

    fn added(&self) -> MutexGuard<'_, BTreeMap<String, JsonText>> {
        self.added.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Why an order to a server fails.
    fn refusal_for(&self, server: &str, error: &McpError) -> McpControlError {
        let unknown = matches!(error, McpError::UnknownServer { .. });
        let absence = unknown.then(|| self.why_kept_out(server).or_else(|| self.absence(server))).flatten();
        absence.unwrap_or_else(|| refusal(error))
    }

    fn unusable(&self) -> MutexGuard<'_, Vec<(String, String)>> {
        self.unusable.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Adds a server inside the host, if it is not there yet.
    fn add_in_process(
        &self,
        name: &str,
        config: Option<McpServerConfig>,
        settings: Option<&JsonText>,
    ) -> Result<(), McpError> {
        let Some(host) = self.host.get() else { return Ok(()) };
        let mut reached = McpServerConfig::in_process(Arc::new(Channel(host.server(name))));
        if let Some(given) = config.or_else(|| self.named.get(name).cloned()) {
            (reached.timeout, reached.policies) = (given.timeout, given.policies);
        }
        let reached = settings.iter().fold(reached, |reached, settings| reached.settings(settings));
        match self.servers.add(name, reached) {
            Err(McpError::Duplicate { .. }) => Ok(()),
            other => other,
        }
    }
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

/// Puts the questions of servers to the host.
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

/// The form in which the protocol knows a server that is not started.
fn listed(name: &str, status: &str, source: &str, error: &str) -> McpStatus {
    let entry = serde_json::json!({
        "name": name, "status": status, "error": error, "scope": scope(source), "source": source,
    });
    let entry = JsonText::of(&entry).unwrap_or_else(|_| JsonText::empty_object());
    McpStatus::new(name, status, source, entry)
}

/// Where a server is configured, by who did it.
fn scope(source: &str) -> &str {
    if matches!(source, "user" | "project" | "local") { source } else { "dynamic" }
}

#[async_trait]
impl McpControl for HostServers {
    fn attach(&self, host: HostMcp) {
        // There is one host.
        let _ = self.host.set(host);
    }

    fn announce(&self, servers: &BTreeMap<String, Option<JsonText>>) {
        for (name, settings) in servers {
            if let Err(error) = self.add_in_process(name, None, settings.as_ref()) {
                super::note_to_stderr(&error.to_string());
            }
        }
        self.begin_files();
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
        let known = self.servers.status().into_iter().map(|status| {
            let mut entry = serde_json::to_value(&status).unwrap_or_default();
            if let Some(fields) = entry.as_object_mut() {
                fields.insert("scope".to_owned(), scope(&status.source).into());
            }
            let entry = JsonText::of(&entry).unwrap_or_else(|_| JsonText::empty_object());
            McpStatus::new(status.name, status.state.as_str(), status.source, entry)
        });
        let mut all: Vec<McpStatus> = known.collect();
        let unusable = self.unusable().clone();
        let unusable = unusable.iter().map(|(name, error)| listed(name, "failed", "dynamic", error));
        for absent in self.listed_as_kept_out().into_iter().chain(unusable).chain(self.absent()) {
            if !all.iter().any(|status| status.name == absent.name) {
                all.push(absent);
            }
        }
        all
    }

    async fn reconnect(&self, server: &str) -> Result<(), McpControlError> {
        let outcome = self.servers.reconnect(server).await;
        outcome.map_err(|error| self.refusal_for(server, &error))
    }

    async fn toggle(&self, server: &str, enabled: bool) -> Result<(), McpControlError> {
        let outcome = self.servers.set_enabled(server, enabled).await;
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
        for name in gone.into_keys() {
            if self.servers.remove(&name).await {
                changed.removed.push(name);
            }
        }
        self.forget_those_set();
        for (name, config) in wanted.into_iter().filter(|(name, _)| !kept.contains_key(name)) {
            if config.as_ref().is_ok_and(|config| !self.is_kept_out(&name, config)) {
                self.give_way(&name).await;
            }
            let added = match config {
                Ok(config) if config.is_in_process() => {
                    self.add_in_process(&name, Some(config), None).map_err(|error| error.to_string())
                }
                Ok(config) => self.connect(&name, config).map_err(|error| {
                    if let NotConnected::KeptOut(why) = &error {
                        self.keep_out(&name, why, true);
                    }
                    error.to_string()
                }),
                Err(error) => Err(error.to_string()),
            };
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
        // The host learns from the answer whether they work.
        self.servers.settled(Duration::from_secs(5)).await;
        Ok(changed)
    }

    async fn call(
        &self,
        tool: &str,
        arguments: JsonText,
        limit: Option<Duration>,
    ) -> Result<JsonText, McpControlError> {
        let (server, tool) =
            self.servers.find(tool).ok_or_else(|| McpControlError::new(format!("Tool not found: {tool}")))?;
        let called = self.servers.call(&server, &tool, &arguments, limit).await;
        result(&called.map_err(|error| refusal(&error))?).map_err(McpControlError::new)
    }

    async fn read_resource(&self, server: &str, uri: &str) -> Result<JsonText, McpControlError> {
        self.servers.read_resource(server, uri).await.map_err(|error| refusal(&error))
    }
}

/// A result as MCP writes it.
fn result(output: &ToolOutput) -> Result<JsonText, String> {
    use windlass::crates::types::ImageSource;
    let text = |text: &str| serde_json::json!({ "type": "text", "text": text });
    let content = match &output.content {
        ToolResultContent::Text(said) => vec![text(said)],
        ToolResultContent::Blocks(blocks) => blocks
            .iter()
            .map(|block| match block {
                ContentBlock::Text { text: said } => text(said),
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
