//! Permission requests: the options of each, and what they mean.

use super::settings::described;
use super::tool_call;
use serde_json::{Value, json};
use std::path::Path;
use windlass_types::text::visible_line;
use windlass_types::{
    Behavior, PermissionAnswer, PermissionMode, PermissionRequest, PermissionUpdate, RuleValue, UpdateDestination,
};

/// Maximum number of lasting permissions that a client is offered for one call.
const MOST_ALTERNATIVES: usize = 3;
/// Maximum length of the name of an option, in characters.
const MOST_NAME: usize = 200;

/// Option of a permission request.
#[derive(Debug)]
pub(crate) struct Choice {
    id: String,
    name: String,
    kind: &'static str,
    pub(crate) verdict: Verdict,
}

/// Meaning of an option.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Verdict {
    /// The call runs, with changes of permissions for the session.
    Allow(Vec<PermissionUpdate>),
    /// The call does not run.
    Deny,
    /// The call does not run, nor do later ones that these rules match.
    DenyAlways(Vec<RuleValue>),
}

/// The options of a request: allow once, the lasting alternatives, the narrowest first, and the refusals.
pub(crate) fn choices(request: &PermissionRequest) -> Vec<Choice> {
    let choice = |id: &str, name: String, kind, verdict| Choice { id: id.to_owned(), name, kind, verdict };
    let mut choices = vec![choice("allow", "Allow once".to_owned(), "allow_once", Verdict::Allow(Vec::new()))];
    let decision = &request.decision;
    if !decision.protected {
        let alternatives = decision.suggestions.iter().filter_map(for_session).take(MOST_ALTERNATIVES);
        for (number, (update, name)) in alternatives.enumerate() {
            let id = format!("allow-always-{}", number + 1);
            choices.push(choice(&id, name, "allow_always", Verdict::Allow(vec![update])));
        }
    }
    choices.push(choice("reject", "Reject".to_owned(), "reject_once", Verdict::Deny));
    let rules = rules(request);
    let name = short(&format!("Always reject {} in this session", listed(&rules)));
    choices.push(choice("reject-always", name, "reject_always", Verdict::DenyAlways(rules)));
    choices
}

/// Parameters of the request to the client.
pub(crate) fn params(session: &str, call: &str, request: &PermissionRequest, choices: &[Choice], cwd: &Path) -> Value {
    let mut fields = tool_call::fields("", call);
    fields.remove("sessionUpdate");
    fields.insert("title".to_owned(), visible_line(&request.title).into());
    fields.insert("name".to_owned(), request.tool.as_str().into());
    fields.insert("kind".to_owned(), tool_call::kind(&request.tool).into());
    fields.insert("status".to_owned(), "pending".into());
    fields.insert("rawInput".to_owned(), tool_call::input(&request.input));
    tool_call::add_preview(&mut fields, request.edits.as_ref(), cwd);
    if !fields.contains_key("content") {
        let effect =
            request.impact.as_ref().map(|impact| format!("{} Risk: {}.", impact.summary, impact.risk.as_str()));
        let texts = effect.iter().map(String::as_str).chain([request.decision.message.as_str()]);
        let content =
            texts.map(|text| json!({ "type": "content", "content": { "type": "text", "text": visible_line(text) } }));
        fields.insert("content".to_owned(), content.collect());
    }
    let options: Vec<Value> = choices
        .iter()
        .map(|choice| json!({ "optionId": choice.id, "name": choice.name, "kind": choice.kind }))
        .collect();
    json!({ "sessionId": session, "toolCall": fields, "options": options })
}

/// The verdict in the answer of a client; a text for the model if the call is denied for another reason. An answer that
/// is not understood denies.
pub(crate) fn verdict(choices: &[Choice], answer: &Result<Value, String>) -> Result<Verdict, PermissionAnswer> {
    let outcome = match answer {
        Ok(answer) => answer.get("outcome").unwrap_or(&Value::Null),
        Err(reason) => {
            let message = format!("The editor could not ask about the call: {}", visible_line(reason));
            return Err(PermissionAnswer::deny(message));
        }
    };
    let text = |name: &str| outcome.get(name).and_then(Value::as_str);
    match (text("outcome"), text("optionId")) {
        (Some("cancelled"), _) => {
            let message = "The user dismissed the question, so the call was denied.".to_owned();
            Err(PermissionAnswer::Deny { message, interrupt: true })
        }
        (Some("selected"), Some(id)) => {
            let found = choices.iter().find(|choice| choice.id == id);
            found.map(|choice| choice.verdict.clone()).ok_or_else(|| {
                PermissionAnswer::deny(format!("The editor chose an option that was not offered: {}", visible_line(id)))
            })
        }
        _ => Err(PermissionAnswer::deny("The answer of the editor was not understood.")),
    }
}

/// A suggestion that holds for the session, and its name.
fn for_session(suggestion: &PermissionUpdate) -> Option<(PermissionUpdate, String)> {
    let destination = UpdateDestination::Session;
    Some(match suggestion {
        PermissionUpdate::AddRules { rules, behavior: Behavior::Allow, .. } => {
            let name = format!("Always allow {} in this session", listed(rules));
            let update = PermissionUpdate::AddRules { rules: rules.clone(), behavior: Behavior::Allow, destination };
            (update, short(&name))
        }
        PermissionUpdate::SetMode { mode, .. } if *mode != PermissionMode::BypassPermissions => {
            let name = format!("Allow, and switch to the mode \"{}\"", described(*mode).0);
            (PermissionUpdate::SetMode { mode: *mode, destination }, name)
        }
        PermissionUpdate::AddDirectories { directories, .. } => {
            let all: Vec<String> =
                directories.iter().map(|directory| visible_line(&directory.to_string_lossy())).collect();
            let update = PermissionUpdate::AddDirectories { directories: directories.clone(), destination };
            (update, short(&format!("Allow work in {} in this session", all.join(", "))))
        }
        _ => return None,
    })
}

/// Rules of the narrowest alternative; without one, a rule on the whole tool.
fn rules(request: &PermissionRequest) -> Vec<RuleValue> {
    let found = request.decision.suggestions.iter().find_map(|suggestion| match suggestion {
        PermissionUpdate::AddRules { rules, behavior: Behavior::Allow, .. } if !rules.is_empty() => Some(rules.clone()),
        _ => None,
    });
    found.unwrap_or_else(|| vec![RuleValue::tool(&request.tool)])
}

fn listed(rules: &[RuleValue]) -> String {
    rules.iter().map(|rule| visible_line(&rule.to_string())).collect::<Vec<_>>().join(", ")
}

fn short(text: &str) -> String {
    if text.chars().count() <= MOST_NAME {
        return text.to_owned();
    }
    text.chars().take(MOST_NAME).chain(['…']).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use windlass_types::{CallDigest, Decision, DecisionReason, JsonText, ToolUse};

    fn request(reason: DecisionReason) -> PermissionRequest {
        let rule = |content: &str| PermissionUpdate::AddRules {
            rules: vec![RuleValue::new("Bash", content)],
            behavior: Behavior::Allow,
            destination: UpdateDestination::LocalSettings,
        };
        let bypass = PermissionUpdate::SetMode {
            mode: PermissionMode::BypassPermissions,
            destination: UpdateDestination::UserSettings,
        };
        let decision =
            Decision::new(Behavior::Ask, reason, "why").with_suggestions(vec![bypass, rule("npm test"), rule("npm *")]);
        let call = ToolUse::new("t", "Bash", JsonText::empty_object());
        PermissionRequest::new(call, "npm test".to_owned(), decision, CallDigest::new("d"))
    }

    #[test]
    fn the_four_kinds_are_offered_and_lasting_ones_hold_for_the_session() {
        let choices = choices(&request(DecisionReason::Default));
        let kinds: Vec<&str> = choices.iter().map(|choice| choice.kind).collect();
        assert_eq!(kinds, ["allow_once", "allow_always", "allow_always", "reject_once", "reject_always"]);
        assert_eq!(choices[1].name, "Always allow Bash(npm test) in this session");
        let Verdict::Allow(updates) = &choices[1].verdict else { panic!("{choices:?}") };
        let [PermissionUpdate::AddRules { destination, .. }] = updates.as_slice() else { panic!("{updates:?}") };
        assert_eq!(*destination, UpdateDestination::Session);
        assert_eq!(choices[4].verdict, Verdict::DenyAlways(vec![RuleValue::new("Bash", "npm test")]));
    }

    #[test]
    fn a_protected_call_is_allowed_once_at_most() {
        let choices = choices(&request(DecisionReason::Protected));
        assert!(choices.iter().all(|choice| choice.kind != "allow_always"), "{choices:?}");
    }

    #[test]
    fn only_an_offered_option_allows() {
        let choices = choices(&request(DecisionReason::Default));
        let read = |answer: Value| verdict(&choices, &Ok(answer));
        let selected = |id: &str| json!({ "outcome": { "outcome": "selected", "optionId": id } });
        assert_eq!(read(selected("allow")), Ok(Verdict::Allow(Vec::new())));
        assert_eq!(read(selected("reject")), Ok(Verdict::Deny));
        for answer in [
            selected("allow_once"),
            json!({ "outcome": { "outcome": "cancelled" } }),
            json!({ "outcome": "selected", "optionId": "allow" }),
            json!({ "optionId": "allow" }),
            json!({}),
            Value::Null,
            json!([1]),
        ] {
            assert!(read(answer.clone()).is_err(), "{answer}");
        }
        assert!(verdict(&choices, &Err("gone".to_owned())).is_err());
    }
}
