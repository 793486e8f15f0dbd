#![cfg(unix)]

use crate::place::{Place, call, text};
use serde_json::{Value, json};
use std::io::{BufRead, BufReader};
use std::process::{Child, Command};

fn sleeping() -> (Place, Child) {
    let place = Place::with_turns(&[call("Bash", &json!({ "command": "sleep 60" })), text("done")]);
    let args = ["-p", "x", "--output-format", "stream-json", "--allowedTools", "Bash(sleep *)"];
    let child = place.command(&args).spawn().unwrap();
    (place, child)
}

/// Sends a signal once the tool call is on its way; returns the last frame, the exit code and the place.
fn stopped_by(signal: &str) -> (Value, Option<i32>, Place) {
    let (place, mut child) = sleeping();
    let mut frames = BufReader::new(child.stdout.take().unwrap()).lines().map(|line| line.unwrap());
    while !frames.next().unwrap().contains("\"tool_use\"") {}
    let killed = Command::new("kill").args([signal, &child.id().to_string()]).status().unwrap();
    assert!(killed.success());
    let last = frames.last().unwrap();
    (serde_json::from_str(&last).unwrap(), child.wait().unwrap().code(), place)
}

#[test]
fn an_interrupt_ends_the_run_with_a_result() {
    let (result, code, place) = stopped_by("-INT");
    assert_eq!(code, Some(130));
    assert_eq!((&result["type"], &result["subtype"]), (&json!("result"), &json!("error_during_execution")));
    assert!(result["terminal_reason"].as_str().unwrap().starts_with("aborted"), "{result}");
    assert_eq!(result["errors"], json!(["The run was interrupted by the user"]));
    place.script(&[text("And on.")]);
    let ran = place.run(&["-p", "go on", "--continue"]).with_code(0);
    assert_eq!(ran.stdout, "And on.\n");
}

#[test]
fn termination_closes_the_session() {
    let (result, code, place) = stopped_by("-TERM");
    assert_eq!(code, Some(143));
    assert_eq!((&result["type"], &result["subtype"]), (&json!("result"), &json!("error_during_execution")));
    assert_eq!(result["errors"], json!(["The run was stopped: the program received SIGTERM"]));
    let path = place.logs().pop().unwrap();
    let report = &place.run(&["sessions", "check", path.to_str().unwrap()]).with_code(0).lines()[0];
    assert_eq!((&report["valid"], &report["synthetic_results"]), (&json!(true), &json!(0)));
}
