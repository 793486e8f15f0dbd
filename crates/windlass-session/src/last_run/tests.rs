//! Logs that end at any point.

use super::*;
use std::sync::Arc;
use windlass_types::{
    Api, AssistantEntry, ContentBlock, JsonText, NanoUsd, Origin, RunRecord, Timestamp, ToolResult, ToolUse, Usage,
    UserEntry,
};

fn entry(number: u128, kind: EntryKind) -> Entry {
    Entry::new(EntryId::from_bits(number), None, Timestamp::default(), kind)
}

fn user(number: u128, run: &str) -> Entry {
    let mut user = UserEntry::new(vec![ContentBlock::text("hi")]);
    user.run = Some(run.into());
    entry(number, EntryKind::User(user))
}

fn message(number: u128, content: ContentBlock, is_own: bool) -> Entry {
    let ids = vec![EntryId::from_bits(number)];
    let reason = Some(StopReason::EndTurn);
    let mut message = AssistantEntry::new("m".into(), "model".into(), vec![content], ids, reason, Usage::default());
    message.origin = is_own.then(|| Arc::new(Origin::new(Api::new("anthropic", "messages"), "model", "model")));
    entry(number, EntryKind::Assistant(message))
}

fn call(number: u128) -> Entry {
    message(number, ContentBlock::ToolUse(ToolUse::new("t", "Bash", JsonText::empty_object())), true)
}

fn result(number: u128, synthetic: bool) -> Entry {
    let mut result = ToolResultEntry::new(ToolResult::ok("t", "done"), EntryId::from_bits(2));
    result.synthetic = synthetic;
    entry(number, EntryKind::ToolResult(result))
}

fn finished(number: u128, run: &str, outcome: &str) -> Entry {
    entry(number, EntryKind::RunFinished(RunRecord::new(run.into(), outcome, 1, NanoUsd::ZERO, Default::default())))
}

fn resumed(number: u128, run: &str, of: &str) -> Entry {
    entry(number, EntryKind::RunResumed { run: run.into(), of: of.into(), turns: 0 })
}

#[test]
fn a_run_is_open_until_the_log_has_its_end() {
    let log = [
        user(1, "r"),
        call(2),
        result(3, false),
        message(4, ContentBlock::text("Done."), true),
        finished(5, "r", "success"),
    ];
    let open: Vec<Option<(u32, bool)>> = (0..=log.len())
        .map(|end| LastRun::of(&log[..end]).open().map(|open| (open.turns, open.answered.is_some())))
        .collect();
    assert_eq!(open, [None, Some((0, false)), Some((1, false)), Some((1, false)), Some((2, true)), None]);
}

#[test]
fn an_answer_of_another_program_ends_its_run() {
    let log = [user(1, "r"), message(2, ContentBlock::text("Done."), false)];
    assert_eq!(LastRun::of(&log).open(), None);
    assert!(LastRun::of(&log[..1]).open().is_some());
}

#[test]
fn resumes_count_until_there_is_progress() {
    let mut log = vec![user(1, "r"), resumed(2, "r2", "r"), resumed(3, "r3", "r2")];
    let resumes = |log: &[Entry]| LastRun::of(log).open().map(|open| (open.run.to_string(), open.resumes));
    assert_eq!(resumes(&log), Some(("r3".to_owned(), 2)));
    log.push(result(4, true));
    assert_eq!(resumes(&log), Some(("r3".to_owned(), 2)));
    log.push(call(5));
    assert_eq!(resumes(&log), Some(("r3".to_owned(), 0)));
    log.extend([resumed(6, "r4", "r3"), finished(7, "r4", "error_during_execution")]);
    assert_eq!(resumes(&log), None);
}

#[test]
fn a_run_that_waits_is_open_again_when_its_calls_go_on() {
    let mut log = vec![user(1, "r"), call(2), finished(3, "r", WAITING_OUTCOME)];
    assert_eq!(LastRun::of(&log).open(), None);
    log.push(resumed(4, "r2", "r"));
    assert!(LastRun::of(&log).open().is_some());
    log.push(finished(5, "r2", WAITING_OUTCOME));
    assert_eq!(LastRun::of(&log).open(), None);
}

#[test]
fn accepted_messages_wait_until_they_are_read_or_dropped() {
    let queued = |number: u128| {
        let prompt = QueuedPrompt::new(EntryId::from_bits(number), vec![ContentBlock::text("and this")]);
        EntryKind::PromptQueued(prompt)
    };
    let mut last = LastRun::of(&[user(1, "r"), entry(50, queued(7)), entry(51, queued(8)), entry(52, queued(9))]);
    assert_eq!(last.queued().len(), 3);
    last.apply(&user(8, "r"));
    last.apply(&entry(53, EntryKind::PromptUnqueued(EntryId::from_bits(9))));
    assert_eq!(last.queued().iter().map(|prompt| prompt.id.clone()).collect::<Vec<_>>(), [EntryId::from_bits(7)]);
    assert!(last.has_queued(&EntryId::from_bits(7)) && !last.has_queued(&EntryId::from_bits(8)));
}

#[test]
fn a_run_goes_on_behind_its_own_compaction() {
    let mut summary = UserEntry::new(vec![ContentBlock::text("The conversation so far")]);
    summary.is_summary = true;
    let resumed = EntryKind::RunResumed { run: "r".into(), of: "r".into(), turns: 2 };
    // The log is read from the summary on, with what stands beside the conversation.
    let log = [
        entry(1, EntryKind::PromptQueued(QueuedPrompt::new(EntryId::from_bits(9), Vec::new()))),
        entry(2, EntryKind::PromptUnqueued(EntryId::from_bits(9))),
        entry(3, resumed),
        entry(4, EntryKind::User(summary)),
    ];
    let last = LastRun::of(&log);
    let open = last.open().unwrap();
    assert_eq!((open.run, open.turns, open.resumes), ("r".into(), 2, 0));
    assert!(last.queued().is_empty());
}
