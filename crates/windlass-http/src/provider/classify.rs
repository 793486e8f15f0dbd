//! Classification of failures, for all vendors in one table.
//!
//! Sources: the vendors' pages on errors, and the texts that their users report. Exceptions precede the rules that they
//! restrict.

use std::time::Duration;
use windlass_types::ModelErrorKind;

/// Answer of a vendor in place of a message.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[expect(clippy::exhaustive_structs, reason = "plumbing: what an answer can show")]
pub struct Failure<'a> {
    /// HTTP status. `None` for a failure inside a stream.
    pub status: Option<u16>,
    /// Code or type of the error at the vendor (`insufficient_quota`, `RESOURCE_EXHAUSTED`), or empty.
    pub code: &'a str,
    /// Text of the vendor, or the whole body.
    pub text: &'a str,
}

/// Returns the kind of a failure: by its code if that is precise, else by its status; the text separates failures that
/// vendors put into one class.
pub fn classify(failure: &Failure<'_>) -> ModelErrorKind {
    let code = failure.code.to_ascii_lowercase();
    let kind = by_code(&code).or(failure.status.map(by_status)).unwrap_or(match &*code {
        "" => ModelErrorKind::Server,
        code if code.contains("invalid") => ModelErrorKind::InvalidRequest,
        _ => ModelErrorKind::Server,
    });
    let text = failure.text.to_lowercase();
    let has = |parts: &[&str]| parts.iter().any(|part| text.contains(part));
    match kind {
        ModelErrorKind::InvalidRequest
        | ModelErrorKind::RequestTooLarge
        | ModelErrorKind::Server
        | ModelErrorKind::RateLimited
            if has(THROTTLED) =>
        {
            if has(FINAL_QUOTA) {
                ModelErrorKind::QuotaExhausted
            } else {
                ModelErrorKind::RateLimited
            }
        }
        ModelErrorKind::InvalidRequest | ModelErrorKind::RequestTooLarge | ModelErrorKind::Server
            if is_too_long(&text) =>
        {
            ModelErrorKind::PromptTooLong
        }
        // Servers of local models fail with 500 here, and would with each retry.
        ModelErrorKind::Server | ModelErrorKind::InvalidRequest | ModelErrorKind::NotFound
            if refuses_images(failure.text) =>
        {
            ModelErrorKind::InvalidRequest
        }
        ModelErrorKind::InvalidRequest | ModelErrorKind::NotFound if has(REPLAY) => ModelErrorKind::ReplayRejected,
        ModelErrorKind::RateLimited if has(SHORT_WINDOW) => ModelErrorKind::RateLimited,
        ModelErrorKind::RateLimited | ModelErrorKind::InvalidRequest if has(FINAL_QUOTA) => {
            ModelErrorKind::QuotaExhausted
        }
        ModelErrorKind::InvalidRequest | ModelErrorKind::RateLimited | ModelErrorKind::PermissionDenied
            if has(BILLING) =>
        {
            ModelErrorKind::Billing
        }
        // OpenAI calls both a bug and a lack of capacity `server_error`.
        ModelErrorKind::Server if matches!(failure.status, Some(503 | 529)) || has(OVERLOADED) => {
            ModelErrorKind::Overloaded
        }
        kind => kind,
    }
}

fn by_code(code: &str) -> Option<ModelErrorKind> {
    Some(match code {
        "authentication_error"
        | "invalid_api_key"
        | "unauthenticated"
        | "unrecognizedclientexception"
        | "invalidsignatureexception"
        | "expiredtokenexception"
        | "missingauthenticationtokenexception" => ModelErrorKind::Authentication,
        "billing_error" | "insufficient_quota" | "billing_hard_limit_reached" => ModelErrorKind::Billing,
        "permission_error" | "permission_denied" | "accessdeniedexception" => ModelErrorKind::PermissionDenied,
        "not_found_error" | "not_found" | "model_not_found" | "resourcenotfoundexception" => ModelErrorKind::NotFound,
        "request_too_large" => ModelErrorKind::RequestTooLarge,
        "rate_limit_error" | "rate_limit_exceeded" | "throttlingexception" | "too_many_requests" => {
            ModelErrorKind::RateLimited
        }
        "timeout_error" | "deadline_exceeded" | "modeltimeoutexception" => ModelErrorKind::Timeout,
        "overloaded_error"
        | "unavailable"
        | "server_is_overloaded"
        | "slow_down"
        | "serviceunavailableexception"
        | "modelnotreadyexception"
        | "engine_overloaded" => ModelErrorKind::Overloaded,
        "context_length_exceeded"
        | "string_above_max_length"
        | "context_window_exceeded"
        | "exceed_context_size_error" => ModelErrorKind::PromptTooLong,
        "invalid_encrypted_content" | "thread_fingerprint_mismatch" => ModelErrorKind::ReplayRejected,
        "usage_limit_reached" | "usage_not_included" => ModelErrorKind::QuotaExhausted,
        "server_error"
        | "internal"
        | "internal_server_error"
        | "internalserverexception"
        | "modelstreamerrorexception"
        | "modelerrorexception" => ModelErrorKind::Server,
        _ => return None,
    })
}

fn by_status(status: u16) -> ModelErrorKind {
    match status {
        300..=399 => ModelErrorKind::Configuration,
        401 => ModelErrorKind::Authentication,
        402 => ModelErrorKind::Billing,
        403 => ModelErrorKind::PermissionDenied,
        404 => ModelErrorKind::NotFound,
        // The last status is that of a gateway which no longer waited for the answer.
        408 | 504 | 524 => ModelErrorKind::Timeout,
        413 => ModelErrorKind::RequestTooLarge,
        429 => ModelErrorKind::RateLimited,
        503 | 529 => ModelErrorKind::Overloaded,
        400..=499 => ModelErrorKind::InvalidRequest,
        _ => ModelErrorKind::Server,
    }
}

/// Words of a rate limit. Bedrock calls a limit of tokens per minute "Too many tokens", which reads like an overflow.
const THROTTLED: &[&str] = &["rate limit", "too many requests", "throttl"];

/// Words of a short time window, which take precedence over text about billing beside them.
const SHORT_WINDOW: &[&str] =
    &["perminute", "per minute", "persecond", "per second", "tokens per min", "requests per min"];

/// Words of quotas of hours or longer. The last four are those of Ollama's cloud: "you (NAME) have reached your weekly
/// usage limit".
const FINAL_QUOTA: &[&str] = &[
    "perday",
    "per day",
    "daily limit",
    "weekly limit",
    "monthly limit",
    "usage limit reached",
    "session usage limit",
    "hourly usage limit",
    "weekly usage limit",
    "monthly usage limit",
];

const OVERLOADED: &[&str] = &["currently overloaded", "is overloaded", "server busy"];

const TOO_LONG: &[&str] = &[
    "prompt is too long",
    "prompt too long",
    "input is too long",
    "exceed context limit",
    "exceeds the context",
    "context window",
    "context_length_exceeded",
    "maximum context length",
    "maximum prompt length is",
    "reduce the length of the messages",
    "longer than the model's context length",
    "exceeds the available context size",
    "greater than the context length",
    "exceeded model token limit",
    "prompt exceeds max length",
    "range of input length should be",
];

/// Pairs of words that must both be present.
const TOO_LONG_PAIRS: &[(&str, &str)] = &[
    ("input token count", "exceeds the maximum"),
    ("too large for model with", "maximum context length"),
    ("prompt token count of", "exceeds the limit of"),
    ("\"code\":\"1261\"", ""),
];

fn is_too_long(text: &str) -> bool {
    TOO_LONG.iter().any(|part| text.contains(part))
        || TOO_LONG_PAIRS.iter().any(|(one, two)| text.contains(one) && text.contains(two))
}

/// Words of servers about images for a model that takes none: llama.cpp, vLLM, OpenRouter, DeepSeek and Ollama, and
/// OpenAI's API.
const NO_IMAGES: &[&str] = &[
    "image input is not supported",
    "not a multimodal model",
    "at most 0 image(s)",
    "support image input",
    "unknown variant `image_url`",
    "does not support image",
    "doesn't support image",
    "images are not supported",
    "image_url is only supported",
    "missing data required for image input",
];

/// `true` if the text of a refusal means that the model takes no images.
pub fn refuses_images(text: &str) -> bool {
    let text = text.to_lowercase();
    NO_IMAGES.iter().any(|words| text.contains(words))
}

/// Words about invalid replay data of earlier messages.
const REPLAY: &[&str] = &[
    "invalid `signature` in `thinking`",
    "invalid signature in thinking",
    "bound to a different conversation",
    "encrypted content could not be",
    "could not be verified",
    "missing a thought_signature",
    "thought signature is not valid",
    "corrupted thought signature",
    "without its required",
    "items are not persisted",
    "reasoning_content is missing",
];

const BILLING: &[&str] = &[
    "credit balance is too low",
    "usage limits",
    "insufficient_quota",
    "exceeded your current quota",
    "extra usage is required",
    "spend limit",
    "insufficient balance",
    "insufficient credits",
];

/// Returns the wait that a text asks for, as vendors without a header do: `"retryDelay": "45.8s"`, `try again in 1.2s`,
/// `Please retry in 26.66s`. Capped at 31 days.
pub fn hinted_wait(text: &str) -> Option<Duration> {
    const BEFORE: [&str; 5] = ["\"retrydelay\":", "quotaresetdelay\":", "retry in ", "try again in ", "retry after "];
    let lower = text.to_ascii_lowercase();
    BEFORE.iter().find_map(|before| {
        let (_, rest) = lower.split_once(before)?;
        seconds(rest.trim_start_matches([' ', '"']))
    })
}

/// Parses `45.8s`, `20ms`, `1m30s`, `2h`, or a number without a unit that is followed by `seconds`.
fn seconds(text: &str) -> Option<Duration> {
    let mut total = 0.0;
    let mut rest = text;
    let mut any = false;
    while rest.starts_with(|char: char| char.is_ascii_digit()) {
        let end = rest.find(|char: char| !char.is_ascii_digit() && char != '.').unwrap_or(rest.len());
        let (number, after) = rest.split_at_checked(end)?;
        let number: f64 = number.trim_end_matches('.').parse().ok()?;
        let unit: String = after.trim_start().chars().take_while(char::is_ascii_alphabetic).collect();
        let factor = match &*unit {
            "ms" | "milliseconds" => 0.001,
            "s" | "sec" | "secs" | "second" | "seconds" => 1.0,
            "m" | "min" | "minute" | "minutes" => 60.0,
            "h" | "hour" | "hours" => 3_600.0,
            _ => return None,
        };
        total += number * factor;
        any = true;
        rest = after.trim_start().get(unit.len()..)?;
    }
    const MAX_SECONDS: f64 = 31.0 * 86_400.0;
    (any && f64::is_finite(total)).then(|| Duration::from_secs_f64(total.clamp(0.0, MAX_SECONDS)))
}

#[cfg(test)]
mod tests;
