//! Streams over a real socket: converted, cut, split and hostile.

use crate::wire::{answer, chunk, ending, is_complete, last, provider, read, read_chunks, request};
use proptest::prelude::*;
use serde_json::{Value, json};
use std::sync::Arc;
use std::time::Duration;
use windlass_gemini::Gemini;
use windlass_model::ModelProvider;
use windlass_testkit::provider::blocks;
use windlass_testkit::wire::{Event, Gate, Reply, WireServer};
use windlass_types::{ContentBlock, ModelErrorKind, ModelEvent, StopReason, StreamDelta};

/// Returns a message with every kind of part, and characters of every length.
fn full_message() -> Vec<Value> {
    vec![
        chunk(json!([{"text": "erwägen ", "thought": true}])),
        chunk(json!([{"text": "考虑", "thought": true, "thoughtSignature": "c2ln"}])),
        chunk(json!([{"text": "héllo "}])),
        chunk(json!([{"text": "日本語 🦀\r\n"}, {"text": "end", "thoughtSignature": "ZW5k"}])),
        chunk(json!([{"functionCall": {"name": "Write", "args": {"content": "line\n\"quoted\" 🦀\u{1}", "n": 1.50}},
            "thoughtSignature": "Y2FsbA=="}])),
        chunk(json!([{"executableCode": {"language": "PYTHON", "code": "1"}}])),
        last(
            json!([{"functionCall": {"id": "given", "name": "Read", "args": {}}}, {"text": "", "thoughtSignature": "bGFzdA=="}]),
            "STOP",
        ),
    ]
}

/// Returns the text of all text blocks, joined.
fn text(events: &[ModelEvent]) -> String {
    blocks(events).unwrap().iter().filter_map(ContentBlock::as_text).collect()
}

#[tokio::test]
async fn chunks_become_blocks() {
    let (events, error) = read_chunks(&full_message()).await;
    assert!(error.is_none() && is_complete(&events), "{error:?}");
    let ModelEvent::MessageStart { id, model, usage } = &events[0] else { panic!("{:?}", events[0]) };
    assert_eq!((id.as_str(), model.as_str(), usage.input_tokens), ("resp_1", "gemini-3.8-flash-001", 100));
    let blocks = blocks(&events).unwrap();
    let ContentBlock::Thinking { thinking, signature } = &blocks[0] else { panic!("{blocks:?}") };
    assert_eq!((thinking.as_str(), signature.as_str()), ("erwägen 考虑", "c2ln"));
    assert_eq!(blocks[1].as_text(), Some("héllo 日本語 🦀\r\nend"));
    let write = blocks[2].as_tool_use().unwrap();
    assert_eq!((write.id.as_str(), write.name.as_str()), ("call_resp_1_0", "Write"));
    assert_eq!(write.input.to::<Value>().unwrap()["content"], "line\n\"quoted\" 🦀\u{1}");
    assert!(matches!(&blocks[3], ContentBlock::Unknown(json) if json.as_str().contains("executableCode")));
    let read = blocks[4].as_tool_use().unwrap();
    assert_eq!((read.id.as_str(), read.input.as_str()), ("given", "{}"));
    assert_eq!(blocks.len(), 5);
    assert_eq!(ending(&events).unwrap().0, StopReason::ToolUse);
}

/// Returns a chunk of text in the form of the API.
fn in_its_form(member: &str, output: u64) -> String {
    format!(
        r#"{{"candidates": [{{"content": {{"parts": [{{{member}}}],"role": "model"}},"index": 0}}],"usageMetadata": {{"promptTokenCount": 100,"candidatesTokenCount": {output},"totalTokenCount": 130,"promptTokensDetails": [{{"modality": "TEXT","tokenCount": 100}}]}},"modelVersion": "gemini-3.8-flash","responseId": "resp_1"}}"#
    )
}

#[tokio::test]
async fn the_form_of_the_api_gives_the_same_events_as_any_other() {
    let members = [
        r#""text": "hm","thought": true"#,
        r#""text": "m","thought": true"#,
        r#""text": "one \"\u00e9\" ""#,
        r#""text": "two""#,
        r#""text": "","thoughtSignature": "c2ln""#,
        r#""text": "three""#,
    ];
    let chunks: Vec<String> = members.iter().zip(1..).map(|(member, at)| in_its_form(member, at)).collect();
    let end = last(json!([]), "STOP").to_string();
    let body = |chunks: &[String]| -> Vec<Event> {
        chunks.iter().chain([&end]).map(|data| Event::named("", data.clone())).collect()
    };
    let server = WireServer::start().await.unwrap();
    server.push(Reply::events(body(&chunks)));
    let (events, error) = read(&provider(&server), request()).await;
    assert!(error.is_none() && is_complete(&events), "{error:?}");
    let spaced: Vec<String> = chunks.iter().map(|chunk| chunk.replacen("[{", "[ {", 1)).collect();
    server.push(Reply::events(body(&spaced)));
    assert_eq!(read(&provider(&server), request()).await.0, events);
    assert_eq!(text(&events), "one \"é\" twothree");
    // A chunk that ends in the middle is not read, whatever preceded it.
    for before in [&chunks[..0], &chunks[..1]] {
        let cut = chunks[3].split(",\"modelVersion\"").next().unwrap().to_owned();
        server.push(Reply::events(body(&[before, &[cut]].concat())));
        let (events, error) = read(&provider(&server), request()).await;
        assert_eq!((error.unwrap().kind, is_complete(&events)), (ModelErrorKind::Protocol, false));
    }
    // New members at the end are heeded.
    let failing = chunks[3].replace(",\"modelVersion\"", ",\"error\": {\"code\": 503},\"modelVersion\"");
    let blocked =
        chunks[3].replace(",\"modelVersion\"", ",\"promptFeedback\": {\"blockReason\": \"OTHER\"},\"modelVersion\"");
    server.push(Reply::events(body(&[chunks[2].clone(), failing.clone(), failing])));
    let error = read(&provider(&server), request()).await.1.unwrap();
    assert_eq!(error.kind, ModelErrorKind::Overloaded);
    server.push(Reply::events(body(&[chunks[2].clone(), blocked])));
    let (events, _) = read(&provider(&server), request()).await;
    assert_eq!(ending(&events).unwrap().0, StopReason::ContentFilter);
}

#[tokio::test]
async fn deltas_come_as_they_are_sent() {
    let server = WireServer::start().await.unwrap();
    let gate = Gate::new();
    let reply = answer(&[chunk(json!([{"text": "one"}])), last(json!([{"text": "two"}]), "STOP")]);
    let first = reply.event_ends()[0];
    server.push(reply.pause_at(first, &gate));
    let mut stream = provider(&server).stream(Arc::new(request())).await.unwrap();
    let mut before = Vec::new();
    for _ in 0..3 {
        before.push(futures_util::StreamExt::next(&mut stream).await.unwrap().unwrap().event);
    }
    assert_eq!(before[2], ModelEvent::BlockDelta { index: 0, delta: StreamDelta::Text("one".into()) });
    gate.open();
    let rest: Vec<_> = futures_util::StreamExt::collect(stream).await;
    assert_eq!(rest.last().unwrap().as_ref().unwrap().event, ModelEvent::MessageStop);
}

#[tokio::test]
async fn d5_malformed_calls_are_reported_and_not_run() {
    for reason in ["MALFORMED_FUNCTION_CALL", "UNEXPECTED_TOOL_CALL", "TOO_MANY_TOOL_CALLS", "MALFORMED_RESPONSE"] {
        for parts in [json!([]), json!([{"text": "I will"}]), json!([{"functionCall": {"name": "Read", "args": {}}}])] {
            let (events, error) = read_chunks(&[last(parts, reason)]).await;
            assert!(error.is_none() && is_complete(&events), "{reason}: {error:?}");
            assert_eq!(ending(&events).unwrap().0, StopReason::MalformedToolCall, "{reason}");
        }
        // A gateway that stamps `STOP` on later chunks does not turn the message into a success.
        let chunks = [last(json!([{"functionCall": {"name": "Read", "args": {}}}]), reason), last(json!([]), "STOP")];
        assert_eq!(ending(&read_chunks(&chunks).await.0).unwrap().0, StopReason::MalformedToolCall, "{reason}");
    }
}

#[tokio::test]
async fn d5_a_success_without_content_is_an_error() {
    let nothing = [
        json!([]),
        json!([{"text": ""}]),
        json!([{"text": " \n"}]),
        json!([{"text": "", "thoughtSignature": "c2ln"}]),
        json!([{"text": "hm", "thought": true}]),
        Value::Null,
    ];
    for parts in nothing {
        let (events, error) = read_chunks(&[last(parts.clone(), "STOP")]).await;
        let error = error.unwrap_or_else(|| panic!("complete with {parts}"));
        assert_eq!(error.kind, ModelErrorKind::Server, "{parts}");
        assert_eq!(error.class(), windlass_types::ErrorClass::Transient);
        assert!(!is_complete(&events));
        // The usage of the message is known all the same.
        let usage = events.iter().rev().find_map(|event| match event {
            ModelEvent::MessageStart { usage, .. } | ModelEvent::MessageDelta { usage, .. } => Some(*usage),
            _ => None,
        });
        assert_eq!(usage.unwrap().output_tokens, 27);
    }
    let mut bare = last(json!([]), "STOP");
    bare["candidates"][0].as_object_mut().unwrap().remove("content");
    assert_eq!(read_chunks(&[bare]).await.1.unwrap().kind, ModelErrorKind::Server);
}

#[tokio::test]
async fn each_finish_reason_has_its_meaning() {
    use StopReason as Reason;
    for (reason, expected) in [
        ("STOP", Reason::EndTurn),
        ("MAX_TOKENS", Reason::MaxTokens),
        ("CONTINUATION", Reason::MaxTokens),
        ("SAFETY", Reason::ContentFilter),
        ("RECITATION", Reason::ContentFilter),
        ("BLOCKLIST", Reason::ContentFilter),
        ("PROHIBITED_CONTENT", Reason::ContentFilter),
        ("SPII", Reason::ContentFilter),
        ("MODEL_ARMOR", Reason::ContentFilter),
        ("OTHER", Reason::Other("other".to_owned())),
        ("BRAND_NEW", Reason::Other("brand_new".to_owned())),
    ] {
        let (events, error) = read_chunks(&[last(json!([{"text": "a"}]), reason)]).await;
        assert!(error.is_none(), "{reason}: {error:?}");
        assert_eq!(ending(&events).unwrap().0, expected, "{reason}");
    }
    // A cut or filtered message may be empty.
    for reason in ["MAX_TOKENS", "SAFETY"] {
        let (events, error) = read_chunks(&[last(json!([]), reason)]).await;
        assert!(error.is_none() && is_complete(&events), "{reason}: {error:?}");
    }
    let call = json!([{"functionCall": {"name": "Read", "args": {}}}]);
    assert_eq!(ending(&read_chunks(&[last(call.clone(), "MAX_TOKENS")]).await.0).unwrap().0, Reason::MaxTokens);
    let error = read_chunks(&[last(call, "MISSING_THOUGHT_SIGNATURE")]).await.1.unwrap();
    assert_eq!(error.kind, ModelErrorKind::ReplayRejected);
}

#[tokio::test]
async fn a_blocked_prompt_is_a_filtered_message() {
    let feedback = json!({"blockReason": "PROHIBITED_CONTENT"});
    let blocked = json!({"promptFeedback": feedback, "usageMetadata": {"promptTokenCount": 9}, "responseId": "r"});
    let (events, error) = read_chunks(&[blocked]).await;
    assert!(error.is_none() && is_complete(&events), "{error:?}");
    let (reason, usage) = ending(&events).unwrap();
    assert_eq!((reason, usage.input_tokens), (StopReason::ContentFilter, 9));
    let harmless = json!({"promptFeedback": {"safetyRatings": []}});
    assert!(read_chunks(&[harmless, last(json!([{"text": "a"}]), "STOP")]).await.1.is_none());
}

#[tokio::test]
async fn a_message_ends_with_the_stream_and_not_with_a_stamp() {
    // Some services name an unspecified reason in each chunk, some gateways `STOP`.
    for stamp in ["FINISH_REASON_UNSPECIFIED", "STOP"] {
        let chunks =
            [last(json!([]), stamp), last(json!([{"text": "a"}]), stamp), last(json!([{"text": "b"}]), "MAX_TOKENS")];
        let (events, error) = read_chunks(&chunks).await;
        assert!(error.is_none(), "{stamp}: {error:?}");
        assert_eq!((text(&events).as_str(), ending(&events).unwrap().0), ("ab", StopReason::MaxTokens));
    }
    let (_, error) = read_chunks(&[last(json!([{"text": "a"}]), "FINISH_REASON_UNSPECIFIED")]).await;
    assert_eq!(error.unwrap().kind, ModelErrorKind::Cut);
    // After the finish reason it does not matter how the connection ends.
    let server = WireServer::start().await.unwrap();
    let reply = answer(&[last(json!([{"text": "a"}]), "STOP")]);
    server.push(reply.clone().cut_at(reply.body().len()));
    let (events, error) = read(&provider(&server), request()).await;
    assert!(error.is_none() && is_complete(&events), "{error:?}");
}

#[tokio::test]
async fn d6_usage_keeps_the_highest_figure_of_each_kind() {
    let mut chunks =
        [chunk(json!([{"text": "a"}])), chunk(json!([{"text": "b"}])), last(json!([{"text": "c"}]), "STOP")];
    chunks[0]["usageMetadata"] = json!({"promptTokenCount": 100, "cachedContentTokenCount": 60, "thoughtsTokenCount": 30, "candidatesTokenCount": 1});
    chunks[1]["usageMetadata"] =
        json!({"promptTokenCount": 100, "candidatesTokenCount": 5, "toolUsePromptTokenCount": 8});
    chunks[2]["usageMetadata"] = json!({"candidatesTokenCount": 4, "totalTokenCount": 9});
    let (events, _) = read_chunks(&chunks).await;
    let (_, usage) = ending(&events).unwrap();
    assert_eq!((usage.input_tokens, usage.cache_read_input_tokens, usage.output_tokens), (48, 60, 35));
    assert_eq!(usage.cache_creation_input_tokens, 0);
    let ModelEvent::MessageStart { usage, .. } = &events[0] else { panic!("{:?}", events[0]) };
    assert_eq!((usage.input_tokens, usage.cache_read_input_tokens, usage.output_tokens), (40, 60, 0));
    // A cut message has its usage too.
    let (events, error) = read_chunks(&chunks[..2]).await;
    assert_eq!(error.unwrap().kind, ModelErrorKind::Cut);
    let Some(ModelEvent::MessageDelta { stop_reason: None, usage }) = events.last() else { panic!("{events:?}") };
    assert_eq!(usage.output_tokens, 35);
}

#[tokio::test]
async fn d2_calls_without_ids_get_stable_ones() {
    let call = |id: Value| json!({"functionCall": {"id": id, "name": "Read", "args": {"n": 1}}});
    let chunks = [
        chunk(json!([call(Value::Null), call(json!("")), call(json!("a"))])),
        last(json!([call(json!("a")), call(json!("call_resp_1_4"))]), "STOP"),
    ];
    let (events, error) = read_chunks(&chunks).await;
    assert!(error.is_none(), "{error:?}");
    let ids: Vec<String> =
        blocks(&events).unwrap().iter().map(|block| block.as_tool_use().unwrap().id.as_str().to_owned()).collect();
    assert_eq!(ids, ["call_resp_1_0", "call_resp_1_1", "a", "call_resp_1_3", "call_resp_1_4"]);
    let mut nameless = last(json!([{"text": "a"}]), "STOP");
    nameless.as_object_mut().unwrap().remove("responseId");
    let id = |events: &[ModelEvent]| match &events[0] {
        ModelEvent::MessageStart { id, .. } => id.as_str().to_owned(),
        other => panic!("{other:?}"),
    };
    let first = id(&read_chunks(&[nameless.clone()]).await.0);
    assert!(first.starts_with("msg_") && first == id(&read_chunks(&[nameless]).await.0));
}

#[tokio::test]
async fn a_cut_at_any_byte_is_a_cut() {
    let server = WireServer::start_on_thread().unwrap();
    let provider = provider(&server);
    let reply = answer(&full_message());
    server.push(reply.clone());
    let (whole, _) = read(&provider, request()).await;
    let length = reply.body().len();
    for at in 0..length {
        let endings = [reply.clone().stop_at(at), reply.clone().until_close().cut_at(at), reply.clone().cut_at(at)];
        server.push(endings[at % 3].clone());
        let (mut events, error) = read(&provider, request()).await;
        let error = error.unwrap_or_else(|| panic!("complete at {at} of {length}"));
        assert_eq!(error.kind, ModelErrorKind::Cut, "at {at}: {error}");
        // The usage of the message may be added.
        events.pop_if(|event| matches!(event, ModelEvent::MessageDelta { stop_reason: None, .. }));
        assert!(whole.starts_with(&events) && !is_complete(&events), "at {at}");
    }
}

#[tokio::test]
async fn one_split_at_every_byte_is_the_same_message() {
    let server = WireServer::start_on_thread().unwrap();
    let provider = provider(&server);
    // Framing of the API: no names, and CRLF.
    let body: String = full_message().iter().map(|chunk| format!("data: {chunk}\r\n\r\n")).collect();
    server.push(Reply::stream_bytes(body.clone()));
    let (whole, error) = read(&provider, request()).await;
    assert!(error.is_none() && is_complete(&whole), "{error:?}");
    for at in 1..body.len() {
        server.push(Reply::stream_bytes(body.clone()).chunks_at([at]).separate_writes());
        let (events, error) = read(&provider, request()).await;
        assert!(error.is_none() && events == whole, "split at {at}: {error:?}");
    }
}

#[tokio::test]
async fn chunks_that_are_lost_doubled_or_swapped_break_no_rule() {
    let server = WireServer::start_on_thread().unwrap();
    let provider = provider(&server);
    let chunks = full_message();
    let mut shuffled = Vec::new();
    for at in 0..chunks.len() {
        let mut lost = chunks.clone();
        lost.remove(at);
        shuffled.push((lost, at + 1 < chunks.len()));
        let mut doubled = chunks.clone();
        doubled.insert(at, chunks[at].clone());
        shuffled.push((doubled, true));
        for other in at + 1..chunks.len() {
            let mut swapped = chunks.clone();
            swapped.swap(at, other);
            shuffled.push((swapped, true));
        }
    }
    for (chunks, completes) in shuffled {
        server.push(answer(&chunks));
        let stream = provider.stream(Arc::new(request())).await.unwrap();
        let transcript = windlass_testkit::provider::read(stream).await.unwrap();
        let kind = transcript.error.map(|error| error.kind);
        assert_eq!(kind, (!completes).then_some(ModelErrorKind::Cut));
    }
}

#[tokio::test]
async fn hostile_chunks_are_protocol_errors() {
    let part = |part: Value| chunk(json!([part])).to_string();
    let deep = format!("{{\"candidates\":{}", "[".repeat(100_000));
    for data in [
        "null".to_owned(),
        "7".to_owned(),
        "\"text\"".to_owned(),
        "{".to_owned(),
        "{\"candidates\":7}".to_owned(),
        "{\"candidates\":[{\"content\":{\"parts\":{}}}]}".to_owned(),
        "{\"usageMetadata\":{\"promptTokenCount\":-1}}".to_owned(),
        "{\"usageMetadata\":{\"promptTokenCount\":\"many\"}}".to_owned(),
        part(json!({"text": 7})),
        part(json!({"thought": "yes"})),
        part(json!({"functionCall": {"args": {}}})),
        part(json!({"functionCall": {"name": "", "args": {}}})),
        part(json!({"functionCall": []})),
        part(json!({"functionCall": {"name": "Read", "willContinue": true}})),
        part(json!({"functionCall": {"name": "Read", "partialArgs": [{"jsonPath": "$.a", "stringValue": "b"}]}})),
        deep,
    ] {
        let server = WireServer::start().await.unwrap();
        let good = chunk(json!([{"text": "a"}])).to_string();
        server.push(Reply::events(vec![Event::named("", good), Event::named("", data.clone())]));
        let (events, error) = read(&provider(&server), request()).await;
        let start: String = data.chars().take(80).collect();
        let error = error.unwrap_or_else(|| panic!("accepted: {start}"));
        assert_eq!(error.kind, ModelErrorKind::Protocol, "{start}: {error}");
        assert!(!is_complete(&events));
    }
}

#[tokio::test]
async fn unknown_members_and_events_are_ignored() {
    let mut odd = last(json!([{"text": "a", "later": {"x": [1]}}, {"later": 1}, {}]), "STOP");
    odd["groundingMetadata"] = json!({"a": 1});
    odd["candidates"][0]["citationMetadata"] = json!(null);
    odd["candidates"].as_array_mut().unwrap().push(json!({"index": 1, "content": {"parts": [{"text": "second"}]}}));
    odd["promptFeedback"] = Value::Null;
    let server = WireServer::start().await.unwrap();
    let events = vec![
        Event::named("ping", "{}"),
        Event::named("message", json!({"candidates": null, "usageMetadata": null}).to_string()),
        Event::named("message", odd.to_string()),
        Event::named("message", "[DONE]"),
    ];
    server.push(Reply::events(events));
    let (events, error) = read(&provider(&server), request()).await;
    assert!(error.is_none(), "{error:?}");
    assert_eq!(text(&events), "a");
}

#[tokio::test]
async fn memory_is_bounded() {
    let server = WireServer::start_on_thread().unwrap();
    let parts: Vec<Value> = (0..20_001).map(|at| json!({"text": "x", "thought": at % 2 == 0})).collect();
    server.push(answer(&[chunk(json!(parts))]));
    assert_eq!(read(&provider(&server), request()).await.1.unwrap().kind, ModelErrorKind::Protocol);
    let big = chunk(json!([{"text": "x".repeat(9 << 20)}]));
    server.push(answer(&vec![big; 8]));
    assert_eq!(read(&provider(&server), request()).await.1.unwrap().kind, ModelErrorKind::Protocol);
}

#[tokio::test]
async fn signs_of_life_alone_do_not_keep_a_call_alive() {
    let server = WireServer::start_on_thread().unwrap();
    let provider = Gemini::builder().api_key("k").base_url(server.url()).stall_timeout(Duration::ZERO).build().unwrap();
    let start = format!("data: {}\n\n", chunk(json!([{"text": "a"}])));
    for life in [": comment\n\n".to_owned(), format!("data: {}\n\n", chunk(json!([]))), "data: {}\n\n".to_owned()] {
        let body = format!("{start}{}", life.repeat(200));
        server.push(Reply::stream_bytes(body.clone()).chunks_of(life.len()).separate_writes().hang_at(body.len()));
        let (events, error) = read(&provider, request()).await;
        assert_eq!(error.map(|error| error.kind), Some(ModelErrorKind::Timeout), "{life:?}");
        assert!(!is_complete(&events));
    }
}

#[tokio::test]
async fn silence_times_out_and_dropping_hangs_up() {
    let server = WireServer::start().await.unwrap();
    let built = Gemini::builder().api_key("k").base_url(server.url()).idle_timeout(Duration::from_millis(100)).build();
    let reply = answer(&full_message());
    for reply in [Reply::never(), reply.clone().hang_at(1), reply.clone().hang_at(reply.event_ends()[3])] {
        server.push(reply);
        let (events, error) = read(built.as_ref().unwrap(), request()).await;
        assert_eq!(error.map(|error| error.kind), Some(ModelErrorKind::Timeout));
        assert!(!is_complete(&events));
    }
    server.wait_hang_ups(3).await;
    let gate = Gate::new();
    server.push(reply.clone().pause_at(reply.event_ends()[0], &gate));
    let mut stream = provider(&server).stream(Arc::new(request())).await.unwrap();
    futures_util::StreamExt::next(&mut stream).await.unwrap().unwrap();
    drop(stream);
    server.wait_hang_ups(4).await;
}

/// Generates any part that the API could send, and some that it should not.
fn any_part() -> impl Strategy<Value = Value> {
    let text = prop::sample::select(vec!["", " ", "\n", "a", "wörd ", "日本"]);
    let signature = prop::sample::select(vec![Value::Null, json!(""), json!("c2ln"), json!("b3RoZXI=")]);
    let thought = prop::sample::select(vec![Value::Null, json!(true), json!(false)]);
    (0..4_u8, text, signature, thought).prop_map(|(kind, text, signature, thought)| {
        let mut part = match kind {
            0 => json!({"functionCall": {"name": "Read", "args": {"text": text}}}),
            1 => json!({"functionCall": {"id": text, "name": "Read"}}),
            _ => json!({"text": text, "thought": thought}),
        };
        part["thoughtSignature"] = signature;
        part
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn any_parts_in_any_chunks_follow_the_grammar(
        chunks in prop::collection::vec(prop::collection::vec(any_part(), 0..4), 1..6),
    ) {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        runtime.block_on(async {
            let server = WireServer::start().await.unwrap();
            let mut sent: Vec<Value> = chunks.iter().map(|parts| chunk(json!(parts))).collect();
            sent.push(last(json!([{"text": "end"}]), "STOP"));
            server.push(answer(&sent));
            let transcript = windlass_testkit::provider::answers(&provider(&server), &request()).await.unwrap();
            let visible: String = chunks.iter().flatten().filter(|part| part["thought"] != json!(true))
                .filter_map(|part| part["text"].as_str()).filter(|text| !text.trim().is_empty()).collect();
            let spaceless = |text: &str| text.split_whitespace().collect::<String>();
            assert_eq!(spaceless(&transcript.text()), spaceless(&format!("{visible}end")));
        });
    }
}
