use super::*;

fn prompt(text: &str) -> SavedPrompt {
    SavedPrompt::text(text)
}

fn history(texts: &[&str]) -> PromptHistory {
    let mut history = PromptHistory::new("/p", "s");
    for text in texts {
        history.add(prompt(text));
    }
    history
}

#[test]
fn older_and_newer_go_through_the_project_and_back_to_the_text() {
    let mut history = history(&["one", "two"]);
    history.load([HistoryEntry::new(prompt("elsewhere"), "/q", "t")]);
    let mut shown = prompt("draft");
    for expected in ["two", "one"] {
        shown = history.older(shown).unwrap();
        assert_eq!(shown, prompt(expected));
    }
    assert_eq!(history.older(shown.clone()), None);
    for expected in ["two", "draft"] {
        shown = history.newer(shown).unwrap();
        assert_eq!(shown, prompt(expected));
    }
    assert_eq!(history.newer(shown), None);
    assert_eq!(history.leave(), []);
}

#[test]
fn changed_texts_come_back_and_are_not_lost() {
    let mut history = history(&["one", "two"]);
    assert_eq!(history.older(prompt("draft")), Some(prompt("two")));
    assert_eq!(history.older(prompt("two changed")), Some(prompt("one")));
    assert_eq!(history.newer(prompt("one")), Some(prompt("two changed")));
    assert_eq!(history.older(prompt("two changed")), Some(prompt("one")));
    let mut left = history.leave();
    left.sort_by_key(SavedPrompt::expanded);
    assert_eq!(left, [prompt("draft"), prompt("two changed")]);
    assert!(!history.is_away());
}

#[test]
fn blank_and_repeated_prompts_are_no_entries() {
    let mut history = history(&[]);
    assert!(history.add(prompt(" \n")).is_none());
    let entry = history.add(prompt("one")).unwrap();
    assert_eq!((entry.project.as_str(), entry.session.as_str()), ("/p", "s"));
    assert!(history.add(prompt("one")).is_none());
    assert!(history.add(prompt("two")).is_some() && history.add(prompt("one")).is_some());
}

#[test]
fn lines_of_the_file_are_read_again_and_cut_ones_are_no_entries() {
    let entry = HistoryEntry::new(prompt("two\nlines \"é\""), "/p", "s");
    let line = entry.to_line().unwrap();
    assert!(!line.contains('\n'));
    assert_eq!(HistoryEntry::parse_line(&line).unwrap(), entry);
    for (end, _) in line.char_indices() {
        assert!(HistoryEntry::parse_line(line.get(..end).unwrap()).is_err(), "{end}");
    }
}

#[test]
fn the_history_is_bounded() {
    let mut history = history(&[]);
    for number in 0..10_010 {
        history.add(prompt(&number.to_string()));
    }
    assert_eq!(history.entries.len(), 10_000);
    assert_eq!(history.entries().next().unwrap().prompt, prompt("10"));
    for number in 0..40 {
        history.add(prompt(&format!("{number}{}", "x".repeat(1024 * 1024))));
    }
    assert!(history.size <= MOST_BYTES && history.entries.len() < 40, "{}", history.entries.len());
}

#[test]
fn a_search_finds_the_newest_first_and_each_text_once() {
    let mut history = history(&["Fix the test", "run tests", "Fix the test", "other"]);
    history.load([
        HistoryEntry::new(prompt("test elsewhere"), "/q", "t"),
        HistoryEntry::new(prompt("test before"), "/p", "t"),
    ]);
    let found = |search: &HistorySearch| search.found(&history).map(|found| (found.prompt.expanded(), found.has_older));
    let mut search = HistorySearch::default();
    search.add("test");
    assert_eq!(found(&search), Some(("test before".to_owned(), true)));
    for (expected, has_older) in [("Fix the test", true), ("run tests", false), ("run tests", false)] {
        search.older(&history);
        assert_eq!(found(&search), Some((expected.to_owned(), has_older)));
    }
    search.cycle_scope();
    assert_eq!(search.scope(), HistoryScope::Everywhere);
    search.older(&history);
    assert_eq!(found(&search), Some(("test elsewhere".to_owned(), true)));
    search.cycle_scope();
    assert_eq!(found(&search), Some(("Fix the test".to_owned(), true)));
    // A capital letter in the search counts.
    search.delete();
    search.add("T");
    assert_eq!(found(&search), None);
}
