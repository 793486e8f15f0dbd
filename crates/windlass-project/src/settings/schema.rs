//! The JSON Schema of settings files.

use super::keys::{KeyEffect, SettingKey, Shape};
use serde_json::{Map, Value, json};

/// Returns the JSON Schema (2020-12) of settings files, as `docs/schema/settings.schema.json` has it. It lists every
/// known key; keys that are not known are let through, as [`Settings::parse`](super::Settings::parse) does.
#[must_use]
pub fn settings_schema() -> Value {
    let mut properties = Map::new();
    for key in SettingKey::all() {
        let place = match key.name.split_once('.') {
            Some((group, member)) => group_of(&mut properties, group).map(|members| (members, member)),
            None => Some((&mut properties, key.name)),
        };
        if let Some((members, name)) = place {
            members.insert(name.to_owned(), described(&key));
        }
    }
    properties.sort_keys();
    json!({
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "Settings of windlass",
        "type": "object",
        "properties": properties,
    })
}

/// Returns the members of an object of keys.
fn group_of<'a>(properties: &'a mut Map<String, Value>, group: &str) -> Option<&'a mut Map<String, Value>> {
    let group = properties.entry(group).or_insert_with(|| json!({"type": ["object", "null"], "properties": {}}));
    group.get_mut("properties")?.as_object_mut()
}

fn described(key: &SettingKey) -> Value {
    let mut schema = of_shape(key.shape);
    let effect = match key.effect {
        KeyEffect::Honoured => "",
        KeyEffect::Appearance => "Passed over: it only changes how an interactive program looks.",
        KeyEffect::WithoutEffect => "Without effect in this version.",
        KeyEffect::Refused => "No session of this version starts with it, because it cannot be held.",
        KeyEffect::RefusedInManaged => {
            "In managed settings, no session of this version starts with it, because it cannot be held."
        }
    };
    let description = [key.about, effect].join(" ");
    if let Some(members) = schema.as_object_mut() {
        members.insert("description".to_owned(), description.trim().into());
    }
    schema
}

fn of_shape(shape: Shape) -> Value {
    let texts = || json!({"type": "array", "items": {"type": "string"}});
    let or_null = |mut schema: Value| {
        if let Some(kind) = schema.get_mut("type") {
            *kind = json!([kind.take(), "null"]);
        }
        schema
    };
    match shape {
        Shape::Any => json!({}),
        Shape::Flag => or_null(json!({"type": "boolean"})),
        Shape::Number => or_null(json!({"type": "integer", "minimum": 0})),
        Shape::Text => or_null(json!({"type": "string"})),
        // A text that only a later version knows is no mistake of the file.
        Shape::Word(words) => json!({"anyOf": [{"enum": words}, {"type": ["string", "null"]}]}),
        Shape::Texts => or_null(texts()),
        Shape::TextOrTexts => json!({"anyOf": [{"type": ["string", "null"]}, texts()]}),
        Shape::Variables => {
            or_null(json!({"type": "object", "additionalProperties": {"type": ["string", "number", "boolean"]}}))
        }
        Shape::Words(words) => {
            or_null(json!({"type": "object", "additionalProperties": {"anyOf": [{"enum": words}, {}]}}))
        }
        Shape::Object => or_null(json!({"type": "object"})),
    }
}
