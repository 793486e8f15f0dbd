//! Scopes of commands and skills for one run, and prompts that are assembled from calls.

use crate::choices::Choices;
use crate::sequences::{call, is_ask, is_run, text};
use crate::sim::{Going, Sim, TAME, WILD, config, model};
use windlass_core::{Input, Prompt};
use windlass_types::{
    ContentBlock, EntryKind, EventKind, HookEventName, Interrupted, JsonText, Outcome, PermissionAnswer,
    PermissionMode, PromptCall, PromptPart, RunFailureKind, RunModel, RunScope, SteeredFate, ToolUse,
};

fn scope(allow: &[&str], deny: &[&str]) -> RunScope {
    let mut scope = RunScope::default();
    scope.allow = allow.iter().map(|rule| (*rule).to_owned()).collect();
    scope.deny = deny.iter().map(|rule| (*rule).to_owned()).collect();
    scope
}

fn of_call(tool: &str, path: &str) -> PromptCall {
    PromptCall::new(tool, JsonText::parse(format!(r#"{{"path":"{path}"}}"#)).unwrap(), format!("!`{tool} {path}`"))
}

fn part(tool: &str, path: &str) -> PromptPart {
    PromptPart::Call(of_call(tool, path))
}

fn with_parts(parts: Vec<PromptPart>) -> Prompt {
    Prompt::new(Vec::new()).with_parts(parts)
}

fn world(prompts: Vec<Prompt>, script: &[&[ContentBlock]]) -> Sim {
    let mut sim = Sim::new(config(), Choices::new(Vec::new()), TAME);
    sim.script = script.iter().map(|message| message.to_vec()).collect();
    for prompt in prompts {
        sim.input(Input::Prompt(prompt));
    }
    sim
}

fn outcomes(sim: &Sim) -> Vec<&Outcome> {
    let finished = sim.events.iter().filter_map(|event| match &event.kind {
        EventKind::RunFinished(result) => Some(&result.outcome),
        _ => None,
    });
    finished.collect()
}

fn failure(sim: &Sim) -> &str {
    match outcomes(sim).last() {
        Some(Outcome::Failed(failure)) if failure.kind == RunFailureKind::PromptCall => &failure.message,
        other => panic!("{other:?}"),
    }
}

fn prompts(sim: &Sim) -> Vec<String> {
    let users = sim.log.iter().filter_map(|entry| match &entry.kind {
        EntryKind::User(user) if !user.is_meta => Some(user.content.iter().filter_map(ContentBlock::as_text).collect()),
        _ => None,
    });
    users.collect()
}

fn results(sim: &Sim) -> Vec<(bool, String)> {
    let results = sim.events.iter().filter_map(|event| match &event.kind {
        EventKind::ToolFinished(finished) => Some((finished.result.is_error, finished.result.content.text())),
        _ => None,
    });
    results.collect()
}

#[test]
fn what_a_command_may_do_ends_with_its_run() {
    let write = [call("t1", "Write", "a"), call("t2", "Net", "")];
    let again = [call("t3", "Write", "a"), call("t4", "Net", "")];
    let scoped = Prompt::text("fix").within(scope(&["Write", "Banned"], &["Net"]));
    let mut sim = world(vec![scoped, Prompt::text("next")], &[&write, &[text("Done.")], &again, &[text("Done.")]]);
    sim.play_except(is_ask);
    let seen = results(&sim);
    assert!(seen[0].0 && seen[0].1.contains("Net") && !seen[1].0, "{seen:?}");
    assert_eq!(sim.going.iter().filter(|(_, going)| is_ask(going)).count(), 1, "the next run asks again");
    sim.says(PermissionAnswer::allow());
    sim.play();
    assert!(results(&sim).iter().skip(2).all(|(failed, _)| !failed), "{:?}", results(&sim));
    assert_eq!(outcomes(&sim), [&Outcome::Success, &Outcome::Success]);
}

#[test]
fn a_skill_grants_what_it_asks_for_to_the_run_that_uses_it() {
    let input = JsonText::parse(r#"{"grants":"Write"}"#).unwrap();
    let skill = ContentBlock::ToolUse(ToolUse::new("t1", "Net", input));
    let script: &[&[ContentBlock]] =
        &[&[skill], &[call("t2", "Write", "a")], &[text("Done.")], &[call("t3", "Write", "a")]];
    let mut sim = world(vec![Prompt::text("one"), Prompt::text("two")], script);
    sim.play_except(is_ask);
    assert_eq!(results(&sim).len(), 2);
    assert_eq!(sim.going.iter().filter(|(_, going)| is_ask(going)).count(), 1);
}

#[test]
fn a_command_lifts_no_deny_and_no_plan_mode() {
    let calls = [call("t1", "Banned", "a"), call("t2", "Write", "a")];
    let mut sim = world(Vec::new(), &[&calls, &[text("Done.")]]);
    sim.input(Input::SetPermissionMode(PermissionMode::Plan));
    sim.input(Input::Prompt(Prompt::text("fix").within(scope(&["Banned", "Write"], &[]))));
    sim.play();
    assert!(results(&sim).iter().all(|(failed, _)| *failed), "{:?}", results(&sim));
}

#[test]
fn a_command_that_forbids_what_cannot_be_read_is_not_sent() {
    let mut sim = world(vec![Prompt::text("fix").within(scope(&["Write"], &["Odd("]))], &[]);
    sim.play();
    assert!(failure(&sim).contains("Odd("), "{:?}", outcomes(&sim));
    assert!(sim.requests.is_empty() && prompts(&sim).is_empty());
}

#[test]
fn a_command_has_its_model_for_its_run() {
    let other = model("other");
    let mut chosen = RunScope::default();
    chosen.model = Some(RunModel::Known { id: other.id, info: Box::new(other.info) });
    let mut sim = world(vec![Prompt::text("a").within(chosen), Prompt::text("b")], &[]);
    sim.play();
    let models: Vec<&str> = sim.requests.iter().map(|request| request.model.as_str()).collect();
    assert_eq!(models, ["other", "m"]);
}

#[test]
fn calls_give_parts_of_a_prompt() {
    let parts = vec![PromptPart::Text("See ".to_owned()), part("Read", "a"), PromptPart::Text(" now".to_owned())];
    let mut sim = world(vec![with_parts(parts)], &[&[text("Done.")]]);
    sim.play();
    assert_eq!(prompts(&sim), [r#"See done: Read {"path":"a"} in /w now"#]);
    assert_eq!(outcomes(&sim), [&Outcome::Success]);
    assert!(results(&sim).is_empty(), "no call of the model ran");
    assert_eq!(sim.requests.len(), 1);
}

#[test]
fn a_call_of_a_prompt_passes_the_gate() {
    // Denied by a rule, unknown, without input, failing.
    let failing = PromptCall::new("Net", JsonText::parse(r#"{"fail":true}"#).unwrap(), "!`Net`");
    for call in [
        of_call("Banned", "a"),
        of_call("Unknown", "a"),
        PromptCall::new("Read", JsonText::empty_object(), "@"),
        failing,
    ] {
        let quoted = call.source.clone();
        let mut sim = world(vec![with_parts(vec![PromptPart::Call(call.clone())])], &[]);
        sim.play();
        assert!(failure(&sim).contains(&quoted), "{:?}", outcomes(&sim));
        assert!(sim.requests.is_empty() && prompts(&sim).is_empty(), "nothing of it is sent");
        let mut sim =
            world(vec![with_parts(vec![PromptPart::Call(call.or_else("as it stands"))])], &[&[text("Done.")]]);
        sim.play();
        assert_eq!(prompts(&sim), ["as it stands"]);
    }
}

#[test]
fn a_question_about_a_call_of_a_prompt_goes_to_the_host() {
    for answer in [PermissionAnswer::allow(), PermissionAnswer::deny("no")] {
        let allowed = matches!(answer, PermissionAnswer::Allow { .. });
        let mut sim = world(vec![with_parts(vec![part("Write", "a")])], &[&[text("Done.")]]);
        sim.play_except(is_ask);
        assert!(sim.requests.is_empty());
        sim.says(answer);
        sim.play();
        match allowed {
            true => assert_eq!(prompts(&sim), [r#"done: Write {"path":"a"} in /w"#]),
            false => assert!(failure(&sim).ends_with("failed: no"), "{}", failure(&sim)),
        }
        let stored = |kind: &EntryKind| matches!(kind, EntryKind::Decision(_));
        assert!(sim.log.iter().any(|entry| stored(&entry.kind)), "the verdict can be read from the log");
    }
    // Without a host to answer, a call that would ask is denied; with the rule of the command no request is needed.
    let mut alone = config();
    alone.listeners.can_ask = false;
    for (rules, sent) in [(scope(&[], &[]), 0), (scope(&["Write"], &[]), 1)] {
        let mut sim = Sim::new(alone.clone(), Choices::new(Vec::new()), TAME);
        sim.input(Input::Prompt(with_parts(vec![part("Write", "a")]).within(rules)));
        sim.play();
        assert_eq!(prompts(&sim).len(), sent);
    }
}

#[test]
fn hooks_see_calls_of_a_prompt_before_the_prompt() {
    let mut config = config();
    config.listeners.hooks = [HookEventName::SessionStart, HookEventName::PreToolUse, HookEventName::UserPromptSubmit]
        .map(|on| (on, None))
        .into();
    let mut sim = Sim::new(config, Choices::new(Vec::new()), TAME);
    sim.input(Input::Prompt(with_parts(vec![part("Read", "a")])));
    for event in [HookEventName::SessionStart, HookEventName::PreToolUse, HookEventName::UserPromptSubmit] {
        let is_hook = |going: &Going| matches!(going, Going::Hooks(_));
        sim.play_except(is_hook);
        let asked = sim.going.iter().find_map(|(_, going)| match going {
            Going::Hooks(call) => Some(call.event()),
            _ => None,
        });
        assert_eq!(asked, Some(event));
        sim.let_go(is_hook);
    }
    sim.play();
    assert_eq!(prompts(&sim).len(), 1);
}

#[test]
fn a_prompt_whose_calls_run_can_be_stopped() {
    let mut sim =
        world(vec![with_parts(vec![part("Net", ""), part("Write", "a")]), Prompt::text("next")], &[&[text("Hi.")]]);
    sim.play_except(|going| is_run(going) || is_ask(going));
    sim.input(Input::Interrupt);
    sim.play();
    assert_eq!(outcomes(&sim), [&Outcome::Interrupted { during: Interrupted::Starting }, &Outcome::Success]);
    assert_eq!(prompts(&sim), ["next"]);
}

#[test]
fn a_command_does_not_join_the_run_of_another_prompt() {
    let mut sim = world(vec![Prompt::text("one")], &[&[call("t1", "Net", "")], &[text("Done.")], &[text("Done.")]]);
    sim.play_except(is_run);
    sim.input(Input::Steer(with_parts(vec![part("Read", "a")])));
    sim.input(Input::Offer(Prompt::text("x").within(scope(&["Write"], &[]))));
    sim.play();
    let fates: Vec<&SteeredFate> = sim
        .events
        .iter()
        .filter_map(|event| match &event.kind {
            EventKind::Steered(steered) => Some(&steered.fate),
            _ => None,
        })
        .collect();
    assert_eq!(fates, [&SteeredFate::Deferred, &SteeredFate::Returned]);
    assert_eq!(outcomes(&sim).len(), 2);
}

/// No right outlives its run under any inputs, and each run ends once.
#[test]
fn rights_of_a_run_never_outlive_it() {
    for seed in 0..30_u32 {
        let bytes = (0..400)
            .map(|at: u32| (seed.wrapping_mul(2_654_435_761).wrapping_add(at.wrapping_mul(40_503)) >> 11) as u16);
        let mut sim = Sim::new(config(), Choices::new(bytes.collect()), WILD);
        sim.input(Input::Prompt(
            with_parts(vec![part("Read", "a"), part("Write", "b")]).within(scope(&["Write"], &["Net"])),
        ));
        sim.play();
        if sim.machine.is_idle() {
            let mut left = sim.machine.policy().clone();
            assert!(!left.end_run(), "seed {seed}");
        }
    }
}
