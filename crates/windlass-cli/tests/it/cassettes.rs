//! Runs that are recorded and replayed: what the recording depends on is recorded and given again.

use crate::place::{Place, Ran, call, finish, text, write};
use serde_json::{Value, json};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use windlass_testkit::wire::{Message, WireServer};

fn run_in(place: &Place, variables: &[(&str, &str)], args: &[&str], input: &str) -> Ran {
    finish(place.command(args).envs(variables.iter().copied()).stdin(Stdio::piped()).spawn().unwrap(), input)
}

/// Records a run of a scripted model, and replays it after a change of the surroundings, in a session of its own.
fn replayed(place: &Place, args: &[&str], input: &str, change: impl FnOnce()) -> Ran {
    let recorded = place.run_with(&[&["-p"], args, &["--record", "../cassette.jsonl"]].concat(), input).with_code(0);
    std::fs::remove_file(place.path("script.json")).unwrap();
    change();
    let ran = place.run_with(&[&["-p"], args, &["--replay", "../cassette.jsonl"]].concat(), input).with_code(0);
    assert_eq!(ran.stdout, recorded.stdout);
    ran
}

fn git(place: &Place, args: &[&str]) {
    let mut git = Command::new("git");
    git.args(["-c", "user.name=a", "-c", "user.email=a@b.example"]).args(args).current_dir(place.work());
    let ended = git.env("HOME", place.home()).output().unwrap();
    assert!(ended.status.success(), "git {args:?}: {ended:?}");
}

/// Moves a cassette to another day, as if it had been recorded then.
fn date_back(cassette: &Path) {
    let text = std::fs::read_to_string(cassette).unwrap();
    let today = text.split("Date: ").nth(1).and_then(|rest| rest.get(..10)).unwrap().to_owned();
    write(cassette, &text.replace(&today, "2026-02-28"));
}

#[test]
fn default_tools_of_a_vendor_are_offered_again_without_its_key() {
    let server = WireServer::start_on_thread().unwrap();
    let page = json!({"type": "web_search_result", "url": "https://docs.rs/doors", "title": "Doors"});
    let found = json!({"type": "web_search_tool_result", "tool_use_id": "s", "content": [page]});
    server.push(Message::new().tool_use("toolu_1", "WebSearch", json!({ "query": "doors" })));
    server.push(Message::new().block(&found, &[]).text("They open."));
    server.push(Message::new().text("Doors open."));
    let (place, url) = (Place::new(), server.url());
    let variables = [("ANTHROPIC_API_KEY", "sk-test"), ("ANTHROPIC_BASE_URL", url.as_str())];
    let args = ["-p", "Look up doors.", "--model", "sonnet", "--allowedTools", "WebSearch"];
    run_in(&place, &variables, &[&args[..], &["--record", "../cassette.jsonl"]].concat(), "").with_code(0);
    let asked = server.requests().len();
    for model in [&args[..], &["-p", "Look up doors.", "--allowedTools", "WebSearch"]] {
        let ran = run_in(&place, &[], &[model, &["--replay", "../cassette.jsonl"]].concat(), "").with_code(0);
        assert_eq!(ran.stdout, "Doors open.\n");
    }
    assert_eq!(server.requests().len(), asked);
}

#[test]
fn another_day_is_the_day_of_the_recording() {
    let place = Place::with_turns(&[text("Hello.")]);
    replayed(&place, &["Hello"], "", || date_back(&place.path("cassette.jsonl")));
}

#[test]
fn another_git_status_is_that_of_the_recording() {
    let place = Place::with_turns(&[text("Hello.")]);
    git(&place, &["init", "-q", "-b", "main"]);
    write(&place.work().join("a.txt"), "one\n");
    replayed(&place, &["Hello", "--trust"], "", || {
        let cassette = std::fs::read_to_string(place.path("cassette.jsonl")).unwrap();
        assert!(cassette.contains("?? a.txt"), "{cassette}");
        git(&place, &["add", "."]);
        git(&place, &["commit", "-q", "-m", "one"]);
        git(&place, &["checkout", "-q", "-b", "other"]);
        write(&place.work().join("b.txt"), "two\n");
    });
}

#[test]
fn marks_names_and_folders_that_the_model_reads_come_again() {
    let large = json!({ "command": "seq 1 60000" });
    let background = json!({ "command": "echo done > done.txt", "run_in_background": true });
    let turns: Vec<Value> =
        vec![call("Bash", &large), call("Bash", &background), text("It runs."), text("Done."), text("Done.")];
    let place = Place::with_turns(&turns);
    let args = ["Count", "--allowedTools", "Bash(seq *),Bash(echo *),Edit"];
    let recorded = place.path("cassette.jsonl");
    let ran = replayed(&place, &[&args[..], &["--verbose"]].concat(), "some text\n", || date_back(&recorded));
    let cassette = std::fs::read_to_string(recorded).unwrap();
    assert!(cassette.contains("{{RESULTS}}/") && cassette.contains("--- begin "), "{cassette}");
    assert!(!ran.stderr.contains("{{"), "{}", ran.stderr);
}

/// The folder below this one that holds the note.
fn notes(folder: &Path) -> Option<PathBuf> {
    let mut below = std::fs::read_dir(folder).ok()?.map(|entry| entry.unwrap().path());
    below.find_map(|path| match path.is_dir() {
        true => notes(&path),
        false => path.ends_with("doors.md").then(|| folder.to_owned()),
    })
}

/// Marks of old notes are those of the recording, in the index and in what the tool reads.
#[test]
fn notes_are_as_old_as_in_the_recording() {
    const MARK: &str = " [older than 90 days: check it before you rely on it]";
    let read = call("Memory", &json!({ "action": "read", "name": "doors" }));
    let today = windlass::tool::Clock::now(&windlass::tool::SystemClock::default()).to_string();
    let today = today.get(..10).unwrap();
    for is_marked in [true, false] {
        let place = Place::with_turns(&[read.clone(), text("They open.")]);
        let add = ["memory", "add", "doors", "--description", "How doors open", "They open inwards."];
        place.run(&add).with_code(0);
        let folder = notes(&place.home()).expect("a note was written");
        for file in std::fs::read_dir(&folder).unwrap().map(|file| file.unwrap().path()).filter(|file| file.is_file()) {
            let text = std::fs::read_to_string(&file).unwrap();
            write(&file, &text.replace(today, "2026-01-15"));
        }
        let cassette = place.path("cassette.jsonl");
        let ran = replayed(&place, &["What of doors?"], "", || {
            let text = std::fs::read_to_string(&cassette).unwrap();
            assert!(text.contains(MARK), "{text}");
            if !is_marked {
                let time =
                    text.split("\"fact\":\"memory-time\",\"value\":\"").nth(1).and_then(|rest| rest.split('"').next());
                let time = time.unwrap_or_else(|| panic!("{text}")).to_owned();
                write(&cassette, &text.replace(MARK, "").replace(&time, "2026-02-01T00:00:00.000Z"));
            }
        });
        assert_eq!(ran.stdout, "They open.\n");
    }
}
