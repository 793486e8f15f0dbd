use super::*;
use serde_json::{Value, json};

fn converted(schema: &Value) -> Option<Value> {
    strict(&JsonText::of(schema).unwrap()).map(|schema| schema.to().unwrap())
}

#[track_caller]
fn becomes(schema: &Value, expected: &Value) {
    assert_eq!(converted(schema).as_ref(), Some(expected), "{schema}");
}

#[track_caller]
fn cannot(schema: &Value) {
    assert_eq!(converted(schema), None, "{schema}");
}

fn with(property: &Value) -> Value {
    json!({"type": "object", "properties": {"a": property}, "required": ["a"]})
}

/// Checks the conversion of a required property.
#[track_caller]
fn property(schema: &Value, expected: &Value) {
    let mut root = with(expected);
    root["additionalProperties"] = json!(false);
    becomes(&with(schema), &root);
}

#[test]
fn every_property_is_required_and_optional_ones_may_be_null() {
    becomes(
        &json!({
            "$schema": "https://json-schema.org/draft/2020-12/schema", "type": "object",
            "properties": {
                "path": {"type": "string", "minLength": 1, "default": "x"},
                "limit": {"type": "integer", "minimum": 0},
                "mode": {"type": "string", "enum": ["a", "b"]},
                "any": {"anyOf": [{"type": "string"}, {"type": "integer"}]},
                "kind": {"const": "k"},
            },
            "required": ["path"],
        }),
        &json!({
            "type": "object",
            "properties": {
                "path": {"type": "string"},
                "limit": {"type": ["integer", "null"], "minimum": 0},
                "mode": {"type": ["string", "null"], "enum": ["a", "b", null]},
                "any": {"anyOf": [{"type": "string"}, {"type": "integer"}, {"type": "null"}]},
                "kind": {"type": ["string", "null"], "enum": ["k", null]},
            },
            "required": ["any", "kind", "limit", "mode", "path"],
            "additionalProperties": false,
        }),
    );
}

#[test]
fn members_keep_their_order() {
    let text = r#"{"type":"object","properties":{"z":{"type":"string"},"a":{"type":"string"},"m":{"type":"string"}},"required":["a","z","m"]}"#;
    let out = strict(&JsonText::parse(text).unwrap()).unwrap();
    let expected = r#"{"type":"object","properties":{"z":{"type":"string"},"a":{"type":"string"},"m":{"type":"string"}},"required":["z","a","m"],"additionalProperties":false}"#;
    assert_eq!(out.as_str(), expected);
    assert_eq!(strict(&out).unwrap(), out, "a converted schema stays as it is");
}

#[test]
fn objects_are_closed_at_every_level() {
    let inner = json!({"properties": {"b": {"type": "string"}}, "required": ["b"]});
    let closed = json!({"type": "object", "properties": {"b": {"type": "string"}}, "required": ["b"], "additionalProperties": false});
    property(&inner, &closed);
    property(&json!({"type": "array", "items": inner}), &json!({"type": "array", "items": closed}));
    property(&json!({"anyOf": [inner, {"type": "null"}]}), &json!({"anyOf": [closed, {"type": "null"}]}));
    property(&json!({"oneOf": [inner]}), &json!({"anyOf": [closed]}));
    let mut nullable = inner.clone();
    nullable["type"] = json!(["object", "null"]);
    let mut expected = closed.clone();
    expected["type"] = json!(["object", "null"]);
    property(&nullable, &expected);
    let mut root = with(&json!({"$ref": "#/$defs/i"}));
    root["$defs"] = json!({"i": inner});
    let mut expected = with(&json!({"$ref": "#/$defs/i"}));
    expected["additionalProperties"] = json!(false);
    expected["$defs"] = json!({"i": closed});
    becomes(&root, &expected);
}

#[test]
fn types_are_found_where_they_are_not_written() {
    property(&json!({"enum": ["a", "b"]}), &json!({"type": "string", "enum": ["a", "b"]}));
    property(&json!({"enum": ["a", 1, null]}), &json!({"type": ["string", "integer", "null"], "enum": ["a", 1, null]}));
    property(&json!({"const": true}), &json!({"type": "boolean", "enum": [true]}));
    property(&json!({"items": {"type": "number"}}), &json!({"type": "array", "items": {"type": "number"}}));
}

#[test]
fn references_stand_alone() {
    let defs = json!({"i": {"type": "string"}});
    let mut root = json!({
        "type": "object", "$defs": defs,
        "properties": {
            "said": {"$ref": "#/$defs/i", "description": "d"}, "all": {"allOf": [{"$ref": "#/$defs/i"}], "default": 1},
            "optional": {"$ref": "#/$defs/i"},
        },
        "required": ["said", "all"],
    });
    let out = converted(&root).unwrap();
    assert_eq!(out["properties"]["said"], json!({"description": "d", "anyOf": [{"$ref": "#/$defs/i"}]}));
    assert_eq!(out["properties"]["all"], json!({"$ref": "#/$defs/i"}));
    assert_eq!(out["properties"]["optional"], json!({"anyOf": [{"$ref": "#/$defs/i"}, {"type": "null"}]}));
    root["properties"]["said"]["$ref"] = json!("https://example.com/schema");
    cannot(&root);
}

#[test]
fn keywords_that_only_narrow_are_left_out() {
    property(
        &json!({"type": "string", "minLength": 1, "maxLength": 9, "format": "uri", "pattern": "^a", "examples": ["a"]}),
        &json!({"type": "string", "pattern": "^a"}),
    );
    property(&json!({"type": "string", "format": "date"}), &json!({"type": "string", "format": "date"}));
    property(
        &json!({"type": "array", "items": {"type": "string"}, "uniqueItems": true, "maxItems": 3}),
        &json!({"type": "array", "items": {"type": "string"}, "maxItems": 3}),
    );
}

#[test]
fn a_tool_without_input_can_be_strict() {
    let expected = json!({"type": "object", "properties": {}, "required": [], "additionalProperties": false});
    becomes(&json!({"type": "object"}), &expected);
    becomes(&json!({"type": "object", "properties": {}}), &expected);
}

#[test]
fn what_the_subset_cannot_say_stays_as_it_is() {
    for schema in [
        json!(true),
        json!("x"),
        json!({}),
        json!({"type": "string"}),
        json!({"type": ["object", "null"], "properties": {}}),
        json!({"anyOf": [{"type": "object", "properties": {}}]}),
        json!({"type": "object", "properties": {"a": true}}),
        json!({"type": "object", "additionalProperties": {"type": "string"}}),
        json!({"type": "object", "properties": {}, "additionalProperties": true}),
        json!({"type": "object", "properties": {}, "required": ["a"]}),
        json!({"type": "object", "properties": {}, "patternProperties": {"^a": {"type": "string"}}}),
    ] {
        cannot(&schema);
    }
    for inner in [
        json!({}),
        json!({"description": "anything"}),
        json!({"type": "object"}),
        json!({"type": "array"}),
        json!({"type": "array", "prefixItems": [{"type": "string"}]}),
        json!({"type": "string", "not": {"enum": ["a"]}}),
        json!({"allOf": [{"type": "string"}, {"pattern": "a"}]}),
        json!({"enum": [{"a": 1}]}),
        json!({"anyOf": 1}),
        json!({"type": "object", "properties": 1}),
    ] {
        cannot(&with(&inner));
    }
}

#[test]
fn deep_and_wide_schemas_are_not_strict() {
    let mut deep = json!({"type": "string"});
    for _ in 0..9 {
        deep = with(&deep);
    }
    assert!(converted(&with(&deep)).is_some());
    for _ in 0..3 {
        deep = with(&deep);
    }
    cannot(&deep);
    let properties: serde_json::Map<String, Value> =
        (0..5_001).map(|at| (format!("p{at}"), json!({"type": "string"}))).collect();
    cannot(&json!({"type": "object", "properties": properties}));
}

#[test]
fn schemas_that_are_not_strict_are_objects_with_properties() {
    for (schema, expected) in [
        (
            r#"{"type":"object","properties":{"a":{"anyOf":[]}},"x":1.0}"#,
            r#"{"type":"object","properties":{"a":{"anyOf":[]}},"x":1.0}"#,
        ),
        (r#"{"type":"object"}"#, r#"{"type":"object","properties":{}}"#),
        (r#"{}"#, r#"{"type":"object","properties":{}}"#),
        (r#"{"properties":{"b":1,"a":2}}"#, r#"{"type":"object","properties":{"b":1,"a":2}}"#),
        (
            r#"{"type":["object","null"],"oneOf":[{"required":["a"]}],"required":["a"],"properties":{"a":{}}}"#,
            r#"{"type":"object","required":["a"],"properties":{"a":{}}}"#,
        ),
        ("true", r#"{"type":"object","properties":{}}"#),
    ] {
        assert_eq!(parameters(&JsonText::parse(schema).unwrap()), expected, "{schema}");
    }
}
