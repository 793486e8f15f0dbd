//! Checked part of `windlass doctor`, with its remedy.

use serde::Serialize;

/// State of a checked part.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub(super) enum CheckState {
    /// The checked part works.
    Ok,
    /// Works, with a limit that the user may not expect.
    Notice,
    /// Keeps windlass from working.
    Broken,
}

/// A checked part.
#[derive(Debug, Serialize)]
pub(super) struct Check {
    pub(super) name: &'static str,
    pub(super) state: CheckState,
    pub(super) text: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) advice: Option<String>,
}

impl Check {
    pub(super) fn ok(name: &'static str, text: impl Into<String>) -> Self {
        Self { name, state: CheckState::Ok, text: text.into(), advice: None }
    }

    pub(super) fn notice(name: &'static str, text: impl Into<String>) -> Self {
        Self { state: CheckState::Notice, ..Self::ok(name, text) }
    }

    pub(super) fn broken(name: &'static str, text: impl Into<String>) -> Self {
        Self { state: CheckState::Broken, ..Self::ok(name, text) }
    }

    pub(super) fn advice(mut self, advice: impl Into<String>) -> Self {
        self.advice = Some(advice.into());
        self
    }
}
