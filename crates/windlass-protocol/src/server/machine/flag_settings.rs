//! Settings that the host changes during a session.

use super::ServerMachine;
use super::answers::{RequestRefusal, RequestReply};
use serde::Deserialize;
use serde_json::{Map, Value, json};
use windlass_conversation::{Request as ConversationRequest, SettingsChange};
use windlass_permission::{Policy, PolicyConfig, parse_rule};
use windlass_types::{Behavior, Effort, JsonText, PermissionUpdate, UpdateDestination};

#[derive(Deserialize)]
struct FlagSettings {
    settings: Map<String, Value>,
}

/// Parser of the settings that can be changed during a session.
#[derive(Default)]
struct SettingsParser(SettingsChange);

impl SettingsParser {
    /// Parses all settings. Returns an error if one of them is unusable.
    fn read(settings: Map<String, Value>) -> Result<Self, String> {
        let mut changes = Self::default();
        for (key, value) in settings {
            match key.as_str() {
                "permissions" => changes.permissions(value)?,
                "model" => changes.0.model = Some(text(&key, value)?.filter(|name| name != "default")),
                "effortLevel" => {
                    let effort = text(&key, value)?.map(|name| name.parse::<Effort>());
                    changes.0.effort = Some(effort.transpose().map_err(|error| format!("`{key}`: {error}"))?);
                }
                "env" => {
                    changes.0.environment = serde_json::from_value(value)
                        .map_err(|error| format!("`{key}` is not an object of texts: {error}"))?;
                }
                _ => return Err(format!("`{key}` cannot be changed while the session is open")),
            }
        }
        Ok(changes)
    }

    fn permissions(&mut self, value: Value) -> Result<(), String> {
        const LISTS: [(&str, Behavior); 3] =
            [("deny", Behavior::Deny), ("ask", Behavior::Ask), ("allow", Behavior::Allow)];
        let lists = match value {
            // Without permissions there are no rules.
            Value::Null => LISTS.map(|(name, _)| (name.to_owned(), Value::Null)).into_iter().collect(),
            Value::Object(lists) => lists,
            _ => return Err("`permissions` is not an object".to_owned()),
        };
        for (name, list) in lists {
            let Some((_, behavior)) = LISTS.into_iter().find(|(known, _)| *known == name) else {
                return Err(format!("`permissions.{name}` cannot be changed while the session is open"));
            };
            let list: Option<Vec<String>> = serde_json::from_value(list)
                .map_err(|error| format!("`permissions.{name}` is not a list of rules: {error}"))?;
            let parsed = list.iter().flatten().map(|rule| parse_rule(rule).map(|rule| rule.value()));
            let rules = parsed.collect::<Result<Vec<_>, _>>().map_err(|error| error.to_string())?;
            // Rules that a policy rejects must not be lost on the way to the session.
            let mut policy = Policy::new(PolicyConfig::new("/"));
            let destination = UpdateDestination::Session;
            let update = PermissionUpdate::AddRules { rules: rules.clone(), behavior, destination };
            policy.apply(&update).map_err(|error| error.to_string())?;
            self.0.rules.insert(behavior, rules);
        }
        Ok(())
    }
}

fn text(key: &str, value: Value) -> Result<Option<String>, String> {
    serde_json::from_value(value).map_err(|_| format!("`{key}` is neither a text nor null"))
}

impl ServerMachine {
    /// Carries out `apply_flag_settings`: all of it, or none.
    pub(super) fn apply_flag_settings(&mut self, id: &str, body: &JsonText) -> Result<RequestReply, RequestRefusal> {
        let request: FlagSettings =
            body.to().map_err(|error| RequestRefusal::new(format!("the settings cannot be read: {error}")))?;
        let SettingsParser(change) = SettingsParser::read(request.settings).map_err(RequestRefusal::new)?;
        self.ask_conversation(id, "apply_flag_settings", Some(json!({})), ConversationRequest::Settings(change))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn settings_that_cannot_be_changed_change_none() {
        for (settings, message) in [
            (json!({ "hooks": {} }), "`hooks` cannot be changed"),
            (json!({ "permissions": { "defaultMode": "plan" } }), "`permissions.defaultMode` cannot be changed"),
            (json!({ "permissions": [] }), "not an object"),
            (json!({ "permissions": { "deny": "Bash" } }), "not a list"),
            (json!({ "permissions": { "deny": ["Bash("] } }), "Bash("),
            (json!({ "model": 7 }), "neither"),
            (json!({ "effortLevel": "huge" }), "effortLevel"),
            (json!({ "env": { "A": 1 } }), "`env`"),
        ] {
            let Value::Object(settings) = settings else { panic!("not an object") };
            let error = SettingsParser::read(settings).map(|_| ()).unwrap_err();
            assert!(error.contains(message), "{error}");
        }
    }

    #[test]
    fn null_takes_rules_away() {
        for settings in
            [json!({ "permissions": null }), json!({ "permissions": { "allow": null, "ask": [], "deny": null } })]
        {
            let Value::Object(settings) = settings else { panic!("not an object") };
            let changes = SettingsParser::read(settings).unwrap();
            assert_eq!(changes.0.rules.len(), 3);
            assert!(changes.0.rules.values().all(Vec::is_empty));
        }
    }
}
