//! Frames of the end of a turn.

use super::{Envelope, FrameMapper, Message};
use crate::frame::{Answers, Denials, InformationalBody, Origin, RunResultFrame, TextBlock};
use crate::line;
use crate::outcome::Ending;
use std::collections::BTreeMap;
use windlass_types::{EntryId, RunOrigin, RunResult, Usage};

impl FrameMapper {
    /// Appends the result of a run that could not start, such as one that was
    /// to resume a session which is not there.
    pub fn refused(&mut self, session_id: &str, error: &str, out: &mut Vec<u8>) {
        let ending = Ending {
            subtype: "error_during_execution",
            is_error: true,
            is_answer: false,
            error: Some(error.to_owned()),
            ..Ending::default()
        };
        let result = RunResult::new(windlass_types::Outcome::Success, session_id.into());
        self.result(Envelope::of_main(session_id), &result, &ending, out);
    }

    pub(super) fn finished(&mut self, at: Envelope<'_>, result: &RunResult, out: &mut Vec<u8>) {
        let ending = Ending::of(result);
        if let Some(notice) = &ending.notice {
            let body = InformationalBody { prevent_continuation: true, ..InformationalBody::warning(notice) };
            self.system(at, "informational", body, out);
        }
        if let Some(text) = ending.user_text {
            self.user(at, None, TextBlock::new(text), None, out);
        }
        if let Some((class, text)) = &ending.api_error {
            let id = EntryId::from_bits((self.ids)());
            let usage = Usage::default();
            let message = Message { id: id.as_str(), model: "<synthetic>", error: Some(class), usage, line: None };
            self.assistant(at, message, TextBlock::new(text), out);
        }
        self.result(at, result, &ending, out);
    }

    pub(super) fn result(&mut self, at: Envelope<'_>, result: &RunResult, ending: &Ending, out: &mut Vec<u8>) {
        let woken = result.origin == RunOrigin::TaskNotification;
        let answers = if ending.is_answer {
            let first = if woken { None } else { self.user_message.take() };
            Answers::with_joined(first, std::mem::take(&mut self.joined))
        } else {
            None
        };
        let text = match (&ending.api_error, &ending.error, &result.structured_output) {
            (Some((_, text)), ..) => Some(text.as_str()),
            (None, Some(_), _) => None,
            (None, None, Some(json)) => Some(json.as_str()),
            (None, None, None) => Some(result.text.as_str()),
        };
        let mut frame = RunResultFrame {
            kind: "result",
            subtype: ending.subtype,
            is_error: ending.is_error,
            duration_ms: result.duration_ms,
            duration_api_ms: result.duration_api_ms,
            num_turns: ending.num_turns,
            result: text,
            errors: ending.error.as_deref().map(|error| [error]),
            stop_reason: result.stop_reason.as_ref().map(|reason| reason.as_str()),
            api_error_status: ending.api_error_status,
            session_id: at.session_id,
            total_cost_usd: result.cost.usd(),
            usage: result.usage.into(),
            model_usage: &result.model_usage,
            permission_denials: Denials { calls: &result.permission_denials, with_input: true },
            structured_output: result.structured_output.as_ref(),
            terminal_reason: ending.terminal_reason,
            local_command: ending.local_command,
            origin: woken.then(Origin::task_notification),
            answers,
            uuid: self.uuid(),
        };
        if line::push(out, &frame) {
            return;
        }
        frame.permission_denials.with_input = false;
        if line::push(out, &frame) {
            return;
        }
        // A host must always get its result, whatever else is lost.
        let none = BTreeMap::new();
        frame.permission_denials.calls = &[];
        frame.structured_output = None;
        frame.model_usage = &none;
        frame.result = text.map(|_| "[The result is too long for one frame; the last assistant frames hold it.]");
        frame.errors = frame.errors.map(|_| ["The run failed; the message is too long for one frame."]);
        line::push(out, &frame);
    }
}
