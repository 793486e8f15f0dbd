//! Random schemas and values, judged by this crate and by the full implementation: the answers are the same.

use proptest::prelude::*;
use serde_json::{Map, Value, json};
use windlass_schema::{InputSchema, check_schema_2020_12};
use windlass_types::JsonText;

const DRAFTS: [&str; 5] = [
    "http://json-schema.org/draft-04/schema#",
    "http://json-schema.org/draft-06/schema#",
    "http://json-schema.org/draft-07/schema#",
    "https://json-schema.org/draft/2019-09/schema",
    "https://json-schema.org/draft/2020-12/schema",
];

/// Few names and few values, so that schemas and values often match.
fn name() -> impl Strategy<Value = String> {
    prop::sample::select(vec!["a", "b", "ab", "c/d", "e~"]).prop_map(str::to_owned)
}

fn scalar() -> impl Strategy<Value = Value> {
    prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        (-3i64..8).prop_map(Value::from),
        prop::sample::select(vec![0.0, 1.0, 0.5, 1.5, 0.3, 2.0, -2.5, 1e20]).prop_map(Value::from),
        prop::sample::select(vec!["", "a", "ab", "é", "b1", "a\n", "abc"]).prop_map(Value::from),
        prop::sample::select(vec![u64::MAX, 1 << 53]).prop_map(Value::from),
    ]
}

fn value() -> BoxedStrategy<Value> {
    scalar()
        .prop_recursive(3, 24, 4, |inner| {
            prop_oneof![
                prop::collection::vec(inner.clone(), 0..4).prop_map(Value::from),
                prop::collection::btree_map(name(), inner, 0..4)
                    .prop_map(|map| Value::Object(map.into_iter().collect())),
            ]
        })
        .boxed()
}

fn kind() -> BoxedStrategy<Value> {
    let one = prop::sample::select(vec!["null", "boolean", "integer", "number", "string", "array", "object"]);
    prop_oneof![
        one.clone().prop_map(Value::from),
        prop::sample::subsequence(vec!["null", "integer", "string", "array", "object"], 1..4)
            .prop_map(|kinds| json!(kinds)),
    ]
    .boxed()
}

fn pattern() -> BoxedStrategy<Value> {
    prop::sample::select(vec!["a", "^a", "b$", "^[a-z]+$", r"\d", r"^\w*$", "[^a]", "^.$"])
        .prop_map(Value::from)
        .boxed()
}

/// Returns a keyword and its value; `inner` makes schemas.
fn keyword(inner: &BoxedStrategy<Value>) -> BoxedStrategy<(String, Value)> {
    let size = || (0u64..4).prop_map(Value::from);
    let number = || prop_oneof![(-2i64..5).prop_map(Value::from), Just(json!(0.5)), Just(json!(2.0))];
    let schemas = prop::collection::vec(inner.clone(), 1..3).prop_map(Value::from).boxed();
    let named = prop::collection::btree_map(name(), inner.clone(), 0..3)
        .prop_map(|map| Value::Object(map.into_iter().collect()))
        .boxed();
    let names = prop::sample::subsequence(vec!["a", "b", "ab"], 1..3).prop_map(|names| json!(names)).boxed();
    let by_pattern = (pattern(), inner.clone())
        .prop_map(|(pattern, schema)| json!({ pattern.as_str().unwrap_or_default(): schema }));
    let key = |names: Vec<&'static str>| prop::sample::select(names).prop_map(str::to_owned);
    prop_oneof![
        3 => (key(vec!["type"]), kind()),
        1 => (key(vec!["enum"]), prop::collection::hash_set(scalar().prop_map(|v| v.to_string()), 1..4).prop_map(|texts| {
            texts.iter().map(|text| serde_json::from_str::<Value>(text).unwrap_or_default()).collect()
        })),
        1 => (key(vec!["const", "default"]), value()),
        2 => (key(vec!["minLength", "maxLength", "minItems", "maxItems", "minProperties", "maxProperties"]), size()),
        1 => (key(vec!["minContains", "maxContains"]), size()),
        2 => (key(vec!["minimum", "maximum"]), number()),
        1 => (key(vec!["multipleOf"]), prop::sample::select(vec![json!(1), json!(2), json!(0.5), json!(0.1), json!(3)])),
        1 => (key(vec!["pattern"]), pattern()),
        1 => (key(vec!["uniqueItems"]), any::<bool>().prop_map(Value::from)),
        2 => (key(vec!["not", "if", "then", "else", "contains", "propertyNames", "additionalProperties"]), inner.clone()),
        1 => (key(vec!["unevaluatedProperties", "unevaluatedItems", "additionalItems", "items"]), inner.clone()),
        2 => (key(vec!["allOf", "anyOf", "oneOf"]), schemas.clone()),
        1 => (key(vec!["prefixItems", "items"]), schemas),
        3 => (key(vec!["properties"]), named.clone()),
        1 => (key(vec!["dependentSchemas"]), named),
        1 => (key(vec!["patternProperties"]), by_pattern),
        1 => (key(vec!["required"]), names.clone()),
        1 => (key(vec!["dependentRequired", "dependencies"]), names.prop_map(|names| json!({ "a": names }))),
        1 => (key(vec!["$ref"]), prop::sample::select(vec!["#/definitions/one", "#/definitions/t~1wo", "#one"]).prop_map(Value::from)),
        1 => (key(vec!["description", "format"]), Just(json!("words"))),
    ]
    .boxed()
}

fn schema() -> BoxedStrategy<Value> {
    let leaf = prop_oneof![
        1 => any::<bool>().prop_map(Value::from),
        4 => kind().prop_map(|kind| json!({ "type": kind })),
        1 => scalar().prop_map(|value| json!({ "enum": [value] })),
    ];
    leaf.prop_recursive(3, 20, 4, |inner| {
        prop::collection::vec(keyword(&inner), 0..5).prop_map(|all| Value::Object(all.into_iter().collect()))
    })
    .boxed()
}

/// Returns a schema with definitions, of the draft with an index in [`DRAFTS`], for an object with one property.
fn document() -> impl Strategy<Value = (usize, Value)> {
    (0..DRAFTS.len(), schema(), leaf_definition(), leaf_definition()).prop_map(|(draft, schema, one, two)| {
        let mut one = one;
        let anchor = if draft < 3 { if draft == 0 { "id" } else { "$id" } } else { "$anchor" };
        one.insert(anchor.to_owned(), Value::from(if draft < 3 { "#one" } else { "one" }));
        let document = json!({
            "$schema": DRAFTS.get(draft).unwrap(),
            "type": "object",
            "properties": { "v": schema },
            "definitions": { "one": one, "t/wo": two },
        });
        (draft, document)
    })
}

fn leaf_definition() -> impl Strategy<Value = Map<String, Value>> {
    kind().prop_map(|kind| Map::from_iter([("type".to_owned(), kind)]))
}

fn without_fractions(value: Value) -> Value {
    match value {
        Value::Number(number) if number.as_f64().is_some_and(|float| float.fract() == 0.0) => json!(3),
        Value::Array(items) => items.into_iter().map(without_fractions).collect(),
        Value::Object(map) => map.into_iter().map(|(key, value)| (key, without_fractions(value))).collect(),
        other => other,
    }
}

fn text(value: &Value) -> JsonText {
    JsonText::of(value).unwrap()
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 1500, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn inputs_are_judged_as_by_the_full_implementation((draft, document) in document(), values in prop::collection::vec(value(), 1..12)) {
        let theirs = jsonschema::options().should_validate_formats(false).build(&document);
        let ours = InputSchema::new(text(&document));
        prop_assert_eq!(ours.check_schema().is_ok(), theirs.is_ok(), "{:?} and {:?} of {}", ours.check_schema(), theirs.err(), document);
        let Ok(theirs) = jsonschema::options().should_validate_formats(false).build(&document) else { return Ok(()) };
        for value in values {
            // Only in that draft a number with a fraction of zero is not an integer.
            let value = if draft == 0 { without_fractions(value) } else { value };
            let input = json!({ "v": value });
            let checked = ours.check(&text(&input));
            prop_assert_eq!(checked.is_ok(), theirs.is_valid(&input), "{:?} of {} for {}", checked, input, document);
        }
    }

    #[test]
    fn schemas_are_judged_as_by_the_meta_schema(mut document in schema(), at in name(), junk in value(), keyword in keyword(&value())) {
        if let Value::Object(map) = &mut document {
            map.insert(keyword.0, keyword.1);
            map.insert("$defs".to_owned(), json!({ at: junk }));
        }
        let theirs = jsonschema::draft202012::meta::is_valid(&document);
        let ours = check_schema_2020_12(&text(&document));
        prop_assert_eq!(ours.is_ok(), theirs, "{:?} of {}", ours, document);
    }
}
