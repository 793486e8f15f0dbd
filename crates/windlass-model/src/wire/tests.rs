use super::*;
use windlass_types::{RateLimitKind, RateLimitStatus, ToolUse, Utilization};

fn usage() -> Usage {
    let mut usage = Usage::new(1, 2);
    usage.cache_creation_input_tokens = 7;
    usage.cache_creation_1h_input_tokens = 3;
    usage.cache_read_input_tokens = 4;
    usage.web_search_requests = 5;
    usage
}

fn json(text: &str) -> JsonText {
    JsonText::parse(text).unwrap()
}

#[test]
fn every_event_survives_the_way_there_and_back() {
    let starts = [
        BlockStart::Text("é\n".to_owned()),
        BlockStart::Thinking { thinking: "h".to_owned(), signature: "s".to_owned() },
        BlockStart::ToolUse { id: "toolu_1".into(), name: "Read".to_owned() },
        BlockStart::Whole(ContentBlock::text("x")),
        BlockStart::Whole(ContentBlock::Thinking { thinking: "h".to_owned(), signature: "s".to_owned() }),
        BlockStart::Whole(ContentBlock::ToolUse(ToolUse::new("t", "Read", json(r#"{"a":1.0}"#)))),
        BlockStart::Whole(ContentBlock::RedactedThinking { data: "x".to_owned() }),
        BlockStart::Whole(ContentBlock::Unknown(json(r#"{"type":"new", "x":1.50}"#))),
    ];
    let deltas = [
        StreamDelta::Text("a".to_owned()),
        StreamDelta::Thinking("a".to_owned()),
        StreamDelta::Signature("a".to_owned()),
        StreamDelta::ToolInput("{\"a\"".to_owned()),
        StreamDelta::Unknown,
    ];
    let mut events = vec![
        ModelEvent::MessageStart { id: "msg".into(), model: "m".to_owned(), usage: usage() },
        ModelEvent::BlockStop { index: 3 },
        ModelEvent::MessageDelta { stop_reason: None, usage: usage() },
        ModelEvent::MessageDelta { stop_reason: Some(StopReason::ToolUse), usage: Usage::new(1, 0) },
        ModelEvent::MessageDelta { stop_reason: Some("novel".into()), usage: Usage::default() },
        ModelEvent::MessageStop,
        ModelEvent::RateLimit(Box::new(RateLimit::new(RateLimitStatus::Rejected))),
        ModelEvent::RateLimit(Box::new(
            RateLimit::new("novel".into())
                .with_kind(Some(RateLimitKind::FiveHour))
                .with_utilization(Utilization::new(0.1))
                .with_overage(Some(RateLimitStatus::Allowed), Some(2)),
        )),
        ModelEvent::Ping,
        ModelEvent::Unknown,
    ];
    events.extend(starts.into_iter().map(|block| ModelEvent::BlockStart { index: 2, block }));
    events.extend(deltas.into_iter().map(|delta| ModelEvent::BlockDelta { index: 1, delta }));
    for event in events {
        let text = event_json(&event);
        assert_eq!(read_event(text.as_str()).unwrap(), event, "{text}");
    }
}

#[test]
fn frames_look_like_those_of_the_api() {
    let start = ModelEvent::BlockStart {
        index: 0,
        block: BlockStart::ToolUse { id: "toolu_1".into(), name: "Read".to_owned() },
    };
    assert_eq!(
        event_json(&start).as_str(),
        r#"{"type":"content_block_start","index":0,"content_block":{"type":"tool_use","id":"toolu_1","name":"Read","input":{}}}"#
    );
    let stop = ModelEvent::MessageDelta { stop_reason: Some(StopReason::EndTurn), usage: Usage::new(3, 9) };
    assert_eq!(
        event_json(&stop).as_str(),
        concat!(
            r#"{"type":"message_delta","delta":{"stop_reason":"end_turn","stop_sequence":null},"#,
            r#""usage":{"input_tokens":3,"cache_creation_input_tokens":0,"cache_read_input_tokens":0,"output_tokens":9}}"#
        )
    );
}

#[test]
fn incomplete_frames_are_refused_and_unknown_ones_are_not() {
    for bad in ["", "{}", r#"{"type":"message_start"}"#, r#"{"type":"content_block_stop"}"#] {
        assert!(read_event(bad).is_err(), "{bad}");
    }
    assert_eq!(read_event(r#"{"type":"later","index":"x1"}"#).ok(), None);
    assert_eq!(read_event(r#"{"type":"later","x":1}"#).unwrap(), ModelEvent::Unknown);
}
