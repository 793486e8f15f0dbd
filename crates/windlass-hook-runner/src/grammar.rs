//! Reads the key `hooks`: `{Event: [{matcher, hooks: [{type, …}]}]}`.

mod handler;

use crate::condition::Condition;
use crate::definition::{HookDefinition, HookHandler, OnFailure};
use crate::events::EventRow;
use crate::matcher::HookMatcher;
use handler::read_handler;
use serde_json::{Map, Value};
use std::fmt;
use std::time::Duration;
use windlass_types::HookEventName;
use windlass_types::near::nearest;
use windlass_types::text::visible_line;

/// Maximum number of characters of a hook in a message.
const MOST_SHOWN: usize = 200;
/// Maximum number of hooks in one `hooks` key.
const MOST_HOOKS: usize = 256;

/// Result of reading a key `hooks`.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct ReadHooks {
    /// Usable hooks: events in the order of their names, the hooks of one event in file order.
    pub hooks: Vec<HookDefinition>,
    /// Unusable hooks of gates whose failure closes the gate. Without them, more could happen than their writer
    /// intended.
    pub broken: Vec<BrokenHook>,
    /// Ignored parts, one sentence each.
    pub notes: Vec<String>,
}

/// A hook of a gate that cannot be used.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct BrokenHook {
    /// Name of the event, as written in the file.
    pub event: String,
    /// Command of the hook, or its JSON as written.
    pub what: String,
    /// Reason why the hook cannot be used.
    pub problem: String,
}

impl BrokenHook {
    /// Creates the entry for a hooks file that cannot be read.
    #[must_use]
    pub fn unread(file: &str, problem: impl Into<String>) -> Self {
        Self { event: "each event".to_owned(), what: file.to_owned(), problem: problem.into() }
    }
}

impl fmt::Display for BrokenHook {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let what: String = visible_line(&self.what).chars().take(MOST_SHOWN).collect();
        let event: String = visible_line(&self.event).chars().take(MOST_SHOWN).collect();
        write!(f, "the hook `{what}` of {event} cannot be used: {}", self.problem)
    }
}

/// Reads the value of a key `hooks`. A problem with one hook affects that hook only.
///
/// ```
/// use windlass_hook_runner::read_hooks;
///
/// let said = r#"{"PreToolUse": [{"matcher": "Bash", "hooks": [{"type": "command", "command": "./guard.sh"}]}]}"#;
/// let read = read_hooks(&serde_json::from_str(said)?);
/// assert_eq!(read.hooks[0].to_string(), "./guard.sh");
/// # Ok::<(), serde_json::Error>(())
/// ```
#[must_use]
pub fn read_hooks(value: &Value) -> ReadHooks {
    let mut read = ReadHooks::default();
    match value {
        Value::Null => {}
        Value::Object(events) => events.iter().for_each(|(event, groups)| read.event(event, groups)),
        other => read.broken("an event", other, "`hooks` must be an object with the names of events".to_owned()),
    }
    read
}

impl ReadHooks {
    fn event(&mut self, name: &str, groups: &Value) {
        let Some(event) = HookEventName::named(name) else { return self.unknown(name, groups) };
        match groups {
            Value::Null => {}
            Value::Array(groups) => groups.iter().for_each(|group| self.group(event, group)),
            other => {
                self.unusable(event, other, "a list of objects with `matcher` and `hooks` must stand here".to_owned())
            }
        }
    }

    /// Reports an unknown event. A name that may be meant for a gate is more than a note.
    fn unknown(&mut self, name: &str, groups: &Value) {
        let known = EventRow::named(name).is_some();
        let near = if known { None } else { nearest(name, EventRow::names()).first().copied() };
        let meant = near.map(|near| format!(": did you mean `{near}`?")).unwrap_or_default();
        let is_gate = near.and_then(HookEventName::named).is_some_and(HookEventName::is_gating);
        if is_gate && !is_empty(groups) {
            return self.broken(name, groups, format!("there is no such event{meant}"));
        }
        let name: String = visible_line(name).chars().take(MOST_SHOWN).collect();
        self.notes.push(match known {
            true => format!("`hooks.{name}` has no effect: this version does not have the event"),
            false => format!("`hooks.{name}` has no effect: there is no such event{meant}"),
        });
    }

    fn group(&mut self, event: HookEventName, group: &Value) {
        let Some(keys) = group.as_object() else {
            return self.unusable(event, group, "it must be an object with `matcher` and `hooks`".to_owned());
        };
        self.unknown_keys(event, keys, &["matcher", "hooks"]);
        let matcher = match keys.get("matcher") {
            None | Some(Value::Null) => Ok(HookMatcher::all()),
            Some(Value::String(text)) => HookMatcher::parse(Some(text), event),
            Some(other) => Err(format!("`matcher` must be a text, not {other}")),
        };
        let Some(Value::Array(hooks)) = keys.get("hooks") else {
            return self.unusable(event, group, "`hooks` must be a list".to_owned());
        };
        let doubt = matcher.as_ref().ok().and_then(HookMatcher::doubt);
        for hook in hooks {
            if let Some(doubt) = &doubt {
                if Self::closes(event, hook) {
                    self.broken(event.as_str(), hook, doubt.clone());
                    continue;
                }
                self.notes.push(format!("a hook of {event}: {doubt}"));
            }
            match matcher.clone().and_then(|matcher| self.hook(event, matcher, hook)) {
                Ok(hook) if self.hooks.len() < MOST_HOOKS => self.hooks.push(hook),
                Ok(_) => self.unusable(event, hook, format!("there are more than {MOST_HOOKS} hooks")),
                Err(problem) => self.unusable(event, hook, problem),
            }
        }
    }

    fn hook(&mut self, event: HookEventName, matcher: HookMatcher, hook: &Value) -> Result<HookDefinition, String> {
        let keys = hook.as_object().ok_or("it must be an object with `type`")?;
        let (handler, own_keys) = read_handler(keys)?;
        self.unknown_keys(event, keys, &[COMMON, own_keys].concat());
        is_possible(event, &handler)?;
        let mut read = HookDefinition::new(handler).on(event);
        read.matcher = matcher;
        read.condition = text(keys, "if")?.map(|rule| Condition::parse(&rule)).transpose()?;
        if read.condition.is_some() && !event.is_about_tools() {
            self.notes.push(format!("`if` of a hook of {event} has no effect: the event is not about a call"));
        }
        read.timeout = timeout(keys.get("timeout"))?;
        read.on_failure = on_failure(keys.get("onFailure"))?;
        read.once = flag(keys, "once")?;
        read.status_message = text(keys, "statusMessage")?;
        Ok(read)
    }

    /// Reports an unusable hook. On a gate it is broken unless its failure may be ignored.
    fn unusable(&mut self, event: HookEventName, hook: &Value, problem: String) {
        if Self::closes(event, hook) {
            self.broken(event.as_str(), hook, problem);
        } else {
            self.notes.push(format!("a hook of {event} has no effect: {problem}"));
        }
    }

    /// Returns `true` for a hook whose failure closes a gate.
    fn closes(event: HookEventName, hook: &Value) -> bool {
        event.is_gating() && on_failure(hook.get("onFailure")) != Ok(OnFailure::Continue)
    }

    fn broken(&mut self, event: &str, hook: &Value, problem: String) {
        let what = hook.get("command").and_then(Value::as_str).map(str::to_owned);
        let what = what.unwrap_or_else(|| hook.to_string());
        self.broken.push(BrokenHook { event: event.to_owned(), what, problem });
    }

    fn unknown_keys(&mut self, event: HookEventName, keys: &Map<String, Value>, known: &[&str]) {
        for key in keys.keys().filter(|key| !known.contains(&key.as_str())) {
            let near = nearest(key, known.iter().copied());
            let meant = near.first().map(|near| format!(": did you mean `{near}`?")).unwrap_or_default();
            let key: String = visible_line(key).chars().take(MOST_SHOWN).collect();
            self.notes.push(format!("`{key}` of a hook of {event} has no effect{meant}"));
        }
    }
}

/// Keys of hooks of all kinds.
const COMMON: &[&str] = &["type", "if", "timeout", "onFailure", "once", "statusMessage"];

fn is_empty(groups: &Value) -> bool {
    groups.is_null() || groups.as_array().is_some_and(Vec::is_empty)
}

/// Checks that a hook of this kind can answer an event.
fn is_possible(event: HookEventName, handler: &HookHandler) -> Result<(), String> {
    let kind = handler.kind();
    let takes = match handler {
        HookHandler::Prompt(_) | HookHandler::Agent(_) => EventRow::of(event).takes_models,
        HookHandler::Http(_) => !matches!(event.as_str(), "SessionStart" | "Setup"),
        _ => true,
    };
    if takes { Ok(()) } else { Err(format!("hooks of the type `{kind}` cannot listen to {event}")) }
}

/// Reads the time limit in seconds.
fn timeout(value: Option<&Value>) -> Result<Option<Duration>, String> {
    let Some(value) = value.filter(|value| !value.is_null()) else { return Ok(None) };
    let seconds = value.as_f64().filter(|seconds| *seconds > 0.0);
    let limit = seconds.and_then(|seconds| Duration::try_from_secs_f64(seconds).ok());
    limit.map(Some).ok_or_else(|| format!("`timeout` must be a number of seconds above zero, not {value}"))
}

fn on_failure(value: Option<&Value>) -> Result<OnFailure, String> {
    match value {
        None | Some(Value::Null) => Ok(OnFailure::Block),
        Some(value) => match value.as_str() {
            Some("block") => Ok(OnFailure::Block),
            Some("continue") => Ok(OnFailure::Continue),
            _ => Err(format!("`onFailure` must be \"block\" or \"continue\", not {value}")),
        },
    }
}

/// Reads an optional text.
fn text(keys: &Map<String, Value>, key: &str) -> Result<Option<String>, String> {
    match keys.get(key) {
        None | Some(Value::Null) => Ok(None),
        Some(Value::String(text)) => Ok(Some(text.clone())),
        Some(other) => Err(format!("`{key}` must be a text, not {other}")),
    }
}

/// Reads an optional `bool`, `false` if absent.
fn flag(keys: &Map<String, Value>, key: &str) -> Result<bool, String> {
    match keys.get(key) {
        None | Some(Value::Null) => Ok(false),
        Some(Value::Bool(flag)) => Ok(*flag),
        Some(other) => Err(format!("`{key}` must be true or false, not {other}")),
    }
}

#[cfg(test)]
mod tests;
