//! Calls that run while a message streams, and calls that run concurrently.

use crate::world::{calls, look, model, soon, world};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use tokio::sync::Barrier;
use windlass_model::{Gate, ScriptedTurn};
use windlass_types::{EventKind, ModelErrorKind, Outcome};

#[tokio::test(start_paused = true)]
async fn ten_reading_calls_run_side_by_side() {
    let all = Arc::new(Barrier::new(10));
    let tool = look(move |_, _| {
        let all = Arc::clone(&all);
        async move {
            all.wait().await;
            Ok("together".to_owned())
        }
    });
    let mut open = world(calls("look", 10), [tool]).open().await;
    soon(open.succeed("go")).await;
}

#[tokio::test(start_paused = true)]
async fn more_than_ten_calls_take_turns() {
    let (now, most) = (Arc::new(AtomicUsize::new(0)), Arc::new(AtomicUsize::new(0)));
    let (running, seen) = (Arc::clone(&now), Arc::clone(&most));
    let tool = look(move |_, _| {
        let (running, seen) = (Arc::clone(&running), Arc::clone(&seen));
        async move {
            seen.fetch_max(running.fetch_add(1, Ordering::SeqCst) + 1, Ordering::SeqCst);
            tokio::time::sleep(std::time::Duration::from_secs(1)).await;
            running.fetch_sub(1, Ordering::SeqCst);
            Ok("done".to_owned())
        }
    });
    let mut open = world(calls("look", 35), [tool]).open().await;
    soon(open.succeed("go")).await;
    assert_eq!(most.load(Ordering::SeqCst), 10);
}

/// Number of runs of `look` and `act`.
fn counted(name: &str) -> (Arc<AtomicUsize>, Arc<tokio::sync::Notify>, Arc<dyn windlass_tool::DynTool>) {
    let count = Arc::new(AtomicUsize::new(0));
    let started = Arc::new(tokio::sync::Notify::new());
    let (counting, starting) = (Arc::clone(&count), Arc::clone(&started));
    let call = move |_: crate::world::In, _: windlass_tool::ToolCx| {
        let number = counting.fetch_add(1, Ordering::SeqCst);
        starting.notify_one();
        async move { Ok(format!("look number {number}")) }
    };
    let tool = if name == "look" { look(call) } else { crate::world::act(call) };
    (count, started, tool)
}

#[tokio::test(start_paused = true)]
async fn a_reading_call_starts_while_its_message_streams_and_an_effect_does_not() {
    let gate = Gate::new();
    let waits = gate.clone();
    let model = model(move |_, number| match number {
        0 => ScriptedTurn::new()
            .tool_use("look", serde_json::json!({}))
            .tool_use("act", serde_json::json!({}))
            .text("That is all.")
            .gate_at(8, &waits),
        _ => ScriptedTurn::new().text("Done."),
    });
    let (looks, started, look) = counted("look");
    let (acts, _, act) = counted("act");
    let mut open = world(model, [look, act]).open().await;
    open.say("go");
    soon(started.notified()).await;
    gate.wait_arrived(1).await;
    for _ in 0..50 {
        tokio::task::yield_now().await;
    }
    assert_eq!((looks.load(Ordering::SeqCst), acts.load(Ordering::SeqCst)), (1, 0));
    gate.open();
    assert_eq!(open.result().await.outcome, Outcome::Success);
    assert_eq!((looks.load(Ordering::SeqCst), acts.load(Ordering::SeqCst)), (1, 1));
}

#[tokio::test(start_paused = true)]
async fn early_results_of_a_message_that_fails_are_never_seen() {
    let gate = Gate::new();
    let waits = gate.clone();
    let model = model(move |_, number| match number {
        0 => ScriptedTurn::new()
            .tool_use("look", serde_json::json!({}))
            .text("So.")
            .gate_at(5, &waits)
            .fail_after(5, ModelErrorKind::Cut),
        1 => ScriptedTurn::new().tool_use("look", serde_json::json!({})),
        _ => ScriptedTurn::new().text("Done."),
    });
    let (looks, started, look) = counted("look");
    let mut open = world(model.clone(), [look]).open().await;
    open.say("go");
    soon(started.notified()).await;
    gate.open();
    let events = open.until(|kind| matches!(kind, EventKind::RunFinished(_))).await;
    assert_eq!(looks.load(Ordering::SeqCst), 2, "the first look was early and is not reused");
    let results: Vec<String> = events
        .iter()
        .filter_map(|event| match &event.kind {
            EventKind::ToolFinished(finished) => Some(finished.result.content.text()),
            _ => None,
        })
        .collect();
    assert_eq!(results, ["look number 1"]);
    assert!(events.iter().any(|event| matches!(event.kind, EventKind::MessageWithdrawn { .. })));
    let requests = model.requests();
    assert_eq!(requests[0].messages, requests[1].messages);
    assert_eq!(requests[2].messages.len(), 3);
}
