use crate::place::{Place, text};
use std::io::Write;

#[test]
fn a_session_goes_on() {
    let place = Place::with_turns(&[text("one")]);
    let id = "AAAAAAAA-1111-4111-8111-111111111111";
    place.run(&["-p", "first", "--session-id", id]).with_code(0);
    let id = id.to_ascii_lowercase();
    place.run(&["-p", "second", "--continue"]).with_code(0);
    place.run(&["-p", "third", "-r", &id]).with_code(0);
    assert_eq!(place.logs().len(), 1);
    let exported = place.run(&["sessions", "export", &id, "--format", "messages"]).with_code(0);
    for prompt in ["first", "second", "third"] {
        assert!(exported.stdout.contains(prompt), "{}", exported.stdout);
    }
    let shown = place.run(&["sessions", "show", &id]).with_code(0);
    assert_eq!(shown.stdout, "> first\n< one\n> second\n< one\n> third\n< one\n");
    let listed = place.run(&["sessions", "list"]).with_code(0);
    assert_eq!(listed.lines()[0]["session_id"], id);
    assert_eq!(listed.lines()[0]["first_prompt"], "first");
}

#[test]
fn nothing_is_kept_when_nothing_may_be() {
    let place = Place::with_turns(&[text("one")]);
    place.run(&["-p", "x", "--no-session-persistence"]).with_code(0);
    assert!(std::fs::read_dir(place.home()).unwrap().next().is_none());
}

#[test]
fn a_damaged_session_is_reported_and_goes_on() {
    let place = Place::with_turns(&[text("one")]);
    place.run(&["-p", "first"]).with_code(0);
    let log = place.logs().pop().unwrap();
    let before = std::fs::read(&log).unwrap();
    let mut damaged = std::fs::OpenOptions::new().append(true).open(&log).unwrap();
    damaged.write_all(b"\x00\xffnonsense\n{\"type\":\"user\",\"mess").unwrap();
    let written = std::fs::read(&log).unwrap();

    let path = log.to_str().unwrap();
    let report = &place.run(&["sessions", "check", path]).with_code(0).lines()[0];
    assert_eq!(report["file"], path);
    assert_eq!(report["messages"], 2);
    assert_eq!(report["valid"], true);
    let skipped = report["skipped"].as_array().unwrap();
    assert_eq!(skipped[0]["line"], before.iter().filter(|byte| **byte == b'\n').count() + 1);
    for key in ["entries", "synthetic_results", "dropped_results", "warnings"] {
        assert!(report.get(key).is_some(), "{key}");
    }
    assert_eq!(std::fs::read(&log).unwrap(), written, "a check changes nothing");

    let ran = place.run(&["-p", "second", "--continue"]).with_code(0);
    assert!(ran.stderr.contains("damaged"), "{}", ran.stderr);
    assert!(place.run(&["sessions", "export", path]).with_code(0).stdout.contains("first"));
}

#[test]
fn files_that_cannot_be_used_do_not_stop_the_rest() {
    let place = Place::with_turns(&[text("one")]);
    place.run(&["-p", "first"]).with_code(0);
    let log = place.logs().pop().unwrap();
    std::fs::write(place.path("noise"), "no session\n").unwrap();
    let args = ["sessions", "check", "missing", place.path("noise").to_str().unwrap(), log.to_str().unwrap()]
        .map(str::to_owned);
    let args: Vec<&str> = args.iter().map(String::as_str).collect();
    let reports = place.run(&args).with_code(1).lines();
    let valid: Vec<bool> = reports.iter().map(|report| report["valid"].as_bool().unwrap()).collect();
    assert_eq!(valid, [false, false, true]);
    assert!(reports[0]["error"].as_str().unwrap().contains("missing"));
    let ran = place.run(&["sessions", "show", "11111111-1111-4111-8111-111111111111"]).with_code(1);
    assert!(ran.stderr.contains("No conversation found"), "{}", ran.stderr);
}
