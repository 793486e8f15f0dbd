//! Files whose names are options: a pattern that matches one makes the command another one.

use crate::common::{Rules, World, allow, deny};
use std::collections::{BTreeMap, BTreeSet};
use std::process::{Command, Stdio};
use windlass_types::Behavior::{Allow, Ask};
use windlass_types::PermissionMode::{AcceptEdits, BypassPermissions, Default as Asking, Plan};

/// The options of every program of the tables, by program, as the real programs were seen to take them.
const OBSERVED: &str = include_str!("../../../windlass-shell/tests/arity/observed.txt");

/// Returns options by program, and those of its own help where it is installed.
fn options() -> BTreeMap<&'static str, BTreeSet<String>> {
    let mut all: BTreeMap<&str, BTreeSet<String>> = BTreeMap::new();
    for line in OBSERVED.lines() {
        if let [program, option, _] = line.split('\t').collect::<Vec<_>>()[..] {
            let options = all.entry(program.trim_end_matches(" .")).or_default();
            options.extend(option.starts_with('-').then(|| option.to_owned()).filter(|option| option != "--"));
        }
    }
    for (program, options) in &mut all {
        if !program.contains(' ') {
            options.extend(options_of_help(program));
        }
    }
    all
}

fn options_of_help(program: &str) -> Vec<String> {
    let run = Command::new(program).arg("--help").stdin(Stdio::null()).output();
    let Ok(output) = run else { return Vec::new() };
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    let word = |c: char| !(c.is_ascii_alphanumeric() || matches!(c, '-' | '_'));
    let options = text.split(word).filter(|word| word.starts_with('-') && word.len() > 1 && *word != "--");
    options.map(str::to_owned).collect()
}

/// Returns the commands of a program with a bare pattern.
fn commands(program: &str) -> Vec<String> {
    ["*", "x *", "-p x *", ". *", "'{print}' *", "x ?*", "x [!a]*"]
        .iter()
        .map(|rest| format!("{program} {rest}"))
        .collect()
}

fn worlds(program: &str) -> Vec<World> {
    let rule = format!("Bash({program}:*)");
    let rules = [rule.as_str()];
    vec![
        World::in_mode(Asking, Rules::default()),
        World::in_mode(Plan, Rules::default()),
        World::in_mode(AcceptEdits, allow(&rules)),
    ]
}

#[test]
fn every_option_of_every_program_closes_the_way_of_a_pattern() {
    let (mut free, mut closed, mut wrong) = (BTreeSet::new(), 0, Vec::new());
    for (program, options) in options() {
        // This program runs and opens nothing, whatever its arguments.
        if program == "echo" {
            continue;
        }
        for world in worlds(program) {
            let calls = commands(program).into_iter().map(|command| format!("Bash {command}"));
            let allowed: Vec<String> = calls.filter(|call| world.verdict(call) == Allow).collect();
            free.extend((!allowed.is_empty()).then_some(program));
            for (option, call) in options.iter().zip(allowed.iter().cycle()) {
                let world = world.clone().link(&format!("/w/{option}"), &format!("/w/target{option}"));
                closed += 1;
                if world.verdict(call) == Allow {
                    wrong.push(format!("{call} beside {option}"));
                }
            }
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
    assert!(free.len() > 80 && closed > 5_000, "{} {closed}", free.len());
}

fn beside(mode: windlass_types::PermissionMode, rules: Rules<'_>, names: &[&str]) -> World {
    let world = World::in_mode(mode, rules);
    names.iter().fold(world, |world, name| world.link(&format!("/w/{name}"), &format!("/w/kept/{name}")))
}

#[test]
fn names_that_are_options_ask_in_every_mode_that_allows() {
    for mode in [Asking, Plan, AcceptEdits] {
        beside(mode, Rules::default(), &["-R", "--files0-from=x", "-f", "a.rs"]).check(
            Ask,
            &[
                "Bash grep X *",
                "Bash ls *",
                "Bash wc *",
                "Bash du ?*",
                "Bash cat *",
                "Bash sort [!a]*",
                "Bash ls | wc -l *",
            ],
        );
        beside(mode, Rules::default(), &["-f/etc/passwd"]).check(Ask, &["Bash grep */*/*", "Bash grep X *"]);
    }
    let rules = allow(&["Bash(tar:*)", "Bash(make:*)", "Bash(rm:*)"]);
    beside(Asking, rules, &["--checkpoint-action=exec=x"]).check(
        Ask,
        &["Bash tar cf x.tar *", "Bash tar cf x.tar --*", "Bash make *", "Bash rm *", "Bash timeout 5 tar cf x.tar *"],
    );
    // A program that may write by such an option asks where all else is allowed.
    beside(BypassPermissions, Rules::default(), &["-o.git"]).check(Ask, &["Bash sort *", "Bash rm *", "Bash cp * x"]);
    let denied = deny(&["Read(./secrets/**)"]);
    beside(BypassPermissions, denied, &["-R"]).check(Ask, &["Bash grep X *", "Bash for f in a; do grep X *; done"]);
}

#[test]
fn a_part_of_the_line_that_makes_such_a_name_closes_the_way() {
    let world = World::in_mode(AcceptEdits, allow(&["Bash(ln:*)"]));
    world.check(
        Ask,
        &[
            "Bash touch -- -R && grep X *",
            "Bash mv a ./-R; grep X *",
            "Bash cp a ./-R && wc *",
            "Bash ls > -R; grep X *",
            "Bash ln -s /w/x ./-R && grep X *",
            "Bash grep X * | cat > ./-R",
        ],
    );
    World { links: vec![("/w/d/-R".into(), "/w/x".into())], ..world.clone() }
        .check(Ask, &["Bash cp -r d/. . && grep X *", "Bash mv d e && grep X *"]);
    world.check(Allow, &["Bash touch a && grep X *", "Bash mv a b; ls *", "Bash cp -r a b && wc -l *.rs"]);
}

#[test]
fn patterns_that_can_be_no_option_need_no_question() {
    let names = ["-R", "--file=x", "a.rs", "lib-R"];
    beside(Asking, allow(&["Bash(make:*)"]), &names).check(
        Allow,
        &[
            "Bash grep X ./*",
            "Bash grep X -- *",
            "Bash grep -rn X a*",
            "Bash grep X *.rs",
            "Bash ls src/*",
            "Bash ls -- *",
            "Bash wc -l *.rs",
            "Bash wc -l -- *",
            "Bash echo *",
            "Bash make ./*",
            "Bash grep -r --include=*.rs X src",
            "Bash cat lib*",
        ],
    );
    World::new(Rules::default()).check(
        Allow,
        &[
            "Bash sort *",
            "Bash md5sum *",
            "Bash rg X *",
            "Bash sed -n 1p *",
            "Bash awk '{print}' *",
            "Bash git diff *.rs",
        ],
    );
}
