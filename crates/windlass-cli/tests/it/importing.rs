//! `windlass import`: what other agents have, shown before it is written.

use crate::place::{Place, write};
use serde_json::{Value, json};
use std::path::{Path, PathBuf};

/// Files below a directory, sorted.
fn files(root: &Path) -> Vec<PathBuf> {
    let (mut found, mut waiting) = (Vec::new(), vec![root.to_path_buf()]);
    while let Some(folder) = waiting.pop() {
        for entry in std::fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() { waiting.push(path) } else { found.push(path) }
        }
    }
    found.sort();
    found
}

/// Configuration of five agents.
fn agents(place: &Place) {
    let (home, work) = (place.home(), place.work());
    let codex = "model = \"gpt-5.5\"\n[mcp_servers.git]\ncommand = \"uvx\"\nargs = [\"mcp-git\"]\nenv = { GITHUB_TOKEN = \"abc123\", LEVEL = \"2\" }\n";
    write(&home.join(".codex/config.toml"), codex);
    write(&home.join(".codex/prompts/review.md"), "Review $ARGUMENTS.\n");
    write(&home.join(".codex/AGENTS.md"), "Be brief.\n");
    write(&work.join(".cursor/mcp.json"), r#"{"mcpServers": {"files": {"command": "npx", "args": ["-y", "files"]}}}"#);
    write(&work.join(".cursor/rules/ts.mdc"), "---\nglobs: *.ts\n---\nUse strict types.\n");
    write(&work.join("GEMINI.md"), "Tests first.\n");
    write(&home.join(".gemini/commands/fix.toml"), "description = \"Fixes\"\nprompt = \"Fix {{args}}\"\n");
    let goose = "GOOSE_PROVIDER: openai\nGOOSE_MODEL: gpt-5\nextensions:\n  web:\n    type: streamable_http\n    uri: https://h/mcp\n";
    write(&home.join(".config/goose/config.yaml"), goose);
    let opencode = json!({"mcp": {"db": {"type": "local", "command": ["db", "--stdio"]}}});
    write(&work.join("opencode.json"), &opencode.to_string());
}

#[test]
fn everything_is_shown_and_nothing_is_written_without_a_yes() {
    let place = Place::new();
    agents(&place);
    let before = files(&place.path("."));
    let ran = place.run(&["import"]).with_code(1);
    for part in [
        "server        git (codex) → your servers of this project: uvx mcp-git",
        "its value of GITHUB_TOKEN is not copied",
        "command       review.md (codex)",
        "instructions  AGENTS.md (gemini)",
        "setting       model (codex) → your settings: openai/gpt-5.5",
        "skipped       setting model (goose): another one of this import comes first",
        "server        web (goose)",
        "server        db (opencode)",
    ] {
        assert!(ran.stdout.contains(part), "{part}: {}", ran.stdout);
    }
    assert!(ran.stderr.contains("--yes") && !ran.stdout.contains("abc123"), "{ran:#?}");
    assert_eq!(files(&place.path(".")), before);
}

#[test]
fn what_is_imported_counts_and_nothing_is_overwritten() {
    let place = Place::new();
    agents(&place);
    write(&place.home().join(".windlass/commands/fix.md"), "mine\n");
    place.run(&["import", "--yes"]).with_code(0);
    let read = |path: &str| std::fs::read_to_string(place.path(path)).unwrap();
    assert_eq!(read("work/AGENTS.md"), "Tests first.\n");
    assert_eq!(read("work/.windlass/rules/ts.md"), "---\npaths: [\"*.ts\"]\n---\nUse strict types.\n");
    assert_eq!(read("home/.windlass/AGENTS.md"), "Be brief.\n");
    assert_eq!(read("home/.windlass/commands/review.md"), "Review $ARGUMENTS.\n");
    assert_eq!(read("home/.windlass/commands/fix.md"), "mine\n");
    let settings: Value = serde_json::from_str(&read("home/.windlass/settings.json")).unwrap();
    assert_eq!(settings, json!({"model": "openai/gpt-5.5"}));
    let servers = place.run(&["mcp", "list"]).with_code(0).stdout;
    for name in ["git", "files", "web", "db"] {
        assert!(servers.lines().any(|line| line.starts_with(name)), "{name}: {servers}");
    }
    let stored = read("home/.claude.json");
    assert!(
        stored.contains("${GITHUB_TOKEN}") && stored.contains("\"LEVEL\"") && !stored.contains("abc123"),
        "{stored}"
    );
    // A second run finds everything there.
    let before = files(&place.path("."));
    let again = place.run(&["import", "--yes"]).with_code(1);
    assert!(
        again.stdout.lines().filter(|line| !line.starts_with(' ')).all(|line| line.starts_with("skipped")),
        "{again:#?}"
    );
    assert_eq!(files(&place.path(".")), before);
}

#[test]
fn one_agent_can_be_chosen_and_a_broken_file_is_named() {
    let place = Place::new();
    agents(&place);
    let ran = place.run(&["import", "cursor", "--json"]).with_code(1);
    assert!(!ran.lines().is_empty() && ran.lines().iter().all(|line| line["agent"] == "cursor"), "{ran:#?}");
    assert!(place.run(&["import", "claude-code"]).with_code(1).stderr.contains("nothing to import"));
    write(&place.home().join(".codex/config.toml"), "model = \n");
    let ran = place.run(&["import", "codex"]).with_code(2);
    assert!(ran.stderr.contains("config.toml") && ran.stderr.lines().count() == 1, "{ran:#?}");
    // A text with a secret stays where it is.
    let secret = format!("Use sk-ant-api03-{}\n", "a1B2".repeat(20));
    write(&place.work().join(".cursorrules"), &secret);
    let ran = place.run(&["import", "cursor"]).with_code(1);
    assert!(ran.stdout.contains("it holds what looks like a secret") && !ran.stdout.contains("a1B2a1B2"), "{ran:#?}");
}
