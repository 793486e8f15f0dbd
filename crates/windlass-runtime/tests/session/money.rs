//! Booked usage of a session, over all its agents, when streams break off or are stopped.

use crate::agents::{agent, prompt_of};
use crate::world::{model, soon, world};
use serde_json::json;
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};
use windlass_model::{Gate, ScriptedTurn};
use windlass_types::{EventKind, ModelInfo, NanoUsd, Outcome, Price, Usage};

/// Input tokens of each call, and output tokens of a call that does not come to its end. A token of either costs one.
const READ: u64 = 1_000;
const WRITTEN: u64 = 1_000;

/// The provider's bill.
type Bill = Arc<Mutex<u64>>;

fn add(bill: &Bill, tokens: u64) {
    *bill.lock().unwrap() += tokens;
}

/// An answer of twice as many tokens as are written before it ends: a word and the space behind it are one.
fn long() -> ScriptedTurn {
    let words = usize::try_from(2 * WRITTEN).unwrap();
    ScriptedTurn::new().text("word ".repeat(words)).delta_chars(500).usage(Usage::new(READ, 2 * WRITTEN))
}

/// The event of that answer before which so much is written: the message and the block begin first.
fn half() -> usize {
    2 + usize::try_from(WRITTEN * 5 / 500).unwrap()
}

fn whole(bill: &Bill, turn: ScriptedTurn) -> ScriptedTurn {
    add(bill, READ + 50);
    turn.usage(Usage::new(READ, 50))
}

/// A session whose main agent starts two others. The first calls of all three break off; what the others write then is
/// stopped at a gate, if there is one.
async fn session(gate: Option<&Gate>) -> (Bill, u64, Outcome) {
    let bill = Bill::default();
    let (counted, gate_of_model) = (Arc::clone(&bill), gate.cloned());
    let calls = Mutex::new(BTreeMap::<String, usize>::new());
    let answers = model(move |request, _| {
        let who = prompt_of(request);
        let call = {
            let mut calls = calls.lock().unwrap();
            let call = calls.entry(who.clone()).or_default();
            *call += 1;
            *call
        };
        match (who.as_str(), call) {
            (_, 1) => {
                add(&counted, READ + WRITTEN);
                long().cut_after(half())
            }
            ("go", 2) => whole(
                &counted,
                ScriptedTurn::new().tool_use_with_id("t0", "agent", json!({"prompt": "one"})).tool_use_with_id(
                    "t1",
                    "agent",
                    json!({"prompt": "two"}),
                ),
            ),
            ("go", _) => whole(&counted, ScriptedTurn::new().text("All done.")),
            _ => match &gate_of_model {
                Some(gate) => {
                    add(&counted, READ + WRITTEN);
                    long().gate_at(half(), gate)
                }
                None => whole(&counted, ScriptedTurn::new().text("Report.")),
            },
        }
    });
    let mut info = ModelInfo::new(200_000, 8_000);
    info.price = Some(Price::new(1, 1));
    let mut world = world(answers.with_info(info), [agent()]);
    world.budget = Some(NanoUsd::new(1_000_000));
    let mut open = world.open().await;
    open.say("go");
    if let Some(gate) = gate {
        soon(gate.wait_arrived(2)).await;
        open.handle.interrupt().unwrap();
    }
    let events = soon(open.until(|kind| matches!(kind, EventKind::RunFinished(_)))).await;
    let mut events = events;
    // The ends of the agents come first; the one of the session is the last.
    while !events.last().unwrap().agent.is_main() {
        events.extend(soon(open.until(|kind| matches!(kind, EventKind::RunFinished(_)))).await);
    }
    let reported = events.iter().rev().find_map(|event| match &event.kind {
        EventKind::UsageUpdated { cost, .. } => Some(cost.nano()),
        _ => None,
    });
    let Some(EventKind::RunFinished(result)) = events.pop().map(|event| event.kind) else { panic!() };
    assert_eq!(reported, Some(result.cost.nano()), "what was reported last is not what the session has cost");
    open.handle.close().await.unwrap();
    (bill, result.cost.nano(), result.outcome)
}

#[tokio::test(start_paused = true)]
async fn streams_that_break_off_are_booked_for_all_agents() {
    let (bill, booked, outcome) = session(None).await;
    assert_eq!(outcome, Outcome::Success);
    let billed = *bill.lock().unwrap();
    assert_eq!(billed, 3 * (READ + WRITTEN) + 4 * (READ + 50));
    assert!(booked >= billed && booked <= 2 * billed, "{booked} is booked and {billed} billed");
}

#[tokio::test(start_paused = true)]
async fn streams_that_are_stopped_are_booked_for_all_agents() {
    let (bill, booked, outcome) = session(Some(&Gate::new())).await;
    assert!(matches!(outcome, Outcome::Interrupted { .. }), "{outcome:?}");
    let billed = *bill.lock().unwrap();
    assert_eq!(billed, 5 * (READ + WRITTEN) + READ + 50);
    assert!(booked >= billed && booked <= 2 * billed, "{booked} is booked and {billed} billed");
}
