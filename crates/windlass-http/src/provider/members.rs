//! Members of a user in the body of a request.

use std::collections::BTreeMap;
use windlass_types::JsonText;

/// Merges the members of another object into the body, a JSON object. Of two members of one name that of `extra` wins;
/// two objects are merged in the same way. If either is no object, the body stays unchanged.
pub fn with_members(body: Vec<u8>, extra: &JsonText) -> Vec<u8> {
    let merged = || {
        let body = std::str::from_utf8(&body).ok()?;
        Some(merged(&JsonText::from_parsed(body), extra)?.as_str().as_bytes().to_vec())
    };
    match merged() {
        Some(merged) => merged,
        None => body,
    }
}

fn merged(body: &JsonText, extra: &JsonText) -> Option<JsonText> {
    let mut members: BTreeMap<String, JsonText> = body.to().ok()?;
    let extra: BTreeMap<String, JsonText> = extra.to().ok()?;
    for (name, value) in extra {
        let both = members.get(&name).filter(|_| value.is_object()).and_then(|ours| merged(ours, &value));
        members.insert(name, both.unwrap_or(value));
    }
    JsonText::of(&members).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn with(body: &str, extra: &str) -> String {
        String::from_utf8(with_members(body.into(), &JsonText::parse(extra).unwrap())).unwrap()
    }

    #[test]
    fn members_of_the_user_win_and_the_rest_keeps_its_text() {
        assert_eq!(
            with(r#"{"a":1.50,"b":{"c":1,"d":2}}"#, r#"{"b":{"c":3},"e":[1]}"#),
            r#"{"a":1.50,"b":{"c":3,"d":2},"e":[1]}"#
        );
        assert_eq!(with(r#"{"a":{"b":1}}"#, r#"{"a":null}"#), r#"{"a":null}"#);
        assert_eq!(with(r#"{"a":1}"#, "[1]"), r#"{"a":1}"#);
    }
}
