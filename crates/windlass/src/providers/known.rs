//! Models that providers know without a key.

use windlass_model::KnownModel;

/// Models of the provider with this prefix, as variables configure it.
pub(super) fn models(prefix: &str, lookup: &dyn Fn(&str) -> Option<String>) -> Vec<KnownModel> {
    let _ = lookup;
    match prefix {
        #[cfg(feature = "anthropic")]
        "anthropic" => crate::provider::Anthropic::builder().lookup(lookup).known_models(),
        #[cfg(feature = "bedrock")]
        "bedrock" => crate::provider::Bedrock::known(),
        #[cfg(feature = "gemini")]
        "gemini" => crate::provider::Gemini::known(),
        #[cfg(feature = "openai")]
        "openai" => crate::provider::OpenAi::known(),
        #[cfg(feature = "openai")]
        endpoint => crate::provider::ChatCompletions::known_models_of(endpoint),
        #[cfg(not(feature = "openai"))]
        _ => Vec::new(),
    }
}
