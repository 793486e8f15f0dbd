use super::*;
use globset::GlobBuilder;
use proptest::prelude::*;

fn reach(pattern: &str, path: &str) -> Reach {
    let names: Vec<&str> = path.split('/').filter(|name| !name.is_empty()).collect();
    Glob::parse(pattern, false).unwrap().iter().map(|glob| glob.reach(&names)).max().unwrap()
}

#[test]
fn patterns_mean_what_gitignore_says() {
    use Reach::{Below, Covers, No};
    for (pattern, path, expected) in [
        ("src/**", "src/a", Covers),
        ("src/**", "src/a/b", Covers),
        ("src/**", "src", Below),
        ("src/**", "srcs/a", No),
        ("src", "src/a/b", Covers),
        ("src/", "src/a", Covers),
        ("src/*", "src/a/b", Covers),
        ("*.rs", "a.rs", Covers),
        ("*.rs", "d/a.rs", No),
        ("**/*.rs", "a.rs", Covers),
        ("**/*.rs", "d/e/a.rs", Covers),
        ("**/src/**", "v/src/x", Covers),
        ("**/src/**", "v/w", Below),
        ("a/**/b", "a/b", Covers),
        ("a/**/b", "a/x/y/b/c", Covers),
        ("a/**/b", "a/x", Below),
        ("a/**/b", "c", No),
        ("**", "x", Covers),
        ("a**b", "axxb", Covers),
        ("a**b", "a/b", No),
        ("a?c", "a/c", No),
        ("a[!b]c", "a/c", No),
        ("[a-c]x", "bx", Covers),
        ("[!a-c]x", "bx", No),
        ("[!a-c]x", "dx", Covers),
        ("[a-]x", "-x", Covers),
        ("[a-a]x", "ax", Covers),
        ("[a-\\c]x", "bx", Covers),
        ("[[a]x", "[x", Covers),
        ("[]x]", "]", Covers),
        ("[a", "[a", Covers),
        ("*.{ts,tsx}", "a.tsx", Covers),
        ("{a,b/{c,d}}/e", "b/d/e", Covers),
        ("{a,{b,c},d}", "a", Covers),
        ("{a,{b,c},d}", "d", Covers),
        ("{a,{b,c},d}", "c", Covers),
        ("{a,{b},c}", "c", Covers),
        ("{a}", "{a}", Covers),
        ("\\*", "*", Covers),
        ("\\*", "a", No),
        ("a\\{b,c}", "a{b,c}", Covers),
        ("a\\/b", "a/b", Covers),
        ("a\\\\/b", "a\\/b", Covers),
        ("./a//b", "a/b", Covers),
        ("", "x", Covers),
    ] {
        assert_eq!(reach(pattern, path), expected, "{pattern} {path}");
    }
}

#[test]
fn impossible_patterns_are_refused() {
    for pattern in ["a/../b", "[b-a]", "a\\", "[[:alpha:]]", &"a/".repeat(100), &"{a,b}".repeat(20)] {
        assert!(Glob::parse(pattern, false).is_err(), "{pattern}");
    }
}

#[test]
fn the_number_of_alternatives_has_a_limit() {
    let choices = |count: usize| format!("{{{}}}", vec!["a"; count].join(","));
    assert_eq!(Glob::parse(&choices(MAX_ALTERNATIVES), false).unwrap().len(), MAX_ALTERNATIVES);
    assert!(Glob::parse(&choices(MAX_ALTERNATIVES + 1), false).is_err());
    assert!(Glob::parse(&choices(MAX_ALTERNATIVES + 2), false).is_err());
}

#[test]
fn folding_ignores_case_and_composition() {
    let glob = Glob::parse("Caf\u{e9}/*.ENV", true).unwrap();
    let names: Vec<String> = ["CAFE\u{301}", "x.env"].iter().map(|n| crate::path::fold(n)).collect();
    assert_eq!(glob.first().unwrap().reach(&names), Reach::Covers);
}

/// As many names as states have bits for.
#[test]
fn a_pattern_may_have_as_many_names_as_are_followed() {
    let names = |count: usize| vec!["a"; count].join("/");
    assert_eq!(reach(&names(MAX_PARTS), &names(MAX_PARTS)), Reach::Covers);
    assert!(Glob::parse(&names(MAX_PARTS + 1), false).is_err());
}

/// The path below which a rule asks for every name is matched by patterns for every name alone.
#[test]
fn the_name_that_stands_for_all_is_matched_by_patterns_for_all() {
    for (pattern, covers) in [("*", true), ("?*", true), ("[!a]*", false), ("[a]*", false), ("a", false)] {
        assert_eq!(reach(pattern, ANY_NAME) == Reach::Covers, covers, "{pattern}");
    }
}

#[test]
fn a_pattern_for_one_place_is_told_from_one_for_some() {
    for (pattern, is_fixed) in [
        ("a/b", true),
        ("a", true),
        ("a/b/**", true),
        ("a/b/**/**", true),
        ("a/b/**/***", true),
        ("a/b/*", false),
        ("a/**/b*", false),
        ("a/**/b", false),
        ("b/c", false),
        ("*/b", false),
        ("", false),
    ] {
        let globs = Glob::parse(pattern, false).unwrap();
        assert_eq!(globs.iter().all(|glob| glob.is_fixed_below(&["a"])), is_fixed, "{pattern}");
    }
}

fn may_reach(rule: &str, names: &[String], shell: &str) -> Reach {
    let one = |text: &str| Glob::parse(text, false).unwrap().remove(0);
    one(rule).may_reach(names, &one(shell))
}

#[test]
fn a_pattern_of_the_shell_reaches_what_its_paths_may_reach() {
    use Reach::{Below, Covers, No};
    for (rule, names, shell, expected) in [
        ("a/b", "a", "b*", Covers),
        ("a/b", "a", "c*", No),
        ("a/b", "", "a", Below),
        ("a/b", "", "*", Below),
        ("a/b", "c", "*", No),
        ("a", "a", "*", Covers),
        ("a/b/c", "a", "*/d", No),
        // A wildcard for any number of names may end anywhere below.
        ("a/b/c", "a", "**/d", Covers),
        ("a/b/c", "", "b/**", No),
        ("**/c", "a", "*", Covers),
        ("a/.b", "a", "*", No),
        ("a/.b", "a", ".*", Covers),
    ] {
        let names: Vec<String> = names.split('/').filter(|name| !name.is_empty()).map(str::to_owned).collect();
        assert_eq!(may_reach(rule, &names, shell), expected, "{rule} {names:?} {shell}");
    }
    // A pattern too long to be followed may match anything.
    let names = |count: usize| vec!["a".to_owned(); count];
    assert_eq!(may_reach("b", &names(MAX_PARTS - 1), "a*"), No);
    for more in [0, 1] {
        assert_eq!(may_reach("b", &names(MAX_PARTS + more), "a*"), Covers);
    }
}

/// Two patterns for a name meet if there is a name that both match: names of four characters are enough for patterns of
/// three. The rule that a wildcard of the shell matches no leading dot is exact for a rule about a name with one, and
/// may be left out otherwise.
#[test]
fn patterns_of_a_rule_and_of_the_shell_meet_in_a_name() {
    let chars = ['a', 'b', '.'];
    let longer = |names: &[String]| -> Vec<String> {
        names.iter().flat_map(|name| chars.map(|c| format!("{name}{c}"))).collect()
    };
    let ones: Vec<String> = longer(&[String::new()]);
    let twos = longer(&ones);
    let threes = longer(&twos);
    let names = [ones, twos, threes.clone(), longer(&threes)].concat();
    assert!(names.len() <= 128, "{}", names.len());

    let class = Token::Class { negated: true, ranges: vec![('a', 'a')] };
    let tokens = [Token::Char('a'), Token::Char('b'), Token::Char('.'), Token::AnyChar, Token::AnyChars, class];
    let longer = |patterns: &[Vec<Token>]| -> Vec<Vec<Token>> {
        let with = |pattern: &Vec<Token>| tokens.clone().map(|token| [pattern.clone(), vec![token]].concat());
        patterns.iter().flat_map(with).collect()
    };
    let ones = longer(&[Vec::new()]);
    let twos = longer(&ones);
    let patterns = [ones, twos.clone(), longer(&twos)].concat();

    let mask = |holds: &dyn Fn(&str) -> bool| -> u128 {
        names.iter().enumerate().filter(|(_, name)| holds(name)).fold(0, |mask, (at, _)| mask | (1 << at))
    };
    let sides: Vec<(Part, u128, u128)> = patterns
        .iter()
        .map(|tokens| {
            let wild = !matches!(tokens.first(), Some(Token::Char(_)));
            let all = mask(&|name| name_matches(tokens, name));
            (
                Part::of_name(tokens.clone()),
                all,
                all & if wild { mask(&|name| !name.starts_with('.')) } else { u128::MAX },
            )
        })
        .collect();
    let dotted = mask(&|name| name.starts_with('.'));
    for (rule, in_rule, _) in &sides {
        for (shell, in_shell, expanded) in &sides {
            let overlaps = rule.overlaps(shell);
            assert!(overlaps || in_rule & expanded == 0, "{rule:?} {shell:?}");
            assert!(!overlaps || in_rule & in_shell != 0, "{rule:?} {shell:?}");
            assert!(!overlaps || in_rule & !dotted != 0 || in_rule & expanded != 0, "{rule:?} {shell:?}");
        }
    }
}

fn pattern() -> impl Strategy<Value = String> {
    let name = prop_oneof![
        Just("**".to_owned()),
        "[ab]{1,2}",
        "[ab]?\\*[ab]?",
        "\\?[ab]?",
        Just("[ab]x".to_owned()),
        Just("{a,b*}".to_owned()),
    ];
    proptest::collection::vec(name, 1..5).prop_map(|names| names.join("/"))
}

proptest! {
    #[test]
    fn agrees_with_globset(pattern in pattern(), path in "[abx]{1,3}(/[abx]{1,3}){0,4}") {
        let names: Vec<&str> = path.split('/').collect();
        let plain = |text: &str| GlobBuilder::new(text).literal_separator(true).build().unwrap().compile_matcher();
        let (own, below) = (plain(&pattern), plain(&format!("{pattern}/**")));
        let expected = own.is_match(&path) || below.is_match(&path);
        prop_assert_eq!(reach(&pattern, &path) == Reach::Covers, expected);
        // Nothing below a path is covered unless the pattern covers the path itself.
        for end in 1..names.len() {
            let above = reach(&pattern, &names[..end].join("/"));
            prop_assert!(!expected || above >= Reach::Below);
        }
    }

    #[test]
    fn parsing_never_panics(pattern in ".{0,60}", path in "\\PC{0,40}") {
        for fold in [false, true] {
            if let Ok(globs) = Glob::parse(&pattern, fold) {
                let names: Vec<&str> = path.split('/').collect();
                for glob in globs {
                    glob.reach(&names);
                    glob.at_any_depth().reach(&names);
                }
            }
        }
    }

    #[test]
    fn an_escaped_name_stands_for_itself(name in "[^/\0]{1,20}", other in "[^/\0]{1,20}") {
        prop_assume!(name != "." && name != "..");
        let glob = Glob::parse(&escape(&name), false).unwrap();
        let [glob] = glob.as_slice() else { panic!("one pattern") };
        prop_assert_eq!(glob.reach([name.as_str()]), Reach::Covers);
        prop_assert_eq!(glob.reach([other.as_str()]) == Reach::Covers, other == name);
    }
}
