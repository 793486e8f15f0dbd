//! A reader that does not read delays nothing but its own output.

use crate::living::{ended, eventually, is_gone, number, signal};
use crate::place::{Place, call, text};
use serde_json::{Value, json};
use std::io::Read;
use std::process::{Child, Stdio};

/// More than the pipe and the queue take up, less than a context window holds.
const FLOOD: usize = 480 * 1024;

/// A message with more text than any reader takes who does not read, and a command.
fn flood(command: &Value) -> Value {
    json!([{ "type": "text", "text": "flood ".repeat(FLOOD / 6) }, { "type": "tool_use", "name": "Bash", "input": command }])
}

const STREAM: &[&str] = &["--output-format", "stream-json"];

/// A run whose reader does not read, with a command under way, and the number of that.
fn stalled(format: &[&str], command: &Value) -> (Place, Child, String) {
    let place = Place::with_turns(&[flood(command), text("done")]);
    let child = place.command(&[&["-p", "x", "--allowedTools", "Bash"], format].concat()).spawn().unwrap();
    let command = number(&place.work().join("pid"));
    (place, child, command)
}

fn check(place: &Place) -> Value {
    let path = place.logs().pop().unwrap();
    place.run(&["sessions", "check", path.to_str().unwrap()]).with_code(0).lines()[0].clone()
}

#[test]
fn the_time_limit_of_a_command_runs_out_while_the_output_is_not_read() {
    let command = json!({ "command": "echo $$ > pid; sleep 1000", "timeout": 300 });
    let (place, mut child, command) = stalled(STREAM, &command);
    eventually("its time is up", || is_gone(&command).then_some(()));
    assert!(child.try_wait().unwrap().is_none(), "its reader did not read yet");
    // A late reader gets everything.
    let mut all = String::new();
    child.stdout.take().unwrap().read_to_string(&mut all).unwrap();
    assert_eq!(ended(&mut child), Some(0));
    let frames: Vec<Value> = all.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert!(all.len() > FLOOD && all.contains("did not end within 300 ms"));
    assert_eq!(frames.last().unwrap()["result"], "done");
    assert_eq!(check(&place)["valid"], true);
}

#[test]
fn termination_settles_the_call_while_the_output_is_not_read() {
    for (kill, code) in [("-TERM", 143), ("-HUP", 129)] {
        for format in [STREAM, &["--output-format", "json"]] {
            let command = json!({ "command": "echo $$ > pid; sleep 1000" });
            let (place, mut child, command) = stalled(format, &command);
            signal(kill, &child);
            assert_eq!(ended(&mut child), Some(code), "{kill} {format:?}");
            eventually("the command is gone", || is_gone(&command).then_some(()));
            let report = check(&place);
            assert_eq!(
                (&report["valid"], &report["synthetic_results"]),
                (&json!(true), &json!(0)),
                "{kill} {format:?}"
            );
        }
    }
}

#[test]
fn a_reader_that_goes_ends_the_run() {
    let command = json!({ "command": "echo $$ > pid; sleep 1000" });
    let (_place, mut child, command) = stalled(STREAM, &command);
    drop(child.stdout.take());
    assert_eq!(ended(&mut child), Some(0));
    eventually("the command is gone", || is_gone(&command).then_some(()));
}

/// Both streams are one pipe without a reader: notes wait as the answer does.
#[test]
fn activity_that_is_not_read_holds_up_no_command() {
    let lines = json!({ "command": "for i in $(seq 40); do printf '%0150d\\n' $i; done" });
    let mut turns = vec![call("Bash", &lines); 30];
    turns.push(call("Bash", &json!({ "command": "echo $$ > pid; sleep 1000", "timeout": 300 })));
    turns.push(text("done"));
    let place = Place::with_turns(&turns);
    let (reader, writer) = std::io::pipe().unwrap();
    let mut run = place.command(&["-p", "x", "--allowedTools", "Bash", "--verbose"]);
    run.stdout(writer.try_clone().unwrap()).stderr(writer);
    let mut child = run.spawn().unwrap();
    drop(run);
    let command = number(&place.work().join("pid"));
    eventually("its time is up", || is_gone(&command).then_some(()));
    assert!(child.try_wait().unwrap().is_none());
    let all = std::io::read_to_string(reader).unwrap();
    assert!(all.ends_with("done\n") && all.len() > 128 * 1024, "{} bytes", all.len());
    assert_eq!(ended(&mut child), Some(0));
}

#[test]
fn a_host_that_does_not_read_holds_up_no_command_and_no_end() {
    let command = json!({ "command": "echo $$ > pid; sleep 1000", "timeout": 300 });
    let place =
        Place::with_turns(&[flood(&command), call("Bash", &json!({ "command": "echo $$ > pid2; sleep 1000" }))]);
    let args = ["--input-format", "stream-json", "--output-format", "stream-json", "--allowedTools", "Bash"];
    let mut child = place.command(&args).stdin(Stdio::piped()).spawn().unwrap();
    let prompt = json!({ "type": "user", "message": { "role": "user", "content": "x" } });
    let mut input = child.stdin.take().unwrap();
    std::io::Write::write_all(&mut input, format!("{prompt}\n").as_bytes()).unwrap();
    let first = number(&place.work().join("pid"));
    eventually("its time is up", || is_gone(&first).then_some(()));
    let second = number(&place.work().join("pid2"));
    signal("-TERM", &child);
    assert_eq!(ended(&mut child), Some(143));
    eventually("it is gone", || is_gone(&second).then_some(()));
    assert_eq!(check(&place)["synthetic_results"], 0);
    drop(input);
}
