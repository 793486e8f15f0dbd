//! Comparison of JSON values by the rules of JSON Schema, where 1 and 1.0 are equal.

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
    as_integer(number).is_some() || number.as_f64().is_some_and(|float| float.is_finite() && float.fract() == 0.0)
}

fn as_integer(number: &Number) -> Option<i128> {
    number.as_i64().map(i128::from).or_else(|| number.as_u64().map(i128::from))
}

fn as_float(number: &Number) -> f64 {
    number.as_f64().unwrap_or(f64::NAN)
}

pub(crate) fn compare(a: &Number, b: &Number) -> Option<Ordering> {
    match (as_integer(a), as_integer(b)) {
        (Some(a), Some(b)) => Some(a.cmp(&b)),
        _ => as_float(a).partial_cmp(&as_float(b)),
    }
}

/// `true` if `number` is a multiple of `divisor`, which is above zero. Decimals are exact, so 0.3 is a multiple of 0.1.
pub(crate) fn is_multiple(number: &Number, divisor: &Number) -> bool {
    exact_remainder(&number.to_string(), &divisor.to_string())
        .map_or_else(|| as_float(number) % as_float(divisor) == 0.0, |remainder| remainder == 0)
}

/// Returns the exact remainder of two decimals, in units of the finer last digit; `None` on overflow.
fn exact_remainder(number: &str, divisor: &str) -> Option<i128> {
    let ((number, exponent), (divisor, divisor_exponent)) = (decimal(number)?, decimal(divisor)?);
    let unit = exponent.min(divisor_exponent);
    let scaled = |digits: i128, exponent: i32| {
        let power = u32::try_from(exponent.checked_sub(unit)?).ok()?;
        digits.checked_mul(10_i128.checked_pow(power)?)
    };
    scaled(number, exponent)?.checked_rem(scaled(divisor, divisor_exponent)?)
}

/// Returns the digits and the exponent of a decimal, whose value is `digits * 10^exponent`.
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
        (Value::Object(a), Value::Object(b)) => {
            a.len() == b.len() && a.iter().all(|(key, a)| has_equal_member(b, key, a))
        }
        _ => a == b,
    }
}

fn has_equal_member(map: &Map<String, Value>, key: &str, value: &Value) -> bool {
    map.get(key).is_some_and(|other| same(value, other))
}

/// `true` if no two items are equal. Sorts the canonical texts, because a comparison of all pairs is slower.
pub(crate) fn are_unique(items: &[Value]) -> bool {
    let mut texts: Vec<String> = items.iter().map(|item| canonical(item).to_string()).collect();
    texts.sort_unstable();
    texts.windows(2).all(|pair| pair.first() != pair.last())
}

/// Returns the canonical form of a value: equal values have one form, except whole floats beyond 2^53.
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
    /// Largest magnitude up to which every whole number is an exact `f64`: 2^53.
    const EXACT: f64 = 9_007_199_254_740_992.0;
    let float = as_float(number);
    if as_integer(number).is_none() && float.fract() == 0.0 && float.abs() <= EXACT {
        #[expect(clippy::cast_possible_truncation, reason = "it is whole and small enough")]
        return Number::from(float as i64);
    }
    number.clone()
}
