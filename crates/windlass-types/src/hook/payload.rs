//! What every event declares.

use crate::{AgentIdentity, ToolUseId};
use serde::Serialize;
use serde::de::DeserializeOwned;

/// What the matcher of a hook is compared with.
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

/// The payload of an event, with what holds for all its occasions.
///
/// ```
/// use windlass_types::hook::HookPayload;
/// use windlass_types::hook::event::{PostToolUse, PreToolUse};
///
/// // A hook that fails before a call denies it. After a call there is no gate to close.
/// assert!(PreToolUse::IS_GATE && !PostToolUse::IS_GATE);
/// ```
pub trait HookPayload: Clone + Serialize + DeserializeOwned {
    /// When it happens, for people who choose an event from a list.
    const SUMMARY: &'static str;
    /// Whether a hook that fails closes the gate: the call is denied, the prompt blocked.
    const IS_GATE: bool = false;
    /// Whether hooks are asked beside the run, which does not wait for their answer: it may come when the run is over. What
    /// they say to the model, it reads with its next turn.
    const IS_OBSERVED: bool = false;
    /// What matchers are compared with.
    const SUBJECT: Subject = Subject::None;
    /// Whether a host in another process can register for it.
    const IS_FOR_HOSTS: bool = true;

    /// The tool's name and the tool use, for events about a call.
    fn tool(&self) -> Option<(&str, &ToolUseId)> {
        None
    }

    /// The word that matchers are compared with.
    fn subject(&self) -> Option<&str> {
        self.tool().map(|(name, _)| name)
    }

    /// The agent whose beginning or end this is.
    fn agent(&self) -> Option<&AgentIdentity> {
        None
    }

    /// The same without the output, for a host that cannot take all of it. `None` where a hook decides by all of it.
    fn shortened(&self) -> Option<Self> {
        None
    }
}
