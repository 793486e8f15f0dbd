//! Setup of a session for a host, and the opened session.

use super::hooks::HostHooks;
use super::hooks::table::HookConfig;
use super::machine::io::HostFacts;
use super::permission::HostPermissions;
use super::plugins::HostAgent;
use serde::Deserialize;
use windlass_conversation::{OpenSession, SessionSettings};
use windlass_types::{JsonError, JsonText};

/// Separator between the part of a system prompt that all sessions share and the rest.
const BOUNDARY: &str = "__SYSTEM_PROMPT_DYNAMIC_BOUNDARY__";

/// The host's `initialize` request.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct Initialize {
    /// System prompt instead of the preset; empty for none. Absent if the host names none.
    pub system_prompt: Option<String>,
    /// Text appended to the system prompt.
    pub append_system_prompt: Option<String>,
    /// JSON Schema that the output of each run must fit, if there is one.
    pub json_schema: Option<JsonText>,
    /// In-process MCP servers of the host.
    pub sdk_mcp_servers: Vec<String>,
    /// Whole request, unchanged, with all unknown fields.
    pub body: JsonText,
    pub(crate) hooks: Option<HookConfig>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct InitializeFields {
    #[serde(default)]
    hooks: Option<HookConfig>,
    #[serde(default)]
    system_prompt: Option<SystemPromptField>,
    #[serde(default)]
    append_system_prompt: Option<String>,
    #[serde(default)]
    json_schema: Option<JsonText>,
    #[serde(default)]
    sdk_mcp_servers: Option<Vec<String>>,
}

#[derive(Deserialize)]
#[serde(untagged)]
enum SystemPromptField {
    One(String),
    Parts(Vec<String>),
}

impl Initialize {
    pub(crate) fn parse(body: JsonText) -> Result<Self, JsonError> {
        let fields: InitializeFields = body.to()?;
        let system_prompt = fields.system_prompt.map(|text| match text {
            SystemPromptField::One(text) => text,
            SystemPromptField::Parts(parts) => {
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

/// Settings of the host before its first prompt: a session is opened with them.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct HostSetup {
    /// `initialize` request, if the host made one.
    pub initialize: Option<Initialize>,
    /// Requested settings. A fresh session has an id of its own, even if the command line resumes one, because the host
    /// cleared the one before.
    pub settings: SessionSettings,
    /// Hooks of the host. To be registered even when there are none yet.
    pub hooks: HostHooks,
    /// Answers permission requests through the host, if it supports that.
    pub permissions: Option<HostPermissions>,
}

/// A session that was opened for a host.
#[derive(Debug)]
#[non_exhaustive]
pub struct Opened {
    /// The session.
    pub session: OpenSession,
    pub(crate) facts: HostFacts,
}

impl From<OpenSession> for Opened {
    fn from(session: OpenSession) -> Self {
        Self { session, facts: HostFacts::default() }
    }
}

impl Opened {
    /// Sets the agents that the model can start, if others than [`ServerOptions::agents`] with those of plugins and of
    /// the host.
    ///
    /// [`ServerOptions::agents`]: super::ServerOptions::agents
    #[must_use]
    pub fn with_agents(mut self, agents: Vec<HostAgent>) -> Self {
        self.facts.agents = Some(agents);
        self
    }

    /// Sets the output style of the session, if it differs from [`FrameOptions::output_style`].
    ///
    /// [`FrameOptions::output_style`]: crate::FrameOptions::output_style
    #[must_use]
    pub fn with_output_style(mut self, name: impl Into<String>) -> Self {
        self.facts.output_style = Some(name.into());
        self
    }

    /// Sets the displayed settings: the answer to `get_settings`, an object.
    #[must_use]
    pub fn with_settings(mut self, settings: JsonText) -> Self {
        self.facts.settings = Some(settings);
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
