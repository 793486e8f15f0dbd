use super::*;
use crate::responses::frame::ResponseFrame;
use proptest::prelude::*;
use serde_json::json;

fn parsed(data: &str) -> Option<String> {
    let frame: ResponseFrame<'_> = serde_json::from_str(data).ok()?;
    Some(format!(
        "{} {:?} {:?} {:?} {:?} {:?}",
        frame.kind, frame.output_index, frame.item_id, frame.content_index, frame.summary_index, frame.delta
    ))
}

fn read(data: &str) -> Option<String> {
    let delta = DeltaFrame::read(data)?;
    Some(format!(
        "{} {:?} {:?} {:?} {:?} {:?}",
        delta.kind,
        delta.output_index,
        delta.item_id,
        delta.content_index,
        delta.summary_index,
        Some(&delta.text)
    ))
}

#[test]
fn deltas_are_read_in_any_order() {
    for data in [
        r#"{"type":"response.output_text.delta","sequence_number":4,"item_id":"msg_1","output_index":0,"content_index":0,"delta":"Hi","logprobs":[],"obfuscation":"aX"}"#,
        r#"{"content_index":12,"delta":"a \"b\" \\ é \u00e9\n","item_id":"m","output_index":3,"type":"response.refusal.delta"}"#,
        r#"{"delta":"\\\\\"","type":"response.function_call_arguments.delta","output_index":1} "#,
        r#"{"type":"response.reasoning_summary_text.delta","summary_index":2,"delta":""}"#,
    ] {
        assert!(read(data).is_some(), "{data}");
        assert_eq!(read(data), parsed(data));
    }
}

#[test]
fn everything_else_is_for_the_parser() {
    for data in [
        "",
        "{}",
        r#"{"type":"response.output_text.done","text":"x"}"#,
        r#"{"type":"response.output_text.delta"}"#,
        r#"{"type":"x.delta","delta":1}"#,
        r#"{"type":"x.delta","delta":"a","output_index":1.0}"#,
        r#"{"type":"x.delta","delta":"a","output_index":01}"#,
        r#"{"type":"x.delta","delta":"a","output_index":-1}"#,
        r#"{"type":"x.delta","delta":"a","output_index":1234567890}"#,
        r#"{"type":"x.delta","delta":"a","output_index":}"#,
        r#"{"type":"x.delta","delta":"a","output_index":1e2}"#,
        r#"{"type":"x.delta","delta":"a","delta":"b"}"#,
        r#"{"type":"x.delta","delta":"a",}"#,
        r#"{"type":"x.delta","delta":"a"}}"#,
        r#"{"type":"x.delta","delta":"a"},{}"#,
        r#"{"type":"x.delta","delta":"\x"}"#,
        r#"{"type":"x.delta","delta":"a"#,
        r#"{"type":"x.delta","delta":"a","logprobs":[1]}"#,
        r#"{"type":"x.delta","delta":"a","later":"b"}"#,
        "{\"type\":\"x.delta\",\"delta\":\"a\u{1}\"}",
        r#"{ "type":"x.delta","delta":"a"}"#,
    ] {
        assert!(read(data).is_none(), "{data}");
    }
}

proptest! {
    #[test]
    fn what_is_read_is_what_the_parser_reads(text in ".{0,20}", id in "[a-z_\"]{0,8}", place in 0..1000_usize, cut in 0..200_usize) {
        let data = json!({"type": "response.output_text.delta", "delta": text, "item_id": id, "output_index": place}).to_string();
        if let Some(delta) = read(&data) {
            prop_assert_eq!(Some(delta), parsed(&data));
        }
        if let Some((begin, _)) = data.split_at_checked(cut) && begin.len() < data.len() {
            prop_assert!(read(begin).is_none());
        }
    }
}
