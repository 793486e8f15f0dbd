//! Commands in scripts and behind wrappers, beside others on the same line.

use crate::common::{Rules, World, allow, deny};
use windlass_permission::{Policy, PolicyConfig};
use windlass_types::Behavior::{Allow, Ask, Deny};
use windlass_types::PermissionMode;

fn bypassing(rules: &[&str]) -> World {
    World::in_mode(PermissionMode::BypassPermissions, deny(rules))
}

/// Returns a line with a script, with a command that is understood before it and several times behind it.
fn beside(script: &str, known: &str) -> [String; 2] {
    [format!("Bash {known} && bash -c \"{script}\""), format!("Bash bash -c \"{script}\"; {known}; {known}; {known}")]
}

/// A script that looks like a command beside it in one way or another is not that command.
#[test]
fn a_rule_holds_for_what_a_script_does_whatever_stands_beside_it() {
    let world = bypassing(&["Read(./.env)"]);
    for (script, known) in [
        ("cat .env", "ls"),
        ("cat .env", "cat a"),
        ("cat .env", "ls a"),
        ("cat .env", "ls -l a"),
        ("cat .env", "cat"),
        ("cat .env", "cat a b c"),
        ("cat .env", "cat .env.example"),
        ("cat a .env", "cat a"),
        ("cat a .env", "cat a b"),
        ("cat .env > a", "cat b > a"),
    ] {
        for line in beside(script, known) {
            assert_eq!(world.verdict(&line), Deny, "{line}");
        }
    }
    // The same words, with a pattern in one of them alone.
    for line in beside("cat .e*", "cat '.e*'") {
        assert_eq!(world.verdict(&line), Ask, "{line}");
    }
    for (script, known) in [("cat '.e*'", "cat '.e*'"), ("cat a", "cat a"), ("cat a", "cat b")] {
        for line in beside(script, known) {
            assert_eq!(world.verdict(&line), Allow, "{line}");
        }
    }
}

/// The same words with another redirection are another command.
#[test]
fn a_rule_holds_for_the_redirections_of_a_script() {
    let world = bypassing(&["Edit(./keep)", "Read(./.env)"]);
    for (script, known) in [
        ("cat a > keep", "cat a"),
        ("cat a > keep", "cat a > b"),
        ("ls >> keep", "ls > b"),
        ("cat < .env", "cat < a"),
        ("cat > keep", "cat < keep"),
        ("cat a > b 2> keep", "cat a > b"),
        ("cat a > b 2> keep", "cat a > b 2> c"),
        ("cat a > keep 2> b", "cat a > c 2> b"),
    ] {
        for line in beside(script, known) {
            assert_eq!(world.verdict(&line), Deny, "{line}");
        }
    }
    for (script, known) in [("cat a > b", "cat a > b"), ("cat < keep", "cat < keep"), ("cat a > b", "cat a > c")] {
        for line in beside(script, known) {
            assert_eq!(world.verdict(&line), Allow, "{line}");
        }
    }
    // A redirection as a word of its own, and as a prefix of others.
    for line in beside("ls > kee*", "ls > 'kee*'") {
        assert_ne!(world.verdict(&line), Allow, "{line}");
    }
}

/// The same command in a script may run in another directory, and as often as it stands there.
#[test]
fn a_rule_holds_where_a_script_goes_to_run_the_same_command() {
    let world = bypassing(&["Read(./sub/x)", "Edit(./sub/y)"]);
    world.check(
        Deny,
        &[
            "Bash bash -c 'cd sub && cat x'",
            "Bash cat x && bash -c 'cd sub && cat x'",
            "Bash cat x; cat x; bash -c 'cd sub; cat x'",
            "Bash bash -c 'cd sub; cat x'; cat x",
            "Bash touch y && bash -c 'cd sub; touch y'",
            "Bash ls > y && bash -c 'cd sub && ls > y'",
            "Bash cd sub && cat x",
        ],
    );
    world.check(
        Allow,
        &[
            "Bash cat x && cat x",
            "Bash cat x | cat x",
            "Bash cd other && cat x && cat x && cat y > y",
            "Bash cd sub && cat ../x && cat ../y > ../y",
            "Bash cat x && bash -c 'cat x'",
        ],
    );
    // An understood command is judged in its directory, with any redirections.
    let world = bypassing(&["Read(/x)", "Edit(/y)"]);
    world.check(Allow, &["Bash cd other && ls > y 2>&1", "Bash cd other && cat a &> y", "Bash cd other && ls >| y"]);
    world.check(
        Allow,
        &["Bash cd other && cat < x", "Bash cd other && ! cat x", "Bash cd other && cat x*/a 2>/dev/null"],
    );
    bypassing(&[]).check(
        Ask,
        &["Bash bash -c 'cd .git && touch config'", "Bash touch config && bash -c 'cd .git && touch config'"],
    );
}

/// A rule for a program covers its words, whatever programs stand beside it.
#[test]
fn what_works_on_files_beside_a_program_does_not_count_for_it() {
    let world = World::new(allow(&["Bash(frob:*)", "Bash(cat:*)", "Bash(sort:*)"]));
    world.check(
        Allow,
        &["Bash frob /etc/x", "Bash frob /etc/x && cat a", "Bash cat a; frob /etc/x", "Bash cat --frob a"],
    );
    // Words of a program that works on files are files, even if its options are unknown.
    world.check(Ask, &["Bash cat --frob /etc/x", "Bash frob a && cat --frob /etc/x", "Bash sort --frob /etc/x"]);
}

/// A program that works on files does so behind a wrapper too, however exactly a rule names the command.
#[test]
fn what_works_on_files_behind_a_wrapper_is_judged_by_its_files() {
    let world = World::new(allow(&["Bash(env cat --frob /etc/x)", "Bash(env cat --frob a)", "Bash(env frob /etc/x)"]));
    world.check(Ask, &["Bash ls && env cat --frob /etc/x"]);
    world.check(Allow, &["Bash ls && env cat --frob a", "Bash ls && env frob /etc/x", "Bash env cat --frob /etc/x"]);
}

/// A line that goes to a directory and writes by a redirection may write elsewhere. Going there alone writes from where
/// it stood.
#[test]
fn only_what_runs_behind_a_change_of_directory_is_moved() {
    let world = World::in_mode(PermissionMode::AcceptEdits, Rules::default());
    world.check(Allow, &["Bash cd sub > log", "Bash ls > log", "Bash cd sub && touch log"]);
    world.check(Ask, &["Bash cd sub && ls > log", "Bash cd sub > log && ls"]);
}

/// A file that is made later and fits a pattern of a trusted line is run by it like those that are there.
#[test]
fn what_would_fit_a_protected_pattern_asks_before_it_is_made() {
    let mut world = World::new(allow(&["Edit", "Bash"]));
    let patterns = ["/w/scripts/*.sh", "/w/hooks.d/*", "/w/tools/**/*.py", "/w/gen/**/check.js"].map(Into::into);
    let config = PolicyConfig::new("/w").with_protected_paths(patterns);
    world.policy = Policy::new(config.with_mode(PermissionMode::AcceptEdits));
    world.check(
        Ask,
        &[
            "Write scripts/new.sh",
            "Write /w/scripts/NEW.SH",
            "Edit scripts/old.sh",
            "Write hooks.d/10-first",
            "Write tools/a/b/c.py",
            "Write tools/c.py",
            "Write gen/x/check.js",
            "Bash cp a.txt scripts/new.sh",
            "Bash echo x > hooks.d/20-second",
            "Bash mv a.py tools/deep/a.py",
        ],
    );
    world.check(
        Allow,
        &[
            "Write scripts/new.txt",
            "Write scripts/sub/new.sh",
            "Write tools/c.txt",
            "Write gen/check.ts",
            "Bash mv a b",
        ],
    );
}
