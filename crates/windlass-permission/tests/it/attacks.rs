//! The collection of attacks, by class of the security rules: calls that may not run without a permission request. None
//! runs without one, with nothing allowed and with the rules that people usually allow.
//!
//! `cargo test -p windlass-permission --test it attacks -- --nocapture` prints the figures.

use crate::common::{Rules, World, allow};
use crate::everyday;
use windlass_types::{Behavior, PermissionMode};

/// The classes. A line is a call; one that begins with `# ` describes the calls below.
const CLASSES: [(&str, &str); 7] = [
    ("shell analysis", include_str!("attacks/shell.txt")),
    ("programs that read", include_str!("attacks/reading.txt")),
    ("version control", include_str!("attacks/git.txt")),
    ("repositories inside", include_str!("attacks/repositories.txt")),
    ("paths and protected names", include_str!("attacks/paths.txt")),
    ("bytes", include_str!("attacks/bytes.txt")),
    ("network, servers and processes", include_str!("attacks/others.txt")),
];

/// Rules that people typically allow for good. None of them covers an attack.
const USUAL: [&str; 14] = [
    "Bash(ls:*)",
    "Bash(cat:*)",
    "Bash(echo hello)",
    "Bash(grep:*)",
    "Bash(cargo test:*)",
    "Bash(npm test:*)",
    "Bash(git add:*)",
    "Bash(git status:*)",
    "Bash(hg:*)",
    "Bash(git diff --stat)",
    "Edit(/docs/**)",
    "Read(//usr/share/doc/**)",
    "WebFetch(domain:docs.rs)",
    "mcp__db__query",
];

/// Replaces the written escapes `\n`, `\t` and `\u{200b}` by their characters.
fn call(line: &str) -> String {
    let mut call = line.replace("\\n", "\n").replace("\\t", "\t");
    while let Some((before, rest)) = call.split_once("\\u{") {
        let (digits, after) = rest.split_once('}').unwrap();
        let character = char::from_u32(u32::from_str_radix(digits, 16).unwrap()).unwrap();
        call = format!("{before}{character}{after}");
    }
    call
}

fn world(mode: PermissionMode, rules: Rules<'_>) -> World {
    let world =
        World::in_mode(mode, rules).link("/w/out", "/etc").link("/w/hop", "/tmp/hop").link("/tmp/hop", "/home/u");
    World { repositories: vec!["/w/evil".into()], ..world.link("/w/alias", "/w/evil") }
}

#[test]
fn none_of_the_attacks_is_allowed() {
    let worlds = [
        ("default", world(PermissionMode::Default, Rules::default())),
        ("usual", world(PermissionMode::Default, allow(&USUAL))),
    ];
    let mut allowed = Vec::new();
    for (class, text) in CLASSES {
        let calls: Vec<&str> = text.lines().filter(|line| !line.is_empty() && !line.starts_with("# ")).collect();
        for (name, world) in &worlds {
            let verdicts: Vec<Behavior> = calls.iter().map(|line| world.verdict(&call(line))).collect();
            let count = |wanted: Behavior| verdicts.iter().filter(|verdict| **verdict == wanted).count();
            let (asked, denied) = (count(Behavior::Ask), count(Behavior::Deny));
            println!(
                "{class}, rules {name}: {} attacks, {asked} ask, {denied} denied, {} allowed",
                calls.len(),
                count(Behavior::Allow)
            );
            let free = calls.iter().zip(&verdicts).filter(|(_, verdict)| **verdict == Behavior::Allow);
            allowed.extend(free.map(|(line, _)| format!("{name}: {line}")));
        }
    }
    let [free, by_rule, unknown] = everyday::counts();
    let share = |free: usize, all: usize| free as f64 * 100.0 / all as f64;
    println!(
        "everyday commands that only read: {free} without a question, {by_rule} ask by a rule of the analysis, {unknown} not known"
    );
    println!(
        "{:.1} % of those that no rule stands against, {:.1} % of all",
        share(free, free + unknown),
        share(free, free + unknown + by_rule)
    );
    assert!(allowed.is_empty(), "{allowed:#?}");
}
