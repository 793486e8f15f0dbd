//! Answers to questions about tool calls, as hosts and permission prompt tools write them.

use crate::same_json;
use serde::Deserialize;
use std::collections::BTreeMap;
use windlass_types::{JsonText, PermissionAnswer, PermissionUpdate};

/// An answer to the question whether a call may run.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct ReadAnswer {
    /// The answer. It contains all permission changes that came with it, or none if one cannot be understood, since
    /// that one may restrict the others.
    pub answer: PermissionAnswer,
    /// Reason why the changes are left out, if they are.
    pub unread_updates: Option<String>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct WireAnswer {
    behavior: String,
    #[serde(default)]
    updated_input: Option<JsonText>,
    #[serde(default)]
    updated_permissions: Option<JsonText>,
    #[serde(default)]
    message: Option<String>,
    #[serde(default)]
    interrupt: Option<bool>,
}

/// Reads the answer to a question about a call with this input: an object with `behavior` (`allow` or `deny`),
/// `updatedInput`, `updatedPermissions`, `message` and `interrupt`.
///
/// # Errors
/// The value is not such an object. The caller then denies the call.
pub fn read_permission_answer(input: &JsonText, answer: &JsonText) -> Result<ReadAnswer, String> {
    if !answer.is_object() {
        return Err("it is not an object".to_owned());
    }
    let wire: WireAnswer = answer.to().map_err(|error| error.to_string())?;
    match wire.behavior.as_str() {
        "allow" => {
            let updated_input = wire.updated_input.filter(|updated| !same_json(updated, input));
            if updated_input.as_ref().is_some_and(|input| !input.is_object()) {
                return Err("`updatedInput` is not an object".to_owned());
            }
            let (updates, unread_updates) = match wire.updated_permissions.as_ref().map(updates) {
                None => (Vec::new(), None),
                Some(Ok(updates)) => (updates, None),
                Some(Err(problem)) => (Vec::new(), Some(problem)),
            };
            Ok(ReadAnswer { answer: PermissionAnswer::Allow { updated_input, updates }, unread_updates })
        }
        "deny" => {
            let message = wire.message.filter(|message| !message.is_empty());
            let message = message.unwrap_or_else(|| "The user refused this call.".to_owned());
            let answer = PermissionAnswer::Deny { message, interrupt: wire.interrupt == Some(true) };
            Ok(ReadAnswer { answer, unread_updates: None })
        }
        other => Err(format!("unknown behavior {other:?}")),
    }
}

fn updates(json: &JsonText) -> Result<Vec<PermissionUpdate>, String> {
    #[derive(Deserialize)]
    struct Rules {
        #[serde(default)]
        rules: Vec<BTreeMap<String, Option<String>>>,
    }
    let all = json.to::<Vec<Rules>>().map_err(|error| error.to_string())?;
    // A rule whose content is null is not one for the whole tool.
    if all.iter().flat_map(|update| &update.rules).any(|rule| rule.values().any(Option::is_none)) {
        return Err("a rule has a part that is null".to_owned());
    }
    json.to().map_err(|error| error.to_string())
}
