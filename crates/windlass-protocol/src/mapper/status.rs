//! Frames of the state of the loop, and of denied calls.

use super::{FrameEnvelope, FrameMapper};
use crate::frame::{DeniedBody, FallbackBody, RetryBody, StatusFrame};
use windlass_types::{Behavior, Decision, DecisionReason, Status, ToolUseId};

impl FrameMapper {
    pub(super) fn denied(
        &mut self,
        envelope: FrameEnvelope<'_>,
        id: &ToolUseId,
        tool: &str,
        decision: &Decision,
        out: &mut Vec<u8>,
    ) {
        if decision.behavior != Behavior::Deny || decision.reason == DecisionReason::Host {
            return;
        }
        let body = DeniedBody {
            tool_name: tool,
            tool_use_id: id.as_str(),
            agent_id: envelope.agent.map(|agent| agent.id.as_str()),
            decision_reason_type: reason_type(decision.reason),
            decision_reason: decision.rule.as_ref().map(|rule| rule.rule.as_str()),
            message: &decision.message,
        };
        self.system(envelope, "permission_denied", body, out);
    }

    pub(super) fn status(&mut self, envelope: FrameEnvelope<'_>, status: &Status, out: &mut Vec<u8>) {
        match status {
            Status::Requesting { .. } if self.options.include_partial_messages => {
                let body = StatusFrame { status: Some("requesting"), ..StatusFrame::default() };
                self.system(envelope, "status", body, out);
            }
            Status::Compacting { .. } => self.compacting(envelope, out),
            Status::CompactionFailed { message } => self.not_compacted(envelope, message, out),
            Status::Retrying(retry) => {
                let body = RetryBody {
                    attempt: retry.attempt,
                    max_retries: retry.max_retries,
                    retry_delay_ms: retry.delay_ms,
                    error_status: retry.http_status,
                    error: retry.error.word(),
                    message: &retry.message,
                };
                self.system(envelope, "api_retry", body, out);
            }
            Status::FallingBack { from, to } => {
                let body = FallbackBody { original_model: from, fallback_model: to };
                self.system(envelope, "model_fallback", body, out);
            }
            Status::PriceUnknown { model } => {
                let text = format!("The price of {model} is not known, so the budget does not hold for it.");
                self.inform(envelope, &text, None, out);
            }
            Status::Notice { message } => self.inform(envelope, message, None, out),
            _ => {}
        }
    }
}

/// Part of the pipeline that decided, by its name on the wire.
pub(crate) fn reason_type(reason: DecisionReason) -> &'static str {
    match reason {
        DecisionReason::Hook => "hook",
        DecisionReason::Rule => "rule",
        DecisionReason::Catastrophic | DecisionReason::Protected => "safetyCheck",
        DecisionReason::WorkingDirectory => "workingDir",
        DecisionReason::Mode => "mode",
        DecisionReason::Sandbox => "sandboxOverride",
        _ => "other",
    }
}
