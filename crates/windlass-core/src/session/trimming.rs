//! Replacement of old results by notes.

use super::Session;
use crate::request::Purpose;
use windlass_context::{
    half_of_media, has_images, media_to_drop, results_to_fit, results_to_trim, tokens_of_last_results,
};
use windlass_types::{Api, EntryKind, ModelFact, TrimRecord};

impl Session {
    /// Returns the number of tokens at which the conversation is compacted; 0 if unknown.
    pub(crate) fn context_limit(&self) -> u64 {
        self.config.auto_compact.limit(self.current_model().info.context_window)
    }

    /// Replaces old results by notes, if that makes a summary unnecessary. Returns `true` if it did.
    pub(crate) fn trim_results(&mut self) -> bool {
        self.trim_results_to(self.context_limit(), "nearly as long as the model's context window")
    }

    /// Replaces old results of a conversation that the model refused as too long: the size of its window is unknown
    /// then, so that a quarter must become free.
    pub(crate) fn trim_overflow(&mut self) -> bool {
        let max_tokens = self.state.context_tokens() / 4 * 3;
        let limit = self.context_limit();
        self.trim_results_to(if limit == 0 { max_tokens } else { limit.min(max_tokens) }, "too long for the model")
    }

    fn trim_results_to(&mut self, limit: u64, why: &str) -> bool {
        let messages = self.state.transcript().messages();
        let context = self.state.context_tokens();
        let Some(record) = results_to_trim(&messages, &self.config.auto_compact.trim, context, limit) else {
            return false;
        };
        let (results, freed) = (record.results.len(), record.freed_tokens);
        self.put_notes(record);
        self.notice(format!(
            "The conversation is {why}. Old results of tools were replaced by notes: {results}, about {freed} tokens. The \
             log keeps them."
        ));
        true
    }

    /// Returns the maximum tokens of all results of the next message; `None` if the window is unknown.
    pub(crate) fn room_for_results(&self) -> Option<u64> {
        let limit = self.context_limit();
        (limit > 0).then(|| room_in(limit, self.turn_size().most()))
    }

    /// Leaves out the middles of the last message's results, if they make the request larger than the model's context
    /// window, or if they alone exceed the limit for a compaction. `is_due`: `true` if a compaction follows otherwise.
    pub(crate) fn fit_results(&mut self, is_due: bool) {
        let window = self.current_model().info.context_window;
        // A sixteenth is reserved for the answer.
        let max_request = window.saturating_sub(window / 16);
        let limit = if is_due { self.context_limit() } else { max_request };
        let size = self.turn_size().most();
        if limit == 0 || size <= limit {
            return;
        }
        let messages = self.state.transcript().messages();
        let rest = size.saturating_sub(tokens_of_last_results(&messages));
        // The answer must not trigger a compaction.
        let max_tokens = room_in(limit - limit / 16, rest);
        // If a summary is needed in any case and its request can be sent, the results stay whole.
        if is_due && rest.saturating_add(max_tokens) > limit && size <= max_request {
            return;
        }
        let Some(record) = results_to_fit(&messages, max_tokens, self.state.context_tokens()) else { return };
        let (results, freed) = (record.results.len(), record.freed_tokens);
        // The provider has not read them, so that its cache stays valid.
        let entry = self.record(None, EntryKind::ResultsTrimmed(record));
        self.append_unawaited(vec![entry]);
        self.notice(format!(
            "The results of the last message do not fit the model's context window. The middle of {results} was left out, about \
             {freed} tokens. The log keeps them."
        ));
    }

    /// Removes images and documents from the oldest results if the conversation has more than a request can contain, or
    /// more than half of a `refused` request. Returns `true` if it did.
    pub(crate) fn drop_media(&mut self, refused: bool) -> bool {
        let media_limits = self.current_model().info.media;
        if !refused && !self.state.media().may_exceed(media_limits) {
            return false;
        }
        let messages = self.state.transcript().messages();
        let limits = if refused { half_of_media(&messages, media_limits) } else { media_limits };
        let Some(record) = media_to_drop(&messages, limits, self.state.context_tokens()) else { return false };
        let results = record.results.len();
        self.put_notes(record);
        self.notice(format!(
            "The images and documents of the conversation are more than a request can hold. Those of the oldest results of \
             tools were taken out: {results}. The log keeps them."
        ));
        true
    }

    /// Replaces images by notes in all requests to a model that refused them. Returns `false` if that is done already,
    /// or if there are none.
    pub(crate) fn leave_out_images(&mut self, purpose: &Purpose) -> bool {
        let model = self.model_for(purpose).id.clone();
        let has_any = self.state.transcript().messages().iter().any(|message| has_images(message));
        if !has_any || self.state.learned().refuses_images(&model) {
            return false;
        }
        self.learn(ModelFact::without_images(model.as_str()));
        self.notice(format!("{model} takes no images: they are left out of what it is sent. The log keeps them."));
        self.models.history_replaced = true;
        true
    }

    /// Replaces results by notes from now on.
    fn put_notes(&mut self, record: TrimRecord) {
        let mut entries = vec![self.record(None, EntryKind::ResultsTrimmed(record))];
        // Such reasoning is bound to all content before it, which is another text now.
        let info = &self.current_model().info;
        if info.adaptive_thinking && info.api.dialect() == Api::MESSAGES {
            entries.push(self.record(None, EntryKind::ReplayDropped));
        }
        self.append_unawaited(entries);
        self.models.history_replaced = true;
    }
}

/// Returns the tokens available for results if a conversation may have `limit` and has `rest` without them. At least a
/// quarter: earlier content can become shorter.
fn room_in(limit: u64, rest: u64) -> u64 {
    limit.saturating_sub(rest).max(limit / 4)
}
