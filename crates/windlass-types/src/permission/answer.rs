//! Answers of hosts to questions about calls.

use super::PermissionUpdate;
use crate::json::by_tag;
use crate::{JsonError, JsonText};
use serde::de::IgnoredAny;
use serde::{Deserialize, Deserializer, Serialize};

/// Answer of the host.
///
/// # As JSON
/// An object whose `behavior` is `allow` or `deny`. Of an `allow` both other fields may be left out, of a `deny` the
/// `interrupt`:
///
/// ```
/// # use windlass_types as windlass;
/// use windlass::PermissionAnswer;
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
    /// The call may run.
    Allow {
        /// Input to run instead; the call is judged again from the deny rules on.
        #[serde(skip_serializing_if = "Option::is_none")]
        updated_input: Option<JsonText>,
        /// Permission updates to keep.
        #[serde(skip_serializing_if = "Vec::is_empty")]
        #[cfg_attr(feature = "schema", schemars(default))]
        updates: Vec<PermissionUpdate>,
    },
    /// The call may not run.
    Deny {
        /// Reason for the model.
        message: String,
        /// `true` if the whole run stops.
        #[cfg_attr(feature = "schema", schemars(default))]
        interrupt: bool,
    },
}

impl PermissionAnswer {
    /// Allows this one call as it is.
    pub fn allow() -> Self {
        Self::Allow { updated_input: None, updates: Vec::new() }
    }

    /// Denies this call; the run continues.
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

/// Reads a permission update and rejects rules with unknown fields: a rule whose content was overlooked would apply to
/// the whole tool.
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::RuleValue;

    fn error(text: &str) -> String {
        serde_json::from_str::<PermissionAnswer>(text).unwrap_err().to_string()
    }

    #[test]
    fn the_changed_input_stays_exact() {
        let text = r#"{"behavior":"allow","updated_input":{ "n":1.50,"a":"\u00e9" }}"#;
        let answer: PermissionAnswer = serde_json::from_str(text).unwrap();
        assert_eq!(serde_json::to_string(&answer).unwrap(), text);
        let allow = serde_json::to_string(&PermissionAnswer::allow()).unwrap();
        assert_eq!(allow, r#"{"behavior":"allow"}"#);
    }

    #[test]
    fn what_could_allow_more_than_was_meant_is_refused() {
        for (text, expected) in [
            (r#"{"behavior":"allow","updatedInput":{}}"#, "unknown field `updatedInput`"),
            (r#"{"behavior":"deny","message":"no","updates":[]}"#, "unknown field `updates`"),
            (r#"{"behavior":"deny"}"#, "missing field `message`"),
            (r#"{"behavior":"ask"}"#, "unknown behavior of an answer \"ask\""),
            (r#"{"behavior":"deny","behavior":"allow"}"#, "duplicate field `behavior`"),
            (r#"{}"#, "missing field `behavior`"),
        ] {
            assert!(error(text).contains(expected), "{text}: {}", error(text));
        }
    }

    #[test]
    fn a_rule_whose_content_is_misspelt_does_not_hold_for_the_whole_tool() {
        let answer = |name: &str| {
            format!(
                r#"{{"behavior":"allow","updates":[{{"type":"addRules","rules":[{{"toolName":"Bash","{name}":"ls *"}}],
                "behavior":"allow","destination":"session"}}]}}"#
            )
        };
        let error = error(&answer("rule_content"));
        assert!(error.contains("unknown field `rule_content`"), "{error}");
        let PermissionAnswer::Allow { updates, .. } = serde_json::from_str(&answer("ruleContent")).unwrap() else {
            panic!("no allow");
        };
        let [PermissionUpdate::AddRules { rules, .. }] = updates.as_slice() else { panic!("{updates:?}") };
        assert_eq!(rules, &[RuleValue::new("Bash", "ls *")]);
    }
}
