use super::*;
use windlass_types::{NanoUsd, Usage};

#[test]
fn releases_of_a_model_are_that_model() {
    for name in ["gpt-6.2-sol", "gpt-6.2-sol-2026-11-17", "gpt-6.2-sol-latest"] {
        assert_eq!(model(name), model("gpt-6.2-sol"), "{name}");
    }
    assert_eq!(model("gpt-5.4-mini").info.context_window, 400_000);
    for name in ["gpt-6.2-sol-pro", "gpt-6.2-solar", "gpt-6.2", "my-gpt-6.2-sol"] {
        assert_eq!(model(name).info.price, None, "{name}");
    }
}

#[test]
fn calls_are_priced_by_the_vendors_rates() {
    let info = model("gpt-6.2-sol").info;
    let mut usage = Usage::new(1_000, 100);
    usage.cache_read_input_tokens = 10_000;
    usage.cache_creation_input_tokens = 200;
    assert_eq!(info.cost(&usage), Some(NanoUsd::new(2_000_000 + 1_000_000 + 1_000_000 + 500_000)));
    let long = Usage::new(272_001, 10);
    assert_eq!(info.cost(&long), Some(NanoUsd::new(272_001 * 4_000 + 10 * 15_000)));
    assert_eq!(model("gpt-5-nano").info.cost(&Usage::new(300_000, 1)), Some(NanoUsd::new(300_000 * 50 + 400)));
}

#[test]
fn only_models_that_reason_are_asked_to() {
    for name in ["gpt-6.2-sol", "gpt-5.4-nano", "gpt-7", "o3", "o4-mini", "gpt-5.1-codex"] {
        assert!(model(name).reasons(), "{name}");
    }
    for name in ["gpt-4.1", "gpt-4o-mini", "gpt-3.5-turbo", "gpt-5-chat-latest", "my-deployment", "llama", "omni"] {
        assert!(!model(name).reasons(), "{name}");
    }
}

#[test]
fn aliases_stand_for_the_newest_models() {
    assert_eq!(resolve("default"), DEFAULT_MODEL);
    assert_eq!(resolve("Sol"), "gpt-6.2-sol");
    assert_eq!(resolve("gpt-6-sol"), "gpt-6-sol");
    assert!(known("openai").iter().any(|known| known.id == DEFAULT_MODEL && known.aliases == ["default", "sol"]));
}
