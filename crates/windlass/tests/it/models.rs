//! Facts about models: the tables of all providers, and the overrides of programs.

use std::collections::BTreeSet;
use windlass::options::{CompactionOptions, LimitOptions, ModelOptions};
use windlass::provider::{
    KnownModel, ModelOverride, ModelProvider, NanoUsd, Price, UnpricedModels, Usage, from_lookup,
};
use windlass::testing::ScriptedTurn;
use windlass::{ScriptedModel, query};

/// All models of a program that has no key at all.
fn known() -> Vec<KnownModel> {
    from_lookup(|_| None).known_models()
}

#[cfg(all(feature = "anthropic", feature = "gemini", feature = "openai"))]
#[test]
fn models_of_all_vendors_are_known_without_a_key() {
    let known = known();
    let names = known.iter().filter_map(|known| known.id.split_once('/')).map(|(provider, _)| provider);
    let expected = [
        "anthropic",
        #[cfg(feature = "bedrock")]
        "bedrock",
        "deepseek",
        "gemini",
        "groq",
        "mistral",
        "moonshot",
        "openai",
        "openrouter",
        "qwen",
        "together",
        "xai",
        "zai",
    ];
    assert!(names.collect::<BTreeSet<_>>().into_iter().eq(expected));
    assert!(known.len() > 100, "{}", known.len());
}

#[test]
fn each_row_is_sane() {
    let mut names = BTreeSet::new();
    for known in known() {
        let (id, info) = (&known.id, &known.info);
        assert!(names.insert(known.id.clone()), "{id} twice");
        for alias in &known.aliases {
            assert!(names.insert(alias.clone()), "{alias} twice");
        }
        let (Some(window), output) = (known.context_window, known.max_output_tokens) else {
            panic!("{id} has no window")
        };
        assert!((8_000..=10_000_000).contains(&window), "{id}");
        assert!(output.is_none_or(|output| u64::from(output) <= window && output >= 1_000), "{id}");
        assert!(info.default_output_tokens <= info.max_output_tokens && info.default_output_tokens > 0, "{id}");
        assert!(u64::from(info.max_output_tokens) < info.context_window && info.context_window <= window, "{id}");
        assert!(!info.api.provider().is_empty(), "{id}");
        let source = known.source.unwrap();
        assert!(source.url.starts_with("https://") && source.url.len() > 15, "{id}");
        assert!(is_date(source.read), "{id}: {}", source.read);
        assert!(known.overridden.is_empty(), "{id}");
        prices(&known);
    }
}

/// A day of the years in which this was written.
fn is_date(text: &str) -> bool {
    let parts: Vec<&str> = text.split('-').collect();
    let [year, month, day] = parts[..] else { return false };
    let within = |text: &str, from: u32, to: u32| text.parse::<u32>().is_ok_and(|number| (from..=to).contains(&number));
    text.len() == 10 && within(year, 2026, 2027) && within(month, 1, 12) && within(day, 1, 31)
}

fn prices(known: &KnownModel) {
    let (id, Some(price)) = (&known.id, known.info.price) else { return };
    let is_sane = |price: &Price| {
        price.input.nano() > 0
            && price.output >= price.input
            && price.cache_read <= price.input
            && price.cache_write >= price.input
            && price.cache_write_1h >= price.cache_write
            // A dollar for a thousand tokens is a mistake of the unit.
            && price.output.nano() < 1_000_000
    };
    assert!(is_sane(&price), "{id}: {price:?}");
    let (mut over, mut below) = (0, price);
    for tier in &known.info.long_prompts {
        // A tier may begin where the window ends, if a larger one can be asked for.
        assert!(tier.over > over && tier.over <= known.info.context_window, "{id}");
        assert!(is_sane(&tier.price), "{id}: {tier:?}");
        assert!(tier.price.input >= below.input && tier.price.output >= below.output, "{id}: {tier:?}");
        (over, below) = (tier.over, tier.price);
    }
}

#[test]
fn names_and_aliases_resolve_to_what_is_listed() {
    // With a key of each vendor, so that all providers can be set up.
    let router = from_lookup(|name| match name {
        "AWS_REGION" => Some("us-east-1".to_owned()),
        "AWS_BEARER_TOKEN_BEDROCK" => Some("k".to_owned()),
        _ => name.ends_with("_API_KEY").then(|| "k".to_owned()),
    });
    windlass_testkit::provider::lists_models(&router).unwrap();
}

#[test]
fn a_call_that_another_known_model_answers_has_the_price_of_that_one() {
    let router = from_lookup(|name| name.ends_with("_API_KEY").then(|| "k".to_owned()));
    let answering = |asked: &str, answered: &str| router.answering_model(asked, answered);
    assert_eq!(answering("claude-opus-5-5", "claude-sonnet-5-5").as_deref(), Some("claude-sonnet-5-5"));
    #[cfg(feature = "openai")]
    assert_eq!(
        answering("openrouter/openrouter/auto", "anthropic/claude-opus-5.5").as_deref(),
        Some("openrouter/anthropic/claude-opus-5.5")
    );
    // A release of the model, and a name that says nothing.
    assert_eq!(answering("claude-opus-5-5", "claude-opus-5-5-20261101"), None);
    assert_eq!(answering("openai/gpt-6-sol", "who-knows"), None);
}

#[tokio::test]
async fn what_a_program_says_of_a_model_counts_for_budget_and_cost() {
    let model = || ScriptedModel::from_fn(|_, _| ScriptedTurn::new().text("done").usage(Usage::new(1_000, 10)));
    let refused = query("?").provider(model()).model("mine").max_budget_usd(1.0).await.unwrap_err();
    assert!(refused.to_string().contains("mine"), "{refused}");
    for more in [
        query("?").model(ModelOptions::new().fallback("second")),
        query("?").compaction(CompactionOptions::new().summarizer_model("second")),
    ] {
        let priced = ModelOverride::new().input_price(2.0).output_price(10.0);
        let refused = more
            .provider(model())
            .model("mine")
            .model(ModelOptions::new().with_override("mi", priced))
            .max_budget_usd(1.0)
            .await;
        assert!(refused.unwrap_err().to_string().contains("second"));
    }
    let mine = ModelOverride::new().context_window(64_000).input_price(2.0).output_price(10.0);
    let result = query("?")
        .provider(model())
        .model("quick")
        .model(ModelOptions::new().with_override("mi", mine).alias("quick", "mine"))
        .max_budget_usd(1.0)
        .await
        .unwrap();
    assert_eq!(result.cost, NanoUsd::new(1_000 * 2_000 + 10 * 10_000));
    assert_eq!(result.model_usage["mine"].context_window, 64_000);
    assert_eq!(result.reported_cost(), NanoUsd::ZERO);
}

#[tokio::test]
async fn what_the_provider_reports_is_the_cost_of_the_result() {
    let model = ScriptedModel::from_fn(|_, _| {
        let mut usage = Usage::new(1_000, 10);
        usage.reported_cost = Some(NanoUsd::new(5));
        ScriptedTurn::new().text("done").usage(usage)
    });
    let result =
        query("?").provider(model).limits(LimitOptions::new().unpriced_models(UnpricedModels::Allow)).await.unwrap();
    assert_eq!((result.cost, result.reported_cost()), (NanoUsd::new(5), NanoUsd::new(5)));
}
