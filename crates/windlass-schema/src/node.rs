//! Compiled schemas: nodes that refer to each other by number.

use crate::pattern::Pattern;
use serde_json::{Number, Value};
use std::collections::BTreeMap;

/// Index of a node in [`CompiledSchema::nodes`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct NodeId(pub(crate) usize);

/// A whole schema. Node 0 is its root.
#[derive(Debug, Default)]
pub(crate) struct CompiledSchema {
    pub(crate) nodes: Vec<SchemaNode>,
    /// First pattern that cannot be matched, as written.
    pub(crate) unusable_pattern: Option<String>,
}

impl CompiledSchema {
    pub(crate) const ROOT: NodeId = NodeId(0);

    pub(crate) fn rules(&self, node: NodeId) -> &[KeywordRule] {
        self.nodes.get(node.0).map_or(&[], |node| &node.rules)
    }
}

/// Rules of one schema, keyword by keyword.
#[derive(Debug, Default)]
pub(crate) struct SchemaNode {
    pub(crate) rules: Vec<KeywordRule>,
}

/// A kind of JSON value, as `type` names it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    Null,
    Boolean,
    Integer,
    Number,
    String,
    Array,
    Object,
}

impl Kind {
    pub(crate) const ALL: [Self; 7] =
        [Self::Null, Self::Boolean, Self::Integer, Self::Number, Self::String, Self::Array, Self::Object];

    pub(crate) const fn name(self) -> &'static str {
        match self {
            Self::Null => "null",
            Self::Boolean => "boolean",
            Self::Integer => "integer",
            Self::Number => "number",
            Self::String => "string",
            Self::Array => "array",
            Self::Object => "object",
        }
    }
}

/// A limit on a size, in characters, items or properties.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Limit {
    pub(crate) least: bool,
    pub(crate) size: f64,
}

impl Limit {
    #[expect(clippy::cast_precision_loss, reason = "no value in memory has 2^53 items")]
    pub(crate) fn holds(self, size: usize) -> bool {
        let size = size as f64;
        if self.least { size >= self.size } else { size <= self.size }
    }
}

/// A keyword, or several that only have a meaning together.
#[derive(Debug)]
pub(crate) enum KeywordRule {
    /// The schema `false`.
    Never,
    Type(Vec<Kind>),
    Enum(Vec<Value>),
    Const(Value),
    Minimum {
        limit: Number,
        exclusive: bool,
    },
    Maximum {
        limit: Number,
        exclusive: bool,
    },
    MultipleOf(Number),
    Length(Limit),
    Pattern(Pattern),
    ItemCount(Limit),
    UniqueItems,
    /// Schemas of the first items, and of the items after them.
    Items {
        prefix: Vec<NodeId>,
        rest: Option<NodeId>,
    },
    Contains {
        node: NodeId,
        least: f64,
        most: Option<f64>,
    },
    PropertyCount(Limit),
    Required(Vec<String>),
    Properties(Properties),
    PropertyNames(NodeId),
    DependentRequired(BTreeMap<String, Vec<String>>),
    DependentSchemas(BTreeMap<String, NodeId>),
    AllOf(Vec<NodeId>),
    AnyOf(Vec<NodeId>),
    OneOf(Vec<NodeId>),
    /// Schema that must not hold, and its text.
    Not {
        node: NodeId,
        written: Value,
    },
    If {
        condition: NodeId,
        then: Option<NodeId>,
        otherwise: Option<NodeId>,
    },
    Ref(NodeId),
    /// Always last in its node, because it asks what the other rules have covered.
    UnevaluatedProperties(NodeId),
    /// Like [`KeywordRule::UnevaluatedProperties`], for items.
    UnevaluatedItems(NodeId),
}

/// `properties`, `patternProperties` and `additionalProperties`.
#[derive(Debug, Default)]
pub(crate) struct Properties {
    pub(crate) named: BTreeMap<String, NodeId>,
    pub(crate) patterns: Vec<(Pattern, NodeId)>,
    pub(crate) rest: Option<NodeId>,
}

impl Properties {
    /// Returns the schemas that a property has to fit, apart from `additionalProperties`.
    pub(crate) fn of<'a>(&'a self, name: &'a str) -> impl Iterator<Item = NodeId> + 'a {
        let by_pattern = self.patterns.iter().filter(|(pattern, _)| pattern.matches(name) == Some(true));
        self.named.get(name).copied().into_iter().chain(by_pattern.map(|(_, node)| *node))
    }

    /// `true` if `additionalProperties` applies to this property. `false` if a pattern cannot be matched: the property
    /// may be meant by it.
    pub(crate) fn leaves(&self, name: &str) -> bool {
        !self.named.contains_key(name) && self.patterns.iter().all(|(pattern, _)| pattern.matches(name) == Some(false))
    }
}
