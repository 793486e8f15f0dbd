//! Guarantees of every model provider, kept by every preset.

use super::*;
use windlass_openai::Endpoint;
use windlass_testkit::provider::{self as kit, Replay};
use windlass_testkit::wire::{ChatForm, Dialect};
use windlass_types::ModelErrorKind;

/// Returns an answer with reasoning, text and a call, in the form of the endpoint.
fn message(preset: &str) -> Reply {
    if preset == "ollama" {
        return ollama::reply(&[
            json!({"model": "m", "message": {"role": "assistant", "content": "", "thinking": "hm"}, "done": false}),
            json!({"model": "m", "message": {"role": "assistant", "content": "ab"}, "done": false}),
            json!({"model": "m", "message": {"role": "assistant", "content": "",
                   "tool_calls": [{"function": {"name": "Read", "arguments": {"path": "/x"}}}]}, "done": false}),
            json!({"model": "m", "done": true, "done_reason": "stop", "prompt_eval_count": 9, "eval_count": 4}),
        ]);
    }
    reply(&[
        delta(json!({"reasoning": "hm"})),
        content("a"),
        content("b"),
        calls(json!([{"index": 0, "id": "call_1", "function": {"name": "Read", "arguments": "{\"path\":"}}])),
        calls(json!([{"index": 0, "function": {"arguments": "\"/x\"}"}}])),
        finish("tool_calls"),
        usage(9, 4),
    ])
}

#[tokio::test]
async fn every_preset_keeps_the_promises_of_a_provider() {
    for name in Endpoint::preset_names() {
        let server = WireServer::start().await.unwrap();
        let provider = preset(name).base_url(server.url()).build().unwrap();
        server.on_request(move |_| message(name));
        let transcript = kit::answers(&provider, &request()).await.unwrap();
        assert_eq!(transcript.text(), "ab", "{name}");
        assert_eq!(transcript.tool_inputs(), [("Read".to_owned(), "{\"path\":\"/x\"}".to_owned())], "{name}");
        kit::gives_frames(&provider, &request()).await.unwrap();
        kit::survives_cancellation(&provider, &request()).await.unwrap();
        kit::runs_in_parallel(&provider, &vec![request(); 4]).await.unwrap();
        kit::describes_models(&provider, &["model-1", "anthropic/claude-opus-5-5", ""]).unwrap();
        assert_eq!(provider.model_info("m").api.to_string(), format!("{name}/chat-completions"));
    }
}

#[tokio::test]
async fn every_preset_reports_cuts_and_fails_once() {
    for name in Endpoint::preset_names() {
        let server = WireServer::start().await.unwrap();
        let provider = preset(name).base_url(server.url()).build().unwrap();
        let reply = message(name);
        let half = reply.body().len() / 2;
        for reply in [reply.clone().stop_at(half), reply.clone().cut_at(half), reply.reset_at(half)] {
            server.push(reply);
            kit::reports_a_cut(&provider, &request()).await.unwrap();
        }
        let body = json!({"error": {"message": format!("slow down, {KEY}"), "code": "rate_limit_exceeded"}});
        server.on_request(move |_| Reply::status(429, body.to_string()));
        kit::fails(&provider, &request(), ModelErrorKind::RateLimited, &[KEY]).await.unwrap();
        kit::does_not_retry(&provider, &request(), || server.request_count()).await.unwrap();
    }
}

#[tokio::test]
async fn counting_tokens_says_that_the_endpoint_cannot() {
    let provider = preset("groq").build().unwrap();
    let error = provider.count_tokens(Arc::new(request())).await.unwrap_err();
    assert_eq!((error.kind, error.unbilled), (ModelErrorKind::Configuration, true));
    assert!(error.message.contains("groq cannot count"));
}

/// Returns the additions of each vendor to the dialect, and the messages with which reasoning is sent back.
fn form(name: &str) -> (ChatForm, Replay) {
    match name {
        "openai" | "azure" => (ChatForm::Plain, Replay::Never),
        "openrouter" => (ChatForm::ReasoningDetails, Replay::Always),
        "mistral" => (ChatForm::ThinkingParts, Replay::Always),
        "groq" | "together" | "vllm" => (ChatForm::Reasoning, Replay::WithCalls),
        "xai" | "qwen" => (ChatForm::ReasoningContent, Replay::Never),
        "moonshot" | "zai" => (ChatForm::ReasoningContent, Replay::Always),
        _ => (ChatForm::ReasoningContent, Replay::WithCalls),
    }
}

#[tokio::test]
async fn every_preset_keeps_every_promise_over_long_sessions() {
    let mut broken = Vec::new();
    for (number, name) in Endpoint::preset_names().enumerate() {
        let connect = move |url: &str| preset(name).base_url(url).build().unwrap();
        let endpoint = match name {
            "ollama" => kit::Endpoint::new(Dialect::Ollama, "qwen3:8b", connect).every(5),
            _ => {
                let (form, replay) = form(name);
                let endpoint = kit::Endpoint::new(Dialect::Chat(form), "model-1", connect).replay(replay);
                // The presets share one decoder.
                endpoint.every(if number == 0 { 1 } else { 97 })
            }
        };
        if let Err(violation) = kit::all(&endpoint).await {
            broken.push(format!("-- {name}\n{violation}"));
        }
    }
    assert!(broken.is_empty(), "{}", broken.join("\n"));
}
