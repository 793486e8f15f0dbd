//! `windlass memory`, and the memory of runs.

use crate::place::{Place, call, text, write};
use serde_json::{Value, json};

#[test]
fn notes_are_written_listed_shown_and_forgotten() {
    let place = Place::new();
    assert_eq!(place.run(&["memory", "list"]).with_code(0).stdout, "");
    let added =
        place.run(&["memory", "add", "tests", "--description", "How tests run", "--type", "feedback", "No mocks."]);
    let path = added.with_code(0).stdout;
    assert!(path.trim_end().ends_with("/memory/tests.md"), "{path}");
    assert!(std::fs::read_to_string(path.trim_end()).unwrap().ends_with("\n\nNo mocks.\n"));
    place.run_with(&["memory", "add", "a-b", "--description", "Odd\u{1b}[2Jname"], "One.\nTwo.\n").with_code(0);
    let listed = place.run(&["memory", "list"]).with_code(0).stdout;
    let lines: Vec<&str> = listed.lines().collect();
    assert!(lines[0].starts_with("a-b\t\t20") && lines[0].ends_with("\tOddname"), "{listed}");
    assert!(lines[1].starts_with("tests\tfeedback\t20") && lines[1].ends_with("\tHow tests run"), "{listed}");
    let listed = place.run(&["memory", "list", "--json"]).with_code(0).lines();
    assert_eq!((&listed[1]["name"], &listed[1]["type"]), (&json!("tests"), &json!("feedback")));
    assert_eq!(listed[1]["path"], path.trim_end());
    assert_eq!(place.run(&["memory", "show", "a-b"]).with_code(0).stdout, "One.\nTwo.\n");
    let shown = place.run(&["memory", "show", "tests", "--json"]).with_code(0).lines();
    assert_eq!(shown[0]["content"], "No mocks.");
    assert_eq!(place.run(&["memory", "forget", "tests", "a-b"]).with_code(0).stdout, "tests\na-b\n");
    assert_eq!(place.run(&["memory", "list"]).with_code(0).stdout, "");
    for (args, code, problem) in [
        (&["memory", "show", "tests"][..], 1, "there is no memory \"tests\""),
        (&["memory", "forget", "../x"], 2, "cannot be the name of a memory"),
        (&["memory", "add", "x", "--description", "d", "AKIA0123456789ABCDEF"], 1, "an access key"),
        (&["memory", "add", "x", "--description", "d", "--type", "diary", "c"], 2, "there is no type"),
        (&["memory", "list", "--settings", r#"{"autoMemoryEnabled":false}"#], 1, "there is no memory here"),
    ] {
        let ran = place.run(args).with_code(code);
        assert!(ran.stderr.contains(problem), "{args:?}: {}", ran.stderr);
    }
}

#[test]
fn what_a_run_writes_later_runs_and_the_command_see() {
    let note = json!({
        "action": "write", "name": "tests", "type": "feedback", "description": "How tests run", "content": "No mocks.",
    });
    let place = Place::with_turns(&[call("Memory", &note), text("Noted.")]);
    place.run(&["-p", "Remember: no mocks."]).with_code(0);
    assert_eq!(place.run(&["memory", "show", "tests"]).with_code(0).stdout, "No mocks.\n");
    let shown = place.run(&["context", "show"]).with_code(0).stdout;
    assert!(shown.contains("  instructions, memory: "), "{shown}");
    let settings: Value =
        serde_json::from_str(&place.run(&["settings", "--settings", r#"{"autoMemoryEnabled":false}"#]).stdout).unwrap();
    assert_eq!(settings["effective"]["autoMemoryEnabled"], false);
    let off = place.run(&["context", "show", "--settings", r#"{"autoMemoryEnabled":false}"#]).with_code(0).stdout;
    assert!(!off.contains("memory"), "{off}");
}

#[test]
fn a_run_that_leaves_nothing_behind_has_no_memory() {
    let note = json!({ "action": "write", "name": "tests", "description": "Tests", "content": "No mocks." });
    let place = Place::with_turns(&[call("Memory", &note), text("Noted.")]);
    write(&place.path("work/a.txt"), "a");
    let ran =
        place.run(&["-p", "Remember.", "--no-session-persistence", "--output-format", "stream-json", "--verbose"]);
    let tools = ran.with_code(0).lines()[0]["tools"].to_string();
    assert!(tools.contains("Read") && !tools.contains("Memory"), "{tools}");
    assert_eq!(place.run(&["memory", "list"]).with_code(0).stdout, "");
}
