//! Conversations: a session with everything that a person does with it over time, for terminals, editors and services.
//!
//! [`LiveConversation`] takes messages, requests and answers in, and gives [`Update`]s, which a [`Presenter`] shows.
//! The conversation opens its sessions with
//! [`SessionBuilder::open_conversation`](crate::SessionBuilder::open_conversation).
//!
//! ```
//! use std::sync::Arc;
//! use windlass::conversation::{
//!     ConversationAsker, ConversationOptions, Input, LiveConversation, Message, SessionSettings, Update,
//! };
//! use windlass::{Delta, EventKind, Script, ScriptedModel, session};
//!
//! # #[tokio::main(flavor = "current_thread")]
//! # async fn main() {
//! let open = |settings: SessionSettings, _: ConversationAsker| async move {
//!     let model = ScriptedModel::new(Script::new().turn(|turn| turn.text("Good morning.")));
//!     Ok(session().provider(model).open_conversation(&settings).await?.0)
//! };
//! let mut conversation = LiveConversation::new(ConversationOptions::default(), windlass::conversation::ids(), open);
//! conversation.handle(Input::Message(Box::new(Message::text("Hello"))));
//! conversation.handle(Input::End);
//! let mut answer = String::new();
//! while let Some(update) = conversation.next().await {
//!     if let Update::Event(event) = update
//!         && let EventKind::BlockDelta { delta: Delta::Text(text), .. } = event.kind
//!     {
//!         answer.push_str(&text);
//!     }
//! }
//! assert_eq!(answer, "Good morning.");
//! # }
//! ```

mod commands;
#[cfg(feature = "mcp")]
mod server_prompts;
#[cfg(not(feature = "mcp"))]
#[path = "absent/server_prompts.rs"]
mod server_prompts;

pub use windlass_conversation::{
    Answer, ConversationAsker, ConversationOptions, Input, LiveConversation, Message, MessageState, OpenFailure,
    OpenSession, Presenter, Priority, Question, Refusal, Request, RewindScope, SessionSettings, SettingsChange,
    SlashCommand, Update,
};

use crate::error::Error;
use crate::options::{ModelOptions, Options};
use crate::resume::Start;
use crate::session_builder::SessionBuilder;
use crate::session_tools::SessionTools;
use crate::sessions::owner;
use crate::storage::Storage;
use commands::SessionCommands;
use std::sync::{Arc, Mutex};
use windlass_runtime::{ModelProfile, SystemIds};
use windlass_session::{Annotation, SessionKey};
use windlass_tool::Ids;
use windlass_types::ContentBlock;

/// Random ids, for the messages and questions of a conversation.
pub fn ids() -> Arc<dyn Ids> {
    Arc::new(SystemIds::default())
}

impl SessionBuilder {
    /// Opens the session for a conversation, with the requested settings. Its commands are those of the
    /// [project](Self::project) and its MCP servers. Its model is chosen by the names of the provider, and it can be
    /// named if it is stored.
    ///
    /// The environment variables of the settings are up to the caller.
    ///
    /// # Errors
    /// The same as [`open`](Self::open).
    pub async fn open_conversation(self, settings: &SessionSettings) -> Result<(OpenSession, SessionTools), Error> {
        let mut builder = self;
        if settings.is_fresh {
            builder.options.start = Start::default();
        }
        let builder = builder.resolve()?;
        let configured = builder.options().clone();
        let cwd = configured.working_directory()?;
        let provider = configured.provider()?;
        let default = configured.model().unwrap_or("default").to_owned();
        let (session, tools) = builder.with_settings(settings).open_with_tools().await?;
        let key = SessionKey::new(configured.project_key(&cwd), session.handle.session_id().clone());
        let commands = SessionCommands::of(&configured, &session.handle, &tools).await;
        let mut opened = OpenSession::new(session, move |name| {
            let id = provider.resolve_model(name.unwrap_or(&default));
            let info = provider.model_info(&id);
            ModelProfile::new(id, info)
        })
        .with_thinking(configured.thinking())
        .with_permission_mode(configured.permission_mode());
        if let Some(commands) = commands {
            let listed = commands.list();
            let (looking, last) = (commands.clone(), Mutex::new(listed.clone()));
            opened = opened
                .before_prompts(move || looking.look(&last))
                .with_commands(listed, move |name, arguments| commands.clone().expand(name, arguments));
        }
        if !settings.is_fresh {
            opened = opened.with_initial_prompt(initial_prompt(&configured));
        }
        Ok((with_stored_files(opened, &configured.storage, key), tools))
    }

    /// Applies the settings that were requested instead of the configured ones.
    fn with_settings(mut self, settings: &SessionSettings) -> Self {
        if let Some(Some(model)) = &settings.model {
            self = self.model(model);
        }
        if let Some(mode) = settings.permission_mode {
            self.options.permissions.mode = Some(mode);
        }
        match settings.thinking.flatten() {
            Some(thinking) => self.model(ModelOptions::new().thinking(thinking)),
            None => self,
        }
    }
}

/// The text for the first prompt, with its command expanded.
fn initial_prompt(options: &Options) -> Vec<ContentBlock> {
    let Some(text) = options.initial_prompt() else { return Vec::new() };
    let command = text.strip_prefix('/').and_then(|called| {
        let (name, arguments) = called.split_once(char::is_whitespace).unwrap_or((called, ""));
        let prompt = options.project.applied()?.called(name, arguments, None).ok().flatten();
        prompt.filter(|prompt| prompt.parts.is_empty())
    });
    command.map_or_else(|| vec![ContentBlock::text(text)], |prompt| prompt.content)
}

/// Adds the naming and the transcript file of a stored session.
fn with_stored_files(mut opened: OpenSession, storage: &Storage, key: SessionKey) -> OpenSession {
    if let Some(home) = &storage.home {
        opened = opened.with_transcript(home.store().log_path(&key));
    }
    let Some(store) = storage.store() else { return opened };
    opened.with_rename(move |title| {
        let (store, key) = (Arc::clone(&store), key.clone());
        async move { Ok(store.annotate(&key, &owner(), &Annotation::title(&title)?).await?) }
    })
}
