use super::*;
use crate::conversation::AcpConversation;
use serde_json::json;
use std::sync::atomic::{AtomicU64, Ordering};
use windlass_conversation::{ConversationOptions, OpenFailure};
use windlass_types::{
    AgentIdentity, CompactTrigger, RunStarted, TaskEnded, TaskInfo, TaskKind, TaskStatus, ToolResult, WithdrawReason,
};

#[derive(Debug, Default)]
struct Counted(AtomicU64);

impl Ids for Counted {
    fn bits(&self) -> u128 {
        u128::from(self.0.fetch_add(1, Ordering::Relaxed))
    }
}

fn presenter(client: ClientAbilities) -> SessionPresenter {
    let conversation =
        AcpConversation::new(ConversationOptions::default(), |_, _| async { Err(OpenFailure::from("none")) });
    SessionPresenter::new("/w".into(), client, Settings::of(&conversation), Arc::new(Counted::default()))
}

fn all() -> ClientAbilities {
    ClientAbilities { notices: true, compaction: true, ..ClientAbilities::default() }
}

/// Shows an event of an agent, and returns the updates.
fn show(presenter: &mut SessionPresenter, agent: &AgentPath, kind: EventKind) -> Vec<Value> {
    let mut event = Event::new(0, "s".into(), "r".into(), 1, kind);
    event.agent = agent.clone();
    presenter.present(Update::Event(Box::new(event)));
    let presented = std::mem::take(&mut presenter.presented);
    presented
        .into_iter()
        .map(|presented| match presented {
            Presented::Update(update) => update,
            other => json!(format!("{other:?}")),
        })
        .collect()
}

fn main() -> AgentPath {
    AgentPath::default()
}

fn call(id: &str) -> EventKind {
    let block = ContentBlock::ToolUse(ToolUse::new(id, "Bash", JsonText::parse(r#"{"command":"ls"}"#).unwrap()));
    EventKind::BlockFinished {
        message_id: "m".into(),
        model: "m".into(),
        index: 1,
        line: "l".into(),
        block,
        usage: Usage::default(),
    }
}

fn delta(text: &str) -> EventKind {
    EventKind::BlockDelta { index: 0, delta: Delta::Text(text.to_owned()) }
}

#[test]
fn a_withdrawn_message_fails_its_calls_and_the_next_one_has_another_id() {
    let mut presenter = presenter(all());
    let first = show(&mut presenter, &main(), delta("half"));
    assert_eq!(show(&mut presenter, &main(), call("t"))[0]["status"], "pending");
    let withdrawn = EventKind::MessageWithdrawn { message_id: None, reason: WithdrawReason::StreamFailed };
    let updates = show(&mut presenter, &main(), withdrawn);
    assert_eq!(updates[0], json!({ "sessionUpdate": "tool_call_update", "toolCallId": "t", "status": "failed" }));
    assert_eq!(updates[1]["sessionUpdate"], "notice");
    let second = show(&mut presenter, &main(), delta("whole"));
    assert_ne!(first[0]["messageId"], second[0]["messageId"]);
}

#[test]
fn a_block_that_came_in_parts_is_not_shown_twice() {
    let mut presenter = presenter(all());
    let block = |index, text: &str| EventKind::BlockFinished {
        message_id: "m".into(),
        model: "m".into(),
        index,
        line: "l".into(),
        block: ContentBlock::text(text),
        usage: Usage::default(),
    };
    assert_eq!(show(&mut presenter, &main(), delta("hello")).len(), 1);
    assert!(show(&mut presenter, &main(), block(0, "hello")).is_empty());
    assert_eq!(show(&mut presenter, &main(), block(1, "whole"))[0]["content"]["text"], "whole");
}

#[test]
fn calls_of_agents_below_have_ids_of_their_own_and_no_text() {
    let mut presenter = presenter(all());
    let below = main().child("t".into());
    let mut started = RunStarted::new("/w".into(), "m".into(), Vec::new(), Default::default(), false);
    started.identity = Some(AgentIdentity::new("a".into(), "general-purpose"));
    assert!(show(&mut presenter, &below, EventKind::RunStarted(started)).is_empty());
    assert!(show(&mut presenter, &below, delta("not for people")).is_empty());
    assert_eq!(show(&mut presenter, &main(), call("t"))[0]["toolCallId"], "t");
    assert_eq!(show(&mut presenter, &below, call("t"))[0]["toolCallId"], "t/t");
    let finished = |id: &str| EventKind::ToolFinished(ToolFinished::new("Bash".into(), ToolResult::ok(id, "x")));
    let updates = show(&mut presenter, &below, finished("t"));
    assert_eq!((&updates[0]["toolCallId"], &updates[0]["status"]), (&json!("t/t"), &json!("completed")));
    // A call that was never shown has no end.
    assert!(show(&mut presenter, &main(), finished("unknown")).is_empty());
}

#[test]
fn a_call_that_no_message_holds_is_announced_when_it_starts() {
    let mut presenter = presenter(all());
    let started =
        ToolStarted::new("prompt_1".into(), "Bash".into(), JsonText::empty_object(), "git\u{202e} status".into());
    let updates = show(&mut presenter, &main(), EventKind::ToolStarted(started));
    assert_eq!(updates[0]["sessionUpdate"], "tool_call");
    assert_eq!(updates[1]["status"], "in_progress");
    assert_eq!(updates[1]["title"], r"git\u{202e} status", "nothing in a title is hidden");
}

#[test]
fn compaction_and_notices_are_for_clients_that_show_them() {
    for (client, count) in [(all(), 1), (ClientAbilities::default(), 0)] {
        let mut presenter = presenter(client);
        let status = |status| EventKind::Status(status);
        let begun = show(&mut presenter, &main(), status(Status::Compacting { trigger: CompactTrigger::Auto }));
        assert_eq!(begun.len(), count);
        let compacted = Compacted::new(CompactTrigger::Auto, "sum".into(), "b".into(), "e".into());
        let ended = show(&mut presenter, &main(), EventKind::Compacted(compacted));
        assert_eq!(ended.len(), count);
        if let ([begun], [ended]) = (begun.as_slice(), ended.as_slice()) {
            assert_eq!((&begun["status"], &ended["status"]), (&json!("in_progress"), &json!("completed")));
            assert_eq!(begun["compactionId"], ended["compactionId"]);
        }
        let notice = show(&mut presenter, &main(), status(Status::Notice { message: "n".into() }));
        assert_eq!(notice.len(), count);
        // A warning is seen in any case.
        presenter.present(Update::Warning("careful".into()));
        assert_eq!(presenter.presented.len(), 1);
    }
}

#[test]
fn the_plan_is_whole_and_its_values_are_known() {
    let mut presenter = presenter(all());
    let todos = r#"[{"content":"a","status":"completed","priority":"high"},{"subject":"b","status":"strange"},{}]"#;
    let change = StateChange::Todos { todos: JsonText::parse(todos).unwrap() };
    let updates = show(&mut presenter, &main(), EventKind::StateChanged(change));
    let expected = json!([
        { "content": "a", "status": "completed", "priority": "high" },
        { "content": "b", "status": "pending", "priority": "medium" },
        { "content": "", "status": "pending", "priority": "medium" },
    ]);
    assert_eq!(updates[0]["entries"], expected);
    let change = StateChange::Todos { todos: JsonText::parse("7").unwrap() };
    assert!(show(&mut presenter, &main(), EventKind::StateChanged(change)).is_empty());
}

#[test]
fn each_outcome_has_one_end_and_background_work_is_told() {
    let task = TaskInfo::new("b".into(), TaskKind::LocalBash, "sleep", "t".into());
    for (outcome, expected) in [
        (Outcome::Success, Ok("end_turn")),
        (Outcome::Refused, Ok("refusal")),
        (Outcome::MaxTurns { limit: 3 }, Ok("max_turn_requests")),
        (Outcome::Interrupted { during: windlass_types::Interrupted::Tools }, Ok("cancelled")),
        (Outcome::Failed(RunFailure::new(RunFailureKind::OutputLimit, "cut")), Ok("max_tokens")),
        (Outcome::Failed(RunFailure::new(RunFailureKind::Store, "disk")), Err(-32603)),
        (
            Outcome::Failed(RunFailure::new(RunFailureKind::Model(ModelErrorKind::Authentication), "no key")),
            Err(-32000),
        ),
        (Outcome::MaxBudget { limit: windlass_types::NanoUsd::ZERO }, Err(-32603)),
    ] {
        let mut presenter = presenter(all());
        show(&mut presenter, &main(), EventKind::TaskStarted(task.clone()));
        assert_eq!(presenter.background(), 1);
        // The end of a run that a task has begun is not the end of the next prompt.
        let mut woken = RunResult::new(Outcome::Refused, "s".into());
        woken.origin = RunOrigin::TaskNotification;
        show(&mut presenter, &main(), EventKind::RunFinished(woken));
        let notices = show(&mut presenter, &main(), EventKind::RunFinished(RunResult::new(outcome, "s".into())));
        assert_eq!(notices.last().unwrap()["severity"], "info");
        presenter.present(Update::Message("p".into(), MessageState::Completed));
        let [Presented::Ended(id, end)] = presenter.presented.as_slice() else { panic!("{:?}", presenter.presented) };
        let end = match end {
            TurnEnd::Stop(reason) => Ok(*reason),
            TurnEnd::Failed(error) => Err(error.kind.code()),
        };
        assert_eq!((id.as_str(), end), ("p", expected));
        presenter.presented.clear();
        let ended = TaskEnded::new(task.clone(), TaskStatus::Completed, "done");
        show(&mut presenter, &main(), EventKind::TaskEnded(ended));
        assert_eq!(presenter.background(), 0);
    }
}
