//! Streams over a real socket: cut, split, reordered and silent.

use std::{sync::Arc, time::Duration};

use futures_util::StreamExt;
use serde_json::json;
use windlass_anthropic::Anthropic;
use windlass_model::{ModelError, ModelProvider};
use windlass_testkit::wire::{Event, Gate, Message as WireMessage, Reply, WireServer};
use windlass_types::{
    BlockStart, Message, ModelErrorKind, ModelEvent, ModelItem, ModelRequest, RateLimit, RateLimitKind,
    RateLimitStatus, StreamDelta, Utilization,
};

fn provider(server: &WireServer) -> Anthropic {
    Anthropic::builder().api_key("k").base_url(server.url()).build().unwrap()
}

fn request(raw: bool) -> Arc<ModelRequest> {
    let mut request = ModelRequest::new("claude-opus-5-5", vec![Message::user_text("hi").into()], 1000);
    request.raw_frames = raw;
    Arc::new(request)
}

/// Returns everything that a stream yields, and the error that ends it.
async fn read(provider: &Anthropic) -> (Vec<ModelEvent>, Option<ModelError>) {
    let mut events = Vec::new();
    let mut stream = match provider.stream(request(false)).await {
        Ok(stream) => stream,
        Err(error) => return (events, Some(error)),
    };
    while let Some(item) = stream.next().await {
        match item {
            Ok(item) => events.push(item.event),
            Err(error) => {
                assert!(stream.next().await.is_none());
                return (events, Some(error));
            }
        }
    }
    (events, None)
}

/// Returns a message with every kind of block, and characters of every length.
fn full_message() -> WireMessage {
    WireMessage::new()
        .id("msg_1")
        .thinking("erwägen 考虑", "c2ln")
        .redacted_thinking("ZGF0YQ==")
        .text_deltas(["héllo ", "日本語 ", "🦀\r\n"])
        .tool_use("toolu_1", "Write", json!({"file_path": "/tmp/日本.txt", "content": "line\n\"quoted\" 🦀\u{0001}"}))
        .block(&json!({"type": "later", "data": [1, {"a": null}]}), &[json!({"type": "later_delta", "x": 1})])
        .usage(100, 50)
        .cache_usage(7, 8)
}

fn is_complete(events: &[ModelEvent]) -> bool {
    events.contains(&ModelEvent::MessageStop)
}

/// Folds the events to content, like a consumer.
fn content(events: &[ModelEvent]) -> Vec<String> {
    let mut blocks: Vec<String> = Vec::new();
    for event in events {
        match event {
            ModelEvent::BlockStart { block, .. } => blocks.push(match block {
                BlockStart::ToolUse { id, name } => format!("{id} {name} "),
                other => format!("{other:?} "),
            }),
            ModelEvent::BlockDelta { delta, .. } => {
                let block = blocks.last_mut().unwrap();
                match delta {
                    StreamDelta::Text(text)
                    | StreamDelta::Thinking(text)
                    | StreamDelta::Signature(text)
                    | StreamDelta::ToolInput(text) => block.push_str(text),
                    _ => block.push('?'),
                }
            }
            _ => {}
        }
    }
    blocks
}

/// A1: the API reports reasoning that it left out because the conversation before it was changed.
#[tokio::test]
async fn reasoning_that_the_api_dropped_is_reported_beside_the_message() {
    let mut events = WireMessage::new().text("hi").events("msg_1");
    let start = r#"{"type":"message_start","message":{"id":"msg_1","model":"claude-opus-5-5","content":[],
        "usage":{"input_tokens":1,"output_tokens":0},"input_transformations":[
        {"type":"thinking_dropped","path":"messages.1.content.0","reason":"prefix_binding_mismatch"},
        {"type":"thinking_mismatch_allowed","path":"messages.3.content.0","reason":"x"},
        {"type":"thinking_dropped","path":"messages.5.content.0","reason":"prefix_binding_mismatch"},{"type":"later"}]}}"#;
    events[0] = Event::named("message_start", start.replace('\n', ""));
    let server = WireServer::start().await.unwrap();
    server.push(Reply::events(events));
    let (events, error) = read(&provider(&server)).await;
    assert!(error.is_none(), "{error:?}");
    let dropped: Vec<_> = events
        .iter()
        .filter_map(|event| match event {
            ModelEvent::ReasoningDropped { blocks, reason } => Some((*blocks, reason.as_str())),
            _ => None,
        })
        .collect();
    assert_eq!(dropped, [(2, "prefix_binding_mismatch")]);
    assert!(is_complete(&events));
}

#[tokio::test]
async fn yields_an_item_for_each_event() {
    let server = WireServer::start().await.unwrap();
    let message = full_message();
    server.push(message.clone());
    let (events, error) = read(&provider(&server)).await;
    assert!(error.is_none(), "{error:?}");
    assert_eq!(events.len(), message.events("x").len());
    let blocks = content(&events);
    assert_eq!(blocks.len(), 5);
    assert!(blocks[0].ends_with("erwägen 考虑c2ln"));
    assert!(blocks[1].contains("ZGF0YQ=="));
    assert!(blocks[2].ends_with("héllo 日本語 🦀\r\n"));
    let input = blocks[3].strip_prefix("toolu_1 Write ").unwrap();
    let input: serde_json::Value = serde_json::from_str(input).unwrap();
    assert_eq!(input["content"], "line\n\"quoted\" 🦀\u{0001}");
    assert!(blocks[4].contains("later") && blocks[4].ends_with('?'));
}

#[tokio::test]
async fn hands_on_the_text_of_each_event_when_asked() {
    let server = WireServer::start().await.unwrap();
    let message = full_message();
    server.push(message.clone());
    let items: Vec<ModelItem> =
        provider(&server).stream(request(true)).await.unwrap().map(Result::unwrap).collect().await;
    let raw: Vec<String> = items.iter().map(|item| item.raw.as_ref().unwrap().to_string()).collect();
    let sent: Vec<String> = message.events("x").into_iter().map(|event| event.data).collect();
    assert_eq!(raw, sent);
}

#[tokio::test]
async fn a_cut_at_any_byte_is_a_cut() {
    let server = WireServer::start_on_thread().unwrap();
    let provider = provider(&server);
    let reply = Reply::from(full_message());
    server.push(reply.clone());
    let (whole, _) = read(&provider).await;
    let body = reply.body().len();
    // The blank line after the last event completes it.
    for at in 0..body {
        let endings = [reply.clone().stop_at(at), reply.clone().until_close().cut_at(at), reply.clone().cut_at(at)];
        // A connection for each byte takes time: the endings that need one alternate.
        for reply in [&endings[0], &endings[1 + at % 2]] {
            server.push(reply.clone());
            let (events, error) = read(&provider).await;
            let error = error.unwrap_or_else(|| panic!("complete at {at} of {body}"));
            assert_eq!(error.kind, ModelErrorKind::Cut, "at {at}: {error}");
            assert!(whole.starts_with(&events) && !is_complete(&events), "at {at}");
        }
        if at % 16 == 0 {
            server.push(reply.clone().reset_at(at));
            let (events, error) = read(&provider).await;
            // A reset can overtake the head of the answer.
            let kind = error.map(|error| error.kind);
            assert!(matches!(kind, Some(ModelErrorKind::Cut | ModelErrorKind::Connection)), "reset at {at}");
            assert!(whole.starts_with(&events) && !is_complete(&events));
        }
    }
}

/// Returns the same message in the framings that the standard allows.
fn framings() -> Vec<Vec<u8>> {
    let events = full_message().events("x");
    let mut texts = Vec::new();
    for bom in ["", "\u{feff}"] {
        for end in ["\n", "\r\n", "\r"] {
            let mut text = format!("{bom}: hello{end}{end}");
            for event in &events {
                // A line feed is white space between two members, so data may be split there.
                let data = event.data.replacen("\":", &format!("\":{end}data: "), 1);
                text.push_str(&format!(
                    "event:{}{end}:comment{end}id: 7{end}data: {data}{end}retry{end}{end}",
                    event.name
                ));
            }
            texts.push(text.into_bytes());
        }
    }
    texts
}

#[tokio::test]
async fn any_split_of_any_framing_is_the_same_message() {
    let server = WireServer::start_on_thread().unwrap();
    let provider = provider(&server);
    server.push(full_message());
    let (whole, _) = read(&provider).await;
    for text in framings() {
        for size in (1..64).chain((64..text.len()).step_by(97)).chain([text.len()]) {
            server.push(Reply::stream_bytes(text.clone()).chunks_of(size));
            let (events, error) = read(&provider).await;
            assert!(error.is_none(), "chunks of {size}: {error:?}");
            assert_eq!(events, whole, "chunks of {size}");
        }
    }
}

#[tokio::test]
async fn one_split_at_every_byte_is_the_same_message() {
    let server = WireServer::start_on_thread().unwrap();
    let provider = provider(&server);
    let reply = Reply::from(full_message());
    server.push(reply.clone());
    let (whole, _) = read(&provider).await;
    for at in 1..reply.body().len() {
        server.push(reply.clone().chunks_at([at]).separate_writes());
        let (events, error) = read(&provider).await;
        assert!(error.is_none() && events == whole, "split at {at}: {error:?}");
    }
}

/// `true` if an event has a part in the structure, so that its loss must be detected.
fn is_structural(event: &Event) -> bool {
    event.name != "content_block_delta" && event.name != "ping"
}

#[tokio::test]
async fn events_that_are_lost_doubled_or_swapped_complete_nothing_wrong() {
    let server = WireServer::start_on_thread().unwrap();
    let provider = provider(&server);
    let events = full_message().events("x");
    server.push(Reply::events(events.clone()));
    let (whole, _) = read(&provider).await;
    let mut corrupt: Vec<(String, Vec<Event>, bool)> = Vec::new();
    for at in 0..events.len() {
        let structural = is_structural(&events[at]);
        let mut lost = events.clone();
        lost.remove(at);
        corrupt.push((format!("{at} lost"), lost, structural));
        let mut doubled = events.clone();
        doubled.insert(at, events[at].clone());
        // A second stop is never read, and a stop reason may come twice.
        let harmless = matches!(events[at].name.as_str(), "message_stop" | "message_delta");
        corrupt.push((format!("{at} doubled"), doubled, structural && !harmless));
        for other in at + 1..events.len() {
            let mut swapped = events.clone();
            swapped.swap(at, other);
            corrupt.push((format!("{at} and {other} swapped"), swapped, false));
        }
    }
    for (what, events, must_fail) in corrupt {
        let only_deltas = events.iter().filter(|event| is_structural(event)).count();
        let same_structure =
            events.iter().filter(|event| is_structural(event)).map(|event| &event.data).collect::<Vec<_>>();
        server.push(Reply::events(events.clone()));
        let (read, error) = read(&provider).await;
        if must_fail {
            assert!(error.is_some() && !is_complete(&read), "{what}");
        }
        if is_complete(&read) && content(&read) != content(&whole) {
            // Only text can differ, and only if the structure is intact: the protocol has no means to show that a delta
            // is missing.
            let original = full_message().events("x");
            let structure =
                original.iter().filter(|event| is_structural(event)).map(|event| &event.data).collect::<Vec<_>>();
            assert_eq!(same_structure, structure, "{what} ({only_deltas})");
        }
    }
}

#[tokio::test]
async fn deltas_come_as_they_are_sent() {
    let server = WireServer::start().await.unwrap();
    let gate = Gate::new();
    let reply = Reply::from(WireMessage::new().text_deltas(["one", "two"]));
    let ends = reply.event_ends();
    server.push(reply.pause_at(ends[3], &gate));
    let mut stream = provider(&server).stream(request(false)).await.unwrap();
    let mut last = None;
    for _ in 0..4 {
        last = Some(stream.next().await.unwrap().unwrap().event);
    }
    assert_eq!(last, Some(ModelEvent::BlockDelta { index: 0, delta: StreamDelta::Text("one".into()) }));
    gate.open();
    assert!(stream.map(Result::unwrap).any(|item| async move { item.event == ModelEvent::MessageStop }).await);
}

#[tokio::test]
async fn dropping_the_stream_or_the_call_hangs_up() {
    let server = WireServer::start().await.unwrap();
    let gate = Gate::new();
    let reply = Reply::from(WireMessage::new().text("x"));
    let first = reply.event_ends()[0];
    server.push(reply.pause_at(first, &gate));
    let mut stream = provider(&server).stream(request(false)).await.unwrap();
    stream.next().await.unwrap().unwrap();
    drop(stream);
    server.wait_hang_ups(1).await;

    server.push(Reply::never());
    let provider = provider(&server);
    let call = tokio::spawn(async move { provider.stream(request(false)).await.map(drop) });
    server.wait_requests(2).await;
    call.abort();
    server.wait_hang_ups(2).await;
}

/// Guard that keeps the paused clock of tokio from running ahead while a socket is waited for: the clock only advances
/// when no blocking task is at work.
struct ClockHold {
    _hold: std::sync::mpsc::Sender<()>,
}

impl ClockHold {
    fn new() -> Self {
        let (hold, held) = std::sync::mpsc::channel();
        tokio::task::spawn_blocking(move || held.recv());
        Self { _hold: hold }
    }
}

#[tokio::test(start_paused = true)]
async fn a_long_answer_has_no_total_limit() {
    let _hold = ClockHold::new();
    let server = WireServer::start().await.unwrap();
    let mut reply = Reply::from(WireMessage::new().text_deltas(["x"; 20]));
    let ends = reply.event_ends();
    let gates: Vec<Gate> = ends.iter().map(|_| Gate::new()).collect();
    for (end, gate) in ends.iter().zip(&gates) {
        reply = reply.pause_at(*end, gate);
    }
    server.push(reply);
    let mut stream = provider(&server).stream(request(false)).await.unwrap();
    let begun = tokio::time::Instant::now();
    for gate in &gates {
        stream.next().await.unwrap().unwrap();
        gate.wait_arrived(1).await;
        tokio::time::advance(Duration::from_secs(60)).await;
        gate.open();
    }
    assert!(begun.elapsed() > Duration::from_secs(20 * 60));
    assert!(stream.next().await.is_none());
}

#[tokio::test(start_paused = true)]
async fn two_silent_minutes_are_the_end() {
    let _hold = ClockHold::new();
    let server = WireServer::start().await.unwrap();
    let gate = Gate::new();
    let reply = Reply::from(WireMessage::new().text("x"));
    let first = reply.event_ends()[0];
    server.push(reply.pause_at(first, &gate));
    let mut stream = provider(&server).stream(request(false)).await.unwrap();
    stream.next().await.unwrap().unwrap();
    let (item, ()) = futures_util::join!(stream.next(), tokio::time::advance(Duration::from_secs(121)));
    assert_eq!(item.unwrap().unwrap_err().kind, ModelErrorKind::Timeout);
}

#[tokio::test]
async fn silence_times_out_before_and_inside_an_answer() {
    let server = WireServer::start().await.unwrap();
    let provider = Anthropic::builder()
        .api_key("k")
        .base_url(server.url())
        .idle_timeout(Duration::from_millis(100))
        .build()
        .unwrap();
    let reply = Reply::from(WireMessage::new().text("x"));
    for reply in [Reply::never(), reply.clone().hang_at(1), reply.clone().hang_at(reply.event_ends()[3])] {
        server.push(reply);
        let (events, error) = read(&provider).await;
        assert_eq!(error.map(|error| error.kind), Some(ModelErrorKind::Timeout));
        assert!(!is_complete(&events));
    }
}

#[tokio::test]
async fn pings_and_comments_alone_do_not_keep_a_call_alive() {
    let server = WireServer::start_on_thread().unwrap();
    let provider =
        Anthropic::builder().api_key("k").base_url(server.url()).stall_timeout(Duration::ZERO).build().unwrap();
    let delta = |delta: &str| format!("data: {{\"type\":\"content_block_delta\",\"index\":0,\"delta\":{delta}}}\n\n");
    let nothing = [
        "event: ping\ndata: {\"type\":\"ping\"}\n\n".to_owned(),
        ": comment\n\n".to_owned(),
        delta(r#"{"type":"text_delta","text":""}"#),
        "data: {\"type\":\"message_delta\",\"delta\":{},\"usage\":{\"output_tokens\":1}}\n\n".to_owned(),
    ];
    for life in nothing {
        let start: String = WireMessage::new().text("x").events("x").iter().take(2).map(Event::frame).collect();
        let body = format!("{start}{}", life.repeat(200));
        server.push(Reply::stream_bytes(body.clone()).chunks_of(life.len()).separate_writes().hang_at(body.len()));
        let (events, error) = read(&provider).await;
        assert_eq!(error.map(|error| error.kind), Some(ModelErrorKind::Timeout), "{life:?}");
        assert!(!is_complete(&events));
    }
}

#[tokio::test]
async fn bytes_that_are_not_utf8_are_retryable_and_complete_nothing() {
    let server = WireServer::start_on_thread().unwrap();
    let provider = provider(&server);
    let body = Reply::from(WireMessage::new().text("日本語")).body();
    let inside: Vec<usize> = body.iter().enumerate().filter(|(_, byte)| **byte >= 0x80).map(|(at, _)| at).collect();
    assert_eq!(inside.len(), 9);
    for at in inside {
        let mut broken = body.to_vec();
        broken[at] = 0xff;
        server.push(Reply::stream_bytes(broken));
        let (events, error) = read(&provider).await;
        assert_eq!(error.map(|error| error.kind), Some(ModelErrorKind::Protocol));
        assert!(!is_complete(&events));
    }
}

#[tokio::test]
async fn the_allowance_is_reported_before_the_message_has_begun() {
    let gate = Gate::new();
    let server = WireServer::start().await.unwrap();
    let reply = Reply::message(WireMessage::new().text("hi"))
        .header("anthropic-ratelimit-unified-status", "allowed_warning")
        .header("anthropic-ratelimit-unified-representative-claim", "five_hour")
        .header("anthropic-ratelimit-unified-5h-utilization", "0.82")
        .header("anthropic-ratelimit-unified-5h-reset", "1795170000");
    // The head is sent with the first bytes of the body.
    server.push(reply.pause_at(1, &gate));
    let mut stream = provider(&server).stream(request(true)).await.unwrap();
    let limit = RateLimit::new(RateLimitStatus::AllowedWarning)
        .with_kind(Some(RateLimitKind::FiveHour))
        .with_utilization(Utilization::new(0.82))
        .with_resets_at(Some(1_795_170_000));
    let first = stream.next().await.unwrap().unwrap();
    assert_eq!((first.event, first.raw), (ModelEvent::RateLimit(Box::new(limit)), None));
    gate.open();
    let rest: Vec<_> = stream.map(|item| item.unwrap().event).collect().await;
    assert!(is_complete(&rest) && !rest.iter().any(|event| matches!(event, ModelEvent::RateLimit(_))));
}
