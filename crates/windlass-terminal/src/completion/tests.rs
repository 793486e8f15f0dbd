use super::*;
use proptest::prelude::*;

fn best(query: &str, names: &[&str]) -> Vec<String> {
    let candidates = names.iter().map(|name| CompletionCandidate::file(name)).collect();
    ranked(query, candidates, 10).into_iter().map(|candidate| candidate.name).collect()
}

#[test]
fn better_matches_come_first() {
    for (query, names) in [
        ("main", &["src/main.rs", "src/domain.rs", "remains/a.txt"] as &[_]),
        ("cmp", &["src/compose.rs", "scripts/old_map.py"]),
        ("comp", &["composer.rs", "src/composer.rs", "src/company/other.rs"]),
        ("kt", &["keys/tests.rs", "src/kettle.rs"]),
        ("README", &["README.md", "docs/readme.md"]),
        ("日本", &["日本.txt", "日x本.txt"]),
        ("", &["b.rs", "a.rs"]),
    ] {
        assert_eq!(best(query, names), names, "{query}");
        let reversed: Vec<&str> = names.iter().rev().copied().collect();
        if !query.is_empty() {
            assert_eq!(best(query, &reversed), names, "{query}");
        }
    }
    assert_eq!(best("xyz", &["abc"]), [""; 0]);
    assert_eq!(best("ba", &["ab"]), [""; 0]);
}

#[test]
fn words_that_can_be_completed_are_found() {
    let word = |text: &str| {
        let caret = text.find('|').unwrap();
        completable(&text.replace('|', ""), caret).map(|word| match word {
            Completable::Command { range, query } => ('/', range, query),
            Completable::Mention { range, query } => ('@', range, query),
        })
    };
    for (text, expected) in [
        ("/co|", Some(('/', 0..3, "/co"))),
        ("/|", Some(('/', 0..1, "/"))),
        ("/co|mp", Some(('/', 0..5, "/co"))),
        ("/compact |", None),
        ("/etc/pass|", None),
        ("see /co|", None),
        ("@|", Some(('@', 0..1, ""))),
        ("see @src/m|", Some(('@', 4..10, "src/m"))),
        ("see @src/m|ain.rs now", Some(('@', 4..16, "src/m"))),
        ("see @\"my fi|", Some(('@', 4..11, "my fi"))),
        ("see @\"my file\" |", None),
        ("me@example|", None),
        ("@a b|", None),
        ("!cat @a|", None),
        ("x\n@a|", Some(('@', 2..4, "a"))),
    ] {
        assert_eq!(word(text), expected.map(|(kind, range, query)| (kind, range, query.to_owned())), "{text}");
    }
}

#[test]
fn names_are_mentioned_so_that_they_are_read_back() {
    for (candidate, text) in [
        (CompletionCandidate::file("src/main.rs"), "@src/main.rs"),
        (CompletionCandidate::file("my file.txt"), "@\"my file.txt\""),
        (CompletionCandidate::file("a."), "@\"a.\""),
        (CompletionCandidate::file("a \"b\".txt"), "@a\\ \"b\".txt"),
        (CompletionCandidate::directory("src"), "@src/"),
        (CompletionCandidate::agent("reviewer", ""), "@agent-reviewer"),
        (CompletionCandidate::resource("db", "table://users", ""), "@db:table://users"),
    ] {
        assert_eq!(candidate.text, text);
    }
    // A line break in a name is written out.
    assert_eq!(CompletionCandidate::file("a\nb\x1b[2J").text, "@a\\u{a}b\\u{1b}[2J");
}

#[test]
fn the_menu_wraps_around_and_keeps_its_selection() {
    let candidates = |names: &[&str]| names.iter().map(|name| CompletionCandidate::file(name)).collect::<Vec<_>>();
    let mut menu = CompletionMenu::default();
    menu.set(candidates(&["a", "b", "c"]));
    menu.up();
    assert_eq!(menu.selected().unwrap().name, "c");
    menu.set(candidates(&["c", "d"]));
    assert_eq!(menu.selected().unwrap().name, "c");
    menu.down();
    menu.down();
    assert_eq!(menu.selected().unwrap().name, "c");
    menu.set(candidates(&["x", "y"]));
    assert_eq!(menu.selected().unwrap().name, "x");
    menu.set(Vec::new());
    menu.down();
    menu.up();
    assert!(menu.selected().is_none() && menu.rows(5).is_empty());
    menu.set(candidates(&["1", "2", "3", "4", "5", "6"]));
    for _ in 0..4 {
        menu.down();
    }
    let rows = menu.rows(3);
    assert_eq!(rows.iter().map(|row| row.name.as_str()).collect::<Vec<_>>(), ["3", "4", "5"]);
    assert!(rows[2].is_selected);
}

proptest! {
    #[test]
    fn exactly_subsequences_have_points(query in "[abAB/]{0,6}", name in "[abAB/]{0,12}") {
        let mut rest = name.chars().map(|c| c.to_ascii_lowercase());
        let is_subsequence = query.chars().all(|c| rest.any(|letter| letter == c.to_ascii_lowercase()));
        prop_assert_eq!(score(&query, &name).is_some(), is_subsequence);
    }

    #[test]
    fn no_text_panics(query in "\\PC{0,20}", name in "\\PC{0,40}", caret in 0_usize..60) {
        if score(&query, &name).is_some() {
            prop_assert!(query.chars().filter(|c| !c.is_whitespace()).count() <= name.chars().count());
        }
        if let Some(word) = completable(&name, caret) {
            prop_assert!(name.get(word.range()).is_some());
        }
    }
}
