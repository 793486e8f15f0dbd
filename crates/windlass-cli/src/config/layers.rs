//! Values of each settings file, with their lines.

use super::masked;
use crate::args::SettingsArgs;
use serde_json::{Value, json};
use std::path::Path;
use windlass::project::LoadedProject;
use windlass::project::{KeyEffect, Origin, SettingKey, line_of, read_named};

/// Maximum size of a settings file, in bytes.
const MAX_BYTES: u64 = 1 << 20;

/// Value of one setting in one file.
#[derive(Debug)]
pub(super) struct Said {
    /// The name of the setting.
    pub(super) key: String,
    /// Path of the setting from the root of the file.
    pub(super) members: Vec<String>,
    /// The value, without secrets.
    pub(super) value: Value,
    pub(super) layer: String,
    pub(super) file: String,
    pub(super) line: Option<usize>,
}

impl Said {
    pub(super) fn json(&self, counts: bool) -> Value {
        let Self { value, layer, file, line, .. } = self;
        json!({"value": value, "layer": layer, "file": file, "line": line, "counts": counts})
    }
}

/// Returns the values in a project's files that can be active, those of the strongest layer first. `given` are the
/// settings of the command line. Files that have changed since they were read are shown as they are.
pub(super) fn said(project: &LoadedProject, given: &SettingsArgs) -> anyhow::Result<Vec<Said>> {
    let mut all = Vec::new();
    for file in project.files() {
        let text = match &file.origin {
            Origin::File(path) => read_named(Path::new(path), MAX_BYTES)?,
            Origin::InlineManaged => given.managed_settings.clone().unwrap_or_default(),
            _ => given.settings.clone().unwrap_or_default(),
        };
        let content: Value = serde_json::from_str(&text)?;
        for key in SettingKey::all().filter(|key| key.effect == KeyEffect::Honoured) {
            let members: Vec<String> = key.name.splitn(2, '.').map(str::to_owned).collect();
            let found = members.iter().try_fold(&content, |value, member| value.get(member));
            let Some(value) = found.filter(|value| !value.is_null()) else { continue };
            let path: Vec<&str> = members.iter().map(String::as_str).collect();
            let line = line_of(&text, &path);
            let (layer, file) = (file.layer.to_string(), file.origin.to_string());
            all.push(Said { key: key.name.to_owned(), value: masked(key.name, value), members, layer, file, line });
        }
    }
    Ok(all)
}

/// Returns `true` if an origin is among those of active values.
pub(super) fn names(provenance: &Value, origin: &str) -> bool {
    match provenance {
        Value::String(text) => text == origin,
        Value::Array(items) => items.iter().any(|item| names(item, origin)),
        Value::Object(members) => members.values().any(|member| names(member, origin)),
        _ => false,
    }
}
