//! Inputs at the worst moment: no call runs that the latest decision forbids.

use crate::lessons::{lines, runs};
use crate::render::render;
use crate::sequences::{call, is_ask, is_run, sim, text};
use crate::sim::{Going, config};
use crate::tools;
use std::sync::Arc;
use windlass_core::{Input, Prompt};
use windlass_types::{
    Behavior, ContentBlock, HookEventName, HookOutcome, HookVerdict, ImageSource, JsonText, PermissionAnswer,
    PermissionMode, PermissionUpdate, RuleValue, ToolSpec, UpdateDestination,
};

fn is_append(going: &Going) -> bool {
    matches!(going, Going::Append)
}

fn is_hook(going: &Going) -> bool {
    matches!(going, Going::Hooks(_))
}

fn set_mode(mode: PermissionMode) -> PermissionUpdate {
    PermissionUpdate::SetMode { mode, destination: UpdateDestination::Session }
}

/// A hook that is registered while the intent of a call is being stored is asked about it.
#[test]
fn a_hook_that_comes_before_a_call_runs_is_asked() {
    let mut config = config();
    config.policy = tools::policy(PermissionMode::AcceptEdits);
    let mut sim = sim(config, &[&[call("t1", "Write", "a")], &[text("I see.")]]);
    sim.play_except(is_append);
    assert!(sim.going.iter().all(|(_, going)| is_append(going)), "its intent is not durable yet");
    sim.input(Input::SetHooks([(HookEventName::PreToolUse, None)].into()));
    sim.play_except(|going| is_run(going) || is_hook(going));
    assert_eq!(runs(&sim), [""; 0], "it runs past the hook");
    let hook = sim.take(is_hook);
    let mut outcome = HookOutcome::default();
    outcome.verdict = Some(HookVerdict::new(Behavior::Deny, "h", "no"));
    sim.input(Input::Hooked(hook, Box::new(outcome)));
    sim.play();
    assert!(lines(&sim, "finished t1")[0].starts_with("finished t1 denied (Hook)"), "{}", render(&sim.events));
}

/// Several changes at once apply one by one: the mode after a plan is the one that was chosen last.
#[test]
fn a_plan_does_not_lead_back_behind_what_was_chosen_before_it() {
    use PermissionMode::{AcceptEdits, Default, Plan};
    let mut config = config();
    config.policy = tools::policy(AcceptEdits);
    let mut sim = sim(config, &[&[call("t1", "ExitPlanMode", "")], &[text("Done.")]]);
    sim.input(Input::SetPermissionMode(Plan));
    sim.input(Input::UpdatePermissions(vec![set_mode(Default), set_mode(Plan)]));
    assert_eq!(sim.machine.policy().mode(), Plan);
    sim.play_except(is_ask);
    sim.says(PermissionAnswer::allow());
    sim.play();
    assert_eq!(sim.machine.policy().mode(), Default);
}

/// In any order of an approval and the end of plan mode, a write that was decided in plan mode stays denied.
#[test]
fn an_approval_does_not_outlive_the_mode_that_it_was_given_in() {
    for late in [PermissionMode::Plan, PermissionMode::DontAsk] {
        let mut sim = sim(config(), &[&[call("t1", "Write", "a")], &[text("I see.")]]);
        sim.play_except(is_ask);
        // The mode changes while the user is asked; the answer changes the input and the mode back.
        sim.input(Input::SetPermissionMode(late));
        let changed = JsonText::parse(r#"{"path":"b"}"#).unwrap();
        sim.says(PermissionAnswer::Allow { updated_input: Some(changed), updates: Vec::new() });
        sim.play();
        assert!(lines(&sim, "finished t1")[0].starts_with("finished t1 denied (Mode)"), "{}", render(&sim.events));
    }
}

/// A model that continues the work when it is asked for a summary does not replace the conversation by its chatter.
#[test]
fn text_beside_a_call_is_no_summary() {
    for (answered, is_kept) in [("Let me look first.", true), ("<summary>S</summary>", false)] {
        let answer = [text(answered), call("t9", "Read", "a")];
        let mut sim = sim(config(), &[&[text("One.")], &answer, &answer]);
        sim.play();
        sim.input(Input::Prompt(Prompt::compact("")));
        sim.play();
        let first = sim.conversation().concat();
        assert_eq!(first.contains("One."), is_kept, "{first}");
        assert_eq!(runs(&sim), [""; 0], "the call of a summary ran");
    }
}

/// The user is asked about the tool that is present: if another one takes its name, the request is sent again, and an
/// input that the user changed for the old one is not approved for the new one.
#[test]
fn an_answer_about_a_tool_does_not_hold_for_another_of_its_name() {
    let tools = |says: &str| -> Arc<[Arc<ToolSpec>]> {
        Arc::from([Arc::new(ToolSpec::new("Write", says, JsonText::empty_object()))])
    };
    for changed in [false, true] {
        let mut config = config();
        config.tools.specs = tools("Writes notes.");
        let mut sim = sim(config, &[&[call("t1", "Write", "a")], &[text("I see.")]]);
        sim.play_except(is_ask);
        // The same tools again make no difference.
        sim.input(Input::SetTools(tools("Writes notes.")));
        assert_eq!(lines(&sim, "asked about t1").len(), 1);
        let updated_input = changed.then(|| JsonText::parse(r#"{"path":"b"}"#).unwrap());
        let allow = PermissionAnswer::Allow { updated_input, updates: Vec::new() };
        if changed {
            // The new tool arrives while the changed input is being prepared.
            sim.says(allow.clone());
            sim.input(Input::SetTools(tools("Writes anything.")));
        } else {
            sim.input(Input::SetTools(tools("Writes anything.")));
        }
        sim.play_except(|going| is_ask(going) || is_run(going));
        assert_eq!(runs(&sim), [""; 0], "it runs with an answer about another tool");
        assert_eq!(lines(&sim, "asked about t1").len(), 2);
        sim.says(PermissionAnswer::allow());
        sim.play_except(is_run);
        assert_eq!(runs(&sim).len(), 1);
    }
}

/// Permissions for a tool of a server, for one call or for all, do not apply when the server changes the tool.
#[test]
fn what_was_allowed_of_a_servers_tool_ends_with_its_definition() {
    const LOOK: &str = "mcp__s__look";
    let offered = |says: &str| -> Arc<[Arc<ToolSpec>]> {
        Arc::from([Arc::new(ToolSpec::new(LOOK, says, JsonText::empty_object()))])
    };
    let always = PermissionAnswer::Allow {
        updated_input: None,
        updates: vec![PermissionUpdate::AddRules {
            rules: vec![RuleValue::tool(LOOK)],
            behavior: Behavior::Allow,
            destination: UpdateDestination::Session,
        }],
    };
    let mut config = config();
    config.tools.specs = offered("Looks.");
    let calls = ["t1", "t2", "t3", "t4"].map(|id| [call(id, LOOK, "")]);
    let turns: Vec<&[ContentBlock]> = calls.iter().map(|call| &call[..]).collect();
    let mut sim = sim(config, &turns);
    sim.play_except(is_ask);
    sim.says(always.clone());
    sim.play_except(|going| is_ask(going) || is_run(going));
    assert_eq!((runs(&sim).len(), lines(&sim, "asked about t1").len()), (1, 1));
    sim.let_go(is_run);
    // The second call is about to run under that rule when the server changes its tool.
    sim.play_except(|going| is_ask(going) || is_append(going));
    sim.input(Input::SetTools(offered("Looks, and tells everybody.")));
    sim.play_except(|going| is_ask(going) || is_run(going));
    assert_eq!(lines(&sim, "asked about t2").len(), 1, "{}", render(&sim.events));
    assert_eq!(runs(&sim), [""; 0], "it runs under a rule about another tool");
    sim.says(always);
    // Now the rule applies to the changed tool.
    sim.play_except(is_ask);
    assert_eq!(lines(&sim, "asked about").len(), 2, "{}", render(&sim.events));
    assert!(lines(&sim, "finished t4")[0].contains("done"), "{}", render(&sim.events));
}

/// Content that no provider accepts would be refused again with every later request: it does not enter the
/// conversation, neither as a prompt nor in an open run.
#[test]
fn an_image_that_cannot_be_sent_stays_outside() {
    let image = || ContentBlock::Image {
        source: ImageSource::Base64 { media_type: "image/png".to_owned(), data: "not base64!".to_owned() },
    };
    let mut sim = sim(config(), &[&[call("t1", "Net", "")], &[text("Done.")]]);
    sim.play_except(is_run);
    sim.input(Input::Steer(Prompt::new(vec![image()])));
    sim.play();
    let messages = sim.machine.state().transcript().len();
    sim.input(Input::Prompt(Prompt::new(vec![text("see"), image()])));
    sim.play();
    assert_eq!(sim.machine.state().transcript().len(), messages);
    assert_eq!(sim.requests.len(), 2);
    let shown = render(&sim.events);
    assert!(
        format!("{:?}", sim.events).contains("Blocked { reason: \"An image of the prompt is not valid base64"),
        "{shown}"
    );
    assert!(shown.trim_end().ends_with("run failed (Model(InvalidRequest))"), "{shown}");
}
