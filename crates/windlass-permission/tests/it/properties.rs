//! Properties of every policy and every call.
//!
//! `WINDLASS_PROPERTY_CASES` is how many calls each is tried with; default: 400.

use crate::common::{Rules, World, short};
use proptest::prelude::*;
use std::path::Path;
use windlass_types::{Behavior, HookVerdict, PermissionMode, PermissionUpdate, RuleSource};

const RULES: &[&str] = &[
    "Bash",
    "Bash(npm run:*)",
    "Bash(npm*)",
    "Bash(rm:*)",
    "Bash(rm -rf x)",
    "Bash(git * main)",
    "Bash(cat *)",
    "Bash(touch x)",
    "Bash(run_in_background:true)",
    "Edit",
    "Write",
    "Read",
    "Edit(src/**)",
    "Edit(/src/**)",
    "Edit(//w/**)",
    "Read(.env)",
    "Read(src/**)",
    "Read(//etc/**)",
    "Read(~/.ssh/**)",
    "Read(**/*.{pem,key})",
    "Edit(*.lock)",
    "WebFetch(domain:*.example.com)",
    "mcp__srv",
    "mcp__srv__get_*",
    "Agent(Explore)",
    "Skill(deploy *)",
];

const ATOMS: &[&str] = &[
    "ls -la",
    "cat .env",
    "cat a.txt",
    "cat /etc/hostname",
    "grep -rn x src",
    "npm run test",
    "npm test",
    "rm -rf x",
    "rm *",
    "rm -rf /",
    "touch x",
    "touch .git/x",
    "mv a src/b",
    "mkdir -p src/c",
    "echo hi > out.txt",
    "echo x > src/q",
    "echo x >> ~/.bashrc",
    "git status",
    "git push origin main",
    "python3 -c 1",
    "find . -name x",
    "find . -delete",
    "curl https://a.b",
    "cat src/*.rs",
    "cat link/x",
    "cat $x",
    "$x y",
    "for i in a; do cat $i; done",
    "sed -i s/a/b/ src/f",
    "cat key.pem",
];

const CALLS: &[&str] = &[
    "Read a",
    "Read .env",
    "Read /etc/hostname",
    "Read link/x",
    "Read /home/u/.ssh/id",
    "Write src/n",
    "Write n",
    "Write .git/config",
    "Write /x/y",
    "Edit Cargo.lock",
    "MultiEdit src/n",
    "Grep .",
    "Grep /etc",
    "WebFetch https://a.example.com/x",
    "mcp__srv__get_x",
    "mcp__srv__put",
    "Agent Explore",
    "Skill deploy now",
    "TodoWrite",
    "ExitPlanMode",
    "custom",
];

/// Paths of the calls that are files.
const FILES: &[&str] = &["/etc/hostname", "/x/y", "/home/u/.ssh/id", "/w/n", "/w/src/n", "/w/out.txt"];

fn call() -> impl Strategy<Value = String> {
    prop_oneof![
        2 => command().prop_map(|command| format!("Bash {command}")),
        1 => proptest::sample::select(CALLS).prop_map(str::to_owned),
    ]
}

fn command() -> impl Strategy<Value = String> {
    let atom = proptest::sample::select(ATOMS).prop_map(str::to_owned);
    let join = proptest::sample::select(&[" && ", "; ", " | ", " || ", "\n"][..]);
    prop_oneof![
        3 => atom.clone(),
        2 => (atom.clone(), join, atom).prop_map(|(a, join, b)| format!("{a}{join}{b}")),
        1 => "[ -~]{0,40}",
    ]
}

fn rules() -> impl Strategy<Value = Vec<&'static str>> {
    proptest::collection::vec(proptest::sample::select(RULES), 0..6)
}

fn mode() -> impl Strategy<Value = PermissionMode> {
    proptest::sample::select(&PermissionMode::ALL[..])
}

fn world(mode: PermissionMode, allow: &[&str], ask: &[&str], deny: &[&str]) -> World {
    World::in_mode(mode, Rules { allow, ask, deny }).link("/w/link", "/etc")
}

fn cases() -> u32 {
    std::env::var("WINDLASS_PROPERTY_CASES").ok().and_then(|cases| cases.parse().ok()).unwrap_or(400)
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(cases()) })]

    #[test]
    fn more_deny_and_ask_rules_never_raise(
        call in call(), mode in mode(), allow in rules(), ask in rules(), deny in rules(), more in rules(),
    ) {
        let before = world(mode, &allow, &ask, &deny).verdict(&call);
        let denied = [deny.clone(), more.clone()].concat();
        prop_assert!(world(mode, &allow, &ask, &denied).verdict(&call) <= before);
        let asked = [ask, more].concat();
        prop_assert!(world(mode, &allow, &asked, &deny).verdict(&call) <= before);
    }

    #[test]
    fn more_allow_rules_never_lower(
        call in call(), mode in mode(), allow in rules(), ask in rules(), deny in rules(), more in rules(),
    ) {
        let before = world(mode, &allow, &ask, &deny).verdict(&call);
        let allowed = [allow, more].concat();
        prop_assert!(world(mode, &allowed, &ask, &deny).verdict(&call) >= before);
    }

    #[test]
    fn the_order_of_rules_does_not_matter(
        call in call(), mode in mode(), allow in rules(), ask in rules(), deny in rules(), by in 0_usize..6,
    ) {
        let turned = |rules: &[&'static str]| {
            let mut rules: Vec<&'static str> = rules.iter().rev().copied().collect();
            let by = by.min(rules.len());
            rules.rotate_left(by);
            rules
        };
        let (one, other) = (world(mode, &allow, &ask, &deny), world(mode, &turned(&allow), &turned(&ask), &turned(&deny)));
        prop_assert_eq!(one.verdict(&call), other.verdict(&call));
    }

    #[test]
    fn a_compound_gets_the_minimum_of_its_parts(
        a in proptest::sample::select(ATOMS), b in proptest::sample::select(ATOMS),
        join in proptest::sample::select(&[" && ", "; ", " | ", " || ", "\n", " & "][..]),
        mode in mode(), allow in rules(), ask in rules(), deny in rules(),
    ) {
        let world = world(mode, &allow, &ask, &deny);
        let parts = world.verdict(&format!("Bash {a}")).min(world.verdict(&format!("Bash {b}")));
        let whole = world.verdict(&format!("Bash {a}{join}{b}"));
        prop_assert!(whole <= parts, "{} {:?} > {:?}", join, whole, parts);
        // Joined lines that are allowed because they are understood need no permission request either.
        let understood = !allow.contains(&"Bash(rm -rf x)") && !allow.contains(&"Bash(touch x)") && join != " & ";
        if understood && parts == Behavior::Allow {
            prop_assert_eq!(whole, parts);
        }
    }

    #[test]
    fn wrapping_never_raises(
        atom in proptest::sample::select(ATOMS), mode in mode(), allow in rules(), ask in rules(), deny in rules(),
        wrapper in proptest::sample::select(&[
            "timeout 5 CMD", "bash -c 'CMD'", "( CMD )", "echo $(CMD)", "echo `CMD`", "{ CMD; }", "if true; then CMD; fi", "FOO=1 CMD",
            "nohup CMD", "env A=b CMD", "eval 'CMD'", "sudo CMD", "! CMD", "xargs CMD", "cat <(CMD)",
        ][..]),
    ) {
        let world = world(mode, &allow, &ask, &deny);
        let plain = world.verdict(&format!("Bash {atom}"));
        let wrapped = world.verdict(&format!("Bash {}", wrapper.replace("CMD", atom)));
        prop_assert!(wrapped <= plain, "{} {:?} > {:?}", wrapper, wrapped, plain);
    }

    #[test]
    fn an_approval_lifts_asks_only(call in call(), mode in mode(), allow in rules(), ask in rules(), deny in rules()) {
        let world = world(mode, &allow, &ask, &deny);
        let facts = world.call(&call);
        let plain = world.policy.decide(&facts, None, None).behavior;
        let approved = world.policy.decide(&facts, None, Some(&facts.digest)).behavior;
        prop_assert_eq!(approved, if plain == Behavior::Deny { Behavior::Deny } else { Behavior::Allow });
    }

    #[test]
    fn a_hook_allows_no_more_than_a_rule(call in call(), mode in mode(), allow in rules(), ask in rules(), deny in rules()) {
        let world = world(mode, &allow, &ask, &deny);
        let facts = world.call(&call);
        let plain = world.policy.decide(&facts, None, None);
        let verdict = |behavior| world.policy.decide(&facts, Some(&HookVerdict::new(behavior, "hook", "")), None);
        prop_assert_eq!(verdict(Behavior::Deny).behavior, Behavior::Deny);
        prop_assert!(verdict(Behavior::Ask).behavior <= plain.behavior.min(Behavior::Ask));
        let allowed = verdict(Behavior::Allow);
        if plain.behavior == Behavior::Deny && mode != PermissionMode::DontAsk || plain.protected {
            prop_assert_eq!(allowed.behavior, plain.behavior);
        }
    }

    #[test]
    fn plan_mode_allows_no_write(call in call(), allow in rules()) {
        let world = world(PermissionMode::Plan, &allow, &[], &[]);
        let facts = world.call(&call);
        let decision = world.policy.decide(&facts, None, Some(&facts.digest));
        let harmless = ["WebFetch", "ExitPlanMode"].iter().any(|tool| call.starts_with(tool));
        let cd_aside = call.contains("cd ");
        if decision.behavior == Behavior::Allow && !harmless && !cd_aside {
            prop_assert!(world.policy.is_proven_read_only(&facts), "{:?}", decision);
        }
    }

    /// Each alone settles the question, and all of them together allow no more than the last.
    #[test]
    fn suggestions_are_alternatives(
        call in call(), other in call(), mode in mode(), allow in rules(), ask in rules(), deny in rules(),
    ) {
        let world = world(mode, &allow, &ask, &deny).files(FILES);
        let decision = world.decision(&call);
        let Some(widest) = decision.suggestions.last() else { return Ok(()) };
        prop_assert!(decision.behavior == Behavior::Ask && !decision.protected);
        let with = |updates: &[PermissionUpdate]| {
            let mut world = world.clone();
            updates.iter().for_each(|update| world.policy.apply(update).unwrap());
            world
        };
        for update in &decision.suggestions {
            let settled = with(std::slice::from_ref(update)).verdict(&call);
            prop_assert_eq!(settled, Behavior::Allow, "{:?}", short(&decision.suggestions));
        }
        let (all, one) = (with(&decision.suggestions), with(std::slice::from_ref(widest)));
        for other in CALLS.iter().map(|call| (*call).to_owned()).chain([other]) {
            prop_assert_eq!(all.verdict(&other), one.verdict(&other), "{} {:?}", other, short(&decision.suggestions));
        }
    }

    #[test]
    fn any_text_gets_an_answer(rule in "\\PC{0,40}|[A-Za-z_*]{1,8}\\([ -~]{0,30}\\)", argument in "\\PC{0,60}", tool in proptest::sample::select(&["Bash", "Read", "Write", "WebFetch", "Agent"][..])) {
        let mut world = world(PermissionMode::Default, &[], &[], &[]);
        for behavior in [Behavior::Deny, Behavior::Ask, Behavior::Allow] {
            let _ = world.policy.add_rules(RuleSource::CliArg, behavior, &[rule.as_str()], Path::new("/w"));
        }
        world.verdict(&format!("{tool} {argument}"));
        if let Ok(parsed) = windlass_permission::parse_rule(&rule) {
            let again = windlass_permission::parse_rule(&windlass_permission::rule_text(&parsed.value())).unwrap();
            prop_assert_eq!(again.value(), parsed.value());
            let update = PermissionUpdate::AddRules {
                rules: vec![parsed.value()], behavior: Behavior::Allow, destination: windlass_types::UpdateDestination::Session,
            };
            let _ = world.policy.apply(&update);
        }
    }
}
