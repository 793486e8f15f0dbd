//! Property names that providers refuse, and their replacements.

use serde_json::{Map, Value, json};
use std::collections::BTreeMap;

/// Maximum length of a property name.
const MAX_PROPERTY_NAME: usize = 64;
/// Top-level keywords that refer to property names in ways that are not supported here.
const NAMING: [&str; 7] = ["dependencies", "dependentRequired", "dependentSchemas", "if", "then", "else", "not"];

/// Replacement names of properties, each with the name that the server knows.
pub(crate) type Renamed = BTreeMap<String, String>;

/// `true` for a name that providers accept. They check only top-level names: `^[a-zA-Z0-9_.-]{1,64}$`.
fn is_fit(name: &str) -> bool {
    (1..=MAX_PROPERTY_NAME).contains(&name.len())
        && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'.' | b'-'))
}

/// Renames top-level properties to names that providers accept.
///
/// # Errors
/// Fails if there is no such name for a property, or if the schema refers to it in an unsupported way.
pub(super) fn fit(schema: &mut Map<String, Value>) -> Result<Renamed, String> {
    let Some(Value::Object(properties)) = schema.get("properties") else { return Ok(Renamed::new()) };
    let mut renamed = Renamed::new();
    for name in properties.keys().filter(|name| !is_fit(name)) {
        let fit: String = name
            .chars()
            .map(|c| if is_fit(c.encode_utf8(&mut [0; 4])) { c } else { '_' })
            .take(MAX_PROPERTY_NAME)
            .collect();
        let is_taken = properties.contains_key(&fit) || renamed.contains_key(&fit);
        if fit.trim_matches('_').is_empty() || is_taken {
            return Err(format!("the name of its property {} is refused by providers", super::shown(name)));
        }
        renamed.insert(fit, name.clone());
    }
    if let Some(keyword) = NAMING.iter().find(|keyword| !renamed.is_empty() && schema.contains_key(**keyword)) {
        return Err(format!("it has names of properties that providers refuse, and `{keyword}`"));
    }
    let fit_name = |name: &str| renamed.iter().find(|(_, own)| *own == name).map(|(fit, _)| fit.clone());
    if let Some(Value::Object(properties)) = schema.get_mut("properties") {
        *properties = std::mem::take(properties)
            .into_iter()
            .map(|(name, property)| (fit_name(&name).unwrap_or(name), property))
            .collect();
    }
    if let Some(Value::Array(required)) = schema.get_mut("required") {
        for name in required.iter_mut() {
            if let Some(fit) = name.as_str().and_then(fit_name) {
                *name = json!(fit);
            }
        }
    }
    Ok(renamed)
}

/// Restores the property names that the server knows.
pub(crate) fn restore(input: Map<String, Value>, renamed: &Renamed) -> Map<String, Value> {
    input.into_iter().map(|(name, value)| (renamed.get(&name).cloned().unwrap_or(name), value)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn fitted(schema: &Value) -> Result<(Value, Renamed), String> {
        let mut schema = schema.as_object().unwrap().clone();
        fit(&mut schema).map(|renamed| (Value::Object(schema), renamed))
    }

    #[test]
    fn names_are_made_fit_and_restored() {
        let schema =
            json!({ "properties": { "filter[id]": { "a b": 1 }, "$top": {}, "ok": {} }, "required": ["$top", "ok"] });
        let (schema, renamed) = fitted(&schema).unwrap();
        assert_eq!(
            schema,
            json!({ "properties": { "filter_id_": { "a b": 1 }, "_top": {}, "ok": {} }, "required": ["_top", "ok"] })
        );
        let input = json!({ "filter_id_": 1, "_top": 2, "ok": 3, "other": 4 }).as_object().unwrap().clone();
        assert_eq!(Value::Object(restore(input, &renamed)), json!({ "filter[id]": 1, "$top": 2, "ok": 3, "other": 4 }));
        let long = "p".repeat(65);
        assert_eq!(
            fitted(&json!({ "properties": { (long.as_str()): {} } })).unwrap().1.keys().next().unwrap().len(),
            64
        );
    }

    #[test]
    fn names_that_cannot_be_told_apart_are_refused() {
        for schema in [
            json!({ "properties": { "a b": {}, "a_b": {} } }),
            json!({ "properties": { "a b": {}, "a?b": {} } }),
            json!({ "properties": { "": {} } }),
            json!({ "properties": { "größe": {}, "gr__e": {} }, "x": 1 }),
            json!({ "properties": { "???": {} } }),
            json!({ "properties": { "a b": {} }, "dependentRequired": { "a b": ["c"] } }),
        ] {
            let outcome = fitted(&schema);
            assert!(outcome.is_err() || schema.get("x").is_some(), "{schema}");
        }
    }
}
