//! Faults of an input, in words for the model.

use crate::place::ValuePointer;
use serde_json::Value;
use std::fmt::Write;

/// Maximum number of faults of an input that are reported at once.
const MAX_FAULTS: usize = 5;
/// Maximum number of characters of one fault.
const MAX_TEXT: usize = 300;
/// Maximum number of characters of a value in a fault: the value can be a whole file.
const MAX_VALUE: usize = 160;

/// The faults of one check.
#[derive(Debug)]
pub(crate) struct SchemaFaults {
    texts: Vec<String>,
    count: usize,
    /// `true` if only the answer matters, and not the texts of the faults.
    probing: bool,
}

impl SchemaFaults {
    /// Collects the texts of faults.
    pub(crate) fn collecting() -> Self {
        Self { texts: Vec::new(), count: 0, probing: false }
    }

    /// Only finds out whether there are faults.
    pub(crate) fn probing() -> Self {
        Self { texts: Vec::new(), count: 0, probing: true }
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.count == 0
    }

    /// `true` if more faults would change nothing.
    pub(crate) fn is_decided(&self) -> bool {
        self.probing && self.count > 0
    }

    pub(crate) fn add(&mut self, at: &ValuePointer<'_>, text: impl FnOnce() -> String) {
        self.count += 1;
        if self.probing || self.texts.len() >= MAX_FAULTS {
            return;
        }
        let place = at.to_string();
        let place = if place.is_empty() { "the input" } else { &place };
        self.texts.push(format!("{}: {}", clipped(place, MAX_TEXT), clipped(&text(), MAX_TEXT)));
    }

    pub(crate) fn into_text(self) -> String {
        let mut text = self.texts.join("; ");
        let more = self.count.saturating_sub(self.texts.len());
        if more > 0 {
            // Writing to a string cannot fail.
            let _ = write!(text, "; and {more} more");
        }
        text
    }
}

/// Returns a value as quoted in a fault.
pub(crate) fn shown(value: &Value) -> String {
    clipped(&value.to_string(), MAX_VALUE)
}

/// Returns names in quotes, separated by commas.
pub(crate) fn quoted<'a>(names: impl IntoIterator<Item = &'a str>) -> String {
    let names: Vec<String> = names.into_iter().map(|name| format!("'{name}'")).collect();
    names.join(", ")
}

pub(crate) fn clipped(text: &str, most: usize) -> String {
    match text.char_indices().nth(most) {
        None => text.to_owned(),
        Some((at, _)) => format!("{}…", text.get(..at).unwrap_or_default()),
    }
}
