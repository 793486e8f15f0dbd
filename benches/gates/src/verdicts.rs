//! Time from the text of a command to the verdict on it.

use std::hint::black_box;
use std::path::Path;
use std::time::{Duration, Instant};

use windlass_permission::{CallFacts, CommandFacts, PathFact, Policy, PolicyConfig, command_paths};
use windlass_types::{Access, Behavior, CallDigest, JsonText, RuleSource};

const ROUNDS: usize = 501;

/// Commands that models write all day.
const TYPICAL: &[&str] = &[
    "ls -la",
    "git status && git diff --stat",
    "cd src && cargo test --all 2>&1 | tail -20",
    "grep -rn 'fn main' src | head -5",
    "npm test -- -u",
    "find . -name '*.rs' -type f | xargs wc -l | sort -n | tail -5",
    "sed -n 1,120p src/lib.rs",
    "mkdir -p out && cp a.txt out/ && echo done > out/log",
];

/// Lines of 10,000 characters, of every kind that could be slow: name, beginning, repeated part, end. `#` is a number.
const LONG: &[(&str, &str, &str, &str)] = &[
    ("many commands", "", "echo a; ", "echo a"),
    ("one word", "echo ", "a", ""),
    ("quotes", "echo ", "'a'\"b\"", ""),
    ("expansions", "echo ", "$A${B}", ""),
    ("nested substitutions", "echo ", "$(", ""),
    ("backquotes", "echo ", "`", ""),
    ("groups", "", "(", ""),
    ("pipes", "ls", " | cat", ""),
    ("file name patterns", "ls ", "*/", ""),
    ("braces", "echo ", "{a,b}", ""),
    ("redirections", "ls", " >a", ""),
    ("paths", "cat", " a/b", ""),
    ("changes of directory", "", "cd a; ", "ls"),
    ("heredocs", "", "cat <<A\nA\n", "ls"),
    ("wrappers", "", "timeout 5 ", "ls"),
    ("removals", "rm", " -f a", ""),
    ("names that differ", "rm -r", " a#", ""),
    ("redirections that differ", "ls", " >a#", ""),
    ("paths that differ", "cat", " a/b#", ""),
    ("paths of an unknown program", "foo", " a/b#", ""),
    ("commands that differ", "", "foo# a#; ", "ls"),
    ("pipes that differ", "ls", " | foo# a#", ""),
    ("assignments", "", "A#=b# ", "ls"),
    ("commands of assignments", "", "A#=b#; ", "ls"),
    ("options that differ", "foo", " --a#=b#", ""),
    ("patterns that differ", "rm", " a#*", ""),
    ("variables that differ", "rm", " $a#/b", ""),
    ("deep paths", "rm a", "/b#", ""),
    ("one giant quoted word", "foo '", "a/b# ", "'"),
    ("a script in quotes", "bash -c '", "rm a#; ", "'"),
    ("loops", "", "for i in a#; do rm $i; done; ", "ls"),
    ("names for find", "find", " a#", " -exec rm {} +"),
    ("names for git", "git add", " a#", ""),
    ("names with endings", "rm -r", " a#.rs", ""),
    ("copies", "cp -r", " a#", " b"),
    ("copies and what reads them", "ls && cp -r", " a#", " b && cat b/a1 b/a2 c"),
    ("copies of copies", "mv x y && cp -r", " a# ../b#", " b && cp -r b c"),
    ("moves", "mv", " a#", " b"),
    ("names after a change of directory", "cd ../x && rm -r", " a#", ""),
    ("copies after a change of directory", "cd ../x && cp -r", " a#", " b"),
    ("names after many changes of directory", "cd a; cd b; cd ../c; cd d; cd e; rm -r", " a#", ""),
    ("names of an unknown program after many changes", "cd a; cd b; cd ../c; cd d; cd e; foo", " a#", ""),
    ("names for an unknown program behind a wrapper", "env foo", " ../a#/b", ""),
    ("links", "ln -s", " a#", " b"),
    ("names with upper case", "rm -r", " A#", ""),
    ("names that are not ASCII", "rm -r", " é#", ""),
    ("patterns of an unknown program", "foo", " a#*", ""),
    ("patterns for copies", "cp -r", " a#*", " b"),
    ("names for xargs", "printf '%s\\n'", " a#", " | xargs rm -r"),
    ("names for git in other directories", "git -C ../x add", " a#", ""),
    ("commands in containers", "", "docker exec c# git log; ", ""),
    ("scripts for xargs", "", "xargs -I{} sh -c 'cat {} #'; ", ""),
    ("changes to many directories", "", "cd a#; rm b; ", ""),
];

/// Measures one kind of line alone, for a profiler. Returns `true` if there is such a kind.
pub(crate) fn report_one(kind: &str) -> bool {
    let Some((_, before, repeated, after)) = LONG.iter().find(|(name, ..)| *name == kind) else { return false };
    crate::row(kind, "5 ms", crate::spread(times(&policy(), &long(before, repeated, after), 11)));
    true
}

/// Prints the typical command and the slowest line, or each line if `all`.
pub(crate) fn report(all: bool) {
    let policy = policy();
    let typical: Vec<Duration> = TYPICAL.iter().flat_map(|text| times(&policy, text, ROUNDS)).collect();
    crate::row("verdict on a typical command", "50 µs", crate::spread(typical));
    let mut slowest = (Duration::ZERO, Duration::ZERO);
    let mut name = "";
    for (kind, before, repeated, after) in LONG {
        let text = long(before, repeated, after);
        let spread = crate::spread(times(&policy, &text, 11));
        if all {
            crate::row(kind, "5 ms", spread);
        }
        if spread > slowest {
            (slowest, name) = (spread, kind);
        }
    }
    crate::row(&format!("10,000 characters, slowest: {name}"), "5 ms", slowest);
}

fn long(before: &str, repeated: &str, after: &str) -> String {
    let mut text = before.to_owned();
    for number in 0.. {
        let part = repeated.replace('#', &number.to_string());
        if text.len() + part.len() + after.len() > 10_000 {
            break;
        }
        text.push_str(&part);
    }
    text + after
}

fn times(policy: &Policy, text: &str, rounds: usize) -> Vec<Duration> {
    let once = || {
        let start = Instant::now();
        black_box(verdict(policy, black_box(text)));
        start.elapsed()
    };
    (0..rounds).map(|_| once()).collect()
}

/// Computes the whole verdict on a command, without asking the system.
fn verdict(policy: &Policy, text: &str) -> Behavior {
    let analysis = windlass_shell::analyse(text);
    let cwd = Path::new("/work");
    let paths = command_paths(&analysis, cwd, policy.home());
    let paths = paths.iter().map(|path| PathFact::new(&path.path, &path.path, path.write)).collect();
    let command = CommandFacts::new(analysis, paths).with_inert_git(true).with_own_repository(true);
    let facts = CallFacts::new("Bash", JsonText::empty_object(), Access::Exec, CallDigest::new("0"), cwd);
    policy.decide(&facts.with_command(command), None, None).behavior
}

fn policy() -> Policy {
    let mut policy = Policy::new(PolicyConfig::new("/work").with_home(Some("/home/u".into())));
    let rules = [
        (
            Behavior::Deny,
            ["Read(./.env)", "Read(~/.aws/**)", "Bash(curl:*)", "Edit(/vendor/**)", "Bash(git push --force *)"],
        ),
        (Behavior::Ask, ["Bash(git push *)", "Bash(npm publish *)", "Edit(/deploy/**)", "Bash(docker *)", "WebFetch"]),
        (Behavior::Allow, ["Edit(src/**)", "Bash(cargo test:*)", "Bash(npm test *)", "Bash(make *)", "Read(//usr/**)"]),
    ];
    for (behavior, rules) in rules {
        let added = policy.add_rules(RuleSource::CliArg, behavior, &rules, Path::new("/work"));
        added.expect("the rules of the bench are rules");
    }
    policy
}
