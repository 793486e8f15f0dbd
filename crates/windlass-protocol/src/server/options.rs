//! Options of a server.

use super::mcp::McpControl;
use super::mirror::Mirror;
use super::plugins::{HostAgent, PluginControl};
use crate::FrameOptions;
use std::sync::Arc;
use std::time::Duration;
use windlass_conversation::SlashCommand;
use windlass_runtime::SystemIds;
use windlass_tool::Ids;
use windlass_types::{Effort, ModelInfo, PermissionMode};

/// Options of a server, as the host's command line sets them.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct ServerOptions {
    /// Options of frames.
    pub frames: FrameOptions,
    /// Permissions of the host.
    pub permissions: PermissionOptions,
    /// Additional reports to the host.
    pub reports: ReportOptions,
    /// Models to offer.
    pub models: Vec<HostModel>,
    /// Names of the output styles that settings can choose. Default: `default` alone.
    pub output_styles: Vec<String>,
    /// Slash commands.
    pub commands: CommandOptions,
    /// MCP servers.
    pub mcp: McpSetup,
    /// Plugins. Default: there are none, and control requests about them are not supported.
    pub plugins: Option<Arc<dyn PluginControl>>,
    /// Agents that the model can start, beside those of the host and of plugins. Default: none, and there is no tool to
    /// start agents.
    pub agents: Vec<HostAgent>,
    /// Id of the session that is resumed, for frames before it is open.
    pub session_id: Option<String>,
    /// Maximum number of bytes of a line of the host. Default: 64 MiB.
    pub max_line: usize,
    /// Time limit for background work after the end of the input, with the runs that begin when it ends; `None` means
    /// no limit. Then the work is stopped. Default: ten minutes.
    pub background_wait: Option<Duration>,
    /// Source of random ids. Default: the operating system.
    pub ids: Arc<dyn Ids>,
}

/// A model that hosts offer their users.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct HostModel {
    /// Name by which a host requests it.
    pub name: String,
    /// Purpose of the model, in a line.
    pub description: String,
    /// Id of the model, if known.
    pub id: Option<String>,
    /// Supported efforts; empty if it has no such setting.
    pub efforts: Vec<Effort>,
    /// `true` if the model can decide itself how much to think.
    pub adaptive_thinking: bool,
    /// `true` if sessions with it may be in the mode `auto`.
    pub auto_mode: bool,
}

impl HostModel {
    /// Creates a model with a name and no other facts.
    pub fn new(name: impl Into<String>, description: impl Into<String>) -> Self {
        Self {
            name: name.into(),
            description: description.into(),
            id: None,
            efforts: Vec::new(),
            adaptive_thinking: false,
            auto_mode: false,
        }
    }

    /// Sets the id of the model, and its abilities.
    #[must_use]
    pub fn with_info(mut self, id: impl Into<String>, info: &ModelInfo) -> Self {
        self.id = Some(id.into());
        self.efforts.clone_from(&info.efforts);
        self.adaptive_thinking = info.adaptive_thinking;
        self
    }

    /// Permits the mode `auto` in sessions with the model. Default: `false`.
    #[must_use]
    pub fn with_auto_mode(mut self, on: bool) -> Self {
        self.auto_mode = on;
        self
    }
}

/// Permissions of the host.
#[derive(Debug, Clone, Copy, Default)]
#[non_exhaustive]
pub struct PermissionOptions {
    /// `true` if the host answers permission requests. Default: `false`.
    pub prompts: bool,
    /// Initial permission mode of sessions. Default: `default`.
    pub mode: PermissionMode,
    /// `true` if the host may switch to `bypassPermissions`. Default: `false`.
    pub bypass_allowed: bool,
    /// `true` if the host must not switch to `auto`. Default: `false`.
    pub auto_forbidden: bool,
}

/// Additional reports to the host.
#[derive(Debug, Clone, Default)]
#[non_exhaustive]
pub struct ReportOptions {
    /// Reports to the host when the session is busy or idle. Default: `false`.
    pub session_state: bool,
    /// Returns each of the host's messages when its turn begins. Default: `false`.
    pub replay_user_messages: bool,
    /// Mirror that sends the host the lines of the session's log. Default: none.
    pub mirror: Option<Mirror>,
}

/// Slash commands of sessions.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct CommandOptions {
    /// `true` if a prompt that begins with a slash may be a command. Default: `true`.
    pub enabled: bool,
    /// Commands that sessions will add to those of the server itself: they are listed before a session is open.
    pub known: Vec<SlashCommand>,
}

impl Default for CommandOptions {
    fn default() -> Self {
        Self { enabled: true, known: Vec::new() }
    }
}

/// MCP servers of sessions.
#[derive(Debug, Clone, Default)]
#[non_exhaustive]
pub struct McpSetup {
    /// Port to the servers. Default: none, and the host's in-process servers are not used.
    pub control: Option<Arc<dyn McpControl>>,
    /// In-process servers from the host's command line.
    pub named: Vec<String>,
}

impl Default for ServerOptions {
    fn default() -> Self {
        Self {
            frames: FrameOptions::default(),
            permissions: PermissionOptions::default(),
            reports: ReportOptions::default(),
            models: Vec::new(),
            output_styles: vec!["default".to_owned()],
            commands: CommandOptions::default(),
            mcp: McpSetup::default(),
            plugins: None,
            agents: Vec::new(),
            session_id: None,
            max_line: 64 * 1024 * 1024,
            background_wait: Some(Duration::from_secs(600)),
            ids: Arc::new(SystemIds::default()),
        }
    }
}
