//! What the sessions of a project share.

use super::live::OpenSettings;
use super::notice::Notices;
use super::prompt::ReadCommands;
use super::request::Choice;
use super::skills::ListedSkills;
use crate::lock::Lock;
use crate::session::SessionTools;
use std::collections::BTreeMap;
use std::sync::Arc;
use windlass_project::{PluginDir, Plugins};
use windlass_subagent::Subagents;
use windlass_types::SessionId;

/// What all sessions of a project share.
#[derive(Default)]
pub(crate) struct Shared {
    pub(crate) notices: Arc<Notices>,
    pub(super) plugins: Lock<LoadedPlugins>,
    pub(super) commands: Lock<Option<ReadCommands>>,
    /// What the models of open sessions have read of skills.
    pub(crate) listed_skills: Lock<ListedSkills>,
    pub(super) settings: Lock<BTreeMap<SessionId, OpenSettings>>,
    /// Held while settings are read again.
    pub(super) refreshing: tokio::sync::Mutex<()>,
    pub(super) sessions: Lock<Vec<OpenSession>>,
    #[cfg(feature = "mcp")]
    pub(crate) servers: std::sync::OnceLock<super::ProjectServers>,
    /// What the program of the first session says of its sandbox.
    #[cfg(all(feature = "mcp", feature = "sandbox"))]
    pub(crate) sandbox: Arc<std::sync::OnceLock<super::confined_servers::ProgramSandbox>>,
}

/// The plugins that were named, and what they are.
#[derive(Debug, Default)]
pub(super) struct LoadedPlugins {
    pub(super) directories: Vec<PluginDir>,
    pub(super) plugins: Arc<Plugins>,
}

/// An open session whose model may give tasks to agents.
pub(crate) struct OpenSession {
    pub(super) tools: SessionTools,
    pub(super) choice: Choice,
    /// What the program gave it, before files and plugins were added.
    pub(super) base: Subagents,
    pub(super) current: Subagents,
}
