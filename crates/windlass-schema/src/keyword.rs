//! Drafts of JSON Schema, and the values that keywords may have.

use crate::node::Kind;
use serde_json::{Map, Number, Value};

/// A draft of JSON Schema, oldest first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum SchemaDraft {
    Four,
    Six,
    Seven,
    Draft2019,
    Draft2020,
}

impl SchemaDraft {
    /// Returns the draft that `$schema` names; the newest if it names none or an unknown one.
    pub(crate) fn of(schema: &Value) -> Self {
        let named = schema.get("$schema").and_then(Value::as_str).unwrap_or_default();
        let address = named.trim_end_matches('#').split_once("://").map_or("", |(_, rest)| rest);
        match address {
            "json-schema.org/draft-04/schema" => Self::Four,
            "json-schema.org/draft-06/schema" => Self::Six,
            "json-schema.org/draft-07/schema" => Self::Seven,
            "json-schema.org/draft/2019-09/schema" => Self::Draft2019,
            _ => Self::Draft2020,
        }
    }
}

/// The keywords of one schema, with typed access to their values.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Keywords<'a> {
    pub(crate) map: &'a Map<String, Value>,
    pub(crate) draft: SchemaDraft,
}

/// Fault of a keyword: its name, and the value that it needs.
pub(crate) type Wrong = (String, &'static str);

fn wrong<T>(name: &str, needed: &'static str) -> Result<T, Wrong> {
    Err((name.to_owned(), needed))
}

impl<'a> Keywords<'a> {
    pub(crate) fn get(self, name: &str) -> Option<&'a Value> {
        self.map.get(name)
    }

    pub(crate) fn text(self, name: &str) -> Result<Option<&'a str>, Wrong> {
        match self.get(name) {
            None => Ok(None),
            Some(Value::String(text)) => Ok(Some(text)),
            Some(_) => wrong(name, "a string"),
        }
    }

    pub(crate) fn flag(self, name: &str) -> Result<Option<bool>, Wrong> {
        match self.get(name) {
            None => Ok(None),
            Some(Value::Bool(flag)) => Ok(Some(*flag)),
            Some(_) => wrong(name, "true or false"),
        }
    }

    pub(crate) fn list(self, name: &str) -> Result<Option<&'a [Value]>, Wrong> {
        match self.get(name) {
            None => Ok(None),
            Some(Value::Array(items)) => Ok(Some(items)),
            Some(_) => wrong(name, "an array"),
        }
    }

    pub(crate) fn map(self, name: &str) -> Result<Option<&'a Map<String, Value>>, Wrong> {
        match self.get(name) {
            None => Ok(None),
            Some(Value::Object(map)) => Ok(Some(map)),
            Some(_) => wrong(name, "an object"),
        }
    }

    pub(crate) fn number(self, name: &str) -> Result<Option<&'a Number>, Wrong> {
        match self.get(name) {
            None => Ok(None),
            Some(Value::Number(number)) => Ok(Some(number)),
            Some(_) => wrong(name, "a number"),
        }
    }

    /// Returns a size: a whole number that is not below zero.
    pub(crate) fn size(self, name: &str) -> Result<Option<f64>, Wrong> {
        match self.number(name)?.and_then(Number::as_f64) {
            None if self.get(name).is_none() => Ok(None),
            Some(size) if size >= 0.0 && size.fract() == 0.0 => Ok(Some(size)),
            _ => wrong(name, "a whole number that is not below zero"),
        }
    }

    /// Returns names, none of them twice.
    pub(crate) fn names(self, name: &str) -> Result<Option<Vec<String>>, Wrong> {
        self.get(name).map(|value| names(name, value)).transpose()
    }

    /// Returns the kinds that `type` names.
    pub(crate) fn kinds(self) -> Result<Option<Vec<Kind>>, Wrong> {
        const NEEDED: &str = "the name of a type, or an array of some";
        let kind = |value: &Value| Kind::ALL.into_iter().find(|kind| value == kind.name());
        let Some(value) = self.get("type") else { return Ok(None) };
        let kinds: Option<Vec<Kind>> = match value {
            Value::Array(items) if !items.is_empty() => items.iter().map(kind).collect(),
            Value::Array(_) => None,
            one => kind(one).map(|kind| vec![kind]),
        };
        match kinds {
            Some(kinds) if kinds.iter().enumerate().all(|(at, kind)| !kinds.iter().take(at).any(|k| k == kind)) => {
                Ok(Some(kinds))
            }
            _ => wrong("type", NEEDED),
        }
    }

    /// Checks the keywords that assert nothing, so that their values cause no surprise elsewhere.
    pub(crate) fn check_annotations(self) -> Result<(), Wrong> {
        for name in ["title", "description", "$comment", "$schema", "format", "contentEncoding", "contentMediaType"] {
            self.text(name)?;
        }
        for name in ["deprecated", "readOnly", "writeOnly"] {
            self.flag(name)?;
        }
        if self.draft >= SchemaDraft::Six {
            self.list("examples")?;
        }
        if self.draft >= SchemaDraft::Draft2019 {
            self.map("$vocabulary")?;
            for name in ["$anchor", "$dynamicAnchor"] {
                if self.text(name)?.is_some_and(|anchor| !is_anchor(anchor)) {
                    return wrong(name, "a letter or `_`, then letters, digits, `-`, `_` and `.`");
                }
            }
            if self.text("$id")?.is_some_and(|id| id.trim_end_matches('#').contains('#')) {
                return wrong("$id", "an address without a fragment");
            }
        }
        Ok(())
    }
}

pub(crate) fn names(name: &str, value: &Value) -> Result<Vec<String>, Wrong> {
    const NEEDED: &str = "an array of strings, none of them twice";
    let Value::Array(items) = value else { return wrong(name, NEEDED) };
    let texts: Option<Vec<&str>> = items.iter().map(Value::as_str).collect();
    let Some(mut texts) = texts else { return wrong(name, NEEDED) };
    let read = texts.iter().map(|&text| text.to_owned()).collect();
    texts.sort_unstable();
    if texts.windows(2).any(|pair| pair.first() == pair.last()) {
        return wrong(name, NEEDED);
    }
    Ok(read)
}

fn is_anchor(text: &str) -> bool {
    let is_letter = |char: char| char.is_ascii_alphabetic() || char == '_';
    text.starts_with(is_letter)
        && text.chars().all(|char| is_letter(char) || char.is_ascii_digit() || matches!(char, '-' | '.'))
}
