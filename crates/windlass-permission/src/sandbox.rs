//! Commands that run in a sandbox: which of them need no question, and which leave it.

use crate::call::Call;
use crate::facts::CallFacts;
use crate::policy::Policy;
use windlass_shell::{BashPattern, analyse, parse_rule_pattern};
use windlass_types::{AuditedSandbox, Behavior, Decision, DecisionReason};

/// The field of a call of Bash that asks to run outside of the sandbox.
const LEAVES: &str = "dangerouslyDisableSandbox";

/// Sandbox of commands, as known to a policy. Without it a policy treats commands as not confined.
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
    no_escape: bool,
    excluded: Vec<BashPattern>,
    level: Option<String>,
}

impl SandboxedCommands {
    /// Creates a sandbox in which commands are confined, ask as others do, and may leave the sandbox when someone
    /// allows it.
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

    /// Keeps commands inside that ask to run outside.
    #[must_use]
    pub fn without_escape(mut self) -> Self {
        self.no_escape = true;
        self
    }

    /// Has commands run outside of the sandbox, in the form that rules for Bash have (`docker *`). They ask as others
    /// do.
    #[must_use]
    pub fn with_excluded(mut self, patterns: impl IntoIterator<Item = impl AsRef<str>>) -> Self {
        self.excluded.extend(patterns.into_iter().map(|pattern| parse_rule_pattern(pattern.as_ref())));
        self
    }

    /// Sets the proved level, for the audit.
    #[must_use]
    pub fn with_level(mut self, level: impl Into<String>) -> Self {
        self.level = Some(level.into());
        self
    }

    /// Returns `true` if a command runs in the sandbox. `leaves`: its call asks to run outside.
    ///
    /// A line of several commands is excluded only if each of them is, and it is understood.
    pub fn confines(&self, text: &str, leaves: bool) -> bool {
        (self.no_escape || !leaves) && !self.excludes(text)
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

    /// Lowers a call that would leave the sandbox to *ask*, whatever allows it otherwise.
    pub(crate) fn lowers(&self, call: &Call<'_>) -> Option<Decision> {
        let command = call.facts.command.as_ref()?;
        let leaves = leaves(call) && self.confines(&command.text, false) && !self.confines(&command.text, true);
        let message = "It wants to run outside of the sandbox.";
        leaves.then(|| Decision::new(Behavior::Ask, DecisionReason::Sandbox, message))
    }

    /// Allows a confined command without a permission request, if auto-allow is set.
    pub(crate) fn allows(&self, call: &Call<'_>) -> Option<Decision> {
        let command = call.facts.command.as_ref()?;
        // In the background the command runs beside other calls, and protected names that it makes may be theirs.
        let confined =
            self.auto_allow && call.tool == "Bash" && !command.background && self.confines(&command.text, leaves(call));
        confined.then(|| Decision::new(Behavior::Allow, DecisionReason::Sandbox, "It runs in the sandbox."))
    }
}

impl Policy {
    /// Returns the sandbox entry of a call for the audit log. `None`: the call runs no command, or no level is known.
    pub fn sandbox_of(&self, facts: &CallFacts) -> Option<AuditedSandbox> {
        let (sandbox, command) = (self.sandbox.as_ref()?, facts.command.as_ref()?);
        let confines = sandbox.confines(&command.text, leaves(&self.prepare(facts)));
        Some(AuditedSandbox::new(sandbox.level.clone()?, confines))
    }
}

fn leaves(call: &Call<'_>) -> bool {
    // Any value but `false` is treated as set: the tool refuses a value that it does not take as `true`.
    call.field(LEAVES).is_some_and(|value| !value.is_null() && value.as_bool() != Some(false))
}

#[cfg(test)]
mod tests;
