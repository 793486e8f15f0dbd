//! Every known key of settings files: its purpose, its values, and its effect.
//!
//! This is the only list: reports on keys, the published JSON Schema and the table of the documentation come from it.

mod table;

use serde_json::Value;
use windlass_types::near::nearest;

/// Effect of a key in this version.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
#[non_exhaustive]
pub enum KeyEffect {
    /// The key is in effect.
    Honoured,
    /// The key only changes the look of an interactive program, so it is ignored without a note.
    Appearance,
    /// The key has no effect, and a note says so.
    WithoutEffect,
    /// The key restricts in a way that this version cannot enforce, so a session does not start with it.
    Refused,
    /// The same in a file of the administrator; in other files it has no effect.
    RefusedInManaged,
}

/// Values that a key accepts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Shape {
    /// `true` or `false`.
    Flag,
    /// A whole number from zero on.
    Number,
    /// A text.
    Text,
    /// One of these texts; others are texts that some later version may know.
    Word(&'static [&'static str]),
    /// A list of texts.
    Texts,
    /// A text or a list of them.
    TextOrTexts,
    /// An object of texts, numbers and flags by name.
    Variables,
    /// An object of words by name.
    Words(&'static [&'static str]),
    /// An object of other things by name.
    Object,
    /// Anything: the key is not read.
    Any,
}

/// A key of settings files.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct SettingKey {
    /// Name of the key, after that of the object around it: `permissions.allow`.
    pub name: &'static str,
    /// Effect of the key in this version.
    pub effect: KeyEffect,
    /// Purpose in one sentence; empty for keys without effect.
    pub about: &'static str,
    pub(crate) shape: Shape,
}

impl SettingKey {
    /// Returns all known keys, those with an effect first.
    pub fn all() -> impl Iterator<Item = Self> {
        table::all()
    }

    /// Returns the key of this name.
    #[must_use]
    pub fn named(name: &str) -> Option<Self> {
        Self::all().find(|key| key.name == name)
    }

    /// Returns `true` if the names below the key are chosen by the user, as those of variables are.
    #[must_use]
    pub fn holds_names(&self) -> bool {
        matches!(self.shape, Shape::Variables | Shape::Words(_) | Shape::Object)
    }

    /// Returns the accepted values, in words.
    #[must_use]
    pub fn expected(&self) -> &'static str {
        self.shape.expected()
    }

    /// Returns `true` if the key takes text, so that a person's input is used unchanged.
    #[must_use]
    pub fn takes_text(&self) -> bool {
        matches!(self.shape, Shape::Text | Shape::Word(_))
    }

    /// Returns the known names most similar to an unknown one, the most similar first.
    #[must_use]
    pub fn like(name: &str) -> Vec<&'static str> {
        let is_member = name.contains('.');
        // The objects around keys are names, too.
        let groups = Self::all().filter_map(|key| Some(key.name.split_once('.')?.0));
        let mut known: Vec<&str> = Self::all().map(|key| key.name).chain(groups).collect();
        known.retain(|known| known.contains('.') == is_member);
        known.sort_unstable();
        known.dedup();
        nearest(name, known)
    }

    /// Returns `true` if the value restricts: an absent one and `false` do not.
    pub(crate) fn restricts(value: &Value) -> bool {
        !matches!(value, Value::Null | Value::Bool(false))
    }
}

impl Shape {
    /// Returns `true` if a value has the shape. `null` is treated like an absent value.
    pub(crate) fn accepts(self, value: &Value) -> bool {
        let texts = |value: &Value| value.as_array().is_some_and(|items| items.iter().all(Value::is_string));
        match (self, value) {
            (_, Value::Null) | (Self::Any, _) => true,
            (Self::Flag, value) => value.is_boolean(),
            (Self::Text | Self::Word(_), value) => value.is_string(),
            (Self::Texts, value) => texts(value),
            (Self::TextOrTexts, value) => value.is_string() || texts(value),
            (Self::Variables, Value::Object(entries)) => {
                entries.values().all(|entry| entry.is_string() || entry.is_boolean() || entry.is_number())
            }
            (Self::Words(_) | Self::Object, value) => value.is_object(),
            (Self::Number, value) => value.is_u64(),
            (Self::Variables, _) => false,
        }
    }

    pub(crate) fn expected(self) -> &'static str {
        match self {
            Self::Flag => "`true` or `false`",
            Self::Number => "a number from 0 on",
            Self::Text | Self::Word(_) => "a text",
            Self::Texts => "a list of texts, such as `[\"one\", \"two\"]`",
            Self::TextOrTexts => "a text or a list of texts",
            Self::Variables => "an object of texts, numbers and flags by name",
            Self::Words(_) | Self::Object => "an object",
            Self::Any => "any value",
        }
    }
}

#[cfg(test)]
mod tests;
