use super::*;
use windlass_model::ModelOverride;
use windlass_types::{NanoUsd, Usage};

fn provider_rows() -> impl Iterator<Item = (&'static str, &'static ModelRow)> {
    Endpoint::preset_names().flat_map(|name| table::rows(name).iter().map(move |row| (name, row)))
}

#[test]
fn the_tables_name_each_model_and_each_alias_once() {
    assert!(provider_rows().count() > 50);
    for name in Endpoint::preset_names() {
        let mut names: Vec<&str> =
            table::rows(name).iter().flat_map(|row| row.aliases.iter().copied().chain([row.id])).collect();
        names.sort_unstable();
        let all = names.len();
        names.dedup();
        assert_eq!(names.len(), all, "{name}");
    }
}

#[test]
fn known_models_have_the_limits_and_the_price_of_their_row() {
    let catalogue = Catalogue::new();
    let grok = described("xai", &catalogue, "grok-4.7");
    assert_eq!((grok.context_window, grok.max_output_tokens), (500_000, 32_768));
    assert_eq!(grok.cost(&Usage::new(1_000, 10)), Some(NanoUsd::new(2_000_000 + 60_000)));
    assert_eq!(grok.cost(&Usage::new(200_001, 1)), Some(NanoUsd::new(200_001 * 4_000 + 12_000)));
    assert_eq!(described("xai", &catalogue, "grok-9").price, None);
    // The same name at another endpoint is another model.
    assert_eq!(described("vllm", &catalogue, "grok-4.7").price, None);
    let coder = described("qwen", &catalogue, "qwen3-coder-plus");
    let rates = [1_000, 40_000, 130_000, 300_000].map(|tokens| coder.price_for(tokens).unwrap().input.nano());
    assert_eq!(rates, [1_000, 1_800, 3_000, 6_000]);
    assert_eq!(described("openrouter", &catalogue, "openai/gpt-5.5").price, models::model("gpt-5.5").info.price);
    assert!(described("openrouter", &catalogue, "anthropic/claude-opus-5.5").price.is_some());
}

#[test]
fn what_the_user_says_wins() {
    let catalogue = Catalogue::new()
        .with_override("deepseek-v4", ModelOverride::new().context_window(9_000).input_price(1.0))
        .with_alias("cheap", "deepseek-flash");
    let info = described("deepseek", &catalogue, "deepseek-v4-pro");
    assert_eq!(info.context_window, 9_000);
    assert_eq!(info.price.map(|price| (price.input.nano(), price.output.nano())), Some((1_000, 3_960)));
    let endpoint = Endpoint::preset("deepseek").unwrap();
    let known = known(&endpoint, &catalogue, (0, None));
    let pro = known.iter().find(|known| known.id == "deepseek-v4-pro").unwrap();
    assert_eq!((pro.context_window, &pro.overridden[..]), (Some(9_000), &["contextWindow", "inputPrice"][..]));
    let flash = known.iter().find(|known| known.id == "deepseek-flash").unwrap();
    assert_eq!(flash.aliases, ["flash", "cheap"]);
    assert_eq!(resolve("deepseek", &catalogue, "Cheap"), "deepseek-flash");
}

#[test]
fn aliases_stand_for_models_of_their_endpoint() {
    let catalogue = Catalogue::new();
    for (endpoint, name, model) in [
        ("deepseek", "default", "deepseek-v4-pro"),
        ("openrouter", "Opus", "anthropic/claude-opus-5.5"),
        ("zai", " glm ", "glm-5.3"),
        ("ollama", "default", "default"),
        ("together", "opus", "opus"),
    ] {
        assert_eq!(resolve(endpoint, &catalogue, name), model, "{endpoint} {name}");
    }
    assert_eq!(similar("openrouter", &catalogue, "sonet"), ["sonnet"]);
    for known in ["sonnet", "my-own", "org/model", "llama3.1", "x-ai/grok-4.7"] {
        assert!(similar("openrouter", &catalogue, known).is_empty(), "{known}");
    }
}
