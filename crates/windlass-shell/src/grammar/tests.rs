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

/// Texts that are no simple commands.
const REFUSED: &[&str] = &[
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
    "{ a; }",
    "!",
    "!a",
    "! ! a",
    "! (a)",
    "a | ! b",
    "! \n a",
    "! && a",
    "a() { b; }",
    "echo $x",
    "echo ${x}",
    "echo $(b)",
    "echo `b`",
    "echo \"$x\"",
    "echo \"`b`\"",
    "echo $\"x\"",
    "echo ~",
    "echo ~/x",
    "echo a=~/x",
    "echo {1..3}",
    "echo }",
    "for f in x; do a $f{,}w; done",
    "for f in x; do a $f\\\nw; done",
    "for f in x; do a \"$f\\\nw\"; done",
    "cat <<E\n$x\nE",
    "cat <<E\n`x`\nE",
    "cat <<E\na\\\nE\nE",
    "cat <<E",
    "cat <<E\nx",
    "cat <<E\nx\n E",
    "cat <<E\\\nF\nx\nEF",
    "cat <<$x\ny\n$x",
    "cat <<''\nx\n",
    "cat <<*\nx\n*",
    "cat 3<<E\nx\nE",
    "cat <<<$x",
    "cat <<<\"$x\"",
    "cat <<<{a,b}",
    "cat <<<",
    "cat <(cat <<E\nx\nE\n)",
    "cat <<A \"$(cat <<'B'\nx\nB\n)\"\ny\nA",
    "cat <<A; for f in a b; do echo x\ny\nA\ndone",
    "for f in a b; do cat <<A; done\nx\nA\ny\nA",
    "a \"$(cat <<E\n$x\nE\n)\"",
    "a \"$(cat <<'E'\nx\nE\nrm y\n)\"",
    "a \"$(cat <<'E' | b\nx\nE\n)\"",
    "a \"$(cat y <<'E'\nx\nE\n)\"",
    "a \"$(cat <<'E'\nx\nE )\"",
    "a \"$(tac <<'E'\nx\nE\n)\"",
    "a $(cat <<'E'\nx\nE\n)",
    // Versions of bash that look for quotes in the document end it elsewhere.
    "a \"$(cat <<'E'\nit's\nE\n)\" 'x; rm y)'",
    "a \"$(cat <<'E'\n) \" ; rm y; \"\nE\n)\"",
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
];

#[test]
fn refuses_what_it_does_not_understand() {
    for text in REFUSED {
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

/// Returns the commands of a text with their words, `;` between them and `|` for those of a pipeline.
fn flat(text: &str) -> String {
    let chars: Vec<char> = text.chars().collect();
    let Ok(understood) = parse(&chars) else { return "refused".to_owned() };
    let mut flat = String::new();
    for command in &understood.commands {
        flat.push_str(match command.connector {
            Connector::First => "",
            Connector::And => " && ",
            Connector::Or => " || ",
            Connector::Pipe => " | ",
            Connector::Sequence => "; ",
        });
        flat.push_str(&command.words.iter().map(Word::text).collect::<Vec<_>>().join(" "));
    }
    flat
}

#[test]
fn loops_and_conditions_are_the_commands_that_they_run() {
    for (text, expected) in [
        ("for f in a b; do wc \"$f\"; done", "wc a; wc b"),
        ("for f in a\n do\n wc $f ${f}\ndone", "wc a a"),
        ("for f in 'a b' x; do wc \"$f.c\"; done; ls", "wc a b.c; wc x.c; ls"),
        ("for f in *.rs; do wc \"$f\"; done", "wc *.rs; wc *.rs"),
        ("for f in *.rs; do echo \"== $f\"; done", "echo == _; echo == _"),
        ("for f in a; do for g in b c; do wc \"$f\" \"$g\"; done; done", "wc a b; wc a c"),
        ("ls && for f in a b; do wc $f; done && ls", "ls && wc a; wc b && ls"),
        ("for f in a{b,c}; do wc $f; done", "wc ab; wc ac"),
        ("if test -f a; then cat a; fi", "test -f a && cat a"),
        ("if test -f a\nthen cat a; ls\nelse pwd\nfi\nls", "test -f a && cat a; ls; pwd; ls"),
        ("ls | for f in a; do wc $f; done | wc", "ls | wc a | wc"),
        ("(cd a && ls)", "cd a && ls"),
        ("( ls; pwd )", "ls; pwd"),
        ("comm <(sort a) <(sort b | uniq)", "sort a | sort b | uniq | comm /dev/null /dev/null"),
        ("ls; diff <(sort a) b", "ls; sort a | diff /dev/null b"),
        ("cat a{b,c} {x,y}.{p,q}", "cat ab ac x.p x.q y.p y.q"),
        ("ls {*.sh,?.py} x{,*}", "ls *.sh ?.py x x*"),
        ("for f in a; do grep -v read $f; done", "grep -v read a"),
        ("grep -n $'\\t' x", "grep -n \t x"),
        ("echo $? \"$?\"", "echo 0 0"),
        ("basename \"$(pwd)\"", "basename ."),
        ("ls \"$PWD/src\"", "ls ./src"),
    ] {
        assert_eq!(flat(text), expected, "{text}");
    }
}

#[test]
fn structures_that_may_mean_more_are_refused() {
    for text in [
        "for f in a; do wc $f",
        "for f in; do ls; done",
        "for f; do ls; done",
        "for f in a b; ls; done",
        "for F in a; do ls; done",
        "for if in a; do ls; done | wc $x",
        "for f in $x; do ls; done",
        "for f in $(ls); do wc $f; done",
        "for f in *; do wc $f; done",
        "for f in *; do wc \"$f\".c; done",
        "for f in *; do wc \"$f.c\"; done",
        "for f in 'a b'; do wc $f; done",
        "for f in '*'; do wc $f; done",
        "for f in a; do wc \"${f%.c}\"; done",
        "for f in a; do wc $fx; done",
        "for f in a; do f=b; wc \"$f\"; done",
        "for f in a; do read f; wc \"$f\"; done",
        "for f in a; do unset f; wc \"$f\"; done",
        "for f in a; do printf -v f b; command read f; wc \"$f\"; done",
        "for f in */; do cd \"$f\"; ls; done",
        "for f in *; do cd ..; done",
        "for f in a; do wc $f; done > x",
        "for f in a; do wc $f; done &",
        "ls | for f in a b; do wc $f; done",
        "ls | for f in a; do cd $f; done",
        "ls | if true; then wc a; fi",
        "wc \"$f\"",
        "for f in a; do ls; done; wc \"$f\"",
        "if a; then b; fi && c",
        "if a; then b; fi | c",
        "if a; then b; elif c; then d; fi",
        "if a; then b",
        "if a; b; fi",
        "if if a; then b; fi; then c; fi",
        "for f in a; do if a; then b; fi; done && c",
        "(ls) && pwd",
        "(ls); pwd",
        "(ls",
        "ls)",
        "((ls))",
        "(ls) > x",
        "comm<(sort a) b",
        "comm a<(sort b)",
        "comm <(sort a)b",
        "comm <(sort a; sort b) c",
        "comm <(cd x | ls) c",
        "uniq <(sort a) b",
        "bash <(ls)",
        "marker <(ls)",
        "comm <(sort $x) b",
        "cat < <(sort a)",
        "comm > >(sort a)",
        "{a,b} c",
        "a{b,c} d",
        "X={a,b} ls",
        "cat > {a,b}",
        "cat {a,{b,c}}",
        "cat {a..c}",
        "cat {a,b",
        "cat {,}",
        "wc $'\\x41'",
        "ls $PWD",
        "ls $?",
        "ls \"x$PWD\"",
        "sed \"$PWD\" x",
        "marker \"$PWD\"",
        "PWD=/etc; ls \"$PWD\"",
        "read PWD; ls \"$PWD\"",
        "printf $? x",
        "$? x",
        "cat > $?",
        "X=$? ls",
        "echo \"$(pwd; ls)\"",
        "echo \"$(pwd)x\"",
    ] {
        assert_eq!(flat(text), "refused", "{text}");
    }
}

#[test]
fn here_documents_of_literal_text_are_understood() {
    for (text, expected, input) in [
        ("cat <<E\nx\nE", vec![vec!["cat"]], "x\n"),
        ("cat <<'E'\n$x `y` \\\nE", vec![vec!["cat"]], "$x `y` \\\n"),
        ("cat <<\\E\n$x\nE", vec![vec!["cat"]], "$x\n"),
        ("cat <<-E\n\tx\n\t\tE\n", vec![vec!["cat"]], "x\n"),
        ("cat <<E\nE\nb", vec![vec!["cat"], vec!["b"]], ""),
        ("cat <<E && b # c\nx\nE\nd", vec![vec!["cat"], vec!["b"], vec!["d"]], "x\n"),
        ("cat <<E | b\nx\nE", vec![vec!["cat"], vec!["b"]], "x\n"),
        ("cat <<E |\nx\nE\nb", vec![vec!["cat"], vec!["b"]], "x\n"),
        ("cat - <<'E' c\nx\nE", vec![vec!["cat", "-", "c"]], "x\n"),
        ("(cat <<E\nx\nE\n)", vec![vec!["cat"]], "x\n"),
        ("cat <<<x", vec![vec!["cat"]], "x"),
        ("cat 0<<< 'a b'", vec![vec!["cat"]], "a b"),
        ("a <<A; b <<'B'\n1\nA\n2\nB", vec![vec!["a"], vec!["b"]], "1\n2\n"),
        ("for f in a b; do c $f <<E\nx\nE\ndone", vec![vec!["c", "a"], vec!["c", "b"]], "x\nx\n"),
    ] {
        let chars: Vec<char> = text.chars().collect();
        let understood = parse(&chars).unwrap_or_else(|why| panic!("{text:?}: {why}"));
        assert_eq!(words(text).unwrap(), expected, "{text:?}");
        let redirects = understood.commands().iter().flat_map(SimpleCommand::redirects);
        let texts: String = redirects.map(|redirect| redirect.target.text()).collect();
        assert_eq!(texts, input, "{text:?}");
    }
    for (text, argument) in [
        ("a \"$(cat <<'E'\nfix: x\n\n$y 'it' (#2)\nE\n)\"", "fix: x\n\n$y 'it' (#2)"),
        ("a \"$(cat <<E\nx\nE\n)\" b", "x"),
        ("a \"$(cat <<-\"E\"\n\tx\n\tE\n)\"", "x"),
        ("a \"1 $(cat <<'E'\nx\n\n\nE\n) 2\"", "1 x 2"),
        ("a \"$( cat << 'E'\nE\n )\"", ""),
        ("a \"$(cat <<'E'\nit's\nE\n)\"", "it's"),
    ] {
        assert_eq!(words(text).unwrap()[0][1], argument, "{text:?}");
    }
}
