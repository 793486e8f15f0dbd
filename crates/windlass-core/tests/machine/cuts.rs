//! Runs that were cut or handed over at any point: another process continues them, and nothing is repeated.

use crate::choices::Choices;
use crate::pending::resumed;
use crate::render::render;
use crate::sequences::{call, is_model, is_run, sim, text};
use crate::sim::{Sim, WILD, Wild, config, odd_config};
use proptest::collection::vec;
use proptest::prelude::*;
use proptest::sample::Index;
use windlass_core::{Input, Prompt};
use windlass_session::{LastRun, OUTCOME_UNKNOWN, Transcript, repair};
use windlass_types::{Entry, EntryKind, EventKind, Outcome, RunFailureKind, SteeredFate, ToolUseId};

fn world(choices: Vec<u16>, wild: Wild) -> Sim {
    let mut choices = Choices::new(choices);
    let config = odd_config(&mut choices);
    let mut sim = Sim::new(config, choices, wild);
    sim.prompt("do it");
    sim
}

fn outcome(sim: &Sim) -> Outcome {
    let result = |kind: &EventKind| match kind {
        EventKind::RunFinished(result) => Some(result.outcome.clone()),
        _ => None,
    };
    sim.events.iter().rev().find_map(|event| result(&event.kind)).expect("no run has ended")
}

fn started(sim: &Sim) -> Vec<ToolUseId> {
    let started = sim.events.iter().filter_map(|event| match &event.kind {
        EventKind::ToolStarted(started) => Some(started.tool_use_id.clone()),
        _ => None,
    });
    started.collect()
}

/// Calls of a log that no other process may run: all but those that wait for answers.
fn settled(log: &[Entry]) -> Vec<ToolUseId> {
    let calls = log.iter().filter_map(|entry| match &entry.kind {
        EntryKind::Assistant(message) => Some(message.content.iter().filter_map(|block| block.as_tool_use())),
        _ => None,
    });
    let open: Vec<_> = Transcript::from_entries(log).open_calls().map(|call| call.id.clone()).collect();
    calls.flatten().map(|call| call.id.clone()).filter(|id| !open.contains(id)).collect()
}

/// Another process that continues a log, until its run has ended.
fn continued(log: &[Entry]) -> Sim {
    let mut sim = resumed(config(), log);
    sim.input(Input::Prompt(Prompt::continue_run()));
    sim.play();
    sim
}

/// `true` for a message of blanks alone: no model takes it, so a repair leaves it out.
fn is_blank(entry: &Entry) -> bool {
    let EntryKind::User(user) = &entry.kind else { return false };
    user.content.iter().all(|block| block.as_text().is_some_and(|text| text.trim().is_empty()))
}

/// Checks that a log was continued: the run has ended, the conversation begins as before and is valid, and no call of
/// the log has run again.
fn check_continued(log: &[Entry], again: &Sim) {
    let (before, left) = (resumed(config(), log), LastRun::of(log.iter().filter(|entry| !is_blank(entry))));
    let is_waiting = before.machine.state().transcript().has_open_calls() || !left.queued().is_empty();
    let outcome = outcome(again);
    let is_refused = matches!(&outcome, Outcome::Failed(failure) if failure.message.contains("nothing to continue"));
    assert_eq!(is_refused, left.open().is_none() && !is_waiting, "{outcome:?}: {}", render(&again.events));
    assert_eq!(LastRun::of(&again.log).open(), None, "the run is still open");
    let known = before.conversation();
    // The next entries may join the last message of the user.
    let whole = known.len().saturating_sub(1);
    assert_eq!(again.conversation()[..whole], known[..whole], "the conversation has another beginning");
    let settled = settled(&before.log);
    let repeated: Vec<_> = started(again).into_iter().filter(|id| settled.contains(id)).collect();
    assert!(repeated.is_empty(), "{repeated:?} ran again");
    let report = repair(again.log.clone()).1;
    assert!(report.synthetic.is_empty() && report.dropped_results == 0, "{report:?}");
}

proptest! {
    #![proptest_config(ProptestConfig { max_shrink_iters: 4_000, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn a_run_that_was_cut_anywhere_continues(choices in vec(any::<u16>(), 0..200), at in any::<Index>()) {
        let mut sim = world(choices, WILD);
        sim.play();
        let log = &sim.log[..at.index(sim.log.len() + 1)];
        check_continued(log, &continued(log));
    }

    #[test]
    fn a_run_that_was_handed_over_anywhere_continues(
        choices in vec(any::<u16>(), 0..200), steps in 0_usize..120, now in any::<bool>(),
    ) {
        let mut sim = world(choices, Wild { user: false, ..WILD });
        sim.steps(steps);
        sim.checks.user(&Input::HandOver);
        if !sim.over {
            sim.input(Input::HandOver);
        }
        if now && !sim.over {
            sim.input(Input::HandOverNow);
        }
        sim.play();
        prop_assert!(sim.over, "it was not handed over");
        check_continued(&sim.log, &continued(&sim.log));
    }
}

#[test]
fn a_prompt_without_an_answer_is_answered() {
    let cut = sim(config(), &[&[text("Lost.")]]);
    let again = continued(&cut.log);
    assert_eq!(outcome(&again), Outcome::Success);
    assert!(render(&again.events).contains("requesting m (Resumed)"), "{}", render(&again.events));
    assert_eq!(again.conversation().iter().filter(|line| line.contains("do it")).count(), 1);
}

#[test]
fn an_answer_without_the_end_of_its_run_ends_it_without_a_request() {
    let mut cut = sim(config(), &[&[text("Done.")]]);
    cut.play();
    cut.log.retain(|entry| !matches!(entry.kind, EntryKind::RunFinished(_)));
    let again = continued(&cut.log);
    assert_eq!((outcome(&again), again.requests.len()), (Outcome::Success, 0));
    let result = again.events.iter().find_map(|event| match &event.kind {
        EventKind::RunFinished(result) => Some(result.text.clone()),
        _ => None,
    });
    // The model of another program does not say that the run has ended.
    assert!(result.is_some_and(|text| text == "Done." || text.is_empty()));
}

#[test]
fn a_run_that_makes_no_progress_is_set_aside() {
    let mut log = sim(config(), &[]).log;
    for opening in 1..=3 {
        let mut config = config();
        config.ids.seed += opening << 70;
        let mut again = resumed(config, &log);
        again.input(Input::Prompt(Prompt::continue_run()));
        assert!(again.going.iter().any(|(_, going)| is_model(going)), "the model is not called");
        log.clone_from(&again.log);
    }
    let last = continued(&log);
    let Outcome::Failed(failure) = outcome(&last) else { panic!("{:?}", outcome(&last)) };
    assert_eq!((failure.kind, last.requests.len()), (RunFailureKind::NoProgress, 0));
    let after = continued(&last.log);
    assert!(matches!(outcome(&after), Outcome::Failed(failure) if failure.message.contains("nothing to continue")));
}

#[test]
fn messages_that_wait_outlive_the_process() {
    let mut cut = sim(config(), &[&[call("t1", "Write", "a")]]);
    cut.play_except(is_run);
    cut.input(Input::Steer(Prompt::text("and this")));
    cut.input(Input::Prompt(Prompt::text("then that")));
    let again = continued(&cut.log);
    assert_eq!(outcome(&again), Outcome::Success);
    let said = again.conversation().join("\n");
    let places: Vec<_> = [OUTCOME_UNKNOWN, "and this", "then that"].iter().map(|words| said.find(*words)).collect();
    assert!(places.iter().all(Option::is_some) && places.is_sorted(), "{said}");
    assert_eq!((said.matches("and this").count(), said.matches("then that").count()), (1, 1));
    assert!(started(&again).is_empty() && LastRun::of(&again.log).queued().is_empty());
}

#[test]
fn messages_that_were_taken_back_or_dropped_do_not_come_again() {
    let mut cut = sim(config(), &[&[call("t1", "Write", "a")]]);
    cut.play_except(is_run);
    let id = crate::sim::said(7);
    cut.input(Input::Steer(Prompt::text("not this").with_id(id.clone())));
    cut.input(Input::Withdraw(id));
    let fate = |event: &windlass_types::Event| matches!(&event.kind, EventKind::Steered(steered) if steered.fate == SteeredFate::Returned);
    assert!(cut.events.iter().any(fate));
    assert!(!continued(&cut.log).conversation().join("\n").contains("not this"));
    cut.input(Input::Prompt(Prompt::text("nor that")));
    cut.checks.user(&Input::Close);
    cut.input(Input::Close);
    cut.play();
    assert!(cut.over && LastRun::of(&cut.log).queued().is_empty());
}

#[test]
fn a_hand_over_waits_for_running_calls_and_says_nothing() {
    let mut sim = sim(config(), &[&[call("t1", "Write", "a")], &[text("Done.")]]);
    sim.play_except(is_run);
    sim.checks.user(&Input::HandOver);
    sim.input(Input::HandOver);
    assert!(!sim.over, "the running call was not waited for");
    sim.play();
    assert!(sim.over);
    assert_eq!(outcome(&sim), Outcome::HandedOver);
    let said = sim.conversation().join("\n");
    assert!(!said.contains("interrupted") && !said.contains(OUTCOME_UNKNOWN), "{said}");
    let again = continued(&sim.log);
    assert_eq!((outcome(&again), again.requests.len()), (Outcome::Success, 1));
    assert!(started(&again).is_empty());
}

#[test]
fn a_hand_over_at_once_leaves_the_outcome_of_running_calls_unknown() {
    let mut sim = sim(config(), &[&[call("t1", "Write", "a")]]);
    sim.play_except(is_run);
    sim.checks.user(&Input::HandOver);
    sim.input(Input::HandOver);
    sim.input(Input::HandOverNow);
    sim.play();
    assert!(sim.over);
    let again = continued(&sim.log);
    assert_eq!(outcome(&again), Outcome::Success);
    assert!(again.conversation().join("\n").contains(OUTCOME_UNKNOWN) && started(&again).is_empty());
}
