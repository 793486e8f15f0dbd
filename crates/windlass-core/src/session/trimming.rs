//! Old results that notes stand for.

use super::Session;
use windlass_context::results_to_trim;
use windlass_types::{Api, EntryKind};

impl Session {
    /// How many tokens the conversation may have before it is compacted; 0 if that is not known.
    pub(crate) fn context_limit(&self) -> u64 {
        self.config.auto_compact.limit(self.current_model().info.context_window)
    }

    /// Puts notes in the place of old results, if that makes a summary unnecessary. Returns whether it did.
    pub(crate) fn trim_results(&mut self) -> bool {
        let messages = self.state.transcript().messages();
        let (context, limit) = (self.state.context_tokens(), self.context_limit());
        let Some(record) = results_to_trim(&messages, &self.config.auto_compact.trim, context, limit) else {
            return false;
        };
        let (results, freed) = (record.results.len(), record.freed_tokens);
        let mut entries = vec![self.record(None, EntryKind::ResultsTrimmed(record))];
        // Such reasoning is bound to all that stood before it, which is another text now.
        let info = &self.current_model().info;
        if info.adaptive_thinking && info.api.dialect() == Api::MESSAGES {
            entries.push(self.record(None, EntryKind::ReplayDropped));
        }
        self.append_unawaited(entries);
        self.models.history_replaced = true;
        self.notice(format!(
            "The conversation is nearly as long as the model's context window. Old results of tools were replaced by notes: \
             {results}, about {freed} tokens. The log keeps them."
        ));
        true
    }
}
