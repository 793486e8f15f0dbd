//! Variables of the environment and of settings that configure sessions.

use std::str::FromStr;
use std::time::Duration;
use windlass_builtin_tools::{Bash, ShellSnapshot};
use windlass_context::ToolBudget;
use windlass_permission::is_judged_by_name;
use windlass_project::SnapshotContent;
use windlass_types::Thinking;

/// Default time limit of a command, unless a variable sets another.
const DEFAULT_TIMEOUT: Duration = Duration::from_secs(120);
/// Maximum time limit of a command, unless a variable sets another.
const MAX_TIMEOUT: Duration = Duration::from_secs(600);

/// Values from environment variables. Malformed values are ignored and noted.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(crate) struct Variables {
    /// `ANTHROPIC_MODEL`
    pub(crate) model: Option<String>,
    /// `CLAUDE_CODE_MAX_OUTPUT_TOKENS`
    pub(crate) max_output_tokens: Option<u32>,
    /// `CLAUDE_CODE_MAX_RETRIES`
    pub(crate) max_retries: Option<u32>,
    /// `MAX_STRUCTURED_OUTPUT_RETRIES`
    pub(crate) structured_output_retries: Option<u32>,
    /// `MAX_THINKING_TOKENS`; zero switches thinking off.
    pub(crate) thinking: Option<Thinking>,
    /// `BASH_DEFAULT_TIMEOUT_MS` and `BASH_MAX_TIMEOUT_MS`
    timeouts: Option<(Duration, Duration)>,
    /// `BASH_MAX_OUTPUT_LENGTH`: number of characters of a command's output that the model reads.
    max_output: Option<usize>,
    /// `ENABLE_TOOL_SEARCH`: size from which tool definitions are withheld.
    pub(crate) tool_budget: Option<ToolBudget>,
    /// `WINDLASS_SEND_USER_ID`: `true` if the provider is sent an id of the user.
    pub(crate) send_user_id: bool,
    /// Negation of `CLAUDE_CODE_DISABLE_BACKGROUND_TASKS`: `true` if work may run in the background.
    pub(crate) background: bool,
    /// Problems of malformed values, for people.
    pub(crate) notes: Vec<String>,
}

impl Variables {
    /// Reads the variables through `lookup`.
    pub(crate) fn read(lookup: impl Fn(&str) -> Option<String>) -> Self {
        let mut variables = Self::default();
        let set = |name: &str| lookup(name).map(|value| value.trim().to_owned()).filter(|value| !value.is_empty());
        let notes = &mut variables.notes;
        variables.model = set("ANTHROPIC_MODEL");
        variables.send_user_id = set("WINDLASS_SEND_USER_ID").is_none_or(|value| value != "0");
        variables.background = set("CLAUDE_CODE_DISABLE_BACKGROUND_TASKS").is_none_or(|value| value != "1");
        variables.max_output_tokens = positive(&set, "CLAUDE_CODE_MAX_OUTPUT_TOKENS", notes);
        variables.max_retries = number(&set, "CLAUDE_CODE_MAX_RETRIES", notes);
        variables.structured_output_retries = number(&set, "MAX_STRUCTURED_OUTPUT_RETRIES", notes);
        variables.thinking = number(&set, "MAX_THINKING_TOKENS", notes).map(|tokens| match tokens {
            0 => Thinking::Off,
            tokens => Thinking::Budget(tokens),
        });
        variables.tool_budget = set("ENABLE_TOOL_SEARCH").and_then(|value| tool_budget(&value, notes));
        let default: Option<u32> = positive(&set, "BASH_DEFAULT_TIMEOUT_MS", notes);
        let max_timeout: Option<u32> = positive(&set, "BASH_MAX_TIMEOUT_MS", notes);
        let milliseconds = |value: u32| Duration::from_millis(value.into());
        if default.is_some() || max_timeout.is_some() {
            let default = default.map_or(DEFAULT_TIMEOUT, milliseconds);
            // A longer default raises the limit, unless that was set too.
            let max_timeout = max_timeout.map_or(MAX_TIMEOUT.max(default), milliseconds);
            variables.timeouts = Some((default, max_timeout));
        }
        variables.max_output = positive(&set, "BASH_MAX_OUTPUT_LENGTH", notes);
        if variables.max_output.is_some_and(|length| length > Bash::LARGEST_MAX_OUTPUT) {
            notes.push(format!(
                "BASH_MAX_OUTPUT_LENGTH is more than {limit}, so {limit} counts",
                limit = Bash::LARGEST_MAX_OUTPUT
            ));
        }
        variables
    }

    /// Bash tool with the limits of the variables; `None` if they set none, its commands do not move to the background,
    /// and it gets nothing of the login shell.
    pub(crate) fn bash(&self, moves: bool, snapshot: Option<SnapshotContent>) -> Option<Bash> {
        let moves = moves && self.background;
        if self.timeouts.is_none() && self.max_output.is_none() && !moves && snapshot.is_none() {
            return None;
        }
        let snapshot = snapshot.map(|content| match content {
            SnapshotContent::All => ShellSnapshot::new().with_functions(is_judged_by_name),
            _ => ShellSnapshot::new(),
        });
        let bash = snapshot
            .map_or_else(Bash::new, |snapshot| Bash::new().with_snapshot(snapshot))
            .with_moves_to_background(moves)
            .with_max_output(self.max_output.unwrap_or(Bash::DEFAULT_MAX_OUTPUT));
        let (default, max_timeout) = self.timeouts.unwrap_or((DEFAULT_TIMEOUT, MAX_TIMEOUT));
        Some(bash.with_timeouts(default, max_timeout))
    }
}

/// Parses the size from which tool definitions are withheld. `true`: all that may be withheld; `auto`: beyond a tenth
/// of the context window; `auto:N`: beyond N percent; `false`: none.
fn tool_budget(value: &str, notes: &mut Vec<String>) -> Option<ToolBudget> {
    let mut budget = ToolBudget::default();
    let percent = value.strip_prefix("auto:").map(|percent| percent.parse().ok().filter(|percent| *percent <= 100));
    match (value, percent) {
        ("true" | "1", _) => budget.tokens = Some(0),
        ("false" | "0", _) => budget.enabled = false,
        ("auto", _) => {}
        (_, Some(Some(percent))) => budget.percent = percent,
        _ => {
            notes.push(format!("ENABLE_TOOL_SEARCH is {value:?}, and must be true, false, auto or auto:PERCENT"));
            return None;
        }
    }
    Some(budget)
}

fn number<T: FromStr>(set: &impl Fn(&str) -> Option<String>, name: &str, notes: &mut Vec<String>) -> Option<T> {
    let value = set(name)?;
    let number = value.parse().ok();
    if number.is_none() {
        notes.push(format!("{name} is {value:?}, which is not a whole number of this size, so it does not count"));
    }
    number
}

fn positive<T: FromStr + Default + PartialEq>(
    set: &impl Fn(&str) -> Option<String>,
    name: &str,
    notes: &mut Vec<String>,
) -> Option<T> {
    let number = number(set, name, notes)?;
    if number == T::default() {
        notes.push(format!("{name} is 0, which cannot work, so it does not count"));
        return None;
    }
    Some(number)
}

#[cfg(test)]
mod tests;
