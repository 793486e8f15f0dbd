//! Reads the exit code and the output of an ended program as a hook outcome.

use crate::definition::OnFailure;
use crate::embedded;
use crate::events::{EventRow, OnTwo};
use crate::output::read_output;
use crate::texts::{HookTexts, preview};
use std::path::PathBuf;
use windlass_types::{HookCall, HookOutcome, JsonText};

/// A program that has ended by itself.
#[derive(Debug, Clone, Default)]
pub(crate) struct Ended {
    pub(crate) code: i32,
    pub(crate) stdout: String,
    /// `true` if `stdout` is complete.
    pub(crate) is_whole: bool,
    /// File with all of standard output, if there is one.
    pub(crate) file: Option<PathBuf>,
    pub(crate) stderr: String,
}

/// Hook and event that an output belongs to.
pub(crate) struct Said<'a> {
    pub(crate) hook: &'a str,
    pub(crate) call: &'a HookCall,
    pub(crate) on_failure: OnFailure,
    pub(crate) texts: &'a HookTexts,
}

/// Reads the exit code and the output of a program.
///
/// # Errors
/// The program failed: another exit code than 0 and 2, or an object that is not understood.
pub(crate) fn read_exit(said: &Said<'_>, ended: &Ended) -> Result<HookOutcome, String> {
    match ended.code {
        0 => match said.object(ended)? {
            Some(outcome) => Ok(outcome),
            None => Ok(said.text(ended)),
        },
        2 => said.two(ended),
        code => said.other(code, ended),
    }
}

impl Said<'_> {
    /// Reads the output object: the whole output, or, on a gate, an object embedded in other text.
    fn object(&self, ended: &Ended) -> Result<Option<HookOutcome>, String> {
        let text = ended.stdout.trim();
        let event = self.call.event();
        let begins = text.starts_with('{');
        if !begins && !event.is_gating() {
            return Ok(None);
        }
        if !ended.is_whole && (begins || !EventRow::of(event).text_is_context) {
            return Err("its output is too long to be read as JSON".to_owned());
        }
        if !begins {
            let Some(object) = embedded::answer(text)? else { return Ok(None) };
            let outcome = read_output(self.hook, self.call, &object, self.texts)?;
            return embedded::narrowing(self.hook, &outcome).map(Some);
        }
        let object = JsonText::parse(text).map_err(|error| format!("its output is not understood: {error}"))?;
        read_output(self.hook, self.call, &object, self.texts).map(Some)
    }

    /// Reads plain text, which is context for some events and otherwise only reaches the hook's log.
    fn text(&self, ended: &Ended) -> HookOutcome {
        let mut outcome = HookOutcome::default();
        let text = ended.stdout.trim();
        if EventRow::of(self.call.event()).text_is_context && !text.is_empty() {
            let text = match &ended.file {
                Some(file) => preview(text, file),
                None => self.texts.short(text.to_owned()),
            };
            outcome.additional_context.push(text);
        }
        outcome
    }

    /// Reads exit code 2, which an object can explain and not undo.
    fn two(&self, ended: &Ended) -> Result<HookOutcome, String> {
        let mut outcome = self.object(ended).ok().flatten().unwrap_or_default();
        let text = ended.stderr.trim();
        match EventRow::of(self.call.event()).on_two {
            OnTwo::Blocks => {
                outcome.updated_input = None;
                if !is_refusal(&outcome) {
                    let reason = if text.is_empty() { "A hook blocked this." } else { text };
                    let reason = self.texts.short(reason.to_owned());
                    outcome.merge(HookOutcome::refused(self.call.event(), self.hook, reason));
                }
                Ok(outcome)
            }
            OnTwo::Shown => {
                if !text.is_empty() {
                    let text = self.texts.short(text.to_owned());
                    outcome.system_messages.push(format!("{} says: {text}", self.call.event()));
                }
                Ok(outcome)
            }
            OnTwo::Fails => self.other(2, ended),
        }
    }

    /// Reads another exit code: a failure. The object still applies unless the gate has to close.
    fn other(&self, code: i32, ended: &Ended) -> Result<HookOutcome, String> {
        let line = ended.stderr.lines().map(str::trim).find(|line| !line.is_empty()).unwrap_or_default();
        let separator = if line.is_empty() { "" } else { ": " };
        let problem = format!("exit code {code}{separator}{}", line.chars().take(500).collect::<String>());
        match self.object(ended) {
            Ok(Some(mut outcome)) => {
                let closes = self.call.event().is_gating() && self.on_failure == OnFailure::Block;
                if closes && !is_refusal(&outcome) {
                    return Err(problem);
                }
                outcome.failures.push((self.hook.to_owned(), problem));
                Ok(outcome)
            }
            _ => Err(problem),
        }
    }
}

/// Returns `true` if the outcome alone refuses.
fn is_refusal(outcome: &HookOutcome) -> bool {
    use windlass_types::{Behavior, PermissionAnswer};
    let denies = outcome.verdict.as_ref().is_some_and(|verdict| verdict.behavior == Behavior::Deny);
    denies || outcome.block.is_some() || matches!(outcome.answer, Some(PermissionAnswer::Deny { .. }))
}

#[cfg(test)]
mod tests;
