//! Programs that no run waits for.

use crate::place::{Place, lives, pre, run};
use serde_json::{Value, json};
use std::time::Duration;
use windlass_hook::{PostToolUse, UserPromptSubmit};
use windlass_types::{HookCall, JsonText};

fn after() -> HookCall {
    let (tool_input, tool_response) = (JsonText::empty_object(), JsonText::empty_object());
    let (tool_name, tool_use_id) = ("Bash".into(), "t1".into());
    PostToolUse { tool_name, tool_input, tool_use_id, tool_response, duration_ms: 1 }.into()
}

fn hook(event: &str, mode: &str, line: &str) -> Value {
    json!({ event: [{ "hooks": [{ "type": "command", "command": line, mode: true }] }] })
}

/// Asks until something is there, for at most ten seconds.
async fn until<T>(mut look: impl AsyncFnMut() -> Option<T>) -> T {
    for _ in 0..1_000 {
        if let Some(found) = look().await {
            return found;
        }
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
    panic!("it does not come");
}

#[tokio::test]
async fn what_a_program_adds_is_read_with_the_next_prompt() {
    let place = Place::new();
    let output = json!({
        "systemMessage": "linted",
        "hookSpecificOutput": { "hookEventName": "PostToolUse", "additionalContext": "two warnings" },
    });
    // The program waits until it is allowed to end: the run does not wait for it.
    let line = format!("while [ ! -e ../go ]; do sleep 0.02; done; echo '{output}'");
    let hooks = place.hooks(&hook("PostToolUse", "async", &line));
    let outcome = run(&hooks, &place.cx(), &after()).await;
    assert_eq!((outcome.additional_context.len(), outcome.block), (0, None));
    std::fs::write(place.path("go"), "").unwrap();
    let prompt = HookCall::from(UserPromptSubmit { prompt: "hi".into() });
    let outcome = until(async || {
        let outcome = run(&hooks, &place.cx(), &prompt).await;
        (!outcome.additional_context.is_empty()).then_some(outcome)
    });
    let outcome = outcome.await;
    assert_eq!(outcome.additional_context, ["two warnings"]);
    assert_eq!(outcome.system_messages, ["PostToolUse:Bash says: linted"]);
    assert!(run(&hooks, &place.cx(), &prompt).await.additional_context.is_empty());
}

#[tokio::test]
async fn a_program_cannot_deny_what_has_begun() {
    let place = Place::new();
    let hooks = place.hooks(&hook("PreToolUse", "async", "touch ../done; exit 2"));
    assert_eq!(run(&hooks, &place.cx(), &pre("Bash", "{}")).await.verdict, None);
    until(async || place.path("done").exists().then_some(())).await;
    assert_eq!(run(&hooks, &place.cx(), &pre("Bash", "{}")).await.verdict, None);
}

#[tokio::test]
async fn exit_code_two_wakes_the_model() {
    let place = Place::new();
    let hooks = place.hooks(&hook("PostToolUse", "asyncRewake", "echo the build broke >&2; exit 2"));
    run(&hooks, &place.cx(), &after()).await;
    let woken = until(async || place.host.woken.lock().unwrap().first().cloned()).await;
    assert!(woken.contains("the build broke") && woken.contains("ran in the background"), "{woken}");
}

#[cfg(target_os = "linux")]
#[tokio::test(flavor = "multi_thread")]
async fn programs_end_with_their_session() {
    let place = Place::new();
    let hooks = place.hooks(&hook("PostToolUse", "async", "echo $$ > ../pid; exec sleep 60"));
    run(&hooks, &place.cx(), &after()).await;
    let pid = until(async || Some(place.read("pid")).filter(|pid| pid.ends_with('\n'))).await;
    assert!(lives(&pid));
    drop(hooks);
    until(async || (!lives(&pid)).then_some(())).await;
}
