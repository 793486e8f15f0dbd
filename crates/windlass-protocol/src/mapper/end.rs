//! Frames of the end of a turn.

use super::{FrameEnvelope, FrameMapper, MappedMessage};
use crate::frame::{InformationalBody, RunResultFrame, TextBlock};
use crate::line;
use crate::outcome::WireEnding;
use std::collections::BTreeMap;
use windlass_types::{EntryId, Outcome, RunOrigin, RunResult, Usage};

impl FrameMapper {
    /// Appends the result of a run that could not start, such as one that was to resume a missing session.
    pub fn refused(&mut self, session_id: &str, error: &str, out: &mut Vec<u8>) {
        let ending = WireEnding {
            subtype: "error_during_execution",
            is_error: true,
            is_answer: false,
            error: Some(error.to_owned()),
            ..WireEnding::default()
        };
        let result = RunResult::new(Outcome::Success, session_id.into());
        self.result(FrameEnvelope::of_main(session_id), &result, &ending, out);
    }

    pub(super) fn finished(&mut self, envelope: FrameEnvelope<'_>, result: &RunResult, out: &mut Vec<u8>) {
        let mut ending = WireEnding::of(result);
        if let (Some(reason), Outcome::Interrupted { .. }) = (&self.stop_reason, &result.outcome) {
            (ending.error, ending.user_text) = (Some(reason.clone()), None);
        }
        if let Some(notice) = &ending.notice {
            let prevent_continuation = ending.terminal_reason == Some("hook_stopped");
            let body = InformationalBody { prevent_continuation, ..InformationalBody::warning(notice) };
            self.system(envelope, "informational", body, out);
        }
        if let Some(text) = ending.user_text {
            self.user(envelope, None, TextBlock::new(text), None, out);
        }
        if let Some((class, text)) = &ending.api_error {
            let id = EntryId::from_bits((self.ids)());
            let usage = Usage::default();
            let message =
                MappedMessage { id: id.as_str(), model: "<synthetic>", error: Some(class), usage, line: None };
            self.assistant(envelope, message, TextBlock::new(text), out);
        }
        self.result(envelope, result, &ending, out);
    }

    pub(super) fn result(
        &mut self,
        envelope: FrameEnvelope<'_>,
        result: &RunResult,
        ending: &WireEnding,
        out: &mut Vec<u8>,
    ) {
        let woken = result.origin == RunOrigin::TaskNotification;
        let answers = if ending.is_answer { self.answering.end(woken) } else { None };
        let warnings = std::mem::take(&mut self.warnings);
        let mut frame = RunResultFrame::new(envelope.session_id, result, ending, answers, self.uuid());
        frame.warnings = &warnings;
        if line::push(out, &frame) {
            return;
        }
        frame.shorten();
        if line::push(out, &frame) {
            return;
        }
        let no_models = BTreeMap::new();
        frame.shorten_more(&no_models);
        line::push(out, &frame);
    }
}
