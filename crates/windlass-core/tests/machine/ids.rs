//! Ids of tool uses that a model repeats.

use crate::lessons::lines;
use crate::render::render;
use crate::sequences::{call, sim, text};
use crate::sim::{Going, Sim, config};
use std::collections::BTreeSet;
use windlass_core::{Input, Machine, ModelFailure};
use windlass_session::repair;
use windlass_types::{BlockStart, ContentBlock, EventKind, JsonText, ModelErrorKind, ModelEvent, ModelItem, Usage};

/// Returns the ids of all tool uses of the last request, and of their results.
fn sent(sim: &Sim) -> (Vec<String>, Vec<String>) {
    let blocks = || sim.requests.last().unwrap().messages.iter().flat_map(|message| &message.content);
    let calls = blocks().filter_map(ContentBlock::as_tool_use).map(|call| call.id.to_string()).collect();
    let results = blocks().filter_map(ContentBlock::as_tool_result).map(|result| result.tool_use_id.to_string());
    (calls, results.collect())
}

/// Plays a session in which each message makes these calls.
fn session(messages: &[&[&str]]) -> Sim {
    let mut script: Vec<Vec<ContentBlock>> =
        messages.iter().map(|ids| ids.iter().map(|id| call(id, "Read", "a")).collect()).collect();
    script.push(vec![text("Done.")]);
    let mut sim = sim(config(), &script.iter().map(Vec::as_slice).collect::<Vec<_>>());
    sim.play();
    sim
}

#[test]
fn an_id_that_comes_again_gets_another_one() {
    for (given, expected) in [
        (&[&["x"][..], &["y"], &["z"]][..], &["x", "y", "z"][..]),
        (&[&["x"], &["x"], &["x"]], &["x", "x_2", "x_3"]),
        // Within a message, without an id, and where the other one is used later, or was before.
        (&[&["x", "x"], &["x"]], &["x", "x_2", "x_3"]),
        (&[&["", "y", ""], &[""]], &["call_1", "y", "call_2", "call_3"]),
        (&[&["x"], &["x"], &["x_2"]], &["x", "x_2", "x_2_2"]),
        (&[&["x_2"], &["x"], &["x"]], &["x_2", "x", "x_3"]),
        (&[&["x", "x_2", "x"]], &["x", "x_2", "x_3"]),
    ] {
        let sim = session(given);
        let (calls, results) = sent(&sim);
        assert_eq!(calls, expected, "{given:?}: {}", render(&sim.events));
        assert_eq!(results, expected);
    }
}

#[test]
fn the_host_hears_of_a_call_under_one_id_from_its_first_block_on() {
    let sim = session(&[&["x"], &["x"]]);
    for about in ["call ", "started ", "finished "] {
        let shown = lines(&sim, about);
        let ids: BTreeSet<&str> =
            shown.iter().filter_map(|line| line.strip_prefix(about)?.split([' ', ':']).next()).collect();
        assert!(ids.is_superset(&["x", "x_2"].into()), "{about}: {shown:?}");
    }
}

#[test]
fn a_resumed_session_gives_the_same_ids() {
    let sim = session(&[&["x", "x"], &["x", "y"]]);
    let (entries, report) = repair(sim.log.clone());
    assert!(report.is_clean(), "{report:?}");
    let again = Machine::new(config(), &entries);
    let texts = |machine: &Machine| -> Vec<String> {
        machine.state().transcript().messages().iter().map(|message| message.json().to_owned()).collect()
    };
    assert_eq!(texts(&again), texts(&sim.machine));
}

/// The provider's own frames, which hosts may ask for, have the replaced id too.
#[test]
fn the_frames_of_the_provider_have_the_other_id_too() {
    let mut sim = sim(config(), &[&[call("x", "Read", "a")], &[text("not asked for")]]);
    let is_model = |going: &Going| matches!(going, Going::Model { .. });
    while sim.requests.len() < 2 {
        sim.steps(1);
    }
    sim.play_except(is_model);
    let effect = sim.take(is_model);
    let start = ModelEvent::MessageStart { id: "m".into(), model: "m".into(), usage: Usage::default() };
    sim.input(Input::Model(effect, start.into()));
    for (index, id, own) in [(0, "y", "y"), (1, "x", "x_2"), (2, "", "call_1")] {
        let frame = format!(
            r#"{{"type":"content_block_start","index":{index},"content_block":{{"type":"tool_use","id":"{id}","input":{{}},"n":1.50}}}}"#
        );
        let block = BlockStart::ToolUse { id: id.into(), name: "Read".to_owned() };
        let raw = JsonText::parse(frame.as_str()).unwrap();
        sim.input(Input::Model(effect, ModelItem::with_raw(ModelEvent::BlockStart { index, block }, raw)));
        sim.input(Input::Model(effect, ModelEvent::BlockStop { index }.into()));
        let shown = sim.events.iter().rev().find_map(|event| match &event.kind {
            EventKind::ModelFrame { frame } => Some(frame.as_str()),
            _ => None,
        });
        let shown = shown.unwrap();
        assert!(shown.contains(&format!(r#""id":"{own}""#)) && shown.contains("1.50"), "{shown}");
        assert_eq!(shown == frame, id == own, "{shown}");
    }
}

/// The ids of a withdrawn message are free again.
#[test]
fn an_id_of_a_message_that_was_withdrawn_is_free() {
    let mut sim = sim(config(), &[&[call("x", "Net", "")], &[call("x", "Net", "")], &[text("Done.")]]);
    let is_model = |going: &Going| matches!(going, Going::Model { .. });
    sim.play_except(is_model);
    for _ in 0..4 {
        sim.let_go(is_model);
    }
    let finished = |event: &windlass_types::Event| matches!(&event.kind, EventKind::BlockFinished { .. });
    assert!(sim.events.iter().any(finished), "{}", render(&sim.events));
    let effect = sim.take(is_model);
    sim.input(Input::ModelFailed(effect, ModelFailure::new(ModelErrorKind::Cut, "cut")));
    sim.play();
    assert_eq!(sent(&sim).0, ["x"]);
}
