//! Every place in the code that lets a call run, with a call that leaves there and the worst calls that nearly do.
//!
//! The sources are read: a new way out without a row of the table fails the test.

use crate::common::{Rules, World, allow};
use std::collections::BTreeMap;
use windlass_permission::{CallFacts, SandboxedCommands};
use windlass_types::Behavior::{Allow, Ask};
use windlass_types::PermissionMode::{AcceptEdits, BypassPermissions, Default as Asking, Plan};
use windlass_types::{Access, HookVerdict, PermissionGroup};

const SOURCES: &[(&str, &str)] = &[
    ("raise.rs", include_str!("../../src/raise.rs")),
    ("decide.rs", include_str!("../../src/decide.rs")),
    ("sandbox.rs", include_str!("../../src/sandbox.rs")),
    ("groups.rs", include_str!("../../src/groups.rs")),
];

/// Parts of lines that let a call, or a part of it, run.
const MARKS: &[&str] =
    &["Ok(Cover::", "=> Cover::", "Ok(program)", "(Cover::Free", "Behavior::Allow, DecisionReason", "Behavior::Allow,"];

/// A way out: the line of the source, the world, a call that leaves there, and calls that must not.
struct Way {
    source: &'static str,
    line: &'static str,
    world: World,
    leaves: &'static str,
    stay: &'static [&'static str],
}

fn way(at: (&'static str, &'static str), world: World, leaves: &'static str, stay: &'static [&'static str]) -> Way {
    Way { source: at.0, line: at.1, world, leaves, stay }
}

fn linked(world: World) -> World {
    world.link("/w/out", "/etc").link("/w/alias", "/w/evil")
}

/// Returns a world in which nothing is allowed.
fn bare() -> World {
    linked(World::new(Rules::default()))
}

fn with(rules: &[&str]) -> World {
    let world = linked(World::new(allow(rules)));
    World { repositories: vec!["/w/evil".into()], ..world }
}

fn editing(rules: &[&str]) -> World {
    linked(World::in_mode(AcceptEdits, allow(rules)))
}

fn group(group: PermissionGroup) -> World {
    let mut world = bare();
    world.policy.set_group(group, Allow);
    world
}

fn confined() -> World {
    let mut world = bare();
    world.policy.confine(SandboxedCommands::new().with_auto_allow().with_excluded(["docker *"]));
    world
}

fn ways_of_calls() -> Vec<Way> {
    let raise = |line| ("raise.rs", line);
    vec![
        // The rule of another tool than those for files.
        way(
            raise("return Ok(Cover::Rule(rule));"),
            with(&["mcp__db__query"]),
            "mcp__db__query",
            &["mcp__db__query2", "mcp__db", "Read /etc/passwd"],
        ),
        // No touch at all is the start of every sum.
        way(
            raise("touches.into_iter().try_fold(Cover::Free, |cover, touch| Ok(cover.and(test(touch)?)))"),
            bare(),
            "Read /w/a",
            &["Write /w/a", "unknown x", "Read /w/out/a"],
        ),
        way(
            raise("return Ok(Cover::Free);"),
            bare(),
            "Bash cat a /dev/null",
            &[
                "Bash cat /dev/null/../../etc/shadow",
                "Bash cat /dev/nullx",
                "Bash cat out/shadow",
                "Bash cat o*/shadow",
                "Bash cat ../w2/a",
                "Bash ls .*/..",
            ],
        ),
        way(
            raise("Some(rule) => Ok(Cover::Rule(rule)),"),
            with(&["Read(//usr/share/**)"]),
            "Read /usr/share/a",
            &["Read /usr/share/../lib/a", "Read /usr/shared", "Bash cat /usr/share/../lib/a", "Write /usr/share/a"],
        ),
        way(
            raise("Some(rule) => Ok(Cover::Rule(rule)),"),
            with(&["Read(.env)"]),
            "Bash cat .env",
            &[
                "Bash cat .env .envrc",
                "Bash cat .npmrc",
                "Read .env/../.envrc",
                "Bash git show HEAD:.envrc",
                "Write .env",
            ],
        ),
        way(
            raise("(Some(rule), _) => Ok(Cover::Rule(rule)),"),
            with(&["Edit(/docs/**)"]),
            "Write /w/docs/a",
            &["Write /w/docs/../a", "Write /w/docs/.git/config", "Write /w/out/a"],
        ),
        way(
            raise("(None, Some(rule)) if inside => Ok(Cover::Rule(rule)),"),
            with(&["Write"]),
            "Write /w/a",
            &["Write /w2/a", "Write /w/out/a", "Write /w/.bashrc", "Edit /w/a"],
        ),
        way(
            raise("_ if inside && self.accept_edits => Ok(Cover::Mode),"),
            editing(&[]),
            "Write /w/a",
            &["Write /w/out/a", "Write /w/.git/hooks/x", "Write /tmp/a"],
        ),
    ]
}

fn ways_of_commands() -> Vec<Way> {
    let raise = |line| ("raise.rs", line);
    vec![
        way(
            raise("return Ok(Cover::Rule(rule));"),
            with(&["Bash(cat x > y)"]),
            "Bash cat x > y",
            &["Bash cat x > z", "Bash cat x > y; touch z", "Bash PATH= cat x > y", "Bash cat x\u{a0}> y"],
        ),
        way(
            raise("let cover = parts.iter().try_fold(Cover::Free, |cover, (part, touches)| {"),
            bare(),
            "Bash ls",
            &["Bash ", "Bash # ls", "Bash ;", "Bash ls; PATH=", "Bash PATH= ls", "Bash cd src; cd ..; ls"],
        ),
        way(
            raise("Effect::ReadOnly | Effect::ChangeDirectory => Cover::Free,"),
            bare(),
            "Bash cd src && ls",
            &[
                "Bash cd src && PATH= ls",
                "Bash IFS= ls",
                "Bash cd /etc && ls",
                "Bash cd out && ls",
                "Bash ls > .git/config",
                "Bash > .bashrc",
                "Bash ./ls",
                "Bash src/ls",
                "Bash timeout 5 ./ls",
                "Bash grep --regexp=* /etc/shadow",
            ],
        ),
        way(
            raise("Effect::Git if command.git_is_inert && !part.moved => Cover::Free,"),
            bare(),
            "Bash git status",
            &[
                "Bash PATH= git status",
                "Bash HOME= git status",
                "Bash GIT_DIR= git status",
                "Bash cd src && git status",
                "Bash git status > .git/config",
                "Bash git diff --output=x",
                "Bash git -C .. status",
            ],
        ),
        way(
            raise("(Some(rule), _) => Cover::Rule(rule),"),
            with(&["Bash(make:*)", "Bash(hg:*)"]),
            "Bash make x",
            &["Bash PATH= make x", "Bash makefile", "Bash make x > y", "Bash ./make x", "Bash cd alias && hg st"],
        ),
        way(
            raise("(None, Effect::FileChange) if self.accept_edits => Cover::Mode,"),
            editing(&[]),
            "Bash touch a",
            &["Bash PATH= touch a", "Bash touch /tmp/a", "Bash rm -r out/x", "Bash touch .git/a", "Bash cp a* b"],
        ),
        // Writing, under a rule for the path.
        way(
            raise("return Ok(Cover::Rule(rule));"),
            with(&["Edit(/docs/**)"]),
            "Bash ls > docs/a",
            &["Bash ls > docs/../a", "Bash ls > docs/.git/config", "Bash ls > out/a", "Bash make > docs/a"],
        ),
        way(
            raise("_ if is_null(touch) => Ok(Cover::Free),"),
            with(&["Bash(make:*)"]),
            "Bash make > /dev/null",
            &["Bash make > /dev/nullx", "Bash make > /dev/null/../sda"],
        ),
        way(
            raise("Cover::Rule(_) if !touch.usage.redirect => Ok(program),"),
            with(&["Bash(sort:*)"]),
            "Bash sort -o x a",
            &["Bash sort -o /tmp/x a", "Bash sort -o out/x a", "Bash sort -o .bashrc a", "Bash sort a > x"],
        ),
        way(
            raise("_ if self.accept_edits && touch.pattern.is_none() => Ok(Cover::Mode),"),
            editing(&[]),
            "Bash ls > x",
            &["Bash ls > /tmp/x", "Bash ls > out/x", "Bash touch a*", "Bash ls > $x"],
        ),
    ]
}

fn ways_of_the_policy() -> Vec<Way> {
    let decide = |line| ("decide.rs", line);
    vec![
        way(
            decide(
                "return Decision::new(Behavior::Allow, DecisionReason::Mode, \"The mode bypassPermissions allows it.\");",
            ),
            World::in_mode(BypassPermissions, Rules { deny: &["Bash(rm:*)"], ..Rules::default() }),
            "Bash make",
            &["Bash PATH= rm x", "Bash rm -rf /", "Bash ls > .git/config", "ExitPlanMode"],
        ),
        way(
            decide(
                "return Decision::new(Behavior::Allow, DecisionReason::ReadOnly, \"It only reads what may be read.\");",
            ),
            World::in_mode(Plan, Rules::default()),
            "Bash ls",
            &["Bash PATH= ls", "Bash touch a", "Write /w/a", "Bash sort -o x a"],
        ),
        way(
            decide("return Decision::new(Behavior::Allow, DecisionReason::Mode, message);"),
            editing(&[]),
            "Bash touch a",
            &["Bash make", "Bash IFS= touch a"],
        ),
        way(
            decide("return Decision::new(Behavior::Allow, DecisionReason::Rule, message).with_rule(rule.matched());"),
            with(&["Bash(make:*)"]),
            "Bash make",
            &["Bash make; touch z", "Bash make & id", "Bash make `id`"],
        ),
        way(
            (
                "sandbox.rs",
                "confined.then(|| Decision::new(Behavior::Allow, DecisionReason::Sandbox, \"It runs in the sandbox.\"))",
            ),
            confined(),
            "Bash make",
            &["Bash docker ps", "Bash ls > .git/config", "Write /w/a"],
        ),
        way(
            ("groups.rs", "is_missing.then(|| Decision::new(Behavior::Allow, DecisionReason::Rule, message))"),
            group(PermissionGroup::Execution),
            "Bash make",
            &["Bash $(make)", "Bash cat /etc/passwd", "Bash ls > .git/config", "Write /w/a"],
        ),
    ]
}

/// Ways out that no line of a call shows: a test of its own has each.
const ELSEWHERE: &[(&str, &str)] = &[
    // `agents_run_and_answers_hold_for_one_call`
    ("decide.rs", "Behavior::Allow,"),
    (
        "decide.rs",
        "let mut allowed = Decision::new(Behavior::Allow, DecisionReason::Host, \"This very call was approved.\");",
    ),
    ("decide.rs", "return Decision::new(Behavior::Allow, DecisionReason::Hook, hook_message(hook, \"allows\"));"),
];

#[test]
fn every_way_out_lets_through_what_it_is_for_and_no_more() {
    let ways = all_ways();
    let mut wrong = Vec::new();
    for way in &ways {
        if way.world.verdict(way.leaves) != Allow {
            wrong.push(format!("{}: {} does not leave", way.line, way.leaves));
        }
        let left = way.stay.iter().filter(|call| way.world.verdict(call) == Allow);
        wrong.extend(left.map(|call| format!("{}: {call} leaves", way.line)));
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
}

fn all_ways() -> Vec<Way> {
    [ways_of_calls(), ways_of_commands(), ways_of_the_policy()].into_iter().flatten().collect()
}

#[test]
fn every_way_out_of_the_sources_has_a_row() {
    let mut found: BTreeMap<(&str, &str), usize> = BTreeMap::new();
    for (source, text) in SOURCES {
        let lines =
            text.lines().map(str::trim).filter(|line| !(line.starts_with("//") || line.starts_with("Ok(Cover::")));
        for line in lines.filter(|line| MARKS.iter().any(|mark| line.contains(mark))) {
            *found.entry((source, line)).or_default() += 1;
        }
    }
    let mut known: BTreeMap<(&str, &str), usize> = BTreeMap::new();
    let ways = all_ways();
    for at in ways.iter().map(|way| (way.source, way.line)).chain(ELSEWHERE.iter().copied()) {
        *known.entry(at).or_default() += 1;
    }
    assert_eq!(found, known);
}

#[test]
fn agents_run_and_answers_hold_for_one_call() {
    let world = World::in_mode(Asking, Rules::default());
    let hook = HookVerdict::new(Allow, "gate", "fine");
    let agents = world.call("Bash make");
    let agents = CallFacts::new("Agent", agents.input, Access::Agents, agents.digest, "/w");
    assert_eq!(world.policy.decide(&agents, None, None).behavior, Allow);
    let with_command = agents.clone().with_command(world.call("Bash make").command.unwrap());
    assert_eq!(world.policy.decide(&with_command, None, None).behavior, Ask);
    for (call, by_hook) in
        [("Bash make", Allow), ("Bash ls > .git/config", Ask), ("Bash PATH= ls", Allow), ("ExitPlanMode", Ask)]
    {
        let facts = world.call(call);
        assert_eq!(world.policy.decide(&facts, None, None).behavior, Ask, "{call}");
        assert_eq!(world.policy.decide(&facts, Some(&hook), None).behavior, by_hook, "{call}");
        assert_eq!(world.policy.decide(&facts, None, Some(&facts.digest)).behavior, Allow, "{call}");
        let other = world.call("Bash makes");
        assert_eq!(world.policy.decide(&facts, None, Some(&other.digest)).behavior, Ask, "{call}");
    }
}
