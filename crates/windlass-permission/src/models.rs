//! Models that rules and calls name, by their own names and by aliases of the user.

use std::sync::Arc;
use windlass_types::names::{SameModel, model, same_model};

/// Names that stand for models, in their normal form.
#[derive(Debug, Clone, Default)]
pub(crate) struct ModelAliases(Arc<[(String, String)]>);

impl ModelAliases {
    pub(crate) fn new(aliases: impl Iterator<Item = (String, String)>) -> Self {
        let normal = aliases.map(|(alias, meant)| (model(&alias), model(&meant)));
        Self(normal.filter(|(alias, meant)| alias != meant && !meant.is_empty()).collect())
    }

    /// The names of a model: its own, and those that it stands for.
    pub(crate) fn forms(&self, name: &str) -> Vec<String> {
        let mut forms = vec![model(name)];
        // An alias may stand for another one; each name is there once.
        let mut at = 0;
        while let Some(form) = forms.get(at).cloned() {
            at = at.saturating_add(1);
            for (_, meant) in self.0.iter().filter(|(alias, _)| *alias == form) {
                if !forms.contains(meant) {
                    forms.push(meant.clone());
                }
            }
        }
        forms
    }

    /// Compares the model of a rule with that of a call, by all their names.
    pub(crate) fn compare(&self, rule: &str, called: &str) -> SameModel {
        let (of_rule, of_call) = (self.forms(rule), self.forms(called));
        let mut best = SameModel::No;
        for found in of_rule.iter().flat_map(|rule| of_call.iter().map(move |called| same_model(rule, called))) {
            match found {
                SameModel::Yes => return SameModel::Yes,
                SameModel::Possible => best = SameModel::Possible,
                SameModel::No => {}
            }
        }
        best
    }
}
