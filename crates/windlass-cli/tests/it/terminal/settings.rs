//! Settings of the terminal: status line, keys, colours.

use super::emulator::Emulator;
use super::text;
use crate::place::{Place, write};
use serde_json::json;
use std::time::Duration;

fn place(settings: &serde_json::Value) -> Place {
    let place = Place::with_turns(&[text("An answer.")]);
    write(&place.home().join(".windlass/settings.json"), &settings.to_string());
    place
}

#[test]
fn a_command_writes_the_row_below_the_prompt_when_something_has_changed() {
    let script = "cat > facts.json; echo run >> runs; printf '\\033[31mmine\\033[0m\\nsecond'";
    let place = place(&json!({ "statusLine": { "type": "command", "command": script } }));
    let mut terminal = Emulator::start(&place, &["go"]);
    terminal.wait_for("1 turn");
    terminal.wait_for("mine");
    assert!(!terminal.screen().contains("second"), "one row");
    std::thread::sleep(Duration::from_secs(1));
    let runs = || std::fs::read_to_string(place.work().join("runs")).unwrap().lines().count();
    let before = runs();
    std::thread::sleep(Duration::from_secs(1));
    assert_eq!(runs(), before, "nothing has changed");
    let facts = std::fs::read_to_string(place.work().join("facts.json")).unwrap();
    let facts: serde_json::Value = serde_json::from_str(&facts).unwrap();
    assert_eq!(facts["hook_event_name"], "Status");
    assert_eq!(facts["workspace"]["current_dir"], json!(place.work().canonicalize().unwrap()));
    assert!(facts["session_id"].as_str().is_some_and(|id| id.len() == 36), "{facts}");
}

#[test]
fn a_status_line_of_a_project_never_runs() {
    let place = Place::with_turns(&[text("An answer.")]);
    let line = json!({ "statusLine": { "type": "command", "command": "touch ran; echo evil" } });
    for file in [".windlass/settings.json", ".windlass/settings.local.json"] {
        write(&place.work().join(file), &line.to_string());
    }
    let mut terminal = Emulator::start(&place, &["--trust", "go"]);
    terminal.wait_for("1 turn");
    std::thread::sleep(Duration::from_secs(1));
    assert!(!place.work().join("ran").exists());
    assert!(terminal.screen().contains("`statusLine` does not count in a file of a project"), "{}", terminal.screen());
}

#[test]
fn keys_follow_settings() {
    let keys = json!({ "ctrl+x": "transcript" });
    let place = place(&json!({ "keyBindings": keys, "terminalProgressBarEnabled": false, "theme": "nonsense" }));
    let mut terminal = Emulator::start(&place, &["go"]);
    terminal.wait_for("1 turn");
    assert!(terminal.screen().contains("There is no theme"), "{}", terminal.screen());
    terminal.send(b"\x18");
    terminal.wait_for("q closes");
    assert!(!terminal.raw_text().contains("\u{1b}]9;4"), "no progress");
}

#[test]
fn colours_follow_the_background_that_the_terminal_tells() {
    let place = Place::with_turns(&[text("# Title")]);
    let mut terminal = Emulator::start_on(&place, &["go"], "\x1b]11;rgb:ffff/ffff/ffff\x1b\\");
    terminal.wait_for("1 turn");
    let raw = terminal.raw_text();
    assert!(raw.contains("\u{1b}]11;?"), "it was asked");
    // Headings of the theme `light` are nearly black.
    assert!(raw.contains("38;5;232"), "{raw:?}");
    assert!(!terminal.screen().contains("rgb:"), "the answer is no text");
}
