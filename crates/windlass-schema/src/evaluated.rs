//! Parts of a value that the rules of a schema have covered, for `unevaluatedProperties` and `unevaluatedItems`.

use crate::check::{Check, unexpected_names};
use crate::fault::SchemaFaults;
use crate::node::{KeywordRule, NodeId};
use crate::place::ValuePointer;
use serde_json::{Map, Value};
use std::collections::BTreeSet;

impl Check<'_> {
    /// Applies `unevaluatedProperties` of a node.
    pub(crate) fn unevaluated_properties(
        &mut self,
        node: NodeId,
        rule: &KeywordRule,
        value: &Value,
        at: &ValuePointer<'_>,
        faults: &mut SchemaFaults,
    ) {
        let (KeywordRule::UnevaluatedProperties(rest), Value::Object(map)) = (rule, value) else { return };
        let mut evaluated = BTreeSet::new();
        self.cover_properties(node, true, map, value, &mut evaluated);
        let left = map.iter().filter(|(name, _)| !evaluated.contains(name.as_str()));
        let unexpected: Vec<&str> =
            left.filter(|(_, value)| !self.fits(*rest, value)).map(|(name, _)| name.as_str()).collect();
        unexpected_names("Unevaluated", &unexpected, at, faults);
    }

    /// Applies `unevaluatedItems` of a node.
    pub(crate) fn unevaluated_items(
        &mut self,
        node: NodeId,
        rule: &KeywordRule,
        value: &Value,
        at: &ValuePointer<'_>,
        faults: &mut SchemaFaults,
    ) {
        let (KeywordRule::UnevaluatedItems(rest), Value::Array(items)) = (rule, value) else { return };
        let mut evaluated = BTreeSet::new();
        self.cover_items(node, true, items, value, &mut evaluated);
        let left = items.iter().enumerate().filter(|(index, _)| !evaluated.contains(index));
        let unexpected: Vec<usize> = left.filter(|(_, item)| !self.fits(*rest, item)).map(|(index, _)| index).collect();
        if let Some(first) = unexpected.first() {
            faults.add(at, || {
                format!("{} unevaluated items are not allowed, the first is item {first}", unexpected.len())
            });
        }
    }

    fn cover_properties<'v>(
        &mut self,
        node: NodeId,
        is_top: bool,
        map: &'v Map<String, Value>,
        value: &Value,
        names: &mut BTreeSet<&'v str>,
    ) {
        for rule in self.schema.rules(node) {
            match rule {
                KeywordRule::Properties(properties) => names.extend(map.keys().map(String::as_str).filter(|name| {
                    properties.of(name).next().is_some() || properties.rest.is_some() && properties.leaves(name)
                })),
                KeywordRule::UnevaluatedProperties(_) if !is_top => names.extend(map.keys().map(String::as_str)),
                KeywordRule::DependentSchemas(dependent) => {
                    for (_, node) in dependent.iter().filter(|(name, _)| map.contains_key(*name)) {
                        self.cover_properties(*node, false, map, value, names);
                    }
                }
                _ => {
                    for node in self.holding(rule, value) {
                        self.cover_properties(node, false, map, value, names);
                    }
                }
            }
        }
    }

    fn cover_items(
        &mut self,
        node: NodeId,
        is_top: bool,
        items: &[Value],
        value: &Value,
        indices: &mut BTreeSet<usize>,
    ) {
        for rule in self.schema.rules(node) {
            match rule {
                KeywordRule::Items { rest: Some(_), .. } => indices.extend(0..items.len()),
                KeywordRule::Items { prefix, .. } => indices.extend(0..prefix.len().min(items.len())),
                KeywordRule::UnevaluatedItems(_) if !is_top => indices.extend(0..items.len()),
                KeywordRule::Contains { node, .. } => {
                    indices
                        .extend(items.iter().enumerate().filter(|(_, item)| self.fits(*node, item)).map(|(at, _)| at));
                }
                _ => {
                    for node in self.holding(rule, value) {
                        self.cover_items(node, false, items, value, indices);
                    }
                }
            }
        }
    }

    /// Returns the schemas for the same value that a rule applies and that hold.
    fn holding(&mut self, rule: &KeywordRule, value: &Value) -> Vec<NodeId> {
        if self.is_exhausted() {
            return Vec::new();
        }
        let candidates: Vec<NodeId> = match rule {
            KeywordRule::Ref(node) => vec![*node],
            KeywordRule::AllOf(nodes) | KeywordRule::AnyOf(nodes) | KeywordRule::OneOf(nodes) => nodes.clone(),
            KeywordRule::If { condition, then, otherwise } => {
                let branch = if self.fits(*condition, value) { then } else { otherwise };
                std::iter::once(*condition).chain(*branch).collect()
            }
            _ => Vec::new(),
        };
        candidates.into_iter().filter(|node| self.fits(*node, value)).collect()
    }
}
