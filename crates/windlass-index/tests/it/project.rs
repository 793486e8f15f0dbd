//! Ordinary projects.

use crate::tree::{Tree, names, paths};
use std::fs;

fn workspace() -> Tree {
    Tree::with(&[
        ("Cargo.toml", "[workspace]\nmembers = [\"crates/*\"]\n"),
        ("README.md", "A house."),
        (".gitignore", "/target\n*.log\n"),
        (".github/workflows/ci.yml", "on: push"),
        ("crates/door/Cargo.toml", "[package]\nname = \"door\"\n[dependencies]\nhinge = { path = \"../hinge\" }\n"),
        ("crates/door/src/lib.rs", "pub fn open_door() {}\n\npub struct DoorHandle;\n"),
        ("crates/hinge/Cargo.toml", "[package]\nname = \"hinge\"\n[dependencies]\naxum = \"1\"\n"),
        ("crates/hinge/src/main.rs", "fn main() {}\n\nfn oil_hinge() {}\n"),
        ("target/debug/door.rs", "pub fn open_door() {}"),
        ("noise.log", "open door"),
        ("node_modules/door/index.js", "function openDoor() {}"),
        ("web/index.ts", "export function paintWall() {}\n"),
    ])
}

#[test]
fn an_overview_says_what_there_is() {
    let overview = workspace().overview();
    assert_eq!((overview.files, overview.is_complete), (9, true));
    let languages: Vec<&str> = overview.languages.iter().map(|share| share.language.as_str()).collect();
    assert_eq!(languages, ["Rust", "TypeScript"]);
    let uses: Vec<(&str, &[String])> =
        overview.packages.iter().map(|package| (package.name.as_str(), package.uses.as_slice())).collect();
    assert_eq!(uses, [("door", ["crates/hinge/Cargo.toml".to_owned()].as_slice()), ("hinge", &[])]);
    assert_eq!(overview.entry_points, ["crates/door/src/lib.rs", "crates/hinge/src/main.rs"]);
    assert_eq!(overview.important, ["README.md", "Cargo.toml", ".github/workflows/ci.yml"]);
    assert_eq!(overview.ignored, ["node_modules", "target"]);
    assert_eq!(overview.frameworks[0].name, "axum");
    assert_eq!(overview.commands[0].command, "cargo test");
}

#[test]
fn a_search_ranks_paths_and_symbols() {
    let tree = workspace();
    let index = tree.fresh();
    let found = index.search("door handle", 10, &|| false).unwrap();
    assert_eq!(found.hits[0].path, "crates/door/src/lib.rs");
    let symbols: Vec<(u32, &str)> =
        found.hits[0].symbols.iter().map(|symbol| (symbol.line, symbol.name.as_str())).collect();
    assert_eq!(symbols, [(1, "open_door"), (3, "DoorHandle")]);
    assert_eq!(paths(&index, "paint"), ["web/index.ts"]);
    assert!(paths(&index, "noise").is_empty() && paths(&index, "weather").is_empty());
    assert_eq!(index.search("rs", 1, &|| false).unwrap().hits.len(), 1);
}

#[test]
fn the_first_request_has_the_cache_or_the_root_alone() {
    let tree = workspace();
    let first = tree.cached().for_model().unwrap().text;
    assert!(first.contains("cargo test") && !first.contains("door") && !first.contains(" files in "), "{first}");
    tree.cached().overview(&|| false).unwrap();
    let text = tree.cached().for_model().unwrap().text;
    assert!(text.contains("9 files in 9 folders") && text.contains("door (Cargo), hinge (Cargo)"), "{text}");
    // The cache answers, whatever has happened since.
    fs::remove_dir_all(tree.root.join("crates")).unwrap();
    assert_eq!(tree.cached().for_model().unwrap().text, text);
    assert!(Tree::with(&[("a.txt", "x")]).fresh().for_model().is_none());
}

#[test]
fn work_in_the_background_fills_the_cache_and_ends_with_the_index() {
    let tree = workspace();
    let index = tree.cached();
    index.refresh_in_background();
    // A search waits for it, and sees its results.
    assert!(!paths(&index, "door").is_empty());
    assert_eq!(names(&tree.cache()), 3, "overview, tree, symbols");
    drop(index);
    assert!(tree.fresh().overview(&|| true).is_err(), "a stopped index says so");
    let stopped = tree.fresh();
    assert!(stopped.search("door", 1, &|| true).is_err());
    assert!(!stopped.search("door", 1, &|| false).unwrap().hits.is_empty(), "and can be asked again");
}

/// A disk that hangs holds up the background, and a call that waits for it can still be stopped.
#[test]
fn a_call_that_waits_for_the_background_can_be_stopped() {
    let tree = workspace();
    let (reached, is_reached) = std::sync::mpsc::channel();
    let (release, is_released) = std::sync::mpsc::channel::<()>();
    let disk = std::sync::Mutex::new(is_released);
    let config = tree.config().may_read(move |_| {
        let _first = reached.send(());
        disk.lock().unwrap().recv().is_err()
    });
    let index = windlass_index::ProjectIndex::new(config);
    index.refresh_in_background();
    is_reached.recv().unwrap();
    assert!(index.search("door", 1, &|| true).is_err());
    drop(release);
    assert!(!index.search("door", 1, &|| false).unwrap().hits.is_empty());
}

#[test]
fn what_may_not_be_read_is_neither_opened_nor_named() {
    let tree = workspace();
    let (hinge, readme) = (tree.root.join("crates/hinge"), tree.root.join("README.md"));
    let config = tree.config().may_read(move |path| !path.starts_with(&hinge) && path != readme);
    let index = windlass_index::ProjectIndex::new(config.cached_in(tree.cache()));
    let overview = index.overview(&|| false).unwrap();
    assert_eq!(overview.packages.len(), 1);
    assert_eq!(overview.important, ["Cargo.toml", ".github/workflows/ci.yml"]);
    assert!(paths(&index, "hinge").is_empty() && paths(&index, "readme").is_empty());
    // Another session may read all of it.
    assert_eq!(paths(&tree.cached(), "oil"), ["crates/hinge/src/main.rs"]);
    assert_eq!(tree.cached().overview(&|| false).unwrap(), tree.overview());
    assert!(!index.for_model().unwrap().text.contains("hinge"), "what another has cached is not shown either");
}

#[test]
fn files_of_secrets_are_not_named() {
    let tree = Tree::with(&[
        ("a/.env", "X=1"),
        ("server.pem", "x"),
        ("a/door.rs", "fn open() {}"),
        (".ssh/config.py", "def x(): 1"),
    ]);
    let index = tree.fresh();
    assert!(
        paths(&index, "env").is_empty() && paths(&index, "server").is_empty() && paths(&index, "config").is_empty()
    );
    assert_eq!(paths(&index, "door"), ["a/door.rs"]);
}

#[test]
fn a_cache_that_cannot_be_written_does_no_harm() {
    let tree = workspace();
    fs::write(tree.cache(), "no folder").unwrap();
    let index = tree.cached();
    assert_eq!(index.overview(&|| false).unwrap(), tree.overview());
    assert!(!paths(&index, "door").is_empty());
}
