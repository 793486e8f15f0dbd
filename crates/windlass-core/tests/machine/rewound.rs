//! A conversation that is rewound between two runs.

use crate::lessons::lines;
use crate::sequences::{sim, text};
use crate::sim::{Going, Sim, config};
use std::time::Duration;
use windlass_core::Input;
use windlass_types::{EntryId, EntryKind};

/// Returns the entries of the prompts in the log.
fn prompts(sim: &Sim) -> Vec<EntryId> {
    let of_user = |kind: &EntryKind| matches!(kind, EntryKind::User(user) if !user.is_meta && !user.is_summary);
    sim.log.iter().filter(|entry| of_user(&entry.kind)).map(|entry| entry.id.clone()).collect()
}

/// Returns a session with two runs of one message each.
fn two_runs() -> Sim {
    let mut sim = sim(config(), &[&[text("One.")], &[text("Two.")], &[text("Three.")]]);
    sim.play();
    sim.prompt("more");
    sim.play();
    sim
}

fn is_rewind(going: &Going) -> bool {
    matches!(going, Going::Rewind(_))
}

#[test]
fn the_next_request_has_what_is_left_and_what_was_spent_stays_spent() {
    let mut sim = two_runs();
    let (spent, cwd) = (sim.machine.state().cost(), sim.machine.state().cwd().to_path_buf());
    let second = prompts(&sim)[1].clone();
    sim.input(Input::Rewind(second.clone()));
    assert!(!sim.machine.is_idle(), "a rewind is no rest");
    // Prompts wait for the rewind.
    sim.prompt("instead");
    sim.play_except(is_rewind);
    assert_eq!(sim.requests.len(), 2);
    sim.play();
    let texts: Vec<String> = sim.requests[2].messages.iter().map(|message| message.text()).collect();
    assert_eq!(texts.len(), 3, "{texts:?}");
    assert!(texts[0].contains("do it") && texts[1] == "One." && texts[2].contains("instead"), "{texts:?}");
    assert!(sim.machine.state().cost() > spent && sim.machine.state().cwd() == cwd);
    assert_eq!(lines(&sim, "run ended").len(), 3);
    // The parent of its entry is the last remaining one.
    let instead = sim.log.iter().rfind(|entry| prompts(&sim).last() == Some(&entry.id)).unwrap();
    let answer = sim.log.iter().find(|entry| matches!(entry.kind, EntryKind::Assistant(_))).unwrap();
    assert_eq!(instead.parent.as_ref(), Some(&answer.id));
}

#[test]
fn a_rewind_that_the_log_refuses_changes_nothing() {
    let mut sim = two_runs();
    sim.input(Input::Rewind(EntryId::from_bits(99)));
    sim.play();
    assert!(sim.machine.is_idle());
    sim.prompt("on");
    sim.play();
    assert_eq!(sim.requests[2].messages.len(), 5);
}

#[test]
fn no_run_is_rewound_and_a_session_closes_behind_a_rewind() {
    let mut sim = two_runs();
    sim.prompt("running");
    let first = prompts(&sim)[0].clone();
    sim.input(Input::Rewind(first.clone()));
    assert!(!sim.going.iter().any(|(_, going)| is_rewind(going)), "a run is in progress");
    sim.play();
    assert_eq!(sim.requests[2].messages.len(), 5);
    sim.input(Input::Rewind(first));
    sim.checks.user(&Input::Close);
    sim.input(Input::Close);
    sim.play_except(is_rewind);
    assert!(!sim.over, "it was closed while the log was at work");
    sim.play();
    assert!(sim.over && sim.machine.state().is_empty());
}

#[test]
fn a_session_that_is_closed_does_not_wait_for_ever_for_a_log_that_rewinds() {
    let mut sim = two_runs();
    let first = prompts(&sim)[0].clone();
    sim.input(Input::Rewind(first));
    sim.checks.user(&Input::Close);
    sim.input(Input::Close);
    assert!(!sim.over, "the log may answer yet");
    sim.input(Input::LogSilent(Duration::from_secs(65)));
    assert!(sim.over);
}
