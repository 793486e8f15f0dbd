//! Meaning of the text in the parentheses of a rule, by tool.

use crate::common::{Rules, World, allow, deny};
use serde_json::json;
use std::path::Path;
use windlass_permission::{Policy, PolicyConfig};
use windlass_types::Behavior::{self, Allow, Ask, Deny};
use windlass_types::RuleSource;

/// Returns the message about a rule: an error for one that lowers, a warning for one that allows. Empty if there is
/// none.
fn said(behavior: Behavior, rule: &str) -> String {
    let mut policy = Policy::new(PolicyConfig::new("/w"));
    match policy.add_rules(RuleSource::UserSettings, behavior, &[rule], Path::new("/w")) {
        Ok(warnings) => warnings.iter().map(|w| format!("{}{w}", if w.ignored { "ignored: " } else { "" })).collect(),
        Err(error) => format!("refused: {error}"),
    }
}

/// For unknown tools, and tools without a specifier, the message shows the correct rule.
#[test]
fn a_specifier_that_a_tool_does_not_have_is_reported() {
    for (behavior, rule, begins, says) in [
        (Deny, "Raed(x)", "refused", "did you mean `Read`?"),
        (Deny, "TodoWrite(x)", "refused", "has a specifier that TodoWrite does not know"),
        (Deny, "TodoWrite(a b:x)", "refused", "has a specifier that TodoWrite does not know"),
        (Deny, "TodoWrite(:x)", "refused", "has a specifier that TodoWrite does not know"),
        (Deny, "mcp__a__b(x)", "refused", "has a specifier that mcp__a__b does not know"),
        (Allow, "Raed(x)", "ignored", "allows only some calls of Raed, which is not possible"),
        (Allow, "TodoWrite(x)", "ignored", "allows only some calls of TodoWrite, which is not possible"),
        (Allow, "mcp__a__my tool", "ignored", "names a tool as its server does"),
        (Deny, "Cd(x)", "", "has no effect: there is no tool Cd here"),
        (Allow, "Cd(x)", "", "has no effect: there is no tool Cd here"),
        (Allow, "PowerShell(ls *)", "", "has no effect: commands of PowerShell are not read"),
        (Deny, "PowerShell(ls *)", "", "holds for every command"),
        (Allow, "Read(./)", "ignored", "write `./**`"),
    ] {
        let said = said(behavior, rule);
        assert!(said.contains(says), "{behavior:?} {rule}: {said}");
        assert!(said.starts_with(begins) && (!begins.is_empty() || !said.starts_with(['r', 'i'])), "{rule}: {said}");
    }
    assert_eq!((said(Deny, "TodoWrite(a:x)"), said(Allow, "mcp__a__b")), (String::new(), String::new()));
}

/// `name:value` compares a field, unless the tool's own specifier has this meaning.
#[test]
fn a_colon_compares_a_field_where_the_tool_has_no_other_meaning_for_it() {
    let denies = |rule: &str, tool: &str, input: &serde_json::Value| {
        World::new(deny(&[rule])).decide(tool, input).behavior == Deny
    };
    let bash = |rule: &str, command: &str, timeout: u32| {
        denies(rule, "Bash", &json!({ "command": command, "timeout": timeout }))
    };
    // The program `timeout`, and not the field.
    assert!(bash("Bash(timeout:*)", "timeout 5 ls", 1) && !bash("Bash(timeout:*)", "ls", 1));
    assert!(bash("Bash(timeout:5)", "ls", 5) && !bash("Bash(timeout:5)", "ls", 1));
    let agent = |rule: &str, model: &str| denies(rule, "Agent", &json!({ "subagent_type": "a", "model": model }));
    assert!(agent("Agent(model:*)", "x") && agent("Agent(model:x)", "x") && !agent("Agent(model:x)", "y"));
    // No field of this tool, so the name of an agent.
    let named = |agent: &str| denies("Agent(a:b)", "Agent", &json!({ "subagent_type": agent, "a": "b" }));
    assert!(named("a:b") && !named("x"));
    // A file, of tools that read files.
    let listed = |path: &str| {
        let world = World::new(deny(&["LS(a:b)"]));
        let mut facts = world.call(&format!("Grep {path}"));
        facts.tool = "LS".to_owned();
        world.policy.decide(&facts, None, None).behavior == Deny
    };
    assert!(listed("a:b") && !listed("c"));
    // A cmdlet, whose commands are not read: every one matches.
    let shell = World::new(deny(&["PowerShell(Remove-Item:*)"]));
    assert_eq!(shell.verdict("PowerShell Get-ChildItem src"), Deny);
    let own = |value: &str| denies("TodoWrite(a-b_c:x)", "TodoWrite", &json!({ "a-b_c": value }));
    assert!(own("x") && !own("y"));
}

/// `..` at the start of a path is the parent of the directory in which the session started.
#[test]
fn a_path_may_start_above_the_workspace() {
    let world = |rules: Rules<'_>| World::new(rules);
    world(allow(&["Read(../lib/**)"])).check(Allow, &["Read /lib/x", "Grep /lib/x"]);
    world(allow(&["Read(../lib/**)"])).check(Ask, &["Read /other/x", "Read /lib2/x"]);
    let mut deep = world(Rules::default());
    let start = Path::new("/p/q/w");
    deep.policy = Policy::new(PolicyConfig::new(start));
    let rules = ["Read(../../a)", "Read(../b/**)", "Read(../..c)"];
    deep.policy.add_rules(RuleSource::UserSettings, Deny, &rules, start).unwrap();
    deep.check(Deny, &["Read /p/a", "Read /p/q/b/x", "Read /p/q/..c"]);
    deep.check(Ask, &["Read /p/q/a", "Read /p/b/x", "Read /p/c"]);
    let mut above = world(Rules::default());
    above.policy = Policy::new(PolicyConfig::new(start));
    above.policy.add_rules(RuleSource::UserSettings, Deny, &["Read(..)"], start).unwrap();
    above.check(Deny, &["Read /p/q/x", "Read /p/q/w/x"]);
    above.check(Ask, &["Read /p/x"]);
    // A rule that lowers may be about the whole workspace.
    world(deny(&["Read(./)"])).check(Deny, &["Read /w/x", "Read /w/a/b"]);
    world(deny(&["Read(./)"])).check(Ask, &["Read /other/x"]);
}

/// A path behind a single slash starts at the settings, which is seldom meant.
#[test]
fn a_path_that_was_meant_to_start_elsewhere_is_reported() {
    let said = |behavior: Behavior, rule: &str| {
        let mut policy = Policy::new(PolicyConfig::new("/work/app").with_home(Some("/home/me".into())));
        match policy.add_rules(RuleSource::UserSettings, behavior, &[rule], Path::new("/home/me/.claude")) {
            Ok(warnings) => warnings.iter().map(ToString::to_string).collect(),
            Err(error) => format!("refused: {error}"),
        }
    };
    for (rule, says) in [
        ("Read(/home/me/.ssh/**)", "write `Read(//home/me/.ssh/**)`, or `Read(~/.ssh/**)`"),
        ("Edit(/home/me/notes/*)", "or `Edit(~/notes/*)`"),
        ("Write(/home/me/x)", "or `Edit(~/x)`"),
        ("Grep(/etc/**)", "write `Read(//etc/**)`"),
        ("Read(/etc/passwd)", "for the root write `Read(//etc/passwd)`"),
        ("Read(/work/app/secrets/**)", "for the root write `Read(//work/app/secrets/**)`"),
    ] {
        for behavior in [Deny, Ask] {
            assert!(said(behavior, rule).contains(says), "{behavior:?} {rule}: {}", said(behavior, rule));
        }
    }
    assert!(said(Allow, "Read(/home/me/x/**)").contains("or `Read(~/x/**)`"));
    for rule in ["Read($HOME/.ssh/**)", "Read(${HOME}/x)", "Edit(${CLAUDE_PROJECT_DIR}/x)", "Read(file:///etc/passwd)"]
    {
        assert!(said(Deny, rule).starts_with("refused") && said(Allow, rule).contains("never matches"), "{rule}");
    }
    for rule in [
        "Read(/src/**)",
        "Read(//home/me/.ssh/**)",
        "Read(~/.ssh/**)",
        "Edit(/docs)",
        "Read($types.ts)",
        "Read(src/$id.tsx)",
    ] {
        assert_eq!(said(Deny, rule), "", "{rule}");
    }
}
