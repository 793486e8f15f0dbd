//! Every program of the tables with the worst that can stand before, in and behind its command.

use super::{Effect, PathOperand, git, table};
use crate::analyse;

/// Returns the patterns among the paths of a command, if its effect is known.
fn patterns(text: &str) -> Option<Vec<PathOperand>> {
    let analysis = analyse(text);
    let class = analysis.understood().ok()?.commands().first()?.classify();
    let known = !matches!(class.effect, Effect::Unknown | Effect::Network);
    known.then(|| class.reads.into_iter().chain(class.writes).filter(|path| path.glob).collect())
}

/// Returns `true` if every command of a text is known to change nothing, or only the paths that it names.
fn is_known(text: &str) -> bool {
    let known = |effect| !matches!(effect, Effect::Unknown | Effect::Network);
    analyse(text).understood().is_ok_and(|all| all.commands().iter().all(|command| known(command.classify().effect)))
}

/// Returns commands that are known, of every program that is judged by its name.
fn known() -> Vec<String> {
    let with = |beginning: &String| {
        ["", " a", " -n 1 a", " .", " a b", " 1", " -l a.zip", " -tf a.tar", " -c a.gz", " -v ls", " -f a", " a ]"]
            .map(|rest| format!("{beginning}{rest}"))
    };
    let others = [
        "cd",
        "command",
        "date",
        "echo",
        "find",
        "printf",
        "nice -n 5 ls",
        "timeout 5 ls",
        "time ls",
        "ps",
        "test",
        "[",
        "tar",
        "umask",
        "ulimit",
        "unzip",
        "zipinfo",
        "xargs",
        "who",
        "xxd",
        "zcat",
        "gzip",
        "mv",
        "cp",
        "git stash list",
        "git config user.name",
        "git remote",
        "git worktree list",
        "git notes",
        "git bisect log",
        "git var GIT_AUTHOR_IDENT",
        "git --version",
    ];
    let all = beginnings().into_iter().chain(others.map(str::to_owned));
    all.filter_map(|beginning| with(&beginning).into_iter().find(|text| is_known(text))).collect()
}

/// The worst that can stand before, in and behind a command: for every program, since each has a way out of its own.
#[test]
fn no_program_is_known_with_another_environment_place_or_option() {
    let known = known();
    assert!(known.len() > 150, "{} {known:?}", known.len());
    for text in &known {
        for before in [
            "PATH=",
            "IFS=",
            "HOME=",
            "LD_PRELOAD=x",
            "GIT_DIR=",
            "LANG=/x",
            "TZ=:/x",
            "A=",
            "./",
            "bin/",
            "/tmp/",
            "../",
        ] {
            let blank = if before.contains('=') { " " } else { "" };
            let changed = format!("{before}{blank}{text}");
            assert!(!is_known(&changed), "{changed}");
        }
        let (program, rest) = text.split_once(' ').unwrap_or((text, ""));
        for option in ["--windlass-zz", "--windlass-zz=/x", "\"$x\"", "$(id)", "`id`"] {
            let changed = format!("{program} {option} {rest}");
            let prints_all = program == "echo" && option.starts_with("--");
            assert!(prints_all || !is_known(&changed), "{changed}");
        }
        for behind in ["& id", "<(./id)", "<(id; id)", "< <(id)", "> $x", "< /dev/tcp/h/1", "; PATH= ls"] {
            let changed = format!("{text} {behind}");
            assert!(!is_known(&changed), "{changed}");
        }
        for (behind, written) in [("> .git/config", ".git/config"), ("2>> x", "x"), ("&> y", "y"), (">| z", "z")] {
            let analysis = analyse(&format!("{text} {behind}"));
            let writes = analysis.understood().unwrap().commands()[0].classify().writes;
            assert!(writes.iter().any(|path| path.path == written), "{text} {behind}");
        }
    }
}

/// Returns the beginnings of commands that take files: every program of the tables, up to where its files stand.
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

/// A pattern in the place of an option is this option if nothing matches, and then also decides which other files are
/// read.
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
