//! Check of a value against the rules of a schema.

use crate::fault::{SchemaFaults, quoted, shown};
use crate::node::{CompiledSchema, KeywordRule, NodeId, Properties};
use crate::place::ValuePointer;
use crate::value::{are_unique, compare, is_kind, is_multiple, same};
use serde_json::{Map, Number, Value};
use std::cmp::Ordering;

/// Maximum number of rules that one check applies.
const MAX_STEPS: usize = 1_000_000;
/// Maximum nesting of schemas in one check. Inputs nest at most 127 deep, and references, combinations and properties
/// take a schema each.
const MAX_DEPTH: usize = 512;

/// One check of one value.
pub(crate) struct Check<'s> {
    pub(crate) schema: &'s CompiledSchema,
    steps: usize,
    depth: usize,
    /// `true` if a bound was reached, so that no answer counts.
    exhausted: bool,
}

impl<'s> Check<'s> {
    pub(crate) fn new(schema: &'s CompiledSchema) -> Self {
        Self { schema, steps: 0, depth: 0, exhausted: false }
    }

    /// Checks a whole value.
    ///
    /// # Errors
    /// Text that names the faults of the value.
    pub(crate) fn run(schema: &'s CompiledSchema, value: &Value) -> Result<(), String> {
        let mut check = Self::new(schema);
        let mut faults = SchemaFaults::collecting();
        check.apply(CompiledSchema::ROOT, value, &ValuePointer::Root, &mut faults);
        if check.exhausted {
            return Err("the input takes too many steps to check against the schema".to_owned());
        }
        if faults.is_empty() { Ok(()) } else { Err(faults.into_text()) }
    }

    pub(crate) fn is_exhausted(&self) -> bool {
        self.exhausted
    }

    /// `true` if a value fits a schema.
    pub(crate) fn fits(&mut self, node: NodeId, value: &Value) -> bool {
        let mut faults = SchemaFaults::probing();
        self.apply(node, value, &ValuePointer::Root, &mut faults);
        faults.is_empty()
    }

    pub(crate) fn apply(&mut self, node: NodeId, value: &Value, at: &ValuePointer<'_>, faults: &mut SchemaFaults) {
        if self.depth >= MAX_DEPTH {
            self.exhausted = true;
        }
        self.depth += 1;
        for rule in self.schema.rules(node) {
            self.steps += 1;
            self.exhausted |= self.steps > MAX_STEPS;
            if self.exhausted || faults.is_decided() {
                break;
            }
            match value {
                _ if self.combines(rule, value, at, faults) => {}
                Value::Array(items) => {
                    self.array(rule, value, items, at, faults);
                    self.unevaluated_items(node, rule, value, at, faults);
                }
                Value::Object(map) => {
                    self.object(rule, value, map, at, faults);
                    self.unevaluated_properties(node, rule, value, at, faults);
                }
                _ => scalar(rule, value, at, faults),
            }
        }
        self.depth -= 1;
    }

    /// Applies a rule on values of any kind; `false` if the rule is not of that sort.
    fn combines(
        &mut self,
        rule: &KeywordRule,
        value: &Value,
        at: &ValuePointer<'_>,
        faults: &mut SchemaFaults,
    ) -> bool {
        match rule {
            KeywordRule::Never => faults.add(at, || format!("False schema does not allow {}", shown(value))),
            KeywordRule::Type(kinds) if kinds.iter().any(|kind| is_kind(value, *kind)) => {}
            KeywordRule::Type(kinds) => faults.add(at, || {
                let names: Vec<String> = kinds.iter().map(|kind| format!("\"{}\"", kind.name())).collect();
                let types = if names.len() == 1 { "type" } else { "types" };
                format!("{} is not of {types} {}", shown(value), names.join(", "))
            }),
            KeywordRule::Enum(options) if options.iter().any(|option| same(option, value)) => {}
            KeywordRule::Enum(options) => faults.add(at, || {
                let options: Vec<String> = options.iter().map(shown).collect();
                format!("{} is not one of {}", shown(value), options.join(", "))
            }),
            KeywordRule::Const(constant) if same(constant, value) => {}
            KeywordRule::Const(constant) => faults.add(at, || format!("{} was expected", shown(constant))),
            KeywordRule::Ref(node) => self.apply(*node, value, at, faults),
            KeywordRule::AllOf(nodes) => {
                for node in nodes {
                    self.apply(*node, value, at, faults);
                }
            }
            KeywordRule::AnyOf(nodes) => {
                if !nodes.iter().any(|node| self.fits(*node, value)) {
                    self.explain_choice("anyOf", nodes, value, at, faults);
                }
            }
            KeywordRule::OneOf(nodes) => match nodes.iter().filter(|node| self.fits(**node, value)).take(2).count() {
                0 => self.explain_choice("oneOf", nodes, value, at, faults),
                1 => {}
                _ => faults.add(at, || {
                    format!(
                        "{} is valid under more than one of the schemas listed in the 'oneOf' keyword",
                        shown(value)
                    )
                }),
            },
            KeywordRule::Not { node, written } => {
                if self.fits(*node, value) {
                    faults.add(at, || format!("{} is not allowed for {}", shown(written), shown(value)));
                }
            }
            KeywordRule::If { condition, then, otherwise } => {
                if let Some(node) = if self.fits(*condition, value) { then } else { otherwise } {
                    self.apply(*node, value, at, faults);
                }
            }
            _ => return false,
        }
        true
    }

    /// Reports that no schema of a choice fits. If only one of the schemas applies to the kind of the value, as with
    /// values that may be `null`, the faults of that one are reported instead, which are more precise.
    fn explain_choice(
        &mut self,
        keyword: &str,
        nodes: &[NodeId],
        value: &Value,
        at: &ValuePointer<'_>,
        faults: &mut SchemaFaults,
    ) {
        let schema = self.schema;
        let is_about = |node: &&NodeId| {
            schema.rules(**node).iter().all(|rule| match rule {
                KeywordRule::Type(kinds) => kinds.iter().any(|kind| is_kind(value, *kind)),
                _ => true,
            })
        };
        let mut about = nodes.iter().filter(is_about);
        match (about.next(), about.next()) {
            (Some(node), None) => self.apply(*node, value, at, faults),
            _ => faults.add(at, || {
                format!("{} is not valid under any of the schemas listed in the '{keyword}' keyword", shown(value))
            }),
        }
    }

    fn array(
        &mut self,
        rule: &KeywordRule,
        value: &Value,
        items: &[Value],
        at: &ValuePointer<'_>,
        faults: &mut SchemaFaults,
    ) {
        match rule {
            KeywordRule::Items { prefix, rest } => {
                for (index, item) in items.iter().enumerate() {
                    if let Some(node) = prefix.get(index).or(rest.as_ref()) {
                        self.apply(*node, item, &ValuePointer::Index(at, index), faults);
                    }
                }
            }
            KeywordRule::ItemCount(limit) if !limit.holds(items.len()) => faults.add(at, || {
                let than = if limit.least { "less" } else { "more" };
                format!("{} has {than} than {} item{}", shown(value), limit.size, plural(limit.size))
            }),
            KeywordRule::UniqueItems if !are_unique(items) => {
                faults.add(at, || format!("{} has non-unique elements", shown(value)));
            }
            KeywordRule::Contains { node, least, most } => {
                #[expect(clippy::cast_precision_loss, reason = "no array in memory has 2^53 items")]
                let found = items.iter().filter(|item| self.fits(*node, item)).count() as f64;
                if found < *least {
                    faults.add(at, || format!("None of {} are valid under the given schema", shown(value)));
                } else if most.is_some_and(|most| found > most) {
                    faults.add(at, || format!("too many of {} are valid under the given schema", shown(value)));
                }
            }
            _ => {}
        }
    }

    fn object(
        &mut self,
        rule: &KeywordRule,
        value: &Value,
        map: &Map<String, Value>,
        at: &ValuePointer<'_>,
        faults: &mut SchemaFaults,
    ) {
        match rule {
            KeywordRule::Properties(properties) => self.properties(properties, map, at, faults),
            KeywordRule::Required(names) => required(names, map, at, faults),
            KeywordRule::PropertyCount(limit) if !limit.holds(map.len()) => faults.add(at, || {
                let than = if limit.least { "less" } else { "more" };
                let properties = if limit.size == 1.0 { "property" } else { "properties" };
                format!("{} has {than} than {} {properties}", shown(value), limit.size)
            }),
            KeywordRule::PropertyNames(node) => {
                for name in map.keys() {
                    self.apply(*node, &Value::String(name.clone()), at, faults);
                }
            }
            KeywordRule::DependentRequired(dependent) => {
                for names in dependent.iter().filter(|(name, _)| map.contains_key(*name)).map(|(_, names)| names) {
                    required(names, map, at, faults);
                }
            }
            KeywordRule::DependentSchemas(dependent) => {
                for (_, node) in dependent.iter().filter(|(name, _)| map.contains_key(*name)) {
                    self.apply(*node, value, at, faults);
                }
            }
            _ => {}
        }
    }

    fn properties(
        &mut self,
        properties: &Properties,
        map: &Map<String, Value>,
        at: &ValuePointer<'_>,
        faults: &mut SchemaFaults,
    ) {
        let mut unexpected = Vec::new();
        for (name, value) in map {
            for node in properties.of(name) {
                self.apply(node, value, &ValuePointer::Key(at, name), faults);
            }
            let Some(rest) = properties.rest.filter(|_| properties.leaves(name)) else { continue };
            if matches!(self.schema.rules(rest), [KeywordRule::Never]) {
                unexpected.push(name.as_str());
            } else {
                self.apply(rest, value, &ValuePointer::Key(at, name), faults);
            }
        }
        unexpected_names("Additional", &unexpected, at, faults);
    }
}

pub(crate) fn unexpected_names(kind: &str, names: &[&str], at: &ValuePointer<'_>, faults: &mut SchemaFaults) {
    if !names.is_empty() {
        let were = if names.len() == 1 { "was" } else { "were" };
        let names = quoted(names.iter().copied());
        faults.add(at, || format!("{kind} properties are not allowed ({names} {were} unexpected)"));
    }
}

fn required(names: &[String], map: &Map<String, Value>, at: &ValuePointer<'_>, faults: &mut SchemaFaults) {
    for name in names.iter().filter(|name| !map.contains_key(*name)) {
        faults.add(at, || format!("{name:?} is a required property"));
    }
}

fn plural(size: f64) -> &'static str {
    if size == 1.0 { "" } else { "s" }
}

/// Rules on texts and numbers.
fn scalar(rule: &KeywordRule, value: &Value, at: &ValuePointer<'_>, faults: &mut SchemaFaults) {
    match (rule, value) {
        (KeywordRule::Length(limit), Value::String(text)) if !limit.holds(text.chars().count()) => {
            faults.add(at, || {
                let than = if limit.least { "shorter" } else { "longer" };
                format!("{} is {than} than {} character{}", shown(value), limit.size, plural(limit.size))
            })
        }
        (KeywordRule::Pattern(pattern), Value::String(text)) if pattern.matches(text) == Some(false) => {
            faults.add(at, || format!("{} does not match \"{}\"", shown(value), pattern.written()));
        }
        (_, Value::Number(number)) => numeric(rule, number, at, faults),
        _ => {}
    }
}

fn numeric(rule: &KeywordRule, number: &Number, at: &ValuePointer<'_>, faults: &mut SchemaFaults) {
    match rule {
        KeywordRule::Minimum { limit, exclusive } => {
            let order = compare(number, limit);
            if order == Some(Ordering::Less) || *exclusive && order == Some(Ordering::Equal) {
                let or_equal = if *exclusive { "or equal to " } else { "" };
                faults.add(at, || format!("{number} is less than {or_equal}the minimum of {limit}"));
            }
        }
        KeywordRule::Maximum { limit, exclusive } => {
            let order = compare(number, limit);
            if order == Some(Ordering::Greater) || *exclusive && order == Some(Ordering::Equal) {
                let or_equal = if *exclusive { "or equal to " } else { "" };
                faults.add(at, || format!("{number} is greater than {or_equal}the maximum of {limit}"));
            }
        }
        KeywordRule::MultipleOf(of) if !is_multiple(number, of) => {
            faults.add(at, || format!("{number} is not a multiple of {of}"));
        }
        _ => {}
    }
}
