//! Old results that notes stand for.

use super::Session;
use windlass_context::{half_of_media, media_to_drop, results_to_trim};
use windlass_types::{Api, EntryKind, TrimRecord};

impl Session {
    /// How many tokens the conversation may have before it is compacted; 0 if that is not known.
    pub(crate) fn context_limit(&self) -> u64 {
        self.config.auto_compact.limit(self.current_model().info.context_window)
    }

    /// Puts notes in the place of old results, if that makes a summary unnecessary. Returns whether it did.
    pub(crate) fn trim_results(&mut self) -> bool {
        self.trim_results_to(self.context_limit(), "nearly as long as the model's context window")
    }

    /// The same for a conversation that the model refused as too long: where its window ends is not known then, so that a quarter
    /// must become free.
    pub(crate) fn trim_overflow(&mut self) -> bool {
        let most = self.state.context_tokens() / 4 * 3;
        let limit = self.context_limit();
        self.trim_results_to(if limit == 0 { most } else { limit.min(most) }, "too long for the model")
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

    /// Takes images and documents out of the oldest results where the conversation has more than a request can hold, or
    /// more than half of what was `refused`. Returns whether it did.
    pub(crate) fn drop_media(&mut self, refused: bool) -> bool {
        let messages = self.state.transcript().messages();
        let known = self.current_model().info.media;
        let limits = if refused { half_of_media(&messages, known) } else { known };
        let Some(record) = media_to_drop(&messages, limits, self.state.context_tokens()) else { return false };
        let results = record.results.len();
        self.put_notes(record);
        self.notice(format!(
            "The images and documents of the conversation are more than a request can hold. Those of the oldest results of \
             tools were taken out: {results}. The log keeps them."
        ));
        true
    }

    /// Notes stand for results from now on.
    fn put_notes(&mut self, record: TrimRecord) {
        let mut entries = vec![self.record(None, EntryKind::ResultsTrimmed(record))];
        // Such reasoning is bound to all that stood before it, which is another text now.
        let info = &self.current_model().info;
        if info.adaptive_thinking && info.api.dialect() == Api::MESSAGES {
            entries.push(self.record(None, EntryKind::ReplayDropped));
        }
        self.append_unawaited(entries);
        self.models.history_replaced = true;
    }
}
