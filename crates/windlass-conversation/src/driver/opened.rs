//! A session that was opened for a conversation.

use crate::command::{Expanded, SlashCommand};
use crate::input::SessionFacts;
use futures_util::future::BoxFuture;
use std::collections::BTreeMap;
use std::fmt;
use std::path::PathBuf;
use std::sync::Arc;
use windlass_runtime::{ModelProfile, Session};
use windlass_types::{ContentBlock, PermissionMode, Thinking};

/// Reason why a session could not be opened, or an order of its owner failed.
pub type OpenFailure = Box<dyn std::error::Error + Send + Sync>;

/// A session that was opened for a conversation, with all that the conversation can ask of it beside runs.
pub struct OpenSession {
    pub(super) session: Session,
    pub(super) facts: SessionFacts,
    pub(super) extras: SessionExtras,
}

/// Functions of an open session. An absent one is not possible.
pub(super) struct SessionExtras {
    /// Finds a model by id or alias, and the configured one for `None`.
    pub(super) models: Box<FindModel>,
    /// Expands a command with its arguments.
    pub(super) expand: Option<Box<Expand>>,
    /// Reports the commands before a prompt, if they have changed.
    pub(super) before_prompts: Option<Box<Look>>,
    /// Takes variables that replace those of the environment.
    pub(super) environment: Option<Box<TakeVariables>>,
    /// Names the session.
    pub(super) rename: Option<Arc<Rename>>,
}

type FindModel = dyn Fn(Option<&str>) -> ModelProfile + Send + Sync;
type Expand = dyn Fn(String, String) -> BoxFuture<'static, Expanded> + Send + Sync;
type Look = dyn Fn() -> Option<Vec<SlashCommand>> + Send + Sync;
type TakeVariables = dyn Fn(&BTreeMap<String, String>) + Send + Sync;
type Rename = dyn Fn(String) -> BoxFuture<'static, Result<(), OpenFailure>> + Send + Sync;

impl fmt::Debug for OpenSession {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("OpenSession")
            .field("session", &self.session)
            .field("facts", &self.facts)
            .finish_non_exhaustive()
    }
}

impl OpenSession {
    /// An open session. `models` finds a model by id or alias, and the configured one for `None`.
    pub fn new(session: Session, models: impl Fn(Option<&str>) -> ModelProfile + Send + Sync + 'static) -> Self {
        let extras = SessionExtras {
            models: Box::new(models),
            expand: None,
            before_prompts: None,
            environment: None,
            rename: None,
        };
        Self { session, facts: SessionFacts::default(), extras }
    }

    /// The session.
    pub fn session(&self) -> &Session {
        &self.session
    }

    /// Sets the file of the transcript, if there is one.
    #[must_use]
    pub fn with_transcript(mut self, path: impl Into<PathBuf>) -> Self {
        self.facts.transcript = Some(path.into());
        self
    }

    /// Adds slash commands. `expand` is given the name of one of them and the text behind it, and returns the prompt;
    /// `None` means that the model reads the text as it is. A failure is shown, and the model reads nothing.
    #[must_use]
    pub fn with_commands<F>(
        mut self,
        commands: Vec<SlashCommand>,
        expand: impl Fn(String, String) -> F + Send + Sync + 'static,
    ) -> Self
    where
        F: Future<Output = Expanded> + Send + 'static,
    {
        self.facts.commands = Some(commands);
        self.extras.expand = Some(Box::new(move |name, arguments| Box::pin(expand(name, arguments))));
        self
    }

    /// Calls this before each prompt that goes to the session, such as to look whether files have changed. It blocks the
    /// conversation, so it may take a few milliseconds at most. The commands that it returns are listed from then on;
    /// `None` means that they have not changed.
    #[must_use]
    pub fn before_prompts(mut self, look: impl Fn() -> Option<Vec<SlashCommand>> + Send + Sync + 'static) -> Self {
        self.extras.before_prompts = Some(Box::new(look));
        self
    }

    /// Takes environment variables that come while the session is open, such as a renewed token. They are to reach the
    /// provider and the programs of later calls.
    #[must_use]
    pub fn with_environment(mut self, take: impl Fn(&BTreeMap<String, String>) + Send + Sync + 'static) -> Self {
        self.extras.environment = Some(Box::new(take));
        self
    }

    /// Lets the conversation name the session.
    #[must_use]
    pub fn with_rename<F>(mut self, rename: impl Fn(String) -> F + Send + Sync + 'static) -> Self
    where
        F: Future<Output = Result<(), OpenFailure>> + Send + 'static,
    {
        self.extras.rename = Some(Arc::new(move |title| Box::pin(rename(title))));
        self
    }

    /// Sets whether the conversation is replaced by a summary when the context window is nearly full. Default: `true`.
    #[must_use]
    pub fn with_auto_compact(mut self, on: bool) -> Self {
        self.facts.compacts_on_request_only = !on;
        self
    }

    /// Sets the mode that the session began in, if it is another one than
    /// [`ConversationOptions::permission_mode`](crate::ConversationOptions::permission_mode) and none was asked for.
    #[must_use]
    pub fn with_permission_mode(mut self, mode: PermissionMode) -> Self {
        self.facts.permission_mode = Some(mode);
        self
    }

    /// Puts these blocks in front of the first prompt.
    #[must_use]
    pub fn with_initial_prompt(mut self, blocks: Vec<ContentBlock>) -> Self {
        self.facts.initial_prompt = blocks;
        self
    }

    /// Sets the title of a new session, which it gets once its log has a message.
    #[must_use]
    pub fn with_title(mut self, title: Option<String>) -> Self {
        self.facts.title = title;
        self
    }

    /// Sets how the model reasons unless another way is asked for. Default: not at all.
    #[must_use]
    pub fn with_thinking(mut self, thinking: Thinking) -> Self {
        self.facts.thinking = thinking;
        self
    }
}
