//! Token counts.

use crate::event::TokenUsage;
use windlass_types::Usage;

impl From<&TokenUsage> for Usage {
    fn from(counts: &TokenUsage) -> Self {
        let mut usage = Self::new(counts.input_tokens.unwrap_or(0), counts.output_tokens.unwrap_or(0));
        usage.cache_read_input_tokens = counts.cache_read_input_tokens.unwrap_or(0);
        usage.cache_creation_input_tokens = counts.cache_write_input_tokens.unwrap_or(0);
        let of_an_hour = counts.cache_details.iter().flatten().filter(|detail| detail.ttl.as_deref() == Some("1h"));
        let hour: u64 = of_an_hour.fold(0, |sum, detail| sum.saturating_add(detail.input_tokens.unwrap_or(0)));
        usage.cache_creation_1h_input_tokens = hour.min(usage.cache_creation_input_tokens);
        usage
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cached_input_is_apart_and_the_hour_is_a_part_of_what_was_written() {
        let counts: TokenUsage = serde_json::from_str(
            r#"{"inputTokens":7,"outputTokens":5,"totalTokens":142,"cacheReadInputTokens":100,"cacheWriteInputTokens":30,
                "cacheDetails":[{"ttl":"1h","inputTokens":20},{"ttl":"5m","inputTokens":10},{"inputTokens":9}]}"#,
        )
        .unwrap();
        let usage = Usage::from(&counts);
        assert_eq!((usage.input_tokens, usage.output_tokens, usage.cache_read_input_tokens), (7, 5, 100));
        assert_eq!((usage.cache_creation_input_tokens, usage.cache_creation_1h_input_tokens), (30, 20));
        assert_eq!(Usage::from(&TokenUsage::default()), Usage::default());
    }
}
