use crate::place::{Place, text};
use serde_json::Value;

fn ids(lines: &[Value]) -> Vec<&str> {
    lines.iter().map(|line| line["session_id"].as_str().unwrap()).collect()
}

const FIRST: &str = "aaaaaaaa-1111-4111-8111-111111111111";
const SECOND: &str = "bbbbbbbb-1111-4111-8111-111111111111";

fn with_two() -> Place {
    let place = Place::with_turns(&[text("The dates are mended.")]);
    place.run(&["-p", "Mend the parser", "--session-id", FIRST]).with_code(0);
    place.run(&["-p", "Write \u{1b}[31ma poem\u{202e}", "--session-id", SECOND]).with_code(0);
    place
}

#[test]
fn sessions_are_found_by_their_words() {
    let place = with_two();
    let found = place.run(&["sessions", "search", "parse", "dates"]).with_code(0);
    assert_eq!(found.stderr, "");
    let lines = found.lines();
    assert_eq!(ids(&lines), [FIRST]);
    assert_eq!(lines[0]["prompts"], 1);
    assert_eq!(lines[0]["matches"][0]["snippet"], "Mend the parser");
    assert_eq!(lines[0]["matches"][0]["marks"], serde_json::json!([[9, 15]]));
    assert_eq!(ids(&place.run(&["sessions", "search", "DATE"]).with_code(0).lines()), [SECOND, FIRST]);
    let one = place.run(&["sessions", "search", "mended", "--limit", "1"]).with_code(0);
    assert_eq!(ids(&one.lines()), [SECOND]);
    let after = one.stderr.trim().strip_prefix("there is more: --after ").unwrap();
    assert_eq!(ids(&place.run(&["sessions", "search", "mended", "--after", after]).with_code(0).lines()), [FIRST]);
    for args in [["search", "mended", "--project", "/nowhere"], ["search", "mended", "--tag", "none"]] {
        assert_eq!(place.run(&[&["sessions"], &args[..]].concat()).with_code(0).stdout, "");
    }
    for args in
        [&["search", "(*)"][..], &["search", "x", "--limit", "0"], &["search", "x", "--since", "soon"], &["search"]]
    {
        place.run(&[&["sessions"], args].concat()).with_code(2);
    }
    let poem = place.run(&["sessions", "search", "poem"]).with_code(0);
    assert!(!poem.stdout.contains(['\u{1b}', '\u{202e}']), "{poem:?}");
    place.run(&["sessions", "delete", FIRST]).with_code(0);
    assert_eq!(ids(&place.run(&["sessions", "search", "dates"]).with_code(0).lines()), [SECOND]);
}

#[test]
fn an_index_that_cannot_be_used_is_named_and_the_logs_are_read() {
    let place = with_two();
    let index = place.home().join(".windlass/windlass-index");
    std::fs::write(&index, "in its place").unwrap();
    let found = place.run(&["sessions", "search", "parser"]).with_code(0);
    assert_eq!(ids(&found.lines()), [FIRST]);
    assert!(
        found.stderr.starts_with("warning: the index of sessions cannot be used, so the logs are read"),
        "{found:?}"
    );
}

#[test]
fn lists_are_paged_and_narrowed() {
    let place = with_two();
    let all = place.run(&["sessions", "list"]).with_code(0).lines();
    assert_eq!(ids(&all), [SECOND, FIRST]);
    let page = place.run(&["sessions", "list", "--limit", "1"]).with_code(0);
    assert_eq!(ids(&page.lines()), [SECOND]);
    assert!(page.stderr.contains(SECOND), "{page:?}");
    assert_eq!(ids(&place.run(&["sessions", "list", "--after", SECOND]).with_code(0).lines()), [FIRST]);
    place.run(&["sessions", "list", "--after", "nonsense"]).with_code(2);
    place.run(&["sessions", "tag", FIRST, "blue"]).with_code(0);
    place.run(&["sessions", "rename", SECOND, "A poem"]).with_code(0);
    assert_eq!(ids(&place.run(&["sessions", "list", "--tag", "blue"]).with_code(0).lines()), [FIRST]);
    assert_eq!(ids(&place.run(&["sessions", "list", "--all", "--title", "a p"]).with_code(0).lines()), [SECOND]);
    assert_eq!(place.run(&["sessions", "list", "--cwd", "/"]).with_code(0).stdout, "");
    assert_eq!(ids(&place.run(&["sessions", "list", "--since", "1h"]).with_code(0).lines()), [SECOND, FIRST]);
    assert_eq!(place.run(&["sessions", "list", "--since", "2999-01-01"]).with_code(0).stdout, "");
}

#[test]
fn sessions_are_summed_up() {
    let place = with_two();
    let stats = &place.run(&["sessions", "stats"]).with_code(0).lines()[0];
    assert_eq!((&stats["sessions"], &stats["prompts"], &stats["answers"]), (&2.into(), &2.into(), &2.into()));
    assert_eq!(stats["models"].as_object().unwrap().values().next().unwrap(), 2);
    assert_eq!(place.run(&["sessions", "stats", "--project", "/"]).with_code(0).lines()[0]["sessions"], 0);
}

#[test]
fn a_session_is_resumed_by_its_title() {
    let place = with_two();
    place.run(&["sessions", "rename", FIRST, "Dates in the parser"]).with_code(0);
    place.run(&["sessions", "rename", SECOND, "Dates of poems"]).with_code(0);
    place.run(&["-p", "by its title", "--resume", "dates in the PARSER"]).with_code(0);
    place.run(&["-p", "by its beginning", "--resume", "dates i"]).with_code(0);
    let shown = place.run(&["sessions", "show", FIRST]).with_code(0).stdout;
    assert!(shown.contains("> by its title") && shown.contains("> by its beginning"), "{shown}");
    let several = place.run(&["-p", "x", "--resume", "dates"]).with_code(1);
    for part in [FIRST, SECOND, "Dates of poems", "may mean 2 sessions"] {
        assert!(several.stderr.contains(part), "{several:?}");
    }
    let none = place.run(&["-p", "x", "--resume", "parser"]).with_code(1);
    assert!(none.stderr.contains("No conversation found with the title \"parser\""), "{none:?}");
    assert!(!place.home().join(".windlass/windlass-index").exists(), "no run asks the index");
    place.run(&["-p", "in a copy", "--resume", "dates o", "--fork-session"]).with_code(0);
    assert_eq!(place.logs().len(), 3);
}

#[test]
fn a_model_makes_up_titles() {
    let place = with_two();
    place.run(&["sessions", "rename", SECOND, "A poem"]).with_code(0);
    place.script(&[text("\"Dates of \u{1b}the **parser**.\"")]);
    let titled = place.run(&["sessions", "title", "--missing"]).with_code(0);
    assert_eq!(titled.stdout, format!("{FIRST}  Dates of the **parser**\n"));
    assert_eq!(place.run(&["sessions", "title", "--missing"]).with_code(0).stdout, "");
    place.run(&["-p", "more", "--resume", "dates of"]).with_code(0);
    place.run(&["sessions", "title", SECOND]).with_code(0);
    let listed = place.run(&["sessions", "list", "--title", "a poem"]).with_code(0).lines();
    assert_eq!(ids(&listed), [SECOND], "a title of a person counts before that of a model");
    place.run(&["sessions", "title"]).with_code(2);
    place.script(&[text("...")]);
    place.run(&["sessions", "title", FIRST]).with_code(1);
    assert_eq!(place.logs().len(), 2, "the question is no session");
}
