//! What a host wants of a session, and the session it gets.

use super::error::OpenFailure;
use super::extras::Extras;
use super::hooks::HostHooks;
use super::hooks::table::HookConfig;
use super::permission::HostPermissions;
use super::plugins::HostAgent;
use futures_util::future::BoxFuture;
use serde::Deserialize;
use std::collections::BTreeMap;
use std::fmt;
use std::path::PathBuf;
use std::sync::Arc;
use windlass_conversation::{Expanded, SlashCommand};
use windlass_runtime::{ModelProfile, Session};
use windlass_types::{ContentBlock, JsonError, JsonText, PermissionMode, Thinking};

/// Separates the part of a system prompt that all sessions share from the rest.
const BOUNDARY: &str = "__SYSTEM_PROMPT_DYNAMIC_BOUNDARY__";

/// The host's `initialize` request.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct Initialize {
    /// The system prompt instead of the preset; empty means none. Absent if the host names none.
    pub system_prompt: Option<String>,
    /// A text behind the system prompt.
    pub append_system_prompt: Option<String>,
    /// The JSON Schema that the output of each run must fit, if there is one.
    pub json_schema: Option<JsonText>,
    /// The in-process MCP servers of the host.
    pub sdk_mcp_servers: Vec<String>,
    /// The whole request as it came, with all fields that are not understood.
    pub body: JsonText,
    pub(crate) hooks: Option<HookConfig>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Fields {
    #[serde(default)]
    hooks: Option<HookConfig>,
    #[serde(default)]
    system_prompt: Option<Text>,
    #[serde(default)]
    append_system_prompt: Option<String>,
    #[serde(default)]
    json_schema: Option<JsonText>,
    #[serde(default)]
    sdk_mcp_servers: Option<Vec<String>>,
}

#[derive(Deserialize)]
#[serde(untagged)]
enum Text {
    One(String),
    Parts(Vec<String>),
}

impl Initialize {
    pub(crate) fn parse(body: JsonText) -> Result<Self, JsonError> {
        let fields: Fields = body.to()?;
        let system_prompt = fields.system_prompt.map(|text| match text {
            Text::One(text) => text,
            Text::Parts(parts) => {
                let parts = parts.iter().map(String::as_str).filter(|part| *part != BOUNDARY && !part.is_empty());
                parts.collect::<Vec<_>>().join("\n\n")
            }
        });
        Ok(Self {
            system_prompt,
            append_system_prompt: fields.append_system_prompt.filter(|text| !text.is_empty()),
            json_schema: fields.json_schema.filter(|schema| schema.as_str() != "null"),
            sdk_mcp_servers: fields.sdk_mcp_servers.unwrap_or_default(),
            body,
            hooks: fields.hooks,
        })
    }
}

/// The host's settings before its first prompt: a session is opened with them.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct HostSetup {
    /// Its `initialize` request, if it made one.
    pub initialize: Option<Initialize>,
    /// The permission mode that it asked for, if it did.
    pub permission_mode: Option<PermissionMode>,
    /// The model that it asked for; `Some(None)` is the default one.
    pub model: Option<Option<String>>,
    /// How it wants the model to reason; `Some(None)` is the default.
    pub thinking: Option<Option<Thinking>>,
    /// Variables that replace those of the environment.
    pub environment: BTreeMap<String, String>,
    /// Whether the session must be a new one with an id of its own, even if the
    /// command line resumes one: the host cleared the one before.
    pub fresh: bool,
    /// Its hooks. To be registered even when there are none yet.
    pub hooks: HostHooks,
    /// It answers questions about tool calls, if it does.
    pub permissions: Option<HostPermissions>,
}

/// Finds a model by id or alias, and the default one for `None`.
pub(crate) type Models = Arc<dyn Fn(Option<&str>) -> ModelProfile + Send + Sync>;

/// A session that was opened for a host.
#[non_exhaustive]
pub struct Opened {
    /// The session.
    pub session: Session,
    /// Where it is written, if it is.
    pub transcript: Option<PathBuf>,
    pub(crate) models: Models,
    pub(crate) extras: Extras,
}

impl fmt::Debug for Opened {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Opened").field("session", &self.session).field("transcript", &self.transcript).finish()
    }
}

impl Opened {
    /// An open session. `models` finds a model by id or alias, and the default one for `None`.
    pub fn new(session: Session, models: impl Fn(Option<&str>) -> ModelProfile + Send + Sync + 'static) -> Self {
        Self { session, transcript: None, models: Arc::new(models), extras: Extras::default() }
    }

    /// Sets where the session is written.
    #[must_use]
    pub fn with_transcript(mut self, path: impl Into<PathBuf>) -> Self {
        self.transcript = Some(path.into());
        self
    }
}

impl Opened {
    /// Adds slash commands. `expand` is given the name of one of them and what
    /// follows it, and returns the prompt; if it returns `None`, the model
    /// reads the text as it is. If it fails, the host is shown why, and the model reads nothing.
    #[must_use]
    pub fn with_commands<F>(
        mut self,
        commands: Vec<SlashCommand>,
        expand: impl Fn(String, String) -> F + Send + Sync + 'static,
    ) -> Self
    where
        F: Future<Output = Expanded> + Send + 'static,
    {
        let expand = move |name, arguments| -> BoxFuture<'static, Expanded> { Box::pin(expand(name, arguments)) };
        self.extras.commands = Some((commands, Arc::new(expand)));
        self
    }

    /// Calls this before each prompt that goes to the session, such as to look whether files have changed. It should take a few
    /// milliseconds at most: the host waits for it. What it returns are the commands that are listed from then on; `None` if
    /// they have not changed.
    #[must_use]
    pub fn before_prompts(mut self, look: impl Fn() -> Option<Vec<SlashCommand>> + Send + Sync + 'static) -> Self {
        self.extras.before_prompts = Some(Arc::new(look));
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

    /// Sets whether the conversation is replaced by a summary when the context
    /// window is nearly full, as sessions do by default.
    #[must_use]
    pub fn with_auto_compact(mut self, on: bool) -> Self {
        self.extras.compacts_on_request_only = !on;
        self
    }

    /// Sets the mode that the session began in, if it is another one than [`PermissionOptions::mode`] and the
    /// host asked for none.
    ///
    /// [`PermissionOptions::mode`]: super::PermissionOptions::mode
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

    /// Sets the agents that the model can start, if others than [`ServerOptions::agents`] with those of plugins and of
    /// the host.
    ///
    /// [`ServerOptions::agents`]: super::ServerOptions::agents
    #[must_use]
    pub fn with_agents(mut self, agents: Vec<HostAgent>) -> Self {
        self.extras.agents = Some(agents);
        self
    }

    /// Sets the output style of the session, if it is another one than [`FrameOptions::output_style`].
    ///
    /// [`FrameOptions::output_style`]: crate::FrameOptions::output_style
    #[must_use]
    pub fn with_output_style(mut self, name: impl Into<String>) -> Self {
        self.extras.output_style = Some(name.into());
        self
    }

    /// Names a new session, as soon as its log has a message.
    #[must_use]
    pub fn with_title(mut self, title: Option<String>) -> Self {
        self.extras.title = title;
        self
    }

    /// Sets how the session reasons unless the host asks for another way. Default: not at all.
    #[must_use]
    pub fn with_thinking(mut self, thinking: Thinking) -> Self {
        self.extras.thinking = thinking;
        self
    }

    /// Sets the settings that are shown: the answer to `get_settings`, an object.
    #[must_use]
    pub fn with_settings(mut self, settings: JsonText) -> Self {
        self.extras.settings = Some(settings);
        self
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn prompts_come_as_text_or_parts() {
        for (field, expected) in [
            (r#""x":1"#, None),
            (r#""systemPrompt":null"#, None),
            (r#""systemPrompt":[""]"#, Some("")),
            (r#""systemPrompt":"p""#, Some("p")),
            (r#""systemPrompt":["a","__SYSTEM_PROMPT_DYNAMIC_BOUNDARY__","b"]"#, Some("a\n\nb")),
        ] {
            let body = JsonText::parse(format!(r#"{{"subtype":"initialize","hooks":null,{field}}}"#)).unwrap();
            let initialize = Initialize::parse(body.clone()).unwrap();
            assert_eq!(initialize.system_prompt.as_deref(), expected, "{field}");
            assert_eq!(initialize.body, body);
        }
    }
}
