//! C3 and the shapes of a stream: cut, split, and members beside the deltas.

use super::*;
use proptest::prelude::*;
use std::time::Duration;
use windlass_types::ModelErrorKind;

fn full_message() -> Vec<Value> {
    vec![
        delta(json!({"role": "assistant", "content": ""})),
        delta(json!({"reasoning_content": "erwägen "})),
        delta(json!({"reasoning_content": "考虑 \"x\""})),
        content("héllo "),
        content("日本語 "),
        content("🦀\r\n"),
        calls(json!([{"index": 0, "id": "call_1", "function": {"name": "Write", "arguments": ""}}])),
        calls(json!([{"index": 0, "function": {"arguments": "{\"path\":\"/tmp/日本\","}}])),
        calls(json!([{"index": 0, "function": {"arguments": "\"text\":\"a\\nb \\\"q\\\" 🦀\"}"}}])),
        calls(json!([{"index": 1, "id": "call_2", "function": {"name": "Read", "arguments": "{}"}}])),
        finish("tool_calls"),
        usage(100, 50),
    ]
}

fn check_full(answer: &Answer) {
    assert_eq!((&*answer.id, &*answer.model), ("chatcmpl-1", "model-1-0601"));
    assert_eq!(answer.kinds(), ["thinking", "text", "call", "call"]);
    assert_eq!(answer.blocks[0].text, "erwägen 考虑 \"x\"");
    assert_eq!(answer.text(), "héllo 日本語 🦀\r\n");
    let first = "{\"path\":\"/tmp/日本\",\"text\":\"a\\nb \\\"q\\\" 🦀\"}";
    assert_eq!(answer.calls(), [("Write", first), ("Read", "{}")]);
    assert_eq!(answer.usage, Usage::new(100, 50));
}

#[tokio::test]
async fn c3_a_message_cut_at_every_byte_is_never_complete() {
    let reply = reply(&full_message());
    // All but the usage and the end mark.
    let whole_from = open_reply(&full_message()[..11]).body().len();
    let server = WireServer::start().await.unwrap();
    let provider = preset("deepseek").base_url(server.url()).build().unwrap();
    for end in 0..reply.body().len() {
        server.push(reply.clone().stop_at(end));
        let (answer, error) = ask(&provider, request()).await;
        if end < whole_from {
            assert_eq!(error.map(|error| error.kind), Some(ModelErrorKind::Cut), "{end}");
            assert!(!answer.is_complete, "{end}");
        } else {
            assert!(error.is_none() && answer.is_complete, "{end}: {error:?}");
        }
    }
}

#[tokio::test]
async fn a_message_split_at_every_byte_is_the_same() {
    let reply = reply(&full_message());
    let server = WireServer::start().await.unwrap();
    let provider = preset("deepseek").base_url(server.url()).build().unwrap();
    for at in 1..reply.body().len() {
        server.push(reply.clone().chunks_at([at]).separate_writes());
        let (answer, error) = ask(&provider, request()).await;
        assert!(error.is_none() && answer.is_complete);
        check_full(&answer);
    }
}

#[tokio::test]
async fn c3_an_end_without_a_finish_reason_is_a_cut() {
    for reply in [open_reply(&[content("a")]), reply(&[content("a")]), reply(&[content("a"), usage(1, 1)]), reply(&[])]
    {
        let (answer, error) = read("openai", reply).await;
        assert_eq!(error.unwrap().kind, ModelErrorKind::Cut);
        assert!(!answer.is_complete);
    }
}

#[tokio::test]
async fn c3_a_profile_may_take_the_end_mark_for_an_end() {
    let server = WireServer::start().await.unwrap();
    let builder = preset("openai").compat(|compat| compat.answer.done_without_finish = true);
    let provider = builder.base_url(server.url()).build().unwrap();
    server.push(reply(&[content("a")]));
    let (answer, error) = ask(&provider, request()).await;
    assert_eq!((answer.stop, error.is_none()), (Some(StopReason::EndTurn), true));
    server.push(open_reply(&[content("a")]));
    assert_eq!(ask(&provider, request()).await.1.unwrap().kind, ModelErrorKind::Cut);
}

#[tokio::test]
async fn c3_a_finish_reason_ends_a_message_whose_end_mark_is_missing() {
    let chunks = [content("a"), finish("stop")];
    assert_eq!(whole("openai", open_reply(&chunks)).await.text(), "a");
    let broken = open_reply(&[content("a"), finish("stop"), usage(1, 2)]);
    let end = broken.body().len();
    let answer = whole("openai", broken.cut_at(end)).await;
    assert_eq!((answer.text().as_str(), answer.usage), ("a", Usage::new(1, 2)));
}

#[tokio::test]
async fn c3_odd_finish_reasons_have_their_meaning() {
    for (reason, stop) in [
        ("stop", StopReason::EndTurn),
        ("end", StopReason::EndTurn),
        ("eos", StopReason::EndTurn),
        ("tool_calls", StopReason::EndTurn),
        ("length", StopReason::MaxTokens),
        ("model_length", StopReason::ContextWindowExceeded),
        ("model_context_window_exceeded", StopReason::ContextWindowExceeded),
        ("content_filter", StopReason::ContentFilter),
        ("sensitive", StopReason::ContentFilter),
        ("function_call_filter: MALFORMED_FUNCTION_CALL", StopReason::MalformedToolCall),
        ("a new one", StopReason::Other("a new one".to_owned())),
    ] {
        assert_eq!(whole("openai", reply(&[content("a"), finish(reason)])).await.stop, Some(stop), "{reason}");
    }
    for (reason, kind) in [
        ("error", ModelErrorKind::Server),
        ("network_error", ModelErrorKind::Server),
        ("insufficient_system_resource", ModelErrorKind::Overloaded),
        ("abort", ModelErrorKind::Cut),
    ] {
        let (answer, error) = read("openai", reply(&[content("a"), finish(reason)])).await;
        assert_eq!((error.unwrap().kind, answer.is_complete), (kind, false), "{reason}");
    }
}

#[tokio::test]
async fn a_profile_gives_finish_reasons_of_its_own() {
    let settings = JsonText::parse(r#"{"answer":{"finish_reasons":[["fin","done"],["stop","max_tokens"]]}}"#).unwrap();
    let server = WireServer::start().await.unwrap();
    let provider = preset("openai").compat_settings(settings).base_url(server.url()).build().unwrap();
    for (reason, stop) in [("fin", StopReason::EndTurn), ("stop", StopReason::MaxTokens)] {
        server.push(reply(&[content("a"), finish(reason)]));
        assert_eq!(ask(&provider, request()).await.0.stop, Some(stop));
    }
}

#[tokio::test]
async fn calls_with_a_plain_stop_are_run_and_a_refusal_is_one() {
    let call = calls(json!([{"index": 0, "id": "a", "function": {"name": "Read", "arguments": "{}"}}]));
    assert_eq!(whole("openai", reply(&[call, finish("stop")])).await.stop, Some(StopReason::ToolUse));
    let answer = whole("openai", reply(&[delta(json!({"refusal": "I will not."})), finish("stop")])).await;
    assert_eq!((answer.stop.clone(), answer.text().as_str()), (Some(StopReason::Refusal), "I will not."));
}

#[tokio::test]
async fn a_call_that_the_limit_of_the_output_cut_is_told_by_the_stop_reason() {
    let chunks = [
        calls(json!([{"index": 0, "id": "a", "function": {"name": "Write", "arguments": "{\"text\":\"half a"}}])),
        finish("length"),
        usage(10, 1_000),
    ];
    let answer = whole("openai", reply(&chunks)).await;
    assert_eq!(answer.calls(), [("Write", "{\"text\":\"half a")]);
    assert_eq!(answer.stop, Some(StopReason::MaxTokens));
}

#[tokio::test]
async fn a_stream_that_falls_silent_or_only_shows_signs_of_life_ends() {
    let server = WireServer::start().await.unwrap();
    let silent = open_reply(&[content("a")]);
    server.push(silent.clone().hang_at(silent.body().len()));
    let provider = preset("openai").idle_timeout(Duration::from_secs(2)).base_url(server.url()).build().unwrap();
    let (answer, error) = ask(&provider, request()).await;
    assert_eq!((answer.text().as_str(), error.unwrap().kind), ("a", ModelErrorKind::Timeout));
    // A chunk that adds nothing is no progress.
    let provider = preset("openai").stall_timeout(Duration::ZERO).base_url(server.url()).build().unwrap();
    let empty = vec![delta(json!({"content": ""})); 3];
    server.push(reply(&[&[content("a")], &*empty, &[finish("stop")]].concat()).chunks_of(64).separate_writes());
    assert_eq!(ask(&provider, request()).await.1.unwrap().kind, ModelErrorKind::Timeout);
}

#[tokio::test]
async fn content_may_come_as_parts() {
    let chunks = [
        delta(json!({"content": [{"type": "thinking", "thinking": [{"type": "text", "text": "hm"}]}]})),
        delta(json!({"content": [{"type": "text", "text": "a"}, {"type": "output_text", "text": "b"}, {"type": "x"}]})),
        content("c"),
        finish("stop"),
    ];
    let answer = whole("mistral", reply(&chunks)).await;
    assert_eq!((answer.kinds(), answer.text()), (vec!["thinking", "text"], "abc".to_owned()));
    assert_eq!(answer.blocks[0].text, "hm");
}

#[tokio::test]
async fn what_adds_nothing_is_passed_over() {
    let frames = [
        json!({"choices": [], "prompt_filter_results": [{"prompt_index": 0}]}).to_string(),
        json!({"id": 7, "object": {}, "model": null, "choices": [{"index": 0, "delta": {"role": "assistant", "content": null}}]}).to_string(),
        json!({"id": "x", "choices": null}).to_string(),
        content("a").to_string(),
        json!({"id": "x", "choices": [{"index": 1, "delta": {"content": "another choice"}}]}).to_string(),
        json!({"id": "x", "choices": [{"index": 0, "delta": {"content": null, "audio": null, "tool_calls": []}, "finish_reason": ""}]}).to_string(),
        json!({"id": "x", "choices": [{"index": 0, "delta": null, "finish_reason": "stop", "usage": "none"}], "error": null}).to_string(),
    ];
    let body: String = frames.iter().map(|frame| format!(": OPENROUTER PROCESSING\n\ndata: {frame}\n\n")).collect();
    let answer = whole("openrouter", Reply::stream_bytes(body + "data: [DONE]\n\n")).await;
    assert_eq!(answer.text(), "a");
    assert!(answer.id.starts_with("chatcmpl-"));
    assert_eq!(answer.model, "model-1");
}

#[tokio::test]
async fn letters_of_any_kind_survive_the_short_way() {
    let texts = ["a", "\"", "\\", "\u{0}", "\n", "\",\"reasoning_content\":\"x", "é", "{}", "", " ", "}]}", "data: x"];
    let mut chunks: Vec<Value> = texts.iter().map(|text| content(text)).collect();
    chunks.extend(texts.iter().map(|text| delta(json!({"content": "b", "reasoning_content": text}))));
    chunks.push(finish("stop"));
    let answer = whole("deepseek", reply(&chunks)).await;
    assert_eq!(answer.text(), texts.concat() + &"b".repeat(texts.len()));
    assert_eq!(answer.of("thinking").iter().map(|block| &*block.text).collect::<String>(), texts.concat());
}

#[tokio::test]
async fn a_message_that_is_too_large_is_an_error() {
    let one = content(&"x".repeat(1 << 20));
    let (_, error) = read("openai", reply(&vec![one; 65])).await;
    assert_eq!(error.unwrap().kind, ModelErrorKind::Protocol);
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 64, ..ProptestConfig::default() })]

    /// Chunks of any shape give an answer or a typed error, within the grammar of a message.
    #[test]
    fn hostile_chunks_never_break_the_grammar(chunks in proptest::collection::vec(chunk(), 0..12), done in any::<bool>()) {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        runtime.block_on(async {
            let reply = if done { reply(&chunks) } else { open_reply(&chunks) };
            let (answer, error) = read("openrouter", reply).await;
            assert_ne!(answer.is_complete, error.is_some());
        });
    }
}

/// Returns a member, mostly of the right type.
fn member() -> impl Strategy<Value = Value> {
    prop_oneof![
        Just(Value::Null),
        Just(json!("")),
        Just(json!("stop")),
        Just(json!("a")),
        Just(json!(0)),
        Just(json!(-1)),
        Just(json!(1e300)),
        Just(json!([])),
        Just(json!({})),
        Just(json!([{"type": "reasoning.text", "text": "t", "index": 0}])),
        Just(json!([{"type": "reasoning.encrypted", "data": "d"}])),
        Just(json!([[1], {"text": {}}])),
    ]
}

fn chunk() -> impl Strategy<Value = Value> {
    let piece = (member(), member(), member(), member()).prop_map(|(index, id, name, arguments)| {
        json!({"index": index, "id": id, "function": {"name": name, "arguments": arguments}})
    });
    let pieces = proptest::collection::vec(piece, 0..3);
    let members = (member(), member(), member(), member(), member(), member());
    (pieces, members).prop_map(|(pieces, (content, reasoning, details, reason, usage, id))| {
        json!({"id": id, "usage": usage, "choices": [{"index": 0, "finish_reason": reason, "usage": {"prompt_tokens": id},
               "delta": {"content": content, "reasoning": reasoning, "reasoning_details": details, "tool_calls": pieces}}]})
    })
}

/// Returns a chunk with this JSON text in place of `@`.
fn raw_chunk(template: Value, literal: &str) -> String {
    format!("data: {}\n\n", template.to_string().replace("\"@\"", literal))
}

#[tokio::test]
async fn a_character_that_two_chunks_share_is_whole() {
    let letters = [r#""before ""#, r#""middle \ud83d""#, r#""\ude00 after""#];
    let end = format!("data: {}\n\n", finish("stop"));
    let chunks: String = letters.iter().map(|literal| raw_chunk(content("@"), literal)).collect();
    let answer = whole("openai", Reply::stream_bytes(format!("{chunks}{end}"))).await;
    assert_eq!(answer.text(), "before middle 😀 after");
    // A half without the other one is marked, and nothing after it is lost.
    let chunks: String =
        [letters[0], letters[1], letters[0]].iter().map(|text| raw_chunk(content("@"), text)).collect();
    let answer = whole("openai", Reply::stream_bytes(format!("{chunks}{end}"))).await;
    assert_eq!(answer.text(), "before middle \u{fffd}before ");
    let chunks: String = letters[..2].iter().map(|text| raw_chunk(content("@"), text)).collect();
    let answer = whole("openai", Reply::stream_bytes(format!("{chunks}{end}"))).await;
    assert_eq!(answer.text(), "before middle \u{fffd}");
}

#[tokio::test]
async fn arguments_are_whole_or_there_is_no_call() {
    let piece = |literal: &str| raw_chunk(calls(json!([{"index": 0, "function": {"arguments": "@"}}])), literal);
    let begin = format!(
        "data: {}\n\n",
        calls(json!([{"index": 0, "id": "c", "function": {"name": "Write", "arguments": "{\"content\":\"before "}}]))
    );
    let end = format!("data: {}\n\n", finish("tool_calls"));
    let pieces: String = [r#""middle \ud83d""#, r#""\ude00 end of middle ""#, r#""after\"}""#].map(piece).concat();
    let answer = whole("openai", Reply::stream_bytes(format!("{begin}{pieces}{end}"))).await;
    assert_eq!(answer.calls(), [("Write", r#"{"content":"before middle 😀 end of middle after"}"#)]);
    let unreadable = [r#""middle \ud83d""#, r#""after\"}""#].map(piece).concat();
    for pieces in [&*unreadable, &piece("5"), &piece("[]"), &piece(r#""a\ud83d""#)] {
        let (answer, error) = read("openai", Reply::stream_bytes(format!("{begin}{pieces}{end}"))).await;
        assert_eq!(error.map(|error| error.kind), Some(ModelErrorKind::Protocol), "{pieces}");
        assert!(!answer.is_complete, "{pieces}");
    }
}

#[tokio::test]
async fn members_that_cannot_be_read_are_not_absent() {
    for chunk in [
        raw_chunk(content("@"), "5"),
        raw_chunk(content("@"), "[5]"),
        raw_chunk(calls(json!([{"index": "@", "function": {"arguments": "{}"}}])), "1.5"),
        raw_chunk(calls(json!([{"index": 0, "function": {"name": "@"}}])), "{}"),
        raw_chunk(finish("@"), "7"),
    ] {
        let reply = format!("data: {}\n\n{chunk}data: {}\n\n", content("a"), finish("stop"));
        let (answer, error) = read("openai", Reply::stream_bytes(reply)).await;
        assert_eq!(error.map(|error| error.kind), Some(ModelErrorKind::Protocol), "{chunk}");
        assert!(!answer.is_complete, "{chunk}");
    }
    let index =
        raw_chunk(calls(json!([{"index": "@", "id": "c", "function": {"name": "R", "arguments": "{}"}}])), "0.0");
    let empty = "data:\n\ndata: \n\n";
    let choice = raw_chunk(content("b"), "").replace("\"index\":0", "\"index\":0.0");
    let counts = format!("data: {}\n\n", usage(3, 4)).replace(":3,", ":3.0,").replace(":4,", ":4.0,");
    let reply = format!("{empty}{choice}{index}{empty}data: {}\n\n{counts}", finish("tool_calls"));
    let answer = whole("openai", Reply::stream_bytes(reply)).await;
    assert_eq!((answer.text(), answer.calls(), answer.usage), ("b".to_owned(), vec![("R", "{}")], Usage::new(3, 4)));
}

#[tokio::test]
async fn an_answer_that_is_not_streamed_is_read_as_one_message() {
    let json =
        |body: Value| Reply::status(200, body.to_string()).header("content-type", "application/json; charset=utf-8");
    let message = json!({"role": "assistant", "content": "Hello.", "tool_calls":
        [{"id": "c", "type": "function", "function": {"name": "R", "arguments": "{\"a\":1}"}}]});
    let body = json!({"id": "chatcmpl-1", "object": "chat.completion", "model": "model-1-0601",
        "choices": [{"index": 0, "message": message, "finish_reason": "tool_calls"}],
        "usage": {"prompt_tokens": 3, "completion_tokens": 4, "total_tokens": 7}});
    let answer = whole("openai", json(body)).await;
    assert_eq!((&*answer.text(), answer.calls(), answer.usage), ("Hello.", vec![("R", "{\"a\":1}")], Usage::new(3, 4)));
    // An object that is no message, or an unfinished one.
    for body in [json!({}), json!({"choices": []}), json!({"status": "ok"})] {
        let (_, error) = read("openai", json(body)).await;
        let error = error.unwrap();
        assert!(error.to_string().contains("not a stream") && !error.unbilled, "{error}");
    }
    let cut = json!({"id": "c", "choices": [{"index": 0, "message": {"content": "a"}, "finish_reason": null}]});
    let (answer, error) = read("openai", json(cut)).await;
    assert_eq!(error.map(|error| error.kind), Some(ModelErrorKind::Cut));
    assert!(!answer.is_complete);
    let (_, error) = read("openai", json(json!({"error": {"message": "no such model", "code": 404}}))).await;
    assert!(error.unwrap().to_string().contains("no such model"));
}
