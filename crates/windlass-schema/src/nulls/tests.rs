use crate::InputSchema;
use serde_json::{Value, json};
use windlass_types::JsonText;

fn schema(schema: &Value) -> InputSchema {
    InputSchema::new(JsonText::of(schema).unwrap())
}

/// Returns the text that an input becomes, `=` if it fits unchanged, or its fault.
fn read(schema: &InputSchema, input: &str) -> String {
    match schema.read(&JsonText::parse(input).unwrap()) {
        Ok(None) => "=".to_owned(),
        Ok(Some(input)) => input.as_str().to_owned(),
        Err(fault) => format!("! {fault}"),
    }
}

#[test]
fn a_null_for_an_optional_property_counts_as_absent() {
    let schema = schema(&json!({
        "type": "object",
        "properties": {
            "path": {"type": "string"}, "limit": {"type": "integer"}, "note": {"type": ["string", "null"]},
            "any": {}, "kind": {"enum": ["a", "b"]},
        },
        "required": ["path"], "additionalProperties": false,
    }));
    let cases = [
        (r#"{"path":"a","limit":null}"#, r#"{"path":"a"}"#),
        (r#"{"limit":null,"path":"a","kind":null}"#, r#"{"path":"a"}"#),
        // A property that allows null keeps it, also beside one that is removed.
        (r#"{"path":"a","note":null,"any":null}"#, "="),
        (r#"{"path":"a","note":null,"limit":null}"#, r#"{"path":"a","note":null}"#),
        (r#"{"path":"a"}"#, "="),
        // All other text stays exact.
        (r#"{ "path" : "\u00e9", "kind":null, "any": [ 1.00, 1e2 ] }"#, r#"{"path":"\u00e9","any":[ 1.00, 1e2 ]}"#),
    ];
    for (input, expected) in cases {
        assert_eq!(read(&schema, input), expected, "{input}");
    }
}

#[test]
fn other_faults_stay_faults() {
    let schema = schema(&json!({
        "type": "object",
        "properties": {"path": {"type": "string"}, "limit": {"type": "integer"}},
        "required": ["path"], "additionalProperties": false,
    }));
    assert_eq!(read(&schema, r#"{"path":null}"#), "! /path: null is not of type \"string\"");
    assert_eq!(read(&schema, r#"{"path":"a","limit":"x"}"#), "! /limit: \"x\" is not of type \"integer\"");
    // The null is not a fault, so only the other one is reported.
    assert_eq!(read(&schema, r#"{"path":1,"limit":null}"#), "! /path: 1 is not of type \"string\"");
    assert!(read(&schema, r#"{"path":"a","unknown":null}"#).starts_with("! the input: Additional properties"));
    assert!(read(&schema, r#"{"path":"a","limit":null,"limit":null}"#).contains("twice"));
    assert!(read(&schema, "null").contains("object"));
    // If removing a null makes the object too small, the fault of the remaining object is reported.
    let least = self::schema(&json!({"properties": {"a": {"type": "string"}}, "minProperties": 1}));
    assert_eq!(read(&least, r#"{"a":null}"#), "! the input: {} has less than 1 property");
}

#[test]
fn nulls_are_found_in_what_lies_below() {
    let schema = schema(&json!({
        "type": "object",
        "properties": {
            "edits": {"type": "array", "items": {"$ref": "#/$defs/edit"}},
            "where": {"anyOf": [
                {"type": "object", "properties": {"line": {"type": "integer"}, "kind": {"const": "line"}}, "required": ["kind"]},
                {"type": "object", "properties": {"name": {"type": "string"}, "kind": {"const": "name"}}, "required": ["kind"]},
            ]},
            "list": {"type": "array", "items": {"type": "string"}},
            "map": {"type": "object", "additionalProperties": {"type": "string"}},
        },
        "$defs": {"edit": {
            "type": "object",
            "properties": {"old": {"type": "string"}, "all": {"type": "boolean"}, "then": {"$ref": "#/$defs/edit"}},
            "required": ["old"],
        }},
    }));
    let cases = [
        (r#"{"edits":[{"old":"a","all":null},{"old":"b"}]}"#, r#"{"edits":[{"old":"a"},{"old":"b"}]}"#),
        (
            r#"{"edits":[{"old":"a","then":{"old":"b","all":null,"then":null}}]}"#,
            r#"{"edits":[{"old":"a","then":{"old":"b"}}]}"#,
        ),
        (r#"{"where":{"kind":"name","name":null}}"#, r#"{"where":{"kind":"name"}}"#),
        (r#"{"where":null,"edits":null}"#, "{}"),
        // The schema of the first kind does not restrict `name`.
        (r#"{"where":{"kind":"line","line":null,"name":null}}"#, r#"{"where":{"kind":"line","name":null}}"#),
    ];
    for (input, expected) in cases {
        assert_eq!(read(&schema, input), expected, "{input}");
    }
    // Items of lists and entries of maps are values, not optional properties.
    assert!(read(&schema, r#"{"list":["a",null]}"#).starts_with("! /list/1"));
    assert!(read(&schema, r#"{"map":{"A":null}}"#).starts_with("! /map/A"));
}

#[test]
fn what_another_part_requires_is_not_optional() {
    let schema = schema(&json!({
        "allOf": [
            {"properties": {"a": {"type": "string"}, "b": {"type": "string"}}},
            {"$ref": "#/$defs/needs"},
        ],
        "$defs": {"needs": {"required": ["a"]}},
    }));
    assert_eq!(read(&schema, r#"{"a":"x","b":null}"#), r#"{"a":"x"}"#);
    assert_eq!(read(&schema, r#"{"a":null}"#), "! /a: null is not of type \"string\"");
}

#[test]
fn a_schema_that_leads_in_a_circle_ends() {
    let circle = json!({"$ref": "#/$defs/a", "$defs": {"a": {"allOf": [{"$ref": "#/$defs/a"}], "properties": {"x": {"type": "string"}}}}});
    let text = read(&schema(&circle), r#"{"x":null}"#);
    assert!(text.starts_with('!'), "{text}");
}

#[test]
fn a_search_among_many_choices_ends() {
    let mut node = json!({"properties": {"x": {"type": "string"}}});
    for _ in 0..40 {
        node = json!({"anyOf": [{"properties": {"a": node}, "required": ["q"]}, {"properties": {"a": node}, "required": ["r"]}]});
        if node.to_string().len() > 200_000 {
            break;
        }
    }
    let mut input = json!({"x": null});
    for _ in 0..12 {
        input = json!({"a": input});
    }
    let text = read(&schema(&node), &input.to_string());
    assert!(text.starts_with('!'), "{text}");
}
