//! Findings about a settings file, key by key.

use super::keys::{KeyEffect, SettingKey};
use super::lines::line_of;
use serde_json::{Map, Value};
use std::collections::BTreeSet;

/// Objects whose members are keys of their own.
const GROUPS: [&str; 3] = ["attribution", "permissions", "sandbox"];

/// Keys of a file without effect, and those with which no session starts.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct KeyReport {
    /// Keys that have no effect in this version, such as `fastMode`, in order.
    pub without_effect: Vec<String>,
    /// Keys that no version knows, in order.
    pub unknown: Vec<UnknownKey>,
    /// Keys whose restrictions this version cannot enforce, in order.
    pub refused: Vec<SettingKey>,
}

/// A key that is not known.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct UnknownKey {
    /// Name of the key, after that of the object around it.
    pub name: String,
    /// Line of the key in the file, counted from 1.
    pub line: Option<usize>,
    /// The most similar known key, if there is one.
    pub meant: Option<&'static str>,
}

/// Checks the value of each known key.
///
/// # Errors
/// The first key, in the order of the file's keys, whose value has another type, with its line.
pub(super) fn check(text: &str, file: &Value) -> Result<(), String> {
    let wrong = |name: &str, path: &[&str], expected: &str| {
        let line = line_of(text, path).map(|line| format!("line {line}: ")).unwrap_or_default();
        Err(format!("{line}`{name}` must be {expected}"))
    };
    let Some(members) = file.as_object() else { return Err("it must be an object, such as `{}`".to_owned()) };
    for (name, value) in members {
        let of_object =
            |key: &SettingKey| key.name.strip_prefix(name.as_str()).is_some_and(|rest| rest.starts_with('.'));
        if let Some(key) = SettingKey::named(name).filter(|key| !key.shape.accepts(value)) {
            return wrong(name, &[name], key.expected());
        }
        let mut below = SettingKey::all().filter(of_object).peekable();
        if below.peek().is_none() || value.is_null() {
            continue;
        }
        let Some(group) = value.as_object() else { return wrong(name, &[name], "an object") };
        for key in below {
            let member = key.name.get(name.len().saturating_add(1)..).unwrap_or_default();
            if group.get(member).is_some_and(|value| !key.shape.accepts(value)) {
                return wrong(key.name, &[name, member], key.expected());
            }
        }
    }
    Ok(())
}

impl KeyReport {
    /// Classifies the keys of a file by their effect.
    pub(super) fn of(text: &str, file: &Value) -> Self {
        let mut report = Self::default();
        let none = Map::new();
        let members = |value: &Value| value.as_object().unwrap_or(&none).keys().cloned().collect::<BTreeSet<_>>();
        for name in members(file) {
            let value = file.get(&name).unwrap_or(&Value::Null);
            if !GROUPS.contains(&name.as_str()) {
                report.add(text, &[&name], value);
                continue;
            }
            for member in members(value) {
                report.add(text, &[&name, &member], value.get(&member).unwrap_or(&Value::Null));
            }
        }
        report
    }

    fn add(&mut self, text: &str, path: &[&str], value: &Value) {
        let name = path.join(".");
        let is_object_of_keys =
            || SettingKey::all().any(|key| key.name.strip_prefix(&*name).is_some_and(|rest| rest.starts_with('.')));
        match SettingKey::named(&name) {
            Some(key) => match key.effect {
                KeyEffect::Honoured | KeyEffect::Appearance => {}
                KeyEffect::WithoutEffect => self.without_effect.push(name),
                KeyEffect::Refused | KeyEffect::RefusedInManaged if SettingKey::restricts(value) => {
                    self.refused.push(key);
                }
                KeyEffect::Refused | KeyEffect::RefusedInManaged => {}
            },
            None if is_object_of_keys() => {}
            None => {
                let meant = SettingKey::like(&name).first().copied();
                self.unknown.push(UnknownKey { line: line_of(text, path), meant, name });
            }
        }
    }
}
