//! Values as JSON Schema compares them: 1 and 1.0 are the same number.

use crate::node::Kind;
use serde_json::{Map, Number, Value};
use std::cmp::Ordering;
use std::collections::BTreeMap;

pub(crate) fn is_kind(value: &Value, kind: Kind) -> bool {
    match kind {
        Kind::Null => value.is_null(),
        Kind::Boolean => value.is_boolean(),
        Kind::Number => value.is_number(),
        Kind::String => value.is_string(),
        Kind::Array => value.is_array(),
        Kind::Object => value.is_object(),
        Kind::Integer => matches!(value, Value::Number(number) if is_integer(number)),
    }
}

fn is_integer(number: &Number) -> bool {
    whole(number).is_some() || number.as_f64().is_some_and(|float| float.is_finite() && float.fract() == 0.0)
}

fn whole(number: &Number) -> Option<i128> {
    number.as_i64().map(i128::from).or_else(|| number.as_u64().map(i128::from))
}

fn float(number: &Number) -> f64 {
    number.as_f64().unwrap_or(f64::NAN)
}

pub(crate) fn compare(a: &Number, b: &Number) -> Option<Ordering> {
    match (whole(a), whole(b)) {
        (Some(a), Some(b)) => Some(a.cmp(&b)),
        _ => float(a).partial_cmp(&float(b)),
    }
}

/// `true` if a number is a multiple of a number above zero. Decimals are taken as written, so 0.3 is a multiple of 0.1.
pub(crate) fn is_multiple(number: &Number, of: &Number) -> bool {
    exact_remainder(&number.to_string(), &of.to_string())
        .map_or_else(|| float(number) % float(of) == 0.0, |remainder| remainder == 0)
}

/// Returns the remainder of two decimals, in units of the last digit of either; `None` if the numbers are too large for
/// that.
fn exact_remainder(number: &str, of: &str) -> Option<i128> {
    let ((number, exponent), (of, of_exponent)) = (decimal(number)?, decimal(of)?);
    let unit = exponent.min(of_exponent);
    let scaled = |digits: i128, exponent: i32| {
        let power = u32::try_from(exponent.checked_sub(unit)?).ok()?;
        digits.checked_mul(10_i128.checked_pow(power)?)
    };
    scaled(number, exponent)?.checked_rem(scaled(of, of_exponent)?)
}

/// Returns a decimal as digits and a power of ten.
fn decimal(text: &str) -> Option<(i128, i32)> {
    let (mantissa, exponent) = text.split_once(['e', 'E']).unwrap_or((text, "0"));
    let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
    let digits = format!("{whole}{fraction}").parse().ok()?;
    let exponent: i32 = exponent.parse().ok()?;
    Some((digits, exponent.checked_sub(i32::try_from(fraction.len()).ok()?)?))
}

pub(crate) fn same(a: &Value, b: &Value) -> bool {
    match (a, b) {
        (Value::Number(a), Value::Number(b)) => compare(a, b) == Some(Ordering::Equal),
        (Value::Array(a), Value::Array(b)) => a.len() == b.len() && a.iter().zip(b).all(|(a, b)| same(a, b)),
        (Value::Object(a), Value::Object(b)) => a.len() == b.len() && a.iter().all(|(key, a)| is_at(b, key, a)),
        _ => a == b,
    }
}

fn is_at(map: &Map<String, Value>, key: &str, value: &Value) -> bool {
    map.get(key).is_some_and(|other| same(value, other))
}

/// `true` if no two items are the same, in time that grows with the items and not with their square.
pub(crate) fn are_unique(items: &[Value]) -> bool {
    let mut texts: Vec<String> = items.iter().map(|item| canonical(item).to_string()).collect();
    texts.sort_unstable();
    texts.windows(2).all(|pair| pair.first() != pair.last())
}

/// Returns one form for all values that are the same.
fn canonical(value: &Value) -> Value {
    match value {
        Value::Number(number) => Value::Number(canonical_number(number)),
        Value::Array(items) => items.iter().map(canonical).collect(),
        Value::Object(map) => {
            let sorted: BTreeMap<&String, Value> = map.iter().map(|(key, value)| (key, canonical(value))).collect();
            sorted.into_iter().map(|(key, value)| (key.clone(), value)).collect()
        }
        other => other.clone(),
    }
}

fn canonical_number(number: &Number) -> Number {
    /// Every whole number up to this one has its own float.
    const EXACT: f64 = 9_007_199_254_740_992.0;
    let float = float(number);
    if whole(number).is_none() && float.fract() == 0.0 && float.abs() <= EXACT {
        #[expect(clippy::cast_possible_truncation, reason = "it is whole and small enough")]
        return Number::from(float as i64);
    }
    number.clone()
}
