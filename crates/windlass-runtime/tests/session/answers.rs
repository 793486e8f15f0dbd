//! Questions that are answered by their id, through handles.

use crate::agents::agent;
use crate::world::{Open, calls, model, soon, world};
use std::sync::{Arc, Mutex};
use windlass_model::ScriptedTurn;
use windlass_permission::can_use_tool_fn;
use windlass_runtime::AnswerError;
use windlass_tool::{DynTool, tool_fn};
use windlass_types::{DecisionReason, EventKind, JsonText, Outcome, PermissionAnswer, PermissionRequest};

/// A tool that no rule allows; it remembers its inputs.
fn risky(ran: &Arc<Mutex<Vec<String>>>) -> Arc<dyn DynTool> {
    let ran = Arc::clone(ran);
    Arc::new(tool_fn("risky", "Needs an answer.", move |input: crate::world::In, _| {
        ran.lock().unwrap().push(serde_json::to_string(&input).unwrap());
        async { Ok("done") }
    }))
}

async fn asked(open: &mut Open) -> PermissionRequest {
    let events = soon(open.until(|kind| matches!(kind, EventKind::PermissionRequested(_)))).await;
    match events.into_iter().last().map(|event| event.kind) {
        Some(EventKind::PermissionRequested(request)) => request,
        _ => panic!(),
    }
}

/// A session whose question waits for an answer through a handle.
async fn opened_and_asked(ran: &Arc<Mutex<Vec<String>>>) -> (Open, PermissionRequest) {
    let mut world = world(calls("risky", 1), [risky(ran)]);
    world.ask_via_events = true;
    let mut open = world.open().await;
    open.say("go");
    let request = asked(&mut open).await;
    (open, request)
}

#[tokio::test]
async fn a_question_is_answered_by_its_id_through_any_handle() {
    let ran = Arc::default();
    let (mut open, request) = opened_and_asked(&ran).await;
    let other = open.handle.clone();
    assert_eq!(other.open_questions(), std::slice::from_ref(&request));
    let input = JsonText::parse(r#"{"a":1}"#).unwrap();
    let answer = PermissionAnswer::Allow { updated_input: Some(input), updates: Vec::new() };
    other.answer(&request.id, answer).unwrap();
    assert!(open.handle.open_questions().is_empty());
    let again = open.handle.answer(&request.id, PermissionAnswer::deny("too late"));
    assert_eq!(again, Err(AnswerError::NotOpen { id: request.id.clone() }));
    assert_eq!(soon(open.result()).await.outcome, Outcome::Success);
    assert_eq!(*ran.lock().unwrap(), [r#"{"a":1}"#]);
}

/// The question is open before its event can be seen: a host that answers from another thread at once finds it.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_quickest_answer_finds_its_question() {
    let ran = Arc::default();
    let count = 200;
    let mut world = world(
        model(move |_, at| match at {
            at if at < count => ScriptedTurn::new().tool_use("risky", serde_json::json!({})),
            _ => ScriptedTurn::new().text("done"),
        }),
        [risky(&ran)],
    );
    world.ask_via_events = true;
    let mut open = world.open().await;
    open.say("go");
    for _ in 0..count {
        let request = asked(&mut open).await;
        open.handle.answer(&request.id, PermissionAnswer::allow()).unwrap();
    }
    assert_eq!(soon(open.result()).await.outcome, Outcome::Success);
    assert_eq!(ran.lock().unwrap().len(), count);
}

#[tokio::test]
async fn the_first_answer_counts_of_callback_and_handle() {
    let ran = Arc::default();
    let mut world = world(calls("risky", 1), [risky(&ran)]);
    world.host = Some(Arc::new(can_use_tool_fn(|_| std::future::pending::<PermissionAnswer>())));
    let mut open = world.open().await;
    open.say("go");
    let request = asked(&mut open).await;
    open.handle.answer(&request.id, PermissionAnswer::deny("not today")).unwrap();
    let events = soon(open.until(|kind| matches!(kind, EventKind::PermissionResolved { .. }))).await;
    let Some(EventKind::PermissionResolved { decision, .. }) = events.into_iter().last().map(|event| event.kind) else {
        panic!()
    };
    assert_eq!((decision.reason, decision.message.as_str()), (DecisionReason::Host, "not today"));
    assert!(ran.lock().unwrap().is_empty());
}

#[tokio::test]
async fn a_callback_that_answers_closes_the_question() {
    let ran = Arc::default();
    let mut world = world(calls("risky", 1), [risky(&ran)]);
    world.host = Some(Arc::new(can_use_tool_fn(|_| async { PermissionAnswer::allow() })));
    let mut open = world.open().await;
    open.say("go");
    let request = asked(&mut open).await;
    assert_eq!(soon(open.result()).await.outcome, Outcome::Success);
    assert!(open.handle.open_questions().is_empty());
    assert!(open.handle.answer(&request.id, PermissionAnswer::allow()).is_err());
}

#[tokio::test]
async fn a_stopped_run_withdraws_its_question() {
    let ran = Arc::default();
    let (mut open, request) = opened_and_asked(&ran).await;
    open.handle.interrupt().unwrap();
    assert!(matches!(soon(open.result()).await.outcome, Outcome::Interrupted { .. }));
    assert!(open.handle.open_questions().is_empty());
    assert!(open.handle.answer(&request.id, PermissionAnswer::allow()).is_err());
    assert!(ran.lock().unwrap().is_empty());
}

/// Without a host that can answer, a question is denied at once and was never open.
#[tokio::test]
async fn without_a_host_no_question_is_open() {
    let ran = Arc::default();
    let mut open = world(calls("risky", 1), [risky(&ran)]).open().await;
    open.say("go");
    let events = soon(open.until(|kind| matches!(kind, EventKind::RunFinished(_)))).await;
    assert!(!events.iter().any(|event| matches!(event.kind, EventKind::PermissionRequested(_))));
    assert!(ran.lock().unwrap().is_empty());
}

#[tokio::test]
async fn a_question_of_an_agent_is_open_at_the_handle_of_the_session() {
    let ran = Arc::default();
    let provider = model(|request, at| match (at, request.tools.iter().any(|tool| tool.name == "risky")) {
        (0, _) => ScriptedTurn::new().tool_use("agent", serde_json::json!({ "prompt": "do it" })),
        (1, true) => ScriptedTurn::new().tool_use("risky", serde_json::json!({})),
        _ => ScriptedTurn::new().text("done"),
    });
    let mut world = world(provider, [agent(), risky(&ran)]);
    world.ask_via_events = true;
    let mut open = world.open().await;
    open.say("go");
    asked(&mut open).await;
    let questions = open.handle.open_questions();
    assert_eq!(questions.len(), 1);
    assert_eq!(questions[0].agent.tool_uses().len(), 1, "it names the agent that asks");
    open.handle.answer(&questions[0].id, PermissionAnswer::allow()).unwrap();
    let events = soon(open.until(|kind| matches!(kind, EventKind::ToolFinished(done) if done.tool == "agent"))).await;
    assert!(!events.is_empty() && ran.lock().unwrap().len() == 1);
    assert!(open.handle.open_questions().is_empty());
}

/// No one is left who could answer: the question is denied, and nothing ran.
#[tokio::test]
async fn when_the_last_handle_is_gone_the_question_is_denied() {
    let ran = Arc::default();
    let store = windlass_session::MemoryStore::default();
    let mut world = world(calls("risky", 1), [risky(&ran)]).stored(&store);
    world.ask_via_events = true;
    let mut open = world.open().await;
    open.say("go");
    asked(&mut open).await;
    let Open { handle, events, .. } = open;
    events.detach();
    let feed = handle.subscribe();
    drop(handle);
    // A watcher can answer as a handle can.
    assert_eq!(feed.handle().open_questions().len(), 1);
    let handle = feed.handle().clone();
    drop(feed);
    let ended = handle.ended();
    drop(handle);
    soon(ended).await;
    assert!(ran.lock().unwrap().is_empty());
}
