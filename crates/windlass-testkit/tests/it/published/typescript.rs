//! Types for TypeScript from JSON Schemas, in the forms that `schemars` writes for our types.

use serde_json::{Map, Value};

/// The only keywords that schemas may use.
const KNOWN: [&str; 19] = [
    "$ref",
    "additionalProperties",
    "anyOf",
    "const",
    "default",
    "description",
    "enum",
    "format",
    "items",
    "maxItems",
    "maximum",
    "minItems",
    "minimum",
    "oneOf",
    "prefixItems",
    "properties",
    "required",
    "type",
    "uniqueItems",
];

/// A type as written, and whether an operator can be put beside it.
struct Written {
    text: String,
    is_one: bool,
}

impl Written {
    fn one(text: impl Into<String>) -> Self {
        Self { text: text.into(), is_one: true }
    }

    fn several(mut types: Vec<Self>, operator: &str) -> Self {
        if types.len() == 1 {
            return types.remove(0);
        }
        let texts: Vec<String> = types.into_iter().map(Self::grouped).collect();
        Self { text: texts.join(operator), is_one: false }
    }

    fn grouped(self) -> String {
        if self.is_one { self.text } else { format!("({})", self.text) }
    }

    /// Returns the type after a colon or an equals sign.
    fn behind(self, sign: &str) -> String {
        let blank = if self.text.starts_with('\n') { "" } else { " " };
        format!("{sign}{blank}{};\n", self.text)
    }
}

/// Returns a module that exports a type for each definition.
pub(crate) fn module(definitions: &Map<String, Value>, renew: &str) -> String {
    let mut text = format!(
        "// The types of the JSON that windlass writes and reads. See README.md.\n\
         // Made from the JSON Schemas beside this file. Renew it with:\n// {renew}\n"
    );
    for (name, schema) in definitions {
        text.push('\n');
        text.push_str(&comment(schema, ""));
        text.push_str(&format!("export type {name}{}", type_of(schema, "").behind(" =")));
    }
    text
}

/// Returns the description of a schema as a comment on separate lines.
fn comment(schema: &Value, indent: &str) -> String {
    let Some(description) = schema.get("description").and_then(Value::as_str) else { return String::new() };
    let description = description.replace("*/", "* /");
    let lines: Vec<&str> = description.lines().map(str::trim_end).collect();
    match lines.as_slice() {
        [line] => format!("{indent}/** {line} */\n"),
        lines => {
            let body: String =
                lines.iter().map(|line| format!("{indent} * {line}").trim_end().to_owned() + "\n").collect();
            format!("{indent}/**\n{body}{indent} */\n")
        }
    }
}

/// Returns the type of a schema, for lines with this indentation.
fn type_of(schema: &Value, indent: &str) -> Written {
    let Value::Object(fields) = schema else {
        assert_eq!(schema, &Value::Bool(true), "a schema that nothing fits");
        return Written::one("unknown");
    };
    for name in fields.keys() {
        assert!(KNOWN.contains(&name.as_str()), "no types are made of `{name}`: {schema}");
    }
    let mut parts = Vec::new();
    if let Some(Value::String(target)) = fields.get("$ref") {
        parts.push(Written::one(target.strip_prefix("#/$defs/").unwrap_or_else(|| panic!("{target}"))));
    }
    parts.extend(plain(fields, indent));
    for name in ["oneOf", "anyOf"] {
        if let Some(Value::Array(variants)) = fields.get(name) {
            parts.push(union(variants, indent));
        }
    }
    if parts.is_empty() { Written::one("unknown") } else { Written::several(parts, " & ") }
}

/// Returns the type of a schema alone, without other schemas beside it.
fn plain(fields: &Map<String, Value>, indent: &str) -> Option<Written> {
    if let Some(value) = fields.get("const") {
        return Some(Written::one(value.to_string()));
    }
    if let Some(Value::Array(values)) = fields.get("enum") {
        return Some(Written::several(values.iter().map(|value| Written::one(value.to_string())).collect(), " | "));
    }
    match fields.get("type")? {
        Value::String(name) => named(name, fields, indent),
        Value::Array(names) => {
            let types = names.iter().filter_map(|name| named(name.as_str().unwrap(), fields, indent));
            Some(Written::several(types.collect(), " | "))
        }
        other => panic!("the type {other}"),
    }
}

fn named(name: &str, fields: &Map<String, Value>, indent: &str) -> Option<Written> {
    Some(match name {
        "string" | "boolean" | "null" => Written::one(name),
        "integer" | "number" => Written::one("number"),
        "array" => array(fields, indent),
        // A schema beside alternatives may have no fields of its own.
        "object" if !fields.contains_key("properties") && !fields.contains_key("additionalProperties") => {
            let is_alone = ["oneOf", "anyOf", "$ref"].iter().all(|name| !fields.contains_key(*name));
            return is_alone.then(|| Written::one("Record<string, unknown>"));
        }
        "object" => object(fields, indent),
        other => panic!("the type {other}"),
    })
}

fn array(fields: &Map<String, Value>, indent: &str) -> Written {
    if let Some(Value::Array(items)) = fields.get("prefixItems") {
        let items: Vec<String> = items.iter().map(|item| type_of(item, indent).text).collect();
        return Written::one(format!("[{}]", items.join(", ")));
    }
    Written::one(type_of(fields.get("items").unwrap_or(&Value::Bool(true)), indent).grouped() + "[]")
}

fn object(fields: &Map<String, Value>, indent: &str) -> Written {
    let Some(Value::Object(properties)) = fields.get("properties") else {
        let values = fields.get("additionalProperties").unwrap_or(&Value::Bool(true));
        return Written::one(format!("Record<string, {}>", type_of(values, indent).text));
    };
    let required: Vec<&str> = match fields.get("required") {
        Some(Value::Array(names)) => names.iter().filter_map(Value::as_str).collect(),
        _ => Vec::new(),
    };
    let deeper = format!("{indent}  ");
    let mut text = "{\n".to_owned();
    // Fields that distinguish an object from others come first.
    let (tags, others): (Vec<_>, Vec<_>) = properties.iter().partition(|(_, schema)| schema.get("const").is_some());
    for (name, schema) in tags.into_iter().chain(others) {
        let sign = if required.contains(&name.as_str()) { ":" } else { "?:" };
        text.push_str(&comment(schema, &deeper));
        text.push_str(&format!("{deeper}{name}{}", type_of(schema, &deeper).behind(sign)));
    }
    Written::one(text + indent + "}")
}

/// Returns a union of alternatives. Alternatives that only cover unknown values are left out: with them, no other could
/// be told by its tag.
fn union(variants: &[Value], indent: &str) -> Written {
    let has_words = variants.iter().any(|variant| variant.get("enum").is_some());
    let known = variants.iter().filter(|variant| variant.pointer("/properties/type/not").is_none());
    let deeper = format!("{indent}  ");
    let types: Vec<(String, Written)> = known
        .map(|variant| {
            let is_any_word = has_words && variant.get("type").is_some_and(|name| name == "string");
            // Editors still offer the known words.
            let written = if is_any_word { Written::one("(string & {})") } else { type_of(variant, &deeper) };
            (comment(variant, &deeper), written)
        })
        .collect();
    if types.iter().all(|(comment, written)| comment.is_empty() && !written.text.contains('\n')) {
        let texts: Vec<String> = types.into_iter().map(|(_, written)| written.text).collect();
        return Written { is_one: texts.len() == 1, text: texts.join(" | ") };
    }
    let lines = types.into_iter().map(|(comment, written)| format!("\n{comment}{deeper}| {}", written.text));
    Written { text: lines.collect(), is_one: false }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[track_caller]
    fn written(schema: &Value, expected: &str) {
        assert_eq!(type_of(schema, "").text, expected);
    }

    #[test]
    fn plain_types() {
        written(&json!(true), "unknown");
        written(&json!({"type": "string"}), "string");
        written(&json!({"type": "integer", "minimum": 0, "format": "uint64"}), "number");
        written(&json!({"type": ["string", "null"]}), "string | null");
        written(&json!({"type": "array", "items": {"type": ["string", "null"]}}), "(string | null)[]");
        written(&json!({"type": "object", "additionalProperties": {"$ref": "#/$defs/A"}}), "Record<string, A>");
        written(
            &json!({"type": "array", "prefixItems": [{"type": "string"}, {"type": "number"}], "minItems": 2, "maxItems": 2}),
            "[string, number]",
        );
        written(&json!({"enum": ["a", "b"]}), r#""a" | "b""#);
        written(&json!({"anyOf": [{"enum": ["a", "b"]}, {"type": "string"}]}), r#""a" | "b" | (string & {})"#);
    }

    #[test]
    fn a_field_may_be_missing_or_null_or_both() {
        let schema = json!({
            "type": "object",
            "properties": {
                "a": {"type": "string", "description": "What it is."},
                "b": {"type": ["string", "null"]},
                "c": {"anyOf": [{"$ref": "#/$defs/C"}, {"type": "null"}], "description": "One.\n\nTwo. */"},
            },
            "required": ["a", "b"],
        });
        let expected = "{\n  /** What it is. */\n  a: string;\n  b: string | null;\n  /**\n   * One.\n   *\n   * Two. * /\n   */\n  c?: C | null;\n}";
        written(&schema, expected);
    }

    #[test]
    fn tagged_objects_are_a_union_that_the_tag_decides() {
        let tag = |name: &str| json!({"type": {"type": "string", "const": name}});
        let schema = json!({
            "type": "object",
            "properties": {"seq": {"type": "integer"}},
            "required": ["seq"],
            "oneOf": [
                {"type": "object", "properties": tag("a"), "required": ["type"], "description": "First."},
                {"type": "object", "properties": tag("b"), "required": ["type"], "$ref": "#/$defs/B"},
                {"type": "object", "properties": {"type": {"type": "string", "not": {"enum": ["a"]}}}},
            ],
        });
        let expected = "{\n  seq: number;\n} & (\n  /** First. */\n  | {\n    type: \"a\";\n  }\n  | B & {\n    type: \"b\";\n  })";
        let found = type_of(&schema, "").text;
        assert_eq!(
            found.split_whitespace().collect::<Vec<_>>(),
            expected.split_whitespace().collect::<Vec<_>>(),
            "{found}"
        );
    }

    #[test]
    #[should_panic(expected = "no types are made of `patternProperties`")]
    fn what_is_not_understood_is_not_left_out() {
        type_of(&json!({"type": "object", "patternProperties": {}}), "");
    }
}
