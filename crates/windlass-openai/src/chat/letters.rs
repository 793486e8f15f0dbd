//! Texts of chunks that end in the middle of a character.
//!
//! Servers that escape all but ASCII cut a text between any two UTF-16 units: `"\\ud83d"` in one chunk, `"\\ude00"` in
//! the next. The first half is kept until the second one arrives for the same place.

use super::template::LetterTarget;
use crate::error::protocol;
use serde::de::{Deserializer, Error, Visitor};
use serde_json::value::RawValue;
use std::fmt;
use windlass_model::ModelError;

/// First half of a surrogate pair, and the place of the text that it ended.
#[derive(Debug, Default)]
pub(super) struct PendingHalf(Option<(LetterTarget, u16)>);

impl PendingHalf {
    /// `true` if a text has ended in the middle of a character.
    pub(super) fn is_pending(&self) -> bool {
        self.0.is_some()
    }

    /// Discards the pending half, and returns its place for a replacement character.
    ///
    /// # Errors
    /// Fails if the half belongs to the arguments of a call, which are never guessed.
    pub(super) fn abandon(&mut self) -> Result<Option<LetterTarget>, ModelError> {
        match self.0.take() {
            Some((LetterTarget::Arguments { .. }, _)) => Err(unreadable("arguments")),
            other => Ok(other.map(|(place, _)| place)),
        }
    }

    /// Decodes a string literal that continues the text of `place`.
    ///
    /// # Errors
    /// Fails if the literal is not a string, or if arguments hold half of a character.
    pub(super) fn decode(&mut self, place: &LetterTarget, json: &RawValue) -> Result<String, ModelError> {
        let is_exact = matches!(place, LetterTarget::Arguments { .. });
        let what = if is_exact { "arguments" } else { "text" };
        let mut all: Vec<u16> = self.0.take().map(|(_, half)| half).into_iter().collect();
        units(&bytes(json.get()).ok_or_else(|| unreadable(what))?, &mut all);
        if let Some(half) = all.pop_if(|last| (0xd800..0xdc00).contains(last)) {
            self.0 = Some((place.clone(), half));
        }
        let mut text = String::with_capacity(all.len());
        for unit in char::decode_utf16(all) {
            match unit {
                Ok(letter) => text.push(letter),
                Err(_) if is_exact => return Err(unreadable(what)),
                Err(_) => text.push(char::REPLACEMENT_CHARACTER),
            }
        }
        Ok(text)
    }

    /// `true` if a text of this place continues the one that was cut.
    pub(super) fn continues(&self, place: &LetterTarget) -> bool {
        match (&self.0, place) {
            (Some((LetterTarget::Arguments { index: before, .. }, _)), LetterTarget::Arguments { index, .. }) => {
                before.is_none() || index.is_none() || before == index
            }
            (Some((before, _)), place) => before == place,
            (None, _) => false,
        }
    }
}

pub(super) fn unreadable(what: &str) -> ModelError {
    protocol(format_args!("the {what} of a chunk cannot be read"))
}

/// Returns the bytes of a string literal, in which half of a surrogate pair has three bytes of its own (WTF-8).
fn bytes(json: &str) -> Option<Vec<u8>> {
    struct Bytes;

    impl Visitor<'_> for Bytes {
        type Value = Vec<u8>;

        fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
            f.write_str("a string")
        }

        fn visit_bytes<E: Error>(self, bytes: &[u8]) -> Result<Vec<u8>, E> {
            Ok(bytes.to_vec())
        }
    }

    json.starts_with('"').then(|| serde_json::Deserializer::from_str(json).deserialize_bytes(Bytes).ok())?
}

/// Appends the UTF-16 units of WTF-8.
fn units(bytes: &[u8], all: &mut Vec<u16>) {
    let mut rest = bytes;
    while let Err(error) = std::str::from_utf8(rest) {
        let (text, behind) = rest.split_at(error.valid_up_to());
        all.extend(String::from_utf8_lossy(text).encode_utf16());
        rest = match behind {
            [0xed, second, third, behind @ ..] => {
                all.push(0xd000 | u16::from(second & 0x3f) << 6 | u16::from(third & 0x3f));
                behind
            }
            [_, behind @ ..] => behind,
            [] => behind,
        };
    }
    all.extend(String::from_utf8_lossy(rest).encode_utf16());
}

#[cfg(test)]
mod tests {
    use super::*;

    fn json(text: &str) -> Box<RawValue> {
        RawValue::from_string(text.to_owned()).unwrap()
    }

    #[test]
    fn the_halves_of_a_character_are_joined_over_chunks() {
        let mut half = PendingHalf::default();
        for (literal, text) in [
            (r#""before ""#, "before "),
            (r#""middle \ud83d""#, "middle "),
            (r#""\ude00 \u00e9 \ud83d\ude00 \ud83d""#, "😀 é 😀 "),
            (r#""""#, ""),
            (r#""\ude00""#, "😀"),
        ] {
            assert_eq!(half.decode(&LetterTarget::Content, &json(literal)).unwrap(), text, "{literal}");
        }
        assert!(!half.is_pending());
    }

    #[test]
    fn a_half_alone_is_replaced_in_texts_and_an_error_in_arguments() {
        let arguments = LetterTarget::Arguments { index: Some(0), id: None };
        for literal in [r#""a\ude00b""#, r#""a\ud83db""#, r#""\ud83d\u0041""#] {
            let mut half = PendingHalf::default();
            assert!(half.decode(&LetterTarget::Content, &json(literal)).unwrap().contains('\u{fffd}'), "{literal}");
            half.decode(&arguments, &json(literal)).unwrap_err();
        }
        let mut half = PendingHalf::default();
        assert_eq!(half.decode(&LetterTarget::Content, &json(r#""a\ud83d""#)).unwrap(), "a");
        assert_eq!(half.abandon().unwrap(), Some(LetterTarget::Content));
        assert_eq!(half.decode(&arguments, &json(r#""a\ud83d""#)).unwrap(), "a");
        half.abandon().unwrap_err();
        for literal in ["5", "{}", "true"] {
            half.decode(&LetterTarget::Content, &json(literal)).unwrap_err();
        }
    }
}
