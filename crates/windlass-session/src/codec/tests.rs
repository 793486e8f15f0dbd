use super::*;
use windlass_types::{ContentBlock, EntryKind, StopReason};

#[test]
fn one_field_of_a_wrong_type_spoils_no_other() {
    let line = r#"{"parentUuid":7,"isSidechain":"no","type":"assistant","uuid":"u","timestamp":[],"message":{"id":1,"role":"assistant","model":null,"content":[{"type":"text","text":"x"},{"type":"text"},5],"stop_reason":"weird","usage":"lots"}}"#;
    let decoded = decode(line).unwrap();
    assert_eq!(decoded.parent, Parent::Unreadable);
    assert_eq!(decoded.timestamp, None);
    assert_eq!(decoded.warnings.len(), 2);
    let Body::Assistant(message) = decoded.body else { panic!("{:?}", decoded.body) };
    assert_eq!(message.content, [ContentBlock::text("x")]);
    assert_eq!(message.stop_reason, Some(StopReason::Other("weird".to_owned())));
}

#[test]
fn lines_that_are_no_messages_are_refused_or_kept_as_they_are() {
    for refused in [
        "{}",
        r#"{"type":5}"#,
        r#"{"type":"user"}"#,
        r#"{"type":"user","message":"x"}"#,
        r#"{"type":"user","message":{"content":5}}"#,
        r#"{"type":"assistant","message":{"content":[{"type":"text"}]}}"#,
        r#"{"type":"windlass-checksum"}"#,
    ] {
        assert!(decode(refused).is_err(), "{refused}");
    }
    for kept in [
        r#"{"type":"queue-operation","operation":"enqueue","n":1.0}"#,
        r#"{"type":"mode","mode":"normal"}"#,
        r#"{"type":"cost-state","totalCostUSD":1}"#,
        r#"{"type":"windlass-intent","newer":true}"#,
        r#"{"type":"windlass-of-tomorrow"}"#,
    ] {
        let Body::Beside(EntryKind::Foreign(json)) = decode(kept).unwrap().body else { panic!("{kept}") };
        assert_eq!(json.as_str(), kept);
    }
}

#[test]
fn no_parent_and_an_unreadable_one_are_told_apart() {
    let line = |parent: &str| format!(r#"{{{parent}"type":"user","message":{{"content":"x"}}}}"#);
    assert_eq!(decode(&line(r#""parentUuid":null,"#)).unwrap().parent, Parent::Root);
    assert_eq!(decode(&line(r#""parentUuid":"p","#)).unwrap().parent, Parent::Line("p".into()));
    for unreadable in ["", r#""parentUuid":"","#, r#""parentUuid":{},"#] {
        assert_eq!(decode(&line(unreadable)).unwrap().parent, Parent::Unreadable, "{unreadable}");
    }
}
