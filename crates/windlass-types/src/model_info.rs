//! Limits, abilities and prices of a model.

use crate::{Api, Effort, MediaLimits, NanoUsd, Usage};
use serde::{Deserialize, Serialize};

/// Limits, abilities and price of a model.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct ModelInfo {
    /// Provider of the model and its dialect. Messages keep it as part of their origin.
    pub api: Api,
    /// Size of the context window, input and output together, in tokens.
    pub context_window: u64,
    /// `true` if the server of the model named [`context_window`](Self::context_window); `false` if a table or the user did.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub window_from_server: bool,
    /// Maximum number of output tokens.
    pub max_output_tokens: u32,
    /// Output tokens to ask for when the user sets no limit.
    pub default_output_tokens: u32,
    /// `true` if the model can reason with a token budget.
    pub thinking_budget: bool,
    /// `true` if the model can choose the amount of reasoning itself.
    pub adaptive_thinking: bool,
    /// Supported efforts; empty if the model has no such setting.
    pub efforts: Vec<Effort>,
    /// `true` if the model sees images.
    pub vision: bool,
    /// `true` if the model reads PDF documents.
    pub documents: bool,
    /// Limits on images and documents in one request.
    pub media: MediaLimits,
    /// `true` if prompts can be cached.
    pub prompt_cache: bool,
    /// `true` if requests may require an answer in the form of a schema ([`ResponseFormat`](crate::ResponseFormat)),
    /// which the server enforces.
    pub answer_format: bool,
    /// `true` if requests may add tools in the middle of a conversation ([`AddedTools`](crate::AddedTools)). For other
    /// models all tools are sent in front, so an added tool invalidates the prompt cache.
    pub appends_tools: bool,
    /// Cost of one web search by the vendor ([`ServerTool::WebSearch`](crate::ServerTool::WebSearch)). `None`: the
    /// vendor has no such tool.
    pub web_search: Option<NanoUsd>,
    /// Price per token, if known.
    pub price: Option<Price>,
    /// Prices of calls with a long prompt, where they differ. Of the exceeded thresholds, the highest applies.
    pub long_prompts: Vec<LongPrompt>,
}

/// The price of calls with a long prompt. It applies to the whole call, output included.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct LongPrompt {
    /// Threshold: the price applies to prompts with more input tokens than this, cached ones included.
    pub over: u64,
    /// The price.
    pub price: Price,
}

impl LongPrompt {
    /// A price for prompts of more than `over` tokens.
    pub const fn new(over: u64, price: Price) -> Self {
        Self { over, price }
    }
}

impl ModelInfo {
    /// A model with these limits, no further abilities and no price.
    pub fn new(context_window: u64, max_output_tokens: u32) -> Self {
        Self {
            api: Api::default(),
            context_window,
            window_from_server: false,
            max_output_tokens,
            default_output_tokens: max_output_tokens,
            thinking_budget: false,
            adaptive_thinking: false,
            efforts: Vec::new(),
            vision: false,
            documents: false,
            media: MediaLimits::default(),
            prompt_cache: false,
            answer_format: false,
            appends_tools: false,
            web_search: None,
            price: None,
            long_prompts: Vec::new(),
        }
    }

    /// Takes the context window that the server of the model named, in tokens. An answer may take up half of it at most.
    pub fn take_window_of_server(&mut self, tokens: u64) {
        (self.context_window, self.window_from_server) = (tokens, true);
        let room = u32::try_from(tokens / 2).unwrap_or(u32::MAX).max(1);
        self.max_output_tokens = self.max_output_tokens.min(room);
        self.default_output_tokens = self.default_output_tokens.min(self.max_output_tokens);
    }

    /// Returns the effort to request instead of `wanted`: the wanted one, or the strongest that is weaker; `None` if
    /// there is none.
    pub fn effort_for(&self, wanted: Effort) -> Option<Effort> {
        self.efforts.iter().copied().filter(|effort| *effort <= wanted).max()
    }

    /// Returns the cost of one call: the one reported by the provider, or one computed from the price, if known. Not
    /// for sums of calls, because the price may depend on the length of the prompt.
    pub fn cost(&self, usage: &Usage) -> Option<NanoUsd> {
        let searches = self.web_search.unwrap_or_default().times(usage.web_search_requests);
        let by_price = || Some(self.price_for(usage.total_input())?.cost(usage).saturating_add(searches));
        usage.reported_cost.or_else(by_price)
    }

    /// Returns the price of a call with a prompt of `input_tokens`, cached ones included, if known.
    pub fn price_for(&self, input_tokens: u64) -> Option<Price> {
        let price = self.price?;
        let exceeded = self.long_prompts.iter().filter(|long| input_tokens > long.over);
        Some(exceeded.max_by_key(|long| long.over).map_or(price, |long| long.price))
    }
}

/// Price of one token, in billionths of a dollar: 3 USD per million tokens is 3,000.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Price {
    /// Plain input.
    pub input: NanoUsd,
    /// Output.
    pub output: NanoUsd,
    /// Input written to the cache for five minutes.
    pub cache_write: NanoUsd,
    /// Input written to the cache for one hour.
    pub cache_write_1h: NanoUsd,
    /// Input read from the cache.
    pub cache_read: NanoUsd,
}

impl Price {
    /// A price from the plain rates in billionths of a dollar per token. Cache
    /// writes cost 1.25 times the input rate (twice for one hour), reads a tenth
    /// (Anthropic, "Prompt caching", pricing).
    pub const fn new(input: u64, output: u64) -> Self {
        Self {
            input: NanoUsd::new(input),
            output: NanoUsd::new(output),
            cache_write: NanoUsd::new(input.saturating_add(input / 4)),
            cache_write_1h: NanoUsd::new(input.saturating_mul(2)),
            cache_read: NanoUsd::new(input / 10),
        }
    }

    /// This price with another one for input that is read from the cache.
    #[must_use]
    pub const fn with_cache_read(mut self, read: u64) -> Self {
        self.cache_read = NanoUsd::new(read);
        self
    }

    /// This price with others for input that is written to the cache: for five minutes, and for one hour.
    #[must_use]
    pub const fn with_cache_write(mut self, five_minutes: u64, one_hour: u64) -> Self {
        self.cache_write = NanoUsd::new(five_minutes);
        self.cache_write_1h = NanoUsd::new(one_hour);
        self
    }

    /// A price without cache rates: cache writes and reads cost as much as other input.
    pub const fn plain(input: u64, output: u64) -> Self {
        Self::new(input, output).with_cache_read(input).with_cache_write(input, input)
    }

    /// The cost of a call.
    pub fn cost(&self, usage: &Usage) -> NanoUsd {
        let long = usage.cache_creation_1h_input_tokens.min(usage.cache_creation_input_tokens);
        let short = usage.cache_creation_input_tokens - long;
        self.input
            .times(usage.input_tokens)
            .saturating_add(self.output.times(usage.output_tokens))
            .saturating_add(self.cache_write.times(short))
            .saturating_add(self.cache_write_1h.times(long))
            .saturating_add(self.cache_read.times(usage.cache_read_input_tokens))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_call_is_priced_by_its_own_prompt() {
        let mut info = ModelInfo::new(1_000_000, 1_000);
        let mut usage = Usage::new(100, 10);
        assert_eq!(info.cost(&usage), None);
        info.price = Some(Price::new(10, 100));
        info.long_prompts =
            vec![LongPrompt::new(1_000, Price::new(30, 300)), LongPrompt::new(150, Price::new(20, 200))];
        assert_eq!(info.cost(&usage), Some(NanoUsd::new(2_000)));
        usage.cache_read_input_tokens = 50;
        assert_eq!(info.cost(&usage), Some(NanoUsd::new(2_050)));
        usage.cache_read_input_tokens = 51;
        assert_eq!(info.cost(&usage), Some(NanoUsd::new(2_000 + 2_000 + 102)));
        assert_eq!(info.cost(&Usage::new(1_001, 1)), Some(NanoUsd::new(30_030 + 300)));
    }

    #[test]
    fn what_the_provider_reports_counts_for_more_than_the_price() {
        let mut info = ModelInfo::new(1_000, 1_000);
        let usage = Usage { reported_cost: Some(NanoUsd::new(7)), ..Usage::new(100, 10) };
        assert_eq!(info.cost(&usage), Some(NanoUsd::new(7)));
        info.price = Some(Price::new(10, 100));
        assert_eq!(info.cost(&usage), Some(NanoUsd::new(7)));
    }

    #[test]
    fn cache_writes_are_priced_by_their_lifetime() {
        let usage = Usage { cache_creation_input_tokens: 10, cache_creation_1h_input_tokens: 4, ..Usage::default() };
        assert_eq!(Price::new(1_000, 0).cost(&usage), NanoUsd::new(6 * 1_250 + 4 * 2_000));
    }

    proptest::proptest! {
        #[test]
        fn the_cost_is_the_exact_sum_of_its_parts(
            rates in proptest::array::uniform5(0_u64..1_000_000),
            tokens in proptest::array::uniform5(0_u64..3_000_000),
        ) {
            let [input, output, read, short, long] = rates;
            let price = Price::new(input, output).with_cache_read(read).with_cache_write(short, long);
            let [plain, written, cached, for_minutes, for_an_hour] = tokens;
            let mut usage = Usage::new(plain, written);
            usage.cache_read_input_tokens = cached;
            usage.cache_creation_input_tokens = for_minutes + for_an_hour;
            usage.cache_creation_1h_input_tokens = for_an_hour;
            let parts = [(input, plain), (output, written), (read, cached), (short, for_minutes), (long, for_an_hour)];
            let exact: u128 = parts.iter().map(|(rate, tokens)| u128::from(*rate) * u128::from(*tokens)).sum();
            proptest::prop_assert_eq!(u128::from(price.cost(&usage).nano()), exact);
        }

        #[test]
        fn a_longer_call_never_costs_less_and_no_cost_wraps(
            rates in proptest::array::uniform2(0_u64..=u64::MAX),
            tokens in proptest::array::uniform2(0_u64..=u64::MAX),
            more in 0_u64..=u64::MAX,
        ) {
            let price = Price::plain(rates[0], rates[1]);
            let usage = Usage::new(tokens[0], tokens[1]);
            let longer = Usage::new(tokens[0].saturating_add(more), tokens[1]);
            proptest::prop_assert!(price.cost(&longer) >= price.cost(&usage));
        }

        #[test]
        fn the_price_of_a_call_is_that_of_the_longest_prompt_that_it_exceeds(
            overs in proptest::collection::btree_set(1_u64..1_000, 0..5),
            input in 0_u64..1_200,
        ) {
            let mut info = ModelInfo::new(10, 10);
            info.price = Some(Price::plain(0, 0));
            // In any order.
            info.long_prompts = overs.iter().rev().map(|over| LongPrompt::new(*over, Price::plain(*over, 0))).collect();
            let exceeded = overs.iter().filter(|over| input > **over).max().copied().unwrap_or(0);
            proptest::prop_assert_eq!(info.price_for(input).map(|price| price.input.nano()), Some(exceeded));
        }
    }
}
