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
fn no_parent_and_an_unreadable_one_are_distinguished() {
    let line = |parent: &str| format!(r#"{{{parent}"type":"user","message":{{"content":"x"}}}}"#);
    assert_eq!(decode(&line(r#""parentUuid":null,"#)).unwrap().parent, Parent::Root);
    assert_eq!(decode(&line(r#""parentUuid":"p","#)).unwrap().parent, Parent::Line("p".into()));
    for unreadable in ["", r#""parentUuid":"","#, r#""parentUuid":{},"#] {
        assert_eq!(decode(&line(unreadable)).unwrap().parent, Parent::Unreadable, "{unreadable}");
    }
}

#[test]
fn the_lines_of_an_agent_name_it_and_only_its_own_log_counts_them() {
    use crate::{LogHeader, ProjectKey, SessionKey, check_log, export_messages, read_agent_log, read_log};
    use windlass_types::{CompactRecord, CompactTrigger, Entry, Timestamp, UserEntry};
    let key = SessionKey::new(ProjectKey::from_slug("-p"), "s".into()).of_agent("a1".into());
    let mut encoder = LogEncoder::of(&key, LogHeader::new("/w", "1", "test"));
    let user = UserEntry::new(vec![ContentBlock::text("hi")]);
    let record = CompactRecord::new(CompactTrigger::Manual, 5, 2, Some("e1".into()));
    let entries = [
        Entry::new("e1".into(), None, Timestamp::default(), EntryKind::User(user.clone())),
        Entry::new("e2".into(), None, Timestamp::default(), EntryKind::Compacted(record)),
        Entry::new("e3".into(), Some("e2".into()), Timestamp::default(), EntryKind::User(user)),
    ];
    let mut log = Vec::new();
    entries.iter().for_each(|entry| encoder.entry(entry, &mut log));
    encoder.checksum(&mut log);
    let lines: Vec<serde_json::Value> =
        log.split(|byte| *byte == b'\n').filter_map(|line| serde_json::from_slice(line).ok()).collect();
    for line in &lines[..3] {
        assert_eq!(
            (&line["isSidechain"], &line["agentId"], &line["sessionId"]),
            (&true.into(), &"a1".into(), &"s".into())
        );
    }
    let read = read_agent_log(log.as_slice()).unwrap();
    assert_eq!((read.report.messages, read.report.off_branch), (2, 0));
    assert_eq!(read.report.warnings, Vec::<String>::new());
    assert_eq!(read_log(log.as_slice()).unwrap().report.messages, 0, "in a session's log they are another's");
    assert!(check_log(log.as_slice()).unwrap().valid);
    assert!(export_messages(log.as_slice()).unwrap().contains("hi"));
    // A line outside agents' conversations makes it the log of a session.
    log.extend(br#"{"type":"user","uuid":"m1","parentUuid":null,"message":{"role":"user","content":"main"}}"#);
    let messages = export_messages(log.as_slice()).unwrap();
    assert!(messages.contains("main") && !messages.contains("hi"), "{messages}");
}
