//! Types generated from the rows of events: their names, and an occasion of any of them.

use super::action::*;
use super::event::*;
use super::{AnswerKind, HookAction, HookPayload, Subject};
use crate::{AgentIdentity, JsonError, JsonText, ToolUseId};
use serde::{Deserialize, Serialize};
use std::fmt;

/// An event that stands in the rows of [`hook_events!`](crate::hook_events): its payload, its name and its answer.
///
/// ```
/// use windlass_types::hook::event::{Stop, UserPromptSubmit};
/// use windlass_types::hook::{HookCall, HookEvent};
///
/// /// A line for a list of events.
/// fn line<E: HookEvent>() -> String {
///     format!("{}: {}", E::NAME.as_str(), E::SUMMARY)
/// }
///
/// /// Whether an occasion is the end of a run.
/// fn is_stop(call: &HookCall) -> bool {
///     Stop::of(call).is_some()
/// }
///
/// assert!(line::<UserPromptSubmit>().starts_with("UserPromptSubmit: "));
/// ```
pub trait HookEvent: HookPayload + Into<HookCall> {
    /// Type of the answers that hooks may give.
    type Action: HookAction;
    /// Name of the event.
    const NAME: HookEventName;

    /// The payload, if an occasion is one of this event.
    fn of(call: &HookCall) -> Option<&Self>;
}

macro_rules! define {
    ($($(#[doc = $doc:literal])+ $name:ident: $method:ident($event:ident) -> $action:ident, $closure:ident($($tools:ident)?);)*) => {
        /// The events that hooks can listen to.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
        #[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
        #[non_exhaustive]
        pub enum HookEventName {
            $($(#[doc = $doc])+ $name,)*
        }

        /// One occasion on which hooks are asked.
        #[derive(Debug, Clone, PartialEq, Eq, Serialize)]
        #[serde(tag = "hook_event_name")]
        #[non_exhaustive]
        pub enum HookCall {
            $($(#[doc = $doc])+ $name($event),)*
        }

        $(
            impl HookEvent for $event {
                type Action = $action;
                const NAME: HookEventName = HookEventName::$name;

                fn of(call: &HookCall) -> Option<&Self> {
                    match call {
                        HookCall::$name(event) => Some(event),
                        _ => None,
                    }
                }
            }

            impl From<$event> for HookCall {
                fn from(event: $event) -> Self {
                    Self::$name(event)
                }
            }
        )*

        impl HookEventName {
            /// All events, in the order of their rows.
            pub const ALL: &[Self] = &[$(Self::$name),*];

            /// The name as settings and the wire write it.
            pub fn as_str(self) -> &'static str {
                match self {
                    $(Self::$name => stringify!($name),)*
                }
            }

            fn traits(self) -> Traits {
                match self {
                    $(Self::$name => Traits::of::<$event>(),)*
                }
            }
        }

        impl HookCall {
            /// The event's name.
            pub fn event(&self) -> HookEventName {
                match self {
                    $(Self::$name(_) => HookEventName::$name,)*
                }
            }

            /// Reads the payload of an event, as it is written beside the event's name.
            ///
            /// # Errors
            /// A field that a hook decides by is missing, or a field has the wrong type.
            pub fn read(event: HookEventName, payload: &JsonText) -> Result<Self, JsonError> {
                match event {
                    $(HookEventName::$name => payload.to().map(Self::$name),)*
                }
            }

            /// The tool's name and the tool use, for events about a call.
            fn tool(&self) -> Option<(&str, &ToolUseId)> {
                match self {
                    $(Self::$name(event) => event.tool(),)*
                }
            }

            /// Returns the value that hook matchers test: the tool's name, the agent's type, or the trigger of a
            /// compaction.
            pub fn subject(&self) -> Option<&str> {
                match self {
                    $(Self::$name(event) => event.subject(),)*
                }
            }

            /// The agent whose beginning or end this is.
            pub fn agent(&self) -> Option<&AgentIdentity> {
                match self {
                    $(Self::$name(event) => event.agent(),)*
                }
            }

            /// Returns the same occasion without its output. `None` if a hook decides by the whole payload.
            #[must_use]
            pub fn shortened(&self) -> Option<Self> {
                match self {
                    $(Self::$name(event) => event.shortened().map(Self::$name),)*
                }
            }
        }
    };
}

crate::hook_events!(define);

/// Properties common to all occasions of an event.
struct Traits {
    summary: &'static str,
    is_gate: bool,
    is_observed: bool,
    subject: Subject,
    is_for_hosts: bool,
    answer: AnswerKind,
}

impl Traits {
    fn of<E: HookEvent>() -> Self {
        Self {
            summary: E::SUMMARY,
            is_gate: E::IS_GATE,
            is_observed: E::IS_OBSERVED,
            subject: E::SUBJECT,
            is_for_hosts: E::IS_FOR_HOSTS,
            answer: E::Action::KIND,
        }
    }
}

impl HookEventName {
    /// The event with this name.
    pub fn named(name: &str) -> Option<Self> {
        Self::ALL.iter().copied().find(|event| event.as_str() == name)
    }

    /// Returns the time of the event in a few words, such as "Before a tool runs".
    pub fn summary(self) -> &'static str {
        self.traits().summary
    }

    /// Returns `true` if a failing hook denies the call or blocks the action.
    pub fn is_gating(self) -> bool {
        self.traits().is_gate
    }

    /// Returns `true` if hooks run beside the run, which does not wait for their answer.
    pub fn is_observed(self) -> bool {
        self.traits().is_observed
    }

    /// Returns the kind of value that matchers test.
    pub fn subject(self) -> Subject {
        self.traits().subject
    }

    /// Returns `true` if the event is about a tool call.
    pub fn is_about_tools(self) -> bool {
        self.subject() == Subject::Tool
    }

    /// Returns `true` if a host in another process can register for the event.
    pub fn is_for_hosts(self) -> bool {
        self.traits().is_for_hosts
    }

    /// Returns the kind of answer that hooks give.
    pub fn answer(self) -> AnswerKind {
        self.traits().answer
    }
}

impl fmt::Display for HookEventName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

impl HookCall {
    /// The tool's name, for events about a call.
    pub fn tool_name(&self) -> Option<&str> {
        self.tool().map(|(name, _)| name)
    }

    /// The tool use, for events about a call.
    pub fn tool_use_id(&self) -> Option<&ToolUseId> {
        self.tool().map(|(_, id)| id)
    }
}
