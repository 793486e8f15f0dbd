//! Threads that the system does not start.
#![cfg(target_os = "linux")]

use crate::place::{Place, Ran, call, text};
use serde_json::json;
use std::process::Command;

#[test]
fn a_thread_that_cannot_be_started_is_an_error_or_is_done_without() {
    if !windlass_testkit::strace::is_available() {
        return;
    }
    let turns = [call("Bash", &json!({ "command": "touch made" })), text("Done.")];
    let mut failed = 0;
    // From which start on the system refuses.
    for from in 1..14 {
        let place = Place::with_turns(&turns);
        let command = place.command(&["-p", "x", "--allowedTools", "Bash"]);
        let mut traced = Command::new("strace");
        traced.args(["-f", "-qq", "-o", "/dev/null", "-e", "trace=clone3"]);
        traced.args(["-e", &format!("inject=clone3:error=EAGAIN:when={from}+")]);
        traced.arg(command.get_program()).args(command.get_args()).current_dir(place.work()).env_clear();
        traced.envs(command.get_envs().filter_map(|(name, value)| Some((name, value?))));
        let ran: Ran = traced.output().unwrap().into();
        assert!(!ran.stderr.contains("panicked"), "{from}: {ran:#?}");
        match ran.code {
            0 => assert!(ran.stdout == "Done.\n", "{from}: {ran:#?}"),
            _ => {
                failed += 1;
                assert!(ran.code == 1 && ran.stderr.contains("thread"), "{from}: {ran:#?}");
            }
        }
    }
    assert!((1..13).contains(&failed), "{failed}");
}
