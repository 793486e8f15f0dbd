use super::*;
use proptest::prelude::*;

fn list(text: &str) -> Vec<String> {
    words(text).collect()
}

#[test]
fn words_of_texts() {
    for (text, expected) in [
        ("", vec![]),
        ("Fix the_parser-test (again)!", vec!["fix", "the", "parser", "test", "again"]),
        ("Été ÜBER ﬁn Ⅳ", vec!["ete", "uber", "fin", "iv"]),
        ("pass\u{200b}word e\u{301}t", vec!["password", "et"]),
        ("日本語 of 世", vec!["日本", "本語", "語", "of", "世"]),
        ("rust日本", vec!["rust", "日本", "本"]),
        ("a\0b \u{202e}c", vec!["a", "b", "c"]),
    ] {
        assert_eq!(list(text), expected, "{text:?}");
    }
    assert_eq!(list(&"x".repeat(100)), [String::from_utf8(vec![b'x'; 64]).unwrap()]);
}

#[test]
fn each_word_has_to_be_there_as_a_beginning() {
    let found = |query: &str, text: &str| {
        let wanted = SearchWords::of(query);
        wanted.found_in(text) == wanted.all()
    };
    assert!(found("PARS fix", "fix the Parser"));
    assert!(!found("pars fix gone", "fix the Parser"));
    assert!(!found("arser", "fix the Parser"));
    assert!(found("本語", "日本語です") && found("語", "日本語") && !found("日語", "日本語"));
    for query in ["\"", "a\" OR b*", "NEAR(", "col:x", "'; drop table", "\0", "(((", "-", "^"] {
        let _ = found(query, query);
    }
    assert!(SearchWords::of("\" * - ( \0").is_empty());
    assert_eq!(SearchWords::of(&(0..99).map(|n| format!("w{n} ")).collect::<String>()).iter().count(), 16);
}

#[test]
fn a_snippet_shows_where_most_words_stand() {
    let text = format!("needle alone. {} the needle\nin a Haystack {}", "x ".repeat(200), "y ".repeat(200));
    let snippet = SearchWords::of("needle hay").snippet(&text);
    assert!(snippet.text.starts_with('…') && snippet.text.ends_with('…'), "{snippet:?}");
    let marked: Vec<&str> = snippet.marks.iter().map(|mark| snippet.text.get(mark.clone()).unwrap()).collect();
    assert_eq!(marked, ["needle", "Haystack"]);
    assert!(snippet.text.contains("needle in a Haystack"), "{snippet:?}");
    let snippet = SearchWords::of("本語").snippet("日本語");
    assert_eq!(snippet.marks.iter().map(|mark| snippet.text.get(mark.clone()).unwrap()).collect::<Vec<_>>(), ["本語"]);
}

proptest! {
    #[test]
    fn marks_are_words_that_were_looked_for(text in "\\PC{0,300}|[a-c é\n日本\u{202e}\\x00]{0,400}", query in "[a-c日 ]{0,6}") {
        let wanted = SearchWords::of(&query);
        let snippet = wanted.snippet(&text);
        prop_assert!(snippet.text.chars().count() <= SNIPPET_CHARS + 2);
        prop_assert_eq!(snippet.marks.is_empty(), wanted.found_in(&text) == 0);
        let mut end = 0;
        for mark in &snippet.marks {
            prop_assert!(mark.start >= end && mark.end > mark.start);
            end = mark.end;
            let marked = snippet.text.get(mark.clone()).unwrap();
            prop_assert!(wanted.found_in(marked) != 0, "{:?}", marked);
        }
    }
}
