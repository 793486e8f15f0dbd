use super::*;
use crate::{INTERRUPTED, OUTCOME_UNKNOWN, Transcript};
use windlass_types::{AuditedDecision, Behavior, CallDigest, Decision, DecisionReason, JsonText, ToolUse, Usage};

fn at(number: u128, parent: Option<u128>, kind: EntryKind) -> Entry {
    Entry::new(EntryId::from_bits(number), parent.map(EntryId::from_bits), Timestamp::from_millis(number as u64), kind)
}

fn user(number: u128, text: &str) -> Entry {
    at(number, None, EntryKind::User(UserEntry::new(vec![ContentBlock::text(text)])))
}

fn assistant(number: u128, calls: &[&str]) -> Entry {
    let mut content = vec![ContentBlock::text("a")];
    content.extend(calls.iter().map(|id| ContentBlock::ToolUse(ToolUse::new(*id, "Bash", JsonText::empty_object()))));
    let ids = (0..content.len() as u128).map(|block| EntryId::from_bits(number - block)).rev().collect();
    let entry = AssistantEntry::new("m".into(), "m".into(), content, ids, None, Usage::default());
    at(number, None, EntryKind::Assistant(entry))
}

fn result(number: u128, line: u128, id: &str, text: &str) -> Entry {
    let entry = ToolResultEntry::new(ToolResult::ok(id, text), EntryId::from_bits(line));
    at(number, Some(line), EntryKind::ToolResult(entry))
}

fn intent(number: u128, line: u128, id: &str) -> Entry {
    let (assistant, digest) = (EntryId::from_bits(line), CallDigest::new("d"));
    at(number, None, EntryKind::Intent { tool_use_id: id.into(), assistant, digest })
}

fn results(entries: &[Entry]) -> Vec<String> {
    let messages = Transcript::from_entries(entries).messages();
    let blocks = messages.iter().flat_map(|message| &message.content);
    blocks
        .filter_map(ContentBlock::as_tool_result)
        .map(|result| format!("{}={}", result.tool_use_id, result.content.text()))
        .collect()
}

#[test]
fn a_started_call_has_an_unknown_outcome_and_another_did_not_run() {
    let (entries, report) =
        repair(vec![user(1, "u"), assistant(12, &["x", "y", "z"]), intent(20, 11, "y"), result(21, 12, "z", "ok")]);
    assert_eq!(results(&entries), [format!("x={INTERRUPTED}"), format!("y={OUTCOME_UNKNOWN}"), "z=ok".to_owned()]);
    assert_eq!(report.synthetic.len(), 2);
    assert_eq!(report.synthetic[0].parent, Some(EntryId::from_bits(10)));
    assert_ne!(report.synthetic[0].id, report.synthetic[1].id);
    assert!(report.synthetic.iter().all(|entry| entry.timestamp == Timestamp::from_millis(12)));
}

#[test]
fn ids_that_come_again_are_answered_once_for_each_occurrence() {
    let (entries, report) = repair(vec![
        user(1, "u"),
        assistant(12, &["x"]),
        result(13, 12, "x", "first"),
        result(14, 12, "x", "again"),
        assistant(22, &["x"]),
        user(30, "v"),
        assistant(42, &["x"]),
        result(43, 42, "x", "third"),
    ]);
    assert_eq!(results(&entries), ["x=first".to_owned(), format!("x_2={INTERRUPTED}"), "x_3=third".to_owned()]);
    assert_eq!((report.dropped_results, report.synthetic.len()), (1, 1));
    // The appended entry uses the id of the log for the call.
    let EntryKind::ToolResult(made) = &report.synthetic[0].kind else { panic!("{report:?}") };
    assert_eq!(made.result.tool_use_id.as_str(), "x");
    let renamed: Vec<_> = report.renamed.iter().map(|call| (call.given.as_str(), call.id.as_str())).collect();
    assert_eq!(renamed, [("x", "x_2"), ("x", "x_3")]);
}

#[test]
fn what_is_noted_of_a_call_goes_by_its_new_id() {
    let decision = AuditedDecision::new("x".into(), None, Decision::new(Behavior::Allow, DecisionReason::Rule, ""));
    let (entries, report) = repair(vec![
        user(1, "u"),
        assistant(12, &["x"]),
        result(13, 12, "x", "first"),
        assistant(22, &["x", "x_2", ""]),
        at(23, None, EntryKind::Decision(decision)),
        intent(24, 21, "x"),
        // Of the first message, and late.
        intent(25, 12, "x"),
        result(26, 22, "", "third"),
        result(27, 22, "x_2", "second"),
    ]);
    assert_eq!(
        results(&entries),
        ["x=first".to_owned(), format!("x_2={OUTCOME_UNKNOWN}"), "x_2_2=second".to_owned(), "call_1=third".to_owned(),]
    );
    let noted: Vec<&str> = entries
        .iter()
        .filter_map(|entry| match &entry.kind {
            EntryKind::Decision(decision) => Some(decision.tool_use_id.as_str()),
            EntryKind::Intent { tool_use_id, .. } => Some(tool_use_id.as_str()),
            _ => None,
        })
        .collect();
    assert_eq!(noted, ["x_2", "x_2", "x"]);
    assert_eq!(report.renamed.len(), 3);
    assert_eq!(repair(entries.clone()), (entries, RepairReport::default()));
}

#[test]
fn a_late_result_returns_to_its_call() {
    let (entries, report) = repair(vec![
        user(1, "u"),
        assistant(12, &["x"]),
        user(20, "v"),
        assistant(32, &[]),
        result(33, 12, "x", "late"),
        result(34, 99, "x", "of nothing"),
    ]);
    assert_eq!(results(&entries), ["x=late"]);
    assert_eq!((report.moved_results, report.dropped_results, report.synthetic.len()), (1, 1, 0));
}

#[test]
fn a_conversation_without_a_beginning_gets_one() {
    let (entries, report) = repair(vec![assistant(12, &[]), user(20, " "), user(21, "v")]);
    assert!(report.beginning_lost);
    assert_eq!(report.dropped_messages, 1);
    let (again, report) = repair(entries.clone());
    assert!(report.is_clean());
    assert_eq!(again, entries);
}

#[test]
fn an_empty_log_needs_no_repair() {
    assert_eq!(repair(Vec::new()), (Vec::new(), RepairReport::default()));
}
