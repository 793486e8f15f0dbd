//! Usage in normal form.

use serde::Deserialize;
use windlass_types::{Usage, WholeNumber};

/// Usage in the form of the API: the input includes cache reads and writes, the output includes the reasoning.
#[derive(Clone, Copy, Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct ResponsesUsage {
    #[serde(default, deserialize_with = "WholeNumber::optional")]
    input_tokens: Option<u64>,
    input_tokens_details: Option<InputDetails>,
    #[serde(default, deserialize_with = "WholeNumber::optional")]
    output_tokens: Option<u64>,
    /// Cost of the call in ten billionths of a dollar, as reported by xAI, which has this API too.
    #[serde(deserialize_with = "lenient")]
    cost_in_usd_ticks: Option<u64>,
}

#[derive(Clone, Copy, Debug, Default, Deserialize)]
#[serde(default)]
struct InputDetails {
    #[serde(default, deserialize_with = "WholeNumber::optional")]
    cached_tokens: Option<u64>,
    #[serde(default, deserialize_with = "WholeNumber::optional")]
    cache_write_tokens: Option<u64>,
    cache_write_tokens_details: Option<WriteDetails>,
}

#[derive(Clone, Copy, Debug, Default, Deserialize)]
#[serde(default)]
struct WriteDetails {
    #[serde(default, deserialize_with = "WholeNumber::optional")]
    ttl_12h_tokens: Option<u64>,
}

impl From<ResponsesUsage> for Usage {
    fn from(read: ResponsesUsage) -> Self {
        let details = read.input_tokens_details.unwrap_or_default();
        let all = read.input_tokens.unwrap_or_default();
        let cached = details.cached_tokens.unwrap_or_default().min(all);
        let written = details.cache_write_tokens.unwrap_or_default().min(all - cached);
        let mut usage = Self::new(all - cached - written, read.output_tokens.unwrap_or_default());
        usage.cache_read_input_tokens = cached;
        usage.cache_creation_input_tokens = written;
        let long = details.cache_write_tokens_details.and_then(|details| details.ttl_12h_tokens);
        // The longer of the two lifetimes takes the place of one hour.
        usage.cache_creation_1h_input_tokens = long.unwrap_or_default().min(written);
        usage.reported_cost = read.cost_in_usd_ticks.and_then(crate::money::ticks);
        usage
    }
}

/// Reads a whole number; anything else is `None`, because an invalid cost must not discard the token counts.
fn lenient<'de, D: serde::Deserializer<'de>>(from: D) -> Result<Option<u64>, D::Error> {
    Ok(serde_json::Value::deserialize(from)?.as_u64())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn read(json: &str) -> Usage {
        serde_json::from_str::<ResponsesUsage>(json).unwrap().into()
    }

    #[test]
    fn each_token_is_counted_once() {
        let usage = read(
            r#"{"input_tokens":100,"input_tokens_details":{"cached_tokens":60,"cache_write_tokens":30,
            "cache_write_tokens_details":{"ttl_12h_tokens":10,"ttl_30m_tokens":20}},"output_tokens":50,
            "output_tokens_details":{"reasoning_tokens":40},"total_tokens":150}"#,
        );
        assert_eq!((usage.input_tokens, usage.output_tokens), (10, 50));
        assert_eq!((usage.cache_read_input_tokens, usage.cache_creation_input_tokens), (60, 30));
        assert_eq!(usage.cache_creation_1h_input_tokens, 10);
        assert_eq!(usage.total_input(), 100);
    }

    #[test]
    fn a_cost_that_is_reported_is_read_and_one_that_cannot_be_right_is_not() {
        let usage = read(r#"{"input_tokens":5,"output_tokens":1,"cost_in_usd_ticks":37756000}"#);
        assert_eq!(usage.reported_cost, Some(windlass_types::NanoUsd::new(3_775_600)));
        for wrong in ["-1", "1.5", "\"9\"", "null", "99999999999999999"] {
            let usage = read(&format!(r#"{{"input_tokens":5,"cost_in_usd_ticks":{wrong}}}"#));
            assert_eq!((usage.input_tokens, usage.reported_cost), (5, None), "{wrong}");
        }
    }

    #[test]
    fn figures_that_are_missing_or_impossible_are_zero() {
        assert_eq!(read("{}"), Usage::default());
        assert_eq!(read(r#"{"input_tokens":5,"input_tokens_details":null,"output_tokens":null}"#), Usage::new(5, 0));
        let usage = read(r#"{"input_tokens":5,"input_tokens_details":{"cached_tokens":9,"cache_write_tokens":9}}"#);
        assert_eq!((usage.input_tokens, usage.total_input()), (0, 5));
    }
}
