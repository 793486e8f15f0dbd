//! Targets of references inside a schema.

use serde_json::{Map, Value};
use std::collections::BTreeMap;

/// Names of the members that give a schema an address.
const ADDRESSES: [&str; 4] = ["$id", "id", "$anchor", "$dynamicAnchor"];

/// The addresses of a document, as JSON pointers from its root.
#[derive(Debug, Default)]
pub(crate) struct Addresses {
    /// Pointers by the `$id` of a schema, as written, with the anchor after `#` if there is one.
    known: BTreeMap<String, String>,
}

impl Addresses {
    pub(crate) fn of(document: &Value) -> Self {
        let mut addresses = Self::default();
        // Hardly any schema of a tool has an address, and building pointers to all parts takes long.
        if has_address(document) {
            addresses.collect(document, "", "");
        }
        addresses
    }

    /// Nesting is bounded by the reader of the JSON.
    fn collect(&mut self, value: &Value, pointer: &str, base: &str) {
        match value {
            Value::Object(map) => {
                let text = |name: &str| map.get(name).and_then(Value::as_str);
                let id = text("$id").or_else(|| text("id")).map(|id| id.trim_end_matches('#'));
                // Before draft 2019-09 an anchor was an id that is a fragment.
                let own = id.filter(|id| !id.starts_with('#') && !id.is_empty());
                if let Some(id) = own {
                    self.known.entry(id.to_owned()).or_insert_with(|| pointer.to_owned());
                }
                let base = own.unwrap_or(base);
                let old = id.and_then(|id| id.strip_prefix('#'));
                for anchor in [text("$anchor"), text("$dynamicAnchor"), old].into_iter().flatten() {
                    self.known.entry(format!("{base}#{anchor}")).or_insert_with(|| pointer.to_owned());
                    self.known.entry(format!("#{anchor}")).or_insert_with(|| pointer.to_owned());
                }
                for (key, value) in map.iter().filter(|(key, _)| !matches!(key.as_str(), "const" | "enum")) {
                    self.collect(value, &below(pointer, key), base);
                }
            }
            Value::Array(items) => {
                for (at, value) in items.iter().enumerate() {
                    self.collect(value, &below(pointer, &at.to_string()), base);
                }
            }
            _ => {}
        }
    }

    /// Returns the pointer that a reference leads to. `base` is the pointer to the schema that contains the reference.
    pub(crate) fn resolve(&self, reference: &str, base: &str) -> Option<String> {
        let (address, fragment) = reference.split_once('#').unwrap_or((reference, ""));
        let fragment = decoded(fragment);
        let root = if address.is_empty() { base.to_owned() } else { self.known.get(address)?.clone() };
        if fragment.is_empty() {
            return Some(root);
        }
        if fragment.starts_with('/') {
            return Some(root + &fragment);
        }
        self.known.get(&format!("{address}#{fragment}")).cloned()
    }
}

/// `true` if a document contains an address anywhere.
fn has_address(value: &Value) -> bool {
    let is_one = |map: &Map<String, Value>| ADDRESSES.iter().any(|name| map.get(*name).is_some_and(Value::is_string));
    match value {
        Value::Object(map) => is_one(map) || map.values().any(has_address),
        Value::Array(items) => items.iter().any(has_address),
        _ => false,
    }
}

/// Returns the pointer of a member.
pub(crate) fn below(pointer: &str, key: &str) -> String {
    format!("{pointer}/{}", key.replace('~', "~0").replace('/', "~1"))
}

/// Decodes percent-encoding; other text stays unchanged.
fn decoded(text: &str) -> String {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.as_bytes();
    while let Some((&byte, after)) = rest.split_first() {
        let code = after.get(..2).and_then(|hex| std::str::from_utf8(hex).ok());
        match code.and_then(|hex| u8::from_str_radix(hex, 16).ok()).filter(|_| byte == b'%') {
            Some(read) => {
                bytes.push(read);
                rest = after.get(2..).unwrap_or_default();
            }
            None => {
                bytes.push(byte);
                rest = after;
            }
        }
    }
    String::from_utf8_lossy(&bytes).into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn addresses_are_found_wherever_they_stand() {
        let document = json!({
            "properties": { "id": { "type": "string" } },
            "$defs": {
                "a": { "$id": "urn:a", "anyOf": [{ "$anchor": "deep" }] },
                "b": { "allOf": [{ "id": "#old" }] },
            },
        });
        let addresses = Addresses::of(&document);
        let found = |reference: &str| addresses.resolve(reference, "");
        assert_eq!(found("urn:a").as_deref(), Some("/$defs/a"));
        assert_eq!(found("urn:a#deep").as_deref(), Some("/$defs/a/anyOf/0"));
        assert_eq!(found("#deep").as_deref(), Some("/$defs/a/anyOf/0"));
        assert_eq!(found("#old").as_deref(), Some("/$defs/b/allOf/0"));
        assert_eq!(found("#none"), None);
        for address in [json!({ "$dynamicAnchor": "x" }), json!([{ "$anchor": "x" }]), json!({ "a": { "id": "#x" } })] {
            assert!(Addresses::of(&address).resolve("#x", "").is_some(), "{address}");
        }
        // A property with such a name is not an address.
        assert!(Addresses::of(&json!({ "properties": { "id": { "type": "string" } } })).known.is_empty());
    }
}
