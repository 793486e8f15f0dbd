//! Scope of a run: rules, model and parts that a command or a skill brings to it.

use crate::{Effort, JsonText, ModelInfo};

/// Settings of one run in addition to those of the session, from the file of a command or a skill. They end with the
/// run. Default: none.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
#[non_exhaustive]
pub struct RunScope {
    /// Rules of calls that need no question. They lift no deny, no question of another rule, no safety floor and no plan mode.
    pub allow: Vec<String>,
    /// Rules of calls that are denied.
    pub deny: Vec<String>,
    /// Model of the run. `None`: that of the session.
    pub model: Option<RunModel>,
    /// Effort of the model. `None`: that of the session.
    pub effort: Option<Effort>,
    /// Commands and skills that brought the scope, by name: the hooks in their heads are active until the run ends.
    pub skills: Vec<String>,
}

impl RunScope {
    /// Returns `true` if the scope changes nothing.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }
}

/// The model of one run.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum RunModel {
    /// By its name, id or alias, as the provider of the session knows it.
    Named(String),
    /// The id with limits and price. The runtime resolves the name to it.
    Known {
        /// The id.
        id: String,
        /// Limits and price.
        info: Box<ModelInfo>,
    },
}

/// A part of a prompt that is put together when its run begins.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum PromptPart {
    /// Words.
    Text(String),
    /// Result of a tool call. The call passes the permission gate of the session before it runs.
    Call(PromptCall),
}

/// A tool call whose result is a part of a prompt. No message contains it, so hosts see only questions and verdicts
/// about it: the id of its tool use begins with [`PromptCall::ID_PREFIX`].
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct PromptCall {
    /// The name of the tool.
    pub tool: String,
    /// Input of the call.
    pub input: JsonText,
    /// Source text of the call in the file, for messages.
    pub source: String,
    /// Text before the result, if there is a result. Default: empty.
    pub lead: String,
    /// Text in the prompt if the call does not run or fails. `None`: the run then ends, and the prompt is not sent.
    pub otherwise: Option<String>,
    /// Command or skill whose program the call runs. `None` for any other call.
    pub command: Option<PromptCommand>,
}

/// A command or skill whose text runs programs.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct PromptCommand {
    /// Name of the command or skill, without the slash.
    pub name: String,
    /// Source of the command or skill, such as `user` or `project`.
    pub source: String,
}

impl PromptCommand {
    /// A command or skill of this name.
    pub fn new(name: impl Into<String>, source: impl Into<String>) -> Self {
        Self { name: name.into(), source: source.into() }
    }
}

impl PromptCall {
    /// Prefix of the ids of such calls. Events name a call of a prompt by its id alone, since no message contains it.
    pub const ID_PREFIX: &'static str = "prompt_";

    /// A call without which the prompt is not sent.
    pub fn new(tool: impl Into<String>, input: JsonText, source: impl Into<String>) -> Self {
        Self { tool: tool.into(), input, source: source.into(), lead: String::new(), otherwise: None, command: None }
    }

    /// Sets the command or skill whose program the call runs.
    #[must_use]
    pub fn of_command(mut self, command: PromptCommand) -> Self {
        self.command = Some(command);
        self
    }

    /// Sets the text before the result.
    #[must_use]
    pub fn led_by(mut self, lead: impl Into<String>) -> Self {
        self.lead = lead.into();
        self
    }

    /// Sets the text in the prompt if the call does not run or fails.
    #[must_use]
    pub fn or_else(mut self, text: impl Into<String>) -> Self {
        self.otherwise = Some(text.into());
        self
    }
}
