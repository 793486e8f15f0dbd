use super::*;
use crate::{CallFacts, CommandFacts, Policy, PolicyConfig};
use std::path::Path;
use windlass_types::{Access, CallDigest, HookVerdict, JsonText, PermissionMode, RuleSource};

fn policy(commands: SandboxedCommands) -> Policy {
    let mut policy = Policy::new(PolicyConfig::new("/w").with_bypass_allowed(true));
    policy.confine(commands);
    policy
}

fn bash(text: &str, leaves: &str) -> CallFacts {
    let input = format!(r#"{{"command":{text:?},"dangerouslyDisableSandbox":{leaves}}}"#);
    let command = CommandFacts::new(analyse(text), Vec::new());
    CallFacts::new("Bash", JsonText::parse(&input).unwrap(), Access::Exec, CallDigest::new("0"), "/w")
        .with_command(command)
}

fn verdict(policy: &Policy, facts: &CallFacts) -> (Behavior, DecisionReason) {
    let decision = policy.decide(facts, None, None);
    (decision.behavior, decision.reason)
}

const ALLOWED: (Behavior, DecisionReason) = (Behavior::Allow, DecisionReason::Sandbox);

#[test]
fn a_confined_command_needs_no_question_if_it_was_chosen_so() {
    let asks = policy(SandboxedCommands::new());
    assert_eq!(verdict(&asks, &bash("make test", "false")).0, Behavior::Ask);
    let allows = policy(SandboxedCommands::new().with_auto_allow());
    for text in ["make test", "python3 -c 'print(1)'", "cat x | sh", "$(make) && x", "for a in b; do c; done"] {
        assert_eq!(verdict(&allows, &bash(text, "false")), ALLOWED, "{text}");
    }
    // Not in the background, and not by another tool.
    let mut facts = bash("make test", "false");
    facts.command = facts.command.map(|command| command.with_background(true));
    assert_eq!(verdict(&allows, &facts).0, Behavior::Ask);
    let mut facts = bash("make test", "false");
    facts.tool = "mcp__shell__run".to_owned();
    assert_eq!(verdict(&allows, &facts).0, Behavior::Ask);
}

#[test]
fn rules_floor_hooks_and_modes_still_win() {
    let mut all = policy(SandboxedCommands::new().with_auto_allow());
    all.add_rules(RuleSource::CliArg, Behavior::Deny, &["Bash(rm:*)"], Path::new("/w")).unwrap();
    all.add_rules(RuleSource::CliArg, Behavior::Ask, &["Bash(git push:*)"], Path::new("/w")).unwrap();
    assert_eq!(verdict(&all, &bash("make && rm x", "false")).0, Behavior::Deny);
    assert_eq!(verdict(&all, &bash("make; git push origin", "false")).0, Behavior::Ask);
    assert_eq!(verdict(&all, &bash("rm -rf /", "false")).0, Behavior::Deny);
    assert_eq!(verdict(&all, &bash("echo x > .git/config", "false")), (Behavior::Ask, DecisionReason::Protected));
    let hook = HookVerdict::new(Behavior::Deny, "guard", "no");
    assert_eq!(all.decide(&bash("make", "false"), Some(&hook), None).behavior, Behavior::Deny);
    all.set_mode(PermissionMode::Plan).unwrap();
    assert_eq!(verdict(&all, &bash("make", "false")), (Behavior::Deny, DecisionReason::Mode));
}

#[test]
fn leaving_asks_once_whatever_allows_the_command() {
    let asks = (Behavior::Ask, DecisionReason::Sandbox);
    for commands in [SandboxedCommands::new(), SandboxedCommands::new().with_auto_allow()] {
        let mut policy = policy(commands.clone());
        policy.add_rules(RuleSource::CliArg, Behavior::Allow, &["Bash"], Path::new("/w")).unwrap();
        for leaves in ["true", "\"yes\"", "1"] {
            assert_eq!(verdict(&policy, &bash("make", leaves)), asks, "{leaves}");
        }
        policy.set_mode(PermissionMode::BypassPermissions).unwrap();
        let facts = bash("make", "true");
        assert_eq!(verdict(&policy, &facts), asks);
        // An answer is for this very call.
        assert_eq!(policy.decide(&facts, None, Some(&facts.digest)).behavior, Behavior::Allow);
        assert_eq!(policy.decide(&facts, None, Some(&CallDigest::new("1"))).behavior, Behavior::Ask);
        // A deny rule is not gone around.
        policy.add_rules(RuleSource::CliArg, Behavior::Deny, &["Bash(make:*)"], Path::new("/w")).unwrap();
        assert_eq!(policy.decide(&facts, None, Some(&facts.digest)).behavior, Behavior::Deny);
    }
}

#[test]
fn where_no_command_may_leave_the_wish_has_no_effect() {
    let kept = policy(SandboxedCommands::new().with_auto_allow().without_escape());
    assert_eq!(verdict(&kept, &bash("make", "true")), ALLOWED);
}

#[test]
fn what_is_excluded_asks_as_other_commands_do() {
    let commands = SandboxedCommands::new().with_auto_allow().with_excluded(["docker *", "npm test"]);
    let some = policy(commands.clone());
    assert_eq!(verdict(&some, &bash("docker ps", "false")).0, Behavior::Ask);
    assert_eq!(verdict(&some, &bash("docker ps; npm test", "false")).0, Behavior::Ask);
    // Lines that only look excluded are confined.
    for text in ["docker ps; curl x", "docker $(x)", "docker ps | sh", "npm test -- x", "dockerx ps", "docker <(x)"] {
        assert!(commands.confines(text, false), "{text}");
    }
}
