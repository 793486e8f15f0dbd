//! Usage in the forms of the API's relatives.

use super::compat::ReportedCost;
use crate::money;
use serde::Deserialize;
use serde_json::value::RawValue;
use windlass_types::{NanoUsd, Usage, WholeNumber};

/// Usage object. A figure that is missing or null is zero.
///
/// Sources: OpenAI, "The chat completion object"; DeepSeek has `prompt_cache_hit_tokens`, Moonshot `cached_tokens`,
/// LiteLLM `cache_read_input_tokens` and `cache_creation_input_tokens`, OpenRouter `cache_write_tokens`, `cost`,
/// `is_byok` and `cost_details` ("Usage accounting"), xAI `cost_in_usd_ticks` ("Cost tracking").
#[derive(Debug)]
pub(super) struct ChatUsage<'a> {
    tokens: WireTokens,
    cost: WireCost<'a>,
}

/// Tokens of a usage object.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct WireTokens {
    #[serde(deserialize_with = "WholeNumber::optional")]
    prompt_tokens: Option<u64>,
    #[serde(deserialize_with = "WholeNumber::optional")]
    completion_tokens: Option<u64>,
    #[serde(deserialize_with = "WholeNumber::optional")]
    total_tokens: Option<u64>,
    prompt_tokens_details: Option<PromptDetails>,
    completion_tokens_details: Option<OutputDetails>,
    #[serde(deserialize_with = "WholeNumber::optional")]
    prompt_cache_hit_tokens: Option<u64>,
    #[serde(deserialize_with = "WholeNumber::optional")]
    cached_tokens: Option<u64>,
    #[serde(deserialize_with = "WholeNumber::optional")]
    cache_read_input_tokens: Option<u64>,
    #[serde(deserialize_with = "WholeNumber::optional")]
    cache_creation_input_tokens: Option<u64>,
}

/// Cost of a usage object.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct WireCost<'a> {
    #[serde(borrow)]
    cost: Option<&'a RawValue>,
    #[serde(borrow)]
    cost_details: Option<&'a RawValue>,
    #[serde(borrow)]
    cost_in_usd_ticks: Option<&'a RawValue>,
    #[serde(borrow)]
    is_byok: Option<&'a RawValue>,
}

/// Charges of the vendor behind a router.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct CostDetails<'a> {
    #[serde(borrow)]
    upstream_inference_cost: Option<&'a RawValue>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct PromptDetails {
    #[serde(deserialize_with = "WholeNumber::optional")]
    cached_tokens: Option<u64>,
    #[serde(deserialize_with = "WholeNumber::optional")]
    cache_write_tokens: Option<u64>,
    #[serde(deserialize_with = "WholeNumber::optional")]
    cache_creation_tokens: Option<u64>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct OutputDetails {
    #[serde(deserialize_with = "WholeNumber::optional")]
    reasoning_tokens: Option<u64>,
}

impl<'a> ChatUsage<'a> {
    /// Reads a usage object.
    pub(super) fn read(text: &'a str) -> serde_json::Result<Self> {
        Ok(Self { tokens: serde_json::from_str(text)?, cost: serde_json::from_str(text)? })
    }

    /// Returns the usage in its normal form: plain input separate from cached input, reasoning as part of the output.
    pub(super) fn normal(&self, reasoning_beside_output: bool) -> Usage {
        let details = self.tokens.prompt_tokens_details.as_ref();
        let first = |figures: &[Option<u64>]| figures.iter().flatten().copied().find(|figure| *figure > 0).unwrap_or(0);
        let prompt = first(&[self.tokens.prompt_tokens]);
        let read = first(&[
            details.and_then(|details| details.cached_tokens),
            self.tokens.prompt_cache_hit_tokens,
            self.tokens.cache_read_input_tokens,
            self.tokens.cached_tokens,
        ])
        .min(prompt);
        let written = first(&[
            details.and_then(|details| details.cache_write_tokens),
            details.and_then(|details| details.cache_creation_tokens),
            self.tokens.cache_creation_input_tokens,
        ])
        .min(prompt - read);
        let mut usage = Usage::new(prompt - read - written, self.output(prompt, reasoning_beside_output));
        usage.cache_read_input_tokens = read;
        usage.cache_creation_input_tokens = written;
        usage
    }

    /// Returns the cost of the call, if the endpoint reports it in dollars. An implausible amount is ignored.
    pub(super) fn reported_cost(&self, says: ReportedCost) -> Option<NanoUsd> {
        match says {
            ReportedCost::Never => None,
            ReportedCost::Dollars => {
                let cost = money::dollars(self.cost.cost?.get())?;
                if self.cost.is_byok.is_none_or(|is_byok| is_byok.get() != "true") {
                    return Some(cost);
                }
                // With the user's own key the cost is only the router's fee: the vendor bills the call separately.
                let details: CostDetails<'_> = serde_json::from_str(self.cost.cost_details?.get()).ok()?;
                money::plausible(cost.saturating_add(money::dollars(details.upstream_inference_cost?.get())?))
            }
            ReportedCost::DollarTicks => money::ticks(self.cost.cost_in_usd_ticks?.get().parse().ok()?),
        }
    }

    /// Returns the output with its reasoning. Reasoning that is counted beside the completion is recognized by a sum
    /// that holds all three, or by more reasoning than output.
    fn output(&self, prompt: u64, reasoning_beside_output: bool) -> u64 {
        let output = self.tokens.completion_tokens.unwrap_or_default();
        let reasoning =
            self.tokens.completion_tokens_details.as_ref().and_then(|details| details.reasoning_tokens).unwrap_or(0);
        let both = output.saturating_add(reasoning);
        let sum = match self.tokens.total_tokens.filter(|total| *total > 0) {
            Some(total) => total == prompt.saturating_add(both),
            None => reasoning_beside_output,
        };
        if reasoning > output || sum { both } else { output }
    }
}
