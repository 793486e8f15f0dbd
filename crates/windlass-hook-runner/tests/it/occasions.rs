//! Which hooks are asked, in which order, and how often.

use crate::place::{Place, pre, run};
use serde_json::json;
use windlass_hook::HookContext;
use windlass_hook_runner::{Condition, ConfiguredHook, HookDefinition, HookScope};
use windlass_types::{AgentIdentity, HookEventName, PermissionMode};

#[tokio::test]
async fn matchers_and_conditions_choose() {
    let place = Place::new();
    let said = json!({ "PreToolUse": [
        { "matcher": "Bash", "hooks": [{ "type": "command", "command": "echo bash >> ../ran", "if": "Bash(git *)" }] },
        { "matcher": "mcp__.*__write", "hooks": [{ "type": "command", "command": "echo mcp >> ../ran" }] },
        { "matcher": "Edit|Write", "hooks": [{ "type": "command", "command": "echo edit >> ../ran" }] },
    ] });
    let hooks = place.hooks(&said);
    for (tool, input, expected) in [
        ("Bash", r#"{"command":"ls"}"#, ""),
        ("Bash", r#"{"command":"ls && git push"}"#, "bash\n"),
        ("mcp__files__write", "{}", "mcp\n"),
        ("mcp__files__read", "{}", ""),
        ("Write", "{}", "edit\n"),
        ("MultiEdit", "{}", "edit\n"),
        ("NotebookEdit", "{}", "edit\n"),
        ("apply_patch", "{}", "edit\n"),
        ("Read", "{}", ""),
    ] {
        let outcome = run(&hooks, &place.cx(), &pre(tool, input)).await;
        assert_eq!(place.read("ran"), expected, "{tool} {input}");
        assert_eq!(outcome.ran.len(), expected.lines().count(), "{tool} {input}: {outcome:?}");
        let _ = std::fs::remove_file(place.path("ran"));
    }
}

#[tokio::test]
async fn identical_hooks_run_once_and_answers_stand_in_declared_order() {
    let place = Place::new();
    let same = || HookDefinition::command("echo same >> ../ran");
    let other_limit = same().with_timeout(std::time::Duration::from_secs(9));
    let say = |line: &str, text: &str| {
        let output = json!({ "hookSpecificOutput": { "hookEventName": "PreToolUse", "additionalContext": text } });
        ConfiguredHook::new(HookDefinition::command(format!("{line}; echo '{output}'")))
    };
    let hooks = place.of(vec![
        ConfiguredHook::new(same()),
        say("sleep 0.3", "first"),
        ConfiguredHook::new(same().for_tools("Bash").unwrap()),
        say("true", "second"),
        ConfiguredHook::new(other_limit),
        // Of a plugin it runs in another environment.
        ConfiguredHook::new(same()).of_plugin("/p"),
    ]);
    let outcome = run(&hooks, &place.cx(), &pre("Bash", "{}")).await;
    assert_eq!(outcome.additional_context, ["first", "second"]);
    assert_eq!(place.read("ran"), "same\nsame\n");
    assert_eq!(outcome.ran.len(), 4, "{outcome:?}");
}

#[tokio::test]
async fn a_copy_of_a_gate_never_weakens_it() {
    let place = Place::new();
    let slow = || HookDefinition::command("sleep 0.3; echo from the gate >&2; exit 2");
    let brief = std::time::Duration::from_millis(30);
    let mut once = slow();
    once.once = true;
    let mut narrow = slow();
    narrow.condition = Some(Condition::parse("Bash(ls *)").unwrap());
    for (name, copy) in [
        ("onFailure", slow().continuing_on_failure().with_timeout(brief)),
        ("timeout", slow().with_timeout(brief)),
        ("once", once),
        ("if", narrow),
        ("matcher", slow().for_tools("Bash|Read").unwrap().continuing_on_failure().with_timeout(brief)),
    ] {
        for before in [true, false] {
            let mut hooks = vec![ConfiguredHook::new(slow())];
            hooks.insert(if before { 0 } else { 1 }, ConfiguredHook::new(copy.clone()));
            let hooks = place.of(hooks);
            for _ in 0..2 {
                let outcome = run(&hooks, &place.cx(), &pre("Bash", r#"{"command":"ls x"}"#)).await;
                // The answer of the gate, not a failure of it.
                assert!(format!("{:?}", outcome.verdict).contains("from the gate"), "{name} {before}: {outcome:?}");
                assert_eq!(outcome.ran.len(), 1, "{name} {before}: {outcome:?}");
            }
        }
    }
}

#[tokio::test]
async fn a_hook_may_run_once_in_a_session() {
    let place = Place::new();
    let said =
        json!({ "PreToolUse": [{ "hooks": [{ "type": "command", "command": "echo x >> ../ran", "once": true }] }] });
    let hooks = place.hooks(&said);
    for _ in 0..3 {
        run(&hooks, &place.cx(), &pre("Bash", "{}")).await;
    }
    assert_eq!(place.read("ran"), "x\n");
}

#[tokio::test]
async fn hooks_of_an_agent_and_of_a_skill_listen_to_theirs() {
    let place = Place::new();
    let hook = |text: &str, scope| {
        ConfiguredHook::new(HookDefinition::command(format!("echo {text} >> ../ran"))).in_scope(scope)
    };
    let hooks = place.of(vec![
        hook("agent", HookScope::Agent("helper".to_owned())),
        hook("skill", HookScope::Skill("deploy".to_owned())),
    ]);
    let agent = |kind: &str| place.cx().with_agent(Some(AgentIdentity::new("a".into(), kind.to_owned())));
    let ask = async |cx: HookContext, tool: &str, input: &str| run(&hooks, &cx, &pre(tool, input)).await;
    ask(place.cx(), "Bash", "{}").await;
    ask(agent("other"), "Bash", "{}").await;
    assert_eq!(place.read("ran"), "");
    ask(agent("helper"), "Bash", "{}").await;
    assert_eq!(place.read("ran"), "agent\n");
    let using = |skill: &str| place.cx().with_skills([skill.to_owned()].into());
    ask(using("other"), "Read", "{}").await;
    ask(using("deploy"), "Read", "{}").await;
    assert_eq!(place.read("ran"), "agent\nskill\n");
}

#[tokio::test]
async fn a_hook_that_changes_its_settings_changes_nothing_in_its_session() {
    let place = Place::new();
    let settings = place.path("work/settings.json");
    std::fs::write(&settings, "{}").unwrap();
    let line = "echo '{\"disableAllHooks\":true}' > settings.json; exit 2";
    let said = json!({ "PreToolUse": [{ "hooks": [{ "type": "command", "command": line }] }] });
    let hooks = place.hooks(&said);
    for _ in 0..2 {
        let outcome = run(&hooks, &place.cx().with_permission_mode(PermissionMode::Default), &pre("Bash", "{}")).await;
        assert!(outcome.verdict.is_some());
    }
    assert_eq!(hooks.renewed().interests().len(), 1);
    assert_eq!(hooks.interests()[0].event, HookEventName::PreToolUse);
}
