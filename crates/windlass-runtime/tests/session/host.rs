//! Hosts that read late, or never, and sessions beside each other.

use crate::world::{Ran, calls, interest, key, look, model, soon, world};
use async_trait::async_trait;
use std::time::Duration;
use windlass_hook::{Hook, HookContext, HookError, Interest, SessionEnd};
use windlass_model::ScriptedTurn;
use windlass_session::{MemoryStore, SessionStore, check_log};
use windlass_types::{EventKind, HookEventName, Outcome};

/// A model that looks so many times, one turn each, in many words.
fn talkative(turns: usize) -> windlass_model::ScriptedModel {
    model(move |_, number| {
        if number < turns {
            ScriptedTurn::new().text("word ".repeat(50)).tool_use("look", serde_json::json!({}))
        } else {
            ScriptedTurn::new().text("Done.")
        }
    })
}

fn seen() -> std::sync::Arc<dyn windlass_tool::DynTool> {
    look(|_, _| async { Ok("seen".to_owned()) })
}

struct AtEnd;

#[async_trait]
impl Hook for AtEnd {
    fn name(&self) -> &str {
        "at-end"
    }

    fn interests(&self) -> Vec<Interest> {
        interest(HookEventName::SessionEnd)
    }

    async fn session_end(&self, _: &HookContext, _: &SessionEnd) -> Result<(), HookError> {
        Ok(())
    }
}

#[tokio::test(start_paused = true)]
async fn a_host_that_never_reads_stops_the_run_and_not_the_close() {
    let store = MemoryStore::new();
    let model = talkative(100_000);
    let mut open = world(model.clone(), [seen()]).hook(AtEnd).stored(&store).open().await;
    open.say("go");
    tokio::time::sleep(Duration::from_secs(5)).await;
    let asked = model.asked();
    assert!((10..200).contains(&asked), "{asked} calls without a reader");
    tokio::time::sleep(Duration::from_secs(60)).await;
    assert_eq!(model.asked(), asked, "it continues");
    soon(open.handle.close()).await.unwrap();
    let report = check_log(store.log(&key("s")).unwrap().as_slice()).unwrap();
    assert!(report.valid && report.synthetic_results == 0, "{report:?}");
    let (events, error) = open.rest().await;
    assert!(error.is_none() && events.len() < 1_000, "{} events were kept", events.len());
    let finished = events.iter().filter(|event| matches!(event.kind, EventKind::RunFinished(_))).count();
    assert_eq!(finished, 1);
}

#[tokio::test(start_paused = true)]
async fn one_message_without_end_waits_for_its_reader() {
    let model = model(|_, _| (0..3_000).fold(ScriptedTurn::new(), |turn, at| turn.text(format!("piece {at}"))));
    let mut open = world(model, []).open().await;
    open.say("go");
    tokio::time::sleep(Duration::from_secs(5)).await;
    open.handle.interrupt().unwrap();
    let events = soon(open.until(|kind| matches!(kind, EventKind::RunFinished(_)))).await;
    assert!((400..600).contains(&events.len()), "{} events", events.len());
}

#[tokio::test(start_paused = true)]
async fn a_host_that_reads_late_gets_everything() {
    let store = MemoryStore::new();
    let mut open = world(talkative(300), [seen()]).stored(&store).open().await;
    open.say("go");
    tokio::time::sleep(Duration::from_secs(5)).await;
    let events = soon(open.until(|kind| matches!(kind, EventKind::RunFinished(_)))).await;
    assert!(events.iter().enumerate().all(|(at, event)| event.seq == at as u64), "a gap");
    let finished = events.iter().filter(|event| matches!(event.kind, EventKind::ToolFinished(_))).count();
    assert_eq!(finished, 300);
}

#[tokio::test(start_paused = true)]
async fn a_host_that_reads_in_bursts_never_waits_for_nothing() {
    for burst in [1, 100, 255, 257, 400, 511] {
        let mut open = world(talkative(200), [seen()]).open().await;
        open.say("go");
        let mut over = false;
        while !over {
            tokio::time::sleep(Duration::from_millis(50)).await;
            for _ in 0..burst {
                over |= matches!(soon(open.next()).await.unwrap().kind, EventKind::RunFinished(_));
                if over {
                    break;
                }
            }
        }
    }
}

#[tokio::test]
async fn fifty_sessions_share_a_store() {
    let store = MemoryStore::new();
    let sessions = (0..50).map(|number| {
        let store = store.clone();
        tokio::spawn(async move {
            let ran = Ran::default();
            let mut world = world(calls("act", 3), [ran.act()]).stored(&store);
            world.id = format!("s{number}");
            let mut open = world.open().await;
            open.succeed("go").await;
            open.handle.close().await.unwrap();
            assert_eq!(ran.ids().len(), 3);
        })
    });
    for session in sessions.collect::<Vec<_>>() {
        soon(session).await.unwrap();
    }
    for number in 0..50 {
        let id = format!("s{number}");
        let report = check_log(store.log(&key(&id)).unwrap().as_slice()).unwrap();
        assert!(report.valid && report.messages == 4 && report.warnings.is_empty(), "{report:?}");
    }
    assert_eq!(store.list(&key("s0").project).await.unwrap().len(), 50);
}

#[tokio::test(start_paused = true)]
async fn prompts_queue_and_are_answered_in_order() {
    let model = model(|request, _| {
        let said = request.messages.last().unwrap().content[0].as_text().unwrap_or_default().to_owned();
        ScriptedTurn::new().text(format!("to {said}"))
    });
    let mut open = world(model, []).open().await;
    for number in 0..5 {
        open.say(&number.to_string());
    }
    for number in 0..5 {
        let result = open.result().await;
        assert_eq!((result.outcome, result.text), (Outcome::Success, format!("to {number}")));
    }
}
