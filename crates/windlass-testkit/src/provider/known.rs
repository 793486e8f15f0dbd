//! Promises about the models that a provider knows by itself.

use super::Violation;
use crate::violation::ensure;
use std::collections::BTreeSet;
use windlass_model::{KnownModel, ModelProvider};

/// Checks that listed models are those that the provider has: names resolve to listed ids, figures are those of
/// requests, and a provider that lists none knows none.
///
/// # Errors
/// The first model for which this does not hold.
pub fn lists_models(provider: &dyn ModelProvider) -> Result<(), Violation> {
    let mut names = BTreeSet::new();
    for known in provider.known_models() {
        let id = &known.id;
        ensure(!id.is_empty() && names.insert(id.clone()), || format!("{id:?} is listed twice, or has no name"))?;
        let resolved = provider.resolve_model(id);
        ensure(resolved == *id, || format!("{id} is listed, but resolves to {resolved}"))?;
        let info = provider.model_info(id);
        ensure(info == known.info, || format!("{id} is listed with other figures than it is called with"))?;
        let similar = provider.similar_models(id);
        ensure(similar.is_empty(), || format!("{id} is listed, but not known: it is taken for {similar:?}"))?;
        for alias in &known.aliases {
            ensure(names.insert(alias.clone()), || format!("{alias} stands for two models"))?;
            let resolved = provider.resolve_model(alias);
            ensure(resolved == *id, || format!("{alias} is listed for {id}, but stands for {resolved}"))?;
        }
        figures(&known)?;
    }
    let default = provider.model_info(&provider.resolve_model("default"));
    ensure(!names.is_empty() || default.price.is_none(), || {
        "no model is listed, but the price of the default one is known".to_owned()
    })
}

fn figures(known: &KnownModel) -> Result<(), Violation> {
    let (id, info) = (&known.id, &known.info);
    let fits = known.max_output_tokens.zip(known.context_window);
    ensure(fits.is_none_or(|(output, window)| u64::from(output) <= window), || {
        format!("{id} writes more than its window holds")
    })?;
    let overs = info.long_prompts.iter().map(|long| long.over);
    ensure(overs.is_sorted_by(|one, next| one < next), || {
        format!("the prices of {id} for long prompts are not in order")
    })?;
    let source = known.source.as_ref();
    ensure(source.is_none_or(|source| source.url.starts_with("https://") && source.read.len() == 10), || {
        format!("the source of {id} is no page with the day on which it was read")
    })
}
