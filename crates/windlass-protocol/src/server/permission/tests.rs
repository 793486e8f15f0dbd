use super::*;
use windlass_types::{Behavior, CallDigest, Decision, DecisionReason, PermissionMode, ToolUse, UpdateDestination};

fn request() -> PermissionRequest {
    let input = JsonText::parse(r#"{"command":"touch a","n":1.50}"#).unwrap();
    let decision = Decision::new(Behavior::Ask, DecisionReason::Protected, "it is protected")
        .with_blocked_path("/w/a")
        .with_suggestions(vec![PermissionUpdate::SetMode {
            mode: PermissionMode::AcceptEdits,
            destination: UpdateDestination::Session,
        }]);
    PermissionRequest::new(ToolUse::new("t", "Bash", input), "touch a".into(), decision, CallDigest::new("0"))
}

fn answer(text: &str) -> PermissionAnswer {
    read(&request().input, Some(&JsonText::parse(text).unwrap()))
}

#[test]
fn the_question_says_what_and_why() {
    assert_eq!(
        serde_json::to_string(&PermissionFrame::new(&request())).unwrap(),
        concat!(
            r#"{"subtype":"can_use_tool","tool_name":"Bash","display_name":"Bash","#,
            r#""input":{"command":"touch a","n":1.50},"tool_use_id":"t","title":"touch a","description":"touch a","#,
            r#""permission_suggestions":[{"type":"setMode","mode":"acceptEdits","destination":"session"}],"#,
            r#""blocked_path":"/w/a","decision_reason":"it is protected","decision_reason_type":"safetyCheck","#,
            r#""suppress_always_allow_rule":true,"windlass_group":"other"}"#
        )
    );
}

#[test]
fn a_question_that_waits_says_what_another_process_needs() {
    let mut request = request();
    request.id = "q".into();
    request.token = Some(windlass_types::QuestionToken::new("secret"));
    let text = serde_json::to_string(&PermissionFrame::new(&request)).unwrap();
    assert!(text.contains(r#","windlass_question":{"id":"q","token":"secret"},"#), "{text}");
}

#[test]
fn an_input_that_says_the_same_is_no_change() {
    for same in [r#"{"behavior":"allow"}"#, r#"{"behavior":"allow","updatedInput":{"n": 1.5, "command": "touch a"}}"#] {
        assert_eq!(answer(same), PermissionAnswer::allow(), "{same}");
    }
    let changed = answer(r#"{"behavior":"allow","updatedInput":{"command":"touch b"}}"#);
    let PermissionAnswer::Allow { updated_input: Some(input), .. } = changed else { panic!("{changed:?}") };
    assert_eq!(input.as_str(), r#"{"command":"touch b"}"#);
}

#[test]
fn what_is_not_understood_denies() {
    for bad in [
        "7",
        "{}",
        r#"{"behavior":"perhaps"}"#,
        r#"{"behavior":true}"#,
        r#"{"behavior":"allow","updatedInput":"touch b"}"#,
        r#"{"behavior":"allow","updatedInput":[]}"#,
    ] {
        assert!(matches!(answer(bad), PermissionAnswer::Deny { interrupt: false, .. }), "{bad}");
    }
    assert!(matches!(read(&request().input, None), PermissionAnswer::Deny { .. }));
    assert_eq!(
        answer(r#"{"behavior":"deny","message":"no","interrupt":true}"#),
        PermissionAnswer::Deny { message: "no".into(), interrupt: true }
    );
}

#[test]
fn updates_count_all_together_or_not_at_all() {
    let rule =
        |rule: &str| format!(r#"{{"type":"addRules","behavior":"allow","destination":"session","rules":[{rule}]}}"#);
    let good = rule(r#"{"toolName":"Bash","ruleContent":"npm test *"}"#);
    for (updates, count) in [
        (format!("[{good}]"), 1),
        (format!("[{good},{}]", rule(r#"{"toolName":"Bash"}"#)), 2),
        (format!("[{good},{}]", rule(r#"{"toolName":"Bash","ruleContent":null}"#)), 0),
        (format!(r#"[{good},{{"type":"teleport"}}]"#), 0),
        ("7".to_owned(), 0),
        ("null".to_owned(), 0),
    ] {
        let read = answer(&format!(r#"{{"behavior":"allow","updatedPermissions":{updates}}}"#));
        let PermissionAnswer::Allow { updates: kept, .. } = read else { panic!("{updates}: {read:?}") };
        assert_eq!(kept.len(), count, "{updates}");
    }
}
