//! A log that does not answer: the run waits for it, and can be observed and stopped meanwhile.

use crate::lessons::{lines, runs};
use crate::render::render;
use crate::sequences::{call, is_run, sim, text};
use crate::sim::{Going, Sim, config};
use windlass_core::Input;
use windlass_types::ContentBlock;

fn is_append(going: &Going) -> bool {
    matches!(going, Going::Append)
}

/// Returns a world in which the model calls a tool in each of many turns.
fn turns(tool: &str) -> Sim {
    let script: Vec<Vec<ContentBlock>> = (0..400).map(|turn| vec![call(&format!("t{turn}"), tool, "a")]).collect();
    sim(config(), &script.iter().map(Vec::as_slice).collect::<Vec<_>>())
}

#[test]
fn a_log_that_hangs_lets_one_more_request_out_and_no_call_of_its_answer() {
    for tool in ["Read", "Net", "Agent", "Nope"] {
        let mut sim = turns(tool);
        sim.play_except(is_append);
        assert_eq!(
            sim.requests.len(),
            if ["Net", "Agent"].contains(&tool) { 1 } else { 2 },
            "{tool}: {}",
            render(&sim.events)
        );
        assert_eq!(runs(&sim), [""; 0]);
        assert!(sim.log.len() < 20, "{} entries wait for the log", sim.log.len());
    }
}

#[test]
fn a_run_continues_where_it_was_when_the_log_answers() {
    let mut sim = sim(config(), &[&[call("t1", "Read", "a")], &[call("t2", "Read", "b")], &[text("Done.")]]);
    sim.play_except(is_append);
    assert_eq!(sim.requests.len(), 2);
    sim.play();
    assert_eq!(
        lines(&sim, "finished "),
        [r#"finished t1 ok: done: Read {"path":"a"} in /w"#, r#"finished t2 ok: done: Read {"path":"b"} in /w"#,]
    );
    assert_eq!(lines(&sim, "run ended"), ["run ended (Success), 3 turns"]);
}

#[test]
fn an_interrupt_is_carried_out_while_the_log_hangs() {
    for after in 0..12 {
        let mut sim = turns("Read");
        for _ in 0..after {
            if let Some(at) = sim.going.iter().position(|(_, going)| !is_append(going)) {
                let id = sim.going[at].0;
                sim.let_go_of(id);
            }
        }
        sim.input(Input::Interrupt);
        sim.play_except(is_append);
        let requests = sim.requests.len();
        assert!(sim.machine.is_idle(), "after {after} steps");
        // The next prompt waits for the log, too.
        sim.prompt("and now?");
        sim.play_except(is_append);
        sim.input(Input::Interrupt);
        sim.play_except(is_append);
        assert!(sim.requests.len() <= requests.max(2), "after {after} steps");
        sim.play();
        assert!(sim.machine.is_idle());
        assert_eq!(lines(&sim, "run ended").len(), 2, "{}", render(&sim.events));
    }
}

#[test]
fn a_call_that_speaks_while_the_log_hangs_is_heard_once() {
    let mut sim = sim(config(), &[&[call("t1", "Read", "a"), call("t2", "Net", "")], &[text("Done.")]]);
    // The first call runs already; the text of its message is not durable.
    sim.play_except(|going| is_append(going) || is_run(going));
    let run = sim.going.iter().find(|(_, going)| is_run(going)).map(|(id, _)| *id).unwrap();
    for word in 0..10_000 {
        sim.input(Input::Progress(run, format!("word {word}")));
    }
    sim.play();
    let shown = lines(&sim, "progress ");
    assert_eq!((shown.len(), shown.last().map(String::as_str)), (1, Some("progress t1: word 9999")));
}
