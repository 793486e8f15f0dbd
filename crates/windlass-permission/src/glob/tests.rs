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
        ("[]x]", "]", Covers),
        ("[a", "[a", Covers),
        ("*.{ts,tsx}", "a.tsx", Covers),
        ("{a,b/{c,d}}/e", "b/d/e", Covers),
        ("{a}", "{a}", Covers),
        ("\\*", "*", Covers),
        ("\\*", "a", No),
        ("a\\{b,c}", "a{b,c}", Covers),
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
fn folding_ignores_case_and_composition() {
    let glob = Glob::parse("Caf\u{e9}/*.ENV", true).unwrap();
    let names: Vec<String> = ["CAFE\u{301}", "x.env"].iter().map(|n| crate::path::fold(n)).collect();
    assert_eq!(glob.first().unwrap().reach(&names), Reach::Covers);
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
