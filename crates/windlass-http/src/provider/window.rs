//! Context window of a model, as named by refusals of requests that are too long.

use windlass_model::ModelError;
use windlass_types::ModelErrorKind;

/// Maximum number of characters between the words and the number.
const MAX_DISTANCE: usize = 40;

/// Words that precede the number.
const LEADING_WORDS: &[&str] = &[
    // Members of the error of llama.cpp, and its sentence.
    "\"n_ctx\":",
    "available context size (",
    "maximum context length is",
    "maximum context length of",
    "model's context length is",
    "context length is only",
    "context window of",
    "maximum prompt length is",
    "token limit:",
    "exceeds the limit of",
    "maximum number of tokens allowed (",
    "only supports up to",
    // `prompt is too long: 210000 tokens > 200000 maximum`, `190000 + 21000 > 200000`.
    " > ",
];

/// Words that follow the number: `too large for model with 32768 maximum context length`.
const TRAILING_WORDS: &str = " maximum context length";

/// Returns the context window in tokens that the text of a refusal names.
pub fn named_window(text: &str) -> Option<u64> {
    let lower = text.to_lowercase();
    let before = LEADING_WORDS.iter().find_map(|words| {
        let (_, rest) = lower.split_once(words)?;
        let gap: usize =
            rest.chars().take(MAX_DISTANCE).take_while(|char| !char.is_ascii_digit()).map(char::len_utf8).sum();
        number(rest.get(gap..)?)
    });
    before.or_else(|| {
        let (front, _) = lower.split_once(TRAILING_WORDS)?;
        number(front.rsplit(char::is_whitespace).next()?)
    })
}

/// Adds the window that the body of a refusal names beside its text.
#[must_use]
pub fn with_window(error: ModelError, body: &str) -> ModelError {
    if error.kind != ModelErrorKind::PromptTooLong || error.context_window().is_some() {
        return error;
    }
    error.with_context_window(named_window(body))
}

/// Parses the number at the beginning of a text, whose digits may be in groups: `128,000`, `128_000`.
fn number(text: &str) -> Option<u64> {
    let digits = text.chars().take_while(|char| char.is_ascii_digit() || matches!(char, ',' | '_'));
    digits.filter(char::is_ascii_digit).collect::<String>().parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn refusals_name_the_window() {
        for (text, window) in [
            ("prompt is too long: 210000 tokens > 200000 maximum", Some(200_000)),
            ("input length and `max_tokens` exceed context limit: 190000 + 21000 > 200000, decrease", Some(200_000)),
            (
                "This model's maximum context length is 8192 tokens. However, your messages resulted in 9001",
                Some(8_192),
            ),
            (
                r#"{"error":{"code":400,"message":"the request exceeds the available context size, try increasing it","type":"exceed_context_size_error","n_prompt_tokens":20000,"n_ctx":12288}}"#,
                Some(12_288),
            ),
            (
                "request (20000 tokens) exceeds the available context size (12288 tokens), try increasing it",
                Some(12_288),
            ),
            ("Prompt contains 40000 tokens, too large for model with 32768 maximum context length", Some(32_768)),
            ("This model's maximum prompt length is 131072 but the request contains 140000 tokens.", Some(131_072)),
            (
                "The input token count (1200000) exceeds the maximum number of tokens allowed (1048576).",
                Some(1_048_576),
            ),
            ("prompt token count of 130000 exceeds the limit of 128,000", Some(128_000)),
            ("Input is too long for requested model.", None),
            ("the request exceeds the available context size, try increasing it", None),
            ("", None),
        ] {
            assert_eq!(named_window(text), window, "{text}");
        }
    }
}
