//! Runs that repeat themselves are reminded, then stopped.

use crate::lessons::lines;
use crate::sequences::{call, sim, text};
use crate::sim::{Sim, config};
use windlass_types::ContentBlock;

const REMINDER: &str = "Your last turns repeated calls";

/// Plays a model that reads these files, one in each turn, and then says that it is done.
fn reads(files: impl IntoIterator<Item = String>) -> Sim {
    let mut turns: Vec<Vec<ContentBlock>> =
        files.into_iter().enumerate().map(|(at, file)| vec![call(&format!("t{at}"), "Read", &file)]).collect();
    turns.push(vec![text("Done.")]);
    let turns: Vec<&[ContentBlock]> = turns.iter().map(Vec::as_slice).collect();
    let mut config = config();
    config.limits.max_repeated_turns = 20;
    let mut sim = sim(config, &turns);
    sim.play();
    sim
}

fn reminders(sim: &Sim) -> usize {
    let last = sim.requests.last().unwrap();
    let blocks = last.messages.iter().flat_map(|message| message.content.iter());
    blocks.filter_map(ContentBlock::as_text).filter(|text| text.contains(REMINDER)).count()
}

#[test]
fn a_call_made_again_and_again_ends_the_run() {
    let sim = reads((0..40).map(|_| "a".to_owned()));
    // The first call is news, and twenty repeat it.
    assert_eq!((sim.requests.len(), reminders(&sim)), (21, 1));
    assert_eq!(lines(&sim, "run "), ["run started in /w", "run failed (NoProgress)"]);
}

#[test]
fn calls_in_turns_end_the_run_too() {
    let sim = reads((0..60).map(|at| ["a", "b", "c"][at % 3].to_owned()));
    assert_eq!(sim.requests.len(), 23);
    assert_eq!(lines(&sim, "run "), ["run started in /w", "run failed (NoProgress)"]);
}

#[test]
fn a_reminded_run_that_finds_another_way_goes_on() {
    let sim = reads((0..10).map(|_| "a".to_owned()).chain((0..30).map(|at| format!("b{at}"))));
    assert_eq!((sim.requests.len(), reminders(&sim)), (41, 1));
    assert!(lines(&sim, "run ended")[0].starts_with("run ended (Success)"), "{:?}", lines(&sim, "run "));
}
