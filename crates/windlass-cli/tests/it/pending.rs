//! Questions that outlive the process that asked them.

use crate::place::{Place, call, text};
use serde_json::{Value, json};
use std::io::{BufRead, BufReader, Write};
use std::process::{Child, Stdio};

pub(crate) const SESSION: &str = "aaaaaaaa-1111-4111-8111-111111111111";

/// The model wants to run something, and says when it has.
fn place() -> Place {
    Place::with_turns(&[call("Bash", &json!({ "command": "echo ran >> ran.txt" })), text("It is done.")])
}

/// Number of times that the command ran.
pub(crate) fn ran(place: &Place) -> usize {
    std::fs::read_to_string(place.work().join("ran.txt")).unwrap_or_default().lines().count()
}

/// A run that waits: the id of its question, and its token.
fn waiting(place: &Place) -> (String, String) {
    let args = ["-p", "do it", "--wait-for-answers", "--session-id", SESSION, "--output-format", "json"];
    let result = &place.run(&args).with_code(10).lines()[0];
    assert_eq!((&result["terminal_reason"], &result["is_error"]), (&json!("tool_deferred"), &json!(false)));
    assert_eq!(result["deferred_tool_use"]["name"], "Bash");
    assert_eq!(ran(place), 0);
    let question = &result["windlass_pending_questions"][0];
    (question["id"].as_str().unwrap().to_owned(), question["token"].as_str().unwrap().to_owned())
}

pub(crate) fn answer(place: &Place, question: &str, answer: &str, token: &str, code: i32) {
    place.run(&["sessions", "answer", SESSION, question, answer, "--token", token]).with_code(code);
}

#[test]
fn a_question_is_answered_from_another_process_once() {
    let place = place();
    let (question, token) = waiting(&place);
    let pending = place.run(&["sessions", "pending"]).with_code(0).lines();
    assert_eq!((pending.len(), &pending[0]["id"]), (1, &json!(question)));
    assert!(!std::fs::read_to_string(&place.logs()[0]).unwrap().contains(&token), "the log has the token");

    answer(&place, &question, "allow", "wrong", 12);
    answer(&place, "bbbbbbbb-1111-4111-8111-111111111111", "allow", &token, 11);
    place.run(&["--resume", SESSION]).with_code(10);
    assert_eq!(ran(&place), 0);
    answer(&place, &question, "allow", &token, 0);
    answer(&place, &question, "deny", &token, 13);

    place.script(&[text("It is done.")]);
    assert_eq!(place.run(&["--resume", SESSION]).with_code(0).stdout, "It is done.\n");
    assert_eq!(ran(&place), 1);
    answer(&place, &question, "allow", &token, 11);
    place.run(&["-p", "", "--resume", SESSION]).with_code(2);
    assert_eq!(ran(&place), 1);
    assert_eq!(place.run(&["sessions", "check", SESSION]).with_code(0).lines()[0]["warnings"], json!([]));
}

/// The question is about a file in the project. The answer is valid for that file, not for another one that is there
/// later.
#[cfg(unix)]
#[test]
fn an_answer_does_not_hold_for_what_a_path_leads_to_later() {
    let place = Place::new();
    let folder = place.work().join("sub");
    std::fs::create_dir(&folder).unwrap();
    std::fs::create_dir(place.path("outside")).unwrap();
    place.script(&[call("Write", &json!({ "file_path": folder.join("file"), "content": "x" })), text("It is done.")]);
    let args = ["-p", "do it", "--wait-for-answers", "--session-id", SESSION, "--output-format", "json"];
    let result = &place.run(&args).with_code(10).lines()[0];
    let question = &result["windlass_pending_questions"][0];
    let (id, token) = (question["id"].as_str().unwrap(), question["token"].as_str().unwrap());
    answer(&place, id, "allow", token, 0);
    std::fs::rename(&folder, place.work().join("was")).unwrap();
    std::os::unix::fs::symlink(place.path("outside"), &folder).unwrap();
    place.script(&[text("It is done.")]);
    place.run(&["--resume", SESSION]).with_code(10);
    assert_eq!(std::fs::read_dir(place.path("outside")).unwrap().count(), 0);
    // As it was, the call is the one that was asked about.
    std::fs::remove_file(&folder).unwrap();
    std::fs::rename(place.work().join("was"), &folder).unwrap();
    let waiting = place.run(&["sessions", "pending"]).with_code(0).lines();
    assert_eq!(waiting.len(), 1, "{waiting:?}");
}

#[test]
fn a_denial_and_another_prompt_do_not_run_the_call() {
    let denied = place();
    let (question, token) = waiting(&denied);
    answer(&denied, &question, "deny", &token, 0);
    denied.script(&[text("Then not.")]);
    denied.run(&["--resume", SESSION]).with_code(0);
    assert_eq!(ran(&denied), 0);
    let withdrawn = place();
    let (question, token) = waiting(&withdrawn);
    answer(&withdrawn, &question, "allow", &token, 0);
    withdrawn.script(&[text("Something else.")]);
    withdrawn.run(&["-p", "do something else", "--resume", SESSION]).with_code(0);
    assert_eq!(ran(&withdrawn), 0);
    answer(&withdrawn, &question, "allow", &token, 11);
}

/// Whoever resumes the session can answer: the token of the first process may be lost.
#[test]
fn a_lost_token_is_replaced_by_resuming() {
    let place = place();
    let (question, _) = waiting(&place);
    let ran_again = place.run(&["--resume", SESSION]).with_code(10);
    let line = ran_again.stderr.lines().find(|line| line.contains("sessions answer")).unwrap();
    let token = line.split("--token ").nth(1).unwrap().trim().to_owned();
    answer(&place, &question, "allow", &token, 0);
    place.script(&[text("It is done.")]);
    place.run(&["--resume", SESSION]).with_code(0);
    assert_eq!(ran(&place), 1);
}

#[test]
fn without_the_mark_what_would_ask_is_denied() {
    let place = place();
    place.run(&["-p", "do it"]).with_code(0);
    assert_eq!(ran(&place), 0);
    assert!(place.run(&["sessions", "pending"]).with_code(0).lines().is_empty());
    assert!(!std::fs::read_to_string(&place.logs()[0]).unwrap().contains("windlass-question"));
}

/// A host that waits for answers and has been given a prompt, and what it writes.
pub(crate) fn host(place: &Place, more: &[&str], prompt: &str) -> (Child, impl Iterator<Item = Value>) {
    let flags = ["--input-format", "stream-json", "--output-format", "stream-json", "--verbose", "--wait-for-answers"];
    let mut host = place.command(&[&flags[..], more].concat()).stdin(Stdio::piped()).spawn().unwrap();
    let prompt = json!({ "type": "user", "message": { "role": "user", "content": prompt } });
    writeln!(host.stdin.as_mut().unwrap(), "{prompt}").unwrap();
    let lines = BufReader::new(host.stdout.take().unwrap()).lines();
    (host, lines.map_while(Result::ok).map(|line| serde_json::from_str(&line).unwrap()))
}

/// A run of a host that is asked about a call, and the question.
pub(crate) fn asked_host(place: &Place) -> (Child, Value) {
    let (host, mut frames) = host(place, &["--permission-prompt-tool", "stdio", "--session-id", SESSION], "do it");
    let asked = frames.find(|frame| frame["request"]["subtype"] == "can_use_tool").unwrap();
    (host, asked["request"].clone())
}

#[test]
fn a_host_that_is_killed_while_it_is_asked_leaves_the_question() {
    let place = place();
    let (mut host, request) = asked_host(&place);
    let asked = &request["windlass_question"];
    // Nothing is settled: the process is gone at once.
    host.kill().unwrap();
    host.wait().unwrap();
    let text_of = |name: &str| asked[name].as_str().unwrap().to_owned();
    answer(&place, &text_of("id"), "allow", &text_of("token"), 0);
    assert_eq!(ran(&place), 0);
    place.script(&[text("It is done.")]);
    place.run(&["--resume", SESSION]).with_code(0);
    assert_eq!(ran(&place), 1);
}

pub(crate) fn task() -> Value {
    let input = json!({
        "description": "Run it", "prompt": "Run it.", "subagent_type": "general-purpose", "run_in_background": false,
    });
    call("Agent", &input)
}

pub(crate) fn bash() -> Value {
    call("Bash", &json!({ "command": "echo ran >> ran.txt" }))
}

/// A host that dies while an agent is asked leaves its question, and the agent continues when it is answered.
#[test]
fn a_host_that_is_killed_while_an_agent_is_asked_leaves_the_question() {
    let place = Place::with_turns(&[task(), bash()]);
    let (mut host, request) = asked_host(&place);
    host.kill().unwrap();
    host.wait().unwrap();
    let asked = &request["windlass_question"];
    let pending = place.run(&["sessions", "pending"]).with_code(0).lines();
    assert_eq!((pending.len(), &pending[0]["id"]), (1, &asked["id"]));
    assert_eq!((&pending[0]["agent_id"], ran(&place)), (&request["agent_id"], 0));
    let text_of = |name: &str| asked[name].as_str().unwrap().to_owned();
    answer(&place, &text_of("id"), "allow", &text_of("token"), 0);
    place.script(&[text("The report."), text("It is done.")]);
    assert_eq!(place.run(&["--resume", SESSION]).with_code(0).stdout, "It is done.\n");
    assert_eq!(ran(&place), 1);
    assert_eq!(place.run(&["sessions", "check", SESSION]).with_code(0).lines()[0]["warnings"], json!([]));
}
