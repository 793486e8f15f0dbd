//! Auto mode: a classifier is asked about the calls that rules leave undecided, and about nothing else.

use crate::lessons::lines;
use crate::render::render;
use crate::sequences::{call, is_ask, sim, text};
use crate::sim::{Going, Sim, config};
use crate::tools;
use std::path::Path;
use windlass_core::{Input, MachineConfig};
use windlass_permission::Classified;
use windlass_types::{
    AuditedDecision, Behavior, DecisionReason, EntryKind, HookEventName, HookOutcome, HookVerdict, PermissionAnswer,
    PermissionMode, RuleSource, Usage,
};

fn auto() -> MachineConfig {
    let mut config = config();
    config.policy = tools::policy(PermissionMode::Auto);
    config
}

fn is_classify(going: &Going) -> bool {
    matches!(going, Going::Classify)
}

fn start(config: MachineConfig) -> Sim {
    sim(config, &[&[call("t1", "mcp__x__send", "a")], &[text("Done.")]])
}

fn allow() -> Classified {
    Classified::Allow("It only sends a greeting".to_owned())
}

fn verdicts(sim: &Sim) -> Vec<&AuditedDecision> {
    sim.log
        .iter()
        .filter_map(|entry| match &entry.kind {
            EntryKind::Decision(audited) => Some(audited),
            _ => None,
        })
        .collect()
}

/// Returns the number of calls that have begun.
fn started(sim: &Sim) -> usize {
    lines(sim, "started t1").len()
}

/// Plays until the classifier is asked, and answers for it.
fn says(sim: &mut Sim, verdict: Classified) {
    sim.play_except(is_classify);
    let effect = sim.take(is_classify);
    sim.input(Input::Classified(effect, verdict));
}

#[test]
fn what_the_classifier_allows_runs_without_a_question() {
    let mut sim = start(auto());
    says(&mut sim, allow());
    sim.play();
    assert_eq!(started(&sim), 1, "{}", render(&sim.events));
    assert!(lines(&sim, "asked about").is_empty());
    let logged = &verdicts(&sim)[0].decision;
    assert_eq!((logged.behavior, logged.reason), (Behavior::Allow, DecisionReason::Classifier));
    assert_eq!(logged.message, "The classifier allows it: It only sends a greeting.");
}

#[test]
fn what_it_does_not_allow_is_asked_about_with_its_reason() {
    for (verdict, expected) in [
        (Classified::Ask("It reaches others".to_owned()), "The classifier wants it asked about: It reaches others."),
        (Classified::Failed("it took too long".to_owned()), "The classifier gave no verdict: it took too long."),
    ] {
        let mut sim = start(auto());
        says(&mut sim, verdict);
        sim.play_except(is_ask);
        let asked = sim.going.iter().find_map(|(_, going)| match going {
            Going::Ask(request) => Some(request.decision.clone()),
            _ => None,
        });
        assert!(asked.unwrap().message.ends_with(expected));
        assert_eq!(started(&sim), 0);
        sim.says(PermissionAnswer::allow());
        sim.play();
        assert_eq!(started(&sim), 1);
        let logged: Vec<_> = verdicts(&sim).iter().map(|v| (v.decision.behavior, v.decision.reason)).collect();
        assert_eq!(logged, [(Behavior::Ask, DecisionReason::Default), (Behavior::Allow, DecisionReason::Host)]);
        assert!(verdicts(&sim)[0].decision.message.ends_with(expected), "the log has what it said");
    }
}

#[test]
fn without_a_host_a_question_is_a_denial_that_says_why() {
    let mut config = auto();
    config.listeners.can_ask = false;
    let mut sim = start(config);
    says(&mut sim, Classified::Ask("It reaches others".to_owned()));
    sim.play();
    let last = &verdicts(&sim).last().unwrap().decision;
    assert_eq!((last.behavior, last.reason), (Behavior::Deny, DecisionReason::NobodyToAsk));
    assert!(last.message.contains("It reaches others."), "{}", last.message);
}

/// The classifier decides neither calls with a deny or ask rule, nor the safety floor, a hook or another mode.
#[test]
fn it_is_not_asked_about_what_is_decided() {
    let with_rule = |behavior| {
        let mut config = auto();
        config.policy.add_rules(RuleSource::Session, behavior, &["mcp__x__send"], Path::new("/w")).unwrap();
        config
    };
    let in_mode = |mode| {
        let mut config = config();
        config.policy = tools::policy(mode);
        config
    };
    let mut without = auto();
    without.listeners.classifies = false;
    for config in [
        with_rule(Behavior::Deny),
        with_rule(Behavior::Ask),
        with_rule(Behavior::Allow),
        in_mode(PermissionMode::Default),
        in_mode(PermissionMode::AcceptEdits),
        in_mode(PermissionMode::Plan),
        in_mode(PermissionMode::DontAsk),
        without,
    ] {
        let mode = config.policy.mode();
        let mut sim = start(config);
        // An effect that is left open would keep this from its end.
        sim.play_except(|going| is_ask(going) || is_classify(going));
        assert!(!sim.going.iter().any(|(_, going)| is_classify(going)), "{mode}");
    }
    let mut hooked = auto();
    hooked.listeners.hooks = [(HookEventName::PreToolUse, None)].into();
    let mut sim = start(hooked);
    sim.play_except(|going| matches!(going, Going::Hooks(_)));
    let hook = sim.take(|going| matches!(going, Going::Hooks(_)));
    let mut outcome = HookOutcome::default();
    outcome.verdict = Some(HookVerdict::new(Behavior::Ask, "h", "look at it"));
    sim.input(Input::Hooked(hook, Box::new(outcome)));
    sim.play_except(|going| is_ask(going) || is_classify(going));
    assert!(sim.going.iter().any(|(_, going)| is_ask(going)), "{}", render(&sim.events));
}

/// A verdict is checked against the policy when it arrives, and again when the call begins.
#[test]
fn a_verdict_does_not_outlive_the_mode() {
    for (mode, reason) in [
        (PermissionMode::Plan, Some(DecisionReason::Mode)),
        (PermissionMode::DontAsk, Some(DecisionReason::Mode)),
        (PermissionMode::Default, None),
    ] {
        let mut sim = start(auto());
        sim.play_except(is_classify);
        sim.input(Input::SetPermissionMode(mode));
        says(&mut sim, allow());
        sim.play_except(is_ask);
        assert_eq!(started(&sim), 0, "{mode}");
        assert_eq!(verdicts(&sim).last().map(|audited| audited.decision.reason), reason, "{mode}");
        assert_eq!(sim.going.iter().any(|(_, going)| is_ask(going)), reason.is_none(), "{mode}");
    }
}

#[test]
fn it_is_asked_once_about_a_call() {
    let mut sim = start(auto());
    says(&mut sim, allow());
    // The verdict is checked again, since the rights have changed before the call begins.
    sim.input(Input::SetHooks([(HookEventName::Stop, None)].into()));
    sim.play_except(is_classify);
    assert!(!sim.going.iter().any(|(_, going)| is_classify(going)));
    assert_eq!(started(&sim), 1);
}

#[test]
fn a_stop_does_not_wait_for_it() {
    let mut sim = start(auto());
    sim.play_except(is_classify);
    let effect = sim.going.iter().find(|(_, going)| is_classify(going)).unwrap().0;
    sim.input(Input::Interrupt);
    sim.play_except(is_classify);
    assert!(lines(&sim, "run ended (Interrupted").len() == 1, "{}", render(&sim.events));
    sim.input(Input::Classified(effect, allow()));
    sim.play();
    assert_eq!(started(&sim), 0);
}

/// The cost of the classifier is booked beside the conversation.
#[test]
fn what_it_costs_is_part_of_the_result() {
    let mut sim = start(auto());
    sim.play_except(is_classify);
    let mut usage = Usage::default();
    (usage.input_tokens, usage.output_tokens) = (700, 20);
    sim.input(Input::Used(Box::new(crate::sim::model("judge")), usage));
    says(&mut sim, allow());
    sim.play();
    assert_eq!(lines(&sim, "usage of judge").len(), 1, "{}", render(&sim.events));
    let record = sim.log.iter().rev().find_map(|entry| match &entry.kind {
        EntryKind::RunFinished(record) => Some(record),
        _ => None,
    });
    assert_eq!(record.unwrap().model_usage["judge"].usage.input_tokens, 700);
}
