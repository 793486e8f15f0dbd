//! Background work that continues after its call.

use crate::world::{In, Open, act, calls, look, model, soon, world};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;
use tokio::sync::Notify;
use tokio::time::Instant;
use windlass_model::ScriptedTurn;
use windlass_runtime::SessionError;
use windlass_tool::{DynTool, TaskCx, TaskOutcome, TaskSpec, ToolCx, ToolError};
use windlass_types::{Event, EventKind, Outcome, RunOrigin, TaskEnded, TaskId, TaskKind, TaskStatus};

/// Counts background work that has not ended, whether it completes, fails or is dropped.
#[derive(Clone, Default)]
struct Going(Arc<AtomicUsize>);

struct Held(Arc<AtomicUsize>);

impl Going {
    fn hold(&self) -> Held {
        self.0.fetch_add(1, Ordering::SeqCst);
        Held(Arc::clone(&self.0))
    }

    fn count(&self) -> usize {
        self.0.load(Ordering::SeqCst)
    }
}

impl Drop for Held {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::SeqCst);
    }
}

#[derive(Clone, Copy, PartialEq)]
enum Work {
    /// Ends when it is let go, or asked to stop.
    Waits,
    /// Does not listen.
    Deaf,
    Panics,
    PanicsAtOnce,
}

/// A tool that starts background work.
fn leaves(work: Work, going: &Going, let_go: &Arc<Notify>) -> Arc<dyn DynTool> {
    let (going, let_go) = (going.clone(), Arc::clone(let_go));
    act(move |_: In, cx: ToolCx| {
        let started = start(work, &going, &let_go, &cx);
        async move { started.map(|id| id.to_string()) }
    })
}

fn start(work: Work, going: &Going, let_go: &Arc<Notify>, cx: &ToolCx) -> Result<TaskId, ToolError> {
    let (held, let_go) = (going.hold(), Arc::clone(let_go));
    let spec = TaskSpec::new(TaskKind::LocalBash, "Work");
    let done = |task: &TaskCx| TaskOutcome::new(TaskStatus::Completed, format!("{} ended", task.id));
    cx.background()?.start(
        spec,
        Box::new(move |task| {
            assert!(work != Work::PanicsAtOnce, "it panics at once");
            Box::pin(async move {
                let _held = held;
                match work {
                    Work::Waits => tokio::select! {
                        () = let_go.notified() => {}
                        () = task.cancel.cancelled() => {}
                    },
                    Work::Panics => panic!("it panics"),
                    Work::Deaf | Work::PanicsAtOnce => std::future::pending().await,
                }
                done(&task)
            })
        }),
    )
}

fn ended(events: &[Event]) -> Vec<&TaskEnded> {
    let ends = events.iter().filter_map(|event| match &event.kind {
        EventKind::TaskEnded(ended) => Some(ended),
        _ => None,
    });
    ends.collect()
}

async fn until_ended(open: &mut Open) -> TaskEnded {
    let events = soon(open.until(|kind| matches!(kind, EventKind::TaskEnded(_)))).await;
    ended(&events)[0].clone()
}

#[tokio::test(start_paused = true)]
async fn its_end_wakes_a_run_and_then_it_is_quiet() {
    let (going, let_go) = (Going::default(), Arc::new(Notify::new()));
    let mut open = world(calls("act", 1), [leaves(Work::Waits, &going, &let_go)]).open().await;
    open.succeed("go").await;
    assert_eq!(going.count(), 1);
    assert!(!open.handle.quiet_within(Duration::from_secs(60)).await);
    // No run is open, and the work continues.
    soon(open.handle.settled()).await;
    let quiet = tokio::spawn(open.handle.quiet());
    let_go.notify_one();
    let ended = until_ended(&mut open).await;
    assert_eq!((ended.status, ended.summary), (TaskStatus::Completed, format!("{} ended", ended.info.id)));
    assert_eq!(ended.info.tool_use_id.as_str(), "toolu_script_0_0");
    // The run that its end begins is about to begin, or open.
    let settled = tokio::spawn(open.handle.settled());
    let woken = open.result().await;
    assert_eq!((woken.origin, woken.outcome), (RunOrigin::TaskNotification, Outcome::Success));
    soon(settled).await.unwrap();
    soon(quiet).await.unwrap();
}

#[tokio::test(start_paused = true)]
async fn work_that_panics_has_failed() {
    for work in [Work::Panics, Work::PanicsAtOnce] {
        let mut open = world(calls("act", 1), [leaves(work, &Going::default(), &Arc::default())]).open().await;
        open.say("go");
        let ended = until_ended(&mut open).await;
        assert_eq!(ended.status, TaskStatus::Failed);
        assert!(ended.summary.contains("panicked"), "{}", ended.summary);
    }
}

#[tokio::test(start_paused = true)]
async fn work_that_does_not_listen_is_dropped() {
    for work in [Work::Waits, Work::Deaf] {
        let going = Going::default();
        let mut open = world(calls("act", 1), [leaves(work, &going, &Arc::default())]).open().await;
        open.say("go");
        let events = open.until(|kind| matches!(kind, EventKind::RunFinished(_))).await;
        let started = events.iter().find_map(|event| match &event.kind {
            EventKind::TaskStarted(task) => Some(task.id.clone()),
            _ => None,
        });
        let began = Instant::now();
        open.handle.stop_task("unknown".into()).unwrap();
        match work {
            Work::Deaf => open.handle.stop_tasks().unwrap(),
            _ => open.handle.stop_task(started.unwrap()).unwrap(),
        }
        assert_eq!(until_ended(&mut open).await.status, TaskStatus::Stopped);
        assert!(began.elapsed() < Duration::from_secs(4), "{:?}", began.elapsed());
        assert_eq!(going.count(), 0);
        assert!(open.handle.quiet_within(Duration::from_secs(1)).await, "a run began");
    }
}

#[tokio::test(start_paused = true)]
async fn closing_dropping_and_refusals_leave_nothing() {
    for work in [Work::Waits, Work::Deaf] {
        let going = Going::default();
        let mut open = world(calls("act", 3), [leaves(work, &going, &Arc::default())]).open().await;
        open.succeed("go").await;
        assert_eq!(going.count(), 3);
        let began = Instant::now();
        soon(open.handle.close()).await.unwrap();
        assert!(began.elapsed() < Duration::from_secs(4), "{:?}", began.elapsed());
        assert_eq!(going.count(), 0);
        let (rest, error) = open.rest().await;
        assert_eq!(ended(&rest).len(), 3);
        assert!(ended(&rest).iter().all(|ended| ended.status == TaskStatus::Stopped));
        assert!(error.is_none() && !rest.iter().any(|event| matches!(event.kind, EventKind::RunStarted(_))));
        assert!(matches!(open.handle.stop_task("b".into()), Err(SessionError::Closed)));
        soon(open.handle.quiet()).await;
        soon(open.handle.settled()).await;

        let going = Going::default();
        let mut open = world(calls("act", 3), [leaves(work, &going, &Arc::default())]).open().await;
        open.succeed("go").await;
        let handle = open.handle.clone();
        drop(open);
        soon(handle.ended()).await;
        assert_eq!(going.count(), 0);
    }
}

#[tokio::test(start_paused = true)]
async fn there_is_a_limit_and_a_call_that_only_reads_leaves_nothing() {
    let going = Going::default();
    let mut open = world(calls("act", 70), [leaves(Work::Waits, &going, &Arc::default())]).open().await;
    open.say("go");
    let events = open.until(|kind| matches!(kind, EventKind::RunFinished(_))).await;
    let refused = events.iter().filter(|event| match &event.kind {
        EventKind::ToolFinished(tool) => tool.result.is_error,
        _ => false,
    });
    assert_eq!((going.count(), refused.count()), (64, 6));

    let refusal = Arc::new(Mutex::new(String::new()));
    let kept = Arc::clone(&refusal);
    let tool = look(move |_: In, cx: ToolCx| {
        let refused = start(Work::Waits, &Going::default(), &Arc::default(), &cx).unwrap_err();
        *kept.lock().unwrap() = refused.model_text().to_owned();
        async { Ok(String::new()) }
    });
    let model = model(|_, number| match number {
        0 => ScriptedTurn::new().tool_use("look", serde_json::json!({})),
        _ => ScriptedTurn::new().text("Done."),
    });
    world(model, [tool]).open().await.succeed("go").await;
    assert!(refusal.lock().unwrap().contains("only reads"), "{}", refusal.lock().unwrap());
}
