use super::*;
use crate::definition::Background;
use serde_json::json;

fn one(event: &str, hook: &Value) -> ReadHooks {
    read_hooks(&json!({ event: [{ "matcher": "Bash", "hooks": [hook] }] }))
}

#[test]
fn the_reference_layout_is_read() {
    let read = read_hooks(&json!({
        "PreToolUse": [
            { "matcher": "Bash", "hooks": [
                { "type": "command", "command": "./check.sh", "timeout": 10, "if": "Bash(git *)", "statusMessage": "Checking" },
                { "type": "command", "command": "prog", "args": ["-x"], "onFailure": "continue" },
            ] },
            { "hooks": [{ "type": "http", "url": "https://h/x", "headers": { "A": "$B" }, "allowedEnvVars": ["B"] }] },
        ],
        "Stop": [{ "hooks": [{ "type": "prompt", "prompt": "Done?", "model": "haiku" }] }],
        "PostToolUse": [{ "matcher": "*", "hooks": [
            { "type": "mcp_tool", "server": "s", "tool": "t", "input": { "path": "${tool_input.file_path}" } },
            { "type": "command", "command": "later", "async": true, "once": true },
            { "type": "command", "command": "wake", "asyncRewake": true },
            { "type": "agent", "prompt": "Look." },
        ] }],
    }));
    assert_eq!((read.broken.as_slice(), read.notes.as_slice()), (&[][..], &[][..]));
    let names: Vec<String> = read.hooks.iter().map(|hook| format!("{} {hook}", hook.event)).collect();
    assert_eq!(
        names,
        [
            "PostToolUse t of s",
            "PostToolUse later",
            "PostToolUse wake",
            "PostToolUse agent: Look.",
            "PreToolUse ./check.sh",
            "PreToolUse prog -x",
            "PreToolUse https://h/x",
            "Stop prompt: Done?",
        ]
    );
    let check = &read.hooks[4];
    assert_eq!((check.time_limit(), check.on_failure), (Duration::from_secs(10), OnFailure::Block));
    assert_eq!(check.condition.as_ref().unwrap().to_string(), "Bash(git *)");
    assert_eq!(read.hooks[5].on_failure, OnFailure::Continue);
    assert!(
        read.hooks[1].once
            && matches!(&read.hooks[1].handler, HookHandler::Command(c) if c.background == Background::Async)
    );
    assert!(matches!(&read.hooks[2].handler, HookHandler::Command(c) if c.background == Background::Rewake));
    assert_eq!(read.hooks[7].time_limit(), Duration::from_secs(30));
    assert_eq!(read_hooks(&Value::Null), ReadHooks::default());
}

#[test]
fn a_gate_that_waits_for_a_misspelt_tool_is_broken() {
    let read = |event: &str, matcher: &str, more: Value| {
        let mut hook = json!({ "type": "command", "command": "guard.sh" });
        hook.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        read_hooks(&json!({ event: [{ "matcher": matcher, "hooks": [hook] }] }))
    };
    for (matcher, more) in [
        ("bash", json!({})),
        ("Edit|Wrte", json!({})),
        ("^bash$", json!({})),
        ("Bash", json!({ "if": "bash(git *)" })),
        ("Bash", json!({ "if": "Bsh" })),
    ] {
        let broken = read("PreToolUse", matcher, more.clone()).broken;
        assert!(broken.len() == 1 && broken[0].problem.contains("did you mean"), "{matcher} {more}: {broken:?}");
    }
    // Without a closing gate, the name is noted, and the other names of the list still match.
    for (event, more) in [("PostToolUse", json!({})), ("PreToolUse", json!({ "onFailure": "continue" }))] {
        let read = read(event, "bash|Read", more);
        assert!(read.broken.is_empty() && read.hooks.len() == 1, "{read:?}");
        assert!(read.notes.iter().any(|note| note.contains("did you mean \"Bash\"?")), "{read:?}");
        assert!(read.hooks[0].matcher.matches(Some("Read")));
    }
    for matcher in ["Task", "KillShell|Bash", "deploy", "mcp__bash", "^Bash$", "*", ""] {
        let read = read("PreToolUse", matcher, json!({}));
        assert!(read.broken.is_empty() && read.notes.is_empty(), "{matcher}: {read:?}");
    }
}

#[test]
fn a_hook_of_a_gate_that_cannot_be_used_is_broken_and_says_why() {
    let command = |rest: Value| {
        let mut hook = json!({ "type": "command", "command": "guard.sh" });
        hook.as_object_mut().unwrap().extend(rest.as_object().unwrap().clone());
        hook
    };
    for (hook, part) in [
        (json!("guard.sh"), "object"),
        (json!({ "command": "guard.sh" }), "`type` is missing"),
        (json!({ "type": "comand", "command": "guard.sh" }), "did you mean `command`?"),
        (json!({ "type": "command", "comand": "guard.sh" }), "did you mean it by `comand`?"),
        (json!({ "type": "command", "command": " " }), "empty"),
        (json!({ "type": "command", "command": 7 }), "text"),
        (json!({ "type": "command", "command": "a\u{0}b" }), "NUL"),
        (command(json!({ "timeout": 0 })), "timeout"),
        (command(json!({ "timeout": "10" })), "timeout"),
        (command(json!({ "onFailure": "ignore" })), "onFailure"),
        (command(json!({ "if": "Bash(" })), "parenthesis"),
        (command(json!({ "args": "x" })), "args"),
        (command(json!({ "shell": "powershell" })), "powershell"),
        (json!({ "type": "http" }), "`url` is missing"),
        (json!({ "type": "http", "url": "https://h", "headers": { "A": 1 } }), "header `A`"),
    ] {
        let read = one("PreToolUse", &hook.clone());
        assert_eq!((read.hooks.len(), read.broken.len()), (0, 1), "{hook}");
        assert!(read.broken[0].to_string().contains(part), "{hook}: {}", read.broken[0]);
        // On an event without a gate, the problem is a note.
        let read = one("PostToolUse", &hook.clone());
        assert_eq!((read.hooks.len(), read.broken.len()), (0, 0), "{hook}");
        assert!(read.notes.iter().any(|note| note.contains(part)), "{hook}: {:?}", read.notes);
    }
    let lenient = one("PreToolUse", &json!({ "type": "command", "onFailure": "continue" }));
    assert_eq!((lenient.broken.len(), lenient.notes.len()), (0, 1));
    for (said, part) in [
        (json!(["x"]), "names of events"),
        (json!({ "PreToolUse": "x" }), "a list"),
        (json!({ "PreToolUse": ["x"] }), "object"),
        (json!({ "PreToolUse": [{ "matcher": "Bash" }] }), "must be a list"),
        (json!({ "PreToolUse": [{ "matcher": 7, "hooks": [{ "type": "command", "command": "x" }] }] }), "matcher"),
        (json!({ "PreToolUse": [{ "matcher": "(", "hooks": [{ "type": "command", "command": "x" }] }] }), "matcher"),
        (json!({ "pretooluse": [{ "hooks": [{ "type": "command", "command": "x" }] }] }), "`PreToolUse`"),
        (json!({ "SessionStart": [], "UserPromptSubmitt": [{}] }), "`UserPromptSubmit`"),
        (json!({ "PermissionRequest": [{ "hooks": [7] }] }), "object"),
    ] {
        let read = read_hooks(&said);
        assert_eq!((read.hooks.len(), read.broken.len()), (0, 1), "{said}");
        assert!(read.broken[0].to_string().contains(part), "{said}: {}", read.broken[0]);
    }
}

#[test]
fn what_has_no_effect_is_noted() {
    let hook = json!([{ "hooks": [{ "type": "command", "command": "x" }] }]);
    for (said, part) in [
        (json!({ "TeammateIdle": hook }), "does not have the event"),
        (json!({ "Stopp": hook }), "did you mean `Stop`?"),
        (json!({ "Xyzzy": hook }), "no such event"),
        (json!({ "Stop": [{ "mathcer": "x", "hooks": [] }] }), "did you mean `matcher`?"),
        (
            json!({ "Stop": [{ "hooks": [{ "type": "command", "command": "x", "timeuot": 1 }] }] }),
            "did you mean `timeout`?",
        ),
        (json!({ "Stop": [{ "hooks": [{ "type": "command", "command": "x", "if": "Bash" }] }] }), "not about a call"),
        (
            json!({ "SessionStart": [{ "hooks": [{ "type": "prompt", "prompt": "x" }] }] }),
            "cannot listen to SessionStart",
        ),
        (json!({ "SessionStart": [{ "hooks": [{ "type": "http", "url": "x" }] }] }), "cannot listen to SessionStart"),
    ] {
        let read = read_hooks(&said);
        assert!(read.broken.is_empty() && read.notes.len() == 1, "{said} {read:?}");
        assert!(read.notes[0].contains(part), "{said}: {:?}", read.notes);
    }
}

#[test]
fn there_is_a_limit_to_hooks() {
    let hook = json!({ "type": "command", "command": "x" });
    let read = read_hooks(&json!({ "PreToolUse": [{ "hooks": vec![hook; MOST_HOOKS + 2] }] }));
    assert_eq!((read.hooks.len(), read.broken.len()), (MOST_HOOKS, 2));
}

proptest::proptest! {
    #[test]
    fn any_value_is_read_without_harm(event in "PreToolUse|Stop|[a-zA-Z]{1,12}", key in "matcher|hooks|type|[a-z]{1,8}", text in "\\PC{0,20}") {
        let hook = json!({ "type": text, key.clone(): text, "command": text });
        let read = read_hooks(&json!({ event: [{ key: [hook.clone()], "hooks": [hook, text] }] }));
        for broken in &read.broken {
            proptest::prop_assert!(broken.to_string().chars().count() < 2_000);
        }
    }
}
