use super::*;
use std::path::PathBuf;
use windlass_types::{
    Decision, DecisionReason, MessageId, RunFailure, SessionId, ToolFinished, ToolResult, ToolUse, Usage,
};

fn occasions(wanted: &[HookEventName]) -> Occasions {
    let mut occasions = Occasions::new("/w", [PathBuf::from("/w")]);
    occasions.wants(wanted.iter().copied());
    occasions
}

/// Returns the occasions in the JSON that hooks read.
fn json(calls: &[HookCall]) -> Vec<String> {
    calls.iter().map(|call| JsonText::of(call).unwrap().to_string()).collect()
}

fn todos(list: &str) -> EventKind {
    EventKind::StateChanged(StateChange::Todos { todos: JsonText::parse(list).unwrap() })
}

fn denied(id: &str) -> EventKind {
    let decision = Decision::new(Behavior::Deny, DecisionReason::Rule, "No.");
    EventKind::PermissionResolved { tool_use_id: id.into(), tool: "Bash".to_owned(), decision }
}

#[test]
fn only_what_is_wanted_is_found() {
    let moved = || EventKind::StateChanged(StateChange::Cwd { cwd: "/w/a".into() });
    assert!(occasions(&[]).of(&moved()).is_empty());
    assert!(occasions(&[HookEventName::PostCompact]).of(&moved()).is_empty());
    let mut wanted = occasions(&[HookEventName::CwdChanged]);
    let first = r#"{"hook_event_name":"CwdChanged","old_cwd":"/w","new_cwd":"/w/a"}"#;
    assert_eq!(json(&wanted.of(&moved())), [first]);
    let back = EventKind::StateChanged(StateChange::Cwd { cwd: "/w".into() });
    assert_eq!(json(&wanted.of(&back)), [r#"{"hook_event_name":"CwdChanged","old_cwd":"/w/a","new_cwd":"/w"}"#]);
}

#[test]
fn a_denied_call_is_named_with_the_input_of_the_model() {
    let mut wanted = occasions(&[HookEventName::PermissionDenied]);
    let call = ToolUse::new("t1", "Bash", JsonText::parse(r#"{"command":"rm -r ."}"#).unwrap());
    let block = EventKind::BlockFinished {
        message_id: MessageId::from("m"),
        model: "m".to_owned(),
        index: 0,
        line: "l".into(),
        block: ContentBlock::ToolUse(call),
        usage: Usage::default(),
    };
    assert!(wanted.of(&block).is_empty());
    let found = wanted.of(&denied("t1"));
    let expected = concat!(
        r#"{"hook_event_name":"PermissionDenied","tool_name":"Bash","tool_input":{"command":"rm -r ."},"#,
        r#""tool_use_id":"t1","reason":"No."}"#
    );
    assert_eq!(json(&found), [expected]);
    assert_eq!(found.first().and_then(HookCall::tool_name), Some("Bash"));
    // The input is dropped once the call is answered.
    wanted.of(&EventKind::ToolFinished(ToolFinished::new("Bash".to_owned(), ToolResult::ok("t1", "no"))));
    assert!(json(&wanted.of(&denied("t1")))[0].contains(r#""tool_input":{}"#));
    let decision = Decision::new(Behavior::Allow, DecisionReason::Host, "");
    let allowed = EventKind::PermissionResolved { tool_use_id: "t1".into(), tool: "Bash".to_owned(), decision };
    assert!(wanted.of(&allowed).is_empty());
}

#[test]
fn the_list_tells_what_is_new_and_what_is_completed() {
    let mut wanted = occasions(&[HookEventName::TaskCreated, HookEventName::TaskCompleted]);
    let names = |calls: &[HookCall]| -> Vec<String> {
        calls
            .iter()
            .map(|call| match call {
                HookCall::TaskCreated(task) => format!("+{} {}", task.task_id, task.task_subject),
                HookCall::TaskCompleted(task) => format!("x{} {}", task.task_id, task.task_subject),
                other => panic!("{other:?}"),
            })
            .collect()
    };
    let first = r#"[{"content":"A","status":"pending"},{"content":"B","status":"completed"}]"#;
    assert_eq!(names(&wanted.of(&todos(first))), ["+1 A", "+2 B", "x2 B"]);
    let second = r#"[{"content":"A","status":"completed"},{"content":"B","status":"completed"}]"#;
    assert_eq!(names(&wanted.of(&todos(second))), ["x1 A"]);
    assert!(wanted.of(&todos(second)).is_empty());
    // An id identifies an item even when its content changes.
    let named = r#"[{"content":"A","status":"pending","id":"n"}]"#;
    assert_eq!(names(&wanted.of(&todos(named))), ["+n A"]);
    let renamed = r#"[{"content":"Another","status":"completed","id":"n"}]"#;
    assert_eq!(names(&wanted.of(&todos(renamed))), ["xn Another"]);
    let described = r#"[{"content":"C","status":"pending","id":"3","description":"In detail."}]"#;
    assert!(json(&wanted.of(&todos(described)))[0].contains(r#""task_description":"In detail.""#));
    // A value that is not a list of items counts as an empty list.
    assert!(wanted.of(&todos(r#"[7]"#)).is_empty());

    let mut resumed = occasions(&[HookEventName::TaskCreated, HookEventName::TaskCompleted]);
    resumed.begins_with(&JsonText::parse(first).unwrap());
    assert_eq!(names(&resumed.of(&todos(second))), ["x1 A"]);
}

#[test]
fn models_failures_and_directories() {
    let mut wanted =
        occasions(&[HookEventName::PostModelSwitch, HookEventName::StopFailure, HookEventName::DirectoryAdded]);
    let (from, to) = ("a".to_owned(), "b".to_owned());
    let fell = wanted.of(&EventKind::Status(Status::FallingBack { from, to }));
    assert!(json(&fell)[0].contains(r#""from_model":"a","to_model":"b","source":"fallback""#));
    let chosen = wanted.of(&EventKind::StateChanged(StateChange::Model { model: "c".to_owned() }));
    assert!(json(&chosen)[0].contains(r#""from_model":"b","to_model":"c","source":"user""#));

    let ended = |outcome| {
        let mut result = RunResult::new(outcome, SessionId::from("s"));
        result.text = "So far.".to_owned();
        EventKind::RunFinished(result)
    };
    assert!(wanted.of(&ended(Outcome::Success)).is_empty());
    let failure = RunFailure::new(RunFailureKind::Model(ModelErrorKind::Overloaded), "It is busy.");
    let failed = wanted.of(&ended(Outcome::Failed(failure)));
    assert_eq!(failed.first().and_then(HookCall::subject), Some("overloaded"));
    assert!(json(&failed)[0].contains(r#""error_details":"It is busy.","last_assistant_message":"So far.""#));

    assert!(wanted.of_directories(&["/w".into()]).is_empty());
    let added = wanted.of_directories(&["/w".into(), "/x".into()]);
    assert!(json(&added)[0].contains(r#""directory":"/x""#));
    assert!(wanted.of_directories(&["/w".into()]).is_empty(), "one that goes is not added");
}
