//! Errors of inputs, and the bounds of a check.

use serde_json::{Value, json};
use std::time::{Duration, Instant};
use windlass_schema::InputSchema;
use windlass_types::JsonText;

fn check(schema: &Value, input: &Value) -> Result<(), String> {
    InputSchema::new(JsonText::of(schema).unwrap()).check(&JsonText::of(input).unwrap())
}

fn fault(schema: &Value, input: &Value) -> String {
    check(schema, input).unwrap_err()
}

#[test]
fn faults_name_the_place_and_what_is_expected() {
    let schema = json!({
        "type": "object",
        "properties": {
            "path": { "type": "string", "minLength": 1 },
            "mode": { "enum": ["r", "w"] },
            "lines": { "type": "array", "items": { "type": "integer", "minimum": 1 }, "maxItems": 2 },
            "limit": { "anyOf": [{ "type": "integer", "minimum": 1 }, { "type": "null" }] },
            "a/b": { "pattern": "^x" },
        },
        "required": ["path"],
        "additionalProperties": false,
    });
    for (input, expected) in [
        (json!({}), r#"the input: "path" is a required property"#),
        (json!({ "path": 1 }), r#"/path: 1 is not of type "string""#),
        (json!({ "path": "" }), r#"/path: "" is shorter than 1 character"#),
        (json!({ "path": "p", "mode": "x" }), r#"/mode: "x" is not one of "r", "w""#),
        (json!({ "path": "p", "lines": [1, 0] }), "/lines/1: 0 is less than the minimum of 1"),
        (json!({ "path": "p", "lines": [1, 2, 3] }), "/lines: [1,2,3] has more than 2 items"),
        (json!({ "path": "p", "limit": 0 }), "/limit: 0 is less than the minimum of 1"),
        (json!({ "path": "p", "a/b": "y" }), r#"/a~1b: "y" does not match "^x""#),
        (
            json!({ "path": "p", "x": 1, "y": 2 }),
            "the input: Additional properties are not allowed ('x', 'y' were unexpected)",
        ),
        (json!([]), "the input must be a JSON object"),
    ] {
        assert_eq!(fault(&schema, &input), expected);
    }
    assert_eq!(check(&schema, &json!({ "path": "p", "limit": null, "lines": [1, 2.0] })), Ok(()));
}

#[test]
fn many_faults_are_counted_and_long_values_are_cut() {
    let schema = json!({ "additionalProperties": { "type": "string" } });
    let input: serde_json::Map<String, Value> = (0..9).map(|at| (format!("p{at}"), json!(at))).collect();
    let error = fault(&schema, &Value::Object(input));
    assert_eq!(error.matches("is not of type").count(), 5, "{error}");
    assert!(error.ends_with("; and 4 more"), "{error}");
    let error = fault(&json!({ "properties": { "a": { "type": "integer" } } }), &json!({ "a": "x".repeat(100_000) }));
    assert!(error.ends_with(r#"is not of type "integer""#) && error.len() < 400, "{error}");
}

#[test]
fn schemas_that_lead_nowhere_are_refused() {
    for schema in [
        json!({ "$ref": "#/definitions/missing" }),
        json!({ "$ref": "https://example.com/schema.json" }),
        json!({ "properties": { "a": { "$ref": "#anchor" } } }),
        json!({ "properties": { "a": { "pattern": "(?=a)" } } }),
        json!({ "properties": { "a": { "pattern": "(" } } }),
        json!({ "properties": 3 }),
        json!({ "$schema": "http://json-schema.org/draft-04/schema#", "additionalItems": { "allOf": [false] } }),
        json!({ "$schema": "http://json-schema.org/draft-07/schema#", "additionalItems": 3 }),
    ] {
        assert!(InputSchema::new(JsonText::of(&schema).unwrap()).check_schema().is_err(), "{schema}");
    }
    // A tool whose pattern cannot be matched still works: it reads its input itself.
    let schema = json!({ "properties": { "a": { "pattern": "^(?!x)", "type": "string" } } });
    assert_eq!(check(&schema, &json!({ "a": "y" })), Ok(()));
    assert!(check(&schema, &json!({ "a": 1 })).is_err());
}

#[test]
fn references_stay_inside_the_schema_and_may_go_in_circles() {
    let tree = json!({
        "$id": "https://example.com/tree",
        "type": "object",
        "properties": {
            "value": { "$ref": "#/shared/number" },
            "children": { "type": "array", "items": { "$ref": "https://example.com/tree" } },
            "leaf": { "$ref": "https://example.com/leaf#word" },
        },
        "$defs": {
            "leaf": {
                "$id": "https://example.com/leaf",
                "$defs": { "word": { "$anchor": "word", "$ref": "#/$defs/text" }, "text": { "type": "string" } },
            },
        },
        "shared": { "number": { "type": "number" } },
    });
    assert_eq!(check(&tree, &json!({ "value": 1, "children": [{ "value": 2 }, {}], "leaf": "x" })), Ok(()));
    assert_eq!(
        fault(&tree, &json!({ "children": [{ "children": [{ "value": "x" }] }] })),
        r#"/children/0/children/0/value: "x" is not of type "number""#
    );
    assert_eq!(fault(&tree, &json!({ "leaf": 1 })), r#"/leaf: 1 is not of type "string""#);
}

#[test]
fn a_check_ends() {
    let quick = |schema: &Value, input: &Value| {
        let since = Instant::now();
        let checked = check(schema, input);
        assert!(since.elapsed() < Duration::from_secs(10), "{:?} for {schema}", since.elapsed());
        checked
    };
    for endless in [
        json!({ "$ref": "#" }),
        json!({ "not": { "$ref": "#" } }),
        json!({ "anyOf": [{ "$ref": "#" }, { "$ref": "#" }] }),
        json!({ "oneOf": [{ "allOf": [{ "$ref": "#" }, { "$ref": "#" }] }, { "$ref": "#" }] }),
        json!({ "$ref": "#/$defs/a", "$defs": { "a": { "$ref": "#/$defs/b" }, "b": { "$ref": "#/$defs/a" } } }),
        json!({ "allOf": [{ "$ref": "#" }], "unevaluatedProperties": false }),
    ] {
        assert!(quick(&endless, &json!({ "a": 1 })).unwrap_err().contains("too many steps"), "{endless}");
    }
    // The maximum depth of inputs.
    let mut deep = json!(1);
    for _ in 0..120 {
        deep = json!({ "a": [deep] });
        if deep.to_string().len() > 120 * 5 {
            break;
        }
    }
    let nested = json!({ "properties": { "a": { "anyOf": [{ "type": "array", "items": { "$ref": "#" } }] } } });
    quick(&nested, &json!({ "a": deep })).ok();
    let many: Vec<Value> = (0..200_000).map(|at| json!(at)).collect();
    assert_eq!(quick(&json!({ "properties": { "a": { "uniqueItems": true } } }), &json!({ "a": many })), Ok(()));
    let chain: serde_json::Map<String, Value> =
        (0..20_000).map(|at| (format!("d{at}"), json!({ "$ref": format!("#/$defs/d{}", at + 1) }))).collect();
    quick(&json!({ "properties": { "a": { "$ref": "#/$defs/d0" } }, "$defs": chain }), &json!({ "a": 1 })).unwrap_err();
}
