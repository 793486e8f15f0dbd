//! A session log that another program replaces during a run.

use crate::living::{eventually, number};
use crate::place::{Place, Ran, call, text};
use serde_json::json;
use std::path::Path;

/// A way to change a log.
type Change = fn(&Path);

/// Ways to change a log, with the words for each.
const CHANGES: [(&str, Change); 4] = [
    ("was replaced", |log| {
        std::fs::copy(log, log.with_extension("copy")).unwrap();
        std::fs::rename(log.with_extension("copy"), log).unwrap();
    }),
    ("was cut short", |log| std::fs::File::options().write(true).open(log).unwrap().set_len(10).unwrap()),
    ("was moved or removed", |log| std::fs::rename(log, log.with_extension("away")).unwrap()),
    ("was moved or removed", |log| std::fs::remove_file(log).unwrap()),
];

/// The run waits in a command while its log is changed. Its next command must not run, nor does another process go on with
/// the session meanwhile.
#[test]
fn a_log_that_is_changed_ends_the_run_and_nothing_runs_twice() {
    let wait = json!({ "command": "echo $$ > pid; until [ -e go ]; do sleep 0.02; done; echo one >> effects" });
    let effect = json!({ "command": "echo two >> effects" });
    for format in [&["--output-format", "text"][..], &["--output-format", "stream-json"], &["--output-format", "json"]]
    {
        for (how, change) in CHANGES {
            let place = Place::with_turns(&[call("Bash", &wait), call("Bash", &effect), text("done")]);
            let run = [&["-p", "x", "--allowedTools", "Bash"], format].concat();
            let child = place.command(&run).spawn().unwrap();
            number(&place.work().join("pid"));
            let log = eventually("there is a log", || place.logs().pop());
            let id = log.file_stem().unwrap().to_str().unwrap().to_owned();
            change(&log);
            if log.exists() {
                let second = place.run(&["-p", "y", "--resume", &id, "--allowedTools", "Bash"]);
                assert_ne!(second.code, 0, "{how}: {}", second.stdout);
                assert!(second.stderr.contains("in use"), "{how}: {}", second.stderr);
            }
            std::fs::write(place.work().join("go"), "").unwrap();
            let ran = Ran::from(child.wait_with_output().unwrap());
            assert_ne!(ran.code, 0, "{how} {format:?}: {}", ran.stdout);
            assert!(!ran.stdout.contains("\"subtype\":\"success\""), "{how} {format:?}: {}", ran.stdout);
            let said = [ran.stdout, ran.stderr].concat();
            assert!(said.contains(how) && said.contains(&id), "{how} {format:?}: {said}");
            assert_eq!(std::fs::read_to_string(place.work().join("effects")).unwrap(), "one\n", "{how} {format:?}");
        }
    }
}
