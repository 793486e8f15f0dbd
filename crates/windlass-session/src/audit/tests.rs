use super::*;
use crate::{LogEncoder, LogHeader};
use proptest::prelude::*;
use std::path::Path;
use windlass_types::{
    AssistantEntry, Behavior, ContentBlock, Decision, DecisionReason, Entry, EntryKind, HookVerdict, MatchedRule,
    RuleSource, ToolResult, ToolResultEntry, ToolUse, Usage, UserEntry,
};

fn encoder() -> LogEncoder {
    LogEncoder::new("12345678-1234-4234-8234-123456789abc".into(), LogHeader::new("/w", "1.0.0", "cli"))
}

fn entry(number: u8, kind: EntryKind) -> Entry {
    let id = format!("00000000-0000-4000-8000-0000000000{number:02}");
    Entry::new(id.as_str().into(), None, Timestamp::from_millis(u64::from(number) * 1000), kind)
}

fn message(calls: &[(&str, &str, &str)]) -> EntryKind {
    let blocks: Vec<ContentBlock> = calls
        .iter()
        .map(|(id, tool, input)| ContentBlock::ToolUse(ToolUse::new(*id, *tool, JsonText::parse(*input).unwrap())))
        .collect();
    let ids = (0..blocks.len()).map(|at| EntryId::from(format!("00000000-0000-4000-8000-1000000000{at:02}").as_str()));
    let ids = ids.collect();
    EntryKind::Assistant(AssistantEntry::new("msg".into(), "m".into(), blocks, ids, None, Usage::default()))
}

fn verdict(id: &str, behavior: Behavior, reason: DecisionReason) -> AuditedDecision {
    AuditedDecision::new(id.into(), None, Decision::new(behavior, reason, "why"))
}

fn result(id: &str, structured: Option<&str>) -> EntryKind {
    let mut entry = ToolResultEntry::new(ToolResult::ok(id, "ok"), "00000000-0000-4000-8000-100000000000".into());
    entry.structured = structured.map(|json| JsonText::parse(json).unwrap());
    EntryKind::ToolResult(entry)
}

/// Returns a log of two batches: a message with two calls and a verdict, then their results.
fn log() -> Vec<u8> {
    let (mut encoder, mut out) = (encoder(), Vec::new());
    let rule = MatchedRule::new("Bash(rm *)", Behavior::Deny, RuleSource::ProjectSettings);
    let mut denied = verdict("b", Behavior::Deny, DecisionReason::Rule);
    denied.decision = denied.decision.with_rule(rule);
    denied.hook = Some(HookVerdict::new(Behavior::Allow, "guard", "fine"));
    let mut user = UserEntry::new(vec![ContentBlock::text("go")]);
    user.permission_mode = Some(PermissionMode::AcceptEdits);
    let first = [
        EntryKind::User(user),
        message(&[("a", "Edit", r#"{"file_path":"/w/src/lib.rs"}"#), ("b", "Bash", r#"{"command":"rm x"}"#)]),
        EntryKind::Decision(verdict("a", Behavior::Allow, DecisionReason::Mode)),
        EntryKind::Intent {
            tool_use_id: "a".into(),
            assistant: "x".into(),
            digest: windlass_types::CallDigest::new("d"),
        },
        EntryKind::Decision(denied),
    ];
    let patch = r#"{"filePath":"/w/src/lib.rs","structuredPatch":[{"lines":["+a","-b"," c","+d"]}]}"#;
    let second = [result("a", Some(patch))];
    let mut number = 0;
    for batch in [&first[..], &second[..]] {
        for kind in batch {
            number += 1;
            encoder.entry(&entry(number, kind.clone()), &mut out);
        }
        encoder.checksum(&mut out);
    }
    out
}

#[test]
fn each_call_has_its_reasons() {
    let audit = audit_log(log().as_slice()).unwrap();
    assert_eq!((audit.lines.altered.len(), audit.lines.unchecked.len()), (0, 0), "{:?}", audit.lines);
    let [edit, bash] = audit.calls.as_slice() else { panic!("{:?}", audit.calls) };
    assert_eq!((edit.tool.as_deref(), edit.mode), (Some("Edit"), Some(PermissionMode::AcceptEdits)));
    assert_eq!((edit.begun, edit.lines), (Some(Timestamp::from_millis(4000)), LineState::Checked));
    assert!(edit.changed.iter().all(|file| file.is_at(Path::new("src/lib.rs")) && !file.is_at(Path::new("rc/lib.rs"))));
    assert_eq!((edit.changed[0].added, edit.changed[0].removed), (Some(2), Some(1)));
    let judged = &bash.verdicts[0].verdict;
    assert_eq!(judged.decision.rule.as_ref().unwrap().rule, "Bash(rm *)");
    assert_eq!(judged.hook.as_ref().unwrap().hook, "guard");
    assert!(bash.begun.is_none() && bash.result.is_none());
}

#[test]
fn a_log_without_verdicts_says_less() {
    let lines = concat!(
        r#"{"type":"assistant","uuid":"u1","parentUuid":null,"message":{"id":"m","role":"assistant","content":[{"type":"tool_use","id":"t","name":"Write","input":{"file_path":"/w/a"}}]}}"#,
        "\n",
        r#"{"type":"user","uuid":"u2","parentUuid":"u1","message":{"role":"user","content":[{"type":"tool_result","tool_use_id":"t","content":"ok"}]}}"#,
        "\n",
    );
    let audit = audit_log(lines.as_bytes()).unwrap();
    assert_eq!(audit.lines.unchecked, [LineRange { first: 1, last: 2 }]);
    let call = &audit.calls[0];
    assert!(call.verdicts.is_empty() && call.begun.is_none() && call.lines == LineState::Unchecked);
    assert_eq!(call.changed, [FileChanged { path: "/w/a".into(), added: None, removed: None }]);
}

#[test]
fn verdicts_of_older_logs_are_read() {
    let old = r#"{"tool_use_id":"t","digest":null,"decision":{"behavior":"allow","reason":"mode","message":"m","rule":null,"protected":false,"suggestions":[],"blocked_path":null}}"#;
    let read: AuditedDecision = serde_json::from_str(old).unwrap();
    assert!(read.hook.is_none() && read.answer.is_none());
    assert_eq!(serde_json::to_string(&read).unwrap(), old);
}

#[test]
fn a_line_of_another_program_is_marked() {
    let mut bytes = log();
    bytes.extend(b"{\"type\":\"summary\",\"summary\":\"x\"}\n");
    let audit = audit_log(bytes.as_slice()).unwrap();
    let total = audit.lines.total;
    assert_eq!(audit.lines.unchecked, [LineRange { first: total, last: total }]);
}

#[test]
fn a_head_covers_what_was_synced() {
    let whole = log();
    let head = LogHead::of(whole.as_slice()).unwrap();
    assert_eq!(head.bytes, whole.len() as u64);
    assert_eq!(head.to_string().parse::<LogHead>().unwrap(), head);
    for log in ["12345678-1234-4234-8234-123456789abc", "12345678-1234-4234-8234-123456789abc/a1"] {
        let text = format!("{log}@{head}");
        assert_eq!(text.parse::<NamedHead>().unwrap().to_string(), text);
    }
    for bad in [format!("x@{head}"), format!("12345678-1234-4234-8234-123456789abc/../x@{head}"), head.to_string()] {
        assert_eq!(bad.parse::<NamedHead>(), Err(BadHead), "{bad}");
    }
    let mut longer = whole.clone();
    longer.extend(b"{\"type\":\"user\"}\n{\"torn");
    assert_eq!(LogHead::of(longer.as_slice()).unwrap(), head);
    assert_eq!(head.check(longer.as_slice()).unwrap(), HeadCheck::Holds);
    for bad in ["", "v1", "v2:1:1:00", "v1:1:1:zz", "v1:-1:1:00", "v1:1:1:00:x"] {
        assert_eq!(bad.parse::<LogHead>(), Err(BadHead), "{bad}");
    }
    assert_eq!(LogHead::of(&b""[..]).unwrap().check(&b"x"[..]).unwrap(), HeadCheck::Holds);
}

proptest! {
    #[test]
    fn any_change_shows(at in 0usize..100_000, change in prop_oneof![Just(0u8), Just(1), Just(2)], byte in 1u8..) {
        let whole = log();
        let head = LogHead::of(whole.as_slice()).unwrap();
        let at = at % whole.len();
        let mut changed = whole.clone();
        match change {
            0 => changed[at] ^= byte,
            1 => drop(changed.remove(at)),
            _ => changed.insert(at, byte),
        }
        prop_assume!(!changed.starts_with(&whole));
        prop_assert_ne!(head.check(changed.as_slice()).unwrap(), HeadCheck::Holds);
    }

    #[test]
    fn a_changed_batch_does_not_match_its_checksum(at in 0usize..100_000) {
        let mut bytes = log();
        // Digits of times, so that the lines stay records.
        let places: Vec<usize> = bytes.windows(12).enumerate().filter(|(_, w)| w.starts_with(b"\"timestamp\":")).map(|(at, _)| at + 15).collect();
        let place = places[at % places.len()];
        bytes[place] = if bytes[place] == b'7' { b'8' } else { b'7' };
        prop_assert!(!audit_log(bytes.as_slice()).unwrap().lines.altered.is_empty());
    }

    #[test]
    fn any_bytes_are_audited(bytes in prop::collection::vec(any::<u8>(), 0..400)) {
        let audit = audit_log(bytes.as_slice()).unwrap();
        let head = LogHead::of(bytes.as_slice()).unwrap();
        prop_assert_eq!(head.check(bytes.as_slice()).unwrap(), HeadCheck::Holds);
        prop_assert!(audit.lines.unchecked.iter().all(|range| range.first <= range.last && range.last <= audit.lines.total));
    }
}
