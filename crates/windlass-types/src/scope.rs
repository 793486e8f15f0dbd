//! What a command or a skill brings to the run that it is used in.

use crate::{Effort, JsonText, ModelInfo};

/// What counts for one run beside what counts for the session: what the file of a command or a skill asks for. It ends
/// with the run. Default: nothing.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
#[non_exhaustive]
pub struct RunScope {
    /// Rules of calls that need no question. They lift no deny, no question of another rule, no safety floor and no plan mode.
    pub allow: Vec<String>,
    /// Rules of calls that are denied.
    pub deny: Vec<String>,
    /// The model that is called. `None`: that of the session.
    pub model: Option<RunModel>,
    /// How much the model spends on an answer. `None`: as the session says.
    pub effort: Option<Effort>,
    /// The commands and skills that brought it, by name: the hooks in their heads listen until the run ends.
    pub skills: Vec<String>,
}

impl RunScope {
    /// Whether it changes nothing.
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
    /// By all that is known of it. The runtime makes it of the name.
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
    /// What a call of a tool gives. The call passes the permission gate of the session before it runs.
    Call(PromptCall),
}

/// A call of a tool whose result is a part of a prompt. No message holds it, so hosts read only of questions and verdicts
/// about it: the id of its use begins with [`PromptCall::ID_PREFIX`].
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct PromptCall {
    /// The name of the tool.
    pub tool: String,
    /// Its input.
    pub input: JsonText,
    /// What stands in the file for it, as a message may quote it.
    pub source: String,
    /// What stands before the result, if there is one. Default: nothing.
    pub lead: String,
    /// What stands in the prompt if the call does not run or fails. `None`: the run then ends, and the prompt is not sent.
    pub otherwise: Option<String>,
    /// The command or skill whose program it runs. `None` for any other call.
    pub command: Option<PromptCommand>,
}

/// A command or skill whose text runs programs.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct PromptCommand {
    /// Its name, without the slash.
    pub name: String,
    /// Its source, such as `user` or `project`.
    pub source: String,
}

impl PromptCommand {
    /// A command or skill of this name.
    pub fn new(name: impl Into<String>, source: impl Into<String>) -> Self {
        Self { name: name.into(), source: source.into() }
    }
}

impl PromptCall {
    /// How the ids of such calls begin. Events name a call of a prompt by its id alone, since no message holds it.
    pub const ID_PREFIX: &'static str = "prompt_";

    /// A call without which the prompt is not sent.
    pub fn new(tool: impl Into<String>, input: JsonText, source: impl Into<String>) -> Self {
        Self { tool: tool.into(), input, source: source.into(), lead: String::new(), otherwise: None, command: None }
    }

    /// Sets the command or skill whose program it runs.
    #[must_use]
    pub fn of_command(mut self, command: PromptCommand) -> Self {
        self.command = Some(command);
        self
    }

    /// Sets what stands before the result, if there is one.
    #[must_use]
    pub fn led_by(mut self, lead: impl Into<String>) -> Self {
        self.lead = lead.into();
        self
    }

    /// Sets the text that stands in the prompt if the call does not run or fails.
    #[must_use]
    pub fn or_else(mut self, text: impl Into<String>) -> Self {
        self.otherwise = Some(text.into());
        self
    }
}
