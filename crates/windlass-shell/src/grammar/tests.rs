use super::*;

fn words(text: &str) -> Option<Vec<Vec<String>>> {
    let chars: Vec<char> = text.chars().collect();
    let understood = parse(&chars).ok()?;
    Some(understood.commands.iter().map(|c| c.words.iter().map(|w| w.text().to_owned()).collect()).collect())
}

#[test]
fn splits_words_like_bash() {
    for (text, expected) in [
        ("ls -la", vec![vec!["ls", "-la"]]),
        ("a'b'\"c\"\\d", vec![vec!["abcd"]]),
        ("grep 'a b' x", vec![vec!["grep", "a b", "x"]]),
        ("echo ''", vec![vec!["echo", ""]]),
        ("echo a\\\nb", vec![vec!["echo", "ab"]]),
        ("echo \"a\\\nb\"", vec![vec!["echo", "ab"]]),
        ("echo 'a\\\nb'", vec![vec!["echo", "a\\\nb"]]),
        ("a &\\\n& b", vec![vec!["a"], vec!["b"]]),
        ("echo \"\\a \\\" \\$x\"", vec![vec!["echo", "\\a \" $x"]]),
        ("a # b; c\nd", vec![vec!["a"], vec!["d"]]),
        ("echo a#b #c", vec![vec!["echo", "a#b"]]),
        ("git show stash@{0} HEAD~1 HEAD^", vec![vec!["git", "show", "stash@{0}", "HEAD~1", "HEAD^"]]),
        ("grep end$ x", vec![vec!["grep", "end$", "x"]]),
        ("[ -f x ]", vec![vec!["[", "-f", "x", "]"]]),
        ("a 2>&1 | b; c", vec![vec!["a"], vec!["b"], vec!["c"]]),
    ] {
        let expected: Vec<Vec<String>> =
            expected.into_iter().map(|c| c.into_iter().map(str::to_owned).collect()).collect();
        assert_eq!(words(text), Some(expected), "{text:?}");
    }
}

#[test]
fn refuses_what_it_does_not_understand() {
    for text in [
        "",
        " ",
        "#x",
        "a &",
        "a & b",
        "a &&",
        "&& a",
        "a ;; b",
        "; a",
        "a | | b",
        "(a)",
        "{ a; }",
        "!",
        "!a",
        "! ! a",
        "! (a)",
        "a | ! b",
        "! \n a",
        "! && a",
        "if a; then b; fi",
        "a() { b; }",
        "echo $x",
        "echo ${x}",
        "echo $(b)",
        "echo `b`",
        "echo \"$x\"",
        "echo \"`b`\"",
        "echo $'x'",
        "echo $\"x\"",
        "echo ~",
        "echo ~/x",
        "echo a=~/x",
        "echo {a,b}",
        "echo {1..3}",
        "echo }",
        "cat <<E\nx\nE",
        "cat <<<x",
        "cat <(b)",
        "a > >(b)",
        "a >&x",
        "a 3>x",
        "a <&3",
        "a >&-",
        "a <>x",
        "echo 'x",
        "echo \"x",
        "echo x\\",
        "a > *",
        "a > $x",
        "a >",
        "a > /dev/tcp/h/1",
        "*a",
        "x[1]=2",
        "x+=1",
        "A=1 B=$x c",
        "\"A\"=1 b",
        "=x",
        "time",
        "time A=1 b",
        "time ! b",
        "time -v b",
        "[[ a ]]",
        "{a}>x b",
        "coproc a",
        "-x",
        "'' a",
        "a >#x",
        "F\\\nOO=1 b",
        "a &>&1",
        "echo (b)",
        "$x",
    ] {
        assert_eq!(words(text), None, "{text:?}");
    }
}

#[test]
fn redirections_belong_to_their_command() {
    use RedirectKind::{Append, Duplicate, Read, Write};
    for (text, words_before, kind, target) in [
        ("ls -l>x", vec!["ls", "-l"], Write, "x"),
        ("echo a2>x", vec!["echo", "a2"], Write, "x"),
        ("echo a 2>x", vec!["echo", "a"], Write, "x"),
        ("a >|x", vec!["a"], Write, "x"),
        ("a >>x", vec!["a"], Append, "x"),
        ("a &>x", vec!["a"], Write, "x"),
        ("a &>>x", vec!["a"], Append, "x"),
        ("a 0<x", vec!["a"], Read, "x"),
        ("a 2>&1", vec!["a"], Duplicate, "1"),
    ] {
        let chars: Vec<char> = text.chars().collect();
        let understood = parse(&chars).unwrap();
        let [command] = understood.commands() else { panic!("{text:?}") };
        let found: Vec<&str> = command.words().iter().map(Word::text).collect();
        let redirects: Vec<_> = command.redirects().iter().map(|one| (one.kind, one.target.text())).collect();
        assert_eq!((found, redirects), (words_before, vec![(kind, target)]), "{text:?}");
    }
}

#[test]
fn assignments_are_told_from_programs() {
    for (text, name) in [("_A=1 b", Some("_A")), ("A_1=1 b", Some("A_1")), ("1A=1 b", None), ("a.b=1 c", None)] {
        let chars: Vec<char> = text.chars().collect();
        let assigned = parse(&chars).ok().map(|understood| understood.commands[0].assignments[0].name.clone());
        assert_eq!(assigned.as_deref(), name, "{text:?}");
    }
}

#[test]
fn says_why_it_does_not_understand() {
    use NotUnderstood::{Background, Operator, Program, Redirection, Structure};
    for (text, reason) in [
        ("a & b", Background),
        ("a &", Background),
        ("a && && b", Operator),
        ("cat 3<x", Redirection),
        ("cat 1<x", Redirection),
        ("a <&3", Redirection),
        ("a >(b)", Redirection),
        ("a <(b)", Redirection),
        ("a &>(b)", Redirection),
        ("a >&3", Redirection),
        ("a (b)", Structure),
        ("time time A=1 b", Program),
    ] {
        let chars: Vec<char> = text.chars().collect();
        assert_eq!(parse(&chars), Err(reason), "{text:?}");
    }
}
