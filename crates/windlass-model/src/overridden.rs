//! Provider with the user's overrides of its models.

use crate::{KnownModel, ModelError, ModelInfo, ModelOverrides, ModelProvider, ModelStream, SessionFact};
use async_trait::async_trait;
use std::sync::Arc;
use windlass_types::ModelRequest;
use windlass_types::near::nearest;

/// Provider with the user's overrides of its models: limits, prices, aliases. It works for any provider, also for a
/// [`Router`](crate::Router).
///
/// ```
/// use std::sync::Arc;
/// use windlass_model::{ModelOverride, ModelOverrides, ModelProvider, Overridden, Script, ScriptedModel};
///
/// let provider = ScriptedModel::new(Script::new().turn(|turn| turn.text("Hello.")));
/// let mut mine = ModelOverrides::new();
/// mine.add("my-model", ModelOverride::new().context_window(64_000));
/// mine.add_alias("fast", "my-model");
/// let provider = Overridden::new(Arc::new(provider), mine);
/// assert_eq!(provider.model_info(&provider.resolve_model("fast")).context_window, 64_000);
/// ```
#[derive(Debug, Clone)]
pub struct Overridden {
    provider: Arc<dyn ModelProvider>,
    overrides: ModelOverrides,
}

impl Overridden {
    /// Returns a provider with the user's overrides of its models.
    pub fn new(provider: Arc<dyn ModelProvider>, overrides: ModelOverrides) -> Self {
        Self { provider, overrides }
    }

    /// Returns the name that the provider knows, for one that may be an alias of the user. The suffix `[1m]` stays.
    fn meant(&self, name: &str) -> String {
        let name = name.trim();
        let (base, suffix) = name.find('[').and_then(|at| name.split_at_checked(at)).unwrap_or((name, ""));
        match (self.overrides.alias(name), self.overrides.alias(base)) {
            (Some(model), _) => model.to_owned(),
            (None, Some(model)) => format!("{model}{suffix}"),
            (None, None) => name.to_owned(),
        }
    }

    fn apply(&self, model: &str, info: &mut ModelInfo) {
        let provider = info.api.provider().to_owned();
        self.overrides.apply(model, &provider, info);
    }

    /// `true` if the user sets the price of a model.
    fn is_priced(&self, model: &str) -> bool {
        let info = self.provider.model_info(model);
        self.overrides.of(model, info.api.provider()).any(crate::ModelOverride::has_price)
    }

    fn described(&self, mut known: KnownModel) -> KnownModel {
        let provider = known.info.api.provider().to_owned();
        for values in self.overrides.of(&known.id, &provider) {
            values.apply(&mut known.info);
            known.context_window = values.context_window.or(known.context_window);
            known.max_output_tokens = values.max_output_tokens.or(known.max_output_tokens);
            for name in values.names() {
                if !known.overridden.contains(&name) {
                    known.overridden.push(name);
                }
            }
        }
        known
    }
}

#[async_trait]
#[deny(clippy::missing_trait_methods)]
impl ModelProvider for Overridden {
    fn name(&self) -> &str {
        self.provider.name()
    }

    fn resolve_model(&self, name: &str) -> String {
        self.provider.resolve_model(&self.meant(name))
    }

    fn similar_models(&self, name: &str) -> Vec<String> {
        let meant = self.meant(name);
        if meant != name.trim() {
            return Vec::new();
        }
        let is_own = |prefix: &str| prefix == meant;
        if self.overrides.models().any(|(prefix, _)| is_own(prefix)) {
            return Vec::new();
        }
        let similar = self.provider.similar_models(&meant);
        let own = nearest(&meant, self.overrides.aliases().map(|(alias, _)| alias));
        own.into_iter().map(str::to_owned).chain(similar).collect()
    }

    fn model_info(&self, model: &str) -> ModelInfo {
        let mut info = self.provider.model_info(model);
        self.apply(model, &mut info);
        info
    }

    /// Returns the models of the provider, and those that only the user describes.
    fn known_models(&self) -> Vec<KnownModel> {
        let mut models: Vec<KnownModel> =
            self.provider.known_models().into_iter().map(|known| self.described(known)).collect();
        for (prefix, _) in self.overrides.models() {
            let is_listed = models.iter().any(|known| {
                let provider = known.info.api.provider();
                crate::overrides::is_meant(prefix, &known.id, provider)
            });
            if !is_listed {
                let id = self.provider.resolve_model(prefix);
                let known = KnownModel::new(id.clone(), self.provider.model_info(&id));
                models.push(self.described(known));
            }
        }
        for (alias, _) in self.overrides.aliases() {
            let id = self.resolve_model(alias);
            for known in models.iter_mut().filter(|known| is_same(known, &id)) {
                known.aliases.push(alias.to_owned());
            }
        }
        models
    }

    fn answering_model(&self, asked: &str, answered: &str) -> Option<String> {
        // A price set by the user applies to the name, whatever model answers.
        if self.is_priced(asked) { None } else { self.provider.answering_model(asked, answered) }
    }

    fn ready(&self, model: &str) -> Result<(), ModelError> {
        self.provider.ready(&self.meant(model))
    }

    async fn prepare(&self, model: &str) {
        self.provider.prepare(&self.meant(model)).await;
    }

    fn opening_notice(&self, model: &str) -> Option<String> {
        self.provider.opening_notice(&self.meant(model))
    }

    fn recorded_fact(&self, fact: SessionFact, current: &str) -> Option<String> {
        self.provider.recorded_fact(fact, current)
    }

    async fn stream(&self, request: Arc<ModelRequest>) -> Result<ModelStream, ModelError> {
        self.provider.stream(request).await
    }

    async fn count_tokens(&self, request: Arc<ModelRequest>) -> Result<u64, ModelError> {
        self.provider.count_tokens(request).await
    }
}

/// `true` if an id is that of a listed model, with or without its provider in front.
fn is_same(known: &KnownModel, id: &str) -> bool {
    known.id == id
        || known.id.strip_prefix(known.info.api.provider()).and_then(|rest| rest.strip_prefix('/')) == Some(id)
}

#[cfg(test)]
mod tests;
