//! Facts in a cassette: the provider's data about its models, and the surroundings of sessions.

use std::collections::BTreeMap;
use windlass_types::JsonText;

/// Fact: model id of a name.
pub(super) const RESOLVED: &str = "model_id";
/// Fact: description of a model.
pub(super) const INFO: &str = "model_info";
/// Fact: model for which a request is booked, by the requested and the answering model; empty for the requested one.
pub(super) const BOOKED: &str = "booked_model";

/// Values by the name of the fact and its subject, each with the number of calls before it.
#[derive(Debug, Default)]
pub(super) struct Facts(BTreeMap<(String, String), Vec<(usize, JsonText)>>);

impl Facts {
    /// Adds a value that holds after `calls` calls. Returns `false` if it is the present one.
    pub(super) fn add(&mut self, fact: &str, of: &str, calls: usize, value: JsonText) -> bool {
        let values = self.0.entry((fact.to_owned(), of.to_owned())).or_default();
        if values.last().is_some_and(|(_, last)| *last == value) {
            return false;
        }
        values.push((calls, value));
        true
    }

    /// Returns the value that holds after `calls` calls, else the first one.
    pub(super) fn at(&self, fact: &str, of: &str, calls: usize) -> Option<&JsonText> {
        let values = self.0.get(&(fact.to_owned(), of.to_owned()))?;
        let known = values.iter().rev().find(|(after, _)| *after <= calls).or_else(|| values.first());
        known.map(|(_, value)| value)
    }
}

/// Returns the subject of [`BOOKED`].
pub(super) fn booked(asked: &str, answered: &str) -> String {
    format!("{asked} {answered}")
}
