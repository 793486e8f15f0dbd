//! Facts about models reported by their servers, as a fold over the log.

use crate::ModelProfile;
use std::collections::BTreeMap;
use windlass_types::ModelFact;

/// Minimum plausible context window, in tokens.
const MIN_WINDOW_TOKENS: u64 = 256;

/// Facts of models, by the id of the model. The latest window of a model applies.
#[derive(Debug, Default)]
pub(crate) struct LearnedModels(BTreeMap<String, LearnedFacts>);

#[derive(Debug, Default)]
struct LearnedFacts {
    context_window: Option<u64>,
    refuses_images: bool,
}

impl LearnedModels {
    /// Applies a fact from the log.
    pub(crate) fn apply(&mut self, fact: &ModelFact) {
        let facts = self.0.entry(fact.model.clone()).or_default();
        facts.context_window = fact.context_window.or(facts.context_window);
        facts.refuses_images |= fact.refuses_images;
    }

    /// `true` if the fact is known.
    pub(crate) fn has(&self, fact: &ModelFact) -> bool {
        self.0.get(&fact.model).is_some_and(|known| {
            (fact.context_window.is_none() || fact.context_window == known.context_window)
                && (!fact.refuses_images || known.refuses_images)
        })
    }

    /// `true` if the model refused images: it is sent notes instead.
    pub(crate) fn refuses_images(&self, model: &str) -> bool {
        self.0.get(model).is_some_and(|known| known.refuses_images)
    }

    /// Narrows the context window of a model to the one that its server named in an earlier opening. A window that the
    /// server named in this opening is newer.
    pub(crate) fn apply_to(&self, model: &mut ModelProfile) {
        let window = self.0.get(&model.id).and_then(|known| known.context_window);
        if let Some(window) = window.filter(|_| !model.info.window_from_server) {
            narrow(model, window);
        }
    }
}

/// Sets the context window of a model, in tokens, to a smaller one. Returns `false` if it is not smaller, or too small
/// for one.
pub(crate) fn narrow(model: &mut ModelProfile, window: u64) -> bool {
    let is_smaller = (MIN_WINDOW_TOKENS..model.info.context_window).contains(&window);
    if is_smaller {
        model.info.context_window = window;
    }
    is_smaller
}
