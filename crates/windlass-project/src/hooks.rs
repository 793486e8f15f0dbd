//! Hooks of settings files. They do not run in this version; those that can deny or block keep a session from starting.

use crate::canonical::content_of;
use serde_json::Value;
use std::fmt;
use windlass_types::HookEventName;

/// Most characters of a hook in a message.
const MOST_SHOWN: usize = 200;

/// A hook that can deny or block.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct GatingHook {
    /// The event, such as `PreToolUse`.
    pub event: String,
    /// What it would run: its command, or the hook as it is written.
    pub what: String,
}

impl fmt::Display for GatingHook {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let short: String = self.what.chars().take(MOST_SHOWN).collect();
        let more = if short.len() < self.what.len() { "…" } else { "" };
        write!(f, "the hook `{short}{more}` of {}", self.event)
    }
}

/// The keys `hooks`, `disableAllHooks` and `allowManagedHooksOnly` of a settings file.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct HookSettings {
    /// Hooks that can deny or block and whose failure is not to be ignored, in order.
    pub gating: Vec<GatingHook>,
    /// The events of all other hooks, sorted.
    pub others: Vec<String>,
    /// Whether hooks are to be ignored.
    pub disabled: bool,
    /// In a managed file, whether hooks of other files are to be ignored.
    pub managed_only: bool,
    content: String,
}

impl HookSettings {
    /// Reads the value of the key `hooks`. What is not understood below such an event counts as a hook.
    pub(crate) fn read(value: &Value) -> Self {
        let mut read = Self::default();
        match value {
            Value::Null => {}
            Value::Object(events) => {
                for (event, groups) in events {
                    read.event(event, groups);
                }
            }
            other => read.gating.push(GatingHook { event: "an event".to_owned(), what: other.to_string() }),
        }
        if !read.is_empty() {
            read.content = content_of(value);
        }
        read.gating.sort_by(|a, b| (&a.event, &a.what).cmp(&(&b.event, &b.what)));
        read.others.sort();
        read.others.dedup();
        read
    }

    fn event(&mut self, event: &str, groups: &Value) {
        let is_gating = HookEventName::named(event).is_some_and(HookEventName::is_gating);
        for hook in hooks_of(groups) {
            let continues = hook.get("onFailure").and_then(Value::as_str) == Some("continue");
            if is_gating && !continues {
                let what = hook.get("command").and_then(Value::as_str).map(str::to_owned);
                self.gating
                    .push(GatingHook { event: event.to_owned(), what: what.unwrap_or_else(|| hook.to_string()) });
            } else {
                self.others.push(event.to_owned());
            }
        }
    }

    /// Whether there are none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.gating.is_empty() && self.others.is_empty()
    }

    /// The key as it is written, in one form.
    pub(crate) fn content(&self) -> &str {
        &self.content
    }
}

/// The hooks of an event: those of its groups, and what is no group.
fn hooks_of(groups: &Value) -> Vec<&Value> {
    match groups {
        Value::Null => Vec::new(),
        Value::Array(groups) => groups
            .iter()
            .flat_map(|group| match group.get("hooks") {
                Some(Value::Array(hooks)) => hooks.iter().collect(),
                _ => vec![group],
            })
            .collect(),
        other => vec![other],
    }
}
