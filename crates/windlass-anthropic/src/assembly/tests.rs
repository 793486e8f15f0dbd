use super::*;

const START: &str = r#"{"type":"message_start","message":{"id":"m","role":"assistant","model":"x","content":[],"usage":{"input_tokens":10,"output_tokens":1}}}"#;
const TEXT: &str = r#"{"type":"content_block_start","index":0,"content_block":{"type":"text","text":""}}"#;
const DELTA: &str = r#"{"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"a"}}"#;
const CLOSE: &str = r#"{"type":"content_block_stop","index":0}"#;
const END: &str = r#"{"type":"message_delta","delta":{"stop_reason":"end_turn"},"usage":{"output_tokens":5}}"#;
const STOP: &str = r#"{"type":"message_stop"}"#;

fn run(events: &[&str]) -> Result<Vec<ModelEvent>, ModelError> {
    let mut assembly = MessagesAssembly::default();
    let mut parsed = Vec::new();
    for data in events {
        parsed.extend(assembly.accept(None, data)?);
        parsed.extend(std::iter::from_fn(|| assembly.take_ordered()));
    }
    assert_eq!(assembly.is_complete(), parsed.contains(&ModelEvent::MessageStop));
    Ok(parsed)
}

fn kind(events: &[&str]) -> Option<ModelErrorKind> {
    run(events).err().map(|error| error.kind)
}

#[test]
fn a_plain_message() {
    let events = run(&[START, TEXT, DELTA, CLOSE, END, STOP]).unwrap();
    let usage = Usage::new(10, 5);
    assert_eq!(
        events,
        [
            ModelEvent::MessageStart { id: "m".into(), model: "x".into(), usage: Usage::new(10, 1) },
            ModelEvent::BlockStart { index: 0, block: BlockStart::Text(String::new()) },
            ModelEvent::BlockDelta { index: 0, delta: StreamDelta::Text("a".into()) },
            ModelEvent::BlockStop { index: 0 },
            ModelEvent::MessageDelta { stop_reason: Some(StopReason::EndTurn), usage },
            ModelEvent::MessageStop,
        ]
    );
}

#[test]
fn impossible_sequences_are_protocol_errors() {
    let second = &TEXT.replace("\"index\":0", "\"index\":1");
    let far = &DELTA.replace("\"index\":0", "\"index\":18446744073709551615");
    let negative = &DELTA.replace("\"index\":0", "\"index\":-1");
    let other_reason = &END.replace("end_turn", "max_tokens");
    let thinking = &DELTA.replace("text_delta", "thinking_delta").replace("\"text\":", "\"thinking\":");
    let json = &DELTA.replace("text_delta", "input_json_delta").replace("\"text\":", "\"partial_json\":");
    let nameless =
        &TEXT.replace(r#"{"type":"text","text":""}"#, r#"{"type":"tool_use","id":"t","name":"","input":{}}"#);
    let typeless = &TEXT.replace(r#"{"type":"text","text":""}"#, r#"{"text":""}"#);
    let with_content = &START.replace("[]", r#"[{"type":"text","text":"x"}]"#);
    let cases: &[&[&str]] = &[
        &[DELTA],
        &[TEXT],
        &[CLOSE],
        &[END],
        &[STOP],
        &[START, START],
        &[START, DELTA],
        &[START, CLOSE],
        &[START, second],
        &[START, TEXT, TEXT],
        &[START, TEXT, far],
        &[START, TEXT, negative],
        &[START, TEXT, CLOSE, DELTA],
        &[START, TEXT, CLOSE, CLOSE],
        &[START, TEXT, CLOSE, TEXT],
        &[START, TEXT, END],
        &[START, TEXT, START],
        &[START, TEXT, thinking],
        &[START, TEXT, json],
        &[START, END, TEXT],
        &[START, END, other_reason],
        &[START, END, STOP, STOP],
        &[START, END, STOP, START],
        &[START, nameless],
        &[START, typeless],
        &[with_content],
        &["{"],
        &["[]"],
        &["\"x\""],
        &[r#"{"type":"message_start"}"#],
        &[r#"{"type":"message_start","message":7}"#],
        &[START, r#"{"type":"content_block_start","index":0}"#],
        &[START, r#"{"type":"content_block_start","content_block":{"type":"text"}}"#],
        &[START, TEXT, r#"{"type":"content_block_delta","index":0}"#],
        &[START, TEXT, r#"{"type":"content_block_delta","index":0,"delta":{"type":"text_delta"}}"#],
        &[START, TEXT, r#"{"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":7}}"#],
        &[
            START,
            TEXT,
            r#"{"type":"content_block_delta","index":0,"index":0,"delta":{"type":"text_delta","text":"a"}}"#,
        ],
        &[START, r#"{"type":"message_delta","delta":{"stop_reason":"end_turn"},"usage":{"output_tokens":-1}}"#],
    ];
    for events in cases {
        assert_eq!(kind(events), Some(ModelErrorKind::Protocol), "{events:?}");
    }
}

#[test]
fn an_unfinished_message_is_cut() {
    assert_eq!(kind(&[START, STOP]), Some(ModelErrorKind::Cut));
    assert_eq!(kind(&[START, TEXT, STOP]), Some(ModelErrorKind::Cut));
    assert_eq!(kind(&[START, END.replace("\"end_turn\"", "null").as_str(), STOP]), Some(ModelErrorKind::Cut));
}

#[test]
fn what_is_unknown_is_tolerated_and_kept() {
    let block = r#"{"type":"server_tool_use","id":"s","name":"web_search","input":{},"text":{"odd":1}}"#;
    let start = format!(r#"{{"type":"content_block_start","index":0,"content_block":{block}}}"#);
    let json = DELTA.replace("text_delta", "input_json_delta").replace("\"text\":", "\"partial_json\":");
    let events = run(&[
        "[DONE]",
        r#"{"type":"later","delta":7,"index":"x"}"#,
        r#"{}"#,
        START,
        r#"{"type":"ping","index":"x"}"#,
        &start,
        &json,
        &DELTA.replace("text_delta", "later_delta"),
        r#"{"type":"content_block_delta","index":0,"delta":{"type":"citations_delta","text":["x"]}}"#,
        CLOSE,
        &END.replace("end_turn", "later_reason"),
        STOP,
    ])
    .unwrap();
    let unknown = BlockStart::Whole(ContentBlock::Unknown(JsonText::parse(block).unwrap()));
    let reason = StopReason::Other("later_reason".into());
    assert!(events.contains(&ModelEvent::BlockStart { index: 0, block: unknown }));
    assert!(events.contains(&ModelEvent::BlockDelta { index: 0, delta: StreamDelta::ToolInput("a".into()) }));
    assert!(events.contains(&ModelEvent::MessageDelta { stop_reason: Some(reason), usage: Usage::new(10, 5) }));
    let unknowns = events.iter().filter(|event| **event == ModelEvent::Unknown).count();
    let unknown_deltas = events
        .iter()
        .filter(|event| matches!(event, ModelEvent::BlockDelta { delta: StreamDelta::Unknown, .. }))
        .count();
    assert_eq!((unknowns, unknown_deltas), (3, 2));
}

#[test]
fn the_event_name_stands_in_for_a_missing_type() {
    let mut assembly = MessagesAssembly::default();
    assert_eq!(assembly.accept(Some("ping"), "{}").unwrap(), Some(ModelEvent::Ping));
    let error = assembly.accept(Some("error"), r#"{"error":{"type":"overloaded_error","message":"x"}}"#).unwrap_err();
    assert_eq!(error.kind, ModelErrorKind::Overloaded);
    let error = assembly.accept(Some("error"), "upstream gone").unwrap_err();
    assert_eq!(error.kind, ModelErrorKind::Server);
    assert!(error.message.contains("upstream gone"));
}

#[test]
fn a_tool_use_with_its_input_at_once_is_whole() {
    let start = TEXT
        .replace(r#"{"type":"text","text":""}"#, r#"{"type":"tool_use","id":"t","name":"Read","input":{"a": 1.0}}"#);
    let empty = r#"{"type":"content_block_delta","index":0,"delta":{"type":"input_json_delta","partial_json":""}}"#;
    let more = &empty.replace("\"\"", "\"{}\"");
    let events = run(&[START, &start, empty, CLOSE]).unwrap();
    let call = ToolUse::new("t", "Read", JsonText::parse("{\"a\": 1.0}").unwrap());
    let whole = BlockStart::Whole(ContentBlock::ToolUse(call));
    assert_eq!(events[1], ModelEvent::BlockStart { index: 0, block: whole });
    assert_eq!(kind(&[START, &start, more]), Some(ModelErrorKind::Protocol));
}

#[test]
fn usage_is_cumulative_and_never_sinks() {
    let delta = |usage: &str| format!(r#"{{"type":"message_delta","delta":{{}},"usage":{usage}}}"#);
    let events = run(&[
        &START.replace("\"output_tokens\":1", "\"output_tokens\":1,\"cache_read_input_tokens\":null"),
        &delta(r#"{"output_tokens":3,"input_tokens":0}"#),
        &delta(
            r#"{"output_tokens":7,"cache_read_input_tokens":2,"cache_creation_input_tokens":4,
                "cache_creation":{"ephemeral_1h_input_tokens":4},"server_tool_use":{"web_search_requests":1}}"#,
        ),
        &delta("null"),
    ])
    .unwrap();
    let Some(ModelEvent::MessageDelta { usage, .. }) = events.last() else { panic!("{events:?}") };
    let mut expected = Usage::new(10, 7);
    expected.cache_read_input_tokens = 2;
    expected.cache_creation_input_tokens = 4;
    expected.cache_creation_1h_input_tokens = 4;
    expected.web_search_requests = 1;
    assert_eq!(*usage, expected);
}

#[test]
fn a_message_has_a_greatest_size() {
    let mut assembly = MessagesAssembly::default();
    assembly.accept(None, START).unwrap();
    assembly.accept(None, TEXT).unwrap();
    let big = DELTA.replace("\"a\"", &format!("\"{}\"", "x".repeat(8 << 20)));
    let failed = (0..10).find_map(|_| assembly.accept(None, &big).err());
    assert_eq!(failed.map(|error| error.kind), Some(ModelErrorKind::Protocol));
}

/// Returns the blocks as a consumer folds them: kind and text, in their order.
fn blocks(events: &[&str]) -> Vec<(&'static str, String)> {
    let (mut all, mut open) = (Vec::new(), None);
    for event in run(events).unwrap() {
        match event {
            ModelEvent::BlockStart { index, block } => {
                assert_eq!((open, index), (None, all.len()));
                open = Some(index);
                all.push(match block {
                    BlockStart::Text(text) => ("text", text),
                    BlockStart::Thinking { thinking, .. } => ("thinking", thinking),
                    BlockStart::ToolUse { .. } => ("call", String::new()),
                    other => panic!("{other:?}"),
                });
            }
            ModelEvent::BlockDelta { index, delta } => {
                assert_eq!(open, Some(index));
                if let StreamDelta::Text(text) | StreamDelta::Thinking(text) | StreamDelta::ToolInput(text) = delta {
                    all[index].1.push_str(&text);
                }
            }
            ModelEvent::BlockStop { index } => assert_eq!(open.take(), Some(index)),
            _ => assert_eq!(open, None),
        }
    }
    all
}

fn at(index: usize, event: &str) -> String {
    event.replace("\"index\":0", &format!("\"index\":{index}"))
}

#[test]
fn blocks_that_overlap_are_read_one_after_the_other() {
    let thinking = TEXT.replace(r#"{"type":"text","text":""}"#, r#"{"type":"thinking","thinking":"","signature":""}"#);
    let thought = DELTA.replace("text_delta", "thinking_delta").replace("\"text\":", "\"thinking\":");
    let signature = DELTA.replace("text_delta", "signature_delta").replace("\"text\":", "\"signature\":");
    let call = TEXT.replace(r#"{"type":"text","text":""}"#, r#"{"type":"tool_use","id":"t","name":"R","input":{}}"#);
    let input = DELTA.replace("text_delta", "input_json_delta").replace("\"text\":\"a\"", "\"partial_json\":\"{}\"");
    // llama.cpp closes all blocks at the end.
    let (text, words) = (at(1, TEXT), at(1, DELTA));
    let (first, first_input) = (at(2, &call), at(2, &input));
    let (second, second_input) = (at(3, &call), at(3, &input));
    let ends: Vec<String> = (0..4).map(|index| at(index, CLOSE)).collect();
    let events: [&str; 16] = [
        START,
        &thinking,
        &thought,
        &text,
        &words,
        &words,
        &first,
        &second,
        &second_input,
        &first_input,
        &signature,
        &ends[0],
        &ends[1],
        &ends[2],
        &ends[3],
        END,
    ];
    let events = [&events[..], &[STOP]].concat();
    let expected = [("thinking", "a"), ("text", "aa"), ("call", "{}"), ("call", "{}")];
    assert_eq!(blocks(&events), expected.map(|(kind, text)| (kind, text.to_owned())));

    // Closed in any order.
    let events = [
        START,
        &call,
        &at(1, TEXT),
        &at(1, DELTA),
        &at(2, TEXT),
        &at(1, CLOSE),
        &at(2, DELTA),
        CLOSE,
        &at(2, CLOSE),
        END,
        STOP,
    ];
    let expected = [("call", ""), ("text", "a"), ("text", "a")];
    assert_eq!(blocks(&events), expected.map(|(kind, text)| (kind, text.to_owned())));
}

#[test]
fn words_behind_the_next_block_are_a_protocol_error() {
    let second = at(1, TEXT);
    assert_eq!(kind(&[START, TEXT, &second, DELTA]), Some(ModelErrorKind::Protocol));
    assert_eq!(kind(&[START, TEXT, &second, CLOSE, CLOSE]), Some(ModelErrorKind::Protocol));
    assert_eq!(kind(&[START, TEXT, &second, CLOSE, END]), Some(ModelErrorKind::Protocol));
}

#[test]
fn a_call_without_an_id_and_counts_with_a_fraction_are_read() {
    let call = TEXT.replace(r#"{"type":"text","text":""}"#, r#"{"type":"tool_use","id":"","name":"R","input":{}}"#);
    let call = call.replace("\"index\":0", "\"index\":0.0");
    let start = START.replace("\"input_tokens\":10", "\"input_tokens\":10.0");
    let events = run(&[&start, &call, CLOSE, &END.replace('5', "5.0"), STOP]).unwrap();
    let usage = Usage::new(10, 5);
    assert!(events.contains(&ModelEvent::MessageDelta { stop_reason: Some(StopReason::EndTurn), usage }), "{events:?}");
    assert!(events.iter().any(|event| matches!(event, ModelEvent::BlockStart { index: 0, .. })));
}
