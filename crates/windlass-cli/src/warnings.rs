//! Warnings of a run: one line each on standard error, and an entry each of JSON results.

use crate::display::{denied_note, unpriced};
use crate::failure::of_result;
use crate::terminal::clean_line;
use std::collections::HashSet;
use windlass::event::{HookOutcome, HookVerdict};
use windlass::permission::{Behavior, Decision, DecisionReason};
use windlass::{EventKind, Outcome, PermissionAnswer, event::Status};

/// A warning, on one line.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct RunWarning {
    pub(crate) text: String,
    pub(crate) place: WarningPlace,
}

/// The place in which a person reads a warning.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum WarningPlace {
    /// A line of its own, in every format.
    Note,
    /// The lines about the activity of a run; without them a line of its own.
    Activity,
    /// The line that says how the run ended.
    Ending,
}

/// The warnings of a run until now.
#[derive(Debug, Default)]
pub(crate) struct RunWarnings {
    /// Models without a price that were reported: each agent reports them again.
    unpriced: HashSet<String>,
}

impl RunWarnings {
    /// Returns the warnings of an event.
    pub(crate) fn of(&mut self, kind: &EventKind) -> Vec<RunWarning> {
        let warning = |place, text: String| RunWarning { text: clean_line(&text), place };
        match kind {
            EventKind::PermissionResolved { tool, decision, .. } => {
                denial(tool, decision).map(|(place, text)| warning(place, text)).into_iter().collect()
            }
            EventKind::HookRan { event, outcome, .. } => {
                let effect = if event.is_gating() && is_refusal(outcome) { ", and the gate stays closed" } else { "" };
                let failed = outcome
                    .failures
                    .iter()
                    .map(|(hook, failure)| format!("the hook {hook} failed at {}{effect}: {failure}", event.as_str()));
                let messages = outcome.system_messages.iter().map(|message| format!("a hook says: {message}"));
                failed.chain(messages).map(|text| warning(WarningPlace::Note, text)).collect()
            }
            EventKind::Status(status) => {
                self.status(status).map(|text| warning(WarningPlace::Activity, text)).into_iter().collect()
            }
            EventKind::RunFinished(result) => match &result.outcome {
                Outcome::StoppedByHook { .. } | Outcome::PromptBlocked { .. } | Outcome::BackgroundStopped { .. } => {
                    of_result(result).map(|text| warning(WarningPlace::Ending, text)).into_iter().collect()
                }
                _ => Vec::new(),
            },
            _ => Vec::new(),
        }
    }

    fn status(&mut self, status: &Status) -> Option<String> {
        match status {
            Status::PriceUnknown { model } => self.unpriced.insert(model.clone()).then(|| unpriced(model)),
            Status::FallingBack { from, to } => Some(format!("{from} is overloaded; {to} takes over")),
            Status::CompactionFailed { message } => Some(format!("the conversation was not summarized: {message}")),
            Status::Notice { message } => Some(message.clone()),
            _ => None,
        }
    }
}

/// Returns the warning about a call that was denied, unless the person denied it.
fn denial(tool: &str, decision: &Decision) -> Option<(WarningPlace, String)> {
    if let Some(note) = denied_note(tool, decision) {
        return Some((WarningPlace::Note, note));
    }
    let is_news = decision.behavior == Behavior::Deny && decision.reason != DecisionReason::Host;
    is_news.then(|| (WarningPlace::Activity, format!("{tool} was denied: {}", decision.message)))
}

/// Returns `true` if hooks refuse the call or the prompt.
fn is_refusal(outcome: &HookOutcome) -> bool {
    let denies = |verdict: &HookVerdict| verdict.behavior == Behavior::Deny;
    outcome.block.is_some()
        || outcome.verdict.as_ref().is_some_and(denies)
        || matches!(outcome.answer, Some(PermissionAnswer::Deny { .. }))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_model_without_a_price_is_named_once() {
        let mut warnings = RunWarnings::default();
        let mut texts = |model: &str| {
            let said = warnings.of(&EventKind::Status(Status::PriceUnknown { model: model.to_owned() }));
            said.into_iter().map(|warning| warning.text).collect::<Vec<_>>()
        };
        assert!(texts("a")[0].contains("price of a is not known"));
        assert!(texts("a").is_empty() && texts("b").len() == 1);
    }
}
