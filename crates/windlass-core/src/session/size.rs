//! Size of requests, in tokens, relative to the context window of their model.

use super::Session;
use crate::request::Purpose;
use crate::{ModelFailure, ModelProfile};
use windlass_context::{estimate_blocks, estimate_message, estimate_text, estimate_tool, unusable_media};
use windlass_types::{ModelErrorKind, ModelRequest, Prompt, RunFailureKind};

/// Tokens of the prompt for a summary.
const SUMMARY_PROMPT_TOKENS: u64 = 600;

/// Size of a request, as far as it is known before it is sent.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct RequestSize {
    /// Tokens counted by the provider.
    counted: u64,
    /// Further tokens, estimated high.
    estimated: u64,
}

impl RequestSize {
    /// Returns the maximum number of tokens of the request.
    pub(crate) fn most(self) -> u64 {
        self.counted.saturating_add(self.estimated)
    }

    /// Returns the likely number of tokens of the request: estimates are a third too high for most texts.
    pub(crate) fn likely(self) -> u64 {
        self.counted.saturating_add(self.estimated / 4 * 3)
    }
}

impl Session {
    /// Returns the size of the request for the next turn.
    pub(crate) fn turn_size(&self) -> RequestSize {
        let (conversation_tokens, counted) = (self.state.context_tokens(), self.state.counted_tokens());
        let frame = if counted == 0 { self.frame_tokens() } else { 0 };
        RequestSize { counted, estimated: conversation_tokens.saturating_sub(counted).saturating_add(frame) }
    }

    /// Returns the size of a request that was built for a purpose.
    pub(crate) fn request_size(&self, purpose: &Purpose, request: &ModelRequest) -> RequestSize {
        let turn = self.turn_size();
        match purpose {
            Purpose::Turn => turn,
            Purpose::Summary { skip: 0, .. } => {
                RequestSize { estimated: turn.estimated.saturating_add(SUMMARY_PROMPT_TOKENS), ..turn }
            }
            Purpose::Summary { .. } => {
                let messages: u64 = request.messages.iter().map(|message| estimate_message(message)).sum();
                RequestSize { counted: 0, estimated: messages.saturating_add(self.frame_tokens()) }
            }
        }
    }

    /// Returns the failure of a request that is larger than the model's context window by estimate: it is not sent. A
    /// summary needs some of the window for itself.
    pub(crate) fn too_large(&self, model: &ModelProfile, purpose: &Purpose, size: RequestSize) -> Option<ModelFailure> {
        const SUMMARY_TOKENS: u64 = 4_000;
        let window = model.info.context_window;
        let answer = if matches!(purpose, Purpose::Turn) { 0 } else { SUMMARY_TOKENS.min(window / 8) };
        let is_too_large = window > 0 && size.likely().saturating_add(answer) > window;
        is_too_large.then(|| {
            let text = format!(
                "the request was not sent: it has about {} tokens, and the context window of {} has {window}",
                size.likely(),
                model.id
            );
            ModelFailure { unbilled: true, ..ModelFailure::new(ModelErrorKind::PromptTooLong, text) }
        })
    }

    /// `true` if the request for the next turn is larger than the model's context window by estimate.
    pub(crate) fn is_over_window(&self) -> bool {
        self.too_large(self.current_model(), &Purpose::Turn, self.turn_size()).is_some()
    }

    /// Returns the reason why a prompt cannot be sent at all, as a message for its sender: it would be refused again
    /// with every later request, so it does not enter the conversation.
    pub(crate) fn unsendable(&self, prompt: &Prompt) -> Option<(RunFailureKind, String)> {
        if let Some(problem) = unusable_media(&prompt.content) {
            return Some((RunFailureKind::Model(ModelErrorKind::InvalidRequest), problem));
        }
        let model = self.current_model();
        let window = model.info.context_window;
        let quoted: u64 = prompt.quoted.iter().map(|quotation| estimate_text(&quotation.text)).sum();
        let prompt_tokens = estimate_blocks(&prompt.content).saturating_add(quoted);
        let size = RequestSize { counted: 0, estimated: prompt_tokens.saturating_add(self.frame_tokens()) };
        (window > 0 && size.likely() > window).then(|| {
            let text = format!(
                "The prompt is larger than the context window of {}: with system prompt and tools it has about {} tokens, and \
                 {window} fit. Send less, or let the model read it in parts from a file. If the window is larger than that, set \
                 `contextWindow` of the model.",
                model.id,
                size.likely()
            );
            (RunFailureKind::PromptTooLong, text)
        })
    }

    /// Returns the tokens of system prompt and tools, estimated high.
    fn frame_tokens(&self) -> u64 {
        let system: u64 = self.config.request.system.iter().map(|section| estimate_text(&section.text)).sum();
        let tools: u64 = self.offered_now().iter().map(|tool| estimate_tool(tool)).sum();
        system.saturating_add(tools)
    }
}
