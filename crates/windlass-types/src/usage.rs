//! Tokens and money.

use serde::{Deserialize, Serialize};
use std::fmt;
use std::ops::{Add, AddAssign};

/// Tokens of one model call or of a sum of calls, as the provider counted them.
///
/// The three input figures are disjoint: `input_tokens` are those neither read
/// from nor written to the cache (Messages API, "usage").
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
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
    /// Searches that the provider ran on its side.
    pub web_search_requests: u64,
}

impl Usage {
    /// Plain input and output tokens; the cache figures are zero.
    pub fn new(input_tokens: u64, output_tokens: u64) -> Self {
        Self { input_tokens, output_tokens, ..Self::default() }
    }

    /// All tokens that went in, cached or not.
    pub fn total_input(&self) -> u64 {
        self.input_tokens.saturating_add(self.cache_creation_input_tokens).saturating_add(self.cache_read_input_tokens)
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
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "${:.4}", self.usd())
    }
}
