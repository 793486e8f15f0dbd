use super::*;
use crate::analyse;

fn allows(rule: &str, text: &str) -> bool {
    let analysis = analyse(text);
    let pattern = parse_rule_pattern(rule);
    pattern.matches_whole(text)
        || analysis.understood().is_ok_and(|u| u.commands().iter().all(|c| pattern.matches_allow(c)))
}

fn denies(rule: &str, text: &str) -> DenyMatch {
    let analysis = analyse(text);
    let pattern = parse_rule_pattern(rule);
    let whole = if pattern.matches_whole(text) { DenyMatch::Yes } else { DenyMatch::No };
    analysis.found().iter().map(|c| pattern.matches_deny(c)).max().unwrap_or(DenyMatch::No).max(whole)
}

#[test]
fn allow_rules() {
    for (rule, text, expected) in [
        ("npm run:*", "npm run test", true),
        ("npm run:*", "npm run", true),
        ("npm run:*", "npm runx", false),
        ("npm run:*", "npm", false),
        ("npm run:*", "NODE_ENV=test npm run test", true),
        ("npm run:*", "LC_ALL=C npm run test", true),
        ("npm run:*", "FOO=1 npm run test", false),
        ("npm run:*", "PATH=. npm run test", false),
        ("npm run:*", "LD_PRELOAD=x npm run test", false),
        ("npm run:*", "timeout 5 npm run test", true),
        ("npm run:*", "timeout -k 1 -s KILL 5m npm run test", true),
        ("npm run:*", "timeout --signal=KILL --kill-after=1 5 npm run test", true),
        ("npm run:*", "time npm run test", true),
        ("npm run:*", "time -p nice -n 5 nohup stdbuf -oL npm run test", true),
        ("npm run:*", "command npm run test", true),
        ("npm run:*", "xargs npm run", true),
        ("npm run:*", "xargs -n1 npm run", false),
        ("npm run:*", "timeout --unknown 5 npm run x", false),
        ("npm run:*", "npm run test > /tmp/zz", false),
        ("npm run:*", "npm run test < x", false),
        ("npm run:*", "npm run test 2>&1", true),
        ("npm run:*", "npm run test > /dev/null 2>&1", true),
        ("npm run:*", "npm run test &> /dev/null", true),
        ("npm run:*", "npm run $X", false),
        ("npm run:*", "npm run `x`", false),
        ("npm run:*", "npm run test && curl x", false),
        ("npm run:*", "npm run test; rm -rf x", false),
        ("npm run:*", "npm run test\nrm x", false),
        ("npm run:*", "npm run test & rm x", false),
        ("npm run:*", "npm 'run' test", true),
        ("npm run:*", "./npm run test", false),
        ("npm run:*", "/tmp/npm run test", false),
        ("npm run:*", "env npm run test", false),
        ("npm *", "npm", true),
        ("npm *", "npm x", true),
        ("npm *", "npmx", false),
        ("npm*", "npm", true),
        ("npm*", "npmx y", true),
        ("npm*", "xnpm", false),
        ("git * main", "git push origin main", true),
        ("git * main", "git -c a=b log main", true),
        ("git * main", "git push origin dev", false),
        ("git * main", "git push 'origin main'", false),
        ("git * main *", "git push main", true),
        ("git * main *", "git push main -f", true),
        ("timeout:*", "timeout 5 rm x", false),
        ("timeout 5 npm:*", "timeout 5 npm test", true),
        ("timeout*", "timeout 5 rm x", false),
        ("sudo:*", "sudo rm x", false),
        ("env:*", "env rm x", false),
        ("watch:*", "watch rm x", false),
        ("setsid:*", "setsid rm x", false),
        ("eval:*", "eval rm", false),
        ("bash:*", "bash -c 'rm x'", false),
        ("bash:*", "bash -lc 'rm x'", false),
        ("bash:*", "bash script.sh -c x", true),
        ("find:*", "find . -name x", true),
        ("find:*", "find . -delete", false),
        ("find:*", "find . -exec rm {} +", false),
        ("find:*", "find . -name *", false),
        ("find . -delete", "find . -delete", true),
        ("python3 *", "python3 -c 1", true),
        ("npm test", "npm test", true),
        ("npm test", " npm test\n", true),
        ("npm test", "npm test x", false),
        ("npm test", "npm  test", false),
        ("echo $(whoami)", "echo $(whoami)", true),
        ("echo:*", "echo $(whoami)", false),
        ("*", "anything x", true),
        ("timeout 5:*", "timeout 5 rm x", false),
        ("timeout*:*", "timeout 5 rm x", false),
        ("npm run:*", "timeout -v --foreground -p 5 npm run test", true),
        ("npm run:*", "stdbuf -o L --error 0 -i0 --input=0 npm run test", true),
        ("npm run:*", "stdbuf --bad npm run test", false),
        ("fd:*", "fd x src", true),
        ("fd:*", "fd -H y src/*", true),
        ("fd:*", "fd -x rm", false),
        ("fd:*", "fd -HX rm", false),
        ("fd:*", "fd . --exec rm", false),
        ("fd:*", "fd . --exec-batch rm", false),
        ("fd:*", "fd *", false),
        ("bash:*", "bash", false),
        ("bash:*", "bash -x", false),
        ("bash:*", "bash -x script.sh", true),
        ("bash:*", "bash --version", true),
        ("bash:*", "bash --help", true),
        ("", "anything x", false),
        (":*", "anything x", false),
        (" ", "x", false),
        ("! *", "x y", false),
        ("!", "x", false),
    ] {
        assert_eq!(allows(rule, text), expected, "{rule:?} {text:?}");
    }
}

#[test]
fn allow_rules_cover_their_own_text_and_negated_commands() {
    for (rule, text, expected) in [
        // The very text of a rule is covered, whatever its characters.
        ("grep \"a*b\" f", "grep \"a*b\" f", true),
        ("grep \"a*b\" f", "grep 'a*b' f", false),
        ("grep \"a*b\" f", "grep a*b f", false),
        ("grep \"a*b\" f", "grep \"axb\" f", false),
        ("grep \"a*b\" f", "curl \"x y\" && grep \"a*b\" f", false),
        ("npm run \"a*b\"", "cd x && npm run \"a*b\"", false),
        ("npm run \"a*b\" *", "npm run 'a*b' c", true),
        ("npm run \"a*b\" *", "npm run axb c", false),
        ("ls \\*", "ls \\*", true),
        ("ls \\*", "ls x", false),
        ("sh -c \"rm *\"", "sh -c \"rm *\"", true),
        ("sudo * x", "sudo * x", false),
        ("FOO=1 npm test", "FOO=1 npm test", true),
        // `!` makes no difference.
        ("npm test:*", "! npm test x", true),
        ("! npm test:*", "npm test x", true),
        ("npm test", "! npm test", true),
        ("! npm test", "npm test && ! npm test", true),
        ("npm test:*", "npm test | ! npm test", false),
        ("npm test:*", "!npm test", false),
        ("docker compose:*", "docker compose up", true),
        ("./gradlew:*", "./gradlew build", true),
    ] {
        assert_eq!(allows(rule, text), expected, "{rule:?} {text:?}");
    }
}

#[test]
fn deny_rules() {
    use DenyMatch::{No, Possible, Yes};
    for (rule, text, expected) in [
        ("rm:*", "rm x", Yes),
        ("rm:*", "rm", Yes),
        ("rm:*", "rmdir x", No),
        ("rm:*", "FOO=bar rm x", Yes),
        ("rm:*", "echo a && rm x", Yes),
        ("rm:*", "echo `rm x`", Yes),
        ("rm:*", "timeout 5 rm x", Yes),
        // A word that may vanish leaves the exact command, one that begins with a letter does not.
        ("rm x", "rm x $Y", Possible),
        ("rm x", "rm x a$Y", No),
        ("rm x", "rm x y", No),
        ("reboot", "reboot", Yes),
        ("reboot", "/sbin/reboot", Yes),
        ("reboot", "reboot --help", No),
        ("rm:*", "/bin/rm x", Yes),
        ("/bin/rm:*", "/bin/rm x", Yes),
        ("/bin/rm:*", "rm x", Yes),
        ("rm:*", "r* x", Possible),
        ("rm:*", "x* x", No),
        ("git push:*", "git push", Yes),
        ("git push:*", "git -C x push origin", Yes),
        ("git push:*", "git -c a.b=c --no-pager push", Yes),
        ("git push:*", "git log push", No),
        ("git push:*", "git stash push", No),
        ("git push:*", "git $X", Possible),
        ("git push:*", "git pu*", Possible),
        ("git push:*", "git status", No),
        ("npm run deploy:*", "npm --prefix x run -s deploy", Yes),
        ("rm -rf:*", "rm -rf x", Yes),
        ("rm -rf x", "rm -rf x", Yes),
        ("rm -rf x", "true; /bin/rm  -rf  x", Yes),
        ("rm -rf x", "rm -rf x y", No),
        ("git push*", "git push-x", Yes),
        ("git * --force", "git push --force", Yes),
        ("git * --force", "git push $X", Possible),
        ("git * --force", "git push", No),
        ("*secret*", "cat a/secret/b", Yes),
        ("*", "x", Yes),
        ("", "x", No),
        ("grep \"a*b\" f", "grep 'a*b' f", Yes),
        ("grep 'a*b' f", "true; grep a\\*b f", Yes),
        ("grep \"a*b\" f", "grep axb f", No),
        ("echo \"it's\" \"*\"", "echo it\\'s '*'", Yes),
        ("rm:*", "! rm x", Yes),
        ("! rm:*", "rm x", Yes),
        ("! rm:*", "true; ! rm x", Yes),
        ("curl:*", "sh -c 'curl x | sh'", Yes),
    ] {
        assert_eq!(denies(rule, text), expected, "{rule:?} {text:?}");
    }
}

#[test]
fn patterns_that_cover_less_than_they_seem_to_are_reported() {
    use PatternProblem::{Assignment, Empty, NotOneCommand, QuotedStar};
    for (pattern, problem) in [
        ("", Some(Empty)),
        (" ", Some(Empty)),
        (":*", Some(Empty)),
        ("! :*", Some(Empty)),
        ("! *", Some(Empty)),
        ("FOO=1 x:*", Some(Assignment)),
        ("FOO=* x", Some(Assignment)),
        ("PATH+=:/x make *", Some(Assignment)),
        ("! FOO=1 x *", Some(Assignment)),
        ("_FOO=1 x *", Some(Assignment)),
        ("1A=2 x *", None),
        ("-A=2 x *", None),
        ("FOO=1 x", None),
        ("x FOO=1:*", None),
        ("--x=1 *", None),
        ("cd x && rm:*", Some(NotOneCommand)),
        ("a | b *", Some(NotOneCommand)),
        ("a; b:*", Some(NotOneCommand)),
        ("echo x > y:*", Some(NotOneCommand)),
        ("a &&:*", Some(NotOneCommand)),
        ("a && b", None),
        ("a '&&' b:*", None),
        ("find . -exec rm {} \\; :*", None),
        ("rm -rf $HOME:*", None),
        ("* && rm *", None),
        ("curl * | sh", None),
        ("grep \"a*b\" f", Some(QuotedStar)),
        ("*", None),
        ("npm run *", None),
        ("npm*", None),
    ] {
        assert_eq!(parse_rule_pattern(pattern).problem(), problem, "{pattern:?}");
    }
}

#[test]
fn suggestions() {
    for (text, expected) in [
        ("npm test", &[Some("npm test *")][..]),
        ("cargo build --release", &[Some("cargo build *")]),
        ("make", &[Some("make *")]),
        ("timeout 5 npm test", &[Some("npm test *")]),
        ("NODE_ENV=test npm test", &[Some("npm test *")]),
        ("npm run build -- --watch", &[Some("npm run build *")]),
        ("docker compose up -d", &[Some("docker compose up *")]),
        ("npm test build", &[Some("npm test *")]),
        ("npm run -s build", &[Some("npm run -s build")]),
        ("rm -rf x", &[Some("rm -rf x")]),
        ("mkdir x", &[Some("mkdir x")]),
        (": x", &[Some(": x")]),
        ("[ -f x ]", &[Some("[ -f x ]")]),
        ("git push --force origin main", &[Some("git push --force origin main")]),
        ("python3 -c 1", &[Some("python3 -c 1")]),
        ("FOO=1 npm test", &[Some("FOO=1 npm test")]),
        ("make > log", &[Some("make > log")]),
        ("find . -delete", &[None]),
        ("sudo x", &[None]),
        ("bash -c x", &[None]),
        ("kill 12", &[None]),
        ("npm test && cargo test", &[Some("npm test *"), Some("cargo test *")]),
        ("rm *.o && make", &[None, Some("make *")]),
    ] {
        let analysis = analyse(text);
        let rules: Vec<_> = analysis.understood().unwrap().commands().iter().map(suggest_rule).collect();
        let rules: Vec<_> = rules.iter().map(Option::as_deref).collect();
        assert_eq!(rules, expected, "{text:?}");
    }
}

/// A rule of such length is not read by anyone.
#[test]
fn long_commands_are_not_offered_as_they_are() {
    for (bytes, offered) in [(2048, true), (2049, false)] {
        let text = format!("rm {}", "a".repeat(bytes - 3));
        let rule = suggest_rule(&analyse(&text).understood().unwrap().commands()[0]);
        assert_eq!(rule, offered.then_some(text), "{bytes}");
    }
    // A prefix treats short and long commands alike.
    let long = format!("npm test {}", "a".repeat(5000));
    assert_eq!(suggest_rule(&analyse(&long).understood().unwrap().commands()[0]).as_deref(), Some("npm test *"));
}

#[test]
fn patterns_say_what_they_are() {
    for (pattern, text, any, exact) in [
        ("*", "*", true, false),
        (" * ", "*", true, false),
        ("! *", "! *", false, false),
        (" npm run:* ", "npm run:*", false, false),
        ("npm test", "npm test", false, true),
        ("", "", false, false),
    ] {
        let parsed = parse_rule_pattern(pattern);
        assert_eq!((parsed.as_str(), parsed.is_any(), parsed.is_exact()), (text, any, exact), "{pattern:?}");
    }
}
