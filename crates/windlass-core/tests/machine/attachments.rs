//! Attachments of the driver to prompts.

use crate::sequences::{call, is_run, sim, text};
use crate::sim::{Going, Sim, config};
use windlass_core::{Input, MachineConfig};
use windlass_types::{
    Behavior, ContentBlock, EntryKind, EventKind, HookCall, HookOutcome, HookVerdict, Interrupted, Outcome,
};

fn attaching() -> MachineConfig {
    let mut config = config();
    config.context.attachments = true;
    config
}

fn is_prompt(going: &Going) -> bool {
    matches!(going, Going::Hooks(HookCall::UserPromptSubmit(_)))
}

/// Attaches texts as the driver, then answers for the hooks.
fn attach(sim: &mut Sim, attached: &[&str], outcome: HookOutcome) {
    let asked = sim.take(is_prompt);
    for attached in attached {
        sim.input(Input::Attached(asked, vec![text(attached)]));
    }
    sim.input(Input::Hooked(asked, Box::new(outcome)));
}

/// Returns the texts of the user's side of the log, those of the runtime with a mark.
fn said(sim: &Sim) -> Vec<String> {
    let users = sim.log.iter().filter_map(|entry| match &entry.kind {
        EntryKind::User(user) => Some(user),
        _ => None,
    });
    let texts = users.flat_map(|user| {
        let mark = if user.is_meta { "runtime: " } else { "" };
        user.content.iter().filter_map(ContentBlock::as_text).map(move |text| format!("{mark}{text}"))
    });
    texts.collect()
}

fn last_outcome(sim: &Sim) -> Option<&Outcome> {
    sim.events.iter().rev().find_map(|event| match &event.kind {
        EventKind::RunFinished(result) => Some(&result.outcome),
        _ => None,
    })
}

#[test]
fn it_stands_behind_the_prompt_and_its_hooks_context() {
    let mut sim = sim(attaching(), &[&[text("Done.")]]);
    assert!(sim.requests.is_empty(), "the prompt waits");
    let mut outcome = HookOutcome::default();
    outcome.additional_context.push("of a hook".to_owned());
    attach(&mut sim, &["one", "two"], outcome);
    sim.play();
    let hook = "runtime: <system-reminder>\nof a hook\n</system-reminder>";
    assert_eq!(said(&sim), ["do it", hook, "runtime: one", "runtime: two"]);
    assert_eq!(last_outcome(&sim), Some(&Outcome::Success));
}

#[test]
fn a_prompt_without_any_is_sent_as_it_is() {
    let mut plain = sim(config(), &[&[text("Done.")]]);
    plain.play();
    let mut waiting = sim(attaching(), &[&[text("Done.")]]);
    attach(&mut waiting, &[], HookOutcome::default());
    waiting.play();
    assert_eq!(plain.conversation(), waiting.conversation());
}

#[test]
fn what_is_blocked_or_stopped_leaves_nothing_behind() {
    let mut blocked = sim(attaching(), &[&[text("Done.")]]);
    let mut outcome = HookOutcome::default();
    outcome.block = Some(HookVerdict::new(Behavior::Deny, "h", "not so"));
    attach(&mut blocked, &["one"], outcome);
    blocked.play();
    assert_eq!(said(&blocked), [""; 0]);
    let mut stopped = sim(attaching(), &[&[text("Done.")]]);
    let asked = stopped.take(is_prompt);
    stopped.input(Input::Interrupt);
    stopped.input(Input::Attached(asked, vec![text("late")]));
    stopped.input(Input::Hooked(asked, Box::default()));
    stopped.prompt("again");
    attach(&mut stopped, &["one"], HookOutcome::default());
    stopped.play();
    assert_eq!(said(&stopped), ["again", "runtime: one"]);
    let interrupted = stopped.events.iter().any(|event| {
        matches!(&event.kind, EventKind::RunFinished(result)
            if result.outcome == Outcome::Interrupted { during: Interrupted::Starting })
    });
    assert!(interrupted);
}

#[test]
fn a_message_to_a_run_has_its_own() {
    let mut sim = sim(attaching(), &[&[call("t1", "Net", "")], &[text("Done.")]]);
    attach(&mut sim, &["of the prompt"], HookOutcome::default());
    sim.play_except(is_run);
    sim.say(false);
    attach(&mut sim, &["of the message"], HookOutcome::default());
    sim.play();
    assert_eq!(said(&sim), ["do it", "runtime: of the prompt", "said 0", "runtime: of the message"]);
}
