//! Output of models.

use crate::terminal::clean_line;
use serde_json::{Value, json};
use std::fmt::Write;
use windlass::provider::KnownModel;
use windlass::{
    event::NanoUsd,
    provider::{ModelInfo, Price},
};

/// Placeholder for a figure that no source has.
const NONE: &str = "-";

const HEAD: [&str; 7] = ["MODEL", "WINDOW", "OUTPUT", "IN $/M", "OUT $/M", "ABILITIES", "ALIASES"];

/// Returns the models in columns, with their sources below.
pub(super) fn table(models: &[KnownModel]) -> String {
    let rows: Vec<[String; 7]> = models.iter().map(row).collect();
    let width = |column: usize| {
        let cells = rows.iter().filter_map(|row| row.get(column)).map(|cell| cell.chars().count());
        cells.chain(HEAD.get(column).map(|head| head.len())).max().unwrap_or_default()
    };
    let widths: Vec<usize> = (0..HEAD.len()).map(width).collect();
    let mut text = String::new();
    line(&mut text, &HEAD.map(str::to_owned), &widths);
    for row in &rows {
        line(&mut text, row, &widths);
    }
    if models.iter().any(|known| !known.overridden.is_empty()) {
        text.push_str("\n* your settings\n");
    }
    if models.iter().any(|known| !known.info.long_prompts.is_empty()) {
        text.push_str("\n> more for long prompts: --json has those prices\n");
    }
    sources(&mut text, models);
    text
}

/// Returns window and prices of a model in a few words.
pub(super) fn figures(known: &KnownModel) -> String {
    let window = known.context_window.map(|window| format!("{} tokens", short(window)));
    let price = known.info.price.as_ref();
    let price = price.map(|price| format!("${} in, ${} out", per_million(price.input), per_million(price.output)));
    window.into_iter().chain(price).collect::<Vec<_>>().join(", ")
}

fn line(text: &mut String, row: &[String; 7], widths: &[usize]) {
    let mut line = String::new();
    for (at, (cell, width)) in row.iter().zip(widths).enumerate() {
        let fill = " ".repeat(width.saturating_sub(cell.chars().count()));
        // Figures are right-aligned.
        let cell = if (1..5).contains(&at) { format!("{fill}{cell}") } else { format!("{cell}{fill}") };
        let _ = write!(line, "{}{cell}", if at == 0 { "" } else { "  " });
    }
    text.push_str(line.trim_end());
    text.push('\n');
}

fn row(known: &KnownModel) -> [String; 7] {
    let override_mark =
        |names: &[&str]| if names.iter().any(|name| known.overridden.contains(name)) { "*" } else { "" };
    let price = |rate: fn(&Price) -> NanoUsd, name: &str| match &known.info.price {
        Some(price) => {
            let long = if known.info.long_prompts.is_empty() { "" } else { ">" };
            format!("{}{}{long}", override_mark(&[name]), per_million(rate(price)))
        }
        None => NONE.to_owned(),
    };
    let window = known.context_window.map_or(NONE.to_owned(), short);
    let output = known.max_output_tokens.map_or(NONE.to_owned(), |tokens| short(tokens.into()));
    [
        clean_line(&known.id),
        format!("{}{window}", override_mark(&["contextWindow"])),
        format!("{}{output}", override_mark(&["maxOutputTokens"])),
        price(|price| price.input, "inputPrice"),
        price(|price| price.output, "outputPrice"),
        abilities(&known.info).join(" "),
        clean_line(&bare_aliases(known).join(" ")),
    ]
}

/// Returns the aliases, without the provider if it is that of the model.
fn bare_aliases(known: &KnownModel) -> Vec<&str> {
    let provider = super::provider_of(known);
    let bare = |alias: &'_ String| alias.strip_prefix(provider).and_then(|rest| rest.strip_prefix('/')).map(str::len);
    let cut = known.aliases.iter().map(|alias| match bare(alias) {
        Some(length) => alias.get(alias.len() - length..).unwrap_or(alias),
        None => alias,
    });
    cut.collect()
}

fn sources(text: &mut String, models: &[KnownModel]) {
    let mut named: Vec<(&str, &str, &str)> = Vec::new();
    for known in models {
        let Some(source) = known.source else { continue };
        let row = (super::provider_of(known), source.url, source.read);
        if !named.contains(&row) {
            named.push(row);
        }
    }
    if !named.is_empty() {
        text.push_str("\nSources:\n");
    }
    for (provider, url, read) in named {
        let _ = writeln!(text, "  {provider}: {url} ({read})");
    }
}

/// Returns the abilities of a model, in words.
fn abilities(info: &ModelInfo) -> Vec<&'static str> {
    let reasons = info.adaptive_thinking || info.thinking_budget || !info.efforts.is_empty();
    let all = [
        ("images", info.vision),
        ("pdf", info.documents),
        ("cache", info.prompt_cache),
        ("thinking", reasons),
        ("effort", !info.efforts.is_empty()),
    ];
    all.into_iter().filter(|(_, can)| *can).map(|(name, _)| name).collect()
}

/// Shortens a number of tokens: 1,050,000 is `1.05M`, 128,000 is `128k`; a power of two stays close to its vendor's
/// figure.
fn short(tokens: u64) -> String {
    let (value, unit) = if tokens >= 1_000_000 { (tokens / 10_000, "M") } else { (tokens / 10, "k") };
    if tokens < 1_000 {
        return tokens.to_string();
    }
    let text = format!("{}.{:02}", value / 100, value % 100);
    let text = text.trim_end_matches('0').trim_end_matches('.');
    // Hundredths of a thousand are noise.
    let text = if unit == "k" { text.split('.').next().unwrap_or(text) } else { text };
    format!("{text}{unit}")
}

/// The price of a million tokens, in dollars.
fn per_million(price: NanoUsd) -> String {
    let (whole, thousandths) = (price.nano() / 1_000, price.nano() % 1_000);
    let text = format!("{whole}.{thousandths:03}");
    text.strip_suffix('0').unwrap_or(&text).to_owned()
}

/// A model as JSON: prices in dollars for a million tokens.
pub(super) fn json(known: &KnownModel) -> Value {
    let info = &known.info;
    let rates = |price: &Price| {
        // Billionths for one token are thousandths for a million.
        let usd = |rate: NanoUsd| rate.nano() as f64 / 1e3;
        json!({
            "input": usd(price.input), "output": usd(price.output), "cacheRead": usd(price.cache_read),
            "cacheWrite": usd(price.cache_write), "cacheWrite1h": usd(price.cache_write_1h),
        })
    };
    let tiers = info.long_prompts.iter().map(|long| json!({"over": long.over, "price": rates(&long.price)}));
    json!({
        "name": known.id,
        "provider": super::provider_of(known),
        "aliases": known.aliases,
        "contextWindow": known.context_window,
        "maxOutputTokens": known.max_output_tokens,
        "maxImages": info.vision.then_some(info.media.count),
        "abilities": abilities(info),
        "efforts": info.efforts.iter().map(|effort| effort.as_str()).collect::<Vec<_>>(),
        "price": info.price.as_ref().map(rates),
        "longPrompts": tiers.collect::<Vec<_>>(),
        "source": known.source.map(|source| json!({"url": source.url, "read": source.read})),
        "overridden": known.overridden,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn figures_are_short_and_exact_enough() {
        for (tokens, text) in [
            (1_000_000, "1M"),
            (1_050_000, "1.05M"),
            (1_048_576, "1.04M"),
            (128_000, "128k"),
            (131_072, "131k"),
            (991_808, "991k"),
            (9, "9"),
        ] {
            assert_eq!(short(tokens), text);
        }
        for (nano, text) in [(4_000, "4.00"), (38, "0.038"), (125, "0.125"), (10, "0.01"), (0, "0.00"), (1_400, "1.40")]
        {
            assert_eq!(per_million(NanoUsd::new(nano)), text);
        }
    }
}
