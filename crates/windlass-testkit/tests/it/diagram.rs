//! The states in the diagram of `docs/architecture.md` are those of the code.

use std::path::{Path, PathBuf};

fn repository() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// Returns the variants of an enum of the engine.
fn variants(file: &str, name: &str) -> Vec<String> {
    let source = std::fs::read_to_string(repository().join("crates/windlass-core/src").join(file)).unwrap();
    let (_, body) = source.split_once(&format!("enum {name} {{")).unwrap_or_else(|| panic!("{file} has no {name}"));
    let (body, _) = body.split_once("\n}").unwrap();
    let lines = body.lines().filter(|line| line.starts_with("    ") && line.trim().starts_with(char::is_uppercase));
    lines.map(|line| line.trim().split(|c: char| !c.is_alphanumeric()).next().unwrap().to_owned()).collect()
}

#[test]
fn the_states_in_the_docs_are_those_of_the_machine() {
    let docs = std::fs::read_to_string(repository().join("docs/architecture.md")).unwrap();
    let (_, states) = docs.split_once("### States").unwrap();
    let (states, _) = states.split_once("\n### ").unwrap();
    // States that last for no input, and the state of the run itself.
    let unseen = ["Beginning", "Ended", "Running"];
    let mut known = Vec::new();
    for (file, name) in [("machine.rs", "Activity"), ("run.rs", "Phase"), ("call.rs", "Stage")] {
        known.extend(variants(file, name));
    }
    assert!(known.len() > 12, "{known:?}");
    for state in known.iter().filter(|state| !unseen.contains(&state.as_str())) {
        assert!(states.contains(state.as_str()), "the page does not name {state}");
    }
    let (_, diagram) = states.split_once("```text").unwrap();
    let (diagram, _) = diagram.split_once("```").unwrap();
    let drawn = diagram.split(|c: char| !c.is_alphanumeric()).filter(|word| word.starts_with(char::is_uppercase));
    for word in drawn.filter(|word| !["SessionStart", "UserPromptSubmit"].contains(word)) {
        assert!(known.iter().any(|state| state == word), "{word} is drawn, and no state");
    }
}
