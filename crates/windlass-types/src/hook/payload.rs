//! Common properties of all hook payloads.

use crate::{AgentIdentity, ToolUseId};
use serde::Serialize;
use serde::de::DeserializeOwned;

/// Kind of value that the matcher of a hook tests.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[expect(clippy::exhaustive_enums, reason = "what reads matchers must know each kind")]
pub enum Subject {
    /// The event has no matcher.
    None,
    /// The name of the tool.
    Tool,
    /// Another word, see [`HookPayload::subject`].
    Word,
}

/// The payload of an event, with the properties common to all its occasions.
///
/// ```
/// use windlass_types::hook::HookPayload;
/// use windlass_types::hook::event::{PostToolUse, PreToolUse};
///
/// // A hook that fails before a call denies it. After a call there is no gate to close.
/// assert!(PreToolUse::IS_GATE && !PostToolUse::IS_GATE);
/// ```
pub trait HookPayload: Clone + Serialize + DeserializeOwned {
    /// Time of the event, for people who choose an event from a list.
    const SUMMARY: &'static str;
    /// `true` if a failing hook closes the gate: the call is denied, the prompt blocked.
    const IS_GATE: bool = false;
    /// `true` if hooks run beside the run, which does not wait for their answer. The answer may come after the run; the
    /// model reads the hooks' feedback with its next turn.
    const IS_OBSERVED: bool = false;
    /// Kind of value that matchers test.
    const SUBJECT: Subject = Subject::None;
    /// `true` if a host in another process can register for the event.
    const IS_FOR_HOSTS: bool = true;

    /// The tool's name and the tool use, for events about a call.
    fn tool(&self) -> Option<(&str, &ToolUseId)> {
        None
    }

    /// The word that matchers test.
    fn subject(&self) -> Option<&str> {
        self.tool().map(|(name, _)| name)
    }

    /// The agent whose beginning or end this is.
    fn agent(&self) -> Option<&AgentIdentity> {
        None
    }

    /// The same payload without the output, for a host with a size limit. `None` if a hook decides by the whole
    /// payload.
    fn shortened(&self) -> Option<Self> {
        None
    }
}
