//! Structured output: a run that must end with data that fits a schema.
//!
//! The model gives it as the input of one tool. An input that does not fit is
//! answered like that of any tool; a run that would end without output asks
//! for it. Both are bounded together.

use crate::Machine;
use crate::steering::SafePoint;
use windlass_context::runtime_text;
use windlass_types::{ContentBlock, Continuation, Outcome};

impl Machine {
    /// A call is answered: if it gave the output, it is kept.
    pub(crate) fn note_output(&mut self, at: usize, failed: bool) {
        let Some(call) = self.batch.calls.get(at) else { return };
        if self.config.structured_output.as_deref() != Some(call.original.name.as_str()) {
            return;
        }
        if let Some(run) = &mut self.run {
            run.offered = Some(run.offered == Some(true) || !failed);
            if !failed {
                run.structured = Some(call.input.clone());
            }
        }
    }

    /// All calls are answered, and one of them offered an output.
    pub(crate) fn output_offered(&mut self, fits: bool) {
        if fits {
            self.stop();
        } else if self.may_try_again() {
            self.safe_point(SafePoint::Tools);
        }
    }

    /// Whether the run may not end yet, because its output is missing.
    pub(crate) fn lacks_output(&self) -> bool {
        self.config.structured_output.is_some() && self.run.as_ref().is_some_and(|run| run.structured.is_none())
    }

    /// The model is done without having given the output.
    pub(crate) fn ask_for_output(&mut self) {
        if self.may_try_again() {
            let entry = self.record_user(vec![ContentBlock::text(runtime_text::OUTPUT_MISSING)], true);
            self.append(vec![entry], false);
            self.call_model(Continuation::StructuredOutput);
        }
    }

    /// Counts a failed attempt; ends the run after the last one.
    fn may_try_again(&mut self) -> bool {
        let Some(run) = &mut self.run else { return false };
        run.structured_failures = run.structured_failures.saturating_add(1);
        let attempts = run.structured_failures;
        let goes_on = attempts <= self.config.limits.max_structured_output_retries;
        if !goes_on {
            self.finish(Outcome::NoStructuredOutput { attempts });
        }
        goes_on
    }
}
