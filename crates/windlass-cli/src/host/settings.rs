//! `--settings`: the part of it that this version honours.

use crate::failure::Usage;
use serde::Deserialize;
use std::collections::BTreeMap;
use std::path::PathBuf;
use windlass::PermissionMode;

/// Settings given on the command line.
#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub(crate) struct Settings {
    pub(crate) permissions: PermissionSettings,
    pub(crate) env: BTreeMap<String, String>,
    pub(crate) model: Option<String>,
    sandbox: Option<Sandbox>,
    #[serde(flatten)]
    other: BTreeMap<String, serde_json::Value>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub(crate) struct PermissionSettings {
    pub(crate) allow: Vec<String>,
    pub(crate) ask: Vec<String>,
    pub(crate) deny: Vec<String>,
    pub(crate) default_mode: Option<String>,
    pub(crate) additional_directories: Vec<PathBuf>,
    pub(crate) disable_bypass_permissions_mode: Option<String>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
struct Sandbox {
    enabled: bool,
    fail_if_unavailable: bool,
}

impl Settings {
    /// Reads settings from a file or from JSON text.
    pub(crate) fn read(text: Option<&str>) -> Result<Self, Usage> {
        let Some(text) = text else { return Ok(Self::default()) };
        let json = if text.trim_start().starts_with('{') {
            text.to_owned()
        } else {
            std::fs::read_to_string(text)
                .map_err(|error| Usage(format!("the settings {text} cannot be read: {error}")))?
        };
        let settings: Self =
            serde_json::from_str(&json).map_err(|error| Usage(format!("--settings cannot be read: {error}")))?;
        match &settings.sandbox {
            // Running without the protection that was asked for would be a lie.
            Some(sandbox) if sandbox.enabled && sandbox.fail_if_unavailable => {
                Err(Usage("--settings asks for a sandbox, which this version does not have".to_owned()))
            }
            _ => Ok(settings),
        }
    }

    /// The mode that the settings begin in.
    pub(crate) fn mode(&self) -> Result<Option<PermissionMode>, Usage> {
        self.permissions.default_mode.as_deref().map(str::parse).transpose().map_err(Usage)
    }

    /// What is not honoured, in words.
    pub(crate) fn notes(&self) -> Vec<String> {
        let mut notes: Vec<String> =
            self.other.keys().map(|key| format!("the setting {key:?} has no effect in this version")).collect();
        if self.sandbox.as_ref().is_some_and(|sandbox| sandbox.enabled) {
            notes.push("there is no sandbox in this version: commands run without one".to_owned());
        }
        notes
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn known_settings_count_and_the_rest_is_named() {
        let text = r#"{"permissions":{"allow":["Read"],"defaultMode":"plan"},"model":"m","hooks":{},"env":{"A":"b"}}"#;
        let settings = Settings::read(Some(text)).unwrap();
        assert_eq!(settings.permissions.allow, ["Read"]);
        assert_eq!(settings.mode().unwrap(), Some(PermissionMode::Plan));
        assert_eq!(settings.notes(), [r#"the setting "hooks" has no effect in this version"#]);
        assert!(Settings::read(Some("{")).is_err());
        assert!(Settings::read(Some(r#"{"sandbox":{"enabled":true,"failIfUnavailable":true}}"#)).is_err());
        assert_eq!(Settings::read(Some(r#"{"sandbox":{"enabled":true}}"#)).unwrap().notes().len(), 1);
    }
}
