//! What hosts answer to a question about a call.

use super::PermissionUpdate;
use crate::json::by_tag;
use crate::{JsonError, JsonText};
use serde::de::IgnoredAny;
use serde::{Deserialize, Deserializer, Serialize};

/// What the host answers.
///
/// # As JSON
/// An object whose `behavior` is `allow` or `deny`. Of an `allow` both other fields may be left out, of a `deny` the
/// `interrupt`:
///
/// ```
/// use windlass_types::PermissionAnswer;
///
/// let answer: PermissionAnswer = serde_json::from_str(r#"{"behavior":"deny","message":"Not now."}"#)?;
/// assert_eq!(answer, PermissionAnswer::deny("Not now."));
/// assert_eq!(serde_json::to_string(&answer)?, r#"{"behavior":"deny","message":"Not now.","interrupt":false}"#);
///
/// let misspelt = r#"{"behavior":"allow","updatedInput":{"command":"true"}}"#;
/// assert!(serde_json::from_str::<PermissionAnswer>(misspelt).is_err());
/// # Ok::<(), serde_json::Error>(())
/// ```
///
/// Unlike in events, a field of the answer or of its rules that is not known is an error: an `allow` whose changed input
/// was overlooked would let the original run, and a rule whose content was overlooked would hold for the whole tool. The
/// changed input is kept as its exact text.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[cfg_attr(
    feature = "schema",
    derive(schemars::JsonSchema),
    schemars(deny_unknown_fields, description = "What the host answers.")
)]
#[serde(tag = "behavior", rename_all = "snake_case")]
#[non_exhaustive]
pub enum PermissionAnswer {
    /// It may run.
    Allow {
        /// Runs with this input instead; it is judged again from the deny rules on.
        #[serde(skip_serializing_if = "Option::is_none")]
        updated_input: Option<JsonText>,
        /// Changes of permissions to keep.
        #[serde(skip_serializing_if = "Vec::is_empty")]
        #[cfg_attr(feature = "schema", schemars(default))]
        updates: Vec<PermissionUpdate>,
    },
    /// It may not.
    Deny {
        /// What the model should read.
        message: String,
        /// Whether the whole run stops.
        #[cfg_attr(feature = "schema", schemars(default))]
        interrupt: bool,
    },
}

impl PermissionAnswer {
    /// Allows this one call as it is.
    pub fn allow() -> Self {
        Self::Allow { updated_input: None, updates: Vec::new() }
    }

    /// Denies this call; the run goes on.
    pub fn deny(message: impl Into<String>) -> Self {
        Self::Deny { message: message.into(), interrupt: false }
    }

    fn read(text: &JsonText) -> Result<Self, JsonError> {
        #[derive(Deserialize)]
        struct Tag {
            behavior: String,
        }
        match text.to::<Tag>()?.behavior.as_str() {
            "allow" => {
                let Allow { updated_input, updates, .. } = text.to()?;
                let updates = updates.iter().map(update).collect::<Result<_, _>>()?;
                Ok(Self::Allow { updated_input, updates })
            }
            "deny" => text.to().map(|Deny { message, interrupt, .. }| Self::Deny { message, interrupt }),
            other => Err(JsonError::unknown("behavior of an answer", other)),
        }
    }
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Allow {
    #[serde(rename = "behavior")]
    _tag: IgnoredAny,
    updated_input: Option<JsonText>,
    #[serde(default)]
    updates: Vec<JsonText>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Deny {
    #[serde(rename = "behavior")]
    _tag: IgnoredAny,
    message: String,
    #[serde(default)]
    interrupt: bool,
}

/// A change of permissions whose rules have no field that is not known: a rule whose content was overlooked would hold
/// for the whole tool.
fn update(text: &JsonText) -> Result<PermissionUpdate, JsonError> {
    #[derive(Deserialize)]
    struct Rules {
        #[serde(rename = "rules", default)]
        _rules: Vec<Rule>,
    }
    #[derive(Deserialize)]
    #[serde(deny_unknown_fields)]
    struct Rule {
        #[serde(rename = "toolName")]
        _tool_name: IgnoredAny,
        #[serde(rename = "ruleContent", default)]
        _rule_content: IgnoredAny,
    }
    text.to::<Rules>()?;
    text.to()
}

impl<'de> Deserialize<'de> for PermissionAnswer {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        by_tag(deserializer, Self::read)
    }
}
