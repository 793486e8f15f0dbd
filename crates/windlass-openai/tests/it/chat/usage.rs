//! C5: usage, in the places and forms of endpoints.

use super::*;

async fn of(name: &str, figures: Value) -> Usage {
    let last = json!({"id": "x", "choices": [], "usage": figures});
    whole(name, reply(&[content("a"), finish("stop"), last])).await.usage
}

fn usage_of(input: u64, read: u64, written: u64, output: u64) -> Usage {
    let mut usage = Usage::new(input, output);
    usage.cache_read_input_tokens = read;
    usage.cache_creation_input_tokens = written;
    usage
}

#[tokio::test]
async fn c5_cached_tokens_are_apart_whoever_writes_them() {
    for (figures, expected) in [
        (
            json!({"prompt_tokens": 100, "completion_tokens": 7, "prompt_tokens_details": {"cached_tokens": 60, "audio_tokens": 0}}),
            usage_of(40, 60, 0, 7),
        ),
        (
            json!({"prompt_tokens": 100, "completion_tokens": 7, "prompt_cache_hit_tokens": 64, "prompt_cache_miss_tokens": 36}),
            usage_of(36, 64, 0, 7),
        ),
        (json!({"prompt_tokens": 100, "completion_tokens": 7, "cached_tokens": 50}), usage_of(50, 50, 0, 7)),
        (
            json!({"prompt_tokens": 100, "completion_tokens": 7, "cache_read_input_tokens": 30, "cache_creation_input_tokens": 20}),
            usage_of(50, 30, 20, 7),
        ),
        (
            json!({"prompt_tokens": 100, "completion_tokens": 7, "prompt_tokens_details": {"cached_tokens": 10, "cache_write_tokens": 80}}),
            usage_of(10, 10, 80, 7),
        ),
        (
            json!({"prompt_tokens": 10, "completion_tokens": null, "prompt_tokens_details": {"cached_tokens": 60}, "completion_tokens_details": null}),
            usage_of(0, 10, 0, 0),
        ),
    ] {
        assert_eq!(of("openai", figures.clone()).await, expected, "{figures}");
    }
}

#[tokio::test]
async fn c5_reasoning_is_counted_once() {
    let inside = json!({"prompt_tokens": 10, "completion_tokens": 50, "total_tokens": 60, "completion_tokens_details": {"reasoning_tokens": 40}});
    assert_eq!(of("openai", inside).await, Usage::new(10, 50));
    let beside = json!({"prompt_tokens": 10, "completion_tokens": 50, "total_tokens": 100, "completion_tokens_details": {"reasoning_tokens": 40}});
    assert_eq!(of("openai", beside).await, Usage::new(10, 90));
    let more =
        json!({"prompt_tokens": 10, "completion_tokens": 5, "completion_tokens_details": {"reasoning_tokens": 40}});
    assert_eq!(of("openai", more).await, Usage::new(10, 45));
    let untold =
        json!({"prompt_tokens": 10, "completion_tokens": 50, "completion_tokens_details": {"reasoning_tokens": 40}});
    assert_eq!(of("xai", untold).await, Usage::new(10, 90));
}

#[tokio::test]
async fn c5_usage_may_stand_in_a_choice_or_beside_it() {
    let figures = json!({"prompt_tokens": 11, "completion_tokens": 3});
    let in_choice =
        json!({"id": "x", "choices": [{"index": 0, "delta": {}, "finish_reason": "stop", "usage": figures}]});
    assert_eq!(whole("moonshot", reply(&[content("a"), in_choice])).await.usage, Usage::new(11, 3));
    let groq = json!({"id": "x", "choices": [{"index": 0, "delta": {}, "finish_reason": "stop"}], "x_groq": {"usage": figures}});
    assert_eq!(whole("groq", reply(&[content("a"), groq])).await.usage, Usage::new(11, 3));
}

#[tokio::test]
async fn c5_usage_with_each_chunk_counts_once_and_an_empty_one_not_at_all() {
    let with = |text: &str, output: u64| {
        let mut chunk = content(text);
        chunk["usage"] = json!({"prompt_tokens": 20, "completion_tokens": output});
        chunk
    };
    let empty = json!({"id": "x", "choices": [], "usage": {"prompt_tokens": 0, "completion_tokens": 0}});
    let chunks = [with("a", 1), with("b", 2), with("c", 3), finish("stop"), empty];
    assert_eq!(whole("vllm", reply(&chunks)).await.usage, Usage::new(20, 3));
}

#[tokio::test]
async fn c5_an_endpoint_that_refuses_include_usage_is_not_asked_for_it() {
    assert_eq!(sent(preset("mistral"), request()).await.get("stream_options"), None);
    assert_eq!(sent(preset("vllm"), request()).await["stream_options"], json!({"include_usage": true}));
    let openai = sent(preset("openai"), request()).await;
    assert_eq!(openai["stream_options"], json!({"include_usage": true, "include_obfuscation": false}));
}

#[tokio::test]
async fn i_the_cost_that_a_router_reports_is_read_exactly() {
    let nano = |nano| Some(windlass_types::NanoUsd::new(nano));
    let with = |name: &str, cost: &str, more: &str| {
        let figures = format!(r#"{{"prompt_tokens": 10, "completion_tokens": 2, "cost": {cost}{more}}}"#);
        of_text(name.to_owned(), figures)
    };
    assert_eq!(with("openrouter", "0.00014", "").await.reported_cost, nano(140_000));
    assert_eq!(with("openrouter", "1.5e-05", r#","cost_details":null"#).await.reported_cost, nano(15_000));
    assert_eq!(with("openrouter", "0", "").await.reported_cost, nano(0));
    // With the user's own key, the vendor bills beside the router.
    let byok = r#","is_byok":true,"cost_details":{"upstream_inference_cost":0.02}"#;
    assert_eq!(with("openrouter", "0.001", byok).await.reported_cost, nano(21_000_000));
    let unsaid = r#","is_byok":true,"cost_details":{"upstream_inference_cost":null}"#;
    assert_eq!(with("openrouter", "0.001", unsaid).await.reported_cost, None);
    let not = r#","is_byok":false,"cost_details":{"upstream_inference_cost":0.02}"#;
    assert_eq!(with("openrouter", "0.001", not).await.reported_cost, nano(1_000_000));
    // An unknown endpoint may mean another currency.
    assert_eq!(with("vllm", "0.5", "").await.reported_cost, None);
    let ticks = r#","cost_in_usd_ticks":37756000"#;
    assert_eq!(with("xai", "9", ticks).await.reported_cost, nano(3_775_600));
}

#[tokio::test]
async fn i_a_cost_that_cannot_be_right_is_no_cost_and_costs_no_tokens() {
    for cost in ["-0.5", "\"0.5\"", "null", "1e400", "99999999", "true", "[]", "{}"] {
        let figures = format!(r#"{{"prompt_tokens": 10, "completion_tokens": 2, "cost": {cost}}}"#);
        let usage = of_text("openrouter".to_owned(), figures).await;
        assert_eq!(usage, Usage::new(10, 2), "{cost}");
    }
}

/// Returns the usage of an answer with this literal usage object.
async fn of_text(name: String, figures: String) -> Usage {
    let chunks = [content("a"), finish("stop")].map(|chunk| format!("data: {chunk}\n\n")).concat();
    let last = format!("data: {{\"id\":\"x\",\"choices\":[],\"usage\":{figures}}}\n\ndata: [DONE]\n\n");
    whole(&name, Reply::stream_bytes(format!("{chunks}{last}"))).await.usage
}
