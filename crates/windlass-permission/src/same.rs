//! Equality of JSON values.

use serde_json::value::RawValue;
use std::collections::BTreeMap;
use windlass_types::JsonText;

/// Returns `true` if two texts are the same JSON value: spaces, escapes, the order of keys and the spelling of numbers
/// are ignored. Numbers that only look the same after rounding are different.
#[must_use]
pub fn same_json(a: &JsonText, b: &JsonText) -> bool {
    a == b || same(a.as_str(), b.as_str())
}

fn same(a: &str, b: &str) -> bool {
    type Object<'a> = BTreeMap<String, &'a RawValue>;
    fn read<'a, T: serde::Deserialize<'a>>(a: &'a str, b: &'a str) -> Option<(T, T)> {
        Some((serde_json::from_str(a).ok()?, serde_json::from_str(b).ok()?))
    }
    let (a, b) = (a.trim(), b.trim());
    if a == b {
        return true;
    }
    match (a.chars().next(), b.chars().next()) {
        (Some('{'), Some('{')) => read::<Object<'_>>(a, b).is_some_and(|(a, b)| {
            a.len() == b.len()
                && a.iter().zip(&b).all(|((name, a), (other, b))| name == other && same(a.get(), b.get()))
        }),
        (Some('['), Some('[')) => read::<Vec<&RawValue>>(a, b)
            .is_some_and(|(a, b)| a.len() == b.len() && a.iter().zip(&b).all(|(a, b)| same(a.get(), b.get()))),
        (Some('"'), Some('"')) => read::<String>(a, b).is_some_and(|(a, b)| a == b),
        (Some('-' | '0'..='9'), Some('-' | '0'..='9')) => same_number(a, b),
        _ => false,
    }
}

fn same_number(a: &str, b: &str) -> bool {
    /// Below this every whole number is a float of its own.
    const EXACT: f64 = 9_007_199_254_740_992.0;
    let whole = |text: &str| text.bytes().all(|byte| byte.is_ascii_digit() || byte == b'-');
    match (whole(a), whole(b)) {
        (true, true) => false,
        _ => match (a.parse::<f64>(), b.parse::<f64>()) {
            (Ok(x), Ok(y)) => x == y && (x.abs() < EXACT || (!whole(a) && !whole(b))),
            _ => false,
        },
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn spelling_does_not_count_but_values_do() {
        for (a, b, expected) in [
            (r#"{"a":1,"b":"\u00e9"}"#, r#"{ "b": "é", "a": 1 }"#, true),
            (r#"{"a":[1,{"x":null}]}"#, r#"{"a": [1, {"x": null}]}"#, true),
            ("1.0", "1", true),
            ("1e3", "1000.0", true),
            ("123456789012345678901", "123456789012345678902", false),
            ("9007199254740993", "9007199254740992.0", false),
            ("-1", "1", false),
            ("0.1", "0.10", true),
            (r#"{"a":1}"#, r#"{"a":1,"b":2}"#, false),
            (r#"{"a":1}"#, r#"{"b":1}"#, false),
            ("[1,2]", "[2,1]", false),
            (r#""1""#, "1", false),
            ("true", "false", false),
            ("null", "null", true),
        ] {
            let (a, b) = (JsonText::parse(a).unwrap(), JsonText::parse(b).unwrap());
            assert_eq!(same_json(&a, &b), expected, "{a} {b}");
            assert_eq!(same_json(&b, &a), expected, "{b} {a}");
        }
    }
}
