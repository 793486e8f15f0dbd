//! Exact JSON text.

mod string;

use serde::de::{self, DeserializeOwned, Deserializer, MapAccess, SeqAccess, Visitor};
use serde::{Deserialize, Serialize, Serializer, ser};
use serde_json::value::RawValue;
use std::borrow::Cow;
use std::collections::BTreeSet;
use std::fmt;
use std::sync::Arc;

/// JSON kept as the exact text it arrived in. Cheap to clone.
///
/// Numbers keep their digits, objects their key order, strings their escapes.
/// Two values are equal when their texts are.
#[derive(Clone)]
pub struct JsonText(Repr);

#[derive(Clone)]
enum Repr {
    Raw(Arc<RawValue>),
    /// Text that a parser outside has validated. Parsed again only when it is serialised.
    Parsed(Arc<str>),
}

impl From<Box<RawValue>> for JsonText {
    fn from(raw: Box<RawValue>) -> Self {
        Self(Repr::Raw(raw.into()))
    }
}

/// Reason why a text is not acceptable JSON. The message names the place.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct JsonError(String);

impl JsonError {
    pub(crate) fn new(problem: impl Into<String>) -> Self {
        Self(problem.into())
    }
}

impl fmt::Display for JsonError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for JsonError {}

impl JsonError {
    /// The tag names no variant that is known.
    pub(crate) fn unknown(what: &str, tag: &str) -> Self {
        Self(format!("unknown {what} {tag:?}"))
    }
}

impl From<serde_json::Error> for JsonError {
    fn from(error: serde_json::Error) -> Self {
        Self(error.to_string())
    }
}

impl JsonText {
    /// Wraps text that is valid JSON, without the strict checks.
    ///
    /// # Errors
    /// The text is not valid JSON.
    pub fn parse(text: impl Into<String>) -> Result<Self, JsonError> {
        Ok(RawValue::from_string(text.into())?.into())
    }

    /// Wraps text that a JSON parser has read to its end already, without reading it again. White space around the
    /// value is left out, as [`JsonText::parse`] does.
    ///
    /// The text must be one valid JSON value; debug builds check that. A value of any other text fails to
    /// serialise, and is not JSON when its text is used.
    pub fn from_parsed(text: impl Into<Arc<str>>) -> Self {
        let text = text.into();
        let value = text.trim_matches([' ', '\t', '\r', '\n']);
        debug_assert!(serde_json::from_str::<&RawValue>(value).is_ok(), "it is not one JSON value");
        let text = if value.len() == text.len() { text } else { value.into() };
        Self(Repr::Parsed(text))
    }

    /// Wraps text that is valid JSON and cannot be read in two ways: no object
    /// has a key twice, no string holds NUL or half a surrogate pair, nesting
    /// stays below 128, numbers fit an `f64`.
    ///
    /// # Errors
    /// The text is not valid JSON or breaks one of these rules.
    pub fn parse_strict(text: impl Into<String>) -> Result<Self, JsonError> {
        let json = Self::parse(text)?;
        json.check_strict()?;
        Ok(json)
    }

    /// Applies the rules of [`JsonText::parse_strict`] to this value.
    ///
    /// # Errors
    /// The first rule that is broken.
    pub fn check_strict(&self) -> Result<(), JsonError> {
        serde_json::from_str::<Strict>(self.as_str())?;
        Ok(())
    }

    /// The JSON text of a value.
    ///
    /// # Errors
    /// The value cannot be written as JSON (a map with keys that are not strings).
    pub fn of(value: &(impl Serialize + ?Sized)) -> Result<Self, JsonError> {
        Ok(serde_json::value::to_raw_value(value)?.into())
    }

    /// Appends a text as a JSON string with its quotes, byte for byte as serde_json writes it. For source code in about
    /// three quarters of serde_json's time.
    pub fn push_string(text: &str, out: &mut String) {
        string::push(text, out);
    }

    /// The empty object, `{}`.
    pub fn empty_object() -> Self {
        RawValue::from_string("{}".to_owned()).unwrap_or_default().into()
    }

    /// The text.
    pub fn as_str(&self) -> &str {
        match &self.0 {
            Repr::Raw(raw) => raw.get(),
            Repr::Parsed(text) => text,
        }
    }

    /// Reads the text into a type.
    ///
    /// # Errors
    /// The text does not have that shape.
    pub fn to<T: DeserializeOwned>(&self) -> Result<T, JsonError> {
        Ok(serde_json::from_str(self.as_str())?)
    }

    /// Returns `true` if the text is a JSON object.
    pub fn is_object(&self) -> bool {
        self.as_str().starts_with('{')
    }
}

impl fmt::Debug for JsonText {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

impl fmt::Display for JsonText {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

impl PartialEq for JsonText {
    fn eq(&self, other: &Self) -> bool {
        self.as_str() == other.as_str()
    }
}

impl Eq for JsonText {}

impl Serialize for JsonText {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match &self.0 {
            Repr::Raw(raw) => raw.serialize(serializer),
            Repr::Parsed(text) => {
                let raw: &RawValue = serde_json::from_str(text).map_err(ser::Error::custom)?;
                raw.serialize(serializer)
            }
        }
    }
}

impl<'de> Deserialize<'de> for JsonText {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Ok(Box::<RawValue>::deserialize(deserializer)?.into())
    }
}

/// Reads an object from its exact text, and then by the name of its variant: serde's own tagged enums would parse JSON
/// inside it into a tree and lose it.
pub(crate) fn by_tag<'de, T, D: Deserializer<'de>>(
    deserializer: D,
    read: impl FnOnce(&JsonText) -> Result<T, JsonError>,
) -> Result<T, D::Error> {
    read(&JsonText::deserialize(deserializer)?).map_err(de::Error::custom)
}

/// A variant with fields, from the text of an object that has them beside its tag.
macro_rules! variant {
    ($text:ident, $variant:ident { $($field:ident: $type:ty),* $(,)? }) => {{
        #[derive(serde::Deserialize)]
        struct Fields {
            $($field: $type,)*
        }
        $text.to::<Fields>().map(|Fields { $($field),* }| Self::$variant { $($field),* })
    }};
}

pub(crate) use variant;

/// Accepts exactly the values that [`JsonText::parse_strict`] accepts, without keeping them.
struct Strict;

impl<'de> Deserialize<'de> for Strict {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(StrictVisitor)
    }
}

struct StrictVisitor;

fn check_text<E: de::Error>(text: &str) -> Result<(), E> {
    if text.contains('\0') { Err(E::custom("a string holds a NUL character")) } else { Ok(()) }
}

impl<'de> Visitor<'de> for StrictVisitor {
    type Value = Strict;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a JSON value")
    }

    fn visit_bool<E>(self, _: bool) -> Result<Strict, E> {
        Ok(Strict)
    }

    fn visit_i64<E>(self, _: i64) -> Result<Strict, E> {
        Ok(Strict)
    }

    fn visit_u64<E>(self, _: u64) -> Result<Strict, E> {
        Ok(Strict)
    }

    fn visit_f64<E>(self, _: f64) -> Result<Strict, E> {
        Ok(Strict)
    }

    fn visit_unit<E>(self) -> Result<Strict, E> {
        Ok(Strict)
    }

    fn visit_str<E: de::Error>(self, text: &str) -> Result<Strict, E> {
        check_text(text)?;
        Ok(Strict)
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<Strict, A::Error> {
        while seq.next_element::<Strict>()?.is_some() {}
        Ok(Strict)
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Strict, A::Error> {
        /// Object key, borrowed if it has no escapes.
        #[derive(Deserialize)]
        #[serde(transparent)]
        struct Key<'a>(#[serde(borrow)] Cow<'a, str>);

        let mut names = BTreeSet::new();
        while let Some(Key(key)) = map.next_key()? {
            check_text(&key)?;
            map.next_value::<Strict>()?;
            if let Some(key) = names.replace(key) {
                return Err(de::Error::custom(format!("the key {key:?} occurs twice")));
            }
        }
        Ok(Strict)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_is_kept_exactly() {
        let text = r#"{ "b":1.0000000000000000001, "a":"\u00e9", "n":123456789012345678901234567890 }"#;
        let json = JsonText::parse_strict(text).unwrap();
        assert_eq!(json.as_str(), text);
        let back: JsonText = serde_json::from_str(&serde_json::to_string(&json).unwrap()).unwrap();
        assert_eq!(back.as_str(), text);
    }

    #[test]
    fn text_that_was_parsed_before_is_the_same_value() {
        for text in [r#" {"b": 1.00,"a":"\u00e9"} "#, "\t[1, 2]\r\n", "null", r#""x y ""#] {
            let (before, read) = (JsonText::from_parsed(text), JsonText::parse(text).unwrap());
            assert_eq!(before, read);
            assert_eq!(serde_json::to_string(&before).unwrap(), serde_json::to_string(&read).unwrap());
            let both = (before.to::<serde_json::Value>(), read.to::<serde_json::Value>());
            assert_eq!(both.0, both.1);
        }
    }

    #[test]
    fn ambiguous_json_is_refused() {
        let deep = format!("{}1{}", "[".repeat(200), "]".repeat(200));
        for bad in [
            "",
            "{",
            "{} {}",
            r#"{"a":1,"a":2}"#,
            r#"{"x":{"a":1,"\u0061":2}}"#,
            r#"["\u0000"]"#,
            r#"["\ud800"]"#,
            r#"{"\u0000":1}"#,
            "1e999",
            "[1,]",
            deep.as_str(),
        ] {
            assert!(JsonText::parse_strict(bad).is_err(), "{bad}");
        }
    }

    #[test]
    fn a_nested_value_keeps_its_text_through_serde() {
        #[derive(Serialize, Deserialize)]
        struct Line {
            input: JsonText,
        }
        let line = r#"{"input":{"x": 1e2,"y":[ ]}}"#;
        let parsed: Line = serde_json::from_str(line).unwrap();
        assert_eq!(parsed.input.as_str(), r#"{"x": 1e2,"y":[ ]}"#);
        assert_eq!(serde_json::to_string(&parsed).unwrap(), line);
    }
}
