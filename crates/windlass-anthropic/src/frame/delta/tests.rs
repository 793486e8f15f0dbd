use proptest::prelude::*;
use windlass_types::JsonText;

use super::*;

fn members<'a>(frame: &'a MessagesFrame<'_>) -> (&'a str, Option<usize>, Option<[Option<&'a str>; 7]>, bool) {
    let delta = frame.delta.as_ref().map(|delta| {
        let FrameDelta { kind, text, thinking, signature, partial_json, stop_reason, citation } = delta;
        let [text, thinking, signature] = [text, thinking, signature].map(Option::as_deref);
        [
            Some(&**kind),
            text,
            thinking,
            signature,
            partial_json.as_deref(),
            stop_reason.as_deref(),
            citation.map(serde_json::value::RawValue::get),
        ]
    });
    let has_more = frame.content_block.is_some() || frame.message.is_some() || frame.usage.is_some();
    (&frame.kind, frame.index, delta, has_more)
}

/// Checks that an event read without the parser is valid JSON, and that the parser reads the same. Returns `true` if it
/// was read.
fn check(data: &str) -> bool {
    let Some(frame) = read(data) else { return false };
    let parsed: MessagesFrame<'_> = serde_json::from_str(data).expect(data);
    assert_eq!(members(&frame), members(&parsed), "{data}");
    assert!(JsonText::parse(data).is_ok(), "{data}");
    true
}

fn event(kind: &str, member: &str, literal: &str) -> String {
    format!(r#"{{"type":"content_block_delta","index":3,"delta":{{"type":"{kind}","{member}":{literal}}}}}"#)
}

const KINDS: [(&str, &str); 3] =
    [("text_delta", "text"), ("thinking_delta", "thinking"), ("input_json_delta", "partial_json")];

#[test]
fn the_form_of_the_api_is_read_without_the_parser() {
    for (kind, member) in KINDS {
        for text in ["", "some words ", "a\"b\\", "\n\t\u{8}\u{1}", "é€😀", "}}", "\"}}", "{\"a\":\"", "\u{2028}"]
        {
            let data = event(kind, member, &serde_json::to_string(text).unwrap());
            assert!(check(&data), "{data}");
            let padded = data.replace("}}", "} } ");
            assert!(check(&padded) || text.contains("}}"), "{padded}");
        }
        assert!(check(&event(kind, member, r#""\u00e9\ud83d\ude00\/""#)));
    }
}

#[test]
fn everything_else_is_left_to_the_parser() {
    let text = |literal| event("text_delta", "text", literal);
    let plain = text(r#""x""#);
    for data in [
        String::new(),
        "[DONE]".to_owned(),
        plain.replace("text_delta", "citations_delta"),
        plain.replace("\"index\":3", "\"index\":03"),
        plain.replace("\"index\":3", "\"index\":-3"),
        plain.replace("\"index\":3", "\"index\":3.0"),
        plain.replace("\"index\":3", "\"index\": 3"),
        plain.replace("\"index\":3", "\"index\":"),
        plain.replace("\"index\":3", "\"index\":99999999999999999999"),
        plain.replace("\"index\":3,", "\"index\":3,\"more\":1,"),
        format!("{plain}}}"),
        format!("{plain} x"),
        plain.trim_end_matches('}').to_owned(),
        plain.replace("}}", "},\"more\":{}}"),
        text(r#""x","text":"y""#),
        text(r#""x","more":"y""#),
        text(r#""\ud800""#),
        text(r#""\q""#),
        text("\"a\u{1}b\""),
        text("\"a\nb\""),
        text("1"),
        text("null"),
        text("\""),
        text("\"\\\""),
    ] {
        assert!(read(&data).is_none(), "{data}");
    }
}

proptest! {
    #[test]
    fn what_is_read_is_what_the_parser_reads(
        kind in 0_usize..3,
        literal in r#"("?)[ -~\t\n\\"{},:é\u{2028}]{0,12}("?)"#,
        end in r"[ }\t]{0,5}",
    ) {
        let (kind, member) = KINDS[kind];
        let data = event(kind, member, &literal);
        check(&data);
        check(&format!("{}{end}", data.trim_end_matches('}')));
    }

    #[test]
    fn every_text_is_read(kind in 0_usize..3, text in any::<String>()) {
        let (kind, member) = KINDS[kind];
        prop_assert!(check(&event(kind, member, &serde_json::to_string(&text).unwrap())));
    }
}
