//! Nulls for optional properties.
//!
//! Strict decoding of some vendors wants every property to be required, so optional ones are offered as nullable, and
//! models write `null` to mean "not given". The tool's own schema often does not allow `null` there.

use crate::check::Check;
use crate::node::{CompiledSchema, KeywordRule, NodeId};
use serde::de::{Deserializer, MapAccess, Visitor};
use serde::ser::SerializeMap;
use serde::{Deserialize, Serialize, Serializer};
use serde_json::{Map, Value};
use std::collections::BTreeSet;
use std::fmt;
use windlass_types::JsonText;

/// Maximum nesting of schemas during the search for nulls, as for a check.
const MAX_DEPTH: usize = 512;
/// Maximum number of schemas that are visited and values that are copied during the search for nulls.
const MAX_STEPS: usize = 1_000_000;

/// Returns the input without each `null` that is given for an optional property whose schema does not allow it. `None`
/// if there is no such `null`. All else keeps its exact text. The rules of the schema are not checked on the result.
pub(crate) fn without_nulls(schema: &CompiledSchema, input: &JsonText, value: &Value) -> Option<JsonText> {
    let mut search = NullSearch { check: Check::new(schema), schema, depth: 0, steps: 0, found: NullPlaces::default() };
    search.visit(CompiledSchema::ROOT, value, &mut Vec::new(), &BTreeSet::new());
    let found = search.found;
    if found.0.is_empty() {
        return None;
    }
    remove(input, &found, &mut Vec::new())
}

/// A step from a value to a value inside it.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
enum PointerStep {
    Key(String),
    Index(usize),
}

/// Places of the nulls that count as absent.
#[derive(Debug, Default)]
struct NullPlaces(BTreeSet<Vec<PointerStep>>);

impl NullPlaces {
    /// `true` if the value at a place contains such a `null`.
    fn are_below(&self, at: &[PointerStep]) -> bool {
        self.0.range(at.to_vec()..).next().is_some_and(|first| first.starts_with(at))
    }
}

struct NullSearch<'s> {
    schema: &'s CompiledSchema,
    /// One check for all questions, so that its bounds apply to all together.
    check: Check<'s>,
    depth: usize,
    steps: usize,
    found: NullPlaces,
}

impl NullSearch<'_> {
    /// Searches one value with one schema. `required` holds the properties that other schemas require of the same
    /// value.
    fn visit(&mut self, node: NodeId, value: &Value, at: &mut Vec<PointerStep>, required: &BTreeSet<&str>) {
        self.steps += 1;
        if self.depth >= MAX_DEPTH || self.is_exhausted() {
            return;
        }
        self.depth += 1;
        let schema = self.schema;
        let mut required = required.clone();
        required_by(schema, node, &mut required);
        for rule in schema.rules(node) {
            match (rule, value) {
                (KeywordRule::Ref(node), _) => self.visit(*node, value, at, &required),
                (KeywordRule::AllOf(nodes), _) => nodes.iter().for_each(|node| self.visit(*node, value, at, &required)),
                (KeywordRule::AnyOf(nodes) | KeywordRule::OneOf(nodes), _) => self.choose(nodes, value, at, &required),
                (KeywordRule::Properties(properties), Value::Object(map)) => {
                    for (name, value) in map {
                        let Some(node) = properties.named.get(name) else { continue };
                        at.push(PointerStep::Key(name.clone()));
                        if value.is_null() && !required.contains(name.as_str()) && !self.fits(*node, value) {
                            self.found.0.insert(at.clone());
                        } else {
                            self.visit(*node, value, at, &BTreeSet::new());
                        }
                        at.pop();
                    }
                }
                (KeywordRule::Items { prefix, rest }, Value::Array(items)) => {
                    for (index, item) in items.iter().enumerate() {
                        let Some(node) = prefix.get(index).or(rest.as_ref()) else { continue };
                        at.push(PointerStep::Index(index));
                        self.visit(*node, item, at, &BTreeSet::new());
                        at.pop();
                    }
                }
                _ => {}
            }
        }
        self.depth -= 1;
    }

    /// Takes the nulls of the first schema of a choice that the value fits without them; none if the value fits one
    /// unchanged.
    fn choose(&mut self, nodes: &[NodeId], value: &Value, at: &mut Vec<PointerStep>, required: &BTreeSet<&str>) {
        if nodes.iter().any(|node| self.fits(*node, value)) {
            return;
        }
        for node in nodes {
            if self.is_exhausted() {
                return;
            }
            let before = self.found.0.clone();
            self.visit(*node, value, at, required);
            self.steps += before.len();
            let without = pruned(value, &self.found, at, &mut self.steps);
            if self.fits(*node, &without) {
                return;
            }
            self.found.0 = before;
        }
    }

    fn fits(&mut self, node: NodeId, value: &Value) -> bool {
        self.check.fits(node, value) && !self.check.is_exhausted()
    }

    fn is_exhausted(&self) -> bool {
        self.steps > MAX_STEPS || self.check.is_exhausted()
    }
}

/// Adds the properties that a schema requires of an object, together with those of the schemas that apply with it.
fn required_by<'s>(schema: &'s CompiledSchema, node: NodeId, required: &mut BTreeSet<&'s str>) {
    let mut seen = BTreeSet::from([node]);
    let mut open = vec![node];
    while let Some(node) = open.pop() {
        for rule in schema.rules(node) {
            match rule {
                KeywordRule::Required(names) => required.extend(names.iter().map(String::as_str)),
                // References may form a circle.
                KeywordRule::Ref(node) => open.extend(seen.insert(*node).then_some(*node)),
                KeywordRule::AllOf(nodes) => open.extend(nodes.iter().filter(|node| seen.insert(**node))),
                _ => {}
            }
        }
    }
}

/// Returns the value at a place without the nulls that were found in it.
fn pruned(value: &Value, found: &NullPlaces, at: &mut Vec<PointerStep>, steps: &mut usize) -> Value {
    *steps += 1;
    match value {
        Value::Object(map) => {
            let mut kept = Map::new();
            for (name, value) in map {
                at.push(PointerStep::Key(name.clone()));
                if !found.0.contains(at) {
                    kept.insert(name.clone(), pruned(value, found, at, steps));
                }
                at.pop();
            }
            Value::Object(kept)
        }
        Value::Array(items) => {
            let mut kept = Vec::with_capacity(items.len());
            for (index, item) in items.iter().enumerate() {
                at.push(PointerStep::Index(index));
                kept.push(pruned(item, found, at, steps));
                at.pop();
            }
            Value::Array(kept)
        }
        other => other.clone(),
    }
}

/// Like [`pruned`], on the exact text.
fn remove(text: &JsonText, found: &NullPlaces, at: &mut Vec<PointerStep>) -> Option<JsonText> {
    if !found.are_below(at) {
        return Some(text.clone());
    }
    if text.is_object() {
        let mut kept = Vec::new();
        for (name, value) in text.to::<NullMembers>().ok()?.0 {
            at.push(PointerStep::Key(name.clone()));
            if !found.0.contains(at) {
                kept.push((name, remove(&value, found, at)?));
            }
            at.pop();
        }
        return JsonText::of(&NullMembers(kept)).ok();
    }
    let mut kept = Vec::new();
    for (index, item) in text.to::<Vec<JsonText>>().ok()?.iter().enumerate() {
        at.push(PointerStep::Index(index));
        kept.push(remove(item, found, at)?);
        at.pop();
    }
    JsonText::of(&kept).ok()
}

/// Members of an object, in order.
struct NullMembers(Vec<(String, JsonText)>);

impl<'de> Deserialize<'de> for NullMembers {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct NullVisitor;
        impl<'de> Visitor<'de> for NullVisitor {
            type Value = NullMembers;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("an object")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<NullMembers, A::Error> {
                let mut members = Vec::new();
                while let Some(member) = map.next_entry()? {
                    members.push(member);
                }
                Ok(NullMembers(members))
            }
        }
        deserializer.deserialize_map(NullVisitor)
    }
}

impl Serialize for NullMembers {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(Some(self.0.len()))?;
        for (name, value) in &self.0 {
            map.serialize_entry(name, value)?;
        }
        map.end()
    }
}

#[cfg(test)]
mod tests;
