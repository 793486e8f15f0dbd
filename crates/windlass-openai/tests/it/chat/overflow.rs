//! G: prompts that do not fit, reported in many wordings or not at all.

use super::*;
use windlass_model::{Catalogue, ModelOverride};
use windlass_types::ModelErrorKind;

#[tokio::test]
async fn g_what_vendors_say_of_a_prompt_that_is_too_long() {
    for (preset, text) in [
        (
            "openai",
            "This model's maximum context length is 128000 tokens. However, your messages resulted in 130000 tokens.",
        ),
        ("xai", "This model's maximum prompt length is 131072 but the request contains 537812 tokens."),
        ("groq", "Please reduce the length of the messages or completion."),
        ("together", "`inputs` tokens + `max_new_tokens`: the input is longer than the model's context length"),
        ("llama.cpp", "the request exceeds the available context size. try increasing the context size"),
        (
            "lmstudio",
            "Trying to keep the first 9000 tokens when context the overflows, is greater than the context length",
        ),
        ("moonshot", "Your request exceeded model token limit: 262144"),
        ("mistral", "Prompt contains 200000 tokens, too large for model with 131072 maximum context length"),
        ("zai", "Prompt exceeds max length"),
        ("qwen", "Range of input length should be [1, 129024]"),
        ("litellm", "litellm.ContextWindowExceededError: context window exceeded"),
        ("ollama", "the input length exceeds the context length"),
    ] {
        let body = json!({"error": {"message": text, "code": "1261"}}).to_string();
        let (_, error) = read(preset, Reply::status(400, body)).await;
        assert_eq!(error.unwrap().kind, ModelErrorKind::PromptTooLong, "{preset}");
    }
}

#[tokio::test]
async fn g_a_silent_overflow_is_seen_by_the_usage() {
    let server = WireServer::start().await.unwrap();
    let mut limits = ModelOverride::new();
    limits.context_window = Some(1_000);
    let catalogue = Catalogue::new().with_override("model-1", limits);
    let provider = preset("zai").catalogue(catalogue).base_url(server.url()).build().unwrap();
    let answer = |input| reply(&[content("a"), finish("stop"), usage(input, 5)]);
    server.push(answer(1_000));
    assert!(ask(&provider, request()).await.0.is_complete);
    server.push(answer(1_001));
    let (message, error) = ask(&provider, request()).await;
    let error = error.unwrap();
    assert_eq!((error.kind, message.is_complete), (ModelErrorKind::PromptTooLong, false));
    assert!(error.message.contains("1001 tokens"), "{error}");
    // With a guessed window, no overflow can be detected.
    assert!(read("zai", answer(900_000)).await.0.is_complete);
    assert!(read("openai", answer(900_000)).await.0.is_complete);
}

#[tokio::test]
async fn g_a_limit_that_is_reached_before_the_first_token_is_an_overflow() {
    let (_, error) = read("openai", reply(&[delta(json!({"content": ""})), finish("length"), usage(900, 0)])).await;
    assert_eq!(error.unwrap().kind, ModelErrorKind::PromptTooLong);
    let hidden = whole("openai", reply(&[delta(json!({"content": ""})), finish("length"), usage(900, 64)])).await;
    assert_eq!(hidden.stop, Some(StopReason::MaxTokens));
    let unknown = whole("openai", reply(&[delta(json!({"content": ""})), finish("length")])).await;
    assert_eq!(unknown.stop, Some(StopReason::MaxTokens));
}

#[tokio::test]
async fn c8_openrouter_leaves_a_part_of_the_window_free() {
    let info = preset("openrouter").build().unwrap().model_info("model-1");
    assert_eq!(info.context_window, 128_000 * 85 / 100);
    assert_eq!(preset("openai").build().unwrap().model_info("model-1").context_window, 128_000);
}

#[test]
fn models_have_the_limits_of_their_vendor_or_of_the_user() {
    let window = |name: &str, model: &str| preset(name).build().unwrap().model_info(model).context_window;
    assert_eq!(window("openai", "gpt-5-nano"), 400_000);
    assert_eq!(window("openrouter", "openai/gpt-5-nano"), 340_000);
    assert_eq!(window("vllm", "gpt-5-nano"), 128_000);
    let info = preset("openai").build().unwrap().model_info("gpt-5-nano");
    assert!(info.price.is_some() && preset("vllm").build().unwrap().model_info("gpt-5-nano").price.is_none());
    let mut limits = ModelOverride::new();
    limits.context_window = Some(50_000);
    let provider = preset("openai").catalogue(Catalogue::new().with_override("gpt-5", limits)).build().unwrap();
    assert_eq!(provider.model_info("gpt-5-nano").context_window, 50_000);
}
