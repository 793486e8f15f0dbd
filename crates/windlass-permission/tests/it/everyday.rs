//! Everyday commands are not asked about, and given rules apply as intended.

use crate::common::{Rules, World, allow};
use windlass_types::Behavior::Allow;
use windlass_types::PermissionMode;

#[test]
fn reading_commands_need_no_question() {
    let world = World::new(Rules::default());
    world.check(
        Allow,
        &[
            "Bash ls",
            "Bash ls -la src",
            "Bash cat src/main.rs",
            "Bash head -20 README.md",
            "Bash tail -n 5 log.txt",
            "Bash grep -rn 'fn main' src",
            "Bash grep -rn TODO src | head -5",
            "Bash find . -name '*.rs' -type f",
            "Bash wc -l src/*.rs",
            "Bash pwd",
            "Bash echo hello world",
            "Bash which cargo",
            "Bash diff a.txt b.txt",
            "Bash stat Cargo.toml",
            "Bash du -sh target",
            "Bash sort names.txt | uniq -c | sort -rn | head",
            "Bash cat Cargo.toml 2>/dev/null",
            "Bash ls -la && cat README.md",
            "Bash git status",
            "Bash git log --oneline -5",
            "Bash git diff HEAD",
            "Bash cd src && ls",
            "Bash cut -d: -f1 data.txt",
            "Bash test -f x && echo yes",
            "Bash sed -n 1,20p src/lib.rs",
            "Bash rg -n pattern src",
            "Bash tree -L 2",
            "Bash file target/debug/x",
            "Bash date",
            "Bash basename a/b",
            "Read src/lib.rs",
            "Grep .",
            "Glob src",
        ],
    );
}

/// Commands that only read, as people and models write them. None may ask.
const FREE: &str = include_str!("everyday_commands/free.txt");

/// Commands that only read and ask all the same, below the reason; those that are not known come last.
const ASKS: &str = include_str!("everyday_commands/asks.txt");

/// Commands of tutorials, below the title of each, that only read files of the directory.
const TUTORIALS: &str = include_str!("everyday_commands/tutorials.txt");

#[test]
fn commands_of_tutorials_need_no_question() {
    let world = World::new(Rules::default());
    let commands: Vec<&str> = TUTORIALS.lines().filter(|line| !line.is_empty() && !line.starts_with("# ")).collect();
    let asking: Vec<_> = commands
        .iter()
        .map(|command| (command, world.decision(&format!("Bash {command}"))))
        .filter(|(_, decision)| decision.behavior != Allow)
        .map(|(command, decision)| format!("{command}: {}", decision.message))
        .collect();
    println!("{} of {} commands of tutorials are free", commands.len() - asking.len(), commands.len());
    assert!(commands.len() >= 60, "{}", commands.len());
    assert!(asking.len() * 100 <= commands.len() * 2, "{asking:#?}");
}

/// Returns the numbers of read-only commands that need no permission request, that ask by a rule of the analysis, and
/// that ask because they are unknown.
pub(crate) fn counts() -> [usize; 3] {
    let count = |text: &str| text.lines().filter(|line| !line.is_empty() && !line.starts_with("# ")).count();
    let (by_rule, unknown) = ASKS.split_once("# Not known\n").unwrap();
    [FREE, by_rule, unknown].map(count)
}

#[test]
fn all_but_a_few_reading_commands_need_no_question() {
    let world = World::new(Rules::default());
    let asks = |command: &&str| world.verdict(&format!("Bash {command}")) != Allow;
    let commands = |text: &'static str| text.lines().filter(|line| !line.is_empty() && !line.starts_with("# "));
    let asking: Vec<&str> = commands(FREE).filter(asks).collect();
    assert!(asking.is_empty(), "{asking:#?}");
    let free: Vec<&str> = commands(ASKS).filter(|command| !asks(command)).collect();
    assert!(free.is_empty(), "to be moved to free.txt: {free:#?}");
    let [free, by_rule, unknown] = counts();
    // At least 98 in 100 of the commands that no rule of the analysis blocks, and 90 of all.
    assert!(free * 100 >= (free + unknown) * 98, "{free} free, {unknown} not known");
    assert!(free * 100 >= (free + unknown + by_rule) * 90, "{free} free, {by_rule} by rule, {unknown} not known");
}

#[test]
fn given_rules_cover_what_they_say() {
    let rules = allow(&[
        "Bash(cargo:*)",
        "Bash(npm run *)",
        "Bash(git add:*)",
        "Bash(git commit:*)",
        "Bash(make)",
        "Edit(/src/**)",
        "Edit(/docs/*.{md,txt})",
        "Read(~/notes/**)",
        "WebFetch(domain:docs.rs)",
        "mcp__db__query",
    ]);
    World::new(rules).check(
        Allow,
        &[
            "Bash cargo test",
            "Bash cargo test -p x --lib -- --nocapture",
            "Bash cargo build && cargo test",
            "Bash cargo test 2>&1 | tail -20",
            "Bash cargo test | grep FAILED",
            "Bash RUST_BACKTRACE=1 cargo test",
            "Bash npm run build",
            "Bash git add -A",
            "Bash git add . && git commit -m 'Fix the parser'",
            "Bash git add .gitignore",
            "Bash make",
            "Bash cd src && cargo test",
            "Write src/a.rs",
            "Edit src/deep/b.rs",
            "Edit docs/a.md",
            "Read /home/u/notes/todo",
            "WebFetch https://docs.rs/serde",
            "mcp__db__query",
        ],
    );
}

#[test]
fn accepting_edits_lets_files_be_worked_on() {
    World::in_mode(PermissionMode::AcceptEdits, allow(&["Bash(cargo:*)"])).check(
        Allow,
        &[
            "Write src/new.rs",
            "Edit src/lib.rs",
            "Bash mkdir -p src/a && touch src/a/mod.rs",
            "Bash mv a.txt b.txt",
            "Bash cp a.txt src",
            "Bash mv a.txt .",
            "Bash rm old.txt",
            "Bash rm -rf target/tmp",
            "Bash cargo fmt && mv a b",
            "Bash echo x > notes.txt",
        ],
    );
}
