//! Unlikely inputs that occur all the same.

use serde_json::{Map, Value, json};
use windlass_types::JsonText;

use super::reading::text;

/// Returns values that find code which expects other types.
fn odd_values() -> Vec<Value> {
    vec![
        Value::Null,
        json!(true),
        json!(0),
        json!(-1),
        json!(u64::MAX),
        json!(i64::MIN),
        json!(1.5),
        json!(1e300),
        json!(""),
        json!(" "),
        json!("\u{0}"),
        json!("/"),
        json!("~"),
        json!("../../../.."),
        json!("a\u{202e}b\u{1f600}\r\n\t\u{1b}[31m"),
        json!("e\u{301}".repeat(500)),
        json!("[*{(\\"),
        json!("x".repeat(10_000)),
        json!([]),
        json!([[], {}, null]),
        json!({}),
        json!({"a": {"b": [1, 2, 3]}}),
    ]
}

/// Texts that are JSON, but hardly any tool's input.
const TEXTS: &[&str] = &[
    "null",
    "true",
    "0",
    "-0.0",
    "1e999",
    "\"text\"",
    "[]",
    "[{}]",
    "{}",
    "{\"\":\"\"}",
    "{\"a\":1,\"a\":2}",
    "{\"a\":\"\\ud800\"}",
    "{\"a\":\"\\u0000\"}",
    "{ \"a\" :\t1e-400 }",
    "{\"__proto__\":{},\"$ref\":\"#\"}",
];

/// Returns inputs for the tool to survive, the same in every run.
pub(super) fn inputs(samples: &[Value]) -> Vec<JsonText> {
    let mut all: Vec<JsonText> = TEXTS.iter().filter_map(|text| JsonText::parse(*text).ok()).collect();
    let deep = format!("{}1{}", "{\"a\":".repeat(100), "}".repeat(100));
    all.extend(JsonText::parse(deep));
    for sample in samples {
        all.push(text(sample));
        all.extend(changed(sample).iter().map(text));
    }
    all
}

/// Returns variants of a sample with one change: a field removed, added, or with an odd value, at any depth.
fn changed(value: &Value) -> Vec<Value> {
    let mut all = Vec::new();
    match value {
        Value::Object(fields) => {
            for (name, inner) in fields {
                let mut without = fields.clone();
                without.remove(name);
                all.push(Value::Object(without));
                let odd = odd_values().into_iter().chain(changed(inner));
                all.extend(odd.map(|odd| Value::Object(with(fields, name, odd))));
            }
            all.push(Value::Object(with(fields, "unknown_field", json!("x"))));
        }
        Value::Array(items) => {
            all.push(json!([]));
            all.push(Value::Array([items.as_slice(), items.as_slice()].concat()));
            for (at, inner) in items.iter().enumerate() {
                let odd = odd_values().into_iter().chain(changed(inner));
                all.extend(odd.map(|odd| {
                    let mut items = items.clone();
                    if let Some(item) = items.get_mut(at) {
                        *item = odd;
                    }
                    Value::Array(items)
                }));
            }
        }
        _ => {}
    }
    all
}

fn with(fields: &Map<String, Value>, name: &str, value: Value) -> Map<String, Value> {
    let mut fields = fields.clone();
    fields.insert(name.to_owned(), value);
    fields
}
