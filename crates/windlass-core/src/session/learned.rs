//! Facts about models, reported by their servers during a session. They are logged, so that a resumed session has them.

use super::Session;
use crate::learned::{LearnedModels, narrow};
use crate::{MachineConfig, ModelProfile};
use windlass_types::{EntryKind, ModelFact};

impl Session {
    /// Applies the context window, in tokens, that a refusal of the model's server names.
    pub(crate) fn learn_window(&mut self, model: &str, window: u64) {
        let mut is_new = false;
        for profile in models(&mut self.config).chain(self.run.scope.model.as_mut()) {
            is_new |= profile.id == model && narrow(profile, window);
        }
        if is_new {
            self.learn(ModelFact::window(model, window));
            self.notice(format!("The context window of {model} has {window} tokens, as its server says."));
        }
    }

    /// Logs the context window of the current model if its server named it.
    pub(crate) fn log_window_of_server(&mut self) {
        let model = self.current_model();
        if model.info.window_from_server {
            let fact = ModelFact::window(model.id.as_str(), model.info.context_window);
            self.learn(fact);
        }
    }

    /// Logs a fact, unless the log has it.
    pub(crate) fn learn(&mut self, fact: ModelFact) {
        if !self.state.learned().has(&fact) {
            let entry = self.record(None, EntryKind::ModelLearned(fact));
            self.append_unawaited(vec![entry]);
        }
    }
}

/// Applies facts to the models of a session that opens.
pub(crate) fn apply_learned(learned: &LearnedModels, config: &mut MachineConfig) {
    models(config).for_each(|model| learned.apply_to(model));
}

/// Returns the configured models of a session.
fn models(config: &mut MachineConfig) -> impl Iterator<Item = &mut ModelProfile> {
    let other = [config.fallback.as_mut(), config.auto_compact.summarizer.as_mut()];
    std::iter::once(&mut config.model).chain(other.into_iter().flatten())
}
