use super::{Relevance, parts};
use proptest::prelude::*;

fn of(documents: &[&str]) -> Relevance {
    let mut all = Relevance::default();
    for document in documents {
        all.add([(1.0, *document)]);
    }
    all
}

fn found(all: &Relevance, query: &str) -> Vec<usize> {
    all.search(query, 10).iter().map(|hit| hit.document).collect()
}

#[test]
fn names_are_taken_apart() {
    assert_eq!(parts("readFile"), ["read", "file"]);
    assert_eq!(parts("HTTPServer2"), ["http", "server2"]);
    assert_eq!(parts("mcp__git-hub__ISSUE"), ["mcp", "git", "hub", "issue"]);
    assert_eq!(parts("__"), [""; 0]);
    assert_eq!(parts("Größe"), ["größe"]);
}

#[test]
fn a_name_is_found_by_its_parts_and_as_a_whole() {
    let all = of(&["parse_config", "ConfigParser", "weather"]);
    assert_eq!(found(&all, "config").len(), 2);
    assert_eq!(found(&all, "parseconfig"), [0]);
    assert_eq!(found(&all, "CONFIG-PARSER").first(), Some(&1));
}

#[test]
fn rare_words_count_more_than_common_ones() {
    let all = of(&["file list", "file read", "file read", "file tree"]);
    assert_eq!(found(&all, "file tree").first(), Some(&3));
}

#[test]
fn a_word_in_a_heavy_field_counts_more() {
    let mut all = Relevance::default();
    all.add([(1.0, "other"), (1.0, "issue one")]);
    all.add([(3.0, "issue"), (1.0, "other one")]);
    assert_eq!(found(&all, "issue"), [1, 0]);
}

#[test]
fn weights_that_are_none_do_not_count() {
    let mut all = Relevance::default();
    all.add([(f64::NAN, "issue"), (0.0, "issue"), (-1.0, "issue"), (f64::INFINITY, "issue")]);
    assert!(all.search("issue", 10).is_empty());
}

proptest! {
    #[test]
    fn what_is_found_has_a_word_of_the_query(documents in proptest::collection::vec("[a-e ]{0,12}", 0..8), query in "[a-e ]{0,6}") {
        let documents: Vec<&str> = documents.iter().map(String::as_str).collect();
        let all = of(&documents);
        let hits = all.search(&query, usize::MAX);
        let words: Vec<&str> = query.split_whitespace().collect();
        let expected = documents.iter().filter(|d| d.split_whitespace().any(|w| words.contains(&w))).count();
        prop_assert_eq!(hits.len(), expected);
        prop_assert!(hits.iter().all(|hit| hit.score > 0.0 && hit.score.is_finite()));
        prop_assert!(hits.windows(2).all(|pair| pair[0].score >= pair[1].score));
    }
}
