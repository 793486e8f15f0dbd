//! Messages of the user to an open run.

use crate::choices::Choices;
use crate::lessons::lines;
use crate::sequences::{call, is_run, sim, text};
use crate::sim::{Going, Sim, WILD, Wild, config, odd_config, said};
use proptest::collection::vec;
use proptest::prelude::*;
use windlass_core::{Input, MachineConfig, Prompt};
use windlass_types::{
    Behavior, ContentBlock, EntryKind, EventKind, HookCall, HookEventName, HookOutcome, HookVerdict, Outcome,
    SteeredFate,
};

fn gated() -> MachineConfig {
    let mut config = config();
    config.listeners.hooks = [(HookEventName::UserPromptSubmit, None)].into();
    config
}

/// `true` for hooks that are asked about messages of the user.
fn is_gate(going: &Going) -> bool {
    matches!(going, Going::Hooks(HookCall::UserPromptSubmit(event)) if event.prompt.starts_with("said "))
}

fn answers(sim: &mut Sim, fill: impl FnOnce(&mut HookOutcome)) {
    let hook = sim.take(is_gate);
    let mut outcome = HookOutcome::default();
    fill(&mut outcome);
    sim.input(Input::Hooked(hook, Box::new(outcome)));
}

fn block(outcome: &mut HookOutcome) {
    outcome.block = Some(HookVerdict::new(Behavior::Deny, "h", "not so"));
}

/// Plays a run whose only call is running; then the model is done.
fn running(config: MachineConfig) -> Sim {
    let mut sim = sim(config, &[&[call("t1", "Net", "")], &[text("Done.")], &[text("And done.")]]);
    sim.play_except(is_run);
    sim
}

fn fates(sim: &Sim, number: usize) -> Vec<SteeredFate> {
    sim.checks.fates.get(&said(number)).cloned().unwrap_or_default()
}

/// Returns the texts of the last message of a request, results by their ids.
fn last_of(sim: &Sim, request: usize) -> Vec<String> {
    let content = &sim.requests[request].messages.last().unwrap().content;
    let text = |block: &ContentBlock| match block.as_tool_result() {
        Some(result) => result.tool_use_id.to_string(),
        None => block.as_text().unwrap().to_owned(),
    };
    content.iter().map(text).collect()
}

fn outcomes(sim: &Sim) -> Vec<Outcome> {
    let of = |kind: &EventKind| match kind {
        EventKind::RunFinished(result) => Some(result.outcome.clone()),
        _ => None,
    };
    sim.events.iter().filter_map(|event| of(&event.kind)).collect()
}

#[test]
fn hooks_are_asked_while_tools_run_and_the_message_waits_for_them() {
    let mut sim = running(gated());
    sim.say(false);
    // The call is not delayed, and the model is not called before the answer.
    sim.play_except(is_gate);
    assert_eq!((lines(&sim, "finished t1").len(), sim.requests.len()), (1, 1));
    answers(&mut sim, |outcome| outcome.additional_context.push("mind this".to_owned()));
    sim.play();
    let last = last_of(&sim, 1);
    assert_eq!((last[0].as_str(), last[1].as_str(), last.len()), ("t1", "said 0", 3));
    assert!(last[2].contains("mind this"), "{last:?}");
    assert_eq!(lines(&sim, "requesting")[1], "requesting m (Steered)");
    assert_eq!(fates(&sim, 0), [SteeredFate::Joined { entry: said(0) }]);
    assert_eq!(outcomes(&sim), [Outcome::Success]);
}

#[test]
fn hooks_keep_a_message_out_and_the_run_continues() {
    let mut sim = running(gated());
    sim.say(false);
    sim.say(false);
    answers(&mut sim, block);
    sim.play();
    assert_eq!(last_of(&sim, 1), ["t1", "said 1"]);
    assert_eq!(lines(&sim, "kept out"), ["kept out: not so"]);
    assert_eq!(fates(&sim, 0), [SteeredFate::Blocked { reason: "not so".to_owned() }]);
    assert_eq!(outcomes(&sim), [Outcome::Success]);
}

#[test]
fn hooks_that_want_an_end_have_it_at_the_safe_point() {
    let mut sim = running(gated());
    sim.say(false);
    answers(&mut sim, |outcome| outcome.stop = Some("enough".to_owned()));
    assert_eq!(outcomes(&sim), []);
    sim.play();
    assert_eq!((lines(&sim, "finished t1").len(), sim.requests.len()), (1, 1));
    assert_eq!(fates(&sim, 0), [SteeredFate::Blocked { reason: "enough".to_owned() }]);
    assert_eq!(outcomes(&sim), [Outcome::StoppedByHook { reason: "enough".to_owned() }]);
}

#[test]
fn a_safe_point_waits_only_for_what_came_before_it() {
    let mut sim = running(gated());
    sim.say(false);
    sim.play_except(is_gate);
    sim.say(false);
    answers(&mut sim, |_| ());
    assert_eq!(last_of(&sim, 1), ["t1", "said 0"]);
    sim.play_except(is_gate);
    // The model is done, and the second message continues the run.
    assert_eq!((outcomes(&sim).len(), sim.requests.len()), (0, 2));
    sim.play();
    assert_eq!((last_of(&sim, 2), outcomes(&sim)), (vec!["said 1".to_owned()], vec![Outcome::Success]));
}

#[test]
fn an_interrupt_makes_prompts_of_what_was_not_delivered_before_those_that_wait() {
    for asked in [false, true] {
        let mut sim = running(if asked { gated() } else { config() });
        sim.input(Input::Prompt(Prompt::text("later")));
        sim.say(false);
        sim.say(false);
        sim.input(Input::Interrupt);
        sim.play();
        let users: Vec<String> = sim.log.iter().filter_map(text_of_the_user).collect();
        assert_eq!(users.iter().filter(|text| text.as_str() != "do it").count(), 4, "{users:?}");
        let order = ["said 0", "said 1", "later"].map(|text| users.iter().position(|user| user == text).unwrap());
        assert!(order.is_sorted(), "{users:?}");
        assert_eq!(sim.checks.runs, 4);
        assert_eq!((fates(&sim, 0), fates(&sim, 1)), (vec![SteeredFate::Deferred], vec![SteeredFate::Deferred]));
        // Hooks are asked about one of two waiting messages at a time, and both pass the hooks again as prompts: the
        // first prompt, the message asked about before the stop, and the three that follow.
        assert_eq!(lines(&sim, "hook UserPromptSubmit").len(), if asked { 5 } else { 0 });
    }
}

#[test]
fn no_message_overtakes_an_earlier_one() {
    let mut sim = running(config());
    sim.say(false);
    sim.say(false);
    sim.input(Input::Interrupt);
    // The run of the first message is about to begin, and the second one waits for its own.
    sim.play_except(|going| matches!(going, Going::Model { .. }));
    sim.say(false);
    sim.say(true);
    sim.play();
    let users: Vec<String> = sim.log.iter().filter_map(text_of_the_user).filter(|text| text.contains("said")).collect();
    assert_eq!(users, ["said 0", "said 1", "said 2"]);
    assert_eq!((fates(&sim, 2), fates(&sim, 3)), (vec![SteeredFate::Deferred], vec![SteeredFate::Returned]));
}

#[test]
fn what_is_offered_is_given_back_when_it_cannot_be_delivered() {
    let mut sim = running(gated());
    sim.say(true);
    sim.input(Input::Interrupt);
    sim.play();
    assert_eq!((fates(&sim, 0), sim.checks.runs), (vec![SteeredFate::Returned], 1));
    // Between runs.
    sim.say(true);
    assert_eq!((fates(&sim, 1), sim.checks.runs), (vec![SteeredFate::Returned], 1));
    assert_eq!(sim.log.iter().filter_map(text_of_the_user).filter(|text| text.starts_with("said")).count(), 0);
}

#[test]
fn a_message_can_be_withdrawn_until_it_is_delivered() {
    let mut sim = running(gated());
    sim.say(false);
    sim.say(true);
    sim.play_except(is_gate);
    // The safe point is reached; hooks are asked about neither any more.
    sim.input(Input::Withdraw(said(1)));
    sim.input(Input::Withdraw(said(0)));
    assert_eq!((fates(&sim, 0), fates(&sim, 1)), (vec![SteeredFate::Returned], vec![SteeredFate::Returned]));
    assert_eq!(last_of(&sim, 1), ["t1"]);
    sim.input(Input::Withdraw(said(0)));
    sim.play();
    assert_eq!((fates(&sim, 0).len(), outcomes(&sim)), (1, vec![Outcome::Success]));
}

#[test]
fn hooks_that_come_later_are_asked_about_what_waits() {
    let mut sim = running(config());
    sim.say(false);
    sim.input(Input::SetHooks(gated().listeners.hooks));
    sim.play_except(is_gate);
    assert_eq!(sim.requests.len(), 1);
    // Removed hooks are not awaited, and their answers are ignored.
    let gone = sim.take(is_gate);
    sim.input(Input::SetHooks(std::collections::BTreeSet::new()));
    assert_eq!(last_of(&sim, 1), ["t1", "said 0"]);
    let mut late = HookOutcome::default();
    block(&mut late);
    sim.input(Input::Hooked(gone, Box::new(late)));
    sim.play();
    assert_eq!(fates(&sim, 0), [SteeredFate::Joined { entry: said(0) }]);
}

fn text_of_the_user(entry: &windlass_types::Entry) -> Option<String> {
    let EntryKind::User(user) = &entry.kind else { return None };
    user.content.first().filter(|_| !user.is_meta && !user.is_summary)?.as_text().map(str::to_owned)
}

/// Returns the numbers of the user's messages in the log; each has the id that it was sent with.
fn logged(sim: &Sim) -> Vec<usize> {
    let number = |entry: &windlass_types::Entry| {
        let number = text_of_the_user(entry)?.strip_prefix("said ")?.parse().unwrap();
        assert_eq!(entry.id, said(number));
        Some(number)
    };
    sim.log.iter().filter_map(number).collect()
}

fn talk(choices: Vec<u16>, talks: &[(usize, u8)], wild: Wild) -> Sim {
    let mut choices = Choices::new(choices);
    let config = odd_config(&mut choices);
    let mut sim = Sim::new(config, choices, wild);
    sim.prompt("do it");
    for (steps, what) in talks {
        sim.steps(*steps);
        match what {
            _ if sim.over => {}
            0 if wild.user => sim.input(Input::Interrupt),
            1 if wild.user => sim.withdraw(),
            2 | 3 => sim.say(true),
            4 => sim.prompt("more"),
            _ => sim.say(false),
        }
    }
    sim.play();
    sim
}

proptest! {
    #![proptest_config(ProptestConfig { max_shrink_iters: 4_000, failure_persistence: None, ..ProptestConfig::default() })]

    /// With any behavior of user, hooks and model, no message is delivered twice or out of order, and each has one
    /// fate.
    #[test]
    fn each_message_has_one_fate(
        choices in vec(any::<u16>(), 0..250), talks in vec((0_usize..25, 0_u8..8), 1..25),
    ) {
        let sim = talk(choices, &talks, WILD);
        let logged = logged(&sim);
        prop_assert!(logged.is_sorted_by(|one, next| one < next), "doubled or out of order: {:?}", logged);
        for (number, returns) in sim.said.iter().enumerate() {
            let (fates, is_logged) = (fates(&sim, number), logged.contains(&number));
            prop_assert!(fates.len() <= 1, "{}: {:?}", number, fates);
            match fates.first() {
                Some(SteeredFate::Joined { entry }) => prop_assert!(is_logged && *entry == said(number)),
                Some(SteeredFate::Deferred) => prop_assert!(!returns),
                Some(_) => prop_assert!(!is_logged, "{} was not to be read", number),
                None => prop_assert!(sim.over || !returns, "{} is lost", number),
            }
        }
    }

    /// Without stops and denials every message is read.
    #[test]
    fn no_message_is_lost(
        choices in vec(any::<u16>(), 0..250), talks in vec((0_usize..25, 4_u8..8), 1..25),
    ) {
        let sim = talk(choices, &talks, Wild { user: false, gate: false, ..WILD });
        let everything: Vec<usize> = (0..sim.said.len()).collect();
        prop_assert_eq!(logged(&sim), everything);
        prop_assert!(sim.machine.is_idle());
    }
}
