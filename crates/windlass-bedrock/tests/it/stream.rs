//! Conversion of frames to events: valid and invalid streams.

use crate::frames::{
    answer, call, delta, end, ends, event, exception, frame, input, metadata, signature, start, stop, text, thinking,
};
use crate::wire::{ending, is_complete, provider, read, read_frames, read_reply, request};
use serde_json::json;
use windlass_testkit::provider::blocks;
use windlass_testkit::wire::{Gate, Reply, WireServer};
use windlass_types::{ContentBlock, ModelErrorKind, ModelEvent, StopReason, Usage};

fn usage() -> Usage {
    let mut usage = Usage::new(60, 27);
    usage.cache_read_input_tokens = 40;
    (usage.cache_creation_input_tokens, usage.cache_creation_1h_input_tokens) = (10, 10);
    usage
}

/// Returns reasoning, a text and two calls of which one has no input.
fn turn() -> Vec<Vec<u8>> {
    vec![
        start(),
        thinking(0, "h"),
        thinking(0, "m"),
        signature(0, "sig"),
        stop(0),
        text(1, "é"),
        stop(1),
        call(2, "tooluse_a", "Read"),
        input(2, "{\"n\": 1.50"),
        input(2, "}"),
        stop(2),
        call(3, "tooluse_b", "List"),
        stop(3),
        end("tool_use"),
        metadata(),
    ]
}

#[tokio::test]
async fn e2_a_message_is_events_in_order_with_the_usage_behind_its_end() {
    let (events, error) = read_frames(&turn()).await;
    assert!(error.is_none(), "{error:?}");
    assert_eq!(ending(&events), Some((StopReason::ToolUse, usage())));
    assert_eq!(events.last(), Some(&ModelEvent::MessageStop));
    let ModelEvent::MessageStart { id, model, usage } = &events[0] else { panic!("{events:?}") };
    assert_eq!((id.as_str(), model.as_str(), usage), ("req-1", crate::wire::NOVA, &Usage::default()));
    let blocks = blocks(&events).unwrap();
    assert_eq!(blocks[0], ContentBlock::Thinking { thinking: "hm".into(), signature: "sig".into() });
    assert_eq!(blocks[1].as_text(), Some("é"));
    let calls: Vec<_> = blocks.iter().filter_map(ContentBlock::as_tool_use).collect();
    let seen: Vec<_> = calls.iter().map(|call| (call.id.as_str(), call.name.as_str(), call.input.as_str())).collect();
    assert_eq!(seen, [("tooluse_a", "Read", "{\"n\": 1.50}"), ("tooluse_b", "List", "{}")]);
}

#[tokio::test]
async fn e2_calls_that_come_in_turn_are_all_kept() {
    let frames = [
        start(),
        text(0, "a"),
        call(1, "one", "Read"),
        call(2, "two", "List"),
        input(2, "{\"b\":"),
        input(1, "{\"a\":1}"),
        text(0, "b"),
        stop(0),
        input(2, "2}"),
        stop(2),
        stop(1),
        end("tool_use"),
        metadata(),
    ];
    let (events, error) = read_frames(&frames).await;
    assert!(error.is_none(), "{error:?}");
    let blocks = blocks(&events).unwrap();
    assert_eq!(blocks[0].as_text(), Some("ab"));
    let calls: Vec<_> = blocks.iter().filter_map(ContentBlock::as_tool_use).collect();
    let seen: Vec<_> = calls.iter().map(|call| (call.id.as_str(), call.input.as_str())).collect();
    assert_eq!(seen, [("one", "{\"a\":1}"), ("two", "{\"b\":2}")]);
}

#[tokio::test]
async fn e2_exceptions_inside_of_a_stream_have_their_kinds() {
    for (name, text, kind) in [
        ("throttlingException", "Too many tokens, please wait before trying again.", ModelErrorKind::RateLimited),
        ("modelStreamErrorException", "The model broke.", ModelErrorKind::Server),
        ("internalServerException", "Internal error.", ModelErrorKind::Server),
        ("serviceUnavailableException", "Bedrock is unable to process your request.", ModelErrorKind::Overloaded),
        ("validationException", "Input is too long for requested model.", ModelErrorKind::PromptTooLong),
        ("validationException", "The value is wrong.", ModelErrorKind::InvalidRequest),
        ("modelTimeoutException", "The model timed out.", ModelErrorKind::Timeout),
        ("somethingNewException", "What?", ModelErrorKind::Server),
    ] {
        let frames = [start(), self::text(0, "a"), exception(name, json!({"message": text})), metadata()];
        let (events, error) = read_frames(&frames).await;
        let error = error.unwrap();
        assert_eq!(error.kind, kind, "{name}");
        assert!(error.message.contains(text), "{error}");
        assert_eq!(error.request_id.as_deref(), Some("req-1"));
        assert!(!is_complete(&events) && events.len() > 1, "{name}");
    }
    let unmodelled =
        frame(&[(":message-type", "error"), (":error-code", "InternalFailure"), (":error-message", "boom")], b"");
    let (events, error) = read_frames(&[start(), unmodelled]).await;
    let error = error.unwrap();
    assert!(error.kind == ModelErrorKind::Server && error.message.contains("boom"), "{error}");
    assert!(!is_complete(&events));
}

#[tokio::test]
async fn stop_reasons_are_those_of_the_loop() {
    for (name, reason) in [
        ("end_turn", StopReason::EndTurn),
        ("max_tokens", StopReason::MaxTokens),
        ("stop_sequence", StopReason::StopSequence),
        ("guardrail_intervened", StopReason::ContentFilter),
        ("content_filtered", StopReason::ContentFilter),
        ("model_context_window_exceeded", StopReason::ContextWindowExceeded),
        ("malformed_tool_use", StopReason::MalformedToolCall),
        ("malformed_model_output", StopReason::MalformedToolCall),
        ("something_new", StopReason::Other("something_new".to_owned())),
    ] {
        let (events, error) = read_frames(&[start(), text(0, "a"), end(name), metadata()]).await;
        assert!(error.is_none(), "{name}: {error:?}");
        assert_eq!(ending(&events).unwrap().0, reason, "{name}");
    }
    let in_words = [start(), call(0, "x", "Read"), stop(0), end("end_turn"), metadata()];
    assert_eq!(ending(&read_frames(&in_words).await.0).unwrap().0, StopReason::ToolUse);
}

#[tokio::test]
async fn a_message_is_whole_once_the_api_has_ended_it() {
    let whole = [start(), text(0, "a"), end("end_turn")];
    // Without token counts, with half of them, and with an exception in their place.
    let (events, error) = read_frames(&whole).await;
    assert!(error.is_none() && is_complete(&events));
    assert_eq!(ending(&events).unwrap().1, Usage::default());
    let late = [whole.concat(), exception("internalServerException", json!({"message": "late"}))];
    assert!(is_complete(&read_frames(&late).await.0));
    let garbage = [whole.concat(), vec![0; 40]];
    assert!(is_complete(&read_frames(&garbage).await.0));
    let uncounted = [whole.concat(), event("metadata", json!({"usage": {"inputTokens": -1}}))];
    let (events, error) = read_frames(&uncounted).await;
    assert!(error.is_none() && is_complete(&events), "{error:?}");
    // Counts may come first.
    let early = [start(), text(0, "a"), metadata(), end("end_turn")];
    let (events, error) = read_frames(&early).await;
    assert!(error.is_none(), "{error:?}");
    assert_eq!(ending(&events).unwrap(), (StopReason::EndTurn, usage()));
}

#[tokio::test]
async fn encrypted_reasoning_is_a_block_of_its_own() {
    let redacted = delta(0, json!({"reasoningContent": {"redactedContent": "AAEC"}}));
    let (events, error) = read_frames(&[start(), redacted, stop(0), text(1, "a"), end("end_turn"), metadata()]).await;
    assert!(error.is_none(), "{error:?}");
    let blocks = blocks(&events).unwrap();
    assert_eq!(blocks, [ContentBlock::RedactedThinking { data: "AAEC".into() }, ContentBlock::text("a")]);
}

#[tokio::test]
async fn what_is_not_known_is_left_out() {
    let frames = [
        event("somethingNew", json!({"a": 1})),
        start(),
        event("contentBlockStart", json!({"contentBlockIndex": 0, "start": {"image": {"format": "png"}}})),
        delta(0, json!({"image": {"source": {"bytes": "AA=="}}})),
        delta(0, json!({"citation": {"title": "x"}})),
        delta(0, json!({})),
        stop(0),
        event(
            "contentBlockStart",
            json!({"contentBlockIndex": 1,
            "start": {"toolUse": {"toolUseId": "s", "name": "nova_grounding", "type": "server_tool_use"}}}),
        ),
        input(1, "{}"),
        stop(1),
        text(2, "a"),
        stop(9),
        end("end_turn"),
        metadata(),
    ];
    let (events, error) = read_frames(&frames).await;
    assert!(error.is_none(), "{error:?}");
    assert_eq!(blocks(&events).unwrap(), [ContentBlock::text("a")]);
    assert_eq!(ending(&events).unwrap().0, StopReason::EndTurn);
}

#[tokio::test]
async fn ids_are_made_for_calls_without_a_usable_one() {
    let frames = [
        start(),
        call(0, "same", "Read"),
        stop(0),
        call(1, "same", "Read"),
        stop(1),
        call(2, "", "Read"),
        stop(2),
        end("tool_use"),
        metadata(),
    ];
    let (events, _) = read_frames(&frames).await;
    let blocks = blocks(&events).unwrap();
    let ids: Vec<_> = blocks.iter().filter_map(ContentBlock::as_tool_use).map(|call| call.id.as_str()).collect();
    assert_eq!(ids, ["same", "call_req-1_1", "call_req-1_2"]);
    // Without an id of the request, that of the message depends on the request body.
    let server = WireServer::start().await.unwrap();
    let bare = move || Reply::status(200, frames.concat()).header("content-type", "application/vnd.amazon.eventstream");
    let id = |events: &[ModelEvent]| match &events[0] {
        ModelEvent::MessageStart { id, .. } => id.clone(),
        other => panic!("{other:?}"),
    };
    server.on_request(move |_| bare());
    let first = id(&read(&provider(&server), request()).await.0);
    let mut other = request();
    other.max_output_tokens = 7;
    assert!(first.as_str().starts_with("msg_") && first != id(&read(&provider(&server), other).await.0));
    assert_eq!(first, id(&read(&provider(&server), request()).await.0));
}

#[tokio::test]
async fn broken_streams_are_protocol_errors_and_never_messages() {
    let flipped = |mut bytes: Vec<u8>, at: usize| {
        bytes[at] ^= 1;
        bytes
    };
    let raw = |name: &str, payload: &[u8]| frame(&[(":message-type", "event"), (":event-type", name)], payload);
    let cases: Vec<(&str, Vec<u8>)> = vec![
        ("prelude", flipped(text(0, "a"), 9)),
        ("length", flipped(text(0, "a"), 0)),
        ("checksum", flipped(text(0, "a"), 60)),
        ("too large", {
            let prelude = [0x7f00_0000_u32.to_be_bytes(), 0_u32.to_be_bytes()].concat();
            [prelude, vec![0; 8]].concat()
        }),
        ("no headers", frame(&[], b"{}")),
        ("headers", frame(&[(":message-type", "event"), (":event-type", "contentBlockDelta")], b"not json")),
        ("array", raw("contentBlockDelta", br#"[0,{"text":"a"}]"#)),
        ("not utf-8", raw("contentBlockDelta", b"{\"delta\":{\"text\":\"\xff\"}}")),
        ("types", raw("contentBlockDelta", br#"{"contentBlockIndex":"x","delta":{"text":"a"}}"#)),
        ("negative", raw("contentBlockDelta", br#"{"contentBlockIndex":-1,"delta":{"text":"a"}}"#)),
        ("empty", raw("contentBlockStop", b"")),
        ("nameless call", call(1, "id", "")),
        ("input without a call", input(5, "{}")),
        ("sse", b"event: message_start\ndata: {\"type\":\"message_start\"}\n\n".to_vec()),
        ("html", b"<!doctype html><html><body>hello</body></html>".to_vec()),
    ];
    for (what, bytes) in cases {
        let (events, error) = read_frames(&[start(), bytes, end("end_turn"), metadata()]).await;
        let error = error.unwrap_or_else(|| panic!("{what}: {events:?}"));
        assert_eq!(error.kind, ModelErrorKind::Protocol, "{what}: {error}");
        assert!(!is_complete(&events), "{what}");
    }
    for after in [text(0, "late"), call(7, "late", "Read"), end("tool_use")] {
        let (events, error) = read_frames(&[start(), text(0, "a"), end("end_turn"), after, metadata()]).await;
        assert_eq!(error.unwrap().kind, ModelErrorKind::Protocol);
        assert!(!is_complete(&events));
    }
}

#[tokio::test]
async fn answers_do_not_depend_on_how_they_are_split() {
    let expected = read_frames(&turn()).await.0;
    let server = WireServer::start().await.unwrap();
    let provider = provider(&server);
    let reply = answer(&turn());
    let length = ends(&turn()).pop().unwrap();
    for at in (1..length).step_by(7) {
        server.push(reply.clone().chunks_at([at]).separate_writes());
        assert_eq!(read(&provider, request()).await.0, expected, "{at}");
    }
    for size in [1, 2, 3, 5, 11, 13, 64, 1_000] {
        server.push(reply.clone().chunks_of(size).separate_writes());
        assert_eq!(read(&provider, request()).await.0, expected, "{size}");
    }
}

#[tokio::test]
async fn each_flipped_byte_of_an_answer_is_found() {
    let server = WireServer::start().await.unwrap();
    let provider = provider(&server);
    let frames = [start(), call(0, "x", "Read"), input(0, "{}"), stop(0), end("tool_use")];
    let (bytes, last) = (frames.concat(), ends(&frames)[3]);
    for at in (0..last).step_by(3) {
        let mut broken = bytes.clone();
        broken[at] ^= 0x20;
        server.push(answer(&[broken]));
        let (events, error) = read(&provider, request()).await;
        assert!(error.is_some() && !is_complete(&events), "{at}");
    }
}

#[tokio::test]
async fn an_answer_ends_with_its_counts_also_when_the_connection_stays_open() {
    let reply = answer(&turn());
    let length = ends(&turn()).pop().unwrap();
    let (events, error) = read_reply(reply.hang_at(length)).await;
    assert!(error.is_none() && is_complete(&events));
}

#[tokio::test]
async fn events_are_passed_on_as_they_come() {
    use futures_util::StreamExt;
    use windlass_model::ModelProvider;
    let server = WireServer::start().await.unwrap();
    let gate = Gate::new();
    let all = ends(&turn());
    server.push(answer(&turn()).chunks_at(all.clone()).pause_at(all[1], &gate));
    let mut stream = provider(&server).stream(std::sync::Arc::new(request())).await.unwrap();
    let mut seen = 0;
    while seen < 3 {
        assert!(stream.next().await.unwrap().is_ok());
        seen += 1;
    }
    gate.open();
    while let Some(item) = stream.next().await {
        seen += usize::from(item.unwrap().event == ModelEvent::MessageStop) * 100;
    }
    assert!(seen > 100);
}

#[tokio::test]
async fn models_that_do_not_stream_calls_answer_in_one_piece() {
    let server = WireServer::start().await.unwrap();
    let provider = provider(&server);
    let text = "This model doesn't support tool use in streaming mode.";
    let refusal =
        || Reply::status(400, json!({"message": text}).to_string()).header("x-amzn-errortype", "ValidationException");
    let reasoning = json!({"reasoningText": {"text": "hm", "signature": "sig"}});
    let call = json!({"toolUse": {"toolUseId": "a", "name": "Read", "input": {"b": [1.50]}}});
    let content = json!([
        {"reasoningContent": reasoning},
        {"reasoningContent": {"redactedContent": "AAEC"}},
        {"text": "é"},
        {"image": {}},
        call,
        {"toolUse": {"toolUseId": "a", "name": "List"}},
    ]);
    let usage = json!({"inputTokens": 60, "outputTokens": 27, "totalTokens": 87});
    let whole = json!({"output": {"message": {"role": "assistant", "content": content}}, "stopReason": "tool_use",
        "usage": usage, "metrics": {"latencyMs": 5}});
    server.push(refusal());
    let reply = || Reply::json(&whole).header("x-amzn-requestid", "req-2");
    server.push(reply());
    let (events, error) = read(&provider, request()).await;
    assert!(error.is_none(), "{error:?}");
    assert_eq!(ending(&events), Some((StopReason::ToolUse, Usage::new(60, 27))));
    let blocks = blocks(&events).unwrap();
    assert_eq!(blocks[0], ContentBlock::Thinking { thinking: "hm".into(), signature: "sig".into() });
    assert_eq!(blocks[1], ContentBlock::RedactedThinking { data: "AAEC".into() });
    assert_eq!(blocks[2].as_text(), Some("é"));
    let calls: Vec<_> = blocks.iter().filter_map(ContentBlock::as_tool_use).collect();
    let seen: Vec<_> = calls.iter().map(|call| (call.id.as_str(), call.input.as_str())).collect();
    assert_eq!(seen, [("a", "{\"b\":[1.5]}"), ("call_req-2_1", "{}")]);
    // The model is not asked to stream again.
    server.push(reply());
    assert!(is_complete(&read(&provider, request()).await.0));
    let paths: Vec<String> = server.requests().into_iter().map(|request| request.path).collect();
    let suffixes: Vec<&str> = paths.iter().filter_map(|path| path.rsplit('/').next()).collect();
    assert_eq!(suffixes, ["converse-stream", "converse", "converse"]);
    for broken in ["[]", "{}", "not json", r#"{"output":{"message":{"content":[]}}}"#, "<html>"] {
        server.push(Reply::status(200, broken));
        let (events, error) = read(&provider, request()).await;
        assert_eq!(error.unwrap().kind, ModelErrorKind::Protocol, "{broken}");
        assert!(events.is_empty());
    }
    // Other refusals keep their meaning.
    let other = crate::wire::asking(crate::wire::OSS, vec![windlass_types::Message::user_text("hi")]);
    server.push(Reply::status(400, r#"{"message":"The stream is wrong."}"#));
    assert_eq!(read(&provider, other).await.1.unwrap().kind, ModelErrorKind::InvalidRequest);
}

#[tokio::test]
async fn reordered_and_repeated_frames_never_end_in_half_a_message() {
    let server = WireServer::start().await.unwrap();
    let provider = provider(&server);
    let expected = read_frames(&turn()).await.0;
    for at in 0..turn().len() {
        for to in 0..turn().len() {
            let mut frames = turn();
            let moved = frames.remove(at);
            frames.insert(to, moved);
            server.push(answer(&frames));
            let (events, error) = read(&provider, request()).await;
            assert_ne!(is_complete(&events), error.is_some(), "{at} to {to}");
            // The end of the message before a part of it.
            if at == 13 && to < 13 {
                assert!(error.is_some_and(|error| error.kind == ModelErrorKind::Protocol), "{to}");
            } else if at == 14 || (at == 13 && to == 14) {
                assert_eq!(events, expected, "{at} to {to}");
            }
        }
        let mut frames = turn();
        frames.insert(at, frames[at].clone());
        server.push(answer(&frames));
        let (events, error) = read(&provider, request()).await;
        assert_ne!(is_complete(&events), error.is_some(), "{at}");
    }
}
