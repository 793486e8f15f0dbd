//! Limits of tool reports, which never delay orders.

use crate::world::{act, calls, is_started, soon, world};
use std::time::Duration;
use windlass_types::{EventKind, Interrupted, Outcome};

/// Speaks without pause, on a thread of its own, until it is asked to stop.
#[tokio::test(start_paused = true)]
async fn a_tool_that_never_stops_talking_is_heard_and_can_be_stopped() {
    let tool = act(|_, cx| async move {
        let talking = tokio::task::spawn_blocking(move || {
            let mut words = 0_u64;
            while !cx.cancel().is_cancelled() {
                cx.progress(format!("word {words}"));
                words += 1;
            }
            words
        });
        Ok(format!("{} words", talking.await.unwrap_or_default()))
    });
    let mut open = world(calls("act", 1), [tool]).open().await;
    open.say("go");
    open.until(is_started).await;
    open.until(|kind| matches!(kind, EventKind::ToolProgress(_))).await;
    open.handle.interrupt().unwrap();
    let events = soon(async {
        // Time passes only when nothing else can happen, on that thread either.
        tokio::time::sleep(Duration::from_millis(200)).await;
        open.until(|kind| matches!(kind, EventKind::RunFinished(_))).await
    })
    .await;
    let Some(EventKind::RunFinished(result)) = events.last().map(|event| &event.kind) else { panic!() };
    assert_eq!(result.outcome, Outcome::Interrupted { during: Interrupted::Tools });
    let words = events.iter().filter(|event| matches!(event.kind, EventKind::ToolProgress(_))).count();
    assert!(words <= 1, "{words} words wait for one reader");
}

#[tokio::test(start_paused = true)]
async fn the_last_word_of_a_call_comes_before_its_result() {
    let tool = act(|_, cx| async move {
        for word in 0..100_000 {
            cx.progress(format!("word {word}"));
        }
        Ok("done".to_owned())
    });
    let mut open = world(calls("act", 1), [tool]).open().await;
    open.say("go");
    let events = open.until(|kind| matches!(kind, EventKind::ToolFinished(_))).await;
    let words: Vec<&str> = events
        .iter()
        .filter_map(|event| match &event.kind {
            EventKind::ToolProgress(progress) => Some(progress.message.as_str()),
            _ => None,
        })
        .collect();
    assert_eq!(words.last(), Some(&"word 99999"));
    assert!(words.len() < 100, "{} words", words.len());
}
