//! What is known of Anthropic's models.
//!
//! Limits and prices are those of the vendor's model overview and price list of
//! November 2026, in dollars for a million tokens.

use windlass_types::{ModelInfo, NanoUsd, Price};

/// What marks a model name as wanting the context of a million tokens.
const LONG: &str = "[1m]";

/// The beta that gives it to the models which need one.
const LONG_BETA: &str = "context-1m-2025-08-07";

/// One family: models whose id begins so.
#[derive(Clone, Copy)]
struct Family {
    prefix: &'static str,
    window: u64,
    output: u32,
    /// Tokens to ask for when nobody says.
    ask: u32,
    thinking: Modes,
    price: Price,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Modes {
    Budget,
    Both,
    Adaptive,
}

const MILLION: u64 = 1_000_000;

/// Cents for a million tokens, as billionths of a dollar for one.
const fn price(input: u64, output: u64, cache_read: u64) -> Price {
    let mut price = Price::new(input * 10, output * 10);
    price.cache_read = NanoUsd::new(cache_read * 10);
    price
}

const fn family(prefix: &'static str, modes: Modes, price: Price) -> Family {
    Family { prefix, window: MILLION, output: 128_000, ask: 128_000, thinking: modes, price }
}

const fn limits(family: Family, window: u64, output: u32, ask: u32) -> Family {
    Family { window, output, ask, ..family }
}

/// The first match counts, so longer prefixes come first.
const FAMILIES: &[Family] = &[
    family("claude-fable-5-1", Modes::Adaptive, price(1000, 5000, 25)),
    family("claude-fable-5", Modes::Adaptive, price(1000, 5000, 100)),
    family("claude-opus-5-5", Modes::Adaptive, price(400, 2000, 20)),
    family("claude-opus-5", Modes::Adaptive, price(500, 2500, 50)),
    family("claude-opus-4-8", Modes::Adaptive, price(500, 2500, 50)),
    family("claude-opus-4-7", Modes::Adaptive, price(500, 2500, 50)),
    limits(family("claude-opus-4-6", Modes::Both, price(500, 2500, 50)), MILLION, 128_000, 32_000),
    limits(family("claude-opus-4-5", Modes::Budget, price(500, 2500, 50)), 200_000, 64_000, 32_000),
    limits(family("claude-opus-4", Modes::Budget, price(1500, 7500, 150)), 200_000, 32_000, 32_000),
    family("claude-sonnet-5-5", Modes::Adaptive, price(200, 1000, 10)),
    limits(family("claude-sonnet-5", Modes::Adaptive, price(200, 1000, 20)), MILLION, 128_000, 64_000),
    limits(family("claude-sonnet-4-6", Modes::Both, price(300, 1500, 30)), MILLION, 64_000, 32_000),
    limits(family("claude-sonnet-4", Modes::Budget, price(300, 1500, 30)), 200_000, 64_000, 32_000),
    // The price of prompts up to 100,000 tokens; longer ones cost five times that.
    family("claude-haiku-5-5", Modes::Adaptive, price(10, 50, 1)),
    limits(family("claude-haiku-4-5", Modes::Budget, price(100, 500, 10)), 200_000, 64_000, 32_000),
];

/// The model id for what a user wrote. `[1m]` stays on the id where the wider
/// context has to be asked for.
pub(crate) fn resolve(name: &str) -> String {
    let name = name.trim();
    let (plain, long) = match name.strip_suffix(LONG) {
        Some(plain) => (plain, true),
        None => (name, false),
    };
    let id = match plain.to_ascii_lowercase().as_str() {
        "opus" => "claude-opus-5-5",
        "sonnet" => "claude-sonnet-5-5",
        "haiku" => "claude-haiku-5-5",
        "fable" => "claude-fable-5-1",
        _ => plain,
    };
    if long && find(id).is_none_or(|family| family.window < MILLION) { format!("{id}{LONG}") } else { id.to_owned() }
}

/// What the wire calls a model, and the beta that it needs for its context.
pub(crate) fn on_wire(model: &str) -> (&str, Option<&'static str>) {
    match model.strip_suffix(LONG) {
        Some(plain) => (plain, Some(LONG_BETA)),
        None => (model, None),
    }
}

/// Limits, abilities and price. A model that is not known gets the limits of the
/// oldest one in use and no price.
pub(crate) fn info(model: &str) -> ModelInfo {
    let (id, beta) = on_wire(model);
    let known = find(id);
    let mut info =
        known.map_or_else(|| ModelInfo::new(200_000, 32_000), |family| ModelInfo::new(family.window, family.output));
    info.vision = true;
    info.documents = true;
    info.prompt_cache = true;
    if beta.is_some() {
        info.context_window = MILLION;
    }
    if let Some(family) = known {
        info.default_output_tokens = family.ask;
        info.thinking_budget = family.thinking != Modes::Adaptive;
        info.adaptive_thinking = family.thinking != Modes::Budget;
        info.price = Some(family.price);
    }
    info
}

fn find(id: &str) -> Option<&'static Family> {
    FAMILIES.iter().find(|family| id.starts_with(family.prefix))
}

#[cfg(test)]
mod tests;
