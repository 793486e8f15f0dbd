//! Compositions at the top level of a tool's schema, which many providers refuse there.

use serde::de::IgnoredAny;
use serde_json::{Map, Value, json};
use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};
use windlass_types::{JsonText, ToolSpec};

/// Keywords of compositions.
pub const COMPOSITIONS: [&str; 3] = ["allOf", "anyOf", "oneOf"];
/// Maximum number of branches of a composition.
const MAX_BRANCHES: usize = 100;
/// Maximum length of the compositions that a description repeats, in bytes.
const MAX_NOTE_BYTES: usize = 2_000;

/// Converts a tool for providers that refuse some compositions (`refused`) at the top level of a schema: into one
/// object that takes all inputs of the compositions, and a description of the further constraints. The input is checked
/// against the schema of the tool itself. Depends on the tool alone, so that requests keep their beginning.
///
/// A composition that cannot be replaced is left out, because one refused schema makes the request fail.
///
/// ```
/// use windlass_http::provider::{COMPOSITIONS, without_compositions};
/// use windlass_types::{JsonText, ToolSpec};
///
/// let schema = r#"{"type":"object","anyOf":[{"properties":{"id":{}}},{"properties":{"name":{}}}]}"#;
/// let tool = ToolSpec::new("find", "Finds.", JsonText::parse(schema).unwrap());
/// let taken = without_compositions(&tool, &COMPOSITIONS);
/// assert_eq!(taken.input_schema.as_str(), r#"{"properties":{"id":{},"name":{}},"type":"object"}"#);
/// assert!(taken.description.starts_with("Finds.\n\nThe input must also fit: "));
/// ```
#[must_use]
pub fn without_compositions<'a>(tool: &'a ToolSpec, refused: &[&str]) -> Cow<'a, ToolSpec> {
    let text = tool.input_schema.as_str();
    if !refused.iter().any(|name| text.contains(name)) {
        return Cow::Borrowed(tool);
    }
    // Most schemas have compositions only at deeper levels. Every request checks this, so values are skipped before
    // they are read.
    let members = tool.input_schema.to::<BTreeMap<String, IgnoredAny>>();
    if !members.is_ok_and(|members| refused.iter().any(|name| members.contains_key(*name))) {
        return Cow::Borrowed(tool);
    }
    let Ok(mut schema) = tool.input_schema.to::<Map<String, Value>>() else { return Cow::Borrowed(tool) };
    let note = match flatten(&mut schema, refused) {
        Ok(note) => note,
        Err(_) => Some("The tool takes fewer inputs than its schema says.".to_owned()),
    };
    let Ok(schema) = JsonText::of(&schema) else { return Cow::Borrowed(tool) };
    let mut taken = tool.clone();
    taken.input_schema = schema;
    if let Some(note) = note {
        taken.description = format!("{}\n\n{note}", tool.description);
    }
    Cow::Owned(taken)
}

/// Replaces top-level compositions by one object that takes all their inputs.
///
/// Returns the text for the tool's description; `None` if there are no compositions.
///
/// # Errors
/// Returns the reason why a composition cannot be replaced. All compositions are removed then, too.
pub fn flatten(schema: &mut Map<String, Value>, refused: &[&str]) -> Result<Option<String>, String> {
    let mut removed = Map::new();
    for name in refused {
        if let Some(composition) = schema.remove(*name) {
            removed.insert((*name).to_owned(), composition);
        }
    }
    if removed.is_empty() {
        return Ok(None);
    }
    for (name, composition) in &removed {
        let branches = composition.as_array().ok_or_else(|| format!("its `{name}` is not a list"))?;
        if branches.len() > MAX_BRANCHES {
            return Err(format!("its `{name}` has more than {MAX_BRANCHES} branches"));
        }
        let resolved: Vec<Map<String, Value>> =
            branches.iter().filter_map(|branch| resolved(branch, schema)).filter(takes_objects).collect();
        if resolved.is_empty() && !branches.is_empty() {
            return Err(format!("no branch of its `{name}` is one of an object"));
        }
        require(schema, name, &resolved);
        for branch in &resolved {
            add_properties(schema, name, branch);
        }
    }
    let said = Value::Object(removed).to_string();
    Ok(Some(match said.len() <= MAX_NOTE_BYTES {
        true => format!("The input must also fit: {said}"),
        false => "The tool takes fewer inputs than its schema says.".to_owned(),
    }))
}

/// Returns a branch, merged with its target if it refers to a definition of the schema.
fn resolved(branch: &Value, schema: &Map<String, Value>) -> Option<Map<String, Value>> {
    let branch = branch.as_object()?;
    let referred = branch.get("$ref").and_then(Value::as_str).and_then(|path| {
        let (place, name) = path.strip_prefix("#/")?.split_once('/')?;
        let is_definition = matches!(place, "$defs" | "definitions");
        schema.get(place).filter(|_| is_definition)?.get(name)?.as_object()
    });
    Some(referred.unwrap_or(branch).clone())
}

fn takes_objects(branch: &Map<String, Value>) -> bool {
    branch
        .get("type")
        .is_none_or(|kind| kind == "object" || kind.as_array().is_some_and(|all| all.contains(&json!("object"))))
}

fn names(of: Option<&Value>) -> BTreeSet<String> {
    of.and_then(Value::as_array).into_iter().flatten().filter_map(Value::as_str).map(str::to_owned).collect()
}

/// Requires the common properties of every input: those of all branches together, or those that all branches require.
fn require(schema: &mut Map<String, Value>, composition: &str, branches: &[Map<String, Value>]) {
    let wanted = branches.iter().map(|branch| names(branch.get("required")));
    let common = match composition {
        "allOf" => wanted.flatten().collect(),
        _ => wanted.reduce(|all, one| all.intersection(&one).cloned().collect()).unwrap_or_default(),
    };
    let required: BTreeSet<String> = names(schema.get("required")).into_iter().chain(common).collect();
    if !required.is_empty() {
        schema.insert("required".to_owned(), json!(required));
    }
}

fn add_properties(schema: &mut Map<String, Value>, composition: &str, branch: &Map<String, Value>) {
    let Some(Value::Object(more)) = branch.get("properties") else { return };
    let all = schema.entry("properties").or_insert_with(|| json!({}));
    let Value::Object(all) = all else { return };
    let either = if composition == "allOf" { "allOf" } else { "anyOf" };
    for (name, property) in more {
        match all.get_mut(name) {
            None => drop(all.insert(name.clone(), property.clone())),
            Some(known) if known == property => {}
            Some(known) => match known.get_mut(either).and_then(Value::as_array_mut) {
                Some(choices) if choices.contains(property) => {}
                Some(choices) => choices.push(property.clone()),
                None => *known = json!({ (either): [known.clone(), property] }),
            },
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn flat(schema: &Value) -> (Value, Option<String>) {
        let mut schema = schema.as_object().unwrap().clone();
        let note = flatten(&mut schema, &COMPOSITIONS).unwrap();
        (Value::Object(schema), note)
    }

    #[test]
    fn one_object_takes_what_any_branch_takes() {
        let (schema, note) =
            flat(&json!({ "type": "object", "properties": { "kind": { "type": "string" } }, "oneOf": [
            { "properties": { "kind": { "const": "a" }, "x": { "type": "integer" } }, "required": ["kind", "x"] },
            { "$ref": "#/$defs/b" },
        ], "$defs": { "b": { "properties": { "y": {}, "x": { "type": "string" } }, "required": ["kind", "y"] } } }));
        assert_eq!(schema["required"], json!(["kind"]));
        assert_eq!(schema["properties"]["x"], json!({ "anyOf": [{ "type": "integer" }, { "type": "string" }] }));
        assert_eq!(schema["properties"]["kind"], json!({ "anyOf": [{ "type": "string" }, { "const": "a" }] }));
        assert_eq!(schema["properties"]["y"], json!({}));
        assert!(schema.get("oneOf").is_none() && schema.get("$defs").is_some());
        assert!(note.unwrap().contains(r##""$ref":"#/$defs/b""##));
    }

    #[test]
    fn all_branches_together_are_required() {
        let (schema, _) = flat(&json!({ "allOf": [
            { "properties": { "a": { "type": "string" } }, "required": ["a"] },
            { "properties": { "a": { "minLength": 1 }, "b": {} }, "required": ["b"] },
        ] }));
        let a = json!({ "allOf": [{ "type": "string" }, { "minLength": 1 }] });
        assert_eq!(schema, json!({ "properties": { "a": a, "b": {} }, "required": ["a", "b"] }));
    }

    #[test]
    fn what_is_no_object_cannot_be_made_one() {
        for schema in [
            json!({ "anyOf": [{ "type": "array" }, { "type": "string" }] }),
            json!({ "anyOf": 1 }),
            json!({ "allOf": vec![json!({}); MAX_BRANCHES + 1] }),
        ] {
            assert!(flatten(&mut schema.as_object().unwrap().clone(), &COMPOSITIONS).is_err(), "{schema}");
        }
        assert_eq!(flat(&json!({ "type": "object" })), (json!({ "type": "object" }), None));
        let (_, note) = flat(&json!({ "anyOf": [{ "description": "x".repeat(MAX_NOTE_BYTES) }] }));
        assert!(note.unwrap().len() < 100);
    }

    #[test]
    fn only_what_is_refused_is_replaced() {
        let tool = |schema: &Value| ToolSpec::new("t", "Does.", JsonText::of(schema).unwrap());
        let any = tool(&json!({ "type": "object", "anyOf": [{ "properties": { "a": {} } }] }));
        assert!(matches!(without_compositions(&any, &["allOf"]), Cow::Borrowed(_)));
        assert!(matches!(without_compositions(&any, &COMPOSITIONS), Cow::Owned(_)));
        let below = tool(&json!({ "type": "object", "properties": { "anyOf": { "anyOf": [{}] } } }));
        assert!(matches!(without_compositions(&below, &COMPOSITIONS), Cow::Borrowed(_)));
        let broken = tool(&json!({ "type": "object", "anyOf": 1 }));
        let taken = without_compositions(&broken, &COMPOSITIONS);
        assert_eq!(taken.input_schema.as_str(), r#"{"type":"object"}"#);
        assert!(taken.description.contains("fewer inputs"));
    }
}
