use super::*;
use crate::texts::MOST;
use windlass_hook::{PostToolUse, PreToolUse, Stop};
use windlass_types::PermissionAnswer;

fn pre(output: &str) -> Result<HookOutcome, String> {
    let call = HookCall::from(PreToolUse {
        tool_name: "Bash".into(),
        tool_input: JsonText::empty_object(),
        tool_use_id: "t".into(),
    });
    read_output("h", &call, &JsonText::parse(output).unwrap(), &HookTexts::cut())
}

fn specific(rest: &str) -> String {
    format!(r#"{{"hookSpecificOutput":{{"hookEventName":"PreToolUse",{rest}}}}}"#)
}

#[test]
fn verdicts_on_a_call() {
    for (output, behavior, reason) in [
        (r#"{"decision":"block","reason":"no"}"#.to_owned(), Behavior::Deny, "no"),
        (r#"{"decision":"approve"}"#.to_owned(), Behavior::Allow, ""),
        (specific(r#""permissionDecision":"deny","permissionDecisionReason":"no rm""#), Behavior::Deny, "no rm"),
        (specific(r#""permissionDecision":"deny""#), Behavior::Deny, "The call was blocked by a hook."),
        (specific(r#""permissionDecision":"ask""#), Behavior::Ask, "A hook wants this call to be confirmed."),
        (specific(r#""permissionDecision":"defer","permissionDecisionReason":"later""#), Behavior::Ask, "later"),
    ] {
        let verdict = pre(&output).unwrap().verdict.unwrap();
        assert_eq!((verdict.behavior, verdict.reason.as_str()), (behavior, reason), "{output}");
    }
    let later = pre(&specific(r#""permissionDecision":"defer""#)).unwrap().verdict.unwrap();
    assert_eq!((later.defers, later.reason.as_str()), (true, "A hook deferred this call."));
    assert_eq!(pre("{}").unwrap(), HookOutcome::default());
    assert_eq!(pre(r#"{"async":true,"decision":"block"}"#).unwrap(), HookOutcome::default());
}

#[test]
fn a_hook_may_say_several_things_at_once() {
    let answer = specific(r#""permissionDecision":"allow","updatedInput":{"n":1.0},"additionalContext":"c""#);
    let outcome = pre(&answer).unwrap();
    assert_eq!(outcome.verdict.unwrap().behavior, Behavior::Allow);
    assert_eq!(outcome.updated_input.unwrap().as_str(), r#"{"n":1.0}"#);
    assert_eq!(outcome.additional_context, ["c"]);
    let outcome = pre(r#"{"continue":false,"systemMessage":"look"}"#).unwrap();
    assert_eq!(outcome.system_messages, ["PreToolUse:Bash says: look"]);
    assert_eq!(outcome.stop.as_deref(), Some("The PreToolUse hook stopped the run."));
}

#[test]
fn nonsense_is_no_opinion_but_an_error() {
    for output in [
        "7",
        "[]",
        r#"{"decision":"maybe"}"#,
        r#"{"hookSpecificOutput":{}}"#,
        r#"{"hookSpecificOutput":{"hookEventName":"Stop"}}"#,
        r#"{"hookSpecificOutput":{"hookEventName":"PreToolUse","updatedInput":"x"}}"#,
        r#"{"hookSpecificOutput":{"hookEventName":"PreToolUse","permissionDecision":"perhaps"}}"#,
    ] {
        assert!(pre(output).is_err(), "{output}");
    }
}

#[test]
fn after_a_call_and_at_the_end() {
    let call = HookCall::from(PostToolUse {
        tool_name: "Bash".into(),
        tool_input: JsonText::empty_object(),
        tool_use_id: "t".into(),
        tool_response: JsonText::empty_object(),
        duration_ms: 0,
    });
    let answer = r#"{"decision":"block","reason":"bad","hookSpecificOutput":{"hookEventName":"PostToolUse",
        "additionalContext":"c","updatedToolOutput":{"x":1}}}"#;
    let outcome = read_output("h", &call, &JsonText::parse(answer).unwrap(), &HookTexts::cut()).unwrap();
    assert_eq!(outcome.block.unwrap().reason, "bad");
    assert_eq!(outcome.additional_context, ["c"]);
    assert_eq!(outcome.updated_output.unwrap().text(), r#"{"x":1}"#);

    let stop = HookCall::from(Stop { stop_hook_active: false, last_assistant_message: String::new() });
    let answer = r#"{"hookSpecificOutput":{"hookEventName":"Stop","additionalContext":"run the tests"}}"#;
    assert_eq!(
        read_output("h", &stop, &JsonText::parse(answer).unwrap(), &HookTexts::cut()).unwrap().block.unwrap().reason,
        "run the tests"
    );
}

#[test]
fn long_texts_are_cut() {
    let long = "é".repeat(MOST + 1);
    let outcome = pre(&specific(&format!(r#""additionalContext":"{long}""#))).unwrap();
    let text = outcome.additional_context.first().unwrap();
    assert!(text.starts_with(&"é".repeat(MOST)) && text.ends_with("left out.]"));
}

#[test]
fn answers_to_questions() {
    let call = HookCall::from(PermissionRequestEvent {
        tool_name: "Bash".into(),
        tool_input: JsonText::parse(r#"{"command":"ls"}"#).unwrap(),
        tool_use_id: "t".into(),
        permission_suggestions: Vec::new(),
    });
    let answer = |decision: &str| {
        let output =
            format!(r#"{{"hookSpecificOutput":{{"hookEventName":"PermissionRequest","decision":{decision}}}}}"#);
        read_output("h", &call, &JsonText::parse(output).unwrap(), &HookTexts::cut()).unwrap().answer
    };
    assert_eq!(answer("null"), None);
    assert_eq!(answer(r#"{"behavior":"allow","updatedInput":{"command": "ls"}}"#), Some(PermissionAnswer::allow()));
    let changed = answer(r#"{"behavior":"allow","updatedInput":{"command":"ls -l"}}"#);
    assert!(matches!(changed, Some(PermissionAnswer::Allow { updated_input: Some(_), .. })), "{changed:?}");
    let denied = PermissionAnswer::Deny { message: "no".into(), interrupt: true };
    assert_eq!(answer(r#"{"behavior":"deny","message":"no","interrupt":true}"#), Some(denied));
    for nonsense in ["7", "{}", r#"{"behavior":"perhaps"}"#] {
        assert!(matches!(answer(nonsense), Some(PermissionAnswer::Deny { .. })), "{nonsense}");
    }
    let blocked =
        read_output("h", &call, &JsonText::parse(r#"{"decision":"block","reason":"r"}"#).unwrap(), &HookTexts::cut())
            .unwrap();
    assert_eq!(blocked.answer, Some(PermissionAnswer::deny("r")));
    let blocked = r#"{"decision":"block","reason":"r","hookSpecificOutput":{"hookEventName":"PermissionRequest","decision":null}}"#;
    let blocked = read_output("h", &call, &JsonText::parse(blocked).unwrap(), &HookTexts::cut()).unwrap();
    assert_eq!(blocked.answer, Some(PermissionAnswer::deny("r")), "what follows does not take a block back");
}
