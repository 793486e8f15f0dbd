//! Input and output of hook programs.

use crate::place::{Place, pre, run};
use serde_json::{Value, json};
use windlass_hook::{SessionStart, UserPromptSubmit};
use windlass_hook_runner::{ConfiguredHook, HookDefinition};
use windlass_types::{Behavior, HookCall};

fn command(event: &str, line: &str) -> Value {
    json!({ event: [{ "hooks": [{ "type": "command", "command": line }] }] })
}

#[tokio::test]
async fn a_program_reads_the_event_and_decides() {
    let place = Place::new();
    let line = "cat > ../input; echo '{\"hookSpecificOutput\":{\"hookEventName\":\"PreToolUse\",\
                \"permissionDecision\":\"ask\",\"permissionDecisionReason\":\"sure?\",\"updatedInput\":{\"command\":\"ls -l\"}}}'";
    let outcome = place.ask(&command("PreToolUse", line), &pre("Bash", r#"{"command":"ls"}"#)).await;
    let verdict = outcome.verdict.unwrap();
    assert_eq!((verdict.behavior, verdict.reason.as_str()), (Behavior::Ask, "sure?"));
    assert_eq!(outcome.updated_input.unwrap().as_str(), r#"{"command":"ls -l"}"#);
    let input: Value = serde_json::from_str(&place.read("input")).unwrap();
    let expected = json!({
        "session_id": "s1", "transcript_path": place.path("s1.jsonl"), "cwd": place.work(), "permission_mode": "default",
        "hook_event_name": "PreToolUse", "tool_name": "Bash", "tool_input": { "command": "ls" }, "tool_use_id": "t1",
    });
    assert_eq!(input, expected);
}

#[tokio::test]
async fn a_program_knows_its_project_and_no_secrets() {
    let place = Place::new();
    let line = "cat >/dev/null; env | sort > ../env; pwd > ../pwd; [ -t 0 ] && echo terminal > ../terminal; exit 0";
    let definition = HookDefinition::command(line);
    let hooks = place.of(vec![ConfiguredHook::new(definition).of_plugin("/plugins/p")]);
    run(&hooks, &place.cx(), &pre("Read", "{}")).await;
    let (env, work) = (place.read("env"), place.work().display().to_string());
    for part in [
        "CLAUDECODE=1",
        &format!("CLAUDE_PROJECT_DIR={work}"),
        &format!("WINDLASS_PROJECT_DIR={work}"),
        "CLAUDE_PLUGIN_ROOT=/plugins/p",
        "GIT_TERMINAL_PROMPT=0",
    ] {
        assert!(env.lines().any(|line| line == part), "{part} is missing in {env}");
    }
    // Variables of the test run that are no part of the list that programs inherit.
    assert!(!env.contains("CARGO_MANIFEST_DIR=") && !place.path("terminal").exists(), "{env}");
    assert_eq!(place.read("pwd").trim(), work);
}

#[tokio::test]
async fn a_program_without_a_shell_gets_its_arguments_as_they_are() {
    let place = Place::new();
    let said = json!({ "PreToolUse": [{ "hooks": [
        { "type": "command", "command": "/bin/sh", "args": ["-c", "printf '%s' \"$1\" >&2; exit 2", "x", "$HOME; `id`"] },
    ] }] });
    let outcome = place.ask(&said, &pre("Bash", "{}")).await;
    assert_eq!(outcome.verdict.unwrap().reason, "$HOME; `id`");
}

#[tokio::test]
async fn exit_code_two_denies_with_standard_error() {
    let place = Place::new();
    let outcome = place.ask(&command("PreToolUse", "echo no force >&2; exit 2"), &pre("Bash", "{}")).await;
    let verdict = outcome.verdict.unwrap();
    assert_eq!((verdict.behavior, verdict.reason.as_str()), (Behavior::Deny, "no force"));
    assert!(outcome.failures.is_empty());
    let prompt = HookCall::from(UserPromptSubmit { prompt: "hi".into() });
    let outcome = place.ask(&command("UserPromptSubmit", "echo no >&2; exit 2"), &prompt).await;
    assert_eq!(outcome.block.unwrap().reason, "no");
}

#[tokio::test]
async fn text_is_context_where_the_event_takes_it() {
    let place = Place::new();
    let prompt = HookCall::from(UserPromptSubmit { prompt: "hi".into() });
    let outcome = place.ask(&command("UserPromptSubmit", "printf 'b\\377d \\n'"), &prompt).await;
    assert_eq!(outcome.additional_context, ["b\u{fffd}d"]);
    let outcome = place.ask(&command("PreToolUse", "echo fine"), &pre("Bash", "{}")).await;
    assert_eq!((outcome.additional_context.len(), outcome.verdict), (0, None));
}

#[tokio::test]
async fn variables_that_a_program_leaves_are_for_later_commands() {
    let place = Place::new();
    let start = HookCall::from(SessionStart { source: "startup".into() });
    let line = "echo 'export A=1' >> \"$CLAUDE_ENV_FILE\"; echo 'B=\"two words\"' >> \"$CLAUDE_ENV_FILE\"";
    place.ask(&command("SessionStart", line), &start).await;
    let variables = place.host.variables.lock().unwrap().clone();
    let pair = |name: &str, value: &str| (name.to_owned(), value.to_owned());
    assert_eq!(variables, [pair("A", "1"), pair("B", "two words")]);
    // The file goes with the run of the hook.
    let left: Vec<_> = std::fs::read_dir(place.path("results")).unwrap().collect();
    assert!(left.is_empty(), "{left:?}");
    // No other event has such a file.
    let outcome = place.ask(&command("PreToolUse", "test -z \"$CLAUDE_ENV_FILE\" || exit 2"), &pre("Bash", "{}")).await;
    assert_eq!(outcome.verdict, None);
}

#[tokio::test]
async fn a_program_need_not_read_its_input() {
    let place = Place::new();
    let long = format!(r#"{{"content":"{}"}}"#, "x".repeat(1 << 20));
    let outcome = place.ask(&command("PreToolUse", "exec <&-; echo no >&2; exit 2"), &pre("Write", &long)).await;
    assert_eq!(outcome.verdict.unwrap().reason, "no");
    let outcome = place.ask(&command("PreToolUse", "test $(wc -c) -gt 1048576 || exit 2"), &pre("Write", &long)).await;
    assert_eq!((outcome.verdict, outcome.failures), (None, Vec::new()));
}
