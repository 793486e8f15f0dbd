//! The options of a server.

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

/// The options of a server, as the host's command line sets them.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct ServerOptions {
    /// How frames are written.
    pub frames: FrameOptions,
    /// What the host may answer and switch.
    pub permissions: PermissionOptions,
    /// What is reported to the host beside the conversation.
    pub reports: ReportOptions,
    /// The models to offer.
    pub models: Vec<HostModel>,
    /// The names of the output styles that settings can choose. Default: `default` alone.
    pub output_styles: Vec<String>,
    /// Slash commands.
    pub commands: CommandOptions,
    /// MCP servers.
    pub mcp: McpSetup,
    /// The plugins. Default: there are none, and orders that concern them are not supported.
    pub plugins: Option<Arc<dyn PluginControl>>,
    /// The agents that the model can start, beside those that the host and plugins define. Default: none, and there
    /// is no tool to start agents with.
    pub agents: Vec<HostAgent>,
    /// The session that is resumed, for frames before it is open.
    pub session_id: Option<String>,
    /// Most bytes of a line of the host. Default: 64 MiB.
    pub max_line: usize,
    /// How long background work is waited for when the input has ended, with the runs that begin when it ends;
    /// `None` means as long as it takes. Then it is stopped. Default: ten minutes.
    pub background_wait: Option<Duration>,
    /// Random ids. Default: from the operating system.
    pub ids: Arc<dyn Ids>,
}

/// A model that hosts offer their users.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct HostModel {
    /// The name that a host orders it by.
    pub name: String,
    /// Purpose of the model, in a line.
    pub description: String,
    /// The id that the name stands for, if it is known.
    pub id: Option<String>,
    /// The efforts that it can be asked for; empty if it has no such setting.
    pub efforts: Vec<Effort>,
    /// `true` if it can decide itself how much to reason.
    pub adaptive_thinking: bool,
    /// `true` if sessions with it may be in the mode `auto`.
    pub auto_mode: bool,
}

impl HostModel {
    /// A model of which no more is known than its name.
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

    /// Sets the id that the name stands for, and the abilities of that model.
    #[must_use]
    pub fn with_info(mut self, id: impl Into<String>, info: &ModelInfo) -> Self {
        self.id = Some(id.into());
        self.efforts.clone_from(&info.efforts);
        self.adaptive_thinking = info.adaptive_thinking;
        self
    }

    /// Sets whether sessions with it may be in the mode `auto`. Default: no.
    #[must_use]
    pub fn with_auto_mode(mut self, on: bool) -> Self {
        self.auto_mode = on;
        self
    }
}

/// What the host may answer and switch.
#[derive(Debug, Clone, Copy, Default)]
#[non_exhaustive]
pub struct PermissionOptions {
    /// Whether the host answers questions about tool calls. Default: no.
    pub prompts: bool,
    /// The mode that sessions begin in. Default: `default`.
    pub mode: PermissionMode,
    /// Whether the host may switch to `bypassPermissions`. Default: no.
    pub bypass_allowed: bool,
    /// Whether the host must not switch to `auto`. Default: it may.
    pub auto_forbidden: bool,
}

/// What is reported to the host beside the conversation.
#[derive(Debug, Clone, Default)]
#[non_exhaustive]
pub struct ReportOptions {
    /// Whether the host is informed when the session is busy or idle. Default: no.
    pub session_state: bool,
    /// Whether the host gets each of its messages back when its turn begins. Default: no.
    pub replay_user_messages: bool,
    /// Gives the host the lines of the session's log, if it wants them. Default: no.
    pub mirror: Option<Mirror>,
}

/// Slash commands of sessions.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct CommandOptions {
    /// Whether a prompt that begins with a slash may be a command. Default: yes.
    pub enabled: bool,
    /// Those that sessions will bring, beside those of the server itself: they are listed before a session is open.
    pub known: Vec<SlashCommand>,
}

impl Default for CommandOptions {
    fn default() -> Self {
        Self { enabled: true, known: Vec::new() }
    }
}

/// The MCP servers of sessions.
#[derive(Debug, Clone, Default)]
#[non_exhaustive]
pub struct McpSetup {
    /// The port to them. Default: none, and the host's in-process servers are not used.
    pub control: Option<Arc<dyn McpControl>>,
    /// In-process servers that the host's command line names.
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
