//! Runs whose process was killed: they are listed, and continue without a prompt.

use crate::living::{ended, eventually, number, signal};
use crate::pending::{SESSION, ran};
use crate::place::{Place, call, text};
use serde_json::{Value, json};
use std::time::Duration;

const ARGS: [&str; 6] = ["-p", "do it", "--session-id", SESSION, "--allowedTools", "Bash"];

fn bash(command: &str) -> Value {
    call("Bash", &json!({ "command": command }))
}

/// Ids of the sessions with an open run.
fn open(place: &Place) -> Vec<Value> {
    let lines = place.run(&["sessions", "list", "--open"]).with_code(0).lines();
    lines.iter().map(|line| line["session_id"].clone()).collect()
}

/// A process that is in the middle of a command.
fn working(place: &Place) -> std::process::Child {
    place.script(&[bash("echo ran >> ran.txt; echo $$ > one; sleep 1000"), text("Never.")]);
    let child = place.command(&ARGS).spawn().unwrap();
    number(&place.work().join("one"));
    child
}

#[test]
fn a_run_that_was_killed_is_listed_and_continues_without_a_prompt() {
    let place = Place::new();
    let mut killed = working(&place);
    signal("-KILL", &killed);
    ended(&mut killed);
    assert_eq!(open(&place), [json!(SESSION)]);
    // An empty argument, as that of an empty variable, is a mistake.
    for empty in [["-p", "", "--continue"].as_slice(), &["-p", " ", "--resume", SESSION]] {
        let stderr = place.run(empty).with_code(2).stderr;
        assert!(stderr.contains("the prompt is empty"), "{stderr}");
    }
    place.script(&[text("It is done.")]);
    assert_eq!(place.run(&["-p", "--continue"]).with_code(0).stdout, "It is done.\n");
    assert_eq!(ran(&place), 1);
    let log = std::fs::read_to_string(&place.logs()[0]).unwrap();
    assert_eq!(log.matches("do it").count(), 1, "the prompt was sent twice");
    assert!(log.contains("The outcome of this call is unknown"), "{log}");
    assert!(open(&place).is_empty());
    for args in [["-p", "--continue"].as_slice(), &["-p", "--resume", SESSION]] {
        let stderr = place.run(args).with_code(2).stderr;
        assert!(stderr.contains("there is nothing to continue"), "{stderr}");
    }
    assert_eq!(place.run(&["sessions", "check", SESSION]).with_code(0).lines()[0]["warnings"], json!([]));
}

#[test]
fn a_run_that_was_stopped_is_not_continued() {
    let place = Place::new();
    let mut stopped = working(&place);
    signal("-TERM", &stopped);
    assert_eq!(ended(&mut stopped), Some(143));
    assert!(open(&place).is_empty());
    place.script(&[text("Never.")]);
    place.run(&["-p", "--continue"]).with_code(2);
    assert_eq!(ran(&place), 1);
}

#[test]
fn a_host_continues_a_run_that_was_killed() {
    let place = Place::new();
    let mut killed = working(&place);
    signal("-KILL", &killed);
    ended(&mut killed);
    place.script(&[text("It is done.")]);
    let args =
        ["-p", "--input-format", "stream-json", "--output-format", "stream-json", "--verbose", "--resume", SESSION];
    let prompt = json!({ "type": "user", "message": { "role": "user", "content": "/continue-run" } });
    let lines = place.run_with(&args, &format!("{prompt}\n")).with_code(0).lines();
    let result = lines.iter().find(|line| line["type"] == "result").unwrap();
    assert_eq!((&result["subtype"], &result["result"]), (&json!("success"), &json!("It is done.")));
    assert_eq!(ran(&place), 1);
}

/// Kills at times all over a run. Whatever the log holds then, the run ends, and the command ran once at most.
#[test]
fn a_run_that_is_killed_at_any_time_ends_and_repeats_nothing() {
    let mut continued = 0;
    for trial in 0_u64..16 {
        let place = Place::new();
        place.script(&[bash("echo ran >> ran.txt; sleep 0.05"), text("Done.")]);
        let mut killed = place.command(&ARGS).spawn().unwrap();
        if trial % 2 == 0 {
            // Around the command.
            eventually("the log", || place.logs().first().cloned());
            std::thread::sleep(Duration::from_millis(trial * 7));
        } else {
            std::thread::sleep(Duration::from_millis(trial * 23));
        }
        let _ = killed.kill();
        let code = ended(&mut killed);
        let before = ran(&place);
        place.script(&[text("Continued.")]);
        if open(&place).is_empty() {
            // The run had not begun, or had ended: the process may be killed behind the last line of its log.
            let has_end = || place.logs().iter().any(|log| std::fs::read_to_string(log).unwrap().contains("Done."));
            assert!(code == Some(0) || before == 0 || (before == 1 && has_end()), "trial {trial}: {code:?}");
            continue;
        }
        continued += 1;
        let said = place.run(&["-p", "--continue"]).with_code(0).stdout;
        assert!(said == "Continued.\n" || said == "Done.\n", "trial {trial}: {said}");
        assert_eq!(ran(&place), before, "trial {trial}");
        assert!(before <= 1 && open(&place).is_empty(), "trial {trial}");
        assert_eq!(place.run(&["sessions", "check", SESSION]).with_code(0).lines()[0]["warnings"], json!([]));
    }
    assert!(continued > 0, "no kill hit a run");
}
