//! The laws of merging the answers of several hooks, and the form of every event.
#![allow(
    clippy::indexing_slicing,
    clippy::panic,
    clippy::unwrap_used,
    reason = "a test that cannot be set up has failed"
)]

use proptest::prelude::*;
use windlass_hook::{PreToolUse, PreToolUseAction};
use windlass_types::hook::{AnswerKind, HookAction};
use windlass_types::{
    Behavior, HookCall, HookEventName, HookOutcome, HookVerdict, JsonText, PermissionAnswer, ToolResultContent,
};

fn verdict() -> impl Strategy<Value = HookVerdict> {
    let behavior = prop_oneof![Just(Behavior::Deny), Just(Behavior::Ask), Just(Behavior::Allow)];
    (behavior, "[a-c]").prop_map(|(behavior, hook)| HookVerdict::new(behavior, hook, "why"))
}

fn answer() -> impl Strategy<Value = PermissionAnswer> {
    prop_oneof![Just(PermissionAnswer::allow()), "[a-c]".prop_map(PermissionAnswer::deny)]
}

fn outcome() -> impl Strategy<Value = HookOutcome> {
    let text = || proptest::option::of("[a-c]");
    let texts = || proptest::collection::vec("[a-z]{1,3}", 0..3);
    let one = (proptest::option::of(verdict()), proptest::option::of(answer()), proptest::option::of(verdict()));
    (one, text(), text(), text(), texts(), texts()).prop_map(|(one, input, output, stop, context, messages)| {
        let mut outcome = HookOutcome::default();
        (outcome.verdict, outcome.answer, outcome.block) = one;
        outcome.updated_input = input.map(|word| JsonText::of(&[word]).unwrap());
        outcome.updated_output = output.map(ToolResultContent::Text);
        outcome.stop = stop;
        outcome.additional_context = context;
        outcome.system_messages = messages;
        outcome
    })
}

fn merged(outcomes: &[HookOutcome]) -> HookOutcome {
    let mut all = HookOutcome::default();
    outcomes.iter().cloned().for_each(|outcome| all.merge(outcome));
    all
}

fn is_deny(answer: &PermissionAnswer) -> bool {
    matches!(answer, PermissionAnswer::Deny { .. })
}

proptest! {
    /// The behavior that decides a call does not depend on the order of hooks.
    #[test]
    fn what_decides_is_independent_of_the_order(
        (outcomes, shuffled) in proptest::collection::vec(outcome(), 0..6)
            .prop_flat_map(|outcomes| (Just(outcomes.clone()), Just(outcomes).prop_shuffle()))
    ) {
        let (one, other) = (merged(&outcomes), merged(&shuffled));
        let behavior = |outcome: &HookOutcome| outcome.verdict.as_ref().map(|verdict| verdict.behavior);
        prop_assert_eq!(behavior(&one), behavior(&other));
        prop_assert_eq!(one.answer.as_ref().map(is_deny), other.answer.as_ref().map(is_deny));
        prop_assert_eq!(one.block.is_some(), other.block.is_some());
        prop_assert_eq!(one.stop.is_some(), other.stop.is_some());
        prop_assert_eq!(one.updated_input.is_some(), other.updated_input.is_some());
    }

    /// The strictest of all verdicts counts, and of equally strict ones the first.
    #[test]
    fn the_strictest_wins_and_the_first_of_equals_is_named(outcomes in proptest::collection::vec(outcome(), 0..6)) {
        let all = merged(&outcomes);
        let verdicts = outcomes.iter().filter_map(|outcome| outcome.verdict.clone());
        prop_assert_eq!(all.verdict, verdicts.min_by_key(|verdict| verdict.behavior));
        let answers = outcomes.iter().filter_map(|outcome| outcome.answer.clone());
        prop_assert_eq!(all.answer, answers.min_by_key(|answer| !is_deny(answer)));
    }

    /// An outcome has one input, output, block and reason to stop: that of the first hook that gives one.
    #[test]
    fn what_can_be_given_once_is_given_by_the_first(outcomes in proptest::collection::vec(outcome(), 0..6)) {
        let all = merged(&outcomes);
        prop_assert_eq!(all.updated_input, outcomes.iter().find_map(|outcome| outcome.updated_input.clone()));
        prop_assert_eq!(all.updated_output, outcomes.iter().find_map(|outcome| outcome.updated_output.clone()));
        prop_assert_eq!(all.block, outcomes.iter().find_map(|outcome| outcome.block.clone()));
        prop_assert_eq!(all.stop, outcomes.iter().find_map(|outcome| outcome.stop.clone()));
    }

    /// Hooks can be merged in groups, like the hooks of a host: the result is that of merging all in a row.
    #[test]
    fn groups_merge_to_the_same(outcomes in proptest::collection::vec(outcome(), 0..6), at in 0_usize..6) {
        let (front, back) = outcomes.split_at(at.min(outcomes.len()));
        let mut grouped = merged(front);
        grouped.merge(merged(back));
        prop_assert_eq!(grouped, merged(&outcomes));
    }

    /// A gate that is closed stays closed, whatever other hooks answer.
    #[test]
    fn no_answer_opens_a_gate_that_failed(before in outcome(), after in outcome()) {
        for event in HookEventName::ALL.iter().filter(|event| event.is_gating()) {
            let failed = HookOutcome::failed(*event, "h", "it broke".to_owned());
            let all = merged(&[before.clone(), failed, after.clone()]);
            let is_closed = match event.answer() {
                AnswerKind::Verdict => all.verdict.is_some_and(|verdict| verdict.behavior == Behavior::Deny),
                AnswerKind::Permission => all.answer.as_ref().is_some_and(is_deny),
                _ => all.block.is_some(),
            };
            prop_assert!(is_closed, "{}", event);
            prop_assert_eq!(all.failures.len(), 1);
        }
    }
}

#[test]
fn every_event_is_read_from_what_is_written() {
    let payload = r#"{"tool_name":"Bash","tool_input":{"x": 1e2},"tool_use_id":"t","tool_response":"r","duration_ms":3,
        "error":"e","is_interrupt":true,"prompt":"p","stop_hook_active":true,"last_assistant_message":"l","agent_id":"a1",
        "agent_type":"Explore","trigger":"auto","custom_instructions":"c","source":"resume","reason":"other",
        "permission_suggestions":[{"type":"fly"},{"type":"setMode","mode":"plan","destination":"session"}]}"#;
    let payload = JsonText::parse(payload).unwrap();
    for event in HookEventName::ALL {
        let call = HookCall::read(*event, &payload).unwrap();
        assert_eq!((call.event(), HookEventName::named(event.as_str())), (*event, Some(*event)));
        let written = JsonText::of(&call).unwrap();
        assert!(written.as_str().starts_with(&format!(r#"{{"hook_event_name":"{event}""#)), "{written}");
        assert_eq!(HookCall::read(*event, &written).unwrap(), call);
        assert_eq!(call.tool_name().is_some(), event.is_about_tools());
        if let Some(short) = call.shortened() {
            assert_eq!((short.event(), short.subject()), (*event, call.subject()));
        }
    }
}

#[test]
fn a_call_without_an_input_cannot_be_asked_about() {
    for payload in ["{}", r#"{"tool_name":"Bash"}"#, r#"{"tool_name":"Bash","tool_input":null}"#] {
        let payload = JsonText::parse(payload).unwrap();
        for event in HookEventName::ALL.iter().filter(|event| event.is_about_tools()) {
            assert!(HookCall::read(*event, &payload).is_err(), "{event}");
        }
    }
}

/// The JSON that hooks of another process read has not changed by a byte.
#[test]
fn occasions_are_written_as_they_always_were() {
    let tool = || (String::from("Bash"), JsonText::parse(r#"{"x": 1e2}"#).unwrap(), "t".into());
    let (tool_name, tool_input, tool_use_id) = tool();
    let call = HookCall::from(PreToolUse { tool_name, tool_input, tool_use_id });
    let expected = r#"{"hook_event_name":"PreToolUse","tool_name":"Bash","tool_input":{"x": 1e2},"tool_use_id":"t"}"#;
    assert_eq!(JsonText::of(&call).unwrap().as_str(), expected);
    for (event, payload) in [
        ("SubagentStart", r#""agent_id":"a1","agent_type":"Explore"}"#),
        (
            "SubagentStop",
            r#""agent_id":"a1","agent_type":"Explore","stop_hook_active":false,"last_assistant_message":"Done."}"#,
        ),
        ("PreCompact", r#""trigger":"auto","custom_instructions":null}"#),
    ] {
        let text = format!(r#"{{"hook_event_name":"{event}",{payload}"#);
        let call = HookCall::read(HookEventName::named(event).unwrap(), &JsonText::parse(&*text).unwrap()).unwrap();
        assert_eq!(JsonText::of(&call).unwrap().as_str(), text);
    }
}

#[test]
fn an_action_comes_to_the_outcome_that_it_names() {
    let outcome = PreToolUseAction::deny("no").into_outcome("h");
    assert_eq!(outcome.verdict, Some(HookVerdict::new(Behavior::Deny, "h", "no")));
    assert_eq!(PreToolUseAction::Continue.into_outcome("h"), HookOutcome::default());
}

/// Of two verdicts the stricter counts, whichever hook comes first: deny, then defer, then ask, then allow.
#[test]
fn a_call_is_kept_for_later_unless_a_hook_denies_it() {
    let verdicts = [
        HookVerdict::new(Behavior::Deny, "a", ""),
        HookVerdict::defer("b", ""),
        HookVerdict::new(Behavior::Ask, "c", ""),
        HookVerdict::new(Behavior::Allow, "d", ""),
    ];
    let outcome = |verdict: &HookVerdict| {
        let mut outcome = HookOutcome::default();
        outcome.verdict = Some(verdict.clone());
        outcome
    };
    for (at, stricter) in verdicts.iter().enumerate() {
        for milder in &verdicts[at..] {
            for pair in [[stricter, milder], [milder, stricter]] {
                assert_eq!(merged(&pair.map(outcome)).verdict.as_ref(), Some(stricter), "{pair:?}");
            }
        }
    }
    assert!(verdicts[1].defers && verdicts[1].behavior == Behavior::Ask);
}

/// An error text of a library may contain secrets: the model reads only that the hook failed, people read why.
#[test]
fn only_people_read_why_a_hook_failed() {
    for event in HookEventName::ALL.iter().filter(|event| event.is_gating()) {
        let failed = HookOutcome::failed(*event, "h", "it broke".to_owned());
        assert_eq!(failed.failures, [("h".to_owned(), "it broke".to_owned())]);
        match (failed.verdict, failed.answer, failed.block) {
            (Some(verdict), None, None) => assert_eq!(verdict.reason, "the hook \"h\" failed"),
            (None, Some(answer), None) => assert_eq!(answer, PermissionAnswer::deny("the hook \"h\" failed")),
            (None, None, Some(block)) => assert_eq!(block.reason, "it broke"),
            other => panic!("{event}: {other:?}"),
        }
    }
}
