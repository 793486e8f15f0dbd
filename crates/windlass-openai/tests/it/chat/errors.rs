//! Errors: of an answer, inside a stream, and of answers that are no stream.

use super::*;
use std::time::Duration;
use windlass_types::ModelErrorKind;

async fn failure(name: &str, reply: Reply) -> ModelError {
    let (answer, error) = read(name, reply).await;
    assert!(!answer.is_complete);
    error.unwrap()
}

#[tokio::test]
async fn errors_of_all_shapes_are_read() {
    for (status, body, kind, says) in [
        (
            401,
            json!({"error": {"message": "bad key", "code": "invalid_api_key"}}),
            ModelErrorKind::Authentication,
            "DEEPSEEK_API_KEY",
        ),
        (402, json!({"error": {"message": "Insufficient Balance"}}), ModelErrorKind::Billing, "Insufficient"),
        (
            404,
            json!({"error": {"message": "The model `x` does not exist", "code": "model_not_found"}}),
            ModelErrorKind::NotFound,
            "DEEPSEEK_BASE_URL",
        ),
        (400, json!({"error": "a plain text"}), ModelErrorKind::InvalidRequest, "a plain text"),
        (
            422,
            json!({"object": "error", "message": "Extra inputs", "type": "invalid_request_error", "code": null}),
            ModelErrorKind::InvalidRequest,
            "Extra inputs",
        ),
        (400, json!({"detail": [{"msg": "field required"}]}), ModelErrorKind::InvalidRequest, "field required"),
        (500, json!({"error": {"message": "oops", "type": "server_error"}}), ModelErrorKind::Server, "oops"),
        (503, json!({"error": {"message": "busy"}}), ModelErrorKind::Overloaded, "busy"),
        (
            429,
            json!({"error": {"message": "You exceeded your current quota", "code": "insufficient_quota"}}),
            ModelErrorKind::Billing,
            "quota",
        ),
        (
            400,
            json!({"error": {"message": "The reasoning_content is missing in assistant tool call message at index 2"}}),
            ModelErrorKind::ReplayRejected,
            "index 2",
        ),
    ] {
        let error = failure("deepseek", Reply::status(status, body.to_string())).await;
        assert_eq!((error.kind, error.status), (kind, Some(status)), "{error}");
        assert!(error.message.contains(says), "{error}");
    }
}

#[tokio::test]
async fn waits_and_ids_are_taken_from_the_headers() {
    let body = json!({"error": {"message": "Rate limit reached"}}).to_string();
    let reply = Reply::status(429, body).header("retry-after", "7").header("x-request-id", "req-1");
    let error = failure("openai", reply).await;
    assert_eq!((error.retry_after, error.request_id.as_deref()), (Some(Duration::from_secs(7)), Some("req-1")));
}

#[tokio::test]
async fn errors_inside_of_a_stream_end_it() {
    for (chunk, kind) in [
        (json!({"error": {"message": "Provider returned error", "code": 502}}), ModelErrorKind::Server),
        (
            json!({"error": {"message": "slow", "code": 429, "metadata": {"raw": "try again in 3s"}}, "choices": []}),
            ModelErrorKind::RateLimited,
        ),
        (
            json!({"error": {"message": "This model's maximum context length is 8192 tokens", "code": 400}}),
            ModelErrorKind::PromptTooLong,
        ),
        (json!({"error": "out of memory"}), ModelErrorKind::Server),
        (json!({"object": "error", "message": "engine died", "code": 500}), ModelErrorKind::Server),
        (
            json!({"id": "x", "choices": [{"index": 0, "delta": {"content": ""}, "finish_reason": "error", "error": {"code": 503, "message": "busy"}}]}),
            ModelErrorKind::Overloaded,
        ),
        (json!({"id": "x", "choices": [], "x_groq": {"error": "over capacity"}}), ModelErrorKind::Server),
    ] {
        let error = failure("openrouter", reply(&[content("half"), chunk.clone()])).await;
        assert_eq!((error.kind, error.status), (kind, None), "{chunk}: {error}");
    }
}

#[tokio::test]
async fn the_text_of_the_provider_behind_a_router_is_shown() {
    let body = json!({"error": {"message": "Provider returned error", "code": 429, "metadata":
        {"provider_name": "X", "raw": "model-x is temporarily rate-limited upstream. Please retry in 12s"}}});
    let error = failure("openrouter", Reply::status(429, body.to_string())).await;
    assert_eq!((error.kind, error.retry_after), (ModelErrorKind::RateLimited, Some(Duration::from_secs(12))));
    assert!(error.message.contains("temporarily rate-limited"), "{error}");
}

#[tokio::test]
async fn c8_a_200_without_choices_is_no_answer() {
    let null = json!({"id": "gen-1", "choices": null});
    let error = failure("openrouter", Reply::json(&null)).await;
    assert_eq!((error.kind, error.unbilled), (ModelErrorKind::Protocol, false));
    assert_eq!(failure("openrouter", reply(&[null])).await.kind, ModelErrorKind::Cut);
    let with_error = json!({"choices": null, "error": {"message": "No endpoints available", "code": 503}});
    assert_eq!(failure("openrouter", Reply::json(&with_error)).await.kind, ModelErrorKind::Overloaded);
}

#[tokio::test]
async fn a_page_is_no_answer_and_what_cannot_be_read_is_an_error() {
    let page = Reply::status(200, "<html>log in</html>").header("content-type", "text/html");
    let error = failure("vllm", page).await;
    assert_eq!((error.kind, error.unbilled), (ModelErrorKind::Protocol, true));
    assert!(error.message.contains("VLLM_BASE_URL"), "{error}");
    for data in [
        "nonsense",
        "{\"choices\": 7}",
        "{\"choices\":[{\"delta\":\"x\"}]}",
        "[1]",
        "{\"choices\":[{\"delta\":{\"tool_calls\":{}}}]}",
    ] {
        let error = failure("openai", Reply::stream_bytes(format!("data: {data}\n\n"))).await;
        assert_eq!(error.kind, ModelErrorKind::Protocol, "{data}");
    }
}

/// Answers of llama.cpp, as its server wrote them.
#[tokio::test]
async fn refusals_of_llama_cpp_name_the_window_and_the_image() {
    let overflow = r#"{"error":{"code":400,"message":"request (20024 tokens) exceeds the available context size (12288 tokens), try increasing it","type":"exceed_context_size_error","n_prompt_tokens":20024,"n_ctx":12288}}"#;
    let error = failure("llama.cpp", Reply::status(400, overflow)).await;
    assert_eq!((error.kind, error.context_window()), (ModelErrorKind::PromptTooLong, Some(12_288)));
    // An earlier version reports the window only beside its message.
    let overflow = r#"{"error":{"code":400,"message":"the request exceeds the available context size, try increasing it","type":"exceed_context_size_error","n_prompt_tokens":20024,"n_ctx":4096}}"#;
    let error = failure("llama.cpp", Reply::status(400, overflow)).await;
    assert_eq!((error.kind, error.context_window()), (ModelErrorKind::PromptTooLong, Some(4_096)));
    let image = r#"{"error":{"code":500,"message":"image input is not supported - hint: if this is unexpected, you may need to provide the mmproj","type":"server_error"}}"#;
    let error = failure("llama.cpp", Reply::status(500, image)).await;
    assert_eq!((error.kind, error.refuses_images), (ModelErrorKind::InvalidRequest, true));
    assert_eq!(error.class(), windlass_types::ErrorClass::Final);
}
