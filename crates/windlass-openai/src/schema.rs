//! JSON Schemas in the subset of strict mode.
//!
//! Source: OpenAI, "Structured model outputs", "Supported schemas",
//! <https://developers.openai.com/api/docs/guides/structured-outputs#supported-schemas>.

mod tree;

use std::borrow::Cow;

use tree::{SchemaMembers, SchemaRoot, SchemaValue};
use windlass_types::JsonText;

/// Maximum depth and maximum number of properties of a schema.
const MAX_DEPTH: usize = 10;
const MAX_PROPERTIES: usize = 5_000;

/// Keywords that are sent unchanged.
const UNCHANGED_KEYWORDS: [&str; 11] = [
    "title",
    "description",
    "pattern",
    "multipleOf",
    "minimum",
    "maximum",
    "exclusiveMinimum",
    "exclusiveMaximum",
    "minItems",
    "maxItems",
    "enum",
];

/// Keywords that are essential to the meaning of a schema. A schema that has one cannot be strict.
const BINDING: [&str; 13] = [
    "not",
    "if",
    "then",
    "else",
    "dependentRequired",
    "dependentSchemas",
    "dependencies",
    "patternProperties",
    "propertyNames",
    "unevaluatedProperties",
    "prefixItems",
    "contains",
    "$dynamicRef",
];

const FORMATS: [&str; 9] = ["date-time", "time", "date", "duration", "email", "hostname", "ipv4", "ipv6", "uuid"];

/// Returns the schema in the subset of strict mode: every property is required and optional ones may be null, no object
/// has further properties, keywords that the API refuses are left out. Members keep their order.
///
/// `None` if the subset cannot express the schema: free maps, values of any type, tuples, conditions, references to
/// other documents.
pub(crate) fn strict(schema: &JsonText) -> Option<JsonText> {
    let root: SchemaValue = schema.to().ok()?;
    let mut converter = Converter::default();
    let members = root.as_object()?;
    // A tool without input has an object without properties.
    let is_object = match members.get("type") {
        Some(kind) => kind.as_str() == Some("object"),
        None => members.has("properties"),
    };
    if !is_object || members.has("anyOf") || members.has("oneOf") {
        return None;
    }
    let converted = converter.schema(&root, SchemaPosition { depth: 0, is_root: true })?;
    JsonText::of(&converted).ok()
}

/// Returns the input schema of a tool that is not strict, in the form that the API takes: an object with a list of
/// properties, and no alternatives at its top level, which the API refuses there. Inputs that these would have excluded
/// are refused by the tool itself.
pub(crate) fn parameters(schema: &JsonText) -> Cow<'_, str> {
    const REFUSED: [&str; 5] = ["anyOf", "oneOf", "allOf", "enum", "not"];
    let Ok(top) = serde_json::from_str::<SchemaRoot<'_>>(schema.as_str()) else {
        return Cow::Borrowed("{\"type\":\"object\",\"properties\":{}}");
    };
    let has = |name: &str| top.0.iter().any(|(own, _)| own == name);
    let is_object = top.0.iter().any(|(name, value)| name == "type" && value.get() == "\"object\"");
    if is_object && has("properties") && !REFUSED.iter().any(|name| has(name)) {
        return Cow::Borrowed(schema.as_str());
    }
    let mut out = String::from("{\"type\":\"object\"");
    if !has("properties") {
        out.push_str(",\"properties\":{}");
    }
    for (name, value) in top.0.iter().filter(|(name, _)| name != "type" && !REFUSED.contains(&&**name)) {
        // A string always serialises.
        let name = serde_json::to_string(name).unwrap_or_default();
        out.extend([",", &name, ":", value.get()]);
    }
    out.push('}');
    Cow::Owned(out)
}

/// Position of a schema.
#[derive(Clone, Copy)]
struct SchemaPosition {
    depth: usize,
    is_root: bool,
}

impl SchemaPosition {
    fn below(self) -> Self {
        Self { depth: self.depth + 1, is_root: false }
    }

    /// Returns the position of a branch of the same value.
    fn beside(self) -> Self {
        Self { depth: self.depth + 1, is_root: false }
    }
}

#[derive(Default)]
struct Converter {
    properties: usize,
}

impl Converter {
    fn schema(&mut self, schema: &SchemaValue, place: SchemaPosition) -> Option<SchemaValue> {
        let members = schema.as_object()?;
        if place.depth > MAX_DEPTH * 2 || BINDING.iter().any(|word| members.has(word)) {
            return None;
        }
        if let Some(all) = members.get("allOf") {
            return self.only_branch(members, all, place);
        }
        if let Some(target) = members.get("$ref") {
            return self.reference(members, target, place);
        }
        let mut out = SchemaMembers::default();
        self.types(members, &mut out)?;
        for (word, value) in members.iter() {
            match word {
                "format" if value.as_str().is_some_and(|format| FORMATS.contains(&format)) => {
                    out.set(word, value.clone());
                }
                "const" => out.set("enum", SchemaValue::Array(vec![value.clone()])),
                "anyOf" | "oneOf" => {
                    let branches = value.as_array()?.iter().map(|branch| self.schema(branch, place.beside()));
                    out.set("anyOf", SchemaValue::Array(branches.collect::<Option<_>>()?));
                }
                "items" => out.set("items", self.schema(value, place.below())?),
                word if UNCHANGED_KEYWORDS.contains(&word) => out.set(word, value.clone()),
                _ => {}
            }
        }
        self.object(members, &mut out, place)?;
        self.definitions(members, &mut out, place)?;
        let is_array = type_words(&out).contains(&"array");
        (!is_array || out.has("items")).then_some(SchemaValue::Object(out))
    }

    /// Writes the `type` of a schema, which strict mode demands: the given one, or the one that follows from the other
    /// keywords.
    fn types(&mut self, members: &SchemaMembers, out: &mut SchemaMembers) -> Option<()> {
        if let Some(kind) = members.get("type") {
            out.set("type", kind.clone());
            return Some(());
        }
        if members.has("anyOf") || members.has("oneOf") {
            return Some(());
        }
        let word = |word: &'static str| SchemaValue::string(word);
        let kind = if members.has("properties") {
            word("object")
        } else if members.has("items") {
            word("array")
        } else if let Some(value) = members.get("const") {
            word(value.type_word()?)
        } else {
            let mut words: Vec<&str> = Vec::new();
            for value in members.get("enum")?.as_array()? {
                let word = value.type_word()?;
                if !words.contains(&word) {
                    words.push(word);
                }
            }
            match words.as_slice() {
                [] => return None,
                [only] => word(only),
                several => SchemaValue::Array(several.iter().map(|word| SchemaValue::string(word)).collect()),
            }
        };
        out.set("type", kind);
        Some(())
    }

    /// Merges `allOf` with only one branch into that branch, together with the keywords beside it.
    fn only_branch(
        &mut self,
        members: &SchemaMembers,
        all: &SchemaValue,
        place: SchemaPosition,
    ) -> Option<SchemaValue> {
        let [branch] = all.as_array()? else { return None };
        let mut merged = SchemaMembers::default();
        for (word, value) in branch.as_object()?.iter() {
            merged.set(word, value.clone());
        }
        for (word, value) in members.iter().filter(|(word, _)| *word != "allOf") {
            let is_note = matches!(word, "title" | "description" | "default" | "examples" | "deprecated");
            match merged.get(word) {
                None => merged.set(word, value.clone()),
                Some(_) if is_note => merged.set(word, value.clone()),
                Some(_) => return None,
            }
        }
        self.schema(&SchemaValue::Object(merged), SchemaPosition { depth: place.depth + 1, ..place })
    }

    /// Converts a reference, which may have no other keywords beside it.
    fn reference(
        &mut self,
        members: &SchemaMembers,
        target: &SchemaValue,
        place: SchemaPosition,
    ) -> Option<SchemaValue> {
        let path = target.as_str()?;
        let is_local = path == "#" || path.starts_with("#/$defs/") || path.starts_with("#/definitions/");
        let is_alone = members
            .iter()
            .all(|(word, _)| matches!(word, "$ref" | "title" | "description" | "default" | "examples" | "deprecated"));
        if !is_local || !is_alone || place.is_root {
            return None;
        }
        let mut reference = SchemaMembers::default();
        reference.set("$ref", target.clone());
        let reference = SchemaValue::Object(reference);
        let Some(description) = members.get("description") else { return Some(reference) };
        let mut out = SchemaMembers::default();
        out.set("description", description.clone());
        out.set("anyOf", SchemaValue::Array(vec![reference]));
        Some(SchemaValue::Object(out))
    }

    fn object(&mut self, members: &SchemaMembers, out: &mut SchemaMembers, place: SchemaPosition) -> Option<()> {
        if !type_words(out).contains(&"object") {
            return Some(());
        }
        let is_closed = match members.get("additionalProperties") {
            None => false,
            Some(value) if *value == SchemaValue::Bool(false) => true,
            Some(_) => return None,
        };
        let none = SchemaMembers::default();
        let properties = match members.get("properties") {
            Some(properties) => properties.as_object()?,
            // An object without listed properties can be anything.
            None if place.is_root || is_closed => &none,
            None => return None,
        };
        let required: Vec<&str> = match members.get("required") {
            Some(names) => names.as_array()?.iter().filter_map(SchemaValue::as_str).collect(),
            None => Vec::new(),
        };
        if required.iter().any(|name| !properties.has(name)) || place.depth >= MAX_DEPTH {
            return None;
        }
        let (mut converted, mut names) = (SchemaMembers::default(), Vec::new());
        for (name, schema) in properties.iter() {
            self.properties += 1;
            if self.properties > MAX_PROPERTIES {
                return None;
            }
            let schema = self.schema(schema, place.below())?;
            let is_required = required.contains(&name);
            names.push(SchemaValue::string(name));
            converted.set(name, if is_required { schema } else { nullable(schema)? });
        }
        out.set("properties", SchemaValue::Object(converted));
        out.set("required", SchemaValue::Array(names));
        out.set("additionalProperties", SchemaValue::Bool(false));
        Some(())
    }

    fn definitions(&mut self, members: &SchemaMembers, out: &mut SchemaMembers, place: SchemaPosition) -> Option<()> {
        for word in ["$defs", "definitions"] {
            let Some(definitions) = members.get(word) else { continue };
            let mut converted = SchemaMembers::default();
            for (name, schema) in definitions.as_object()?.iter() {
                converted.set(name, self.schema(schema, place.below())?);
            }
            out.set(word, SchemaValue::Object(converted));
        }
        Some(())
    }
}

fn type_words(members: &SchemaMembers) -> Vec<&str> {
    match members.get("type") {
        Some(SchemaValue::Array(words)) => words.iter().filter_map(SchemaValue::as_str).collect(),
        Some(word) => word.as_str().into_iter().collect(),
        None => Vec::new(),
    }
}

/// Returns the converted schema with null allowed.
fn nullable(schema: SchemaValue) -> Option<SchemaValue> {
    let SchemaValue::Object(mut members) = schema else { return None };
    let null = || SchemaValue::string("null");
    if let Some(SchemaValue::Array(branches)) = members.get("anyOf") {
        let is_null = |branch: &SchemaValue| branch.as_object().is_some_and(|branch| type_words(branch) == ["null"]);
        if !branches.iter().any(is_null) {
            let mut branches = branches.clone();
            branches.push(typed("null"));
            members.set("anyOf", SchemaValue::Array(branches));
        }
        return Some(SchemaValue::Object(members));
    }
    if members.has("$ref") {
        let mut out = SchemaMembers::default();
        out.set("anyOf", SchemaValue::Array(vec![SchemaValue::Object(members), typed("null")]));
        return Some(SchemaValue::Object(out));
    }
    match members.get("type")?.clone() {
        SchemaValue::Array(mut words) => {
            if !words.iter().any(|word| word.as_str() == Some("null")) {
                words.push(null());
                members.set("type", SchemaValue::Array(words));
            }
        }
        word if word.as_str() == Some("null") => {}
        word => members.set("type", SchemaValue::Array(vec![word, null()])),
    }
    if let Some(SchemaValue::Array(values)) = members.get("enum")
        && !values.contains(&SchemaValue::Null)
    {
        let mut values = values.clone();
        values.push(SchemaValue::Null);
        members.set("enum", SchemaValue::Array(values));
    }
    Some(SchemaValue::Object(members))
}

fn typed(word: &str) -> SchemaValue {
    let mut members = SchemaMembers::default();
    members.set("type", SchemaValue::string(word));
    SchemaValue::Object(members)
}

#[cfg(test)]
mod tests;
