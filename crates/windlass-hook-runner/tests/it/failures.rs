//! Hooks that fail: each gate closes and names the hook.

use crate::place::{Place, lives, pre};
use serde_json::{Value, json};
use std::time::{Duration, Instant};
use windlass_hook::{PermissionRequestEvent, PostToolUse, UserPromptSubmit};
use windlass_types::{Behavior, HookCall, HookOutcome, JsonText, PermissionAnswer};

/// Ways to fail: the hook's program, and the reported error.
fn ways() -> Vec<(Value, &'static str)> {
    let command = |line: &str| json!({ "type": "command", "command": line });
    vec![
        (json!({ "type": "command", "command": "sleep 60", "timeout": 0.3 }), "its time was up"),
        (command("echo broken >&2; exit 1"), "exit code 1: broken"),
        (command("missing-program --x"), "exit code 127"),
        (json!({ "type": "command", "command": "/no/such/program", "args": [] }), "was not found"),
        (command("kill -9 $$"), "a signal ended it (9)"),
        (command("echo '{\"decision\": \"approve'"), "not understood"),
        (command("echo '{\"decision\": \"maybe\"}'"), "not understood"),
        (command("echo '{\"hookSpecificOutput\":{\"hookEventName\":\"Stop\"}}'"), "about Stop"),
        (command("printf '{'; head -c 10000000 /dev/zero | tr '\\0' ' '; echo '}'"), "too long"),
        (json!({ "type": "http", "url": "https://127.0.0.1/x" }), "without requests"),
        (json!({ "type": "http", "url": "file:///etc/passwd" }), "must begin with"),
        (json!({ "type": "prompt", "prompt": "Is it safe?" }), "no model"),
        (json!({ "type": "agent", "prompt": "Is it safe?" }), "no model"),
        (json!({ "type": "mcp_tool", "server": "s", "tool": "t" }), "no MCP servers"),
    ]
}

fn with(event: &str, hook: &Value, on_failure: Option<&str>) -> Value {
    let mut hook = hook.clone();
    if let Some(word) = on_failure {
        hook["onFailure"] = word.into();
    }
    json!({ event: [{ "hooks": [hook] }] })
}

fn is_closed(outcome: &HookOutcome) -> bool {
    outcome.block.is_some()
        || outcome.verdict.as_ref().is_some_and(|verdict| verdict.behavior == Behavior::Deny)
        || matches!(outcome.answer, Some(PermissionAnswer::Deny { .. }))
}

fn gates() -> [(&'static str, HookCall); 3] {
    let request = PermissionRequestEvent {
        tool_name: "Bash".into(),
        tool_input: JsonText::empty_object(),
        tool_use_id: "t1".into(),
        permission_suggestions: Vec::new(),
    };
    [
        ("PreToolUse", pre("Bash", "{}")),
        ("PermissionRequest", request.into()),
        ("UserPromptSubmit", UserPromptSubmit { prompt: "hi".into() }.into()),
    ]
}

#[tokio::test(flavor = "multi_thread")]
async fn each_gate_closes_and_names_the_hook() {
    let place = Place::new();
    for (hook, part) in ways() {
        for (event, call) in gates() {
            let outcome = place.ask(&with(event, &hook, None), &call).await;
            assert!(is_closed(&outcome), "{event} {hook} {outcome:?}");
            let [(name, why)] = outcome.failures.as_slice() else { panic!("{event} {hook} {outcome:?}") };
            assert!(why.contains(part) && why.contains(&format!("{name:?}")), "{event} {hook}: {why}");
            let reason = outcome.verdict.map(|verdict| verdict.reason).unwrap_or_else(|| format!("{name:?}"));
            assert!(reason.contains(&format!("{name:?}")), "{event} {hook}: {reason}");
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_failure_that_is_passed_over_is_reported_all_the_same() {
    let place = Place::new();
    for (hook, _) in ways() {
        for (event, call) in gates() {
            let outcome = place.ask(&with(event, &hook, Some("continue")), &call).await;
            assert!(!is_closed(&outcome) && outcome.failures.len() == 1, "{event} {hook} {outcome:?}");
        }
    }
    // Exit code 2 is an answer, not a failure.
    let refusal = json!({ "type": "command", "command": "exit 2" });
    let outcome = place.ask(&with("PreToolUse", &refusal, Some("continue")), &pre("Bash", "{}")).await;
    assert!(is_closed(&outcome) && outcome.failures.is_empty());
}

#[tokio::test]
async fn behind_a_call_a_failure_is_reported_and_changes_nothing() {
    let place = Place::new();
    let after = HookCall::from(PostToolUse {
        tool_name: "Bash".into(),
        tool_input: JsonText::empty_object(),
        tool_use_id: "t1".into(),
        tool_response: JsonText::empty_object(),
        duration_ms: 1,
    });
    let outcome =
        place.ask(&with("PostToolUse", &json!({ "type": "command", "command": "exit 1" }), None), &after).await;
    assert!(!is_closed(&outcome) && outcome.failures.len() == 1, "{outcome:?}");
}

#[cfg(target_os = "linux")]
#[tokio::test(flavor = "multi_thread")]
async fn when_the_time_is_up_the_whole_tree_is_gone() {
    let place = Place::new();
    // A small tree of forks, one of which leaves the group.
    let line = "for i in 1 2 3 4 5 6 7 8; do (sleep 60 & echo $! >> ../pids; sleep 60) & echo $! >> ../pids; done; \
                setsid sleep 60 & echo $! >> ../pids; wait";
    let hook = json!({ "type": "command", "command": line, "timeout": 1 });
    let began = Instant::now();
    let outcome = place.ask(&with("PreToolUse", &hook, None), &pre("Bash", "{}")).await;
    assert!(is_closed(&outcome), "{outcome:?}");
    assert!(began.elapsed() < Duration::from_secs(20), "{:?}", began.elapsed());
    let pids = place.read("pids");
    assert!(pids.lines().count() >= 9, "{pids}");
    assert!(pids.lines().all(|pid| !lives(pid)), "{pids}");
}

/// One program doubles until 255 processes exist; the others start a successor and end, without an end of their own.
/// All keep a pipe open, which closes with the last of them.
#[cfg(target_os = "linux")]
#[tokio::test(flavor = "multi_thread")]
async fn a_fork_bomb_ends_with_its_hook() {
    let doubles =
        "b() { if [ $1 -gt 0 ]; then b $(($1-1)) & b $(($1-1)) & fi; while :; do echo x >&9; sleep 0.1; done; }; b 7";
    let chains = "f() { echo x >&9; (f) & }; f; sleep 60";
    let leaves = "f() { echo x >&9; (setsid bash -c \"$(declare -f f); f\") & }; f; sleep 60";
    for line in [doubles, chains, leaves] {
        let place = Place::new();
        let pipe = place.path("pipe");
        assert!(std::process::Command::new("mkfifo").arg(&pipe).status().unwrap().success());
        let (ended, end) = std::sync::mpsc::channel();
        std::thread::spawn(move || ended.send(std::fs::read(pipe).unwrap().len()));
        let hook = json!({ "type": "command", "command": format!("exec 9>../pipe; {line}"), "timeout": 1 });
        let outcome = place.ask(&with("PreToolUse", &hook, None), &pre("Bash", "{}")).await;
        assert!(is_closed(&outcome), "{line}: {outcome:?}");
        let written = end.recv_timeout(Duration::from_secs(20)).expect("a process is left");
        assert!(written > 2, "{line}: {written}");
    }
}

#[tokio::test]
async fn a_flood_of_text_is_kept_in_a_file() {
    let place = Place::new();
    let prompt = HookCall::from(UserPromptSubmit { prompt: "hi".into() });
    let flood = json!({ "type": "command", "command": "head -c 10000000 /dev/zero | tr '\\0' x" });
    let outcome = place.ask(&with("UserPromptSubmit", &flood, None), &prompt).await;
    let [context] = outcome.additional_context.as_slice() else { panic!("{outcome:?}") };
    assert!(context.len() < 3_000, "{}", context.len());
    let files: Vec<_> = std::fs::read_dir(place.path("results")).unwrap().map(Result::unwrap).collect();
    assert_eq!(files.len(), 1);
    assert!(context.contains(&files[0].path().display().to_string()), "{context}");
    assert_eq!(files[0].metadata().unwrap().len(), 10_000_000);
}
