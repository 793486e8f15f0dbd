use super::*;
use windlass_types::{LongPrompt, Usage};

#[test]
fn prefixes_mean_models_with_their_provider_or_without() {
    for (prefix, model, provider) in [
        ("gpt-6", "gpt-6-sol", "openai"),
        ("gpt-6", "openai/gpt-6-sol", "openai"),
        ("openai/gpt-6", "openai/gpt-6-sol", "openai"),
        ("openai/gpt-6", "gpt-6-sol", "openai"),
        ("openai/gpt-6", "openai/gpt-6-sol", "openrouter"),
        ("openrouter/openai/gpt-6", "openrouter/openai/gpt-6-sol", "openrouter"),
        ("openrouter/openai/gpt-6", "openai/gpt-6-sol", "openrouter"),
        ("mine", "mine", ""),
    ] {
        assert!(is_meant(prefix, model, provider), "{prefix} {model}");
    }
    for (prefix, model, provider) in [
        ("gpt-6", "openrouter/openai/gpt-6-sol", "openrouter"),
        ("openai/gpt-6", "openrouter/openai/gpt-6-sol", "openrouter"),
        ("openai/gpt-6", "gpt-6-sol", "azure"),
        ("gpt-6-sol", "gpt-6", "openai"),
        ("/mine", "mine", ""),
    ] {
        assert!(!is_meant(prefix, model, provider), "{prefix} {model}");
    }
}

#[test]
fn parts_of_a_price_stand_in_place_of_those_that_are_known() {
    let mut known = ModelInfo::new(10, 10);
    known.price = Some(Price::new(1_000, 5_000));
    known.long_prompts = vec![LongPrompt::new(5, Price::new(2_000, 9_000))];
    let mut info = known.clone();
    ModelOverride::new().context_window(20).apply(&mut info);
    assert_eq!((info.context_window, &info.long_prompts), (20, &known.long_prompts));
    ModelOverride::new().input_price(0.0375).cache_write_price(7.0).apply(&mut info);
    let price = info.price.unwrap();
    let rates =
        [price.input, price.output, price.cache_read, price.cache_write, price.cache_write_1h].map(NanoUsd::nano);
    assert_eq!(rates, [38, 5_000, 100, 7_000, 7_000]);
    assert!(info.long_prompts.is_empty());
}

#[test]
fn a_model_without_a_price_needs_input_and_output() {
    let mut info = ModelInfo::new(10, 10);
    ModelOverride::new().input_price(1.0).apply(&mut info);
    assert_eq!(info.price, None);
    ModelOverride::new().input_price(1.0).output_price(2.0).cache_read_price(0.5).apply(&mut info);
    let mut usage = Usage::new(1, 1);
    (usage.cache_read_input_tokens, usage.cache_creation_input_tokens) = (10, 3);
    assert_eq!(info.cost(&usage), Some(NanoUsd::new(1_000 + 2_000 + 5_000 + 3_000)));
    let before = info.clone();
    ModelOverride::new().input_price(-1.0).output_price(f64::NAN).apply(&mut info);
    assert_eq!(info, before);
}

#[test]
fn aliases_are_followed_but_not_in_a_circle() {
    let mut overrides = ModelOverrides::new();
    overrides.add_alias("fast", "quick");
    overrides.add_alias("quick", "openai/m");
    overrides.add_alias("a", "b");
    overrides.add_alias("b", "a");
    assert_eq!(overrides.alias("FAST"), Some("openai/m"));
    assert!(overrides.alias("a").is_some());
    assert_eq!(overrides.alias("openai/m"), None);
}
