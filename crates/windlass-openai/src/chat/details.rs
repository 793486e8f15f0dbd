//! `reasoning_details` of OpenRouter: a list that is sent back in order and unchanged.

use serde_json::value::RawValue;
use std::borrow::Cow;
use std::collections::BTreeMap;

type DetailMembers<'a> = BTreeMap<Cow<'a, str>, &'a RawValue>;

/// Members that come in pieces.
const PIECES: [&str; 3] = ["text", "summary", "data"];

/// Details that have arrived and were not passed on yet.
///
/// A stream has each detail in pieces: consecutive pieces with the same type, index and id are one detail. Unknown
/// members are kept.
#[derive(Debug, Default)]
pub(super) struct Details {
    list: Vec<ReasoningDetail>,
}

/// Details of one delta.
#[derive(Debug)]
pub(super) struct DetailDelta<'a>(Vec<DetailMembers<'a>>);

impl<'a> DetailDelta<'a> {
    /// Reads the details. A value that is no list of objects has none.
    pub(super) fn read(json: &'a RawValue) -> Self {
        Self(serde_json::from_str(json.get()).unwrap_or_default())
    }

    /// Returns the readable text of the details.
    pub(super) fn text(&self) -> String {
        let shown = |detail: &DetailMembers<'_>| ["text", "summary"].iter().find_map(|name| string(detail.get(*name)?));
        self.0.iter().filter_map(shown).collect()
    }
}

#[derive(Debug)]
struct ReasoningDetail {
    members: Vec<(String, DetailValue)>,
}

#[derive(Debug)]
enum DetailValue {
    Text(String),
    Json(Box<str>),
}

impl Details {
    /// Adds the details of a delta.
    pub(super) fn add(&mut self, delta: &DetailDelta<'_>) {
        for detail in &delta.0 {
            match self.list.last_mut() {
                Some(last) if last.continues_with(detail) => last.extend(detail),
                _ => self.list.push(ReasoningDetail::of(detail)),
            }
        }
    }

    /// Returns the list as JSON, to be passed on. `None` if nothing has arrived since the last call.
    pub(super) fn take(&mut self) -> Option<String> {
        if self.list.is_empty() {
            return None;
        }
        let list: Vec<String> = std::mem::take(&mut self.list).iter().map(ReasoningDetail::json).collect();
        Some(format!("[{}]", list.join(",")))
    }
}

impl ReasoningDetail {
    fn of(members: &DetailMembers<'_>) -> Self {
        let value = |name: &str, json: &RawValue| match string(json) {
            Some(text) if PIECES.contains(&name) => DetailValue::Text(text),
            _ => DetailValue::Json(json.get().into()),
        };
        Self { members: members.iter().map(|(name, json)| (name.clone().into_owned(), value(name, json))).collect() }
    }

    fn raw(&self, name: &str) -> Option<&str> {
        self.members.iter().find_map(|(member, value)| match value {
            DetailValue::Json(json) if member == name => Some(&**json).filter(|json| *json != "null"),
            _ => None,
        })
    }

    fn continues_with(&self, next: &DetailMembers<'_>) -> bool {
        let of_next = |name: &str| next.get(name).map(|json| json.get()).filter(|json| *json != "null");
        let same = |name: &str| self.raw(name) == of_next(name);
        // Encrypted data comes whole: two pieces are two details.
        let is_text = self.raw("type") != Some("\"reasoning.encrypted\"");
        let id = of_next("id").is_none() || same("id");
        is_text && same("type") && same("index") && id
    }

    fn extend(&mut self, next: &DetailMembers<'_>) {
        for (name, json) in next {
            let known = self.members.iter_mut().find(|(member, _)| member == name);
            match (known, string(json)) {
                (Some((_, DetailValue::Text(before))), Some(text)) => before.push_str(&text),
                (_, None) if json.get() == "null" => {}
                (Some((_, value)), Some(text)) if PIECES.contains(&&**name) => *value = DetailValue::Text(text),
                (Some((_, value)), _) => *value = DetailValue::Json(json.get().into()),
                (None, Some(text)) if PIECES.contains(&&**name) => {
                    self.members.push((name.clone().into_owned(), DetailValue::Text(text)));
                }
                (None, _) => self.members.push((name.clone().into_owned(), DetailValue::Json(json.get().into()))),
            }
        }
    }

    fn json(&self) -> String {
        let member = |(name, value): &(String, DetailValue)| {
            let value = match value {
                DetailValue::Text(text) => quoted(text),
                DetailValue::Json(json) => json.to_string(),
            };
            format!("{}:{value}", quoted(name))
        };
        let members: Vec<String> = self.members.iter().map(member).collect();
        format!("{{{}}}", members.join(","))
    }
}

fn string(json: &RawValue) -> Option<String> {
    super::chunk::literal(json.get())
}

fn quoted(text: &str) -> String {
    // A string always serialises.
    serde_json::to_string(text).unwrap_or_default()
}
