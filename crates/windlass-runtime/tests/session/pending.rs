//! Questions that outlive the process that asked: answered from elsewhere, once, by who has the token.

use crate::world::{Open, Ran, World, calls, key, model, soon, world};
use std::sync::Arc;
use windlass_model::ScriptedTurn;
use windlass_permission::can_use_tool_fn;
use windlass_runtime::SessionError;
use windlass_session::{
    Durability, LogHeader, MemoryStore, Owner, PendingAnswers, PendingQuestions, SessionStore, StoredAnswer,
};
use windlass_tool::{DynTool, tool_fn};
use windlass_types::{
    CallDigest, Entry, EntryKind, EventKind, Outcome, PendingQuestion, PermissionAnswer, PermissionRequest,
    QuestionToken, RunResult, Timestamp,
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

#[tokio::test]
async fn a_question_without_an_answer_stays_the_same() {
    let (store, ran) = (MemoryStore::new(), Ran::default());
    let request = suspended(&store, &ran).await;
    let open = asked(&continued(&store, &ran).await);
    assert_eq!((&open.id, &open.digest, open.token), (&request.id, &request.digest, None));
    answer(&store, request.token.as_ref().unwrap(), true, |_| {}).await;
    assert_eq!(continued(&store, &ran).await.outcome, Outcome::Success);
    assert_eq!(ran.ids().len(), 1);
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
            // What is in the store now is all that a kill leaves.
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
