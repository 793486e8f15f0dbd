//! Plan mode, entered and left with the user's consent, and questions to the user.

use serde_json::{Value, json};
use std::sync::{Arc, Mutex};
use windlass::{
    EventKind, JsonText, PermissionAnswer, PermissionMode, Permissions, Query, Script, ScriptedModel, coding_tools,
    event::StateChange, permission::PermissionUpdate, query,
};
use windlass_builtin_tools::AskUserQuestion;

/// A model that makes these calls one after another, then is done.
fn calls(calls: &[(&'static str, Value)]) -> ScriptedModel {
    let script = calls.iter().fold(Script::new(), |script, (tool, input)| {
        let (tool, input) = (*tool, input.clone());
        script.turn(|turn| turn.tool_use(tool, input))
    });
    ScriptedModel::new(script.turn(|turn| turn.text("Done.")))
}

type Told = Arc<Mutex<Vec<String>>>;

/// Permissions of a host that answers in its way and remembers what it was asked about.
fn host(answer: impl Fn(&str) -> PermissionAnswer + Send + Sync + 'static) -> (Permissions, Told) {
    let told = Told::default();
    let asked = Arc::clone(&told);
    let permissions = Permissions::ask(move |request| {
        asked.lock().unwrap().push(request.tool.clone());
        let answer = answer(&request.tool);
        async move { answer }
    });
    (permissions, told)
}

/// The modes that the session went through, and what the calls came to.
async fn play(query: Query) -> (Vec<PermissionMode>, Vec<(String, bool, String)>) {
    let mut run = query.stream();
    let (mut modes, mut results) = (Vec::new(), Vec::new());
    while let Some(event) = run.try_next().await.unwrap() {
        match event.kind {
            EventKind::StateChanged(StateChange::PermissionMode { mode }) => modes.push(mode),
            EventKind::ToolFinished(finished) => {
                let text = format!("{:?}", finished.result.content);
                results.push((finished.tool, finished.result.is_error, text));
            }
            _ => {}
        }
    }
    (modes, results)
}

#[tokio::test]
async fn an_approved_plan_ends_plan_mode_and_is_carried_out() {
    let dir = tempfile::tempdir().unwrap();
    let script = calls(&[
        ("EnterPlanMode", json!({})),
        ("Write", json!({"file_path": "a.txt", "content": "too early"})),
        ("ExitPlanMode", json!({"plan": "1. Write a.txt"})),
        ("Write", json!({"file_path": "a.txt", "content": "in time"})),
    ]);
    let (permissions, asked) = host(|_| PermissionAnswer::allow());
    let permissions = permissions.mode(PermissionMode::AcceptEdits);
    let (modes, results) =
        play(query("go").provider(script).tools(coding_tools(dir.path())).permissions(permissions)).await;
    // The approved plan restores the mode from before.
    assert_eq!(modes, [PermissionMode::Plan, PermissionMode::AcceptEdits]);
    assert_eq!(*asked.lock().unwrap(), ["EnterPlanMode", "ExitPlanMode"]);
    let failed: Vec<bool> = results.iter().map(|(_, failed, _)| *failed).collect();
    assert_eq!(failed, [false, true, false, false], "{results:#?}");
    assert!(results[2].2.contains("1. Write a.txt"));
    assert_eq!(std::fs::read_to_string(dir.path().join("a.txt")).unwrap(), "in time");
}

#[tokio::test]
async fn a_refused_plan_changes_nothing_and_the_host_may_choose_the_mode() {
    let dir = tempfile::tempdir().unwrap();
    let plan =
        || calls(&[("ExitPlanMode", json!({"plan": "p"})), ("Write", json!({"file_path": "a", "content": "x"}))]);
    let in_plan = |permissions: Permissions| {
        query("go").provider(plan()).tools(coding_tools(dir.path())).permissions(permissions.mode(PermissionMode::Plan))
    };
    let (permissions, _) = host(|_| PermissionAnswer::deny("think again"));
    let (modes, results) = play(in_plan(permissions)).await;
    assert!(modes.is_empty() && results.iter().all(|(_, failed, _)| *failed), "{results:#?}");
    assert!(results[0].2.contains("think again"));
    let (permissions, asked) = host(|_| {
        let mode = serde_json::from_value::<PermissionUpdate>(
            json!({"type": "setMode", "mode": "acceptEdits", "destination": "session"}),
        );
        PermissionAnswer::Allow { updated_input: None, updates: vec![mode.unwrap()] }
    });
    let (modes, _) = play(in_plan(permissions)).await;
    assert_eq!(modes, [PermissionMode::AcceptEdits]);
    assert_eq!(*asked.lock().unwrap(), ["ExitPlanMode"]);
    assert!(dir.path().join("a").exists());
}

#[tokio::test]
async fn where_nobody_can_be_asked_they_are_not_offered() {
    let dir = tempfile::tempdir().unwrap();
    let script = calls(&[("ExitPlanMode", json!({"plan": "p"}))]);
    let permissions = Permissions::new().mode(PermissionMode::Plan);
    let run = query("go").provider(script.clone()).tools(coding_tools(dir.path())).permissions(permissions);
    let (modes, results) = play(run).await;
    assert!(modes.is_empty() && results[0].1);
    let offered: Vec<String> = script.requests()[0].tools.iter().map(|tool| tool.name.clone()).collect();
    assert!(!offered.iter().any(|name| name.contains("Plan")), "{offered:?}");
}

#[tokio::test]
async fn the_users_answers_reach_the_model() {
    let question = json!({
        "question": "Which database?", "header": "Database",
        "options": [{"label": "SQLite", "description": "one file"}, {"label": "Postgres", "description": "a server"}],
    });
    let ask = || calls(&[("AskUserQuestion", json!({"questions": [question]}))]);
    let answered = json!({"questions": [question], "answers": {"Which database?": "SQLite"}});
    let (permissions, _) = host(move |_| PermissionAnswer::Allow {
        updated_input: Some(JsonText::of(&answered).unwrap()),
        updates: Vec::new(),
    });
    let (_, results) =
        play(query("go").provider(ask()).tools(AskUserQuestion::default()).permissions(permissions)).await;
    assert!(!results[0].1 && results[0].2.contains("Which database?: SQLite"), "{results:?}");
    // A bare yes is no answer.
    let (permissions, _) = host(|_| PermissionAnswer::allow());
    let (_, results) =
        play(query("go").provider(ask()).tools(AskUserQuestion::default()).permissions(permissions)).await;
    assert!(results[0].1 && results[0].2.contains("no answer"), "{results:?}");
}
