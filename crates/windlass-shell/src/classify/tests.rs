use super::*;
use crate::analyse;

fn classes(text: &str) -> Vec<Classification> {
    let analysis = analyse(text);
    analysis.understood().map(|u| u.commands().iter().map(SimpleCommand::classify).collect()).unwrap_or_default()
}

fn paths(operands: &[PathOperand]) -> Vec<&str> {
    operands.iter().map(|o| o.path.as_str()).collect()
}

#[test]
fn names_what_is_read_and_written() {
    let table: &[(&str, Effect, &[&str], &[&str])] = &[
        ("cat .env", Effect::ReadOnly, &[".env"], &[]),
        ("head -1 vendor/x/.env", Effect::ReadOnly, &["vendor/x/.env"], &[]),
        ("head -n 1 a b", Effect::ReadOnly, &["a", "b"], &[]),
        ("grep s .env", Effect::ReadOnly, &[".env"], &[]),
        ("grep -e s .env", Effect::ReadOnly, &[".env"], &[]),
        ("grep -f .env x", Effect::ReadOnly, &[".env", "x"], &[]),
        ("grep -f.env x", Effect::ReadOnly, &[".env", "x"], &[]),
        ("grep --file=.env x", Effect::ReadOnly, &[".env", "x"], &[]),
        ("grep -rn TODO", Effect::ReadOnly, &["."], &[]),
        ("grep TODO", Effect::ReadOnly, &[], &[]),
        // Expansion of the name pattern gives the search pattern and the files.
        ("grep * x", Effect::ReadOnly, &["*", "x"], &[]),
        // Behind `--` nothing is an option.
        ("cat -n -- -n -", Effect::ReadOnly, &["-n"], &[]),
        ("rm -- -rf", Effect::FileChange, &[], &["-rf"]),
        ("rg TODO", Effect::ReadOnly, &["."], &[]),
        ("rg TODO src", Effect::ReadOnly, &["src"], &[]),
        ("ls", Effect::ReadOnly, &["."], &[]),
        ("ls *.rs", Effect::ReadOnly, &["*.rs"], &[]),
        ("echo /etc/*", Effect::ReadOnly, &["/etc/*"], &[]),
        ("find src -name x -newer y", Effect::ReadOnly, &["src", "y"], &[]),
        ("sed -n 1,5p a", Effect::ReadOnly, &["a"], &[]),
        ("cat < a", Effect::ReadOnly, &["a"], &[]),
        ("echo hi > out.txt", Effect::ReadOnly, &[], &["out.txt"]),
        ("echo hi >> out.txt 2> err", Effect::ReadOnly, &[], &["out.txt", "err"]),
        ("xxd -c8 a", Effect::ReadOnly, &["a"], &[]),
        ("xxd -", Effect::ReadOnly, &[], &[]),
        ("printf '%-5.2f%%%s' 1 a", Effect::ReadOnly, &[], &[]),
        ("test a -nt b", Effect::ReadOnly, &["a", "b"], &[]),
        ("test a", Effect::ReadOnly, &[], &[]),
        ("> out.txt", Effect::ReadOnly, &[], &["out.txt"]),
        ("ls > /dev/null 2>&1", Effect::ReadOnly, &["."], &[]),
        ("cd src", Effect::ChangeDirectory, &["src"], &[]),
        ("test -f /etc/passwd", Effect::ReadOnly, &["/etc/passwd"], &[]),
        ("touch src/q", Effect::FileChange, &[], &["src/q"]),
        ("mkdir -p a/b c", Effect::FileChange, &[], &["a/b", "c"]),
        ("rm -rf x", Effect::FileChange, &[], &["x"]),
        ("rmdir a/b", Effect::FileChange, &[], &["a/b"]),
        ("rmdir -p a/b/c", Effect::FileChange, &[], &["a", "a/b", "a/b/c"]),
        ("rmdir --parents /a/b", Effect::FileChange, &[], &["/a", "/a/b"]),
        ("mkdir -p /a/b", Effect::FileChange, &[], &["/a/b"]),
        // Another version takes the words behind the first file for files.
        ("mkdir a -m 755", Effect::FileChange, &[], &["a", "755"]),
        ("mv a b", Effect::FileChange, &["a"], &["b", "a", "b/a"]),
        ("cp evil/.bashrc .", Effect::FileChange, &["evil/.bashrc"], &[".", "./.bashrc"]),
        ("cp -t d a", Effect::FileChange, &["a"], &["d", "d/a"]),
        ("cp a", Effect::Unknown, &["a"], &[]),
        ("cp a ''", Effect::Unknown, &["a"], &[]),
        ("sed -i s/a/b/ f", Effect::FileChange, &["f"], &["f"]),
        ("git notes", Effect::Git, &[], &[]),
        ("git notes list", Effect::Git, &[], &[]),
        ("git notes show HEAD", Effect::Git, &[], &[]),
        ("git show HEAD:.env", Effect::Git, &["HEAD:.env", ".env"], &[]),
        ("git log -L 1,5:.env", Effect::Git, &[".env"], &[]),
        ("git log -S a:.env", Effect::Git, &[], &[]),
        ("git grep x", Effect::Git, &["x", "."], &[]),
        ("git status", Effect::Git, &["."], &[]),
        ("git ls-files", Effect::Git, &["."], &[]),
        ("git log", Effect::Git, &[], &[]),
        ("git reflog show main", Effect::Git, &["main"], &[]),
        ("tar tf x.tar a", Effect::ReadOnly, &["x.tar"], &[]),
        ("tar tf -", Effect::ReadOnly, &[], &[]),
        ("zcat - x.gz", Effect::ReadOnly, &["x.gz"], &[]),
        ("zipinfo x.jar", Effect::ReadOnly, &["x.jar", "x.jar.zip", "x.jar.ZIP"], &[]),
        ("awk 1 a=1 x", Effect::ReadOnly, &["x"], &[]),
        ("curl -o x http://y", Effect::Network, &["x", "http://y"], &[]),
        ("python3 x.py", Effect::Unknown, &["x.py"], &[]),
        ("deploy --config=.env a= ''", Effect::Unknown, &[".env", "a="], &[]),
    ];
    for (text, effect, reads, writes) in table {
        let classes = classes(text);
        assert_eq!(classes.len(), 1, "{text}");
        assert_eq!(
            (classes[0].effect, paths(&classes[0].reads), paths(&classes[0].writes)),
            (*effect, reads.to_vec(), writes.to_vec()),
            "{text}"
        );
    }
}

#[test]
fn tests_and_formats_in_another_form_are_unknown() {
    for text in ["test '' -nt b", "test a -nt ''", "test -x", "printf '%n' a", "printf", "xxd -cx a", "xxd ''"] {
        let effects: Vec<Effect> = classes(text).iter().map(|class| class.effect).collect();
        assert_eq!(effects, [Effect::Unknown], "{text}");
    }
}

/// Only the plainest form of a program that starts another is seen through.
#[test]
fn programs_that_start_others_in_another_form_are_unknown() {
    for (text, effect) in [
        ("timeout 5 grep a b", Effect::ReadOnly),
        ("time -p grep a b", Effect::ReadOnly),
        ("nice -n 5 grep a b", Effect::ReadOnly),
        ("nice -n x grep a b", Effect::Unknown),
        ("nice -x 5 grep a b", Effect::Unknown),
        ("timeout x grep a b", Effect::Unknown),
        ("timeout -s 9 grep a b", Effect::Unknown),
        ("seq -1 3", Effect::ReadOnly),
        ("seq -.5 3", Effect::Unknown),
        ("seq -1x 3", Effect::Unknown),
        ("awk '{print}' a", Effect::ReadOnly),
        ("awk '{print}' a -f b", Effect::Unknown),
        ("awk '{print}' a -F : b", Effect::Unknown),
    ] {
        let effects: Vec<Effect> = classes(text).iter().map(|class| class.effect).collect();
        assert_eq!(effects, [effect], "{text}");
    }
}

/// Moves and copies of trees read or write everything in a directory.
#[test]
fn what_moves_and_copies_trees_is_about_all_in_them() {
    for (text, recursive) in [("mv a b", true), ("cp -r a b", true), ("cp -a a b", true), ("cp a b", false)] {
        for class in classes(text) {
            let operands = || class.reads.iter().chain(&class.writes);
            assert!(operands().count() >= 3 && operands().all(|path| path.recursive == recursive), "{text}: {class:?}");
        }
    }
    for class in classes("git show HEAD:dir") {
        assert!(class.reads.iter().all(|path| path.recursive), "{class:?}");
    }
}

/// Returns two flags for each path: it is a pattern, and everything below it is touched.
#[test]
fn says_of_paths_what_they_stand_for() {
    type Expected = [(&'static str, bool, bool)];
    let table: &[(&str, &Expected)] = &[
        ("ls *.rs src", &[("*.rs", true, false), ("src", false, false)]),
        ("ls", &[(".", false, false)]),
        ("ls -R src", &[("src", false, true)]),
        ("ls --recursive", &[(".", false, true)]),
        ("grep x a", &[("a", false, false)]),
        ("grep -r x a*", &[("a*", true, true)]),
        ("rg x src", &[("src", false, true)]),
        ("diff a b", &[("a", false, true), ("b", false, true)]),
        ("rm x", &[("x", false, false)]),
        ("rm -r x*", &[("x*", true, true)]),
        ("rm --recursive x", &[("x", false, true)]),
        ("rmdir -p a*/b", &[("a*", true, false), ("a*/b", true, false)]),
        ("touch -r a b", &[("a", false, false), ("b", false, false)]),
        ("git show HEAD:a", &[("HEAD:a", false, true), ("a", false, true)]),
        ("git show HEAD:*.rs", &[("HEAD:*.rs", true, true), ("*.rs", true, true)]),
        ("deploy --config=a", &[("a", false, false)]),
        ("deploy --config=*.toml", &[("*.toml", true, false), ("--config=*.toml", true, true)]),
        ("deploy src/*.rs", &[("src/*.rs", true, true)]),
    ];
    for (text, expected) in table {
        let classes = classes(text);
        let touched = classes.iter().flat_map(|class| class.reads.iter().chain(&class.writes));
        let touched: Vec<_> = touched.map(|path| (path.path.as_str(), path.glob, path.recursive)).collect();
        assert_eq!(touched, expected.to_vec(), "{text}");
    }
}

#[test]
fn directories_removed_with_many_parents_are_unknown() {
    for (above, parents, effect) in [
        ("", 32, Effect::FileChange),
        ("/", 32, Effect::FileChange),
        ("", 33, Effect::Unknown),
        ("/", 33, Effect::Unknown),
        ("/", 2_000, Effect::Unknown),
    ] {
        let text = format!("rmdir -p {above}{}b", "a/".repeat(parents));
        assert_eq!(classes(&text).iter().map(|class| class.effect).collect::<Vec<_>>(), [effect], "{text}");
    }
}

#[test]
fn only_what_reads_and_writes_nothing_is_read_only() {
    for (text, read_only) in [
        ("ls", true),
        ("ls 2> /dev/null", true),
        ("ls > x", false),
        ("git status", false),
        ("cd src", false),
        ("touch x", false),
        ("deploy", false),
    ] {
        assert_eq!(classes(text).iter().map(Classification::is_read_only).collect::<Vec<_>>(), [read_only], "{text}");
    }
}

#[test]
fn sed_scripts_that_are_harmless() {
    for script in [
        "1,5p",
        "5q",
        "$d",
        "/a/,/b/p",
        "s/a/b/g",
        "s|a|b|",
        "1~2p",
        "2,+3p",
        "2,~4p",
        "/x/!d",
        "1p;3p",
        "s/[0-9]*//",
        "$!N",
        "=",
        "s/a\\/b/c/",
        "{p}",
        "1,5{p;p}",
        "/a/{n;p}",
        "/a/{/b/{p};d}",
        "\\|/usr|p",
        ":a;N;$!ba;s/\\n/ /g",
        "5i\\text",
        "a\\\ntext\np",
        "1c new",
        "F",
        "l",
        "s|[^/]*$||",
        "s/[][]//g",
        "s/[[:space:]]*$/[/",
        "y/[]/()/",
        "s/[\\/]/x/",
        "s/a/b\\/c/",
        "{p }",
    ] {
        assert!(sed::is_harmless(script), "{script}");
    }
}

#[test]
fn sed_scripts_that_are_not_covered() {
    for script in [
        "2,+/x/p",
        "w x",
        "1w x",
        "s/a/b/w x",
        "s/a/b/e",
        "e",
        "1e ls",
        "r x",
        "R x",
        "W x",
        "p w x",
        "p;w x",
        "{w x",
        "{p;w x}",
        "{p}}",
        "{p",
        "a",
        "a\\",
        "a\\\n",
        "a x\nw y",
        "a x\\\ny\nw z",
        "i\\\nx\\\nw z",
        "\\|x|w y",
        "\\nxnp",
        ":a;w x",
        ":",
        "bx;e",
        "y/a/b/w",
        // The end of a bracket differs among versions, and with it the end of the pattern.
        "s/[]/x/;w y/]/z/",
        "s/[^]/x/;w y/]/z/",
        "s/[[]/]/x/w y",
        "s|[|]|x|",
        "s/[[:a]/x/",
        "s/[[.a.]/x/",
        "s/[\\]/w x/;p",
        "s[a[w x[",
        "s/a/b/gew",
        "s/[/]/w x/",
        "p}",
        "s/a",
        "/x",
        "s\na\nb\n",
        "s/a\nb/c/",
        "s/a/b\nc/",
        "/a\nb/p",
        "y/a/b\n/",
        "{p p}",
        "1}",
    ] {
        assert!(!sed::is_harmless(script), "{script}");
    }
}

#[test]
fn awk_programs() {
    for program in [
        "{print $1}",
        "NR==1",
        "NR>1 {print $2, $NF}",
        "/a b/ {print}",
        "{s+=$1} END {print s}",
        "$3 ~ /x/ && NF>2",
        "{print $1 \":\" $2}",
        "length($0) > 80",
        "!seen[$0]++",
        "{printf \"%s\\n\", $1}",
        "BEGIN{FS=\",\"} {print $1}",
        "END {print s/NR}",
        "{print ($1+$2)/2, a[$1]/c, $5/1024/1024}",
        "{if ($1 > 5) print $0; else print \"no\"}",
        "{for(i=NR;i>0;i--) print a[i]}",
        "/[[:space:]]*[^a-z]/ {print}",
        "END {print sqrt(s/NR-(t/NR)^2)}",
        "{print x / 2, length(y) / 2, NF/2}",
        "NR == 1 || /x/",
        "{print $1 * 1.5 / 2}",
        "{print \"a\\\"b\"}",
        "/[\\/]/ {print}",
        "NR == 1\n/a\"b/ {print}",
    ] {
        assert!(awk::is_harmless(program), "{program}");
    }
    for program in [
        "{print > \"f\"}",
        "{print | \"sh\"}",
        "BEGIN{system(\"x\")}",
        "{\"x\" | getline}",
        "{getline < \"f\"}",
        "@load \"x\"",
        "{print ENVIRON[\"A\"]}",
        "function f(){}",
        "{print a / x > \"f\" / b}",
        "/[/]/",
        // The end of a bracket differs among versions, and with it the end of the pattern.
        "/[[:alpha:]/ && \"]|h/{system(c)} #\"",
        "/[]/ && \"]/{system(c)} #\"",
        "/[^]/ && \"]/{system(c)} #\"",
        "{if (x) /\"/; y = \"/; system(c); /\"/}",
        "{while (x)\n/\"/; y = \"/; system(c); /\"/}",
        "{switch (x) {case /\"/: y = \"/; system(c); /\"/}}",
        "{return /\"/; y = \"/; system(c); /\"/}",
        "{print /\"/; y = \"/; system(c); /\"/}",
        // Behind a word of the language it is a pattern.
        "{print /\"/; system(c) #\"\n}",
        "{printf /\"/; system(c) #\"\n}",
        "{exit /\"/; system(c) #\"\n}",
        "{if (x) y; else /\"/; system(c) #\"\n}",
        "{do /\"/; while (system(c)) #\"\n}",
        "{x in /\"/; system(c) #\"\n}",
        // A line end ends a possible division, and a backslash keeps a text from ending.
        "x\n/\"/{system(c)} #\"",
        "{print \"\\\"\"; system(\"c\") #\"\n}",
        "{print \"a\nb\"}",
        "/[\\\n]/",
        "{print (1) > \"f\"}",
        "{print(1)>\"f\"}",
        "{print a[1 > \"f\"]}",
        "{(print >> \"f\")}",
        "({print > \"f\"})",
        "{print) > \"f\"(}",
        "{print a/b > \"f\"}",
        "]/\"/",
        "{close(\"x\")}",
        "{print >> \"f\"}",
        "{print |& \"f\"}",
        "#",
        "{@f()}",
        "{print $1",
        "{fflush()}",
        "\"x",
    ] {
        assert!(!awk::is_harmless(program), "{program}");
    }
}

#[test]
fn every_name_that_is_read_is_judged_by_name() {
    // The names stand in the function that reads them: a test fails for one that is not in the list.
    let source = include_str!("../classify.rs");
    let start = source.find("fn program(words").unwrap();
    let end = source.get(start..).unwrap().find("\n}\n").unwrap() + start;
    let names = source.get(start..end).unwrap().split('"').skip(1).step_by(2);
    let missing: Vec<&str> = names.filter(|name| !is_judged_by_name(name)).collect();
    assert_eq!(missing, Vec::<&str>::new());
    for name in ["ls", "grep", "rg", "fd", "curl", "zstdcat", "sudo", "cat"] {
        assert!(is_judged_by_name(name), "{name}");
    }
    for name in ["deploy", "ll", "", "nvm"] {
        assert!(!is_judged_by_name(name), "{name}");
    }
}

#[test]
fn loops_over_patterns_test_and_hand_on_their_names() {
    for (line, reads) in [
        ("for f in *.md; do [ -f \"$f\" ] && wc -l \"$f\"; done", true),
        ("for f in src/*.rs; do [ ! -e \"$f\" ] || head -1 \"$f\"; done | sort", true),
        ("for f in *.md; do test -s \"$f\" && cat \"$f\"; done | grep x | wc -l", true),
        ("for f in a b; do wc -l $f; done | sort -n", true),
        ("[ -f *.md ]", false),
        ("for f in *.md; do [ -v \"$f\" ]; done", false),
        ("for f in *.md; do [ \"$f\" -eq 1 ]; done", false),
        ("for f in *.md; do [ -f $f ]; done", false),
    ] {
        let analysis = analyse(line);
        let is_read = analysis
            .understood()
            .is_ok_and(|line| line.commands().iter().all(|command| command.classify().effect == Effect::ReadOnly));
        assert_eq!(is_read, reads, "{line}: {:?}", analysis.understood());
    }
}
