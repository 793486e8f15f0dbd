//! Changes of permissions in the text of a settings file.

mod key;

pub(crate) use key::with_member;

use crate::object::{Object, list_text, quoted};
use crate::settings::Settings;
use std::path::{Path, PathBuf};
use windlass_permission::{ParsedRule, parse_rule, rule_text};
use windlass_types::{Behavior, JsonError, PermissionUpdate, RuleValue};

/// Returns the text of a settings file after a change, or `None` if the change makes no difference. The rest of the
/// file is unchanged: keys in their order, values as they are written. The empty text means a missing file.
///
/// # Errors
/// The text is not a settings file.
pub fn updated(text: &str, update: &PermissionUpdate) -> Result<Option<String>, JsonError> {
    let mut file = Object::default();
    if !text.trim().is_empty() {
        Settings::parse(text)?;
        file = serde_json::from_str(text)?;
    }
    let mut permissions: Object = file.get("permissions")?;
    let (key, json) = match update {
        PermissionUpdate::SetMode { mode, .. } => {
            if permissions.get::<Option<String>>("defaultMode")?.as_deref() == Some(mode.as_str()) {
                return Ok(None);
            }
            ("defaultMode", quoted(mode.as_str()))
        }
        _ => {
            let key = list_key(update);
            let before: Vec<String> = permissions.get(key)?;
            let mut list = before.clone();
            change(&mut list, update);
            if list == before {
                return Ok(None);
            }
            (key, list_text(&list, 2))
        }
    };
    permissions.set(key, json)?;
    file.set("permissions", permissions.text(1))?;
    Ok(Some(format!("{}\n", file.text(0))))
}

fn list_key(update: &PermissionUpdate) -> &'static str {
    match update {
        PermissionUpdate::AddRules { behavior, .. }
        | PermissionUpdate::ReplaceRules { behavior, .. }
        | PermissionUpdate::RemoveRules { behavior, .. } => match behavior {
            Behavior::Allow => "allow",
            Behavior::Ask => "ask",
            Behavior::Deny => "deny",
        },
        _ => "additionalDirectories",
    }
}

fn change(list: &mut Vec<String>, update: &PermissionUpdate) {
    let texts = |rules: &[RuleValue]| rules.iter().map(rule_text).collect::<Vec<_>>();
    let directory_texts = |directories: &[PathBuf]| {
        directories.iter().map(|directory| directory.to_string_lossy().into_owned()).collect::<Vec<_>>()
    };
    match update {
        PermissionUpdate::AddRules { rules, .. } => add(list, texts(rules)),
        PermissionUpdate::ReplaceRules { rules, .. } => *list = texts(rules),
        PermissionUpdate::RemoveRules { rules, .. } => list.retain(|text| !names_one_of(text, rules)),
        PermissionUpdate::AddDirectories { directories, .. } => add(list, directory_texts(directories)),
        PermissionUpdate::RemoveDirectories { directories, .. } => {
            list.retain(|text| !directories.iter().any(|removed| Path::new(text) == removed));
        }
        _ => {}
    }
}

fn add(list: &mut Vec<String>, more: Vec<String>) {
    for text in more {
        if !list.contains(&text) {
            list.push(text);
        }
    }
}

/// Returns `true` if a rule is one of these, in any spelling.
pub(crate) fn names_one_of(text: &str, rules: &[RuleValue]) -> bool {
    let Ok(rule) = parse_rule(text) else { return false };
    let is_equal = |removed: &RuleValue| {
        parse_rule(&rule_text(removed)).is_ok_and(|removed| ParsedRule::value(&removed) == rule.value())
    };
    rules.iter().any(is_equal)
}
