use super::*;
use windlass_hook::{PermissionRequestEvent, PostToolUse, PreToolUse, SessionStart, UserPromptSubmit};
use windlass_types::{Behavior, PermissionAnswer};

fn pre() -> HookCall {
    let tool_input = JsonText::parse(r#"{"command":"ls"}"#).unwrap();
    PreToolUse { tool_name: "Bash".into(), tool_input, tool_use_id: "t".into() }.into()
}

fn prompt() -> HookCall {
    UserPromptSubmit { prompt: "hi".into() }.into()
}

fn read(call: &HookCall, on_failure: OnFailure, code: i32, stdout: &str, stderr: &str) -> Result<HookOutcome, String> {
    let ended = Ended { code, stdout: stdout.into(), is_whole: true, file: None, stderr: stderr.into() };
    read_exit(&Said { hook: "h", call, on_failure, texts: &HookTexts::cut() }, &ended)
}

const DENY: &str = r#"{"hookSpecificOutput":{"hookEventName":"PreToolUse","permissionDecision":"deny","permissionDecisionReason":"no"}}"#;
const ALLOW: &str =
    r#"{"hookSpecificOutput":{"hookEventName":"PreToolUse","permissionDecision":"allow","updatedInput":{"x":1}}}"#;

#[test]
fn exit_code_zero_says_what_the_output_says() {
    let of = |stdout: &str| read(&pre(), OnFailure::Block, 0, stdout, "");
    assert_eq!(of(DENY).unwrap().verdict.unwrap().reason, "no");
    assert_eq!(of(ALLOW).unwrap().verdict.unwrap().behavior, Behavior::Allow);
    for silent in ["", "fine", "  \n", "[1]"] {
        assert_eq!(of(silent).unwrap(), HookOutcome::default(), "{silent}");
    }
    for nonsense in ["{", "{\"decision\":7}", "{}x", "{\"decision\":\"block\"} and more"] {
        assert!(of(nonsense).is_err(), "{nonsense}");
    }
    assert_eq!(read(&prompt(), OnFailure::Block, 0, " note \n", "").unwrap().additional_context, ["note"]);
    let start = SessionStart { source: "startup".into() }.into();
    assert_eq!(read(&start, OnFailure::Block, 0, "note", "").unwrap().additional_context, ["note"]);
}

#[test]
fn exit_code_two_blocks_and_no_object_undoes_it() {
    for stdout in ["", ALLOW, "{", "text"] {
        let outcome = read(&pre(), OnFailure::Continue, 2, stdout, "no force\n").unwrap();
        let verdict = outcome.verdict.unwrap();
        assert_eq!((verdict.behavior, verdict.reason.as_str()), (Behavior::Deny, "no force"), "{stdout}");
        assert_eq!(outcome.updated_input, None);
    }
    assert_eq!(read(&pre(), OnFailure::Block, 2, DENY, "x").unwrap().verdict.unwrap().reason, "no");
    assert_eq!(read(&prompt(), OnFailure::Block, 2, "", "").unwrap().block.unwrap().reason, "A hook blocked this.");
    let request = PermissionRequestEvent {
        tool_name: "Bash".into(),
        tool_input: JsonText::empty_object(),
        tool_use_id: "t".into(),
        permission_suggestions: Vec::new(),
    };
    let answer = read(&request.into(), OnFailure::Block, 2, "", "no").unwrap().answer;
    assert!(matches!(answer, Some(PermissionAnswer::Deny { .. })), "{answer:?}");
    let start = SessionStart { source: "startup".into() }.into();
    let outcome = read(&start, OnFailure::Block, 2, "", "look").unwrap();
    assert_eq!((outcome.block, outcome.system_messages), (None, vec!["SessionStart says: look".to_owned()]));
}

#[test]
fn other_exit_codes_are_failures() {
    assert_eq!(read(&pre(), OnFailure::Block, 1, "", "\n first \nsecond").unwrap_err(), "exit code 1: first");
    assert_eq!(read(&pre(), OnFailure::Block, 127, "text", "").unwrap_err(), "exit code 127");
    // An object that allows does not open a gate that is to close; one that denies applies.
    assert!(read(&pre(), OnFailure::Block, 1, ALLOW, "").is_err());
    let denied = read(&pre(), OnFailure::Block, 1, DENY, "").unwrap();
    assert_eq!((denied.verdict.unwrap().reason.as_str(), denied.failures.len()), ("no", 1));
    let allowed = read(&pre(), OnFailure::Continue, 1, ALLOW, "").unwrap();
    assert_eq!((allowed.verdict.unwrap().behavior, allowed.failures.len()), (Behavior::Allow, 1));
    let after = PostToolUse {
        tool_name: "Bash".into(),
        tool_input: JsonText::empty_object(),
        tool_use_id: "t".into(),
        tool_response: JsonText::empty_object(),
        duration_ms: 1,
    };
    let outcome = read(&after.into(), OnFailure::Block, 1, r#"{"decision":"block","reason":"r"}"#, "").unwrap();
    assert_eq!((outcome.block.unwrap().reason.as_str(), outcome.failures.len()), ("r", 1));
}

#[test]
fn output_beyond_what_is_kept() {
    let ended = |stdout: &str| Ended {
        code: 0,
        stdout: stdout.into(),
        is_whole: false,
        file: Some("/r/hook.txt".into()),
        stderr: String::new(),
    };
    let texts = HookTexts::cut();
    let call = prompt();
    let said = Said { hook: "h", call: &call, on_failure: OnFailure::Block, texts: &texts };
    let context = read_exit(&said, &ended(&"x".repeat(20_000))).unwrap().additional_context;
    assert!(context[0].contains("/r/hook.txt") && context[0].len() < 3_000);
    assert!(read_exit(&said, &ended("{\"a\":")).is_err());
}

/// An answer behind a greeting of the shell.
#[test]
fn a_gate_is_heard_behind_other_output() {
    let of = |stdout: &str| read(&pre(), OnFailure::Block, 0, stdout, "");
    for around in
        ["Shell ready\nANSWER", "Shell ready\nANSWER\nbye {", "ready ANSWER", "\u{1b}[0m ANSWER", "\u{feff}ANSWER"]
    {
        let outcome = of(&around.replace("ANSWER", DENY)).unwrap_or_else(|why| panic!("{around}: {why}"));
        assert_eq!(outcome.verdict.unwrap().reason, "no", "{around}");
    }
    for (text, object) in
        [("decision", r#"{"decision":"block","reason":"no"}"#), ("stop", r#"{"continue":false,"stopReason":"no"}"#)]
    {
        let outcome = of(&format!("ready\n{object}")).unwrap();
        assert!(outcome.verdict.is_some() || outcome.stop.is_some(), "{text}");
    }
    let blocked =
        read(&prompt(), OnFailure::Block, 0, "ready\n{\"decision\":\"block\",\"reason\":\"no\"}", "").unwrap();
    assert_eq!(blocked.block.unwrap().reason, "no");
    // Output that looks like an answer and cannot be read closes the gate.
    let cut = DENY.strip_suffix('}').unwrap();
    for text in [
        cut.to_owned(),
        format!("{DENY}\n{DENY}"),
        DENY.replace("deny", "perhaps"),
        r#""permissionDecision": "deny""#.to_owned(),
    ] {
        assert!(of(&format!("ready\n{text}")).is_err(), "{text}");
    }
    // The text may repeat what a call says: it allows nothing and changes nothing.
    let allow =
        r#"{"hookSpecificOutput":{"hookEventName":"PreToolUse","permissionDecision":"allow","additionalContext":"c"}}"#;
    let outcome = of(&format!("ready\n{allow}")).unwrap();
    assert_eq!((outcome.verdict, outcome.additional_context.len(), outcome.failures.len()), (None, 0, 1));
    assert!(of(&format!("ready\n{ALLOW}")).is_err());
    for silent in [
        "ready { x",
        "saw {\"tool_name\":\"Bash\",\"tool_input\":{\"decision\":\"block\"}}",
        "a {} b",
        "decision: block",
    ] {
        assert_eq!(of(silent).unwrap(), HookOutcome::default(), "{silent}");
    }
    // Without a gate, the same output is plain text.
    let after = PostToolUse {
        tool_name: "Bash".into(),
        tool_input: JsonText::empty_object(),
        tool_use_id: "t".into(),
        tool_response: JsonText::empty_object(),
        duration_ms: 1,
    };
    assert_eq!(
        read(&after.into(), OnFailure::Block, 0, "x {\"decision\":\"block\"}", "").unwrap(),
        HookOutcome::default()
    );
}
