//! YAML nodes, built from the events of the parser.

use granit_parser::{Event, Parser, ScalarStyle, Span, Tag};
use serde_json::{Map, Value};
use std::borrow::Cow;
use std::fmt;

/// Maximum depth of lists and maps.
const MAX_DEPTH: usize = 16;

/// A YAML value with its source text.
#[derive(Debug, Clone)]
pub(super) enum Node {
    /// A text, number, truth value or null. `plain`: without quotes, so that the core schema gives its type.
    Scalar { text: String, plain: bool },
    /// A text that is no valid YAML.
    Literal(String),
    /// A list with its source.
    List { items: Vec<Self>, source: String },
    /// A map with its source.
    Map { fields: Vec<(String, Self)>, source: String },
}

impl Node {
    pub(super) fn is_null(&self) -> bool {
        matches!(self, Self::Scalar { text, plain: true } if is_null(text))
    }

    pub(super) fn is_scalar(&self) -> bool {
        matches!(self, Self::Scalar { .. } | Self::Literal(_))
    }

    pub(super) fn text(&self) -> &str {
        match self {
            Self::Scalar { text, .. } | Self::Literal(text) => text,
            Self::List { source, .. } | Self::Map { source, .. } => source,
        }
    }

    /// Items of a list, or of a text with commas.
    ///
    /// # Errors
    /// A map, or an item that is no text.
    pub(super) fn items(&self) -> Result<Vec<String>, String> {
        let item = |node: &Self| match node {
            Self::Scalar { text, .. } if !node.is_null() => Ok(text.clone()),
            other => Err(format!("has an item that is no text: `{}`", other.text())),
        };
        match self {
            node if node.is_null() => Ok(Vec::new()),
            Self::Scalar { text, .. } => Ok(at_commas(text)),
            Self::Literal(text) => literal_items(text),
            Self::List { items, .. } => items.iter().map(item).collect(),
            Self::Map { .. } => Err("is a list, not a map".to_owned()),
        }
    }

    pub(super) fn value(&self) -> Value {
        match self {
            Self::Scalar { text, plain: true } => typed(text),
            Self::Scalar { text, .. } | Self::Literal(text) => Value::String(text.clone()),
            Self::List { items, .. } => items.iter().map(Self::value).collect(),
            Self::Map { fields, .. } => {
                let fields = fields.iter().map(|(key, node)| (key.clone(), node.value()));
                Value::Object(fields.collect::<Map<_, _>>())
            }
        }
    }
}

/// Items of a text that is no valid YAML, such as `*` or `"Read", "Grep"`.
fn literal_items(text: &str) -> Result<Vec<String>, String> {
    let text = text.split(" #").next().unwrap_or_default();
    let item = |item: &String| {
        let item = item.trim();
        let quoted = ['"', '\''].into_iter().find_map(|quote| item.strip_prefix(quote)?.strip_suffix(quote));
        let inner = quoted.unwrap_or(item);
        let is_odd = inner.starts_with(['[', '{', '"', '\'']) || inner.ends_with(['"', '\'']);
        if is_odd { Err(format!("is a list that cannot be read: `{text}`")) } else { Ok(inner.to_owned()) }
    };
    at_commas(text).iter().map(item).collect()
}

fn is_null(text: &str) -> bool {
    matches!(text, "" | "~" | "null" | "Null" | "NULL")
}

/// Returns the value of a plain scalar in the core schema. A number that JSON cannot represent stays a text.
fn typed(text: &str) -> Value {
    let unsigned = text.strip_prefix(['-', '+']).unwrap_or(text);
    let number = |value: Option<i64>| value.map_or_else(|| Value::String(text.to_owned()), Value::from);
    match text {
        _ if is_null(text) => Value::Null,
        "true" | "True" | "TRUE" => Value::Bool(true),
        "false" | "False" | "FALSE" => Value::Bool(false),
        _ if is_digits(unsigned, 10) => number(text.parse().ok()),
        _ => match (text.strip_prefix("0o"), text.strip_prefix("0x")) {
            (Some(octal), _) if is_digits(octal, 8) => number(i64::from_str_radix(octal, 8).ok()),
            (_, Some(hex)) if is_digits(hex, 16) => number(i64::from_str_radix(hex, 16).ok()),
            _ if is_float(unsigned) => text
                .parse::<f64>()
                .ok()
                .filter(|number| number.is_finite())
                .map_or_else(|| Value::String(text.to_owned()), Value::from),
            _ => Value::String(text.to_owned()),
        },
    }
}

fn is_digits(text: &str, radix: u32) -> bool {
    !text.is_empty() && text.chars().all(|c| c.is_digit(radix))
}

/// Returns `true` for `1.5`, `.5`, `1.`, `1e3`.
fn is_float(unsigned: &str) -> bool {
    let (mantissa, exponent) = unsigned.split_once(['e', 'E']).map_or((unsigned, None), |(m, e)| (m, Some(e)));
    let (whole, part) = mantissa.split_once('.').unwrap_or((mantissa, ""));
    let digits = |text: &str| text.is_empty() || is_digits(text, 10);
    let exponent = exponent.is_none_or(|text| is_digits(text.strip_prefix(['-', '+']).unwrap_or(text), 10));
    digits(whole) && digits(part) && !(whole.is_empty() && part.is_empty()) && exponent
}

/// Reason why YAML is not read.
#[derive(Debug)]
pub(super) enum YamlError {
    /// No valid YAML.
    Malformed(String),
    /// Valid so far, and refused: an anchor, an alias, a tag, the same key twice, too deep, or no map.
    Refused(String),
}

impl fmt::Display for YamlError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (Self::Malformed(problem) | Self::Refused(problem)) = self;
        f.write_str(problem)
    }
}

/// Returns the keys and values of a YAML document that is a map, or empty.
///
/// # Errors
/// See [`YamlError`].
pub(super) fn fields(yaml: &str) -> Result<Vec<(String, Node)>, YamlError> {
    let options = granit_parser::options! { disallow_directives: true };
    let mut builder = Builder { yaml, open: Vec::new(), root: None, documents: 0 };
    for event in Parser::new_from_str_with_options(yaml, options) {
        let (event, span) = event.map_err(|error| YamlError::Malformed(error.to_string()))?;
        let place = |problem| YamlError::Refused(format!("{problem} in line {}", span.start.line()));
        builder.event(event, &span).map_err(place)?;
    }
    match builder.root {
        None => Ok(Vec::new()),
        Some(node) if node.is_null() => Ok(Vec::new()),
        Some(Node::Map { fields, .. }) => Ok(fields),
        Some(_) => Err(YamlError::Refused("it has no keys".to_owned())),
    }
}

/// A list or map whose end was not read yet.
enum OpenCollection {
    List(Vec<Node>),
    Map { fields: Vec<(String, Node)>, key: Option<String> },
}

struct Builder<'a> {
    yaml: &'a str,
    open: Vec<(OpenCollection, Span)>,
    root: Option<Node>,
    documents: usize,
}

impl Builder<'_> {
    fn event(&mut self, event: Event<'_>, span: &Span) -> Result<(), String> {
        match event {
            Event::Scalar(text, style, anchor, tag) => {
                let is_text = is_text_node(anchor, tag.as_ref())?;
                let plain = style == ScalarStyle::Plain && !is_text;
                self.place(Node::Scalar { text: text.into_owned(), plain })
            }
            Event::SequenceStart(_, anchor, tag) => {
                self.begin(OpenCollection::List(Vec::new()), anchor, tag.as_ref(), span)
            }
            Event::MappingStart(_, anchor, tag) => {
                self.begin(OpenCollection::Map { fields: Vec::new(), key: None }, anchor, tag.as_ref(), span)
            }
            Event::SequenceEnd | Event::MappingEnd => self.end(span),
            Event::DocumentStart(..) => {
                self.documents = self.documents.saturating_add(1);
                if self.documents > 1 { Err("a second document begins".to_owned()) } else { Ok(()) }
            }
            Event::StreamStart | Event::StreamEnd | Event::DocumentEnd => Ok(()),
            _ => Err("an alias (`*name`) is not read".to_owned()),
        }
    }

    fn begin(
        &mut self,
        open: OpenCollection,
        anchor: usize,
        tag: Option<&Cow<'_, Tag>>,
        span: &Span,
    ) -> Result<(), String> {
        is_text_node(anchor, tag)?;
        if self.open.len() >= MAX_DEPTH {
            return Err(format!("lists and maps are nested deeper than {MAX_DEPTH}"));
        }
        self.open.push((open, *span));
        Ok(())
    }

    fn end(&mut self, span: &Span) -> Result<(), String> {
        let Some((open, start)) = self.open.pop() else { return Err("a list or map ends".to_owned()) };
        let range = start.start.byte_offset().zip(span.end.byte_offset());
        let source = range.and_then(|(start, end)| self.yaml.get(start..end)).unwrap_or_default().trim().to_owned();
        self.place(match open {
            OpenCollection::List(items) => Node::List { items, source },
            OpenCollection::Map { fields, .. } => Node::Map { fields, source },
        })
    }

    fn place(&mut self, node: Node) -> Result<(), String> {
        match self.open.last_mut() {
            None => self.root = Some(node),
            Some((OpenCollection::List(items), _)) => items.push(node),
            Some((OpenCollection::Map { fields, key }, _)) => match (key.take(), node) {
                (Some(key), value) => fields.push((key, value)),
                (None, Node::Scalar { text, .. }) if fields.iter().any(|(known, _)| *known == text) => {
                    return Err(format!("the key `{text}` stands there twice"));
                }
                (None, Node::Scalar { text, .. }) => *key = Some(text),
                (None, _) => return Err("a key is no text".to_owned()),
            },
        }
        Ok(())
    }
}

/// Returns `true` for a node that `!!str` makes a text.
///
/// # Errors
/// An anchor, or another tag.
fn is_text_node(anchor: usize, tag: Option<&Cow<'_, Tag>>) -> Result<bool, String> {
    if anchor != 0 {
        return Err("an anchor (`&name`) is not read".to_owned());
    }
    match tag {
        None => Ok(false),
        Some(tag) if tag.is_yaml_core_schema_tag("str") => Ok(true),
        Some(tag) => Err(format!("the tag `{}` is not read", tag.original())),
    }
}

/// Returns the parts between commas that stand outside of brackets.
pub(crate) fn at_commas(text: &str) -> Vec<String> {
    let (mut parts, mut part, mut depth) = (Vec::new(), String::new(), 0_usize);
    for c in text.chars() {
        match c {
            '(' | '{' | '[' => depth = depth.saturating_add(1),
            ')' | '}' | ']' => depth = depth.saturating_sub(1),
            ',' if depth == 0 => {
                parts.push(std::mem::take(&mut part));
                continue;
            }
            _ => {}
        }
        part.push(c);
    }
    parts.push(part);
    parts
}
