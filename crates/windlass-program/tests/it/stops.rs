//! Programs that are stopped or abandoned.

use crate::{cx, tools, within};
use std::sync::{Arc, Mutex};
use std::time::Duration;
use tokio::sync::{Notify, oneshot};
use windlass_program::ProgramLimits;
use windlass_tool::{BoxFuture, Calls, ToolErrorKind};
use windlass_types::{JsonText, ToolOutcome};

/// Limits beyond the duration of any test.
fn endless() -> ProgramLimits {
    let mut limits = ProgramLimits::default();
    (limits.steps, limits.computing) = (u64::MAX, Duration::from_secs(3_600));
    limits
}

/// Never answers, and notifies about requests.
#[derive(Debug, Default)]
struct Silent {
    asked: Notify,
    waiting: Mutex<Vec<oneshot::Sender<ToolOutcome>>>,
}

impl Calls for Silent {
    fn call(&self, _: String, _: JsonText) -> BoxFuture<'static, ToolOutcome> {
        let (sender, answer) = oneshot::channel();
        self.waiting.lock().unwrap().push(sender);
        self.asked.notify_one();
        Box::pin(async move { answer.await.unwrap() })
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_program_that_computes_is_stopped() {
    let cx = cx(tools());
    let cancel = cx.cancel().clone();
    let running = tokio::spawn(async move { within(endless(), "tools.echo{} while true do end", &cx).await });
    cancel.cancel();
    assert_eq!(running.await.unwrap().unwrap_err().kind(), ToolErrorKind::Cancelled);
}

#[tokio::test]
async fn a_program_that_waits_for_its_call_is_stopped() {
    let silent = Arc::new(Silent::default());
    let cx = cx(silent.clone());
    let cancel = cx.cancel().clone();
    let running = tokio::spawn(async move { within(endless(), "tools.echo{}", &cx).await });
    silent.asked.notified().await;
    cancel.cancel();
    assert_eq!(running.await.unwrap().unwrap_err().kind(), ToolErrorKind::Cancelled);
}

/// The thread on which a program computes ends too: the runtime, which waits for its threads, could not end otherwise.
#[test]
fn a_program_that_nobody_waits_for_ends() {
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(1).enable_all().build().unwrap();
    let silent = Arc::new(Silent::default());
    let cx = cx(silent.clone());
    runtime.block_on(async move {
        let running =
            tokio::spawn(async move { within(endless(), "tools.echo{} while true do pcall(error) end", &cx).await });
        silent.asked.notified().await;
        let answer = silent.waiting.lock().unwrap().pop().unwrap();
        answer.send(ToolOutcome::ok("go on")).unwrap();
        running.abort();
        assert!(running.await.unwrap_err().is_cancelled());
    });
    drop(runtime);
}

#[tokio::test]
async fn programs_wait_for_a_place() {
    let silent = Arc::new(Silent::default());
    let cx = cx(silent.clone());
    let start = || {
        let cx = cx.clone();
        tokio::spawn(async move { within(endless(), "return (tools.echo{})", &cx).await })
    };
    let running: Vec<_> = (0..6).map(|_| start()).collect();
    // Four calls come, of four programs; each end of one lets another begin.
    let mut open = Vec::new();
    for ended in 0..=2 {
        while open.len() < 4 {
            silent.asked.notified().await;
            open.append(&mut silent.waiting.lock().unwrap());
        }
        assert_eq!(open.len(), 4, "after {ended} ends");
        if ended < 2 {
            open.pop().unwrap().send(ToolOutcome::ok("done")).unwrap();
        }
    }
    open.into_iter().for_each(|answer| answer.send(ToolOutcome::ok("done")).unwrap());
    for one in running {
        assert_eq!(one.await.unwrap().unwrap().content.text(), "done");
    }
}
