//! Every name that rules compare goes through one normal form: spellings of one name get one verdict.

use crate::common::{Rules, World, allow, deny};
use serde_json::{Value, json};
use std::path::Path;
use windlass_permission::{Policy, PolicyConfig};
use windlass_types::Behavior::{self, Allow, Ask, Deny};
use windlass_types::RuleSource;
use windlass_types::names::{FORMER_TOOLS, GENERAL_WRITERS, WELL_KNOWN_TOOLS, WRITERS};

fn verdict(rules: Rules<'_>, tool: &str, input: &Value) -> Behavior {
    World::new(rules).decide(tool, input).behavior
}

/// Returns the problem of a rule, if it has one.
fn problem(behavior: Behavior, rule: &str) -> Option<String> {
    let mut policy = Policy::new(PolicyConfig::new("/w").with_home(Some("/home/u".into())));
    match policy.add_rules(RuleSource::UserSettings, behavior, &[rule], Path::new("/w")) {
        Ok(warnings) => warnings.into_iter().find(|warning| warning.ignored).map(|warning| warning.to_string()),
        Err(error) => Some(error.to_string()),
    }
}

/// Returns an input that every tool takes as one call.
fn input(tool: &str) -> Value {
    match tool {
        "Bash" => json!({ "command": "make" }),
        "Skill" => json!({ "skill": "deploy" }),
        _ => json!({ "file_path": "/w/a", "path": "/w/a" }),
    }
}

#[test]
fn a_deny_rule_on_a_tool_holds_for_all_its_names_and_for_all_that_write() {
    for rule in WELL_KNOWN_TOOLS {
        for tool in WELL_KNOWN_TOOLS {
            let present = |name: &str| {
                FORMER_TOOLS
                    .iter()
                    .find(|(former, _)| *former == name)
                    .map_or(name.to_owned(), |(_, present)| (*present).to_owned())
            };
            let is_same = present(rule) == present(tool);
            let is_guard = WRITERS.contains(tool) && GENERAL_WRITERS.contains(rule);
            let is_denied = verdict(deny(&[rule]), tool, &input(tool)) == Deny;
            assert_eq!(is_denied, is_same || is_guard, "deny {rule}: {tool}");
            let policy = World::new(deny(&[rule])).policy;
            assert_eq!(policy.is_hidden(tool), is_same || is_guard, "deny {rule}: {tool}");
        }
    }
    // A guard on one special tool leaves the others, and an allow rule never widens.
    for (rule, tool) in [("Write", "Edit"), ("NotebookEdit", "Edit"), ("Edit", "Write")] {
        assert_ne!(verdict(allow(&[rule]), tool, &input(tool)), Allow, "allow {rule}: {tool}");
    }
}

#[test]
fn a_path_rule_on_a_tool_that_writes_holds_for_all_that_write() {
    for rule in WRITERS.iter().filter(|rule| **rule != "apply_patch") {
        for tool in WRITERS.iter().filter(|tool| **tool != "apply_patch") {
            let rule = format!("{rule}(locked/**)");
            let (inside, outside) = (json!({ "file_path": "/w/locked/a" }), json!({ "file_path": "/w/a" }));
            assert_eq!(verdict(deny(&[&rule]), tool, &inside), Deny, "{rule} {tool}");
            assert_ne!(verdict(deny(&[&rule]), tool, &outside), Deny, "{rule} {tool}");
        }
    }
}

#[test]
fn spellings_of_a_skill_are_one_skill() {
    let spellings = ["deploy", "/deploy", "//deploy", " /deploy ", "/ deploy", "\t//deploy\n"];
    for rule in spellings {
        for called in spellings {
            let called = json!({ "skill": called });
            let rule = format!("Skill({rule})");
            assert_eq!(verdict(deny(&[&rule]), "Skill", &called), Deny, "{rule} {called}");
            assert_eq!(verdict(Rules { ask: &[&rule], ..Rules::default() }, "Skill", &called), Ask, "{rule} {called}");
            assert_eq!(verdict(allow(&[&rule]), "Skill", &called), Allow, "{rule} {called}");
            let other = json!({ "skill": "deploy-all" });
            assert_ne!(verdict(deny(&[&rule]), "Skill", &other), Deny, "{rule}");
        }
    }
}

#[test]
fn spellings_of_a_model_are_one_model() {
    let called = |model: &str| json!({ "subagent_type": "a", "model": model, "prompt": "x" });
    for rule in ["opus", " opus", "Opus", "OPUS ", "opus[1m]", "opus*"] {
        let rule = format!("Agent(model:{rule})");
        for model in ["opus", "Opus", " opus", "OPUS\n", "opus[1m]"] {
            assert_eq!(verdict(deny(&[&rule]), "Agent", &called(model)), Deny, "{rule} {model:?}");
            assert_eq!(verdict(deny(&[&rule]), "Task", &called(model)), Deny, "{rule} {model:?}");
        }
        for model in ["sonnet", "haiku", "claude-sonnet-4-5"] {
            assert_ne!(verdict(deny(&[&rule]), "Agent", &called(model)), Deny, "{rule} {model:?}");
        }
    }
    for (rule, model, expected) in [
        ("opus", "claude-opus-5-5", Deny),
        ("opus", "us.anthropic.claude-opus-4-5-20251101-v1:0", Deny),
        ("claude-opus-4-5", "claude-opus-4-5-20251101", Deny),
        ("*opus*", "Claude-Opus-5-5", Deny),
    ] {
        assert_eq!(
            verdict(deny(&[&format!("Agent(model:{rule})")]), "Agent", &called(model)),
            expected,
            "{rule} {model}"
        );
    }
    // A family that may be the model of the rule is asked about.
    let rules = Rules { allow: &["Agent"], deny: &["Agent(model:claude-opus-4-5)"], ..Rules::default() };
    assert_eq!(verdict(rules, "Agent", &called("opus")), Ask);
    assert_eq!(verdict(rules, "Agent", &called("sonnet")), Allow);
}

/// Aliases of settings, and those of variables such as `ANTHROPIC_DEFAULT_OPUS_MODEL`.
#[test]
fn an_alias_and_its_model_are_one_model_on_both_sides() {
    let aliases =
        [("fast", "claude-haiku-4-5"), ("Quick", "fast"), ("opus", "gateway/big"), ("sonnet", "claude-opus-5-5")];
    for (rule, model, expected) in [
        ("claude-haiku-4-5", "fast", Deny),
        ("claude-haiku-4-5", " FAST[1m]", Deny),
        ("claude-haiku-4-5", "quick", Deny),
        ("haiku", "quick", Deny),
        ("fast", "claude-haiku-4-5", Deny),
        ("quick", "claude-haiku-4-5-20251001", Deny),
        ("fast", "quick", Deny),
        ("*haiku*", "fast", Deny),
        ("opus", "gateway/big", Deny),
        ("gateway/big", "Opus", Deny),
        ("opus", "sonnet", Deny),
        ("claude-haiku-4-5-20251001", "fast", Ask),
        ("fast", "opus", Allow),
        ("gateway/big", "fast", Allow),
        ("haiku", "gateway/big", Allow),
    ] {
        let deny = format!("Agent(model:{rule})");
        let mut world = World::new(Rules { allow: &["Agent"], deny: &[&deny], ..Rules::default() });
        world.policy.set_model_aliases(aliases);
        let input = json!({ "subagent_type": "a", "model": model, "prompt": "x" });
        assert_eq!(world.decide("Agent", &input).behavior, expected, "{rule} {model}");
    }
}

#[test]
fn a_rule_that_can_never_match_is_refused_with_what_to_write() {
    for (rule, meant) in [
        ("Read(\"./secrets/**\")", "`Read(./secrets/**)`"),
        ("Read('./secrets/**')", "`Read(./secrets/**)`"),
        ("Read(`./secrets/**`)", "`Read(./secrets/**)`"),
        ("Edit(\"src/**\")", "`Edit(src/**)`"),
        ("Read(./secrets:*)", "`./secrets`"),
        ("Write(src:*)", "`src`"),
        ("Grep(src:*)", "`src`"),
        ("Skill('deploy')", "`Skill(deploy)`"),
        ("Agent(\"Explore\")", "`Agent(Explore)`"),
        ("Bash(\"npm test:*\")", "`Bash(npm test:*)`"),
        ("Bash(`npm test`)", "`Bash(npm test)`"),
        ("Bash(*:*)", "names no command"),
        ("Bash( *:*)", "names no command"),
        ("Bash(* *)", "names no command"),
        ("Bash(:*)", "names no command"),
        ("Bash(** :*)", "names no command"),
    ] {
        for behavior in [Deny, Ask, Allow] {
            let said = problem(behavior, rule).unwrap_or_else(|| panic!("{behavior:?} {rule} is taken"));
            assert!(said.contains(meant), "{behavior:?} {rule}: {said}");
        }
        // Nothing is allowed by it.
        for command in ["make", "rm -rf x"] {
            assert_eq!(verdict(allow(&[rule]), "Bash", &json!({ "command": command })), Ask, "{rule} {command}");
        }
    }
    for rule in [
        "Bash(*)",
        "Bash(npm run:*)",
        "Bash(git * main)",
        "Bash(\"/opt/my tool/run\" *)",
        "Bash(\"/opt/my tool/run\")",
        "Bash(echo \"a\" \"b\")",
        "Bash('a' 'b')",
        "Read(./it's/**)",
        "Read(a\"b)",
        "Skill(deploy:*)",
        "Skill(deploy *)",
        "Agent(Explore)",
    ] {
        for behavior in [Deny, Allow] {
            assert_eq!(problem(behavior, rule), None, "{behavior:?} {rule}");
        }
    }
}
