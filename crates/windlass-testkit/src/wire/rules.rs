//! Rules that several vendors share and that a shape cannot express.

use std::collections::BTreeSet;

use serde_json::Value;

/// The rules that a request breaks.
#[derive(Debug, Default)]
pub(super) struct BrokenRules(Vec<String>);

impl BrokenRules {
    pub(super) fn add(&mut self, text: impl Into<String>) {
        self.0.push(text.into());
    }

    pub(super) fn unless(&mut self, holds: bool, text: impl FnOnce() -> String) {
        if !holds {
            self.0.push(text());
        }
    }

    pub(super) fn first(self) -> Result<(), String> {
        self.0.into_iter().next().map_or(Ok(()), Err)
    }
}

/// `true` if a text has only letters, digits, `_` and `-`, at most a number of them.
pub(super) fn is_plain(text: &str, most: usize) -> bool {
    !text.is_empty() && text.len() <= most && text.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_' || b == b'-')
}

pub(super) fn text<'a>(value: &'a Value, name: &str) -> &'a str {
    value.get(name).and_then(Value::as_str).unwrap_or_default()
}

pub(super) fn items<'a>(value: &'a Value, name: &str) -> &'a [Value] {
    value.get(name).and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default()
}

/// Returns all text in content that is a string, a list of parts, or an object with a text.
pub(super) fn words(content: &Value) -> String {
    match content {
        Value::String(text) => text.clone(),
        Value::Array(parts) => parts.iter().map(words).filter(|text| !text.is_empty()).collect::<Vec<_>>().join("\n"),
        Value::Object(part) => part.get("text").or_else(|| part.get("content")).map(words).unwrap_or_default(),
        _ => String::new(),
    }
}

/// Checks that every name occurs once and is valid.
pub(super) fn tool_names(names: &[String], fits: impl Fn(&str) -> bool, faults: &mut BrokenRules) {
    let mut seen = BTreeSet::new();
    for name in names {
        faults.unless(fits(name), || format!("the tool name {name:?} is not valid"));
        faults.unless(seen.insert(name), || format!("the tool name {name:?} stands twice"));
    }
}

/// Checks the subset of JSON Schema that OpenAI accepts for strict schemas.
pub(super) fn strict_schema(schema: &Value, at: &str, faults: &mut BrokenRules) {
    let Some(members) = schema.as_object() else { return };
    for name in ["$schema", "allOf", "not", "if", "oneOf", "patternProperties", "dependentRequired", "uniqueItems"] {
        faults.unless(!members.contains_key(name), || format!("{at}: '{name}' is not permitted"));
    }
    let is_object = match members.get("type") {
        Some(Value::String(kind)) => kind == "object",
        Some(Value::Array(kinds)) => kinds.iter().any(|kind| kind == "object"),
        _ => members.contains_key("properties"),
    };
    if is_object {
        strict_object(schema, at, faults);
    }
    for (name, inner) in schema.get("properties").and_then(Value::as_object).into_iter().flatten() {
        strict_schema(inner, &format!("{at}/{name}"), faults);
    }
    for name in ["$defs", "definitions"] {
        for (name, inner) in schema.get(name).and_then(Value::as_object).into_iter().flatten() {
            strict_schema(inner, &format!("{at}/{name}"), faults);
        }
    }
    for inner in items(schema, "anyOf") {
        strict_schema(inner, at, faults);
    }
    if let Some(inner) = schema.get("items") {
        strict_schema(inner, &format!("{at}/items"), faults);
    }
}

fn strict_object(schema: &Value, at: &str, faults: &mut BrokenRules) {
    let is_closed = schema.get("additionalProperties") == Some(&Value::Bool(false));
    faults.unless(is_closed, || format!("{at}: 'additionalProperties' is required to be supplied and to be false"));
    let required: BTreeSet<&str> = items(schema, "required").iter().filter_map(Value::as_str).collect();
    let properties = schema.get("properties").and_then(Value::as_object);
    let names: BTreeSet<&str> = properties.into_iter().flatten().map(|(name, _)| name.as_str()).collect();
    faults.unless(required == names, || {
        format!("{at}: 'required' must include every key in properties: {names:?}, not {required:?}")
    });
}

/// Pairs of calls and results: each call is answered once, after it and before the next message of the model, and
/// nothing else is answered.
#[derive(Debug, Default)]
pub(super) struct CallPairs {
    open: Vec<String>,
    seen: BTreeSet<String>,
}

impl CallPairs {
    pub(super) fn call(&mut self, id: &str, faults: &mut BrokenRules) {
        faults.unless(self.seen.insert(id.to_owned()), || format!("the call id {id:?} stands twice"));
        self.open.push(id.to_owned());
    }

    pub(super) fn result(&mut self, id: &str, faults: &mut BrokenRules) {
        let at = self.open.iter().position(|open| open == id);
        match at {
            Some(at) => drop(self.open.remove(at)),
            None => faults.add(format!("no tool call found for the result of {id:?}")),
        }
    }

    /// Checks that no call is open here.
    pub(super) fn settled(&self, faults: &mut BrokenRules) {
        faults.unless(self.open.is_empty(), || format!("no tool output found for the calls {:?}", self.open));
    }
}
