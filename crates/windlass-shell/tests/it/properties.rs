//! Properties of the analysis over generated texts.
//!
//! `WINDLASS_PROPERTY_CASES` is how many texts each is tried with; default: 1,500.

use proptest::prelude::*;
use windlass_shell::{DenyMatch, MAX_CHARS, analyse, catastrophic, parse_rule_pattern, suggest_rule};

/// Any text, with many characters that are special to shells.
fn text() -> impl Strategy<Value = String> {
    let piece = prop_oneof![
        prop::sample::select(vec![
            "$(",
            ")",
            "`",
            "\"",
            "'",
            "${",
            "}",
            "{",
            "((",
            "))",
            "<<E\n",
            "\nE\n",
            "<<-'E'",
            "<(",
            ">",
            ">>",
            "2>&1",
            "|",
            "||",
            "&&",
            "&",
            ";",
            ";;",
            "\n",
            "\\",
            "\\\n",
            "if ",
            "then ",
            "fi",
            "case x in ",
            "esac",
            "for i in ",
            "do ",
            "done",
            "function f ",
            "f() ",
            "[[ ",
            "]]",
            "eval ",
            "bash -c ",
            "timeout 5 ",
            "env -S ",
            "find . -exec ",
            "xargs ",
            "sudo ",
            "$'",
            "\\x41",
            "$((",
            "rm -rf /",
            "sort -ro",
            "sed -ne 'w ",
            "git -C a log --outp=",
            "curl -O ",
            "awk '{print>\"",
            "python3 -c ",
            "{a,b}",
            "!(",
            "coproc ",
            "watch ",
            "parallel ",
            "unshare ",
            "time ",
            "#",
            "~",
            "*",
            "a=",
            "a[",
            "]=",
            "=(",
        ])
        .prop_map(str::to_owned),
        "[a-z /.$-]{0,5}",
        any::<char>().prop_map(|c| c.to_string()),
    ];
    prop::collection::vec(piece, 0..24).prop_map(|parts| parts.concat())
}

/// Returns a command whose removal must be found.
fn removal() -> impl Strategy<Value = String> {
    prop::sample::select(vec![
        "rm x",
        "/bin/rm -rf x",
        "\\rm x",
        "r\"m\" x",
        "FOO=1 rm x",
        "timeout 5 rm x",
        "rm x > y",
        "'rm' \"a b\"",
        "rm $X",
        "bash -c 'rm x'",
    ])
    .prop_map(str::to_owned)
}

fn wrap(kind: usize, command: &str) -> String {
    let quoted = command.replace('\'', "'\\''");
    // The first line that is the delimiter ends a here-document, also one of a command in it.
    let mut end = "E".to_owned();
    while command.contains(&end) {
        end.push('E');
    }
    match kind {
        0 => format!("x && {command}"),
        1 => format!("echo $( {command} )"),
        2 => format!("timeout 5 bash -c '{quoted}'"),
        3 => format!("FOO=1 bash -c '{quoted}'"),
        4 => format!("bash -c '{quoted}'"),
        5 => format!("if a; then {command}; fi"),
        6 => format!("for i in a b; do {command}; done"),
        7 => format!("( {command} )"),
        8 => format!("{{ {command}; }}"),
        9 => format!("echo \"$( {command} )\""),
        10 => format!("cat <<{end}\n$( {command} )\n{end}"),
        11 => format!("case a in a) {command};; esac"),
        12 => format!("f() {{ {command}; }}; f"),
        13 => format!("while {command}; do :; done"),
        14 => format!("{command} | cat"),
        15 => format!("cat <({command})"),
        16 => format!("eval '{quoted}'"),
        17 => format!("{command} &"),
        18 => format!("echo a # b\n{command}"),
        19 => format!("echo ${{x:-$( {command} )}}"),
        20 => format!("true\n\n{command}\n"),
        21 => format!("cat <<'{end}'\nit's\n{end}\n{command}"),
        22 => format!("xargs sh -c '{quoted}'"),
        _ => format!("! {command}"),
    }
}

fn is_denied(text: &str) -> bool {
    let rule = parse_rule_pattern("rm:*");
    analyse(text).found().iter().any(|c| rule.matches_deny(c) == DenyMatch::Yes)
}

fn cases() -> u32 {
    crate::bash_words::from_environment("WINDLASS_PROPERTY_CASES").unwrap_or(1_500)
}

proptest! {
    #![proptest_config(ProptestConfig { cases: cases(), failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn any_text_has_an_answer(text in text()) {
        let analysis = analyse(&text);
        let _ = catastrophic(&analysis, "/w".as_ref(), "/home/me".as_ref(), &|_| None);
        for command in analysis.understood().iter().flat_map(|understood| understood.commands()) {
            let rule = suggest_rule(command);
            prop_assert!(rule.is_none_or(|rule| parse_rule_pattern(&rule).matches_allow(command)));
        }
        for command in analysis.understood().map(|u| u.commands()).unwrap_or_default() {
            let _ = command.classify();
            prop_assert!(text.contains(command.source()));
        }
        let pattern = parse_rule_pattern(&text);
        for command in analysis.found() {
            let _ = pattern.matches_deny(command);
            let _ = command.outputs();
        }
        prop_assert_eq!(analyse(&text), analysis);
    }

    #[test]
    fn what_is_understood_is_found(text in text()) {
        let analysis = analyse(&text);
        for command in analysis.understood().map(|u| u.commands()).unwrap_or_default() {
            let words: Vec<&str> = command.words().iter().map(|w| w.text()).skip_while(|w| matches!(*w, "time" | "-p")).collect();
            let found = analysis.found().iter().any(|f| f.words().iter().map(|w| w.text()).eq(words.iter().copied()));
            prop_assert!(words.is_empty() || found, "{:?}: {:?}", text, words);
        }
    }

    #[test]
    fn a_deny_survives_wrapping(command in removal(), kinds in prop::collection::vec(0usize..24, 0..4)) {
        let mut text = command;
        for kind in kinds {
            // A here-document or a comment inside a one-line form needs its line ends.
            text = wrap(kind, &text);
            if text.trim_end_matches('E').ends_with('\n') {
                text.push('\n');
            }
            if text.ends_with(['&', '\n']) {
                text.push_str("true");
            }
        }
        prop_assert!(is_denied(&text), "{:?}: {:?}", text, analyse(&text).found());
    }
}

#[test]
fn large_and_deep_texts_are_answered_quickly() {
    let repeat = |part: &str| part.repeat(60_000usize.div_ceil(part.len()));
    let start = std::time::Instant::now();
    for part in [
        "$(",
        "`",
        "\\`",
        "(",
        "{",
        "((",
        "$((",
        "\"$(",
        "${a:-",
        "'",
        "timeout 5 ",
        "nice ",
        "sudo -X ",
        "unshare ",
        "parallel a ",
        "env -S ",
        "<<E ",
        "<<E\n",
        "{a,",
        "{a,b}",
        "eval ",
        "bash -c '",
        "a b ",
        "a;",
        "a|",
        "if ",
        "case x in ",
        "f() { ",
        "find . -exec ",
        "!(",
        "x=(",
        "[[ ",
        "watch ",
        "$[",
        "coproc ",
        "\\\n",
        "$'\\x",
        "a=$(",
        "for i in ",
        "<(",
        "su -c 'a b' ",
    ] {
        let text = repeat(part);
        let analysis = analyse(&text);
        assert!(analysis.understood().is_err(), "{part}");
        assert_eq!(catastrophic(&analysis, "/w".as_ref(), "/home/me".as_ref(), &|_| None), None, "{part}");
    }
    // Quadratic behaviour would take minutes here; the bound is far from the time of a slow machine.
    assert!(start.elapsed().as_secs() < 60, "{:?}", start.elapsed());
}

#[test]
fn long_texts_are_not_understood_but_searched() {
    let text = format!("echo {}; rm x", "a".repeat(MAX_CHARS));
    assert!(analyse(&text).understood().is_err());
    assert!(is_denied(&text));
    let text = format!("echo {}; rm x", "a".repeat(300_000));
    assert!(analyse(&text).undecided().is_some());
}
