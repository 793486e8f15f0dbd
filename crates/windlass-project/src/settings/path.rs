//! The name of a setting as people write it, and the value for it.

use super::keys::{SettingKey, Shape};
use serde_json::Value;
use thiserror::Error;

/// A setting, or one of its members: `permissions.deny`, `env.CI`, `models.my-model`.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct SettingPath {
    /// The key that it belongs to.
    pub key: SettingKey,
    /// Object members from the root of the file.
    pub members: Vec<String>,
}

/// No setting has this name.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[error("there is no setting {name:?}{}", meant.map(|meant| format!(": did you mean `{meant}`?")).unwrap_or_default())]
#[non_exhaustive]
pub struct UnknownSetting {
    /// The name.
    pub name: String,
    /// The most similar setting, if there is one.
    pub meant: Option<&'static str>,
}

impl SettingPath {
    /// Returns the setting of this name. For a key with chosen names, everything behind it is the name: `env.CI`,
    /// `models.gpt-5.5`.
    ///
    /// # Errors
    /// No setting has this name.
    pub fn named(name: &str) -> Result<Self, UnknownSetting> {
        if let Some(key) = SettingKey::named(name) {
            let members = key.name.splitn(2, '.').map(str::to_owned).collect();
            return Ok(Self { key, members });
        }
        let member = |key: &SettingKey| name.strip_prefix(key.name)?.strip_prefix('.').filter(|rest| !rest.is_empty());
        let found = SettingKey::all().filter(SettingKey::holds_names).find_map(|key| Some((key, member(&key)?)));
        match found {
            Some((key, member)) => Ok(Self { key, members: vec![key.name.to_owned(), member.to_owned()] }),
            None => Err(UnknownSetting { name: name.to_owned(), meant: SettingKey::like(name).first().copied() }),
        }
    }

    /// Returns `true` if the path ends in a member named by the user.
    fn is_named_member(&self) -> bool {
        self.key.holds_names() && self.members.len() > 1
    }

    /// Returns the JSON text of a value as a person writes it: JSON, or for settings that take text the text itself.
    ///
    /// # Errors
    /// The value is not JSON, and the setting takes no text.
    pub fn value(&self, written: &str) -> Result<String, String> {
        let json = serde_json::from_str::<Value>(written).ok();
        let takes_text = match self.key.shape {
            Shape::Variables | Shape::Words(_) if self.is_named_member() => true,
            Shape::TextOrTexts => json.is_none(),
            _ => self.key.takes_text(),
        };
        match json {
            Some(value) if !takes_text || value.is_string() => Ok(value.to_string()),
            _ if takes_text => Ok(Value::from(written).to_string()),
            _ => Err(format!("`{}` must be {}, as JSON", self.members.join("."), self.key.expected())),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_and_values_are_what_people_mean() {
        for (name, written, members, value) in [
            ("model", "opus", &["model"][..], Ok("\"opus\"")),
            ("model", "\"opus\"", &["model"], Ok("\"opus\"")),
            ("model", "5", &["model"], Ok("\"5\"")),
            ("permissions.defaultMode", "plan", &["permissions", "defaultMode"], Ok("\"plan\"")),
            ("permissions.deny", "[\"Bash\"]", &["permissions", "deny"], Ok("[\"Bash\"]")),
            ("permissions.deny", "Bash", &["permissions", "deny"], Err(())),
            ("fallbackModel", "a", &["fallbackModel"], Ok("\"a\"")),
            ("fallbackModel", "[\"a\"]", &["fallbackModel"], Ok("[\"a\"]")),
            ("env.A.B", "1", &["env", "A.B"], Ok("\"1\"")),
            ("models.gpt-5.5", "{\"contextWindow\":1}", &["models", "gpt-5.5"], Ok("{\"contextWindow\":1}")),
            ("projectIndex", "false", &["projectIndex"], Ok("false")),
            ("projectIndex", "no", &["projectIndex"], Err(())),
        ] {
            let path = SettingPath::named(name).unwrap();
            assert_eq!(path.members, members, "{name}");
            assert_eq!(path.value(written).as_deref().map_err(drop), value, "{name} {written}");
        }
        let problem = SettingPath::named("permisions.deny").unwrap_err();
        assert_eq!(problem.to_string(), "there is no setting \"permisions.deny\": did you mean `permissions.deny`?");
        assert!(SettingPath::named("env.").is_err() && SettingPath::named("permissions").is_err());
    }
}
