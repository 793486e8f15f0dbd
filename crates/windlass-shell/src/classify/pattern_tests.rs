//! File name patterns in the place of operands: a match may be an option of the program.

use super::{Effect, PathOperand, git, table};
use crate::analyse;

/// The patterns among what a command touches, if it is known what it does.
fn patterns(text: &str) -> Option<Vec<PathOperand>> {
    let analysis = analyse(text);
    let class = analysis.understood().ok()?.commands().first()?.classify();
    let known = !matches!(class.effect, Effect::Unknown | Effect::Network);
    known.then(|| class.reads.into_iter().chain(class.writes).filter(|path| path.glob).collect())
}

/// The beginnings of commands that take files: every program of the tables, up to where its files stand.
fn beginnings() -> Vec<String> {
    let tables = table::TABLE.iter().map(|spec| match spec.name {
        name @ ("grep" | "egrep" | "fgrep" | "rg" | "fd" | "fdfind") => format!("{name} x"),
        name => name.to_owned(),
    });
    let git = git::specs().map(|(name, _)| format!("git {name}"));
    let others =
        ["sed -n p", "sed -i s/a/b/", "awk '{print}'", "jq .", "iconv", "touch", "rm", "rmdir", "mkdir", "rm -r"];
    tables.chain(git).chain(others.map(str::to_owned)).collect()
}

#[test]
fn every_pattern_that_may_become_an_option_is_marked() {
    let (mut marked, mut behind) = (0, 0);
    for beginning in beginnings() {
        for pattern in ["*", "*.log", "?R", "[!a]*", "*/x", "''*"] {
            for text in [format!("{beginning} {pattern}"), format!("timeout 5 {beginning} a {pattern}")] {
                let Some(found) = patterns(&text) else { continue };
                assert!(!found.is_empty() && found.iter().all(|path| path.option), "{text}: {found:?}");
                marked += 1;
            }
            if let Some(found) = patterns(&format!("{beginning} -- {pattern}")) {
                behind += usize::from(found.iter().all(|path| !path.option));
            }
        }
        for pattern in ["./*", "a*", "src/*.rs", "'a'*", "/x/*"] {
            let found = patterns(&format!("{beginning} {pattern}")).unwrap_or_default();
            assert!(found.iter().all(|path| !path.option), "{beginning} {pattern}: {found:?}");
        }
        for pattern in ["-*", "--*", "'-'*", "\"--file\"*", "-[R]"] {
            assert_eq!(patterns(&format!("{beginning} {pattern}")), None, "{beginning} {pattern}");
        }
    }
    assert!(marked > 500 && behind > 200, "{marked} {behind}");
}

#[test]
fn what_ends_options_is_what_the_program_takes_for_their_end() {
    let open = |text: &str| patterns(text).unwrap().iter().any(|path| path.option);
    for text in ["grep -e -- *", "head -n -- *", "grep x * --", "git log * -- a", "grep --include=*.rs x a"] {
        assert!(patterns(text).is_none() || open(text), "{text}");
    }
    for text in ["grep x -- *", "grep -- x *", "ls -- *", "wc -l -- *.txt", "git diff -- *.rs", "echo *"] {
        assert!(!open(text), "{text}");
    }
}

/// A pattern in the place of an option is this option where nothing matches, and so is its effect on what else is read.
#[test]
fn patterns_as_values_of_options_count_as_the_option() {
    let analysis = analyse("grep --regexp=* /etc/shadow");
    let class = analysis.understood().unwrap().commands()[0].classify();
    assert!(class.reads.iter().any(|path| path.path == "/etc/shadow"), "{class:?}");
    for text in ["grep --include=*.rs x a", "rg --glob=*.rs x"] {
        assert!(patterns(text).unwrap().iter().all(|path| path.option), "{text}");
    }
    for text in ["grep --exclude-from=* x a", "grep --include=../* x a", "sort --output=* a", "ls --color=* a"] {
        assert_eq!(patterns(text), None, "{text}");
    }
}
