//! `windlass context index` and `windlass context search`.

use crate::place::{Place, write};
use serde_json::Value;

#[test]
fn the_project_is_shown_and_searched() {
    let place = Place::new();
    write(&place.work().join("Cargo.toml"), "[package]\nname = \"house\"\n");
    write(&place.work().join("src/door.rs"), "pub fn open_door() {}\n");
    write(&place.work().join("src/wall.rs"), "pub fn paint() {}\n");
    let shown = place.run(&["context", "index"]).with_code(0).stdout;
    for line in [
        "files in ",
        "\n- Rust: 2 files, 100 %\n",
        "\n- house (Cargo, Cargo.toml)\n",
        "`cargo test` (usual for Cargo.toml)",
    ] {
        assert!(shown.contains(line), "{line:?} in {shown}");
    }
    let overview: Value = serde_json::from_str(&place.run(&["context", "index", "--json"]).stdout).unwrap();
    assert_eq!(overview["packages"][0]["name"], "house");
    assert_eq!(
        place.run(&["context", "search", "open", "the", "door"]).with_code(0).stdout,
        "src/door.rs:1 open_door\n"
    );
    assert_eq!(place.run(&["context", "search", "weather"]).with_code(1).stdout, "");
    let denied = r#"{"permissions": {"deny": ["Read(src/door.rs)"]}}"#;
    assert_eq!(place.run(&["context", "search", "door", "--settings", denied]).with_code(1).stdout, "");
    let off = place.run(&["context", "index", "--settings", r#"{"projectIndex": false}"#]).with_code(1);
    assert!(off.stderr.contains("switch the index of this project off"), "{}", off.stderr);
}
