#![cfg(unix)]

use crate::living::{ended, eventually, signal};
use crate::place::{Place, call, text};
use serde_json::{Value, json};
use std::io::{BufRead, BufReader, Read, Write};
use std::process::{Child, Command, Stdio};

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

/// The command as a program starts it that ignores a signal, such as `nohup`.
#[cfg(target_os = "linux")]
fn ignoring(name: &str, command: &Command) -> Command {
    let mut shell = Command::new("/bin/sh");
    let own = command.get_args().skip_while(|word| *word != env!("CARGO_BIN_EXE_windlass")).skip(1);
    let own: Vec<_> = if command.get_program() == "env" { own.collect() } else { command.get_args().collect() };
    shell.args(["-c", &format!("trap '' {name}; exec \"$@\""), "sh", env!("CARGO_BIN_EXE_windlass")]);
    shell.args(own).current_dir(command.get_current_dir().unwrap()).env_clear();
    shell.envs(command.get_envs().filter_map(|(name, value)| Some((name, value?))));
    shell.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    shell
}

#[cfg(target_os = "linux")]
#[test]
fn a_signal_that_was_ignored_at_the_start_stays_ignored() {
    let host = ["--input-format", "stream-json", "--output-format", "stream-json"];
    let prompt = json!({ "type": "user", "message": { "role": "user", "content": "x" } });
    for name in ["HUP", "INT", "TERM"] {
        for args in [&["-p", "x"][..], &host] {
            let wait = "touch begun; until [ -e end ]; do sleep 0.05; done";
            let place = Place::with_turns(&[call("Bash", &json!({ "command": wait })), text("Survived.")]);
            let args = [args, &["--allowedTools", "Bash"]].concat();
            let mut child = ignoring(name, &place.command(&args)).spawn().unwrap();
            let mut input = child.stdin.take().unwrap();
            if args[0] != "-p" {
                writeln!(input, "{prompt}").unwrap();
            }
            drop(input);
            eventually("the command runs", || place.work().join("begun").exists().then_some(()));
            signal(&format!("-{name}"), &child);
            std::fs::write(place.work().join("end"), "").unwrap();
            let output = std::io::read_to_string(child.stdout.take().unwrap()).unwrap();
            assert_eq!(ended(&mut child), Some(0), "{name} {args:?}: {output}");
            assert!(output.contains("Survived."), "{name} {args:?}: {output}");
        }
    }
}

/// Syncs of the log take 15 seconds.
#[cfg(target_os = "linux")]
#[test]
fn termination_on_a_disk_that_hangs_names_what_may_not_be_stored() {
    if !windlass_testkit::strace::is_available() {
        return;
    }
    let id = "11111111-2222-4333-8444-555555555555";
    let stream = ["--output-format", "stream-json", "--include-partial-messages", "--verbose", "--resume", id];
    for start in [&["-p", "go on"][..], &["--input-format", "stream-json"]] {
        let place = Place::with_turns(&[text("One.")]);
        place.run(&["-p", "x", "--session-id", id]).with_code(0);
        let log = place.logs().pop().unwrap();
        place.script(&[text("Two."), text("Three.")]);
        let command = place.command(&[start, &stream].concat());
        let mut traced = Command::new("strace");
        traced.args(["-D", "-f", "-qq", "-o", "/dev/null", "-P"]).arg(&log);
        traced.args(["-e", "trace=fdatasync,fsync", "-e", "inject=fdatasync,fsync:delay_enter=15000000"]);
        traced.arg(command.get_program()).args(command.get_args()).current_dir(place.work()).env_clear();
        traced.envs(command.get_envs().filter_map(|(name, value)| Some((name, value?))));
        traced.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = traced.spawn().unwrap();
        let mut input = child.stdin.take().unwrap();
        let prompt = json!({ "type": "user", "message": { "role": "user", "content": "go on" } });
        if start[0] != "-p" {
            writeln!(input, "{prompt}").unwrap();
        }
        let mut frames = BufReader::new(child.stdout.take().unwrap()).lines().map(|line| line.unwrap());
        while !frames.next().unwrap().contains("content_block_delta") {}
        signal("-TERM", &child);
        let rest: Vec<String> = frames.collect();
        let mut err = String::new();
        child.stderr.take().unwrap().read_to_string(&mut err).unwrap();
        assert_eq!(ended(&mut child), Some(143), "{start:?}: {rest:#?} {err}");
        let last = rest.last().unwrap();
        let is_said = |text: &str| text.contains("log did not answer") && text.contains("message of the user");
        assert!(last.contains(r#""type":"result""#) && is_said(last), "{start:?}: {rest:#?} {err}");
        assert!(start[0] != "-p" || is_said(&err), "{start:?}: {err}");
        drop(input);
    }
}
