//! What options come to, for programs that look at them before a session opens.

use crate::{Options, Toolkit};
use windlass_context::SystemPrompt;
use windlass_runtime::Limits;
use windlass_subagent::Subagents;
use windlass_types::{PermissionMode, Thinking};

impl Options {
    /// The model that was named, by id or alias.
    pub fn model(&self) -> Option<&str> {
        self.model.as_deref()
    }

    /// The mode that the session begins in.
    pub fn permission_mode(&self) -> PermissionMode {
        self.permissions.mode.unwrap_or_default()
    }

    /// How the model may reason.
    pub fn thinking(&self) -> Thinking {
        self.thinking.unwrap_or(Thinking::Adaptive)
    }

    /// The system prompt, with all that goes behind it.
    pub fn system_prompt(&self) -> SystemPrompt {
        self.system_prompt.clone().unwrap_or_default().append(&self.appended_prompt)
    }

    /// The agents that the model can give tasks to; `None` if it has no tool for that. MCP servers and structured output
    /// aside, this and [`tools`](Self::tools) are what it is offered.
    pub fn subagents(&self) -> Option<&Subagents> {
        self.subagents.as_ref()
    }

    /// The tools of the program, as far as lists of [tools](crate::SessionBuilder::only_tools) keep them.
    pub fn tools(&self) -> Toolkit {
        let kept = self.toolkit.tools.iter().filter(|tool| self.only_tools.keeps(&tool.spec().name));
        Toolkit::from(kept.cloned().collect::<Vec<_>>())
    }

    /// What a new session begins with, before its first prompt, if its agent says so. A [query](crate::query()) puts it in
    /// front of its prompt; for a session it is up to the program.
    #[cfg(feature = "project")]
    pub fn initial_prompt(&self) -> Option<&str> {
        self.initial_prompt.as_deref()
    }

    /// The limits of runs.
    pub(crate) fn limits(&self) -> Limits {
        let mut limits = self.limits.clone();
        limits.max_retries = self.max_retries.unwrap_or(limits.max_retries);
        limits.max_structured_output_retries =
            self.structured_output_retries.unwrap_or(limits.max_structured_output_retries);
        limits
    }
}
