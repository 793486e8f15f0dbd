//! Reading of the JSON of a schema into rules.

use crate::fault::clipped;
use crate::keyword::{Keywords, SchemaDraft, Wrong, names};
use crate::node::{CompiledSchema, KeywordRule, Limit, NodeId, Properties, SchemaNode};
use crate::pattern::Pattern;
use crate::reference::{Addresses, below};
use serde_json::{Map, Value};
use std::collections::BTreeMap;

/// Reads a schema in a draft.
///
/// # Errors
/// Text that names the fault and its place.
pub(crate) fn compile(schema: &Value, draft: SchemaDraft) -> Result<CompiledSchema, String> {
    let mut compiler = Compiler::new(schema, draft);
    compiler.node(String::new(), schema, "")?;
    compiler.follow_references()?;
    Ok(compiler.compiled)
}

/// Checks only the form of a schema: references are not followed.
///
/// # Errors
/// Text that names the fault and its place.
pub(crate) fn check_form(schema: &Value, draft: SchemaDraft) -> Result<(), String> {
    Compiler::new(schema, draft).node(String::new(), schema, "").map(|_| ())
}

struct Compiler<'a> {
    document: &'a Value,
    draft: SchemaDraft,
    addresses: Addresses,
    compiled: CompiledSchema,
    /// Nodes by the pointer to their schema.
    known: BTreeMap<String, NodeId>,
    open: Vec<Reference<'a>>,
}

/// A reference that was read but not followed yet.
struct Reference<'a> {
    /// Place of the rule that the reference becomes.
    rule: (NodeId, usize),
    written: &'a str,
    /// Target of the reference; `None` if that is outside of the schema.
    pointer: Option<String>,
}

/// A schema that is being read: its keywords and its place.
struct Schema<'a> {
    keywords: Keywords<'a>,
    pointer: String,
    /// Pointer to the schema that references without an address start from.
    base: String,
}

impl Schema<'_> {
    fn wrong(&self, (name, needed): Wrong) -> String {
        let at = if self.pointer.is_empty() { String::new() } else { format!(" at {}", self.pointer) };
        format!("`{name}`{at} must be {needed}")
    }
}

impl<'a> Compiler<'a> {
    fn new(document: &'a Value, draft: SchemaDraft) -> Self {
        Self {
            document,
            draft,
            addresses: Addresses::of(document),
            compiled: CompiledSchema::default(),
            known: BTreeMap::new(),
            open: Vec::new(),
        }
    }

    /// Follows references until none is left: their targets can have more of them. A list and not a recursion, since a
    /// schema can have a chain of any length.
    fn follow_references(&mut self) -> Result<(), String> {
        while let Some(Reference { rule: (node, rule), written, pointer }) = self.open.pop() {
            let value = pointer.as_deref().and_then(|pointer| self.document.pointer(pointer));
            let (Some(pointer), Some(value)) = (pointer, value) else {
                return Err(format!("the reference {:?} leads to no part of the schema", clipped(written, 100)));
            };
            let target = self.node(pointer, value, "")?;
            if let Some(rule) = self.compiled.nodes.get_mut(node.0).and_then(|node| node.rules.get_mut(rule)) {
                *rule = KeywordRule::Ref(target);
            }
        }
        Ok(())
    }

    /// Reads the schema at a pointer, unless it was read already.
    fn node(&mut self, pointer: String, value: &'a Value, base: &str) -> Result<NodeId, String> {
        if let Some(node) = self.known.get(&pointer) {
            return Ok(*node);
        }
        let id = NodeId(self.compiled.nodes.len());
        self.known.insert(pointer.clone(), id);
        self.compiled.nodes.push(SchemaNode::default());
        let rules = match value {
            Value::Bool(true) if self.draft >= SchemaDraft::Six => Vec::new(),
            Value::Bool(false) if self.draft >= SchemaDraft::Six => vec![KeywordRule::Never],
            Value::Object(map) => {
                let keywords = Keywords { map, draft: self.draft };
                let begins = ["$id", "id"].iter().find_map(|name| map.get(*name).and_then(Value::as_str));
                let begins = begins.is_some_and(|id| !id.starts_with('#'));
                let base = if begins { pointer.clone() } else { base.to_owned() };
                self.rules(id, &Schema { keywords, pointer, base })?
            }
            _ => return Err(format!("what stands at {:?} is not a schema", pointer)),
        };
        if let Some(node) = self.compiled.nodes.get_mut(id.0) {
            node.rules = rules;
        }
        Ok(id)
    }

    fn rules(&mut self, id: NodeId, at: &Schema<'a>) -> Result<Vec<KeywordRule>, String> {
        let mut rules = Vec::new();
        at.keywords.check_annotations().map_err(|wrong| at.wrong(wrong))?;
        self.references(id, at, &mut rules)?;
        let references = rules.len();
        self.values(at, &mut rules).map_err(|wrong| at.wrong(wrong))?;
        self.arrays(at, &mut rules)?;
        self.objects(at, &mut rules)?;
        self.combinations(at, &mut rules)?;
        self.definitions(at)?;
        if self.draft >= SchemaDraft::Draft2019 {
            if let Some(node) = self.below(at, "unevaluatedProperties")? {
                rules.push(KeywordRule::UnevaluatedProperties(node));
            }
            if let Some(node) = self.below(at, "unevaluatedItems")? {
                rules.push(KeywordRule::UnevaluatedItems(node));
            }
        }
        if self.draft <= SchemaDraft::Seven && references > 0 {
            // In those drafts a reference replaces the whole schema. Other keywords beside it only have to be
            // well-formed.
            rules.truncate(references);
        }
        Ok(rules)
    }

    fn references(&mut self, id: NodeId, at: &Schema<'a>, rules: &mut Vec<KeywordRule>) -> Result<(), String> {
        let names: &[&str] = match self.draft {
            SchemaDraft::Draft2020 => &["$ref", "$dynamicRef"],
            SchemaDraft::Draft2019 => &["$ref", "$recursiveRef"],
            _ => &["$ref"],
        };
        for name in names {
            let Some(reference) = at.keywords.text(name).map_err(|wrong| at.wrong(wrong))? else { continue };
            let pointer = self.addresses.resolve(reference, &at.base);
            self.open.push(Reference { rule: (id, rules.len()), written: reference, pointer });
            // Replaced when the reference is followed.
            rules.push(KeywordRule::Never);
        }
        Ok(())
    }

    /// Reads the keywords on values of any kind, numbers and texts.
    fn values(&mut self, at: &Schema<'a>, rules: &mut Vec<KeywordRule>) -> Result<(), Wrong> {
        let keywords = at.keywords;
        rules.extend(keywords.kinds()?.map(KeywordRule::Type));
        rules.extend(keywords.list("enum")?.map(|options| KeywordRule::Enum(options.to_vec())));
        if self.draft >= SchemaDraft::Six {
            rules.extend(keywords.get("const").map(|value| KeywordRule::Const(value.clone())));
        }
        let (minimum, maximum) = (keywords.number("minimum")?, keywords.number("maximum")?);
        if self.draft == SchemaDraft::Four {
            let below = keywords.flag("exclusiveMinimum")?.unwrap_or_default();
            let above = keywords.flag("exclusiveMaximum")?.unwrap_or_default();
            rules.extend(minimum.map(|limit| KeywordRule::Minimum { limit: limit.clone(), exclusive: below }));
            rules.extend(maximum.map(|limit| KeywordRule::Maximum { limit: limit.clone(), exclusive: above }));
        } else {
            let (below, above) = (keywords.number("exclusiveMinimum")?, keywords.number("exclusiveMaximum")?);
            for (limit, exclusive) in [(minimum, false), (below, true)] {
                rules.extend(limit.map(|limit| KeywordRule::Minimum { limit: limit.clone(), exclusive }));
            }
            for (limit, exclusive) in [(maximum, false), (above, true)] {
                rules.extend(limit.map(|limit| KeywordRule::Maximum { limit: limit.clone(), exclusive }));
            }
        }
        if let Some(of) = keywords.number("multipleOf")? {
            if of.as_f64().is_none_or(|of| of <= 0.0) {
                return Err(("multipleOf".to_owned(), "a number above zero"));
            }
            rules.push(KeywordRule::MultipleOf(of.clone()));
        }
        rules.extend(limits(keywords, "minLength", "maxLength")?.into_iter().map(KeywordRule::Length));
        if let Some(pattern) = keywords.text("pattern")? {
            rules.push(KeywordRule::Pattern(self.pattern(pattern)));
        }
        Ok(())
    }

    fn pattern(&mut self, written: &str) -> Pattern {
        let pattern = Pattern::new(written);
        if !pattern.is_usable() {
            self.compiled.unusable_pattern.get_or_insert_with(|| written.to_owned());
        }
        pattern
    }

    fn arrays(&mut self, at: &Schema<'a>, rules: &mut Vec<KeywordRule>) -> Result<(), String> {
        let keywords = at.keywords;
        let counts = limits(keywords, "minItems", "maxItems").map_err(|wrong| at.wrong(wrong))?;
        rules.extend(counts.into_iter().map(KeywordRule::ItemCount));
        if keywords.flag("uniqueItems").map_err(|wrong| at.wrong(wrong))? == Some(true) {
            rules.push(KeywordRule::UniqueItems);
        }
        let (prefix, rest) = if self.draft == SchemaDraft::Draft2020 {
            (self.all_below(at, "prefixItems")?, self.below(at, "items")?)
        } else if matches!(keywords.get("items"), Some(Value::Array(_))) {
            (self.all_below(at, "items")?, self.below(at, "additionalItems")?)
        } else {
            // Without a list of first items there are no additional ones, but the keyword must still hold a schema.
            self.below(at, "additionalItems")?;
            (None, self.below(at, "items")?)
        };
        if prefix.is_some() || rest.is_some() {
            rules.push(KeywordRule::Items { prefix: prefix.unwrap_or_default(), rest });
        }
        if self.draft >= SchemaDraft::Six
            && let Some(node) = self.below(at, "contains")?
        {
            let (mut least, mut most) = (None, None);
            if self.draft >= SchemaDraft::Draft2019 {
                least = keywords.size("minContains").map_err(|wrong| at.wrong(wrong))?;
                most = keywords.size("maxContains").map_err(|wrong| at.wrong(wrong))?;
            }
            rules.push(KeywordRule::Contains { node, least: least.unwrap_or(1.0), most });
        }
        Ok(())
    }

    fn objects(&mut self, at: &Schema<'a>, rules: &mut Vec<KeywordRule>) -> Result<(), String> {
        let keywords = at.keywords;
        let counts = limits(keywords, "minProperties", "maxProperties").map_err(|wrong| at.wrong(wrong))?;
        rules.extend(counts.into_iter().map(KeywordRule::PropertyCount));
        rules.extend(keywords.names("required").map_err(|wrong| at.wrong(wrong))?.map(KeywordRule::Required));
        let named = self.named_below(at, "properties")?;
        let patterns = self.named_below(at, "patternProperties")?;
        let rest = self.below(at, "additionalProperties")?;
        if named.is_some() || patterns.is_some() || rest.is_some() {
            let patterns = patterns.unwrap_or_default().into_iter();
            let patterns = patterns.map(|(pattern, node)| (self.pattern(&pattern), node)).collect();
            rules.push(KeywordRule::Properties(Properties { named: named.unwrap_or_default(), patterns, rest }));
        }
        if self.draft >= SchemaDraft::Six {
            rules.extend(self.below(at, "propertyNames")?.map(KeywordRule::PropertyNames));
        }
        if self.draft >= SchemaDraft::Draft2019 {
            let required = keywords.map("dependentRequired").map_err(|wrong| at.wrong(wrong))?;
            let required = required.map(required_by).transpose().map_err(|wrong| at.wrong(wrong))?;
            rules.extend(required.map(KeywordRule::DependentRequired));
            rules.extend(self.named_below(at, "dependentSchemas")?.map(KeywordRule::DependentSchemas));
        }
        self.dependencies(at, rules)
    }

    /// Reads `dependencies`, the older form of both keywords, which newer drafts let applications apply.
    fn dependencies(&mut self, at: &Schema<'a>, rules: &mut Vec<KeywordRule>) -> Result<(), String> {
        let Some(map) = at.keywords.map("dependencies").map_err(|wrong| at.wrong(wrong))? else { return Ok(()) };
        let (mut required, mut schemas) = (BTreeMap::new(), BTreeMap::new());
        let pointer = below(&at.pointer, "dependencies");
        for (name, value) in map {
            if value.is_array() {
                required.insert(name.clone(), names("dependencies", value).map_err(|wrong| at.wrong(wrong))?);
            } else {
                schemas.insert(name.clone(), self.node(below(&pointer, name), value, &at.base)?);
            }
        }
        rules.extend([KeywordRule::DependentRequired(required), KeywordRule::DependentSchemas(schemas)]);
        Ok(())
    }

    fn combinations(&mut self, at: &Schema<'a>, rules: &mut Vec<KeywordRule>) -> Result<(), String> {
        rules.extend(self.all_below(at, "allOf")?.map(KeywordRule::AllOf));
        rules.extend(self.all_below(at, "anyOf")?.map(KeywordRule::AnyOf));
        rules.extend(self.all_below(at, "oneOf")?.map(KeywordRule::OneOf));
        if let (Some(node), Some(written)) = (self.below(at, "not")?, at.keywords.get("not")) {
            rules.push(KeywordRule::Not { node, written: written.clone() });
        }
        if self.draft >= SchemaDraft::Seven {
            let (condition, then) = (self.below(at, "if")?, self.below(at, "then")?);
            let otherwise = self.below(at, "else")?;
            rules.extend(condition.map(|condition| KeywordRule::If { condition, then, otherwise }));
        }
        Ok(())
    }

    /// Reads schemas that only references lead to, and keywords without a rule.
    fn definitions(&mut self, at: &Schema<'a>) -> Result<(), String> {
        self.named_below(at, "definitions")?;
        if self.draft >= SchemaDraft::Draft2019 {
            self.named_below(at, "$defs")?;
            self.below(at, "contentSchema")?;
        }
        Ok(())
    }

    /// Reads the schema that is a keyword's value.
    fn below(&mut self, at: &Schema<'a>, name: &str) -> Result<Option<NodeId>, String> {
        let Some(value) = at.keywords.get(name) else { return Ok(None) };
        // Draft 4 allows `true` and `false` here, and nowhere else.
        if self.draft == SchemaDraft::Four && name.starts_with("additional") {
            match value {
                Value::Bool(true) => return Ok(None),
                Value::Bool(false) => return Ok(Some(self.never())),
                _ => {}
            }
        }
        self.node(below(&at.pointer, name), value, &at.base).map(Some)
    }

    fn never(&mut self) -> NodeId {
        let id = NodeId(self.compiled.nodes.len());
        self.compiled.nodes.push(SchemaNode { rules: vec![KeywordRule::Never] });
        id
    }

    /// Reads the schemas in an array; at least one.
    fn all_below(&mut self, at: &Schema<'a>, name: &str) -> Result<Option<Vec<NodeId>>, String> {
        let Some(items) = at.keywords.list(name).map_err(|wrong| at.wrong(wrong))? else { return Ok(None) };
        if items.is_empty() && !(name == "items" && self.draft > SchemaDraft::Four) {
            return Err(at.wrong((name.to_owned(), "an array of at least one schema")));
        }
        let pointer = below(&at.pointer, name);
        let nodes = items.iter().enumerate();
        nodes
            .map(|(index, value)| self.node(below(&pointer, &index.to_string()), value, &at.base))
            .collect::<Result<_, _>>()
            .map(Some)
    }

    /// Reads the schemas in an object.
    fn named_below(&mut self, at: &Schema<'a>, name: &str) -> Result<Option<BTreeMap<String, NodeId>>, String> {
        let Some(map) = at.keywords.map(name).map_err(|wrong| at.wrong(wrong))? else { return Ok(None) };
        let pointer = below(&at.pointer, name);
        let nodes = map.iter();
        nodes
            .map(|(key, value)| Ok((key.clone(), self.node(below(&pointer, key), value, &at.base)?)))
            .collect::<Result<_, String>>()
            .map(Some)
    }
}

fn limits(keywords: Keywords<'_>, least: &str, most: &str) -> Result<Vec<Limit>, Wrong> {
    let least = keywords.size(least)?.map(|size| Limit { least: true, size });
    let most = keywords.size(most)?.map(|size| Limit { least: false, size });
    Ok(least.into_iter().chain(most).collect())
}

fn required_by(map: &Map<String, Value>) -> Result<BTreeMap<String, Vec<String>>, Wrong> {
    map.iter().map(|(name, value)| Ok((name.clone(), names("dependentRequired", value)?))).collect()
}
