//! Questions that outlive the process that asked: answered by another process, once, by the holder of the token.

use crate::world::{Open, Ran, World, calls, key, model, soon, world};
use std::sync::Arc;
use windlass_model::ScriptedTurn;
use windlass_permission::can_use_tool_fn;
use windlass_runtime::{AnswerError, SessionError};
use windlass_session::{
    Durability, LogHeader, MemoryStore, Owner, PendingAnswers, PendingQuestions, SessionStore, StoredAnswer,
};
use windlass_tool::{DynTool, tool_fn};
use windlass_types::{
    CallDigest, Entry, EntryKind, EventKind, Outcome, PendingQuestion, PermissionAnswer, PermissionRequest,
    QuestionToken, RunResult, Status, Timestamp,
};

/// A tool that no rule allows.
pub(crate) fn risky(ran: &Ran) -> Arc<dyn DynTool> {
    let ran = ran.clone();
    Arc::new(tool_fn("risky", "Needs an answer.", move |_: crate::world::In, cx| {
        ran.note(&cx);
        async { Ok("done") }
    }))
}

/// A session that waits for answers, and what it ran.
fn waiting(store: &MemoryStore, ran: &Ran) -> World {
    let mut world = world(calls("risky", 1), [risky(ran)]).stored(store);
    world.wait = true;
    world
}

/// Another process that opens the session.
async fn again(store: &MemoryStore, ran: &Ran) -> Open {
    let mut world = world(model(|_, _| ScriptedTurn::new().text("Done.")), [risky(ran)]).stored(store);
    world.wait = true;
    world.open().await
}

pub(crate) async fn close(open: Open) {
    open.handle.close().await.unwrap();
}

fn asked(result: &RunResult) -> PermissionRequest {
    let Outcome::Pending { questions } = &result.outcome else { panic!("{:?}", result.outcome) };
    assert_eq!((questions.len(), result.pending_questions.len()), (1, 1));
    result.pending_questions[0].clone()
}

/// A run that has ended without an answer, and its question.
async fn suspended(store: &MemoryStore, ran: &Ran) -> PermissionRequest {
    let mut open = waiting(store, ran).open().await;
    let result = soon(open.run("go")).await;
    close(open).await;
    assert!(ran.ids().is_empty());
    asked(&result)
}

async fn logged(store: &MemoryStore) -> Option<PendingQuestion> {
    let entries = store.load(&key("s")).await.unwrap().entries;
    PendingQuestions::of(&entries).iter().next().cloned()
}

/// An answer as the command would leave it, changed by `change`.
async fn answer(store: &MemoryStore, token: &QuestionToken, allow: bool, change: impl Fn(&mut StoredAnswer)) {
    let question = logged(store).await.expect("no question is open");
    let mut answer = StoredAnswer::new(&key("s"), &question, token.clone(), allow, Timestamp::default());
    change(&mut answer);
    store.give(&key("s"), &answer).await.unwrap();
}

async fn continued(store: &MemoryStore, ran: &Ran) -> RunResult {
    let mut open = again(store, ran).await;
    open.handle.continue_run().unwrap();
    let result = soon(open.result()).await;
    close(open).await;
    result
}

#[tokio::test]
async fn an_answer_from_elsewhere_runs_the_call_once() {
    let (store, ran) = (MemoryStore::new(), Ran::default());
    let request = suspended(&store, &ran).await;
    answer(&store, request.token.as_ref().unwrap(), true, |_| {}).await;
    assert_eq!(continued(&store, &ran).await.outcome, Outcome::Success);
    assert_eq!(ran.ids().len(), 1);
    // There is nothing left to continue.
    assert!(matches!(continued(&store, &ran).await.outcome, Outcome::Failed(_)));
    assert_eq!(ran.ids().len(), 1);
}

#[tokio::test]
async fn a_denial_from_elsewhere_is_read_by_the_model() {
    let (store, ran) = (MemoryStore::new(), Ran::default());
    let request = suspended(&store, &ran).await;
    answer(&store, request.token.as_ref().unwrap(), false, |answer| answer.message = Some("Use the other one.".into()))
        .await;
    let result = continued(&store, &ran).await;
    assert_eq!((result.outcome, result.permission_denials.len(), ran.ids().len()), (Outcome::Success, 1, 0));
    let log = String::from_utf8(store.log(&key("s")).unwrap()).unwrap();
    assert!(log.contains("Use the other one."));
}

/// A token may be lost with the process that had it: each opening that takes the question up has one, and all of them count.
#[tokio::test]
async fn a_question_without_an_answer_stays_the_same_with_another_token() {
    for given in 0..3 {
        let (store, ran) = (MemoryStore::new(), Ran::default());
        let request = suspended(&store, &ran).await;
        let mut tokens = vec![request.token.clone().unwrap()];
        for _ in 0..2 {
            let open = asked(&continued(&store, &ran).await);
            assert_eq!((&open.id, &open.digest), (&request.id, &request.digest));
            let token = open.token.unwrap();
            assert!(!tokens.contains(&token));
            tokens.push(token);
        }
        answer(&store, &tokens[given], true, |_| {}).await;
        assert_eq!(continued(&store, &ran).await.outcome, Outcome::Success);
        assert_eq!(ran.ids().len(), 1);
    }
}

/// Only so many tokens of one question count: those that were given last.
#[tokio::test]
async fn tokens_of_a_question_are_bounded() {
    let (store, ran) = (MemoryStore::new(), Ran::default());
    let first = suspended(&store, &ran).await.token.unwrap();
    for _ in 0..20 {
        asked(&continued(&store, &ran).await);
    }
    assert_eq!(logged(&store).await.unwrap().earlier_tokens.len(), 16);
    answer(&store, &first, true, |_| {}).await;
    asked(&continued(&store, &ran).await);
    assert!(ran.ids().is_empty());
}

/// A question that another process has answered is not asked again, and a handle cannot answer it otherwise.
#[tokio::test]
async fn a_question_that_has_an_answer_is_not_put_again() {
    let (store, ran) = (MemoryStore::new(), Ran::default());
    let request = suspended(&store, &ran).await;
    answer(&store, request.token.as_ref().unwrap(), false, |_| {}).await;
    let mut world = world(model(|_, _| ScriptedTurn::new().text("Done.")), [risky(&ran)]).stored(&store);
    (world.wait, world.ask_via_events) = (true, true);
    let mut open = world.open().await;
    open.handle.continue_run().unwrap();
    let events = soon(open.until(|kind| matches!(kind, EventKind::RunFinished(_)))).await;
    assert!(!events.iter().any(|event| matches!(event.kind, EventKind::PermissionRequested(_))), "{events:?}");
    assert!(open.handle.open_questions().is_empty());
    assert!(open.handle.answer(&request.id, PermissionAnswer::allow()).is_err());
    assert!(ran.ids().is_empty());
    close(open).await;
}

/// The questions of a run that has ended are listed before the run continues, in this opening and in the next.
#[tokio::test]
async fn questions_are_listed_before_the_run_continues() {
    let (store, ran) = (MemoryStore::new(), Ran::default());
    let mut first = waiting(&store, &ran).open().await;
    let asked = asked(&soon(first.run("go")).await);
    assert_eq!(first.handle.open_questions(), std::slice::from_ref(&asked));
    close(first).await;
    let mut world = world(model(|_, _| ScriptedTurn::new().text("Done.")), [risky(&ran)]).stored(&store);
    (world.wait, world.ask_via_events) = (true, true);
    let mut open = world.open().await;
    let listed = open.handle.open_questions();
    let about = |request: &PermissionRequest| (request.id.clone(), request.digest.clone(), request.input.clone());
    assert_eq!(listed.iter().map(about).collect::<Vec<_>>(), [about(&asked)]);
    assert_eq!((listed[0].tool.as_str(), &listed[0].tool_use_id), ("risky", &asked.tool_use_id));
    // The question is answered once its run continues.
    let early = open.handle.answer(&asked.id, PermissionAnswer::allow());
    assert_eq!(early, Err(AnswerError::NotContinued { id: asked.id.clone() }));
    open.handle.continue_run().unwrap();
    soon(open.until(|kind| matches!(kind, EventKind::PermissionRequested(_)))).await;
    assert_eq!(open.handle.open_questions().len(), 1, "it is listed once");
    open.handle.answer(&asked.id, PermissionAnswer::allow()).unwrap();
    assert_eq!(soon(open.result()).await.outcome, Outcome::Success);
    assert_eq!((ran.ids().len(), open.handle.open_questions().len()), (1, 0));
    close(open).await;
}

/// Questions that another process has answered are not open, and a prompt withdraws the rest.
#[tokio::test]
async fn answered_and_withdrawn_questions_are_not_listed() {
    let (store, ran) = (MemoryStore::new(), Ran::default());
    let request = suspended(&store, &ran).await;
    let mut open = again(&store, &ran).await;
    assert_eq!(open.handle.open_questions().len(), 1);
    assert_eq!(soon(open.run("something else")).await.outcome, Outcome::Success);
    assert!(open.handle.open_questions().is_empty());
    assert_eq!(
        open.handle.answer(&request.id, PermissionAnswer::allow()),
        Err(AnswerError::NotOpen { id: request.id.clone() })
    );
    close(open).await;
    for is_genuine in [true, false] {
        let (store, ran) = (MemoryStore::new(), Ran::default());
        let request = suspended(&store, &ran).await;
        let token = if is_genuine { request.token.clone().unwrap() } else { QuestionToken::new("wrong") };
        answer(&store, &token, false, |_| {}).await;
        let open = again(&store, &ran).await;
        assert_eq!(open.handle.open_questions().is_empty(), is_genuine);
        close(open).await;
    }
    assert!(ran.ids().is_empty());
}

/// A deny that another process stored while the question was open counts, whatever a handle answers later, and a notice says so.
#[tokio::test]
async fn an_allow_behind_a_stored_deny_is_no_allow() {
    let (store, ran) = (MemoryStore::new(), Ran::default());
    let mut world = waiting(&store, &ran);
    world.ask_via_events = true;
    let mut open = world.open().await;
    open.say("go");
    let events = soon(open.until(|kind| matches!(kind, EventKind::PermissionRequested(_)))).await;
    let Some(EventKind::PermissionRequested(request)) = events.last().map(|event| &event.kind) else { panic!() };
    answer(&store, request.token.as_ref().unwrap(), false, |_| {}).await;
    // The answer of the other process is looked for once a second: the handle may be quicker.
    let answered = open.handle.answer(&request.id, PermissionAnswer::allow());
    let events = soon(open.until(|kind| matches!(kind, EventKind::RunFinished(_)))).await;
    let is_notice = |kind: &EventKind| matches!(kind, EventKind::Status(Status::Notice { message }) if message.contains("another process had denied it"));
    assert!(answered.is_err() || events.iter().any(|event| is_notice(&event.kind)), "{events:?}");
    assert!(ran.ids().is_empty());
    close(open).await;
}

#[tokio::test]
async fn an_answer_that_does_not_fit_never_runs_the_call() {
    let wrong: [fn(&mut StoredAnswer); 5] = [
        |answer| answer.token = QuestionToken::new("wrong"),
        |answer| answer.token = QuestionToken::new(""),
        |answer| answer.session = "another".into(),
        |answer| answer.digest = CallDigest::new("another"),
        |answer| answer.token = QuestionToken::new(answer.token.reveal().to_uppercase()),
    ];
    for (at, change) in wrong.into_iter().enumerate() {
        let (store, ran) = (MemoryStore::new(), Ran::default());
        let request = suspended(&store, &ran).await;
        answer(&store, request.token.as_ref().unwrap(), true, change).await;
        let open = asked(&continued(&store, &ran).await);
        assert_ne!(open.id, request.id, "{at}: asked anew");
        assert!(open.token.is_some() && ran.ids().is_empty(), "{at}");
    }
}

#[tokio::test]
async fn an_answer_that_was_taken_before_a_crash_is_not_used_again() {
    let (store, ran) = (MemoryStore::new(), Ran::default());
    let request = suspended(&store, &ran).await;
    answer(&store, request.token.as_ref().unwrap(), true, |_| {}).await;
    assert!(store.take(&key("s"), &request.id).await.unwrap());
    let open = asked(&continued(&store, &ran).await);
    assert!(open.id != request.id && ran.ids().is_empty());
    // The new question has a token of its own; that of the first one does not answer it.
    answer(&store, request.token.as_ref().unwrap(), true, |_| {}).await;
    let third = asked(&continued(&store, &ran).await);
    assert!(third.id != open.id && ran.ids().is_empty());
}

#[tokio::test]
async fn a_log_alone_makes_no_call_run() {
    // Some other program writes a question about the same call whose token it knows, and no answer lies there.
    let (store, ran) = (MemoryStore::new(), Ran::default());
    suspended(&store, &ran).await;
    let mut forged = logged(&store).await.unwrap();
    forged.id = "00000000-0000-4000-8000-000000000001".into();
    forged.token = windlass_session::token_hash(&QuestionToken::new("known"));
    let lease = store.open(&key("s"), &Owner::new(1, "evil"), LogHeader::default()).await.unwrap();
    let entry =
        Entry::new(windlass_types::EntryId::from_bits(5), None, Timestamp::default(), EntryKind::Question(forged));
    store.append(&lease, lease.seq(), vec![entry], Durability::Durable).await.unwrap();
    store.close(lease).await.unwrap();
    let open = asked(&continued(&store, &ran).await);
    assert!(ran.ids().is_empty());
    assert_eq!(open.id.as_str(), "00000000-0000-4000-8000-000000000001");
}

#[tokio::test(start_paused = true)]
async fn a_host_that_is_asked_does_not_keep_others_from_answering() {
    let (store, ran) = (MemoryStore::new(), Ran::default());
    let mut world = waiting(&store, &ran);
    world.host = Some(Arc::new(can_use_tool_fn(|_| std::future::pending::<PermissionAnswer>())));
    let mut open = world.open().await;
    open.say("go");
    let events = open.until(|kind| matches!(kind, EventKind::PermissionRequested(_))).await;
    let Some(EventKind::PermissionRequested(request)) = events.last().map(|event| &event.kind) else { panic!() };
    assert!(logged(&store).await.is_some(), "it is kept before it is asked");
    answer(&store, request.token.as_ref().unwrap(), true, |_| {}).await;
    assert_eq!(open.result().await.outcome, Outcome::Success);
    assert_eq!(ran.ids().len(), 1);
    close(open).await;
}

#[tokio::test]
async fn a_session_that_is_closed_or_killed_while_it_asks_leaves_the_question() {
    for kill in [false, true] {
        let (store, ran) = (MemoryStore::new(), Ran::default());
        let mut world = waiting(&store, &ran);
        world.ask_via_events = true;
        let mut open = world.open().await;
        open.say("go");
        let events = soon(open.until(|kind| matches!(kind, EventKind::PermissionRequested(_)))).await;
        let Some(EventKind::PermissionRequested(request)) = events.last().map(|event| &event.kind) else { panic!() };
        let store = if kill {
            // The current store is all that a kill leaves.
            copy(&store).await
        } else {
            soon(open.handle.close()).await.unwrap();
            store
        };
        assert_eq!(logged(&store).await.map(|question| question.id), Some(request.id.clone()), "{kill}");
        answer(&store, request.token.as_ref().unwrap(), true, |_| {}).await;
        assert_eq!(continued(&store, &ran).await.outcome, Outcome::Success);
        assert_eq!(ran.ids().len(), 1, "{kill}");
    }
}

/// Another store with what is stored now.
async fn copy(store: &MemoryStore) -> MemoryStore {
    let entries = store.load(&key("s")).await.unwrap().entries;
    let copy = MemoryStore::new();
    let header = LogHeader::new("/w", "0", "test");
    copy.create(&key("s"), &Owner::new(1, "test"), header, entries).await.unwrap();
    copy
}

#[tokio::test]
async fn a_host_answers_what_an_earlier_opening_has_asked() -> Result<(), SessionError> {
    let (store, ran) = (MemoryStore::new(), Ran::default());
    suspended(&store, &ran).await;
    let mut world = world(model(|_, _| ScriptedTurn::new().text("Done.")), [risky(&ran)]).stored(&store);
    world.host = Some(Arc::new(can_use_tool_fn(|_| async { PermissionAnswer::allow() })));
    world.wait = true;
    let mut open = world.open().await;
    open.handle.continue_run()?;
    assert_eq!(soon(open.result()).await.outcome, Outcome::Success);
    assert_eq!(ran.ids().len(), 1);
    open.handle.close().await
}
