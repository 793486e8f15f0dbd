//! The input of the tool.

use crate::built_in::DEFAULT_TYPE;
use crate::text::one_line;
use schemars::JsonSchema;
use serde::Deserialize;
use windlass_tool::ToolError;
use windlass_types::{Effort, JsonText};

/// Maximum number of characters of the description of a call.
const MAX_DESCRIPTION_CHARS: usize = 120;

/// Input of a call. Unknown fields are ignored.
#[derive(Debug, Deserialize, JsonSchema)]
pub(crate) struct AgentInput {
    /// The task in three to five words, for the person who watches.
    description: String,
    /// The whole task: what to do, what is known already, and what to report.
    pub(crate) prompt: String,
    /// The type of agent; general-purpose unless given.
    #[serde(default)]
    subagent_type: Option<String>,
    /// The model, by alias such as sonnet, opus or haiku. Leave it out unless the user asked for one.
    #[serde(default)]
    model: Option<String>,
    /// Thinking effort of the model: low, medium, high, xhigh or max. Leave it out unless there is a reason.
    #[serde(default)]
    effort: Option<String>,
    /// `true` to let the agent work in the background while you go on.
    #[serde(default)]
    pub(crate) run_in_background: Option<bool>,
    #[serde(default)]
    #[schemars(skip)]
    isolation: Option<JsonText>,
}

impl AgentInput {
    /// Refuses an input that no agent can be started with.
    pub(crate) fn check(&self) -> Result<(), ToolError> {
        if self.prompt.trim().is_empty() {
            return Err(ToolError::invalid_input("The prompt is empty: say what the agent is to do."));
        }
        if self.isolation.is_some() {
            return Err(ToolError::invalid_input(
                "Agents cannot be isolated here: they work in the directory of this session. Leave `isolation` out.",
            ));
        }
        self.effort().map(drop)
    }

    /// Returns the type exactly as the call names it: rules are compared with this spelling.
    pub(crate) fn agent_type(&self) -> &str {
        self.subagent_type.as_deref().unwrap_or(DEFAULT_TYPE)
    }

    /// Returns the task in a line.
    pub(crate) fn title(&self) -> String {
        let description = one_line(&self.description, MAX_DESCRIPTION_CHARS);
        if description.is_empty() { one_line(&self.prompt, MAX_DESCRIPTION_CHARS) } else { description }
    }

    /// Returns the model of the call, or else that of the definition.
    pub(crate) fn model_or(&self, defined: Option<&str>) -> Option<String> {
        let model = self.model.as_deref().filter(|model| !model.is_empty()).or(defined);
        named(model)
    }

    pub(crate) fn effort(&self) -> Result<Option<Effort>, ToolError> {
        let requested = self.effort.as_deref().filter(|effort| !effort.is_empty());
        requested.map(str::parse).transpose().map_err(|problem: String| ToolError::invalid_input(problem))
    }
}

/// Returns a model other than that of the parent.
pub(crate) fn named(model: Option<&str>) -> Option<String> {
    model.filter(|model| *model != "inherit" && !model.is_empty()).map(str::to_owned)
}
