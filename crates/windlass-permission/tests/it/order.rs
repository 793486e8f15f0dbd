//! The verdict that wins, and the reason that is named for it.

use crate::common::{Rules, World, allow, deny};
use windlass_permission::{CallFacts, OwnCheck};
use windlass_types::Behavior::{self, Allow, Ask, Deny};
use windlass_types::{
    Access, CallDigest, Decision, DecisionReason, HookVerdict, JsonText, PermissionGroup, PermissionMode,
};

fn with_hook(world: &World, facts: &CallFacts, behavior: Behavior) -> Decision {
    world.policy.decide(facts, Some(&HookVerdict::new(behavior, "guard", "so be it")), None)
}

/// Of verdicts that are equally strict the first is named: hook, rule, kind, floor, tool.
#[test]
fn the_first_of_the_strictest_verdicts_is_named() {
    let ask = Rules { ask: &["Bash(touch *)"], ..Rules::default() };
    let world = World::new(ask);
    let protected = world.call("Bash touch .git/x").with_check(OwnCheck::Ask("the tool asks".to_owned()));
    let reason = |decision: Decision| (decision.behavior, decision.reason);
    assert_eq!(reason(with_hook(&world, &protected, Ask)), (Ask, DecisionReason::Hook));
    assert_eq!(reason(world.policy.decide(&protected, None, None)), (Ask, DecisionReason::Protected));
    let plain = world.call("Bash touch x").with_check(OwnCheck::Ask("the tool asks".to_owned()));
    assert_eq!(reason(world.policy.decide(&plain, None, None)), (Ask, DecisionReason::Rule));
    assert_eq!(reason(with_hook(&world, &plain, Deny)), (Deny, DecisionReason::Hook));

    let mut world = World::in_mode(PermissionMode::Plan, deny(&["Write"]));
    world.policy.set_group(PermissionGroup::Edit, Deny);
    let checked = world.call("Write x").with_check(OwnCheck::Deny("the tool denies".to_owned()));
    assert_eq!(reason(world.policy.decide(&checked, None, None)), (Deny, DecisionReason::Rule));
    assert_eq!(reason(with_hook(&world, &checked, Deny)), (Deny, DecisionReason::Hook));
}

/// People read the message of a verdict before they answer.
#[test]
fn a_question_says_what_is_missing_and_where() {
    let world = World::new(Rules::default());
    for (call, says, blocked) in [
        ("Read /etc/hostname", "It reads /etc/hostname, which is outside the workspace.", Some("/etc/hostname")),
        ("Write /other/x", "It writes /other/x, which is outside the workspace.", Some("/other/x")),
        ("Write x", "It changes files, which nothing allows.", None),
        ("custom", "No rule allows this call of custom.", None),
    ] {
        let decision = world.decision(call);
        assert_eq!((decision.behavior, decision.message.as_str()), (Ask, says), "{call}");
        assert_eq!(decision.blocked_path.as_deref(), blocked.map(std::path::Path::new), "{call}");
    }
    assert!(world.decision("Bash eval $x").message.starts_with("Nothing allows it: "));
}

/// A hook's allow settles an otherwise undecided call, and is named as the reason.
#[test]
fn a_hook_allows_what_nothing_else_decides() {
    let world = World::new(Rules::default());
    let facts = world.call("Bash make");
    let allowed = with_hook(&world, &facts, Allow);
    assert_eq!((allowed.behavior, allowed.reason), (Allow, DecisionReason::Hook));
    assert_eq!(allowed.message, "The hook `guard` allows it: so be it");
    assert_eq!(with_hook(&World::new(allow(&["Bash(make)"])), &facts, Allow).reason, DecisionReason::Rule);
}

/// Calls that only start agents, or only make other calls, are judged call by call, in every mode.
#[test]
fn what_only_delegates_is_judged_later() {
    for mode in [PermissionMode::Default, PermissionMode::Plan, PermissionMode::DontAsk] {
        let world = World::in_mode(mode, Rules::default());
        for access in [Access::Agents, Access::Calls] {
            let facts = CallFacts::new("Agent", JsonText::empty_object(), access, CallDigest::new("1"), "/w");
            let decision = world.policy.decide(&facts, None, None);
            assert_eq!((decision.behavior, decision.reason), (Allow, DecisionReason::Default), "{mode}");
            // With a command it is a command.
            let command = world.call("Bash touch x").command.unwrap();
            assert_ne!(world.policy.decide(&facts.with_command(command), None, None).behavior, Allow, "{mode}");
        }
    }
}

/// Plan mode denies calls that may change something, and only those: pages are fetched, and the user is asked.
#[test]
fn plan_mode_lets_pages_be_fetched_and_the_user_be_asked() {
    let world = World::in_mode(PermissionMode::Plan, allow(&["WebFetch"]));
    world.check(Allow, &["WebFetch https://example.com", "Read a", "TaskCreate"]);
    world.check(Ask, &["WebSearch", "AskUserQuestion", "ExitPlanMode"]);
    world.check(Deny, &["Write x", "Bash touch x", "custom"]);
}

/// A rule on a host lowers calls to this host, and no others. A URL that is not understood may go anywhere.
#[test]
fn a_rule_on_a_host_lowers_calls_to_this_host() {
    for (rules, found) in [
        (Rules { allow: &["WebFetch"], deny: &["WebFetch(domain:evil.example)"], ask: &[] }, Deny),
        (Rules { allow: &["WebFetch"], ask: &["WebFetch(domain:evil.example)"], deny: &[] }, Ask),
    ] {
        let world = World::new(rules);
        world.check(found, &["WebFetch https://evil.example/x", "WebFetch https://EVIL.example./"]);
        world.check(Allow, &["WebFetch https://good.example/?q=evil.example", "WebFetch https://notevil.example"]);
        world.check(Ask, &["WebFetch https://evil.example\\@good.example", "WebFetch %%"]);
    }
}

/// A rule on the background field also lowers calls that the session itself runs in the background.
#[test]
fn a_rule_on_the_background_lowers_what_runs_there() {
    let rules = Rules { allow: &["Bash"], deny: &["Bash(run_in_background:true)"], ask: &[] };
    let world = World::new(rules);
    let verdict = |input: serde_json::Value| world.decide("Bash", &input).behavior;
    assert_eq!(verdict(serde_json::json!({ "command": "make", "run_in_background": true })), Deny);
    assert_eq!(verdict(serde_json::json!({ "command": "make", "run_in_background": false })), Allow);
    world.check(Allow, &["Bash make"]);
    let facts = world.call("Bash make");
    let command = facts.command.clone().unwrap().with_background(true);
    let facts = facts.with_command(command);
    assert_eq!(world.policy.decide(&facts, None, None).behavior, Deny);
    // Another field of the same value is not this one.
    let other = World::new(Rules { allow: &["Bash"], deny: &["Bash(dangerouslyDisableSandbox:true)"], ask: &[] });
    assert_eq!(other.policy.decide(&facts, None, None).behavior, Allow);
}

/// A rule on a skill lowers runs of this skill, whatever its case; a rule with arguments lowers runs with these
/// arguments.
#[test]
fn a_rule_on_a_skill_lowers_its_runs() {
    let world = World::new(deny(&["Skill(deploy *)"]));
    world.check(Deny, &["Skill deploy", "Skill deploy now", "Skill /deploy now", "Skill Deploy", "Skill DEPLOY now"]);
    world.check(Allow, &["Skill deployment now", "Skill redeploy", "Skill now deploy"]);
    let world = World::new(deny(&["Skill(deploy)"]));
    world.check(Deny, &["Skill deploy", "Skill /DEPLOY"]);
    world.check(Allow, &["Skill redeploy", "Skill redeploy deploy"]);
}

/// An unknown program does not necessarily write the paths that it names: a rule against writing there asks, and does
/// not deny.
#[test]
fn what_an_unknown_program_may_write_is_asked_about() {
    let rules = Rules { allow: &["Bash"], deny: &["Edit(/locked/**)"], ask: &[] };
    let world = World::in_mode(PermissionMode::BypassPermissions, rules);
    world.check(Ask, &["Bash frob locked/x", "Bash frob locked/x/y", "Bash frob locked/*"]);
    world.check(Deny, &["Bash rm -r locked", "Bash touch locked/x"]);
    world.check(Allow, &["Bash frob other", "Bash cat locked/x"]);
}

/// An unknown program that names a directory may act on everything in it: a rule that covers all in it matches as for a
/// name in it, however the directory is written.
#[test]
fn a_directory_that_a_rule_covers_is_touched_by_its_own_name() {
    for rule in ["Edit(/locked/**)", "Edit(/locked/*)", "Edit(//w/locked/**)", "Edit(locked/**)", "Read(/locked/**)"] {
        let rules = Rules { allow: &["Bash"], deny: &[rule], ask: &[] };
        let world = World::in_mode(PermissionMode::BypassPermissions, rules).link("/w/alias", "/w/locked");
        for line in [
            "frob locked",
            "frob ./locked",
            "frob locked/",
            "frob locked/.",
            "frob /w/locked",
            "frob other/../locked",
            "frob LOCKED",
            "frob 'lock'ed",
            "frob --out=locked",
            "frob --out locked",
            "frob a b locked",
            "frob alias",
            "env A=b frob locked",
            "timeout 5 frob locked",
            "sh -c 'frob locked'",
            "cd locked && frob .",
            "cd other; frob ../locked",
            "true && frob locked | cat",
            "(frob locked)",
            "for i in 1; do frob locked; done",
        ] {
            assert_eq!(world.verdict(&format!("Bash {line}")), Ask, "{rule} {line}");
        }
        for line in ["frob other", "frob unlocked", "frob locked2", "frob other/locked2", "ls other"] {
            assert_eq!(world.verdict(&format!("Bash {line}")), Allow, "{rule} {line}");
        }
    }
    // A partly covered path is judged as before.
    for rule in ["Edit(/locked/a/**)", "Edit(/locked/*.md)", "Edit(**/.env)"] {
        let rules = Rules { allow: &["Bash"], deny: &[rule], ask: &[] };
        World::in_mode(PermissionMode::BypassPermissions, rules).check(Allow, &["Bash frob locked", "Bash frob other"]);
    }
    // At any depth.
    let rules = Rules { allow: &["Bash"], deny: &["Edit(**/locked/**)"], ask: &[] };
    World::in_mode(PermissionMode::BypassPermissions, rules).check(Ask, &["Bash frob locked", "Bash frob a/b/locked"]);
    // A rule that asks does so in the same way.
    let rules = Rules { allow: &["Bash"], deny: &[], ask: &["Edit(/locked/**)"] };
    World::in_mode(PermissionMode::BypassPermissions, rules).check(Ask, &["Bash frob locked"]);
}

/// Writing to a disk is never allowed. Reading from one is a question as for any other file outside.
#[test]
fn a_disk_may_be_asked_for_and_never_be_written() {
    let world = World::in_mode(PermissionMode::Default, allow(&["Bash", "Write"]));
    world.check(Deny, &["Bash cp a /dev/sda", "Bash cat a > /dev/sda", "Write /dev/sda"]);
    let world = World::new(Rules::default());
    world.check(Ask, &["Bash cat /dev/sda", "Read /dev/sda", "Bash frob /dev/sda"]);
}

/// A line is allowed for the strongest reason that one of its parts needs: a rule, then the mode, then that it only
/// reads.
#[test]
fn a_line_is_allowed_for_the_strongest_reason_of_its_parts() {
    let world = World::in_mode(PermissionMode::AcceptEdits, allow(&["Bash(make)"]));
    for (line, reason) in [
        ("Bash make && cat a", DecisionReason::Rule),
        ("Bash cat a && make", DecisionReason::Rule),
        ("Bash touch x && make", DecisionReason::Rule),
        ("Bash make && touch x", DecisionReason::Rule),
        ("Bash touch x && cat a", DecisionReason::Mode),
        ("Bash cat a && touch x", DecisionReason::Mode),
        ("Bash cat a && ls", DecisionReason::ReadOnly),
    ] {
        let decision = world.decision(line);
        assert_eq!((decision.behavior, decision.reason), (Allow, reason), "{line}");
        assert_eq!(decision.rule.is_some(), reason == DecisionReason::Rule, "{line}");
    }
}

/// A rule on a program covers the files that the program itself writes, and no redirection: that is a file of its own.
#[test]
fn a_rule_on_a_program_covers_no_redirection() {
    let world = World::new(allow(&["Bash(make *)", "Bash(cat *)", "Bash(touch *)", "Bash(sort:*)"]));
    world.check(Allow, &["Bash make x", "Bash make x > /dev/null", "Bash touch x", "Bash sort a -o b"]);
    world.check(Ask, &["Bash make x > out", "Bash cat a >> out", "Bash touch x > out", "Bash sort a -o b > out"]);
    // A rule with the exact text covers the line.
    let world = World::new(allow(&["Bash(make x > out)"]));
    world.check(Allow, &["Bash make x > out"]);
    world.check(Ask, &["Bash make x >> out", "Bash cat a && make x > out"]);
}

/// A command that was not analysed may be any, so no rule on the tool covers it. What carries a command is one,
/// whatever its tool.
#[test]
fn a_command_is_covered_as_one_or_not_at_all() {
    let world = World::new(allow(&["Bash", "custom"]));
    let facts = |tool: &str| CallFacts::new(tool, JsonText::empty_object(), Access::Exec, CallDigest::new("1"), "/w");
    assert_eq!(world.policy.decide(&facts("custom"), None, None).behavior, Allow);
    assert_eq!(world.policy.decide(&facts("Bash"), None, None).behavior, Ask);
    let world = World::new(Rules::default());
    let reading = world.call("Bash ls").command.unwrap();
    assert_eq!(world.policy.decide(&facts("custom").with_command(reading), None, None).behavior, Allow);
}

/// A rule for reading covers no writing, and one for writing covers reading in the same place only with one for it.
#[test]
fn a_rule_on_paths_covers_what_it_names() {
    let programs = ["Bash(touch *)", "Bash(rm *)"];
    let world = World::new(allow(&[&programs[..], &["Read(//other/**)"]].concat()));
    world.check(Allow, &["Read /other/x", "Grep /other/x", "Bash cat /other/x", "Bash cat /other/d/*"]);
    world.check(Ask, &["Write /other/x", "Edit /other/x", "Bash touch /other/x", "Bash cat a > /other/x"]);
    let world = World::new(allow(&[&programs[..], &["Edit(//other/**)"]].concat()));
    world.check(Allow, &["Write /other/x", "Bash touch /other/x", "Bash rm /other/x"]);
    // A match of a pattern may be a link that leads elsewhere.
    world.check(Ask, &["Read /other/x", "Bash touch /other/*", "Bash touch /other"]);
    // For a search it is enough to cover all that is in a directory, not so for a change of it.
    let world = World::new(allow(&[&programs[..], &["Read(//other/x)", "Read(//all/**)", "Edit(//all/**)"]].concat()));
    world.check(Allow, &["Read /other/x", "Bash grep -r x /all", "Bash cat /other/x", "Bash rm -r /all/x"]);
    world.check(Ask, &["Read /other", "Bash grep -r x /other", "Bash cat /all", "Bash touch /all"]);
}

/// Output to `/dev/null` is kept nowhere.
#[test]
fn writing_to_the_null_device_needs_no_rule_on_it() {
    let world = World::new(allow(&["Bash(touch *)", "Bash(cp *)", "Bash(tee *)"]));
    world.check(Allow, &["Bash tee /dev/null", "Bash touch x > /dev/null", "Bash ls 2>/dev/null"]);
    world.check(Ask, &["Bash cp a /dev/null"]);
    // Under this name there may be a link.
    world.clone().link("/dev/null", "/other").check(Ask, &["Bash tee /dev/null"]);
}

/// A permission request for a line of several commands names the command it is about. A single one is the line itself.
#[test]
fn a_question_names_the_part_that_nothing_covers() {
    let world = World::new(allow(&["Bash(make)"]));
    let part = |line: &str| world.decision(line).part;
    assert_eq!(part("Bash make && frob x").as_deref(), Some("frob x"));
    assert_eq!(part("Bash frob x"), None);
}

/// An allow rule on a skill covers this skill by its exact name, and arguments only if the rule has them.
#[test]
fn an_allow_rule_on_a_skill_covers_its_runs() {
    let verdict = |rule: &str, input: serde_json::Value| {
        let facts = CallFacts::new("Skill", JsonText::of(&input).unwrap(), Access::Unknown, CallDigest::new("1"), "/w");
        World::new(allow(&[rule])).policy.decide(&facts, None, None).behavior
    };
    for (rule, skill, args, expected) in [
        ("Skill(deploy)", "deploy", serde_json::json!(null), Allow),
        ("Skill(deploy)", "/deploy", serde_json::json!(""), Allow),
        ("Skill(deploy)", "deploy", serde_json::json!("now"), Ask),
        ("Skill(deploy)", "deploy", serde_json::json!(["now"]), Ask),
        ("Skill(deploy)", "Deploy", serde_json::json!(null), Ask),
        ("Skill(deploy)", "other", serde_json::json!(null), Ask),
        ("Skill(deploy *)", "deploy", serde_json::json!("now"), Allow),
        ("Skill(deploy *)", "deploy", serde_json::json!(null), Allow),
        ("Skill(deploy *)", "other", serde_json::json!("now"), Ask),
    ] {
        assert_eq!(
            verdict(rule, serde_json::json!({ "skill": skill, "args": args })),
            expected,
            "{rule} {skill} {args}"
        );
    }
    assert_eq!(verdict("Skill(deploy)", serde_json::json!({ "skill": "deploy" })), Allow);
}

/// In plan mode, git may only read, and only in a directory where its configuration runs nothing.
#[test]
fn plan_mode_lets_git_read_where_its_configuration_runs_nothing() {
    let mut world = World::in_mode(PermissionMode::Plan, Rules::default());
    world.check(Allow, &["Bash git status", "Bash git log"]);
    world.check(Deny, &["Bash cd sub && git status", "Bash git commit -m x"]);
    world.inert_git = false;
    world.check(Deny, &["Bash git status", "Bash cd sub && git status"]);
}

/// A program that is not known may write to each of its words, whatever stands beside it and wherever its links lead.
#[test]
fn what_an_unknown_program_names_is_protected_beside_known_ones() {
    let world = World::in_mode(PermissionMode::BypassPermissions, Rules::default())
        .link("/w/l", "/w/.git")
        .link("/w/plain", "/w/a");
    for line in ["frob .git/config", "ls && frob .git/config", "frob .git/config; ls", "frob l", "ls && frob l"] {
        let decision = world.decision(&format!("Bash {line}"));
        assert_eq!((decision.behavior, decision.reason), (Ask, DecisionReason::Protected), "{line}");
    }
    world.check(Allow, &["Bash cat .git/config", "Bash ls && cat .git/config", "Bash frob plain", "Bash cat l"]);
    // A name in a protected place, whatever its target.
    let mut world = world.link("/w/.git/hooks/out", "/w/a");
    world.cwd = "/w/.git/hooks".into();
    world.check(Ask, &["Bash frob out"]);
}
