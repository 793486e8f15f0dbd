//! What an open session can do beside running prompts.

use super::error::OpenFailure;
use super::plugins::HostAgent;
use futures_util::future::BoxFuture;
use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;
use windlass_conversation::{Expanded, SlashCommand};
use windlass_types::{ContentBlock, JsonText, PermissionMode, Thinking};

/// Expands a command with its arguments.
pub(crate) type Expand = Arc<dyn Fn(String, String) -> BoxFuture<'static, Expanded> + Send + Sync>;

/// Reports the commands before a prompt, if they have changed.
pub(crate) type CommandCheck = Arc<dyn Fn() -> Option<Vec<SlashCommand>> + Send + Sync>;

/// Takes variables that replace those of the environment.
pub(crate) type Environment = Arc<dyn Fn(&BTreeMap<String, String>) + Send + Sync>;

/// Names the session.
pub(crate) type Rename = Arc<dyn Fn(String) -> BoxFuture<'static, Result<(), OpenFailure>> + Send + Sync>;

/// What an open session can do beside running prompts. What is absent is not possible.
#[derive(Clone, Default)]
pub(crate) struct Extras {
    pub(crate) commands: Option<(Vec<SlashCommand>, Expand)>,
    pub(crate) before_prompts: Option<CommandCheck>,
    pub(crate) environment: Option<Environment>,
    pub(crate) rename: Option<Rename>,
    pub(crate) settings: Option<JsonText>,
    pub(crate) thinking: Thinking,
    pub(crate) compacts_on_request_only: bool,
    pub(crate) permission_mode: Option<PermissionMode>,
    pub(crate) initial_prompt: Vec<ContentBlock>,
    pub(crate) agents: Option<Vec<HostAgent>>,
    pub(crate) output_style: Option<String>,
    pub(crate) title: Option<String>,
}

impl fmt::Debug for Extras {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Extras")
            .field("commands", &self.commands.as_ref().map(|(commands, _)| commands))
            .finish_non_exhaustive()
    }
}
