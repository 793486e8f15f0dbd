//! `windlass context show`.

use crate::place::{Place, write};
use serde_json::Value;

#[test]
fn the_parts_of_the_window_are_listed_with_their_sources() {
    let place = Place::new();
    write(&place.path("work/CLAUDE.md"), "Be brief. @docs/style.md @~/private.md");
    write(&place.path("work/docs/style.md"), "Four blanks.");
    let shown = place.run(&["context", "show"]).with_code(0);
    for part in ["  system prompt\n", "  tools\n", "  instructions, project: ", "docs/style.md\n"] {
        assert!(shown.stdout.contains(part), "{part}: {}", shown.stdout);
    }
    assert!(shown.stderr.contains("@~/private.md is left out: it leads out of the project"), "{}", shown.stderr);
    let shown = place.run(&["context", "show", "--json", "--model", "claude-opus-5-5"]);
    let usage: Value = serde_json::from_str(&shown.stdout).unwrap();
    let sections = usage["sections"].as_array().unwrap();
    let of = |kind: &str| sections.iter().filter(|section| section["kind"] == kind).count();
    // Two files, and the index of the project.
    assert_eq!((of("instructions"), of("messages")), (3, 1), "{usage}");
    assert!(sections.iter().any(|section| section["name"] == "index of the project"), "{usage}");
    assert!(of("tool") > 5 && usage["model"] == "anthropic/claude-opus-5-5" && usage["window"] == 1_000_000, "{usage}");
    // Without the project's files it has none.
    let shown = place.run(&["context", "show", "--setting-sources", "user"]);
    assert!(!shown.stdout.contains("instructions, project"), "{}", shown.stdout);
}

#[test]
fn what_waits_for_its_files_is_listed_with_what_it_waits_for() {
    let place = Place::new();
    write(&place.path("work/CLAUDE.md"), "Be brief.");
    write(&place.path("work/.claude/rules/rust.md"), "---\npaths: [\"src/**/*.rs\"]\n---\nFour blanks.");
    write(&place.path("work/app/AGENTS.md"), "The app.");
    write(&place.path("work/app/secret/CLAUDE.md"), "Not for models.");
    write(&place.path("work/.claude/settings.json"), r#"{"permissions":{"deny":["Read(app/secret/**)"]}}"#);
    let shown = place.run(&["context", "show"]).with_code(0);
    let lines: Vec<&str> = shown.stdout.lines().filter(|line| line.contains("on demand, project: ")).collect();
    let is_shown = |parts: [&str; 2]| lines.iter().any(|line| parts.iter().all(|part| line.contains(part)));
    assert_eq!(lines.len(), 2, "{}", shown.stdout);
    assert!(is_shown(["app/AGENTS.md", "(waits until a file in "]), "{lines:?}");
    assert!(is_shown([".claude/rules/rust.md", "is used that fits src/**/*.rs in "]), "{lines:?}");
    let shown = place.run(&["context", "show", "--json"]).with_code(0);
    let usage: Value = serde_json::from_str(&shown.stdout).unwrap();
    let sections = usage["sections"].as_array().unwrap();
    let waits = |section: &&Value| section["kind"] == "instructions" && section["withheld"].as_u64() > Some(0);
    assert_eq!(sections.iter().filter(waits).filter(|section| section["tokens"] == 0).count(), 2, "{usage}");
}
