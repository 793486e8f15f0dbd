//! What is known of the vendor's models.
//!
//! Sources, read in November 2026:
//! - `gpt-6.2-sol`, `gpt-6-sol`, `gpt-6-luna` and `gpt-5-nano` with their rates: the page of each model under
//!   <https://developers.openai.com/api/docs/models/>;
//! - `gpt-5.5`, `gpt-5.4` and `gpt-5.4-mini`: the overview <https://developers.openai.com/docs/models>. It has no rates
//!   of cached input, so these models have no price here.
//!
//! A model without a source for its limits is not in the table and gets careful ones.

use windlass_types::{Effort, LongPrompt, ModelInfo, NanoUsd, Price};

/// The model of a user who names none.
pub(crate) const DEFAULT_MODEL: &str = "gpt-6.2-sol";

/// What a provider of these models must know beside their description.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Model {
    pub(crate) info: ModelInfo,
    /// Whether it can be asked not to reason at all, by the effort `none`.
    pub(crate) can_skip_reasoning: bool,
}

impl Model {
    /// Whether it reasons: sampling settings are refused then, and reasoning can be had encrypted.
    pub(crate) fn reasons(&self) -> bool {
        self.info.adaptive_thinking || self.info.thinking_budget || !self.info.efforts.is_empty()
    }
}

const UP_TO_HIGH: &[Effort] = &[Effort::Low, Effort::Medium, Effort::High];
const UP_TO_XHIGH: &[Effort] = &[Effort::Low, Effort::Medium, Effort::High, Effort::XHigh];

/// Billionths of a dollar for a token.
#[derive(Clone, Copy)]
struct Rates {
    input: u64,
    cached: u64,
    /// Written to the cache for 30 minutes, and for 12 hours.
    written: (u64, u64),
    output: u64,
    /// Over so many input tokens, input costs twice and output one and a half times as much.
    long_over: Option<u64>,
}

struct Family {
    id: &'static str,
    window: u64,
    efforts: &'static [Effort],
    can_skip_reasoning: bool,
    /// Whether tools may come in the middle of the conversation, as `additional_tools` items. They stand in the types of
    /// the vendor's own library without a word on models, so only the newest are trusted with them.
    appends_tools: bool,
    rates: Option<Rates>,
}

/// All of them write at most this many tokens.
const MAX_OUTPUT: u32 = 128_000;
const LONG: Option<u64> = Some(272_000);

const SOL: Rates = Rates { input: 2_000, cached: 200, written: (2_500, 5_000), output: 10_000, long_over: LONG };

const FAMILIES: &[Family] = &[
    Family {
        id: "gpt-6.2-sol",
        window: 1_050_000,
        efforts: &Effort::ALL,
        can_skip_reasoning: false,
        appends_tools: true,
        rates: Some(Rates { cached: 100, ..SOL }),
    },
    Family {
        id: "gpt-6-sol",
        window: 1_050_000,
        efforts: &Effort::ALL,
        can_skip_reasoning: true,
        appends_tools: true,
        rates: Some(SOL),
    },
    Family {
        id: "gpt-6-luna",
        window: 1_050_000,
        efforts: &Effort::ALL,
        can_skip_reasoning: true,
        appends_tools: true,
        rates: Some(Rates { input: 100, cached: 10, written: (125, 250), output: 500, long_over: LONG }),
    },
    Family {
        id: "gpt-5.5",
        window: 1_000_000,
        efforts: UP_TO_XHIGH,
        can_skip_reasoning: true,
        appends_tools: false,
        rates: None,
    },
    Family {
        id: "gpt-5.4",
        window: 1_000_000,
        efforts: UP_TO_XHIGH,
        can_skip_reasoning: true,
        appends_tools: false,
        rates: None,
    },
    Family {
        id: "gpt-5.4-mini",
        window: 400_000,
        efforts: UP_TO_XHIGH,
        can_skip_reasoning: true,
        appends_tools: false,
        rates: None,
    },
    Family {
        id: "gpt-5-nano",
        window: 400_000,
        efforts: UP_TO_HIGH,
        can_skip_reasoning: false,
        appends_tools: false,
        rates: Some(Rates { input: 50, cached: 5, written: (50, 50), output: 400, long_over: None }),
    },
];

/// What is known of a model. An unknown one gets careful limits and no price.
pub(crate) fn model(name: &str) -> Model {
    match family(name) {
        Some(family) => family.model(),
        None => unknown(name),
    }
}

/// The ids in the table.
pub(crate) fn names<'a>() -> impl Iterator<Item = &'a str> {
    FAMILIES.iter().map(|family| family.id)
}

/// Whether the name is that of a model in the table, or of a release of one.
pub(crate) fn is_known(name: &str) -> bool {
    family(name).is_some()
}

/// The family with this id, a date or `latest` behind it or not. Another version is another model: it must not be
/// billed as a known one.
fn family(name: &str) -> Option<&'static Family> {
    let is_release = |rest: &str| {
        let date = |rest: &str| rest.len() == 10 && rest.bytes().all(|byte| byte.is_ascii_digit() || byte == b'-');
        rest.is_empty() || rest.strip_prefix('-').is_some_and(|rest| rest == "latest" || date(rest))
    };
    FAMILIES.iter().find(|family| name.strip_prefix(family.id).is_some_and(is_release))
}

impl Family {
    fn model(&self) -> Model {
        let mut info = described(self.window, MAX_OUTPUT);
        info.default_output_tokens = 64_000;
        info.adaptive_thinking = true;
        info.efforts = self.efforts.to_vec();
        info.appends_tools = self.appends_tools;
        info.price = self.rates.map(|rates| rates.price(2, 2));
        info.long_prompt = self.rates.and_then(|rates| Some(LongPrompt::new(rates.long_over?, rates.price(4, 3))));
        Model { info, can_skip_reasoning: self.can_skip_reasoning }
    }
}

impl Rates {
    /// The price with so many halves of the rates of input and output.
    fn price(self, input: u64, output: u64) -> Price {
        let mut price = Price::new(self.input * input / 2, self.output * output / 2);
        price.cache_read = NanoUsd::new(self.cached * input / 2);
        price.cache_write = NanoUsd::new(self.written.0 * input / 2);
        price.cache_write_1h = NanoUsd::new(self.written.1 * input / 2);
        price
    }
}

fn described(window: u64, max_output: u32) -> ModelInfo {
    let mut info = ModelInfo::new(window, max_output);
    info.vision = true;
    info.documents = true;
    info.prompt_cache = true;
    info
}

/// Generations before those that reason.
const WITHOUT_REASONING: [&str; 4] = ["gpt-3", "gpt-4", "chatgpt-", "davinci"];

fn unknown(name: &str) -> Model {
    let numbered =
        |prefix: &str| name.strip_prefix(prefix).is_some_and(|rest| rest.starts_with(|c: char| c.is_ascii_digit()));
    let is_old = WITHOUT_REASONING.iter().any(|prefix| name.starts_with(prefix));
    // The vendor's generations since `o1` and `gpt-5` reason, but for those of its chat product.
    let reasons = !is_old && (numbered("gpt-") || numbered("o")) && !name.contains("-chat");
    let mut info = if is_old || reasons { described(128_000, 16_384) } else { ModelInfo::new(128_000, 8_192) };
    info.prompt_cache = true;
    if reasons {
        info.adaptive_thinking = true;
        info.efforts = UP_TO_HIGH.to_vec();
    }
    Model { info, can_skip_reasoning: false }
}

#[cfg(test)]
mod tests;
