use super::*;
use windlass_types::{MediaLimits, NanoUsd, Price, Usage};

#[test]
fn aliases_stand_for_the_newest_family() {
    let catalogue = Catalogue::new();
    for (name, model) in [
        ("opus", "claude-opus-5-5"),
        ("sonnet", "claude-sonnet-5-5"),
        ("Haiku", "claude-haiku-5-5"),
        ("default", DEFAULT_MODEL),
        (" opus[1m] ", "claude-opus-5-5"),
        ("sonnet[1M]", "claude-sonnet-5-5"),
        ("claude-sonnet-4-5-20250929", "claude-sonnet-4-5-20250929"),
        ("claude-sonnet-4-5[1m]", "claude-sonnet-4-5[1m]"),
        ("my-own[1m]", "my-own[1m]"),
        ("opusculum", "opusculum"),
        ("", ""),
    ] {
        assert_eq!(catalogue.resolve(name), model, "{name}");
        assert_eq!(catalogue.resolve(model), model, "resolving twice");
    }
    let own = catalogue.with_alias("opus", "claude-sonnet-4-5").with_alias("fast", "x");
    assert_eq!(own.resolve("opus[1m]"), "claude-sonnet-4-5[1m]");
    assert_eq!(own.resolve("fast"), "x");
}

#[test]
fn limits_are_those_of_the_family() {
    let catalogue = Catalogue::new();
    for (model, window, max, default) in [
        ("claude-opus-5-5", 1_000_000, 128_000, 128_000),
        ("claude-sonnet-5-5", 1_000_000, 128_000, 128_000),
        ("claude-haiku-5-5", 1_000_000, 128_000, 128_000),
        ("claude-sonnet-5", 1_000_000, 128_000, 64_000),
        ("claude-opus-4-5-20251101", 200_000, 64_000, 32_000),
        ("claude-haiku-4-5-20251001", 200_000, 64_000, 32_000),
        ("claude-sonnet-4-5@20250929", 200_000, 64_000, 32_000),
        ("claude-sonnet-4-5[1m]", 1_000_000, 64_000, 32_000),
        ("us.anthropic.claude-sonnet-4-5-20250929-v1:0", 200_000, 64_000, 32_000),
        ("anthropic/claude-opus-4-1", 200_000, 32_000, 32_000),
        ("claude-opus-4-20250514", 200_000, 32_000, 32_000),
        // Unknown models: conservative.
        ("claude-opus-5-9", 200_000, 32_000, 32_000),
        ("claude-opus-55", 200_000, 32_000, 32_000),
        ("llama", 128_000, 8_192, 8_192),
        ("not-claude-opus-5-5", 128_000, 8_192, 8_192),
    ] {
        let info = catalogue.info(model);
        assert_eq!(
            (info.context_window, info.max_output_tokens, info.default_output_tokens),
            (window, max, default),
            "{model}"
        );
    }
}

#[test]
fn an_unknown_version_has_no_price() {
    let catalogue = Catalogue::new();
    for model in ["claude-opus-5-9", "claude-opus-4-9", "claude-sonnet-6", "gpt", ""] {
        assert_eq!(catalogue.info(model).cost(&Usage::new(1, 1)), None, "{model}");
    }
}

#[test]
fn prices_are_those_published() {
    let catalogue = Catalogue::new();
    // US dollars per million tokens: input, output, cache write, for one hour, cache read.
    for (model, rates) in [
        ("claude-opus-5-5", [4.0, 20.0, 5.0, 8.0, 0.20]),
        ("claude-sonnet-5-5", [2.0, 10.0, 2.5, 4.0, 0.10]),
        ("claude-haiku-5-5", [0.10, 0.50, 0.125, 0.20, 0.01]),
        ("claude-sonnet-5", [2.0, 10.0, 2.5, 4.0, 0.20]),
        ("claude-opus-5", [5.0, 25.0, 6.25, 10.0, 0.50]),
        ("claude-fable-5-1", [10.0, 50.0, 12.5, 20.0, 0.25]),
        ("claude-opus-4-1", [15.0, 75.0, 18.75, 30.0, 1.50]),
        ("claude-haiku-4-5", [1.0, 5.0, 1.25, 2.0, 0.10]),
    ] {
        let price = catalogue.info(model).price.unwrap();
        let own = [price.input, price.output, price.cache_write, price.cache_write_1h, price.cache_read];
        assert_eq!(own, rates.map(|usd| NanoUsd::from_usd(usd / 1e6)), "{model}");
    }
}

#[test]
fn long_prompts_have_their_own_price() {
    let haiku = Catalogue::new().info("claude-haiku-5-5");
    assert_eq!(haiku.cost(&Usage::new(100_000, 1_000)), Some(NanoUsd::new(10_000_000 + 500_000)));
    assert_eq!(haiku.cost(&Usage::new(100_001, 1_000)), Some(NanoUsd::new(50_000_500 + 2_500_000)));
}

#[test]
fn an_effort_that_a_model_lacks_becomes_a_weaker_one() {
    use windlass_types::Effort::{self, High, Low, Max, XHigh};
    let catalogue = Catalogue::new();
    for (model, wanted, asked) in [
        ("claude-opus-5-5", Max, Some(Max)),
        ("claude-opus-5-5", XHigh, Some(XHigh)),
        ("claude-sonnet-4-6", XHigh, Some(High)),
        ("claude-sonnet-4-6", Max, Some(Max)),
        ("claude-opus-4-5-20251101", Max, Some(High)),
        ("claude-sonnet-4-5", Low, None),
        ("unheard-of", High, None),
    ] {
        assert_eq!(catalogue.info(model).effort_for(wanted), asked, "{model} {wanted}");
    }
    assert!(Effort::ALL.iter().all(|effort| effort.as_str().parse() == Ok(*effort)));
}

#[test]
fn betas_are_those_that_a_model_needs() {
    let catalogue = Catalogue::new();
    assert!(catalogue.betas("claude-opus-5-5").is_empty());
    assert_eq!(catalogue.betas("claude-sonnet-4-5"), [beta::INTERLEAVED_THINKING]);
    assert_eq!(catalogue.betas("claude-sonnet-4-5[1m]"), [beta::CONTEXT_1M, beta::INTERLEAVED_THINKING]);
    assert_eq!(catalogue.betas("own"), [""; 0]);
    assert_eq!(Catalogue::wire_id("claude-sonnet-4-5[1m]"), "claude-sonnet-4-5");
    assert_eq!(Catalogue::wire_id("é"), "é");
}

#[test]
fn long_windows_hold_more_images() {
    let catalogue = Catalogue::new();
    let count = |model| catalogue.info(model).media.count;
    assert_eq!((count("claude-opus-5-5"), count("claude-sonnet-4-5[1m]")), (540, 540));
    assert_eq!((count("claude-sonnet-4-5"), count("llama")), (90, 90));
    // The user's value for the window does not affect images.
    let window = ModelOverride::new().context_window(1_000_000);
    assert_eq!(Catalogue::new().with_override("llama", window).info("llama").media, MediaLimits::default());
}

#[test]
fn what_the_user_says_wins() {
    let window = |window| ModelOverride { context_window: Some(window), ..ModelOverride::new() };
    let catalogue = Catalogue::new()
        .with_override("claude-opus-5-5", window(50_000))
        .with_override("claude", window(60_000))
        .with_override("claude-opus-5-5", ModelOverride { max_output_tokens: Some(4_000), ..ModelOverride::new() })
        .with_override("own", ModelOverride::new().price(Price::new(1, 2)));
    let opus = catalogue.info("claude-opus-5-5");
    assert_eq!((opus.context_window, opus.max_output_tokens, opus.default_output_tokens), (50_000, 4_000, 4_000));
    assert!(opus.price.is_some());
    assert_eq!(catalogue.info("claude-sonnet-4-5[1m]").context_window, 60_000);
    let local = Catalogue::new().with_override("own", ModelOverride::new().max_images(1)).info("own-2");
    assert_eq!((local.media.count, local.media.bytes), (1, MediaLimits::default().bytes));
    assert_eq!(catalogue.info("own-2").cost(&Usage::new(1, 1)), Some(NanoUsd::new(3)));
}

#[test]
fn families_are_distinguished() {
    for (at, family) in FAMILIES.iter().enumerate() {
        assert!(FAMILIES.iter().skip(at + 1).all(|other| other.id != family.id), "{} twice", family.id);
    }
}

#[test]
fn known_models_are_those_of_the_table_with_what_the_user_says() {
    let catalogue = Catalogue::new()
        .with_alias("opus", "claude-sonnet-4-5")
        .with_override("claude-haiku", ModelOverride::new().context_window(9).input_price(7.0));
    let models = catalogue.known_models(&Api::new("anthropic", Api::MESSAGES));
    assert_eq!(models.len(), FAMILIES.len());
    let known = |id: &str| models.iter().find(|known| known.id == id).unwrap();
    assert_eq!(known("claude-opus-5-5").aliases, ["default"]);
    assert_eq!(known("claude-sonnet-4-5").aliases, ["opus"]);
    let haiku = known("claude-haiku-5-5");
    assert_eq!((haiku.context_window, &haiku.overridden[..]), (Some(9), &["contextWindow", "inputPrice"][..]));
    assert_eq!(haiku.info.price.map(|price| price.input), Some(NanoUsd::new(7_000)));
    assert!(models.iter().all(|known| known.info.api.provider() == "anthropic" && known.source.is_some()));
    assert!(catalogue.is_priced("claude-haiku-4-5") && !catalogue.is_priced("claude-opus-5-5"));
}

#[test]
fn old_models_have_their_own_limits() {
    for (model, window, output) in [
        ("claude-3-5-haiku-20241022", 200_000, 8_192),
        ("us.anthropic.claude-3-5-sonnet-20241022-v2:0", 200_000, 8_192),
        ("claude-3-7-sonnet-latest", 200_000, 64_000),
        ("claude-3-opus-20240229", 200_000, 4_096),
        ("claude-3-haiku@20240307", 200_000, 4_096),
        ("claude-2.1", 200_000, 4_096),
        ("claude-instant-1.2", 100_000, 4_096),
        ("claude-new-9", 200_000, 32_000),
    ] {
        let info = Catalogue::new().info(model);
        assert_eq!((info.context_window, info.max_output_tokens), (window, output), "{model}");
        assert!(info.default_output_tokens <= output, "{model}");
    }
}
