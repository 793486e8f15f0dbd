//! Tokens and money.

mod decimal;
mod whole;

pub use whole::WholeNumber;

use serde::{Deserialize, Serialize};
use std::fmt;
use std::ops::{Add, AddAssign};

/// Tokens of one model call or of a sum of calls, as the provider counted them.
///
/// The three input figures are disjoint: `input_tokens` are those neither read
/// from nor written to the cache (Messages API, "usage").
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(default)]
#[non_exhaustive]
pub struct Usage {
    /// Input tokens that were billed at the plain rate.
    pub input_tokens: u64,
    /// Output tokens, thinking included.
    pub output_tokens: u64,
    /// Input tokens written to the prompt cache (all lifetimes).
    pub cache_creation_input_tokens: u64,
    /// Of those, tokens written with a lifetime of one hour.
    pub cache_creation_1h_input_tokens: u64,
    /// Input tokens read from the prompt cache.
    pub cache_read_input_tokens: u64,
    /// Number of searches that the provider ran on its side.
    pub web_search_requests: u64,
    /// Cost as the provider reports it, in billionths of a dollar. It takes precedence over any known price. `None`:
    /// not reported. A sum of calls has the sum of the reported costs.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reported_cost: Option<NanoUsd>,
}

impl Usage {
    /// Plain input and output tokens; the cache figures are zero.
    pub fn new(input_tokens: u64, output_tokens: u64) -> Self {
        Self { input_tokens, output_tokens, ..Self::default() }
    }

    /// All input tokens, cached or not.
    pub fn total_input(&self) -> u64 {
        self.input_tokens.saturating_add(self.cache_creation_input_tokens).saturating_add(self.cache_read_input_tokens)
    }
}

impl Usage {
    /// Raises each figure to that of a later count of the same call. Counts of one call are cumulative, so a figure that
    /// is lower than before is incomplete: some gateways repeat the input as zero.
    pub fn raise(&mut self, later: Self) {
        let raise = |figure: &mut u64, later: u64| *figure = (*figure).max(later);
        raise(&mut self.input_tokens, later.input_tokens);
        raise(&mut self.output_tokens, later.output_tokens);
        raise(&mut self.cache_creation_input_tokens, later.cache_creation_input_tokens);
        raise(&mut self.cache_creation_1h_input_tokens, later.cache_creation_1h_input_tokens);
        raise(&mut self.cache_read_input_tokens, later.cache_read_input_tokens);
        raise(&mut self.web_search_requests, later.web_search_requests);
        self.reported_cost = self.reported_cost.max(later.reported_cost);
    }
}

/// Usage as the Messages API writes it, to be read from its JSON and turned into [`Usage`]. A figure that is missing or
/// null is zero.
#[derive(Debug, Clone, Copy, Default, Deserialize)]
#[serde(default)]
pub struct ApiUsage {
    #[serde(deserialize_with = "WholeNumber::optional")]
    input_tokens: Option<u64>,
    #[serde(deserialize_with = "WholeNumber::optional")]
    output_tokens: Option<u64>,
    #[serde(deserialize_with = "WholeNumber::optional")]
    cache_creation_input_tokens: Option<u64>,
    #[serde(deserialize_with = "WholeNumber::optional")]
    cache_read_input_tokens: Option<u64>,
    cache_creation: Option<CacheCreation>,
    server_tool_use: Option<ServerToolUse>,
}

#[derive(Debug, Clone, Copy, Default, Deserialize)]
#[serde(default)]
struct CacheCreation {
    #[serde(deserialize_with = "WholeNumber::optional")]
    ephemeral_1h_input_tokens: Option<u64>,
}

#[derive(Debug, Clone, Copy, Default, Deserialize)]
#[serde(default)]
struct ServerToolUse {
    #[serde(deserialize_with = "WholeNumber::optional")]
    web_search_requests: Option<u64>,
}

impl From<ApiUsage> for Usage {
    fn from(read: ApiUsage) -> Self {
        let cache_creation = read.cache_creation.unwrap_or_default();
        let count = |figure: Option<u64>| figure.unwrap_or_default();
        Self {
            input_tokens: count(read.input_tokens),
            output_tokens: count(read.output_tokens),
            cache_creation_input_tokens: count(read.cache_creation_input_tokens),
            cache_creation_1h_input_tokens: count(cache_creation.ephemeral_1h_input_tokens),
            cache_read_input_tokens: count(read.cache_read_input_tokens),
            web_search_requests: count(read.server_tool_use.unwrap_or_default().web_search_requests),
            reported_cost: None,
        }
    }
}

impl AddAssign for Usage {
    fn add_assign(&mut self, other: Self) {
        self.input_tokens = self.input_tokens.saturating_add(other.input_tokens);
        self.output_tokens = self.output_tokens.saturating_add(other.output_tokens);
        self.cache_creation_input_tokens =
            self.cache_creation_input_tokens.saturating_add(other.cache_creation_input_tokens);
        self.cache_creation_1h_input_tokens =
            self.cache_creation_1h_input_tokens.saturating_add(other.cache_creation_1h_input_tokens);
        self.cache_read_input_tokens = self.cache_read_input_tokens.saturating_add(other.cache_read_input_tokens);
        self.web_search_requests = self.web_search_requests.saturating_add(other.web_search_requests);
        self.reported_cost = match (self.reported_cost, other.reported_cost) {
            (Some(own), Some(other)) => Some(own.saturating_add(other)),
            (own, other) => own.or(other),
        };
    }
}

impl Add for Usage {
    type Output = Self;

    fn add(mut self, other: Self) -> Self {
        self += other;
        self
    }
}

/// Money in billionths of a US dollar. A price of 3 USD per million tokens is
/// 3,000 of these per token, so sums are exact.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(transparent)]
pub struct NanoUsd(u64);

impl NanoUsd {
    /// No money.
    pub const ZERO: Self = Self(0);

    /// An amount in billionths of a dollar.
    pub const fn new(nano: u64) -> Self {
        Self(nano)
    }

    /// An amount in dollars; negative and non-finite amounts become zero, too large ones the maximum.
    pub fn from_usd(usd: f64) -> Self {
        // `as` saturates, and maps NaN to zero.
        Self((usd * 1e9).round() as u64)
    }

    /// An amount in dollars from decimal text as JSON has it (`0.0042`, `1.5e-05`), exact but for digits below a billionth
    /// of a dollar, which round up. `None`: the text is no number, or the amount is negative or too large.
    pub fn from_decimal(usd: &str) -> Option<Self> {
        decimal::scaled(usd, 9).map(Self)
    }

    /// The price of one token from the decimal text of a price of a million, in dollars. A price below a billionth of a
    /// dollar rounds up. `None`: as for [`from_decimal`](Self::from_decimal).
    pub fn per_token(usd_per_million: &str) -> Option<Self> {
        decimal::scaled(usd_per_million, 3).map(Self)
    }

    /// The amount in billionths of a dollar.
    pub const fn nano(self) -> u64 {
        self.0
    }

    /// The amount in dollars, for display and for the wire.
    pub fn usd(self) -> f64 {
        self.0 as f64 / 1e9
    }

    /// The sum, at most the maximum.
    pub const fn saturating_add(self, other: Self) -> Self {
        Self(self.0.saturating_add(other.0))
    }

    /// The difference, at least zero.
    pub const fn saturating_sub(self, other: Self) -> Self {
        Self(self.0.saturating_sub(other.0))
    }

    /// The price of `count` units at this price each, at most the maximum.
    pub const fn times(self, count: u64) -> Self {
        Self(self.0.saturating_mul(count))
    }
}

impl fmt::Display for NanoUsd {
    /// Dollars with four decimals; an amount below a cent with as many as it takes to be exact, so that little is never
    /// shown as zero.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        const CENT: u64 = 10_000_000;
        if self.0 >= CENT {
            return write!(f, "${:.4}", self.usd());
        }
        let digits = format!("{:09}", self.0);
        let exact = digits.trim_end_matches('0');
        write!(f, "$0.{exact:0<4}")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(json: &str) -> Usage {
        serde_json::from_str::<ApiUsage>(json).unwrap().into()
    }

    #[test]
    fn money_is_shown_and_small_amounts_exactly() {
        let shown = |nano| NanoUsd::new(nano).to_string();
        assert_eq!(shown(0), "$0.0000");
        assert_eq!(shown(1), "$0.000000001");
        assert_eq!(shown(12_345), "$0.000012345");
        assert_eq!(shown(1_500_000), "$0.0015");
        assert_eq!(shown(9_999_999), "$0.009999999");
        assert_eq!(shown(10_000_000), "$0.0100");
        assert_eq!(shown(1_234_567_890), "$1.2346");
    }

    #[test]
    fn usage_is_read_as_the_api_writes_it() {
        let usage = read(
            r#"{"input_tokens":1,"cache_creation_input_tokens":5,"cache_read_input_tokens":3,"output_tokens":2,
            "server_tool_use":{"web_search_requests":7,"web_fetch_requests":0},"service_tier":null,
            "cache_creation":{"ephemeral_1h_input_tokens":4,"ephemeral_5m_input_tokens":1}}"#,
        );
        let expected = Usage {
            input_tokens: 1,
            output_tokens: 2,
            cache_creation_input_tokens: 5,
            cache_creation_1h_input_tokens: 4,
            cache_read_input_tokens: 3,
            web_search_requests: 7,
            reported_cost: None,
        };
        assert_eq!(usage, expected);
        assert_eq!(read(r#"{"output_tokens":2,"input_tokens":null,"cache_creation":null}"#), Usage::new(0, 2));
        for wrong in [r#"{"input_tokens":-1}"#, r#"{"input_tokens":"1"}"#, "1"] {
            assert!(serde_json::from_str::<ApiUsage>(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn costs_that_were_reported_add_up() {
        let reported = |nano| Usage { reported_cost: Some(NanoUsd::new(nano)), ..Usage::new(1, 1) };
        assert_eq!((reported(2) + reported(3)).reported_cost, Some(NanoUsd::new(5)));
        assert_eq!((reported(2) + Usage::new(1, 1)).reported_cost, Some(NanoUsd::new(2)));
        assert_eq!((Usage::new(1, 1) + Usage::new(1, 1)).reported_cost, None);
        let mut usage = reported(2);
        usage.raise(Usage::new(9, 9));
        assert_eq!(usage.reported_cost, Some(NanoUsd::new(2)));
        let json = serde_json::to_string(&usage).unwrap();
        assert_eq!(serde_json::from_str::<Usage>(&json).unwrap(), usage);
        assert!(!serde_json::to_string(&Usage::new(1, 1)).unwrap().contains("reported_cost"));
    }

    #[test]
    fn prices_of_a_million_tokens_become_those_of_one() {
        assert_eq!(NanoUsd::per_token("3"), Some(NanoUsd::new(3_000)));
        assert_eq!(NanoUsd::per_token("0.0375"), Some(NanoUsd::new(38)));
        assert_eq!(NanoUsd::per_token("-3"), None);
        assert_eq!(NanoUsd::from_decimal("0.95"), Some(NanoUsd::new(950_000_000)));
    }

    #[test]
    fn a_later_count_never_lowers_a_figure() {
        let mut usage = Usage::new(10, 1);
        usage.raise(Usage::new(0, 5));
        assert_eq!(usage, Usage::new(10, 5));
        usage.raise(read(r#"{"output_tokens":4,"cache_creation":{"ephemeral_1h_input_tokens":6}}"#));
        assert_eq!((usage.output_tokens, usage.cache_creation_1h_input_tokens), (5, 6));
    }
}
