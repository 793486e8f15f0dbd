//! Permission decisions for sandboxed commands: which of them need no permission request, and which may leave the
//! sandbox.

use crate::call::Call;
use crate::facts::CallFacts;
use crate::policy::Policy;
use windlass_shell::{BashPattern, analyse, parse_rule_pattern};
use windlass_types::{AuditedSandbox, Behavior, Decision, DecisionReason};

/// Input field of Bash that asks to run outside of the sandbox.
const DISABLE_SANDBOX_FIELD: &str = "dangerouslyDisableSandbox";

/// Sandbox settings of a policy. A policy without them treats every command as unconfined.
///
/// ```
/// use windlass_permission::SandboxedCommands;
///
/// let commands = SandboxedCommands::new().with_excluded(["docker *"]);
/// assert!(commands.confines("make test", false));
/// assert!(!commands.confines("docker ps", false));
/// // One command that is not excluded keeps the line inside.
/// assert!(commands.confines("docker ps && make", false));
/// assert!(!commands.confines("make test", true));
/// assert!(commands.without_escape().confines("make test", true));
/// ```
#[derive(Debug, Clone, Default)]
pub struct SandboxedCommands {
    auto_allow: bool,
    forbids_escape: bool,
    excluded: Vec<BashPattern>,
    isolation_level: Option<String>,
}

impl SandboxedCommands {
    /// Creates a sandbox that confines all commands. They need permission as usual, and may leave the sandbox when
    /// someone allows it.
    pub fn new() -> Self {
        Self::default()
    }

    /// Lets confined commands run without a permission request if no rule, hook, floor or mode asks or denies. Only for
    /// a sandbox with complete isolation.
    #[must_use]
    pub fn with_auto_allow(mut self) -> Self {
        self.auto_allow = true;
        self
    }

    /// Confines commands even if their calls ask to run outside.
    #[must_use]
    pub fn without_escape(mut self) -> Self {
        self.forbids_escape = true;
        self
    }

    /// Excludes commands from the sandbox, by patterns in the form of Bash rules (`docker *`). They need permission as
    /// usual.
    #[must_use]
    pub fn with_excluded(mut self, patterns: impl IntoIterator<Item = impl AsRef<str>>) -> Self {
        self.excluded.extend(patterns.into_iter().map(|pattern| parse_rule_pattern(pattern.as_ref())));
        self
    }

    /// Sets the proved isolation level, which the audit log records.
    #[must_use]
    pub fn with_level(mut self, level: impl Into<String>) -> Self {
        self.isolation_level = Some(level.into());
        self
    }

    /// Returns `true` if a command runs in the sandbox. `asks_to_leave` is `true` if its call asks to run outside.
    ///
    /// A line of several commands is excluded only if the analysis understands it and each of its commands is excluded.
    pub fn confines(&self, text: &str, asks_to_leave: bool) -> bool {
        (self.forbids_escape || !asks_to_leave) && !self.excludes(text)
    }

    fn excludes(&self, text: &str) -> bool {
        if self.excluded.is_empty() {
            return false;
        }
        let analysis = analyse(text);
        let Ok(understood) = analysis.understood() else { return false };
        let mut commands = understood.commands().iter().peekable();
        commands.peek().is_some()
            && commands.all(|command| self.excluded.iter().any(|pattern| pattern.matches_allow(command)))
    }

    /// Returns the decision *ask* for a call that would leave the sandbox, even if something else allows the call.
    pub(crate) fn lowers(&self, call: &Call<'_>) -> Option<Decision> {
        let command = call.facts.command.as_ref()?;
        let would_leave =
            asks_to_leave(call) && self.confines(&command.text, false) && !self.confines(&command.text, true);
        let message = "It wants to run outside of the sandbox.";
        would_leave.then(|| Decision::new(Behavior::Ask, DecisionReason::Sandbox, message))
    }

    /// Allows a confined command without a permission request, if auto-allow is set.
    pub(crate) fn allows(&self, call: &Call<'_>) -> Option<Decision> {
        let command = call.facts.command.as_ref()?;
        // A background command runs beside other calls: protected names that appear cannot be attributed to one of
        // them.
        let confined = self.auto_allow
            && call.tool == "Bash"
            && !command.background
            && self.confines(&command.text, asks_to_leave(call));
        confined.then(|| Decision::new(Behavior::Allow, DecisionReason::Sandbox, "It runs in the sandbox."))
    }
}

impl Policy {
    /// Returns the sandbox entry of a call for the audit log. `None`: the call runs no command, or no level is known.
    pub fn sandbox_of(&self, facts: &CallFacts) -> Option<AuditedSandbox> {
        let (sandbox, command) = (self.sandbox.as_ref()?, facts.command.as_ref()?);
        let confines = sandbox.confines(&command.text, asks_to_leave(&self.prepare(facts)));
        Some(AuditedSandbox::new(sandbox.isolation_level.clone()?, confines))
    }
}

fn asks_to_leave(call: &Call<'_>) -> bool {
    // Any value except `null` and `false` is treated as set. The tool refuses one that it cannot read as `true`.
    call.field(DISABLE_SANDBOX_FIELD).is_some_and(|value| !value.is_null() && value.as_bool() != Some(false))
}

#[cfg(test)]
mod tests;
