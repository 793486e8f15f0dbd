//! Numbers without a fraction, as other programs write them.

use serde::de::{Deserialize, Deserializer, Error, Unexpected, Visitor};
use std::fmt;

/// Largest number that JSON of other programs can represent as a float without losing digits: 2^53.
const MAX_EXACT: f64 = 9_007_199_254_740_992.0;

/// A count in JSON of another program. `5` and `5.0` are the same count: languages with one type of number write either.
///
/// ```
/// use windlass_types::WholeNumber;
///
/// for text in ["5", "5.0", "5e0"] {
///     assert_eq!(serde_json::from_str::<WholeNumber>(text).unwrap().get(), 5);
/// }
/// for text in ["-1", "5.5", "\"5\"", "null", "1e300"] {
///     assert!(serde_json::from_str::<WholeNumber>(text).is_err());
/// }
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, PartialOrd, Ord, Hash)]
pub struct WholeNumber(u64);

impl WholeNumber {
    /// The count.
    #[must_use]
    pub fn get(self) -> u64 {
        self.0
    }

    /// Reads a count that may be `null`, for `#[serde(deserialize_with)]` on a field with a default.
    ///
    /// # Errors
    /// The value is neither `null` nor a count.
    pub fn optional<'de, D: Deserializer<'de>, T: TryFrom<u64>>(from: D) -> Result<Option<T>, D::Error> {
        let Some(Self(number)) = Option::<Self>::deserialize(from)? else { return Ok(None) };
        T::try_from(number).map(Some).map_err(|_| D::Error::invalid_value(Unexpected::Unsigned(number), &Whole))
    }
}

impl<'de> Deserialize<'de> for WholeNumber {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_u64(Whole)
    }
}

struct Whole;

impl Visitor<'_> for Whole {
    type Value = WholeNumber;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a number without a fraction, not below zero")
    }

    fn visit_u64<E: Error>(self, number: u64) -> Result<WholeNumber, E> {
        Ok(WholeNumber(number))
    }

    fn visit_i64<E: Error>(self, number: i64) -> Result<WholeNumber, E> {
        u64::try_from(number).map(WholeNumber).map_err(|_| E::invalid_value(Unexpected::Signed(number), &self))
    }

    fn visit_f64<E: Error>(self, number: f64) -> Result<WholeNumber, E> {
        if number.fract() != 0.0 || !(0.0..=MAX_EXACT).contains(&number) {
            return Err(E::invalid_value(Unexpected::Float(number), &self));
        }
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "the bounds are checked above")]
        Ok(WholeNumber(number as u64))
    }
}
