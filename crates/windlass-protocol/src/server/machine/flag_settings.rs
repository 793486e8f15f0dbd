//! Settings that the host changes while the session is open.

use super::Machine;
use super::answers::{Refusal, Reply};
use super::io::SessionOrder;
use super::wishes::{FlagRules, add};
use serde::Deserialize;
use serde_json::{Map, Value, json};
use std::collections::BTreeMap;
use windlass_permission::{Policy, PolicyConfig, parse_rule};
use windlass_types::{Behavior, Effort, JsonText, PermissionUpdate, UpdateDestination};

#[derive(Deserialize)]
struct Request {
    settings: Map<String, Value>,
}

/// What settings ask for. Only these can be changed in a session that is open.
#[derive(Default)]
struct Changes {
    /// New rules in the place of those from earlier settings.
    rules: FlagRules,
    model: Option<Option<String>>,
    effort: Option<Option<Effort>>,
    environment: BTreeMap<String, String>,
}

impl Changes {
    /// Reads settings: all of them, or why one cannot be used.
    fn read(settings: Map<String, Value>) -> Result<Self, String> {
        let mut changes = Self::default();
        for (key, value) in settings {
            match key.as_str() {
                "permissions" => changes.permissions(value)?,
                "model" => changes.model = Some(text(&key, value)?.filter(|name| name != "default")),
                "effortLevel" => {
                    let effort = text(&key, value)?.map(|name| name.parse::<Effort>());
                    changes.effort = Some(effort.transpose().map_err(|error| format!("`{key}`: {error}"))?);
                }
                "env" => {
                    changes.environment = serde_json::from_value(value)
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
        let given = match value {
            // Without permissions there are no rules.
            Value::Null => LISTS.map(|(name, _)| (name.to_owned(), Value::Null)).into_iter().collect(),
            Value::Object(given) => given,
            _ => return Err("`permissions` is not an object".to_owned()),
        };
        for (name, list) in given {
            let Some((_, behavior)) = LISTS.into_iter().find(|(known, _)| *known == name) else {
                return Err(format!("`permissions.{name}` cannot be changed while the session is open"));
            };
            let list: Option<Vec<String>> = serde_json::from_value(list)
                .map_err(|error| format!("`permissions.{name}` is not a list of rules: {error}"))?;
            let parsed = list.iter().flatten().map(|rule| parse_rule(rule).map(|rule| rule.value()));
            let rules = parsed.collect::<Result<Vec<_>, _>>().map_err(|error| error.to_string())?;
            // What a policy would not take must not be lost on the way to the session.
            let mut policy = Policy::new(PolicyConfig::new("/"));
            policy.apply(&add(behavior, rules.clone())).map_err(|error| error.to_string())?;
            self.rules.insert(behavior, rules);
        }
        Ok(())
    }
}

fn text(key: &str, value: Value) -> Result<Option<String>, String> {
    serde_json::from_value(value).map_err(|_| format!("`{key}` is neither a text nor null"))
}

impl Machine {
    /// Carries out `apply_flag_settings`: all of it, or none.
    pub(super) fn apply_flag_settings(&mut self, body: &JsonText) -> Result<Reply, Refusal> {
        let request: Request =
            body.to().map_err(|error| Refusal::new(format!("the settings cannot be read: {error}")))?;
        let Changes { rules, model, effort, environment } = Changes::read(request.settings).map_err(Refusal::new)?;
        if !environment.is_empty() {
            self.renew_environment(environment);
        }
        let mut updates = Vec::new();
        for (behavior, rules) in rules {
            let before = self.wishes.flag_rules.insert(behavior, rules.clone()).unwrap_or_default();
            if !before.is_empty() {
                let destination = UpdateDestination::Session;
                updates.push(PermissionUpdate::RemoveRules { rules: before, behavior, destination });
            }
            if !rules.is_empty() {
                updates.push(add(behavior, rules));
            }
        }
        if !updates.is_empty() {
            self.order_session(SessionOrder::Permissions(updates));
        }
        if let Some(effort) = effort {
            self.wishes.effort = Some(effort);
            self.order_session(SessionOrder::Effort(effort));
        }
        if let Some(model) = model {
            self.use_model(model);
        }
        Reply::value(json!({}))
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
            let error = Changes::read(settings).map(|_| ()).unwrap_err();
            assert!(error.contains(message), "{error}");
        }
    }

    #[test]
    fn null_takes_rules_away() {
        for settings in
            [json!({ "permissions": null }), json!({ "permissions": { "allow": null, "ask": [], "deny": null } })]
        {
            let Value::Object(settings) = settings else { panic!("not an object") };
            let changes = Changes::read(settings).unwrap();
            assert_eq!(changes.rules.len(), 3);
            assert!(changes.rules.values().all(Vec::is_empty));
        }
    }
}
