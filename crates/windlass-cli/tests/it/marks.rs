//! Two processes with the same session do not take each other for their own.

use crate::living::{alive, ended, eventually, is_gone, number, signal};
use crate::place::{Place, call, text};
use serde_json::json;
use std::process::{Child, Command};

const ID: &str = "0b6f2f4e-5d0c-4d2e-9c53-6f2c2b1a7c11";

/// Starts a run of one command, whose script has a name of its own.
fn start(place: &Place, name: &str, command: &str, args: &[&str]) -> Child {
    let script = place.path(name);
    let turns = json!([{ "blocks": call("Bash", &json!({ "command": command })) }, { "blocks": text("done") }]);
    std::fs::write(&script, json!({ "version": 1, "turns": turns }).to_string()).unwrap();
    let args = [&["-p", "x", "--allowedTools", "Bash"], args].concat();
    place.command(&args).env("WINDLASS_SCRIPT", script).spawn().unwrap()
}

/// The processes that this one has started.
fn children(of: &str) -> Vec<String> {
    let listed = Command::new("ps").args(["-o", "pid=", "--ppid", of]).output().unwrap();
    String::from_utf8(listed.stdout).unwrap().split_whitespace().map(str::to_owned).collect()
}

#[test]
fn what_one_process_stops_is_not_of_another_with_the_same_session() {
    let place = Place::new();
    let id = ["--session-id", ID, "--no-session-persistence"];
    let wait = "while [ ! -e stop ]; do sleep 0.05; done; sleep 1000 & echo $! > left";
    let mut first = start(&place, "first", &format!("echo $$ > one; {wait}"), &id);
    number(&place.work().join("one"));
    // The second process is the younger one: a process older than a command is never taken for its work.
    let wait = "while [ ! -e go ]; do sleep 0.05; done; echo yes > survived";
    let mut second = start(&place, "second", &format!("echo $$ > two; {wait}"), &id);
    let two = number(&place.work().join("two"));
    std::fs::write(place.work().join("stop"), "").unwrap();
    assert_eq!(ended(&mut first), Some(0));
    assert!(is_gone(&number(&place.work().join("left"))), "what it left is stopped");
    assert!(!is_gone(&two), "the command of the other process continues");
    std::fs::write(place.work().join("go"), "").unwrap();
    assert_eq!(ended(&mut second), Some(0));
    assert!(place.work().join("survived").exists());
}

#[test]
fn the_watchdog_of_a_killed_process_spares_the_one_that_resumes_its_session() {
    let place = Place::new();
    let mut killed = start(&place, "first", "echo $$ > one; sleep 1000", &["--session-id", ID]);
    let one = number(&place.work().join("one"));
    let owner = killed.id().to_string();
    // The command runs below a keeper, which is a child of the process as well.
    let is_keeper = |pid: &String| children(pid).contains(&one);
    let watchdogs: Vec<String> = children(&owner).into_iter().filter(|pid| !is_keeper(pid)).collect();
    assert_eq!(watchdogs.len(), 1);
    signal("-KILL", &killed);
    let wait = "echo $$ > two; while [ ! -e go ]; do sleep 0.05; done; echo yes > survived";
    let mut resumed = start(&place, "second", wait, &["--resume", ID]);
    ended(&mut killed);
    number(&place.work().join("two"));
    eventually("the watchdog has done its work", || is_gone(&watchdogs[0]).then_some(()));
    assert!(is_gone(&one));
    std::fs::write(place.work().join("go"), "").unwrap();
    assert_eq!(ended(&mut resumed), Some(0));
    assert!(place.work().join("survived").exists());
    eventually("nothing is left", || alive(&format!("WINDLASS_CALL={ID}")).is_empty().then_some(()));
}
