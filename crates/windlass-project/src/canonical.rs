//! JSON in one form, so that equal values have equal texts.

use serde::Serialize;
use serde_json::Value;

/// Returns JSON text in canonical form: without blanks, keys sorted. A text that is no JSON is unchanged.
pub(crate) fn canonical(json: &str) -> String {
    serde_json::from_str::<Value>(json).map_or_else(|_| json.to_owned(), |value| sorted(&value).to_string())
}

/// Returns the value with the keys of its objects in order, whatever the features of the JSON library.
fn sorted(value: &Value) -> Value {
    match value {
        Value::Object(fields) => {
            let mut fields: Vec<_> = fields.iter().map(|(key, value)| (key.clone(), sorted(value))).collect();
            fields.sort_by(|a, b| a.0.cmp(&b.0));
            Value::Object(fields.into_iter().collect())
        }
        Value::Array(items) => items.iter().map(sorted).collect(),
        other => other.clone(),
    }
}

/// Returns the canonical text of a value.
pub(crate) fn content_of(value: &impl Serialize) -> String {
    serde_json::to_string(value).map(|text| canonical(&text)).unwrap_or_default()
}
