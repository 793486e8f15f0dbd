use super::*;
use ModelErrorKind as Kind;

fn kind(status: u16, code: &str, text: &str) -> Kind {
    classify(&Failure { status: Some(status), code, text })
}

#[test]
fn overflows_of_all_vendors_are_told_from_limits_of_rate() {
    for text in [
        "prompt is too long: 210000 tokens > 200000 maximum",
        "Your input exceeds the context window of this model.",
        "This model's maximum context length is 128000 tokens.",
        "The input token count (1200000) exceeds the maximum number of tokens allowed (1048576).",
        "This model's maximum prompt length is 131072 but the request contains 537812 tokens.",
        "Please reduce the length of the messages or completion.",
        "prompt token count of 150000 exceeds the limit of 128000",
        "the request exceeds the available context size. try increasing the context size",
        "Trying to keep the first 9000 tokens when context is greater than the context length",
        "Your request exceeded model token limit: 262144",
        "Prompt contains 200000 tokens, too large for model with 131072 maximum context length",
        "Range of input length should be [1, 129024]",
        "litellm.ContextWindowExceededError: context window exceeded",
    ] {
        assert_eq!(kind(400, "", text), Kind::PromptTooLong, "{text}");
    }
    for text in [
        "ThrottlingException: Too many tokens, please wait before trying again. context window",
        "Rate limit: prompt is too long for your tier",
    ] {
        assert_eq!(kind(400, "", text), Kind::RateLimited, "{text}");
    }
}

#[test]
fn quotas_are_told_by_their_window() {
    let billing = "You exceeded your current quota, please check your plan and billing details.";
    assert_eq!(kind(429, "insufficient_quota", billing), Kind::Billing);
    let gemini = |window: &str| format!("{billing} quotaId: GenerateRequestsPer{window}PerProjectPerModel");
    assert_eq!(kind(429, "RESOURCE_EXHAUSTED", &gemini("Minute")), Kind::RateLimited);
    assert_eq!(kind(429, "RESOURCE_EXHAUSTED", &gemini("Day")), Kind::QuotaExhausted);
    assert_eq!(kind(429, "", "slow down"), Kind::RateLimited);
    for window in ["session", "hourly", "weekly", "monthly"] {
        let ollama = format!("you (a) have reached your {window} usage limit, upgrade for higher limits");
        assert_eq!(kind(429, "", &ollama), Kind::QuotaExhausted);
    }
}

#[test]
fn a_lack_of_capacity_is_no_bug_of_the_server() {
    let text = "The engine is currently overloaded, please try again later";
    for status in [Some(503), Some(500), None] {
        assert_eq!(classify(&Failure { status, code: "server_error", text }), Kind::Overloaded, "{status:?}");
    }
    assert_eq!(kind(503, "server_error", "try again"), Kind::Overloaded);
    assert_eq!(kind(500, "", "server busy, please try again.  maximum pending requests exceeded"), Kind::Overloaded);
    assert_eq!(kind(500, "server_error", "The server had an error while processing your request."), Kind::Server);
}

#[test]
fn refused_replays_are_a_kind_of_their_own() {
    for text in [
        "messages.3.content.0: Invalid `signature` in `thinking` block. The block is bound to a different conversation",
        "Function call is missing a thought_signature in functionCall parts.",
        "Item 'fc_1' of type 'function_call' was provided without its required 'reasoning' item: 'rs_1'.",
        "thinking is enabled but reasoning_content is missing in assistant tool call message at index 2",
    ] {
        assert_eq!(kind(400, "invalid_request_error", text), Kind::ReplayRejected, "{text}");
    }
    assert_eq!(kind(400, "invalid_encrypted_content", "x"), Kind::ReplayRejected);
    let gone = "Item with id 'rs_1' not found. Items are not persisted when `store` is set to false.";
    assert_eq!(kind(404, "", gone), Kind::ReplayRejected);
}

#[test]
fn inside_of_a_stream_the_code_decides() {
    let inside = |code: &str, text: &str| classify(&Failure { status: None, code, text });
    assert_eq!(inside("server_error", "x"), Kind::Server);
    assert_eq!(inside("rate_limit_exceeded", "x"), Kind::RateLimited);
    assert_eq!(inside("context_length_exceeded", "x"), Kind::PromptTooLong);
    assert_eq!(inside("invalid_prompt", "x"), Kind::InvalidRequest);
    assert_eq!(inside("", "what"), Kind::Server);
}

#[test]
fn waits_are_read_from_texts() {
    for (text, wait) in [
        (r#"{"retryDelay": "45.837906927s"}"#, Some(45_837)),
        ("Please retry in 26.66s.", Some(26_660)),
        ("Please try again in 1m30s.", Some(90_000)),
        ("Rate limit reached. Please try again in 20ms. Visit", Some(20)),
        ("try again in 6 seconds", Some(6_000)),
        ("try again in a while", None),
        ("retry in 99999999999999999999999h", Some(31 * 86_400_000)),
        ("nothing", None),
    ] {
        assert_eq!(hinted_wait(text).map(|wait| wait.as_millis() as u64), wait, "{text}");
    }
}

#[test]
fn a_refused_image_is_no_bug_of_the_server() {
    for (status, text) in [
        (500, "image input is not supported - hint: if this is unexpected, you may need to provide the mmproj"),
        (404, "No endpoints found that support image input"),
        (400, "Failed to deserialize the JSON body: messages[0]: unknown variant `image_url`, expected `text`"),
        (400, "m is not a multimodal model"),
    ] {
        assert_eq!(kind(status, "server_error", text), Kind::InvalidRequest, "{text}");
        assert!(refuses_images(text), "{text}");
    }
    assert_eq!(kind(500, "server_error", "failed to decode image"), Kind::Server);
    assert_eq!(kind(400, "exceed_context_size_error", "x"), Kind::PromptTooLong);
}
