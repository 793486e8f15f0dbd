//! Stopping: a tool, a run, a session.

use crate::world::{Open, Ran, act, calls, interest, is_started, key, look, model, soon, world};
use async_trait::async_trait;
use std::sync::{Arc, OnceLock};
use std::time::Duration;
use tokio::time::Instant;
use windlass_hook::{Hook, HookContext, HookError, Interest, PreToolUse, PreToolUseAction, SessionEnd};
use windlass_model::{Gate, ScriptedTurn};
use windlass_runtime::{Prompt, SessionError, SessionHandle};
use windlass_session::MemoryStore;
use windlass_tool::ToolError;
use windlass_types::{ContentBlock, EventKind, HookEventName, Interrupted, Outcome};

async fn for_ever() -> Result<String, ToolError> {
    std::future::pending().await
}

#[tokio::test(start_paused = true)]
async fn a_tool_that_ignores_a_stop_is_left_behind_within_a_second() {
    for tool in [act(|_, _| for_ever()), look(|_, _| for_ever())] {
        let name = tool.spec().name;
        let model = model(move |_, number| match number {
            0 => ScriptedTurn::new().tool_use(name.clone(), serde_json::json!({})),
            _ => ScriptedTurn::new().text("Here again."),
        });
        let mut open = world(model, [tool]).open().await;
        open.say("go");
        open.until(is_started).await;
        let stopped = Instant::now();
        open.handle.interrupt().unwrap();
        let result = open.result().await;
        assert_eq!(result.outcome, Outcome::Interrupted { during: Interrupted::Tools });
        assert!(stopped.elapsed() < Duration::from_secs(1), "{:?}", stopped.elapsed());
        open.succeed("and now?").await;
    }
}

#[tokio::test(start_paused = true)]
async fn stopping_a_tool_is_not_stopping_the_run() {
    let mut open = world(calls("act", 1), [act(|_, _| for_ever())]).open().await;
    open.say("go");
    let started = open.until(is_started).await;
    let Some(EventKind::ToolStarted(tool)) = started.into_iter().last().map(|event| event.kind) else { panic!() };
    open.handle.stop_tool(tool.tool_use_id).unwrap();
    let finished = open.until(|kind| matches!(kind, EventKind::ToolFinished(_))).await;
    let Some(EventKind::ToolFinished(tool)) = finished.into_iter().last().map(|event| event.kind) else { panic!() };
    assert!(tool.result.content.text().contains("stopped by the user"), "{tool:?}");
    assert_eq!(open.result().await.outcome, Outcome::Success);
}

#[tokio::test(start_paused = true)]
async fn closing_waits_until_everything_is_stored_and_then_nothing_is_taken() {
    let store = MemoryStore::new();
    let mut open = world(calls("act", 2), [act(|_, _| for_ever())]).stored(&store).open().await;
    open.say("go");
    open.until(is_started).await;
    let handle = open.handle.clone();
    soon(handle.close()).await.unwrap();
    let log = String::from_utf8(store.log(&key("s")).unwrap()).unwrap();
    assert_eq!(log.matches("\"tool_result\"").count(), 2, "{log}");
    assert!(matches!(handle.prompt(Prompt::text("more")), Err(SessionError::Closed)));
    assert!(matches!(handle.steer(vec![ContentBlock::text("x")]), Err(SessionError::Closed)));
    let (events, error) = open.rest().await;
    assert!(matches!(events.last().map(|event| &event.kind), Some(EventKind::RunFinished(_))));
    assert_eq!(error, None);
    soon(handle.close()).await.unwrap();
}

#[tokio::test(start_paused = true)]
async fn an_order_that_comes_after_close_is_refused_and_not_lost_in_silence() {
    let mut open = world(calls("act", 1), [act(|_, _| for_ever())]).open().await;
    open.say("go");
    open.until(is_started).await;
    let handle = open.handle.clone();
    let closing = tokio::spawn(async move { open.handle.close().await });
    tokio::task::yield_now().await;
    assert!(matches!(handle.prompt(Prompt::text("more")), Err(SessionError::Closed)));
    soon(closing).await.unwrap().unwrap();
}

/// The session is dropped after each of its events, and continues from its log.
#[tokio::test(start_paused = true)]
async fn a_stream_that_is_dropped_after_any_event_leaves_a_session_that_resumes() {
    for read in 0.. {
        let store = MemoryStore::new();
        let ran = Ran::default();
        let script = || {
            model(|request, _| {
                let turns = request.messages.iter().filter(|message| message.content[0].as_tool_result().is_some());
                match turns.count() {
                    turn @ 0..2 => {
                        let id = |at: usize| format!("t{}.{turn}.{at}", request.messages.len());
                        ScriptedTurn::new()
                            .text("So.")
                            .tool_use_with_id(id(0), "act", serde_json::json!({}))
                            .tool_use_with_id(id(1), "look", serde_json::json!({}))
                    }
                    _ => ScriptedTurn::new().text("Done."),
                }
            })
        };
        let tools = || [ran.act(), look(|_, _| async { Ok("seen".to_owned()) })];
        let mut open = world(script(), tools()).stored(&store).open().await;
        open.say("go");
        let mut over = false;
        for _ in 0..read {
            over |= matches!(open.next().await.unwrap().kind, EventKind::RunFinished(_));
        }
        let Open { handle, events, .. } = open;
        drop(events);
        soon(handle.ended()).await;
        let again = script();
        let mut open = world(again.clone(), tools()).stored(&store).open().await;
        open.succeed("again").await;
        for request in again.requests() {
            windlass_session::check_messages(request.messages.iter().map(|message| &**message)).unwrap();
        }
        let mut ids = ran.ids();
        ids.sort();
        ids.dedup();
        assert_eq!(ids.len(), ran.ids().len(), "something ran twice after {read} events");
        if over {
            assert!(read > 20);
            return;
        }
    }
}

/// Calls back into the session that asked it.
struct CallsBack(Arc<OnceLock<SessionHandle>>);

#[async_trait]
impl Hook for CallsBack {
    fn name(&self) -> &str {
        "calls-back"
    }

    fn interests(&self) -> Vec<Interest> {
        [interest(HookEventName::PreToolUse), interest(HookEventName::SessionEnd)].concat()
    }

    async fn pre_tool_use(&self, _: &HookContext, event: &PreToolUse) -> Result<PreToolUseAction, HookError> {
        let handle = self.0.get().unwrap();
        handle.steer(vec![ContentBlock::text("from the hook")])?;
        handle.stop_tool(event.tool_use_id.clone())?;
        Ok(PreToolUseAction::Continue)
    }

    async fn session_end(&self, _: &HookContext, _: &SessionEnd) -> Result<(), HookError> {
        // Waits for what waits for it.
        let _ = self.0.get().unwrap().close().await;
        Ok(())
    }
}

#[tokio::test(start_paused = true)]
async fn a_hook_that_calls_back_does_not_lock_the_session() {
    let handle = Arc::new(OnceLock::new());
    let ran = Ran::default();
    let model = calls("act", 1);
    let mut open = world(model.clone(), [ran.act()]).hook(CallsBack(Arc::clone(&handle))).open().await;
    handle.set(open.handle.clone()).unwrap();
    soon(open.succeed("go")).await;
    let said = model.requests()[1].messages.last().unwrap().content.clone();
    assert!(said.iter().any(|block| block.as_text() == Some("from the hook")), "{said:?}");
    assert_eq!(ran.ids().len(), 0, "it was stopped before it ran");
    soon(open.handle.close()).await.unwrap();
}

#[tokio::test(start_paused = true)]
async fn a_stop_while_the_model_thinks_ends_at_once() {
    let gate = Gate::new();
    let waits = gate.clone();
    let model = model(move |_, number| match number {
        0 => ScriptedTurn::new().text("Hello.").gate_at(2, &waits),
        _ => ScriptedTurn::new().text("Again."),
    });
    let mut open = world(model, []).open().await;
    open.say("go");
    gate.wait_arrived(1).await;
    open.handle.interrupt().unwrap();
    assert_eq!(open.result().await.outcome, Outcome::Interrupted { during: Interrupted::Streaming });
    open.succeed("and now?").await;
}

#[tokio::test(start_paused = true)]
async fn a_message_during_tools_is_read_after_them() {
    let gate = Arc::new(tokio::sync::Notify::new());
    let opened = Arc::clone(&gate);
    let model = calls("act", 1);
    let tool = act(move |_, _| {
        let gate = Arc::clone(&gate);
        async move {
            gate.notified().await;
            Ok("done".to_owned())
        }
    });
    let mut open = world(model.clone(), [tool]).open().await;
    open.say("go");
    open.until(is_started).await;
    open.handle.steer(vec![ContentBlock::text("mind the tests")]).unwrap();
    opened.notify_one();
    assert_eq!(open.result().await.outcome, Outcome::Success);
    let said = model.requests()[1].messages.last().unwrap().content.clone();
    assert_eq!(said.len(), 2);
    assert_eq!(said[1].as_text(), Some("mind the tests"));
}
