//! Streams over a real socket: cut, split, mixed and strange.

use std::time::Duration;

use super::wire::{Answer, KEY, answered, folded, message, provider, read, reply, request};
use futures_util::StreamExt;
use proptest::prelude::*;
use serde_json::{Value, json};
use windlass_model::{ModelError, ModelProvider};
use windlass_openai::OpenAi;
use windlass_testkit::wire::{Gate, Reply, WireServer};
use windlass_types::{BlockStart, ContentBlock, ModelErrorKind, ModelEvent, StopReason, StreamDelta, Usage};

/// Returns a message with every kind of item, and characters of every length.
fn full() -> Answer {
    Answer::new()
        .reasoning("rs_1", &["erwägen", "考虑"], Some("gAAA"))
        .text("msg_1", &["héllo ", "日本語 ", "🦀\r\n"])
        .call("call_1", "Write", &["{\"path\":\"/日", "本\",\"n\": 1.50", "}"])
        .call("call_2", "Read", &["{}"])
}

fn ending(events: &[ModelEvent]) -> (Option<StopReason>, Usage) {
    match &events[events.len() - 2..] {
        [ModelEvent::MessageDelta { stop_reason, usage }, ModelEvent::MessageStop] => (stop_reason.clone(), *usage),
        other => panic!("{other:?}"),
    }
}

fn inputs(events: &[ModelEvent]) -> Vec<(String, String)> {
    let message = folded(events);
    let calls = message.content.iter().filter_map(ContentBlock::as_tool_use);
    calls.map(|call| (call.id.to_string(), call.input.to_string())).collect()
}

fn is_complete(events: &[ModelEvent]) -> bool {
    events.contains(&ModelEvent::MessageStop)
}

#[tokio::test]
async fn every_kind_of_item_becomes_a_block() {
    let (events, error) = answered(full().reply()).await;
    assert!(error.is_none(), "{error:?}");
    let ModelEvent::MessageStart { id, model, usage } = &events[0] else { panic!("{:?}", events[0]) };
    assert_eq!((id.as_str(), model.as_str(), *usage), ("resp_1", "gpt-6.2-sol-2026-11-17", Usage::default()));
    let content = folded(&events).content;
    let ContentBlock::Thinking { thinking, signature } = &content[0] else { panic!("{content:?}") };
    assert_eq!(thinking, "erwägen\n\n考虑");
    let item: Value = serde_json::from_str(signature).unwrap();
    assert_eq!((&item["id"], &item["encrypted_content"]), (&json!("rs_1"), &json!("gAAA")));
    assert_eq!(content[1].as_text(), Some("héllo 日本語 🦀\r\n"));
    assert_eq!(
        inputs(&events),
        [("call_1".to_owned(), "{\"path\":\"/日本\",\"n\": 1.50}".to_owned()), ("call_2".to_owned(), "{}".to_owned())]
    );
    let (reason, usage) = ending(&events);
    assert_eq!(reason, Some(StopReason::ToolUse));
    // B6: each token is counted once.
    assert_eq!((usage.input_tokens, usage.output_tokens), (10, 20));
    assert_eq!((usage.cache_read_input_tokens, usage.cache_creation_input_tokens), (60, 30));
}

#[tokio::test]
async fn text_comes_as_it_is_written() {
    let server = WireServer::start().await.unwrap();
    let provider = provider(&server);
    let gate = Gate::new();
    let reply = Answer::new().text("msg_1", &["a", "b"]).reply();
    let at = reply.event_ends()[4];
    server.push(reply.pause_at(at, &gate));
    let mut stream = provider.stream(request().into()).await.unwrap();
    let mut last = None;
    while !matches!(last, Some(ModelEvent::BlockDelta { .. })) {
        last = Some(stream.next().await.unwrap().unwrap().event);
    }
    assert_eq!(last, Some(ModelEvent::BlockDelta { index: 0, delta: StreamDelta::Text("a".into()) }));
    gate.open();
    assert!(stream.all(|item| async move { item.is_ok() }).await);
}

#[tokio::test]
async fn a_cut_at_any_byte_is_a_cut() {
    let server = WireServer::start_on_thread().unwrap();
    let provider = provider(&server);
    let reply = full().reply();
    server.push(reply.clone());
    let (whole, _) = read(&provider, &request()).await;
    let body = reply.body().len();
    // The blank line after the last event completes it.
    for at in 0..body {
        let ways = [reply.clone().stop_at(at), reply.clone().until_close().cut_at(at), reply.clone().cut_at(at)];
        server.push(ways[at % 3].clone());
        let (events, error) = read(&provider, &request()).await;
        let error = error.unwrap_or_else(|| panic!("complete at {at} of {body}"));
        assert_eq!(error.kind, ModelErrorKind::Cut, "at {at}: {error}");
        assert!(whole.starts_with(&events) && !is_complete(&events), "at {at}");
    }
}

#[tokio::test]
async fn a_split_at_any_byte_changes_nothing() {
    let server = WireServer::start_on_thread().unwrap();
    let provider = provider(&server);
    let reply = full().reply();
    server.push(reply.clone());
    let whole = read(&provider, &request()).await.0;
    let body = reply.body().len();
    for at in (1..body).step_by(5) {
        server.push(reply.clone().chunks_at([at]).separate_writes());
        let (events, error) = read(&provider, &request()).await;
        assert!(error.is_none() && events == whole, "at {at}: {error:?}");
    }
    for size in [1, 2, 7] {
        server.push(reply.clone().chunks_of(size));
        assert_eq!(read(&provider, &request()).await.0, whole);
    }
}

#[tokio::test]
async fn b4_items_are_told_apart_by_their_place() {
    let added = |place: usize, id: &str| {
        json!({"type": "response.output_item.added", "output_index": place,
            "item": {"id": format!("a_{id}"), "type": "function_call", "call_id": id, "name": "Read", "arguments": ""}})
    };
    // The ids of the items change from event to event.
    let delta = |place: usize, text: &str| json!({"type": "response.function_call_arguments.delta", "output_index": place, "item_id": format!("{text}-{place}"), "delta": text});
    let done = |place: usize, id: &str, arguments: &str| {
        json!({"type": "response.output_item.done", "output_index": place,
            "item": {"id": format!("z_{id}"), "type": "function_call", "call_id": id, "name": "Read", "arguments": arguments}})
    };
    let answer = Answer::new()
        .push(added(0, "call_1"))
        .push(added(1, "call_2"))
        .push(added(2, "call_3"))
        .push(delta(1, "{\"b\":"))
        .push(delta(0, "{\"a\":"))
        .push(delta(2, "{}"))
        .push(delta(0, "1}"))
        .push(done(2, "call_3", "{}"))
        .push(delta(1, "2}"))
        .push(done(1, "call_2", "{\"b\":2}"))
        .push(done(0, "call_1", "{\"a\":1}"));
    let (events, error) = answered(answer.reply()).await;
    assert!(error.is_none(), "{error:?}");
    let expected = [("call_1", "{\"a\":1}"), ("call_2", "{\"b\":2}"), ("call_3", "{}")];
    assert_eq!(inputs(&events), expected.map(|(id, input)| (id.to_owned(), input.to_owned())));
}

fn without_places(mut events: Vec<Value>) -> Vec<Value> {
    for event in &mut events {
        event.as_object_mut().unwrap().remove("output_index");
    }
    events
}

#[tokio::test]
async fn b4_a_server_without_places_is_read_while_it_is_clear() {
    let (events, error) = answered(reply(&without_places(full().completed()))).await;
    assert!(error.is_none(), "{error:?}");
    let (whole, _) = answered(full().reply()).await;
    assert_eq!(events, whole);
}

#[tokio::test]
async fn b4_a_server_without_places_that_mixes_calls_is_an_error() {
    let added = |id: &str| json!({"type": "response.output_item.added", "item": {"type": "function_call", "call_id": id, "name": "Read", "arguments": ""}});
    let delta = json!({"type": "response.function_call_arguments.delta", "delta": "{}"});
    let answer = Answer::new().push(added("call_1")).push(added("call_2")).push(delta);
    let error = answered(answer.reply()).await.1.unwrap();
    assert_eq!(error.kind, ModelErrorKind::Protocol, "{error}");

    // Pieces of two calls in one place do not make the final arguments of either call.
    let place = |mut event: Value| {
        event["output_index"] = json!(0);
        event
    };
    let delta = |text: &str| json!({"type": "response.function_call_arguments.delta", "delta": text});
    let done = json!({"type": "response.output_item.done", "item": {"type": "function_call", "call_id": "call_1", "name": "Read", "arguments": "{\"a\":1}"}});
    let answer = Answer::new()
        .push(place(added("call_1")))
        .push(place(delta("{\"a\":")))
        .push(place(delta("2}")))
        .push(place(done));
    let error = answered(answer.reply()).await.1.unwrap();
    assert_eq!(error.kind, ModelErrorKind::Protocol, "{error}");
}

#[tokio::test]
async fn b4_a_call_whose_end_never_came_is_not_run() {
    let mut events = Answer::new().call("call_1", "Write", &["{\"a\":1}"]);
    events.events.retain(|event| event["type"] != "response.output_item.done");
    let (events, error) = answered(events.reply()).await;
    let error = error.unwrap();
    assert!(matches!(error.kind, ModelErrorKind::Cut | ModelErrorKind::Protocol), "{error}");
    assert!(!events.iter().any(|event| matches!(event, ModelEvent::BlockStop { .. })));
}

#[tokio::test]
async fn b7_incomplete_responses_have_their_reason() {
    let incomplete =
        |answer: Answer, reason: &str| answer.ended("incomplete", &json!({"incomplete_details": {"reason": reason}}));
    for (reason, expected) in [
        ("max_output_tokens", StopReason::MaxTokens),
        ("content_filter", StopReason::ContentFilter),
        ("steered", StopReason::Other("steered".into())),
    ] {
        let (events, error) = answered(reply(&incomplete(full(), reason))).await;
        assert!(error.is_none(), "{error:?}");
        assert_eq!(ending(&events).0, Some(expected));
    }
    let (events, _) = answered(reply(&Answer::new().ended("incomplete", &json!({})))).await;
    assert_eq!(ending(&events).0, Some(StopReason::Other("incomplete".into())));
}

/// Calls that the limit cut: one with an end that reports it, one without an end.
fn cut_calls() -> [Answer; 2] {
    let item = json!({"id": "fc_1", "type": "function_call", "call_id": "call_1", "name": "Write", "arguments": "", "status": "in_progress"});
    let mut end = item.clone();
    (end["arguments"], end["status"]) = (json!("{\"a\": \"b"), json!("incomplete"));
    let delta = json!({"type": "response.function_call_arguments.delta", "delta": "{\"a\": \"b"});
    let whole = Answer::new().text("msg_1", &["a"]).item(item, vec![delta], end);
    let mut open = whole.clone();
    open.events.pop();
    [whole, open]
}

#[tokio::test]
async fn b7_a_call_that_the_limit_cut_is_the_last_block() {
    for answer in cut_calls() {
        let events =
            answer.clone().ended("incomplete", &json!({"incomplete_details": {"reason": "max_output_tokens"}}));
        let (events, error) = answered(reply(&events)).await;
        assert!(error.is_none(), "{error:?}");
        assert_eq!(ending(&events).0, Some(StopReason::MaxTokens));
        assert!(matches!(events[events.len() - 3], ModelEvent::BlockStop { index: 1 }), "{events:?}");
        // A message that claims to be complete is not.
        let error = answered(answer.reply()).await.1.unwrap();
        assert_eq!(error.kind, ModelErrorKind::Cut, "{error}");
    }
}

#[tokio::test]
async fn b7_a_response_without_output_is_an_empty_message() {
    for response in [json!({"id": "resp_1"}), json!({"id": "resp_1", "output": null, "usage": null}), json!({})] {
        let events = [
            json!({"type": "response.created", "response": response}),
            json!({"type": "response.completed", "response": response}),
        ];
        for events in [&events[..], &events[1..]] {
            let (events, error) = answered(reply(events)).await;
            assert!(error.is_none(), "{error:?}");
            assert_eq!(events.len(), 3);
            assert_eq!(ending(&events), (Some(StopReason::EndTurn), Usage::default()));
        }
    }
}

#[tokio::test]
async fn what_only_the_completed_response_has_is_honoured() {
    let streamed = Answer::new().text("msg_1", &["a"]);
    let mut whole = full();
    whole.events = Answer::new().events;
    let (events, error) = answered(whole.clone().reply()).await;
    assert!(error.is_none(), "{error:?}");
    assert_eq!(folded(&events), message(&full().completed()).await);

    let mut more = streamed.clone();
    more.output.push(whole.output[2].clone());
    let (events, _) = answered(more.reply()).await;
    assert_eq!(inputs(&events)[0].0, "call_1");
    // A call that is incomplete there is not run either.
    for status in ["in_progress", "incomplete"] {
        let mut open = streamed.clone();
        open.output.push(whole.output[2].clone());
        open.output[1]["status"] = json!(status);
        assert_eq!(answered(open.reply()).await.1.unwrap().kind, ModelErrorKind::Cut, "{status}");
    }
    // Streamed content is not shown twice, whatever its final place and id.
    let mut moved = Answer::new().reasoning("rs_1", &["s"], Some("gAAA")).text("msg_1", &["a"]);
    moved.output.remove(0);
    moved.output[0]["id"] = json!("msg_other");
    assert_eq!(message(&moved.completed()).await.content.len(), 2);
}

#[tokio::test]
async fn refusals_are_text_and_a_reason() {
    let item = json!({"id": "msg_1", "type": "message", "role": "assistant", "content": [{"type": "refusal", "refusal": "I cannot."}]});
    let deltas =
        ["I ", "cannot."].map(|text| json!({"type": "response.refusal.delta", "content_index": 0, "delta": text}));
    for between in [deltas.to_vec(), vec![]] {
        let (events, error) = answered(Answer::new().item(item.clone(), between, item.clone()).reply()).await;
        assert!(error.is_none(), "{error:?}");
        assert_eq!(folded(&events).text(), "I cannot.");
        assert_eq!(ending(&events).0, Some(StopReason::Refusal));
    }
}

#[tokio::test]
async fn items_that_come_at_once_are_shown() {
    let mut answer = full();
    let kept = ["response.created", "response.output_item.done"];
    answer.events.retain(|event| kept.contains(&event["type"].as_str().unwrap()));
    let (events, error) = answered(answer.reply()).await;
    assert!(error.is_none(), "{error:?}");
    assert_eq!(folded(&events), message(&full().completed()).await);
    // Items that begin only with their text.
    let mut answer = full();
    answer
        .events
        .retain(|event| event["type"] != "response.output_item.added" || event["item"]["type"] == "function_call");
    assert_eq!(message(&answer.completed()).await, message(&full().completed()).await);
}

#[tokio::test]
async fn tools_that_the_api_runs_are_counted() {
    let search = json!({"id": "ws_1", "type": "web_search_call", "status": "completed"});
    let later = json!({"id": "x_1", "type": "later_call", "arguments": {"a": 1}, "content": "x"});
    let searching = json!({"type": "response.web_search_call.searching", "delta": {"a": 1}});
    let answer = Answer::new()
        .item(search.clone(), vec![searching], search.clone())
        .item(later.clone(), vec![json!({"type": "response.later.delta", "delta": 1})], later)
        .text("msg_1", &["a"]);
    let (events, error) = answered(answer.reply()).await;
    assert!(error.is_none(), "{error:?}");
    let unknown = |event: &ModelEvent| matches!(event, ModelEvent::BlockStart { block: BlockStart::Whole(ContentBlock::Unknown(json)), .. } if json.to::<Value>().unwrap() == search);
    assert!(unknown(&events[1]), "{events:?}");
    assert_eq!(folded(&events).content.len(), 2);
    let (reason, usage) = ending(&events);
    assert_eq!((reason, usage.web_search_requests), (Some(StopReason::EndTurn), 1));
}

#[tokio::test]
async fn events_that_are_not_known_change_nothing() {
    let (whole, _) = answered(full().reply()).await;
    let mut events = Vec::new();
    for event in full().completed() {
        events.push(json!({"type": "response.later", "output_index": "x", "delta": [1]}));
        events.push(json!({"type": "keepalive"}));
        events.push(json!({}));
        events.push(event);
    }
    let body = reply(&events).body();
    let text = format!(": comment\n\n{}data: [DONE]\n\n", String::from_utf8_lossy(&body));
    assert_eq!(answered(Reply::stream_bytes(text)).await.0, whole);
}

#[tokio::test]
async fn signs_of_life_do_not_keep_a_call_alive() {
    let server = WireServer::start().await.unwrap();
    let limit = Duration::from_millis(100);
    let provider = OpenAi::builder().api_key(KEY).base_url(server.url()).stall_timeout(limit).build().unwrap();
    let gates: Vec<Gate> = (0..4).map(|_| Gate::new()).collect();
    let pings = vec![json!({"type": "response.in_progress", "response": {"id": "resp_1"}}); 8];
    let reply = reply(&pings);
    let ends = reply.event_ends();
    server.push(
        gates.iter().enumerate().fold(reply.hang_at(ends[7]), |reply, (at, gate)| reply.pause_at(ends[at], gate)),
    );
    let asked = request();
    let drip = async {
        for gate in &gates {
            tokio::time::sleep(Duration::from_millis(80)).await;
            gate.open();
        }
        std::future::pending::<()>().await;
    };
    let (events, error): (Vec<ModelEvent>, Option<ModelError>) = tokio::select! {
        read = read(&provider, &asked) => read,
        () = drip => unreachable!(),
    };
    assert_eq!((events.len(), error.unwrap().kind), (1, ModelErrorKind::Timeout));
}

#[tokio::test]
async fn turns_share_one_connection() {
    let server = WireServer::start_on_thread().unwrap();
    let provider = provider(&server);
    for _ in 0..20 {
        server.push(Answer::new().text("msg_1", &["ok"]).reply());
        let mut stream = provider.stream(request().into()).await.unwrap();
        // Like the loop: stops at the last item and drops the stream.
        while !matches!(stream.next().await, Some(Ok(item)) if item.event == ModelEvent::MessageStop) {}
        drop(stream);
        for _ in 0..50 {
            tokio::task::yield_now().await;
        }
    }
    assert!(server.connections() <= 2, "{} connections", server.connections());
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    /// Events in any order and number, with any members, give an error or a message that follows the grammar, and no
    /// panic.
    #[test]
    fn events_in_any_order_give_a_message_or_an_error(
        picks in proptest::collection::vec((any::<prop::sample::Index>(), any::<prop::sample::Index>(), 0..6_u8), 0..30),
    ) {
        let all = full().completed();
        let mut events = Answer::new().events;
        for (pick, member, change) in picks {
            let mut event = pick.get(&all).clone();
            let names: Vec<String> = event.as_object().unwrap().keys().cloned().collect();
            let name = member.get(&names);
            match change {
                0 => { event.as_object_mut().unwrap().remove(name); }
                1 => event[name.as_str()] = json!(null),
                2 => event[name.as_str()] = json!(1),
                _ => {}
            }
            events.push(event);
        }
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        runtime.block_on(async {
            let server = WireServer::start().await.unwrap();
            server.push(reply(&events));
            let stream = provider(&server).stream(request().into()).await.unwrap();
            windlass_testkit::provider::read(stream).await.unwrap();
        });
    }
}
