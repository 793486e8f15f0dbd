//! C1 and C2: assignment of pieces to calls, and completion of calls.

use super::*;

/// Returns the message whose calls come in these pieces.
async fn answer(pieces: &[Value]) -> Answer {
    let mut chunks: Vec<Value> = pieces.iter().cloned().map(calls).collect();
    chunks.push(finish("tool_calls"));
    let answer = whole("openai", reply(&chunks)).await;
    assert_eq!(answer.stop, Some(StopReason::ToolUse));
    answer
}

#[tokio::test]
async fn calls_as_openai_streams_them() {
    let answer = answer(&[
        json!([{"index": 0, "id": "call_a", "type": "function", "function": {"name": "Read", "arguments": ""}}]),
        json!([{"index": 0, "function": {"arguments": "{\"a\":"}}]),
        json!([{"index": 0, "function": {"arguments": "1}"}}]),
        json!([{"index": 1, "id": "call_b", "type": "function", "function": {"name": "Grep", "arguments": ""}}]),
        json!([{"index": 1, "function": {"arguments": "{}"}}]),
    ])
    .await;
    assert_eq!(answer.calls(), [("Read", "{\"a\":1}"), ("Grep", "{}")]);
    assert_eq!(answer.ids(), ["call_a", "call_b"]);
}

#[tokio::test]
async fn c1_interleaved_indexes_are_put_in_order() {
    let answer = answer(&[
        json!([{"index": 0, "id": "a", "function": {"name": "Read", "arguments": "{\"x\""}},
               {"index": 1, "id": "b", "function": {"name": "Grep", "arguments": "{\"y\""}}]),
        json!([{"index": 1, "function": {"arguments": ":2}"}}, {"index": 0, "function": {"arguments": ":1}"}}]),
    ])
    .await;
    assert_eq!(answer.calls(), [("Read", "{\"x\":1}"), ("Grep", "{\"y\":2}")]);
}

#[tokio::test]
async fn c1_without_an_index_the_id_and_then_the_last_call_count() {
    let answer = answer(&[
        json!([{"id": "a", "function": {"name": "Read", "arguments": "{\"x\""}}]),
        json!([{"function": {"arguments": ":1}"}}]),
        json!([{"id": "b", "function": {"name": "Grep", "arguments": "{\"y\""}}]),
        json!([{"function": {"arguments": ":2"}}]),
        json!([{"id": "b", "function": {"arguments": "}"}}]),
    ])
    .await;
    assert_eq!(answer.calls(), [("Read", "{\"x\":1}"), ("Grep", "{\"y\":2}")]);
}

#[tokio::test]
async fn c1_a_new_id_on_a_taken_index_is_a_new_call() {
    let answer = answer(&[
        json!([{"index": 0, "id": "a", "function": {"name": "Read", "arguments": "{\"x\":1}"}}]),
        json!([{"index": 0, "id": "b", "function": {"name": "Read", "arguments": "{\"x\":"}}]),
        json!([{"index": 0, "function": {"arguments": "2}"}}]),
    ])
    .await;
    assert_eq!(answer.calls(), [("Read", "{\"x\":1}"), ("Read", "{\"x\":2}")]);
    assert_eq!(answer.ids(), ["a", "b"]);
}

#[tokio::test]
async fn c1_indexes_may_start_at_one() {
    let answer = answer(&[
        json!([{"index": 1, "id": "a", "function": {"name": "Read", "arguments": "{"}}]),
        json!([{"index": 1, "function": {"arguments": "}"}}]),
        json!([{"index": 2, "id": "b", "function": {"name": "Grep", "arguments": "{}"}}]),
    ])
    .await;
    assert_eq!(answer.calls(), [("Read", "{}"), ("Grep", "{}")]);
}

#[tokio::test]
async fn c1_calls_without_ids_get_stable_ones() {
    let pieces = [
        json!([{"index": 0, "function": {"name": "Read", "arguments": "{}"}}]),
        json!([{"index": 1, "id": "", "function": {"name": "Grep", "arguments": "{}"}}]),
        json!([{"index": 2, "id": null, "function": {"name": "Glob", "arguments": "{}"}}]),
    ];
    let (first, second) = (answer(&pieces).await, answer(&pieces).await);
    assert_eq!(first.calls(), [("Read", "{}"), ("Grep", "{}"), ("Glob", "{}")]);
    assert_eq!(first.ids(), second.ids());
    let distinct: std::collections::HashSet<&str> = first.ids().into_iter().collect();
    assert_eq!(distinct.len(), 3);
    assert!(distinct.iter().all(|id| id.starts_with("call_") && id.len() <= 40));
}

#[tokio::test]
async fn c1_whole_calls_with_neither_index_nor_id_are_apart() {
    let answer = answer(&[
        json!([{"function": {"name": "Read", "arguments": "{\"x\":1}"}}, {"function": {"name": "Read", "arguments": "{\"x\":2}"}}]),
        json!([{"function": {"name": "Read", "arguments": {"x": 3}}}]),
    ])
    .await;
    assert_eq!(answer.calls(), [("Read", "{\"x\":1}"), ("Read", "{\"x\":2}"), ("Read", "{\"x\":3}")]);
}

#[tokio::test]
async fn c1_a_name_and_an_id_may_come_late() {
    let answer = answer(&[
        json!([{"index": 0, "function": {"arguments": "{\"x\""}}]),
        json!([{"index": 0, "id": "late", "function": {"arguments": ":"}}]),
        json!([{"index": 0, "function": {"name": "Read"}}]),
        json!([{"index": 0, "function": {"arguments": "1}"}}]),
    ])
    .await;
    assert_eq!(answer.calls(), [("Read", "{\"x\":1}")]);
    assert_eq!(answer.ids(), ["late"]);
}

#[tokio::test]
async fn c1_id_and_name_may_be_repeated_in_each_delta() {
    let piece =
        |arguments: &str| json!([{"index": 0, "id": "a", "function": {"name": "Read", "arguments": arguments}}]);
    let with_id = answer(&[piece("{\"x\""), piece(":"), piece("1"), piece("}")]).await;
    assert_eq!(with_id.calls(), [("Read", "{\"x\":1}")]);
    let piece = |arguments: &str| json!([{"index": 0, "function": {"name": "Read", "arguments": arguments}}]);
    let without = answer(&[piece("{\"x\""), piece(":1}")]).await;
    assert_eq!(without.calls(), [("Read", "{\"x\":1}")]);
}

#[tokio::test]
async fn c2_arguments_that_parse_do_not_end_a_call() {
    let answer = answer(&[
        json!([{"index": 0, "id": "a", "function": {"name": "Bash", "arguments": "{\"command\":\"rm -r a\"}"}}]),
        json!([{"index": 1, "id": "b", "function": {"name": "Read", "arguments": "{}"}}]),
        json!([{"index": 0, "function": {"arguments": " "}}]),
    ])
    .await;
    assert_eq!(answer.calls(), [("Bash", "{\"command\":\"rm -r a\"} "), ("Read", "{}")]);
}

#[tokio::test]
async fn c2_no_call_ends_before_the_message_does() {
    let call = json!([{"index": 0, "id": "a", "function": {"name": "Bash", "arguments": "{\"command\":\"ls\"}"}}]);
    let server = WireServer::start().await.unwrap();
    server.push(open_reply(&[calls(call)]));
    let provider = preset("openai").base_url(server.url()).build().unwrap();
    let stream = provider.stream(Arc::new(request())).await.unwrap();
    let transcript = windlass_testkit::provider::read(stream).await.unwrap();
    assert_eq!(transcript.error.unwrap().kind, windlass_types::ModelErrorKind::Cut);
    assert!(!transcript.items.iter().any(|item| matches!(item.event, ModelEvent::BlockStop { .. })));
}

#[tokio::test]
async fn text_and_reasoning_after_a_call_are_kept() {
    let chunks = [
        content("before"),
        calls(json!([{"index": 0, "id": "a", "function": {"name": "Read", "arguments": "{"}}])),
        content("after"),
        delta(json!({"reasoning_content": "hm"})),
        calls(json!([{"index": 0, "function": {"arguments": "}"}}])),
        finish("tool_calls"),
    ];
    let answer = whole("deepseek", reply(&chunks)).await;
    assert_eq!(answer.kinds(), ["text", "call", "thinking", "text"]);
    assert_eq!((answer.calls(), answer.text()), (vec![("Read", "{}")], "beforeafter".to_owned()));
}

#[tokio::test]
async fn a_call_without_a_name_makes_all_calls_of_the_message_invalid() {
    let chunks = [
        calls(json!([{"index": 0, "id": "a", "function": {"name": "Read", "arguments": "{}"}}])),
        calls(json!([{"index": 1, "id": "b", "function": {"arguments": "{}"}}])),
        calls(json!([{"index": 2}])),
        finish("tool_calls"),
    ];
    assert_eq!(whole("openai", reply(&chunks)).await.stop, Some(StopReason::MalformedToolCall));
}

#[tokio::test]
async fn too_many_calls_are_an_error() {
    let pieces: Vec<Value> =
        (0..1_001).map(|at| json!({"index": at, "function": {"name": "Read", "arguments": "{}"}})).collect();
    let (_, error) = read("openai", reply(&[calls(json!(pieces)), finish("tool_calls")])).await;
    assert_eq!(error.unwrap().kind, windlass_types::ModelErrorKind::Protocol);
}
