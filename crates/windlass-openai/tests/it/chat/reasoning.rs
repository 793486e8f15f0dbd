//! C4: reasoning comes under many names and is sent back unchanged, with its calls.

use super::*;
use windlass_types::{Effort, Thinking};

/// Returns the message that a provider sends back after reading these chunks, followed by a result for its call.
async fn round_trip(name: &str, chunks: &[Value]) -> (Answer, Value) {
    let server = WireServer::start().await.unwrap();
    let provider = preset(name).base_url(server.url()).build().unwrap();
    server.push(reply(chunks));
    let (answer, error) = ask(&provider, request()).await;
    assert!(error.is_none(), "{error:?}");
    let mut request = request();
    request.messages.push(answer.message(&provider));
    let results = answer.ids().into_iter().map(|id| ContentBlock::ToolResult(windlass_types::ToolResult::ok(id, "r")));
    let mut blocks: Vec<ContentBlock> = results.collect();
    blocks.push(ContentBlock::text("next"));
    request.messages.push(Message::user(blocks).into());
    server.push(reply(&[content("ok"), finish("stop")]));
    ask(&provider, request).await;
    let body = server.requests().remove(1).json().unwrap();
    let messages = body["messages"].as_array().unwrap();
    let assistant = messages.iter().find(|message| message["role"] == "assistant").unwrap().clone();
    (answer, assistant)
}

fn call() -> Value {
    calls(json!([{"index": 0, "id": "call_1", "function": {"name": "Read", "arguments": "{}"}}]))
}

#[tokio::test]
async fn c4_reasoning_content_goes_back_with_the_calls() {
    let chunks = [
        delta(json!({"reasoning_content": "I must "})),
        delta(json!({"reasoning_content": "read."})),
        call(),
        finish("tool_calls"),
    ];
    let (answer, sent) = round_trip("deepseek", &chunks).await;
    assert_eq!(answer.kinds(), ["thinking", "call"]);
    assert_eq!(sent["reasoning_content"], "I must read.");
    assert_eq!(sent["tool_calls"][0]["id"], "call_1");
    let without_calls = [delta(json!({"reasoning_content": "hm"})), content("a"), finish("stop")];
    assert_eq!(round_trip("deepseek", &without_calls).await.1.get("reasoning_content"), None);
    assert_eq!(round_trip("moonshot", &without_calls).await.1["reasoning_content"], "hm");
    assert_eq!(round_trip("qwen", &chunks).await.1.get("reasoning_content"), None);
    let groq = [delta(json!({"reasoning": "hm"})), call(), finish("tool_calls")];
    assert_eq!(round_trip("groq", &groq).await.1["reasoning"], "hm");
}

#[tokio::test]
async fn c4_reasoning_goes_back_under_the_name_under_which_it_came() {
    for name in ["reasoning_content", "reasoning", "reasoning_text"] {
        let chunks = [delta(json!({name: "hm"})), call(), finish("tool_calls")];
        let (answer, sent) = round_trip("together", &chunks).await;
        assert_eq!(answer.blocks[0].text, "hm");
        assert_eq!(sent[name], "hm");
        assert_eq!(sent.as_object().unwrap().keys().filter(|key| key.starts_with("reasoning")).count(), 1);
    }
}

#[tokio::test]
async fn c4_reasoning_that_comes_twice_is_shown_once() {
    let both = |text: &str| delta(json!({"reasoning": text, "reasoning_content": text}));
    let answer = whole("vllm", reply(&[both("a"), both("b"), content("c"), finish("stop")])).await;
    assert_eq!((answer.blocks[0].text.as_str(), answer.text().as_str()), ("ab", "c"));
    let detail = |text: &str| {
        delta(json!({"reasoning": text, "reasoning_details": [{"type": "reasoning.text", "text": text, "index": 0}]}))
    };
    let answer = whole("openrouter", reply(&[detail("a"), detail("b"), content("c"), finish("stop")])).await;
    assert_eq!(answer.blocks[0].text, "ab");
}

#[tokio::test]
async fn c4_reasoning_details_go_back_word_for_word_in_order() {
    let details = |details: Value| delta(json!({"reasoning_details": details}));
    let chunks = [
        details(
            json!([{"type": "reasoning.summary", "summary": "first", "index": 0, "format": "openai-responses-v1", "id": "rs_1"}]),
        ),
        details(json!([{"type": "reasoning.text", "text": "think", "index": 1, "format": "anthropic-claude-v1"}])),
        details(json!([{"type": "reasoning.text", "text": "ing", "index": 1, "signature": null}])),
        details(json!([{"type": "reasoning.text", "signature": "sig=", "index": 1, "extra": [1.50]}])),
        content("text"),
        details(json!([{"type": "reasoning.encrypted", "data": "AAA=", "index": 2, "id": "call_1"}])),
        call(),
        details(json!([{"type": "reasoning.encrypted", "data": "BBB=", "index": 2, "id": "call_1"}])),
        finish("tool_calls"),
    ];
    let (answer, sent) = round_trip("openrouter", &chunks).await;
    assert_eq!(answer.kinds(), ["thinking", "text", "call"]);
    assert_eq!(answer.blocks[0].text, "firstthinking");
    let expected = json!([
        {"type": "reasoning.summary", "summary": "first", "index": 0, "format": "openai-responses-v1", "id": "rs_1"},
        {"type": "reasoning.text", "text": "thinking", "index": 1, "format": "anthropic-claude-v1", "signature": "sig=", "extra": [1.50]},
        {"type": "reasoning.encrypted", "data": "AAA=", "index": 2, "id": "call_1"},
        {"type": "reasoning.encrypted", "data": "BBB=", "index": 2, "id": "call_1"},
    ]);
    assert_eq!(sent["reasoning_details"], expected);
    assert_eq!(sent.get("reasoning"), None);
    assert_eq!(sent["content"], "text");
}

#[tokio::test]
async fn c4_encrypted_reasoning_alone_is_kept() {
    let encrypted = json!([{"type": "reasoning.encrypted", "data": "AAA="}]);
    let chunks = [delta(json!({"reasoning_details": encrypted})), call(), finish("tool_calls")];
    let (answer, sent) = round_trip("openrouter", &chunks).await;
    assert_eq!((answer.kinds(), &*answer.blocks[0].text), (vec!["thinking", "call"], ""));
    assert_eq!(sent["reasoning_details"], encrypted);
}

#[tokio::test]
async fn d1_thought_signatures_of_gemini_go_back_with_their_call() {
    let extra = json!({"google": {"thought_signature": "c2ln"}});
    let chunks = [
        calls(
            json!([{"index": 0, "id": "a", "function": {"name": "Read", "arguments": "{}"}, "extra_content": extra}]),
        ),
        calls(json!([{"index": 1, "id": "b", "function": {"name": "Read", "arguments": "{}"}}])),
        finish("tool_calls"),
    ];
    let (_, sent) = round_trip("litellm", &chunks).await;
    assert_eq!(sent["tool_calls"][0]["extra_content"], extra);
    assert_eq!(sent["tool_calls"][1].get("extra_content"), None);
}

#[tokio::test]
async fn c4_mistral_has_reasoning_as_a_part_of_the_content() {
    let part = json!([{"type": "thinking", "thinking": [{"type": "text", "text": "hm"}]}]);
    let chunks = [delta(json!({"content": part})), content("a"), call(), finish("tool_calls")];
    let (_, sent) = round_trip("mistral", &chunks).await;
    let expected =
        json!([{"type": "thinking", "thinking": [{"type": "text", "text": "hm"}]}, {"type": "text", "text": "a"}]);
    assert_eq!(sent["content"], expected);
}

#[tokio::test]
async fn c4_deepseek_gets_an_empty_text_for_reasoning_that_is_not_known() {
    let mut request = request();
    let call = ToolUse::new("call_1", "Read", JsonText::empty_object());
    request.messages.push(Message::assistant(vec![ContentBlock::ToolUse(call)]).into());
    let result = windlass_types::ToolResult::ok("call_1", "r");
    request.messages.push(Message::user(vec![ContentBlock::ToolResult(result)]).into());
    assert_eq!(sent(preset("deepseek"), request.clone()).await["messages"][1]["reasoning_content"], "");
    assert_eq!(sent(preset("vllm"), request).await["messages"][1].get("reasoning_content"), None);
}

/// Returns the members that control reasoning.
async fn switches(name: &str, thinking: Thinking, effort: Option<Effort>) -> Value {
    let mut request = request();
    (request.thinking, request.effort) = (thinking, effort);
    let body = sent(preset(name), request).await;
    let names =
        ["reasoning_effort", "reasoning", "thinking", "enable_thinking", "thinking_budget", "chat_template_kwargs"];
    let members = names.iter().filter_map(|name| Some(((*name).to_owned(), body.get(*name)?.clone())));
    Value::Object(members.collect())
}

#[tokio::test]
async fn each_profile_switches_reasoning_in_its_own_dialect() {
    let on = Thinking::Adaptive;
    for (name, thinking, effort, expected) in [
        ("openai", on, None, json!({})),
        ("openai", Thinking::Off, Some(Effort::Max), json!({"reasoning_effort": "xhigh"})),
        ("groq", on, Some(Effort::XHigh), json!({"reasoning_effort": "high"})),
        ("mistral", on, Some(Effort::High), json!({})),
        ("openrouter", on, None, json!({"reasoning": {"enabled": true}})),
        ("openrouter", Thinking::Off, None, json!({})),
        ("openrouter", on, Some(Effort::Low), json!({"reasoning": {"effort": "low"}})),
        ("openrouter", Thinking::Budget(2_000), None, json!({"reasoning": {"max_tokens": 2_000}})),
        ("together", on, Some(Effort::Low), json!({"reasoning": {"enabled": true}, "reasoning_effort": "low"})),
        ("deepseek", on, Some(Effort::Low), json!({"thinking": {"type": "enabled"}, "reasoning_effort": "high"})),
        ("deepseek", on, Some(Effort::Max), json!({"thinking": {"type": "enabled"}, "reasoning_effort": "max"})),
        ("deepseek", Thinking::Off, Some(Effort::Max), json!({"thinking": {"type": "disabled"}})),
        ("moonshot", on, None, json!({"thinking": {"type": "enabled"}})),
        ("moonshot", Thinking::Off, None, json!({})),
        ("zai", on, None, json!({"thinking": {"type": "enabled", "clear_thinking": false}})),
        (
            "zai",
            on,
            Some(Effort::Medium),
            json!({"thinking": {"type": "enabled", "clear_thinking": false}, "reasoning_effort": "low"}),
        ),
        ("zai", Thinking::Off, None, json!({"thinking": {"type": "disabled"}})),
        ("qwen", Thinking::Budget(900), None, json!({"enable_thinking": true, "thinking_budget": 900})),
        ("qwen", Thinking::Off, None, json!({"enable_thinking": false})),
        ("vllm", on, None, json!({"chat_template_kwargs": {"enable_thinking": true}})),
        ("vllm", Thinking::Off, None, json!({})),
    ] {
        assert_eq!(switches(name, thinking, effort).await, expected, "{name} {thinking:?} {effort:?}");
    }
}
