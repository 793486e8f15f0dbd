//! What an open session can do beside running prompts.

use super::OpenFailure;
use super::commands::{Expand, SlashCommand};
use super::plugins::HostAgent;
use super::setup::Opened;
use futures_util::future::BoxFuture;
use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;
use windlass_runtime::{Prompt, PromptKind};
use windlass_types::{ContentBlock, JsonText, PermissionMode, Thinking};

/// Takes variables that replace those of the environment.
pub(crate) type Environment = Arc<dyn Fn(&BTreeMap<String, String>) + Send + Sync>;

/// Names the session.
pub(crate) type Rename = Arc<dyn Fn(String) -> BoxFuture<'static, Result<(), OpenFailure>> + Send + Sync>;

/// Says what every request holds beside the conversation.
pub(crate) type Context = Arc<dyn Fn() -> Vec<ContextPart> + Send + Sync>;

/// A part of every request that the conversation does not change.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct ContextPart {
    /// A short id, such as `system_prompt`.
    pub id: String,
    /// What users read.
    pub name: String,
    /// Estimated tokens.
    pub tokens: u64,
}

impl ContextPart {
    /// A part of every request.
    pub fn new(id: impl Into<String>, name: impl Into<String>, tokens: u64) -> Self {
        Self { id: id.into(), name: name.into(), tokens }
    }
}

/// What an open session can do beside running prompts. Nothing that is absent is possible.
#[derive(Clone, Default)]
pub(crate) struct Extras {
    pub(crate) commands: Option<(Vec<SlashCommand>, Expand)>,
    pub(crate) environment: Option<Environment>,
    pub(crate) rename: Option<Rename>,
    pub(crate) context: Option<Context>,
    pub(crate) settings: Option<JsonText>,
    pub(crate) thinking: Thinking,
    pub(crate) only_compacts_when_told: bool,
    pub(crate) permission_mode: Option<PermissionMode>,
    pub(crate) initial_prompt: Vec<ContentBlock>,
    pub(crate) agents: Option<Vec<HostAgent>>,
}

impl Extras {
    /// Puts what the session begins with in front of its first prompt.
    pub(crate) fn begin(&mut self, mut prompt: Prompt) -> Prompt {
        if prompt.kind == PromptKind::Query {
            prompt.content.splice(0..0, std::mem::take(&mut self.initial_prompt));
        }
        prompt
    }
}

impl fmt::Debug for Extras {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Extras")
            .field("commands", &self.commands.as_ref().map(|(commands, _)| commands))
            .finish_non_exhaustive()
    }
}

impl Opened {
    /// Adds slash commands. `expand` is given the name of one of them and what
    /// follows it, and says what the prompt is; if it says nothing, the model
    /// reads the text as it is.
    #[must_use]
    pub fn with_commands(
        mut self,
        commands: Vec<SlashCommand>,
        expand: impl Fn(&str, &str) -> Option<Vec<ContentBlock>> + Send + Sync + 'static,
    ) -> Self {
        self.extras.commands = Some((commands, Arc::new(expand)));
        self
    }

    /// Takes variables that the host sends while the session is open, such as a
    /// renewed token. They are to reach the provider and the programs of later calls.
    #[must_use]
    pub fn with_environment(mut self, take: impl Fn(&BTreeMap<String, String>) + Send + Sync + 'static) -> Self {
        self.extras.environment = Some(Arc::new(take));
        self
    }

    /// Lets the host name the session.
    #[must_use]
    pub fn with_rename<O>(mut self, rename: impl Fn(String) -> O + Send + Sync + 'static) -> Self
    where
        O: Future<Output = Result<(), OpenFailure>> + Send + 'static,
    {
        self.extras.rename = Some(Arc::new(move |title| Box::pin(rename(title))));
        self
    }

    /// Says what every request holds beside the conversation, when the host asks what fills the context window.
    #[must_use]
    pub fn with_context(mut self, parts: impl Fn() -> Vec<ContextPart> + Send + Sync + 'static) -> Self {
        self.extras.context = Some(Arc::new(parts));
        self
    }

    /// Says whether the conversation is replaced by a summary when the context
    /// window is nearly full, as sessions do by default.
    #[must_use]
    pub fn with_auto_compact(mut self, on: bool) -> Self {
        self.extras.only_compacts_when_told = !on;
        self
    }

    /// Says which mode the session began in, if it is another one than [`ServerOptions::permission_mode`] and the
    /// host asked for none.
    ///
    /// [`ServerOptions::permission_mode`]: super::ServerOptions::permission_mode
    #[must_use]
    pub fn with_permission_mode(mut self, mode: PermissionMode) -> Self {
        self.extras.permission_mode = Some(mode);
        self
    }

    /// Begins the conversation with this: it goes in front of the host's first prompt.
    #[must_use]
    pub fn with_initial_prompt(mut self, blocks: Vec<ContentBlock>) -> Self {
        self.extras.initial_prompt = blocks;
        self
    }

    /// Says which agents the model can start, if others than [`ServerOptions::agents`] with those of plugins and of
    /// the host.
    ///
    /// [`ServerOptions::agents`]: super::ServerOptions::agents
    #[must_use]
    pub fn with_agents(mut self, agents: Vec<HostAgent>) -> Self {
        self.extras.agents = Some(agents);
        self
    }

    /// Says how the session reasons when the host asks for nothing else. Default: not at all.
    #[must_use]
    pub fn with_thinking(mut self, thinking: Thinking) -> Self {
        self.extras.thinking = thinking;
        self
    }

    /// Says what the settings are: the answer to `get_settings`, an object.
    #[must_use]
    pub fn with_settings(mut self, settings: JsonText) -> Self {
        self.extras.settings = Some(settings);
        self
    }
}
