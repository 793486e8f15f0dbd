//! Words, expansions and their surroundings, one table for each subject.

use std::path::Path;

use super::{scan, sink::FindingSink};
use crate::{RedirectKind, Undecided, Word, WordKind, analyse, catastrophic};

/// Returns the commands of a text, each with its words joined by blanks.
fn found(text: &str) -> Vec<String> {
    scan(text).found.iter().map(|command| command.text()).collect()
}

/// Each text is decided, and has exactly these commands.
fn assert_exactly(cases: &[(&str, &[&str])]) {
    for (text, expected) in cases {
        assert_eq!(found(text), *expected, "{text}");
        assert_eq!(scan(text).undecided, None, "{text}");
    }
}

/// Returns the first argument of the first command.
fn argument(text: &str) -> Word {
    scan(text).found[0].words()[1].clone()
}

#[test]
fn escapes_of_ansi_quotes_are_the_characters_they_stand_for() {
    for (escape, expected) in [
        (r"\a", "\u{7}"),
        (r"\b", "\u{8}"),
        (r"\e", "\u{1b}"),
        (r"\E", "\u{1b}"),
        (r"\f", "\u{c}"),
        (r"\n", "\n"),
        (r"\r", "\r"),
        (r"\t", "\t"),
        (r"\v", "\u{b}"),
        (r"\\", "\\"),
        (r"\'", "'"),
        (r#"\""#, "\""),
        (r"\?", "?"),
        (r"\q", "\\q"),
        (r"\x63at", "cat"),
        (r"\143at", "cat"),
        (r"\0143", "\u{c}3"),
        (r"\177", "\u{7f}"),
        (r"\xg", "\\xg"),
        (r"\ug", "\\ug"),
        (r"\U", "\\U"),
        (r"a\c", "a\\c"),
        (r"\u0063at", "cat"),
        (r"\U00000063at", "cat"),
        (r"\U1F680", "\u{1f680}"),
        (r"\cA", "\u{1}"),
        (r"\c[", "\u{1b}"),
    ] {
        let text = format!("echo $'{escape}'");
        assert_eq!(argument(&text).as_literal(), Some(expected), "{text}");
    }
    assert_exactly(&[
        (r"$'\x63at' .env", &["cat .env"]),
        (r"$'\143\u0061\U00000074' $'\56env'", &["cat .env"]),
        (r"$'it\'s'; rm a", &["it's", "rm a"]),
        (r"echo $'\\'; rm a", &["echo \\", "rm a"]),
        // A control character takes no quote with it, and a backslash only the character that it hides.
        (r"echo $'\c'; rm a; echo 'b' # '", &["echo \\c", "rm a", "echo b"]),
        (r"echo $'\c\\'; rm a; echo 'b' # '", &["echo $(..)", "rm a", "echo b"]),
        (r"echo $'\c\'c'; rm a", &["echo $(..)c", "rm a"]),
    ]);
}

/// Bash turns these escapes into a byte, or ends the text, so that the name differs from the readable one.
#[test]
fn escapes_that_are_no_character_leave_the_word_unknown() {
    for escape in [
        r"\x{72}m",
        r"\x{172}m",
        r"\562m",
        r"\400",
        r"\xc3\xa9",
        r"\c?",
        r"\cé",
        r"\ud800",
        r"rm\0z",
        r"rm\x0z",
        r"rm\u0000z",
        r"rm\c@z",
    ] {
        let text = format!("echo $'{escape}'");
        assert_eq!(argument(&text).kind(), WordKind::Dynamic, "{text}");
        assert!(scan(&format!("$'{escape}' a")).undecided.is_some(), "{text}");
    }
    // The text that a NUL ends may be anywhere in the line.
    assert_eq!(scan(r"echo $'a\0b'").undecided, Some(Undecided::Malformed));
}

/// The brackets of an element are its own: `<<` behind them shifts and begins no here-document.
#[test]
fn old_arithmetic_ends_at_its_own_bracket() {
    assert_exactly(&[
        ("echo $[a[0] + 1 <<2 ]\nrm a", &["echo $(..)", "rm a"]),
        ("echo $[ a[b[0]] <<2 ] c\nrm a", &["echo $(..) c", "rm a"]),
        ("echo $[1]b; rm a", &["echo $(..)b", "rm a"]),
        ("echo $[a[`rm a`]]", &["rm a", "echo $(..)"]),
    ]);
    for text in ["echo $[ a[']'] ]; rm a", "echo $[ \"1\" ]; rm a", "echo $[ a[0 ]; rm a"] {
        assert_eq!(scan(text).undecided, Some(Undecided::Malformed), "{text}");
    }
}

#[test]
fn quotes_in_braces_and_in_patterns_hide_only_what_they_enclose() {
    assert_exactly(&[
        (r#"echo ${x:-"}"}; rm a; echo "b""#, &["echo $(..)", "rm a", "echo b"]),
        (r"echo ${x:-'}'}; rm a; echo 'b'", &["echo $(..)", "rm a", "echo b"]),
        (r"echo ${x:-\'}; rm a; echo \'", &["echo $(..)", "rm a", "echo '"]),
        (r"echo ${x:-\} ; rm a}", &["echo $(..)"]),
        ("ls x@('a)'|b) y", &["ls x@$(..) y"]),
        (r#"ls x@("a)"|b) y"#, &["ls x@$(..) y"]),
    ]);
    // In double quotes an apostrophe is a character, and the text behind it runs.
    for text in [r#"echo "${x:-'$(rm a)'}""#, r#"echo "${x:-'`rm a`'}""#] {
        assert!(found(text).contains(&"rm a".to_owned()), "{text}");
        assert_eq!(scan(text).undecided, Some(Undecided::Malformed), "{text}");
    }
    assert_exactly(&[
        (r#"echo "$'$(rm a)'""#, &["rm a", "echo $'$(..)'"]),
        (r#"echo "$'" $(rm a) "'""#, &["rm a", "echo $' $(..) '"]),
    ]);
}

#[test]
fn groups_of_patterns_belong_to_their_word() {
    assert_exactly(&[
        ("ls x@(a|b) y", &["ls x@$(..) y"]),
        ("ls x*(a|b) y?(c) z", &["ls x*$(..) y?$(..) z"]),
        ("ls x+(a|!(b|c)) y", &["ls x+$(..) y"]),
        ("ls x!($(rm a)) y", &["rm a", "ls x!$(..) y"]),
    ]);
    assert!(!argument("ls x@(a|b)").is_literal());
    // At the beginning of a word it may be a subshell instead, and without an end it is no group.
    for text in ["ls *(rm a)", "ls x(rm a)", "ls x@(a|b"] {
        assert_eq!(scan(text).undecided, Some(Undecided::Malformed), "{text}");
    }
    assert!(found("ls *(rm a)").contains(&"rm a".to_owned()));
}

#[test]
fn backquotes_end_and_keep_some_backslashes() {
    assert_exactly(&[
        ("echo `ls a`; rm b", &["ls a", "echo $(..)", "rm b"]),
        (r"echo `ls a\ b`", &["ls a b", "echo $(..)"]),
        (r#"echo "`ls a\ b`""#, &["ls a b", "echo $(..)"]),
        (r#"echo `ls \"a b\"`"#, &["ls \"a b\"", "echo $(..)"]),
        (r#"echo "`ls \"a b\"`""#, &["ls a b", "echo $(..)"]),
        (r"echo `echo \`rm b\``", &["rm b", "echo $(..)", "echo $(..)"]),
    ]);
    let words = |text: &str| scan(text).found[0].words().len();
    for (text, expected) in [
        (r"echo `ls a\ b`", 2),
        (r#"echo "`ls a\ b`""#, 2),
        (r#"echo `ls \"a b\"`"#, 3),
        (r#"echo "`ls \"a b\"`""#, 2),
        (r"echo `ls a\\ b`", 2),
    ] {
        assert_eq!(words(text), expected, "{text}");
    }
}

#[test]
fn dollar_signs_begin_an_expansion_only_before_its_name() {
    for name in ["a", "A1", "_", "_a", "1", "@", "*", "#", "?", "$", "!", "-", "{a}", "[1 + (2 > 1)]", "((1 + (2)))"] {
        let text = format!("echo ${name}");
        assert_eq!(argument(&text).kind(), WordKind::Dynamic, "{text}");
        assert_eq!((found(&text).len(), scan(&text).found[0].words().len()), (1, 2), "{text}");
        assert_eq!(scan(&format!("${name} a")).undecided, Some(Undecided::Program), "{text}");
    }
    for (text, expected) in [
        ("grep end$ f", "end$"),
        ("grep a$/b f", "a$/b"),
        ("grep \"a$\" f", "a$"),
        ("grep $= f", "$="),
        ("grep $é f", "$é"),
    ] {
        assert_eq!(argument(text).as_literal(), Some(expected), "{text}");
        assert_eq!(scan(text).undecided, None, "{text}");
    }
    assert_eq!(argument("echo $_a-b").text(), "$_a-b");
    assert_eq!(argument("echo $1a").text(), "$1a");
}

#[test]
fn quotes_in_arithmetic_are_not_decided() {
    for text in ["echo $(( \"$(rm a)\" ))", "(( x['$(rm a)'] ))", "for (( i = \"`rm a`\"; i < 1; i++ )); do ls; done"] {
        assert!(found(text).contains(&"rm a".to_owned()), "{text}");
        assert_eq!(scan(text).undecided, Some(Undecided::Malformed), "{text}");
    }
}

#[test]
fn process_substitutions_are_arguments() {
    assert_exactly(&[
        ("cat <(rm a) b", &["rm a", "cat $(..) b"]),
        ("tee >(rm a) b", &["rm a", "tee $(..) b"]),
        ("cat x<(rm a)", &["rm a", "cat x$(..)"]),
        ("[[ a < b && c > d ]] && rm a", &["rm a"]),
    ]);
    assert!(found("[[ -f <(rm a) ]]").contains(&"rm a".to_owned()));
    assert_eq!(scan("<(rm a)").undecided, Some(Undecided::Program));
}

#[test]
fn a_tilde_stands_for_a_home_directory_only_at_the_beginning() {
    for (text, is_literal) in
        [("git show HEAD~1", true), ("ls a~/b", true), ("ls ~", false), ("ls ~/b", false), ("ls '~/b'", true)]
    {
        assert_eq!(scan(text).found[0].words().last().unwrap().is_literal(), is_literal, "{text}");
    }
    // The name of the user is a part of it.
    let is_one = |text: &str| {
        catastrophic(&analyse(text), Path::new("/srv/a/b/c"), Path::new("/srv/people/me"), &|_| None).is_some()
    };
    for (text, expected) in
        [("rm -rf ~root", true), ("rm -rf ~a-b.c+d_1", true), ("rm -rf ~+", true), ("rm -rf ~/x", false)]
    {
        assert_eq!(is_one(text), expected, "{text}");
    }
}

#[test]
fn ranges_in_braces_make_words_only_without_quotes() {
    for (text, is_literal) in
        [("ls x{1..3}", false), ("ls {a..c}", false), (r"ls {1\..3}", true), ("ls {1.'.'3}", true), ("ls {a.c}", true)]
    {
        assert_eq!(argument(text).is_literal(), is_literal, "{text}");
    }
}

#[test]
fn an_alternative_in_braces_that_is_empty_is_no_word() {
    assert_exactly(&[
        ("{,rm} a", &["rm a"]),
        ("{,,}{,} rm a", &["rm a"]),
        ("{,} {,}", &[""]),
        ("{,sudo} rm a", &["sudo rm a", "rm a"]),
        ("rm {,a} {,\"\"}", &["rm a "]),
        ("\"\"{,rm} a", &[" rm a"]),
    ]);
}

#[test]
fn braces_make_no_more_than_63_words_of_one() {
    for (count, expected) in [(63, None), (64, Some(Undecided::TooLarge))] {
        let text = format!("ls {{{}}}", vec!["a"; count].join(","));
        assert_eq!(scan(&text).undecided, expected, "{count}");
    }
}

#[test]
fn what_every_argument_of_a_word_begins_with() {
    for (text, prefix, cannot_be_option) in [
        ("ls a", "a", true),
        ("ls -a", "-a", false),
        ("ls '-a'", "-a", false),
        ("ls ''", "", true),
        ("ls *", "", false),
        ("ls a*", "a", true),
        ("ls -*", "-", false),
        ("ls $x", "", false),
        ("ls a$x", "a", true),
        ("ls a{b*", "a{b", true),
        ("ls }$x", "}", true),
        ("ls ,a?", ",a", true),
    ] {
        let word = argument(text);
        assert_eq!((word.literal_prefix().as_str(), word.cannot_be_option()), (prefix, cannot_be_option), "{text}");
    }
}

#[test]
fn redirections_with_an_ampersand_belong_to_the_command_before() {
    for (text, kind, target) in [
        ("ls &> f", RedirectKind::Write, "f"),
        ("ls &>> f", RedirectKind::Append, "f"),
        ("ls >& f", RedirectKind::Write, "f"),
        ("ls <&3", RedirectKind::Duplicate, "3"),
        ("ls <&-", RedirectKind::Duplicate, "-"),
        ("ls 2>&1", RedirectKind::Duplicate, "1"),
    ] {
        let scan = scan(text);
        let redirects: Vec<_> =
            scan.found.iter().flat_map(|one| one.redirects()).map(|one| (one.kind, one.target.text())).collect();
        assert_eq!((scan.found.len(), redirects.as_slice()), (1, [(kind, target)].as_slice()), "{text}");
        assert_eq!((scan.found[0].text().as_str(), scan.undecided), ("ls", None), "{text}");
    }
}

/// A variable in braces is the descriptor of the redirection behind it; other braces are words of the command.
#[test]
fn braces_before_a_redirection_are_words_unless_they_hold_a_name() {
    assert_exactly(&[
        ("{rm,a}>f", &["rm a"]),
        ("{rm,a}<f", &["rm a"]),
        ("cat {.env,a}>f", &["cat .env a"]),
        ("cat {.env,}>>f", &["cat .env"]),
        ("cat {a-b}>f", &["cat {a-b}"]),
        ("cat {1}>f", &["cat {1}"]),
        ("cat {1a}>f", &["cat {1a}"]),
        ("cat {}>f", &["cat {}"]),
        ("cat a1>f", &["cat a1"]),
        ("cat {a_1}>f", &["cat"]),
        ("cat {_}>f", &["cat"]),
        ("cat 12>f", &["cat"]),
        ("{a}>f rm b", &["rm b"]),
        ("cat 1>(rm a)", &["rm a", "cat 1$(..)"]),
        ("cat {a}<(rm a)", &["rm a", "cat {a}$(..)"]),
    ]);
    assert_eq!(scan("cat {a[1]}>f").undecided, Some(Undecided::Malformed));
    assert_eq!(scan("cat a[1]>f").undecided, None);
}

#[test]
fn a_pipe_hands_a_script_to_the_shell_behind_it() {
    for (text, expected) in [
        ("echo 'rm a' | sh", &["echo rm a", "sh", "rm a", "rm a"][..]),
        ("echo 'rm a' |& sh", &["echo rm a", "sh", "rm a", "rm a"]),
        ("echo 'rm a'; sh", &["echo rm a", "sh"]),
        ("echo 'rm a' & sh", &["echo rm a", "sh"]),
        ("echo 'rm a' || sh", &["echo rm a", "sh"]),
        ("curl 'rm a' | sh", &["curl rm a", "sh"]),
    ] {
        assert_eq!(found(text), expected, "{text}");
        assert_eq!(scan(text).undecided, Some(Undecided::Input), "{text}");
    }
}

#[test]
fn a_case_ends_at_its_esac() {
    assert_exactly(&[
        ("case a in b) ls;; a) cat b; esac; rm a", &["ls", "cat b", "rm a"]),
        ("case a in b) ls;; esac; rm a", &["ls", "rm a"]),
        ("case a in b) ls; esac; case c in (rm) cat d;; esac", &["ls", "cat d"]),
        ("case a in b) case c in d) ls; esac;; e) rm a; esac", &["ls", "rm a"]),
        ("echo $(case a in a) rm b; esac) c", &["rm b", "echo $(..) c"]),
    ]);
}

#[test]
fn bodies_of_functions_are_read_whatever_they_stand_in() {
    assert_exactly(&[
        ("function f (rm a)", &["rm a"]),
        ("function f() { rm a; }", &["rm a"]),
        ("function f() (rm a)", &["rm a"]),
        ("function f\n{ rm a; }", &["rm a"]),
    ]);
    for (text, expected) in [
        ("function f() { f | f; }; f", true),
        ("function f ( ) { f | f; }; f", true),
        ("function f (f | f); f", true),
        ("function f() { f & }; f", true),
        ("f() { ls | f; }; f", false),
        ("f() { f; f; }; f", false),
        ("f() { f || f; }; f", false),
    ] {
        assert_eq!(scan(text).fork_bomb, expected, "{text}");
    }
}

#[test]
fn only_names_are_assigned_to() {
    assert_exactly(&[
        ("a=b rm x", &["rm x"]),
        ("_a1+=b rm x", &["rm x"]),
        ("a[1]=b rm x", &["rm x"]),
        ("a[1]+=b rm x", &["rm x"]),
        ("=a rm x", &["=a rm x"]),
        ("1a=rm x", &["1a=rm x"]),
        ("a]+=b rm x", &["a]+=b rm x"]),
        ("a-b=c rm x", &["a-b=c rm x"]),
        ("a'b'=c rm x", &["ab=c rm x"]),
    ]);
    // The subscript ends at the first bracket for bash, so that these are commands with a path.
    for text in [
        "x[1]]=/../../bin/rm y",
        "x[1]]+=/../../bin/rm y",
        "x[a[1]]=b rm y",
        r#"a["]=b"]/rm y"#,
        "a[']=b']/rm y",
        r"a[\]=b]/rm y",
        "a[$(echo ]=)b]/rm y",
        "a[${x:-]=}b]/rm y",
        "a[`echo ]=`b]/rm y",
    ] {
        assert_eq!(scan(text).undecided, Some(Undecided::Malformed), "{text}");
    }
    assert_exactly(&[
        ("a[i]=x] rm y", &["rm y"]),
        ("a[i]+=[x] rm y", &["rm y"]),
        (r#"a["$i]"]=x rm y"#, &["rm y"]),
        ("a['i\"]']=x rm y", &["rm y"]),
        ("a=b[1]c rm y", &["rm y"]),
        ("a=(b)#c; rm y", &["rm y"]),
        ("a=(b); rm y", &["rm y"]),
        ("a=(b) #c; rm y", &[]),
        ("a+=(b c)d rm y", &["rm y"]),
    ]);
    assert_eq!(found("a[1]x rm y").first().map(String::as_str), Some("a[1]x rm y"));
    assert_eq!(scan("a[1]x rm y").undecided, Some(Undecided::Program));
}

#[test]
fn variables_whose_value_is_run_are_told_by_their_names() {
    for (text, runs) in [
        ("GIT_SSH_COMMAND='rm a' git fetch", true),
        ("GIT_EXTERNAL_DIFF='rm a' git diff", true),
        ("GIT_SSH='rm a' git fetch", true),
        ("GIT_AUTHOR_NAME='rm a' git commit", false),
        ("MY_COMMAND='rm a' ls", false),
        ("CARGO_TARGET_X_RUNNER='rm a' cargo run", true),
        ("CARGO_TARGET_X_LINKER='rm a' cargo build", true),
        ("CARGO_HOME='rm a' cargo build", false),
        ("TEST_RUNNER='rm a' ls", false),
    ] {
        assert_eq!(found(text).contains(&"rm a".to_owned()), runs, "{text}");
    }
}

#[test]
fn texts_that_make_evaluates_are_not_decided() {
    for (text, expected) in [
        ("make --eval='$(shell rm a)'", Some(Undecided::Script)),
        ("make --e='$(shell rm a)'", Some(Undecided::Script)),
        ("make -E '$(shell rm a)'", Some(Undecided::Script)),
        ("make '-E$(shell rm a)'", Some(Undecided::Script)),
        ("make '-kE$(shell rm a)'", Some(Undecided::Script)),
        ("make -ksE '$(shell rm a)'", Some(Undecided::Script)),
        ("make -kCE all", None),
        ("make -fE --jobs=2 all", None),
        ("make --jobs=2 all", None),
        ("make --WhatE all", None),
        ("make --evaluate", None),
        ("make -- all", None),
        ("make -e all", None),
    ] {
        assert_eq!(scan(text).undecided, expected, "{text}");
    }
}

#[test]
fn options_of_wrappers_take_their_values() {
    assert_exactly(&[
        ("timeout -k 3 5 rm a", &["timeout -k 3 5 rm a", "rm a"]),
        ("timeout -k3 5 rm a", &["timeout -k3 5 rm a", "rm a"]),
        ("nice -n 5 rm a", &["nice -n 5 rm a", "rm a"]),
        ("nice -n5 rm a", &["nice -n5 rm a", "rm a"]),
        ("timeout -v 5 rm a", &["timeout -v 5 rm a", "rm a"]),
        ("sudo -nH -u b rm a", &["sudo -nH -u b rm a", "rm a"]),
        // An option that is not known may have a value or none: each word behind it may be the program.
        ("timeout -Z 5 rm a", &["timeout -Z 5 rm a", "5 rm a", "rm a", "a"]),
        ("nice - rm a", &["nice - rm a", "- rm a"]),
        ("xargs -i rm a", &["xargs -i rm a", "rm a"]),
        ("xargs -I {} rm a", &["xargs -I {} rm a", "rm a"]),
    ]);
}

#[test]
fn a_budget_that_is_spent_refuses_what_is_left() {
    let mut sink = FindingSink::new(0);
    assert!(sink.pay(4_095) && sink.push(&[Word::literal("a")], Vec::new()));
    assert!(sink.pay(1), "the whole budget");
    assert!(!sink.push(&[Word::literal("b")], Vec::new()), "nothing is left to read it with");
    assert_eq!((sink.scan.found.len(), sink.scan.undecided), (1, Some(Undecided::TooLarge)));

    let mut sink = FindingSink::new(0);
    assert!(!sink.pay(4_097) && !sink.pay(1), "what is refused once is refused for good");
    assert_eq!((sink.char_fuel, sink.scan.undecided), (0, Some(Undecided::TooLarge)));
}
