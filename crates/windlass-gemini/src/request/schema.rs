//! JSON Schemas adapted to the API: keywords that it refuses or ignores are removed or rephrased. Other members keep
//! their text and order.
//!
//! - `$schema`, `$id` and `title` are removed; they mean nothing to a model.
//! - `const` becomes an `enum` of one value, because the API ignores it.

use serde::Deserialize;
use serde::de::{Deserializer, MapAccess, Visitor};
use serde_json::value::RawValue;
use std::borrow::Cow;
use std::fmt;

/// Maximum nesting depth that is rewritten. Schemas below it are copied unchanged.
const MAX_DEPTH: usize = 64;

/// Keywords whose value is a schema, or a list of them.
const SCHEMA_KEYWORDS: [&str; 16] = [
    "items",
    "prefixItems",
    "additionalItems",
    "additionalProperties",
    "unevaluatedItems",
    "unevaluatedProperties",
    "contains",
    "propertyNames",
    "allOf",
    "anyOf",
    "oneOf",
    "not",
    "if",
    "then",
    "else",
    "contentSchema",
];

/// Keywords whose value is an object that maps arbitrary names to schemas.
const SCHEMA_MAP_KEYWORDS: [&str; 5] = ["properties", "patternProperties", "$defs", "definitions", "dependentSchemas"];

/// Returns the schema in the form that the API takes.
pub(super) fn accepted(schema: &str) -> Cow<'_, str> {
    let rewritten_keywords = ["\"$schema\"", "\"$id\"", "\"title\"", "\"const\""];
    if !rewritten_keywords.iter().any(|keyword| schema.contains(keyword)) {
        return Cow::Borrowed(schema);
    }
    let mut out = String::with_capacity(schema.len());
    write_schema(&mut out, schema, 0);
    Cow::Owned(out)
}

fn write_schema(out: &mut String, schema: &str, depth: usize) {
    let members: Option<OrderedMembers<'_>> = if depth < MAX_DEPTH { serde_json::from_str(schema).ok() } else { None };
    let Some(OrderedMembers(members)) = members else {
        return write_list(out, schema, depth);
    };
    let has_enum = members.iter().any(|(name, _)| name == "enum");
    let mut separator = '{';
    for (name, value) in members {
        let mut put = |name: &str| {
            out.push(separator);
            separator = ',';
            write_string(out, name);
            out.push(':');
        };
        match &*name {
            "$schema" | "$id" => {}
            "title" if value.get().starts_with('"') => {}
            "const" if has_enum => {}
            "const" => {
                put("enum");
                out.extend(["[", value.get(), "]"]);
            }
            keyword if SCHEMA_MAP_KEYWORDS.contains(&keyword) => {
                put(keyword);
                write_map(out, value.get(), depth + 1);
            }
            keyword if SCHEMA_KEYWORDS.contains(&keyword) => {
                put(keyword);
                write_schema(out, value.get(), depth + 1);
            }
            other => {
                put(other);
                out.push_str(value.get());
            }
        }
    }
    out.push_str(if separator == '{' { "{}" } else { "}" });
}

/// Writes a list of schemas. Copies any other value unchanged.
fn write_list(out: &mut String, value: &str, depth: usize) {
    let items: Option<Vec<&RawValue>> = if depth < MAX_DEPTH { serde_json::from_str(value).ok() } else { None };
    let Some(items) = items else {
        out.push_str(value);
        return;
    };
    out.push('[');
    for (index, item) in items.into_iter().enumerate() {
        if index > 0 {
            out.push(',');
        }
        write_schema(out, item.get(), depth + 1);
    }
    out.push(']');
}

/// Writes an object that maps names to schemas, such as the value of `properties`.
fn write_map(out: &mut String, value: &str, depth: usize) {
    let Ok(OrderedMembers(members)) = serde_json::from_str::<OrderedMembers<'_>>(value) else {
        out.push_str(value);
        return;
    };
    out.push('{');
    for (index, (name, value)) in members.into_iter().enumerate() {
        if index > 0 {
            out.push(',');
        }
        write_string(out, &name);
        out.push(':');
        write_schema(out, value.get(), depth);
    }
    out.push('}');
}

fn write_string(out: &mut String, text: &str) {
    // A string always serialises.
    out.push_str(&serde_json::to_string(text).unwrap_or_default());
}

/// Members of an object, in their order.
struct OrderedMembers<'a>(Vec<(String, &'a RawValue)>);

impl<'de> Deserialize<'de> for OrderedMembers<'de> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct MembersVisitor;
        impl<'de> Visitor<'de> for MembersVisitor {
            type Value = OrderedMembers<'de>;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("an object")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<OrderedMembers<'de>, A::Error> {
                let mut members = Vec::new();
                while let Some(member) = map.next_entry()? {
                    members.push(member);
                }
                Ok(OrderedMembers(members))
            }
        }
        deserializer.deserialize_map(MembersVisitor)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keywords_go_and_names_stay() {
        let schema = r#"{"$schema":"s","title":"T","type":"object","$id":"i","properties":{
            "title":{"type":"string","title":"A"},"const":{"const":"x","type":"string"},"$id":{"enum":[{"title":"v"}]}},
            "required":["title"],"$defs":{"title":{"anyOf":[{"const":1.0},{"items":{"title":"B","const":null}}]}},
            "default":{"title":"kept"},"additionalProperties":false}"#;
        let expected = r#"{"type":"object","properties":{"title":{"type":"string"},"const":{"enum":["x"],"type":"string"},"$id":{"enum":[{"title":"v"}]}},"required":["title"],"$defs":{"title":{"anyOf":[{"enum":[1.0]},{"items":{"enum":[null]}}]}},"default":{"title":"kept"},"additionalProperties":false}"#;
        assert_eq!(accepted(schema), expected);
        assert_eq!(accepted(expected), expected);
    }

    #[test]
    fn what_needs_no_change_is_not_written_again() {
        for schema in [r#"{ "type" : "object" }"#, "true", "{}"] {
            assert!(matches!(accepted(schema), Cow::Borrowed(text) if text == schema));
        }
        assert_eq!(accepted(r#"{"title":"x"}"#), "{}");
        assert_eq!(accepted(r#"{"const":1,"enum":[1,2]}"#), r#"{"enum":[1,2]}"#);
        assert_eq!(accepted(r#"{"title":{"no":"annotation"}}"#), r#"{"title":{"no":"annotation"}}"#);
    }

    #[test]
    fn depth_is_bounded() {
        let deep = format!("{}{{\"title\":\"x\"}}{}", "{\"not\":".repeat(5_000), "}".repeat(5_000));
        assert_eq!(accepted(&deep), deep);
        assert_eq!(accepted(&format!("{{\"not\":{}1{}}}", "[".repeat(5_000), "]".repeat(5_000))).len(), 10_009);
        let titled = format!("{{\"title\":\"\",\"not\":{}1{}}}", "[".repeat(500), "]".repeat(500));
        assert!(serde_json::from_str::<&RawValue>(&accepted(&titled)).is_ok());
    }
}
