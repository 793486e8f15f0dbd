//! Known bugs of such harnesses, each as a test. The names are those of the list in which they were collected.

use crate::check::valid;
use crate::render::render;
use crate::sequences::{call, is_ask, is_run, sim, text};
use crate::sim::{Going, Sim, config, model};
use crate::tools;
use windlass_core::{Input, Prompt};
use windlass_types::{
    Behavior, ContentBlock, HookEventName, HookOutcome, HookVerdict, JsonText, NanoUsd, PermissionAnswer,
    PermissionMode, StopReason, ToolMatcher, ToolUse,
};

pub(crate) fn lines(sim: &Sim, about: &str) -> Vec<String> {
    render(&sim.events).lines().filter(|line| line.contains(about)).map(str::to_owned).collect()
}

pub(crate) fn runs(sim: &Sim) -> Vec<String> {
    let running = sim.going.iter().filter_map(|(_, going)| match going {
        Going::Run(call) => Some(call.facts.digest.as_str().to_owned()),
        _ => None,
    });
    running.collect()
}

/// A1, A8: a stop at every step leaves a valid next request.
#[test]
fn a1_a_stop_at_every_step_leaves_a_valid_history() {
    let calls = [text("So."), call("t1", "Read", "a"), call("t2", "Write", "b"), call("t3", "Net", "")];
    for steps in 0..40 {
        let mut sim = sim(config(), &[&calls, &[text("Done.")]]);
        sim.steps(steps);
        sim.input(Input::Interrupt);
        sim.prompt("and now?");
        sim.play();
        valid(&sim.requests.last().unwrap().messages);
        assert!(sim.machine.is_idle(), "after {steps} steps");
    }
}

/// A6: of two results for one call, the first counts.
#[test]
fn a6_a_second_result_changes_nothing() {
    let mut sim = sim(config(), &[&[call("t1", "Net", "")], &[text("Done.")]]);
    sim.play_except(is_run);
    let run = sim.take(is_run);
    sim.input(Input::Ran(run, Box::new(windlass_types::ToolOutcome::ok("one"))));
    sim.input(Input::Ran(run, Box::new(windlass_types::ToolOutcome::ok("two"))));
    sim.play();
    assert_eq!(lines(&sim, "finished t1"), ["finished t1 ok: one"]);
    assert_eq!(sim.requests[1].messages[2].content.len(), 1);
}

/// No call of a refusing message is run.
#[test]
fn calls_of_a_refusing_message_are_answered_and_do_not_run() {
    let mut sim = Sim::new(config(), crate::choices::Choices::new(Vec::new()), crate::sim::TAME);
    sim.script = vec![vec![call("t1", "Read", "a"), call("t2", "Write", "b")]];
    sim.reasons = vec![StopReason::Refusal];
    sim.prompt("go");
    sim.play();
    let finished = lines(&sim, "finished ");
    assert_eq!(finished.len(), 2, "{}", render(&sim.events));
    assert!(finished.iter().all(|line| line.contains("refusal")), "{finished:?}");
    assert!(lines(&sim, "run ended")[0].contains("Refused"));
    assert_eq!(sim.requests.len(), 1);
}

/// A10: a call that the output limit cut is answered, not run.
#[test]
fn a10_a_call_that_was_cut_is_answered_and_the_others_run() {
    let mut sim = Sim::new(config(), crate::choices::Choices::new(Vec::new()), crate::sim::TAME);
    sim.script = vec![vec![call("t1", "Read", "a"), call("t2", "Read", "b")], vec![text("Done.")]];
    sim.reasons = vec![StopReason::MaxTokens, StopReason::EndTurn];
    sim.prompt("do it");
    sim.play();
    assert_eq!(lines(&sim, "started"), ["run started in /w", "started t1: Read /w/a"]);
    assert!(lines(&sim, "finished t2")[0].contains("output limit"));
    valid(&sim.requests[1].messages);
}

/// A10: answers that were cut count only in a row.
#[test]
fn a10_a_whole_message_between_two_that_were_cut_starts_the_count_again() {
    let mut sim = Sim::new(config(), crate::choices::Choices::new(Vec::new()), crate::sim::TAME);
    let cut = vec![text("a")];
    let whole = vec![call("t1", "Read", "a")];
    sim.script = vec![cut.clone(), cut.clone(), cut.clone(), whole, cut.clone(), cut.clone(), cut, vec![text("b")]];
    sim.reasons = [3, 1, 3, 1]
        .iter()
        .zip([StopReason::MaxTokens, StopReason::ToolUse, StopReason::MaxTokens, StopReason::EndTurn])
        .flat_map(|(count, reason)| vec![reason; *count])
        .collect();
    sim.prompt("do it");
    sim.play();
    assert_eq!(lines(&sim, "run ended"), ["run ended (Success), 8 turns"]);
}

/// A11: malformed inputs, unknown tools: each is answered, and the model reads why.
#[test]
fn a11_calls_that_cannot_run_are_answered_with_an_error() {
    let bad = |id: &str, tool: &str, input: &str| {
        ContentBlock::ToolUse(ToolUse::new(id, tool, JsonText::parse(input).unwrap()))
    };
    let calls = [bad("t1", "Nope", "{}"), bad("t2", "Read", r#"{"path":"a","path":"b"}"#), bad("t3", "Read", "{}")];
    let mut sim = sim(config(), &[&calls, &[text("I see.")]]);
    sim.play();
    let kinds: Vec<String> =
        lines(&sim, "finished t").iter().map(|line| line.split(':').next().unwrap().to_owned()).collect();
    let mut sorted = kinds.clone();
    sorted.sort();
    assert_eq!(
        sorted,
        ["finished t1 denied (UnknownTool)", "finished t2 denied (InvalidInput)", "finished t3 denied (InvalidInput)"]
    );
    assert_eq!(sim.requests.len(), 2);
}

/// A11: a model that only fails is stopped.
#[test]
fn a11_turns_in_which_every_call_failed_are_bounded() {
    let failing: Vec<Vec<ContentBlock>> = (0..20).map(|at| vec![call(&format!("t{at}"), "Nope", "a")]).collect();
    let failing: Vec<&[ContentBlock]> = failing.iter().map(Vec::as_slice).collect();
    let mut sim = sim(config(), &failing);
    sim.play();
    assert_eq!(sim.requests.len(), 10);
    assert_eq!(lines(&sim, "run "), ["run started in /w", "run failed (RepeatedToolFailure)"]);
}

/// A15: with a denial half way, every call is still answered.
#[test]
fn a15_a_hook_that_stops_the_run_leaves_every_call_answered() {
    let mut config = config();
    config.listeners.hooks = [(HookEventName::PostToolUse, None)].into();
    let mut sim = sim(config, &[&[call("t1", "Net", ""), call("t2", "Write", "b")]]);
    sim.play_except(|going| matches!(going, Going::Hooks(_)) || is_ask(going));
    let hook = sim.take(|going| matches!(going, Going::Hooks(_)));
    let mut outcome = HookOutcome::default();
    outcome.stop = Some("enough".to_owned());
    sim.input(Input::Hooked(hook, Box::new(outcome)));
    sim.play();
    assert_eq!(lines(&sim, "finished t").len(), 2);
    assert_eq!(lines(&sim, "run ended"), [r#"run ended (StoppedByHook { reason: "enough" }), 1 turns"#]);
}

/// C8: a message of the user waits for the tools, and is not lost.
#[test]
fn c8_steering_waits_for_the_batch() {
    let mut sim = sim(config(), &[&[call("t1", "Net", "")], &[text("Done.")]]);
    sim.play_except(is_run);
    sim.input(Input::Steer(vec![text("mind the tests")].into()));
    sim.play();
    let last = sim.requests[1].messages.last().unwrap();
    assert!(last.content[0].as_tool_result().is_some());
    assert_eq!(last.content[1].as_text(), Some("mind the tests"));
    assert_eq!(lines(&sim, "requesting")[1], "requesting m (Steered)");
}

/// C8: a message that arrives when the model is done continues the run.
#[test]
fn c8_steering_at_the_end_is_answered_in_the_same_run() {
    let mut sim = sim(config(), &[&[text("Done.")], &[text("That too.")]]);
    sim.input(Input::Steer(vec![text("and that")].into()));
    sim.play();
    assert_eq!(lines(&sim, "run "), ["run started in /w", "run ended (Success), 2 turns"]);
}

/// H4: without a host to ask, a permission request is denied at once.
#[test]
fn h4_without_a_host_to_ask_a_question_is_denied_at_once() {
    let mut config = config();
    config.listeners.can_ask = false;
    let mut sim = sim(config, &[&[call("t1", "Write", "a")], &[text("I see.")]]);
    sim.play();
    assert!(lines(&sim, "finished t1")[0].starts_with("finished t1 denied (NobodyToAsk)"));
    assert_eq!(lines(&sim, "asked"), [""; 0]);
}

/// H5: an answer for one input does not hold for another.
#[test]
fn h5_an_input_that_the_host_changed_is_judged_again() {
    let mut sim = sim(config(), &[&[call("t1", "Write", "a")], &[text("Done.")]]);
    sim.play_except(is_ask);
    let changed = JsonText::parse(r#"{"path":".git/config"}"#).unwrap();
    sim.says(PermissionAnswer::Allow { updated_input: Some(changed), updates: Vec::new() });
    sim.play_except(is_run);
    assert_eq!(runs(&sim), [r#"Write {"path":".git/config"} in /w"#], "the host's own input is approved");
}

/// H5: an approval for one directory does not apply to another.
#[test]
fn h5_an_approval_does_not_follow_a_call_into_another_directory() {
    // The directory changes while the host is asked, while its changed input is read, and after it allowed.
    for changed in [false, true] {
        let mut config = config();
        config.policy = tools::policy(PermissionMode::Default);
        let calls = [call("t1", "Cd", "sub"), call("t2", "Write", "a")];
        let mut sim = sim(config, &[&calls, &[text("Done.")]]);
        sim.play_except(|going| is_run(going) || is_ask(going));
        let updated_input = changed.then(|| JsonText::parse(r#"{"path":"b"}"#).unwrap());
        sim.says(PermissionAnswer::Allow { updated_input, updates: Vec::new() });
        // The change of directory arrives before anything else.
        sim.let_go(is_run);
        sim.play_except(|going| is_run(going) || is_ask(going));
        assert_eq!(runs(&sim), [""; 0], "it ran with an approval for another directory");
        assert_eq!(lines(&sim, "asked about t2").len(), 2);
    }
}

/// H5: an intent that was stored for one directory does not start a call in another.
#[test]
fn h5_a_call_whose_intent_is_being_stored_is_judged_again_from_a_new_directory() {
    let mut config = config();
    config.policy = tools::policy(PermissionMode::AcceptEdits);
    let mut sim = sim(config, &[&[call("t1", "Net", ""), call("t2", "Write", "a")], &[text("Done.")]]);
    let is_append = |going: &Going| matches!(going, Going::Append);
    // The first call runs while the log has not acknowledged the second.
    sim.play_except(|going| is_append(going) || is_run(going));
    while runs(&sim).is_empty() {
        sim.let_go(is_append);
        sim.play_except(|going| is_append(going) || is_run(going));
    }
    assert_eq!(runs(&sim), [r#"Net {"path":""} in /w"#]);
    assert!(sim.going.iter().any(|(_, going)| is_append(going)));
    let run = sim.take(is_run);
    let mut outcome = windlass_types::ToolOutcome::ok("moved");
    outcome.changes.push(windlass_types::ContextChange::Cwd("/w/sub".into()));
    sim.input(Input::Ran(run, Box::new(outcome)));
    sim.play_except(is_run);
    assert_eq!(runs(&sim), [r#"Write {"path":"a"} in /w/sub"#]);
    sim.play();
    assert_eq!(lines(&sim, "finished t2"), [r#"finished t2 ok: done: Write {"path":"a"} in /w/sub"#]);
}

/// H5: hooks are asked again about a call that would start elsewhere.
#[test]
fn h5_a_hook_that_allowed_here_is_asked_again_there() {
    let mut config = config();
    config.listeners.hooks = [(HookEventName::PreToolUse, Some(ToolMatcher::exact("Write")))].into();
    let mut sim = sim(config, &[&[call("t1", "Cd", "sub"), call("t2", "Write", "a")], &[text("Done.")]]);
    sim.play_except(|going| is_run(going) || matches!(going, Going::Hooks(_)));
    let hook = sim.take(|going| matches!(going, Going::Hooks(_)));
    let mut outcome = HookOutcome::default();
    outcome.verdict = Some(HookVerdict::new(Behavior::Allow, "h", ""));
    sim.input(Input::Hooked(hook, Box::new(outcome)));
    sim.let_go(is_run);
    sim.play_except(|going| is_run(going) || matches!(going, Going::Hooks(_)));
    assert_eq!(runs(&sim), [""; 0]);
    assert!(sim.going.iter().any(|(_, going)| matches!(going, Going::Hooks(_))));
}

/// An allowed call whose mode changed before it began is judged again.
#[test]
fn a_verdict_does_not_outlive_its_policy() {
    let mut config = config();
    config.policy = tools::policy(PermissionMode::AcceptEdits);
    let mut sim = sim(config, &[&[call("t1", "Write", "a")], &[text("I see.")]]);
    let is_append = |going: &Going| matches!(going, Going::Append);
    sim.play_except(is_append);
    assert!(sim.going.iter().all(|(_, going)| is_append(going)), "its intent is not durable yet");
    sim.input(Input::SetPermissionMode(PermissionMode::Plan));
    sim.play();
    assert!(lines(&sim, "finished t1")[0].starts_with("finished t1 denied (Mode)"), "{}", render(&sim.events));
    assert_eq!(lines(&sim, "started t1"), [""; 0]);
}

/// An input that the host changed may touch what a later call has begun to change.
#[test]
fn a_changed_input_waits_for_a_later_call_that_has_begun() {
    let mut config = config();
    config.policy = tools::policy(PermissionMode::AcceptEdits);
    let calls = [call("t1", "Write", "/etc/x"), call("t2", "Write", "b")];
    let mut sim = sim(config, &[&calls, &[text("Done.")]]);
    sim.play_except(|going| is_run(going) || is_ask(going));
    assert_eq!(runs(&sim), [r#"Write {"path":"b"} in /w"#]);
    let updated_input = Some(JsonText::parse(r#"{"path":"/w/b"}"#).unwrap());
    sim.says(PermissionAnswer::Allow { updated_input, updates: Vec::new() });
    sim.play_except(is_run);
    assert_eq!(runs(&sim).len(), 1, "both write b at once");
    sim.play();
    assert_eq!(lines(&sim, "finished t").len(), 2);
}

/// Calls that wait for their intent take a place, too.
#[test]
fn no_more_calls_run_at_once_than_allowed() {
    let mut config = config();
    config.policy = tools::policy(PermissionMode::AcceptEdits);
    let calls: Vec<ContentBlock> = (0..25).map(|at| call(&format!("t{at}"), "Write", &format!("f{at}"))).collect();
    let mut sim = sim(config, &[&calls, &[text("Done.")]]);
    sim.play_except(is_run);
    assert_eq!(runs(&sim).len(), 10);
    sim.play();
    assert_eq!(lines(&sim, "finished t").len(), 25);
}

/// Stopping a call before its message is complete is remembered.
#[test]
fn a_call_that_was_stopped_early_is_answered_so() {
    for (tool, early) in [("Read", true), ("Write", false)] {
        let mut sim = sim(config(), &[&[call("t1", tool, "a")], &[text("I see.")]]);
        for _ in 0..4 {
            sim.let_go(|going| matches!(going, Going::Model { .. }));
        }
        sim.play_except(|going| matches!(going, Going::Model { .. }) || is_run(going));
        assert_eq!(runs(&sim).len(), usize::from(early), "{tool}");
        sim.input(Input::StopTool("t1".into()));
        sim.play();
        assert_eq!(sim.requests.len(), 2);
        let finished = lines(&sim, "finished t1");
        assert_eq!(finished.len(), 1);
        assert!(early || finished[0].contains("the user stopped it first"), "{finished:?}");
    }
}

/// No run begins in a session that is being closed, neither for queued prompts nor for messages of the user.
#[test]
fn closing_drops_what_waits_and_ends_once() {
    let mut sim = sim(config(), &[&[call("t1", "Net", "")], &[text("Done.")]]);
    sim.input(Input::Prompt(Prompt::text("later")));
    sim.play_except(is_run);
    sim.input(Input::Steer(vec![text("mind this")].into()));
    sim.checks.user(&Input::Close);
    sim.input(Input::Close);
    sim.input(Input::Prompt(Prompt::text("even later")));
    sim.input(Input::Steer(vec![text("and this")].into()));
    sim.input(Input::Close);
    sim.play();
    assert!(sim.over);
    assert_eq!(sim.requests.len(), 1);
    assert_eq!(sim.checks.runs, 1);
}

/// A stop while SessionStart hooks are asked ends that run; the next one asks them again.
#[test]
fn a_stop_while_the_session_opens() {
    let mut config = config();
    config.listeners.hooks = [(HookEventName::SessionStart, None)].into();
    let mut sim = sim(config, &[&[text("Hello.")]]);
    sim.input(Input::Prompt(Prompt::text("second")));
    sim.input(Input::Interrupt);
    sim.play();
    assert_eq!(sim.checks.runs, 2);
    assert_eq!(lines(&sim, "hook SessionStart").len(), 1);
    assert_eq!(
        lines(&sim, "run ended"),
        ["run ended (Interrupted { during: Starting }), 0 turns", "run ended (Success), 1 turns"]
    );
}

/// An empty prompt never reaches the model.
#[test]
fn an_empty_prompt_fails_its_run_and_nothing_else() {
    let mut sim = Sim::new(config(), crate::choices::Choices::new(Vec::new()), crate::sim::TAME);
    for prompt in ["", " \n", "hello"] {
        sim.prompt(prompt);
        sim.play();
    }
    assert_eq!(sim.requests.len(), 1);
    assert_eq!(lines(&sim, "run failed"), ["run failed (Model(InvalidRequest))"; 2]);
}

/// The budget ends a run before a repeat that it does not buy.
#[test]
fn a_repeat_is_reserved_like_any_call() {
    let mut config = config();
    // 8,000 tokens cost 120,000,000; the failed call has cost 300,000 for its input.
    config.limits.max_budget = Some(NanoUsd::new(15_700_000));
    let mut sim = sim(config, &[&[text("Hel")], &[text("Hello.")]]);
    sim.play_except(|going| matches!(going, Going::Model { .. }));
    sim.let_go(|going| matches!(going, Going::Model { .. }));
    let call = sim.take(|going| matches!(going, Going::Model { .. }));
    let failure = windlass_core::ModelFailure::new(windlass_types::ModelErrorKind::Cut, "cut");
    sim.input(Input::ModelFailed(call, failure));
    sim.play();
    assert_eq!(sim.requests.len(), 1);
    assert!(lines(&sim, "run ended")[0].contains("MaxBudget"), "{}", render(&sim.events));
    assert!(lines(&sim, "run ended")[0].ends_with("1 turns"));
}

/// A log on disk never widens what may happen, and never lifts plan mode by being forgotten.
#[test]
fn resuming_restores_plan_mode_and_nothing_wider() {
    use PermissionMode::{AcceptEdits, BypassPermissions, Default, DontAsk, Plan};
    for (ended_with, chosen, expected) in [
        (AcceptEdits, Default, Default),
        (BypassPermissions, Default, Default),
        (Plan, Default, Plan),
        (Plan, AcceptEdits, AcceptEdits),
        (AcceptEdits, DontAsk, DontAsk),
    ] {
        let mut sim = sim(config(), &[]);
        sim.input(Input::SetPermissionMode(ended_with));
        sim.play();
        let mut config = config();
        config.policy = tools::policy(chosen);
        assert_eq!(windlass_core::Machine::new(config, &sim.log).policy().mode(), expected, "{ended_with} {chosen}");
    }
}

/// Reasoning that another model signed is left out of its requests, and the break is reported.
#[test]
fn b2_reasoning_does_not_travel_to_another_model() {
    let thinking = ContentBlock::Thinking { thinking: "hm".to_owned(), signature: "signed".to_owned() };
    let mut sim = sim(config(), &[&[thinking, text("One.")], &[text("Two.")], &[text("Three.")]]);
    sim.play();
    for (profile, thinks) in [("n", false), ("m", true)] {
        sim.input(Input::SetModel(Box::new(model(profile))));
        sim.prompt("go on");
        sim.play();
        let request = sim.requests.last().unwrap();
        assert_eq!(request.messages[1].content.iter().any(ContentBlock::is_thinking), thinks, "{profile}");
    }
    assert_eq!(lines(&sim, "cache broken").len(), 2);
}

/// Agents run side by side and need no question, but never before their message is complete.
#[test]
fn agents_wait_for_their_message_and_not_for_each_other() {
    let calls = [call("t1", "Agent", ""), call("t2", "Agent", ""), call("t3", "Write", "a")];
    let mut sim = sim(config(), &[&calls, &[text("Done.")]]);
    sim.play_except(is_run);
    assert_eq!(runs(&sim).len(), 2, "{}", render(&sim.events));
    let shown = render(&sim.events);
    assert!(shown.find("message msg1").unwrap() < shown.find("started t1").unwrap(), "{shown}");
    sim.play();
    assert_eq!(lines(&sim, "finished t").len(), 3, "{}", render(&sim.events));
}
