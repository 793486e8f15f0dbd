//! Questions of agents that outlive the process that asked them.

use crate::pending::{SESSION, answer, bash, host, ran, task};
use crate::place::{Place, Ran, call, text};
use serde_json::{Value, json};
use std::io::Write;

/// The main agent gives a task to an agent, which wants to run something.
fn place() -> Place {
    Place::with_turns(&[task(), bash()])
}

/// Scripts the turns after an answer: the agent reports, and the main agent reads that.
fn continues(place: &Place) {
    place.script(&[text("The report."), text("It is done.")]);
}

/// A run that waits, and its questions.
fn waiting(place: &Place) -> Vec<Value> {
    let args = ["-p", "do it", "--wait-for-answers", "--session-id", SESSION, "--output-format", "json"];
    let result = place.run(&args).with_code(10).lines().remove(0);
    assert_eq!((&result["terminal_reason"], &result["is_error"]), (&json!("tool_deferred"), &json!(false)));
    result["windlass_pending_questions"].as_array().unwrap().clone()
}

fn field(question: &Value, name: &str) -> String {
    question[name].as_str().unwrap_or_else(|| panic!("no {name}: {question}")).to_owned()
}

fn resume(place: &Place, code: i32) -> Ran {
    place.run(&["--resume", SESSION]).with_code(code)
}

fn pending(place: &Place) -> Vec<Value> {
    place.run(&["sessions", "pending"]).with_code(0).lines()
}

/// Nothing in the logs of the session is odd, and every call is accounted for.
fn is_sound(place: &Place) {
    assert_eq!(place.run(&["sessions", "check", SESSION]).with_code(0).lines()[0]["warnings"], json!([]));
    place.run(&["sessions", "audit", SESSION]).with_code(0);
}

#[test]
fn a_question_of_an_agent_is_answered_from_another_process_once() {
    let place = place();
    let questions = waiting(&place);
    let (question, token) = (field(&questions[0], "id"), field(&questions[0], "token"));
    assert_eq!((questions.len(), questions[0]["agent_type"].as_str()), (1, Some("general-purpose")));
    let listed = pending(&place);
    assert_eq!((listed.len(), field(&listed[0], "id")), (1, question.clone()));
    for name in ["agent_id", "agent_type"] {
        assert_eq!(listed[0][name], questions[0][name], "{name}");
    }
    assert_eq!(listed[0]["agent"], questions[0]["agent_path"]);
    assert_eq!(listed[0]["agent"].as_array().unwrap().len(), 1);
    assert_eq!(listed[0]["input"]["command"], "echo ran >> ran.txt");
    let audit = place.run(&["sessions", "audit", SESSION, "--json"]).with_code(0).lines().remove(0);
    assert_eq!(audit["logs"][0]["calls"][0]["waits_for"], listed[0]["agent_id"], "{audit}");

    answer(&place, &question, "allow", "wrong", 12);
    resume(&place, 10);
    assert_eq!(ran(&place), 0);
    answer(&place, &question, "allow", &token, 0);
    answer(&place, &question, "deny", &token, 13);
    assert_eq!(pending(&place)[0]["answered"], true);
    continues(&place);
    assert_eq!(resume(&place, 0).stdout, "It is done.\n");
    assert_eq!((ran(&place), pending(&place).len()), (1, 0));
    answer(&place, &question, "allow", &token, 11);
    place.run(&["-p", "", "--resume", SESSION]).with_code(2);
    assert_eq!(ran(&place), 1);
    is_sound(&place);
}

#[test]
fn a_host_that_is_killed_after_the_run_leaves_the_question_of_its_agent() {
    let place = place();
    let (mut host, mut frames) = host(&place, &["--session-id", SESSION], "do it");
    let result = frames.find(|frame| frame["type"] == "result");
    // Nothing more is settled: the process is gone at once.
    host.kill().unwrap();
    host.wait().unwrap();
    let question = &result.unwrap()["windlass_pending_questions"][0];
    assert_eq!(ran(&place), 0);
    answer(&place, &field(question, "id"), "allow", &field(question, "token"), 0);
    continues(&place);
    assert_eq!(resume(&place, 0).stdout, "It is done.\n");
    assert_eq!(ran(&place), 1);
    is_sound(&place);
}

/// A host that takes the session up is asked the question of the agent, and its answer lets the agent continue.
#[test]
fn a_host_that_resumes_the_session_is_asked_for_the_agent() {
    let place = place();
    let question = waiting(&place).remove(0);
    continues(&place);
    let more = ["--permission-prompt-tool", "stdio", "--resume", SESSION];
    let (mut host, frames) = host(&place, &more, "/continue-run");
    let mut input = host.stdin.take().unwrap();
    let mut result = None;
    for frame in frames {
        let request = &frame["request"];
        if request["subtype"] == "can_use_tool" {
            assert_eq!((&request["agent_id"], ran(&place)), (&question["agent_id"], 0), "{request:#}");
            let allow = json!({ "behavior": "allow", "updatedInput": request["input"] });
            let response = json!({ "subtype": "success", "request_id": frame["request_id"], "response": allow });
            writeln!(input, "{}", json!({ "type": "control_response", "response": response })).unwrap();
        }
        if frame["type"] == "result" {
            result = Some(frame["result"].clone());
            break;
        }
    }
    drop(input);
    host.wait().unwrap();
    assert_eq!((result, ran(&place)), (Some(json!("It is done.")), 1));
    is_sound(&place);
}

#[test]
fn a_denial_is_read_by_the_agent_and_another_prompt_withdraws_the_question() {
    let denied = place();
    let question = waiting(&denied).remove(0);
    answer(&denied, &field(&question, "id"), "deny", &field(&question, "token"), 0);
    continues(&denied);
    assert_eq!(resume(&denied, 0).stdout, "It is done.\n");
    assert_eq!(ran(&denied), 0);
    is_sound(&denied);

    let withdrawn = place();
    let question = waiting(&withdrawn).remove(0);
    withdrawn.script(&[text("Something else.")]);
    withdrawn.run(&["-p", "do something else", "--resume", SESSION]).with_code(0);
    assert!(pending(&withdrawn).is_empty());
    answer(&withdrawn, &field(&question, "id"), "allow", &field(&question, "token"), 11);
    assert_eq!(ran(&withdrawn), 0);
    is_sound(&withdrawn);
}

#[cfg(unix)]
#[test]
fn an_answer_does_not_hold_for_another_file() {
    let writes = |place: &Place| {
        let path = place.work().join("link.txt");
        call("Write", &json!({ "file_path": path, "content": "changed" }))
    };
    let place = Place::new();
    place.script(&[task(), writes(&place)]);
    let link = place.work().join("link.txt");
    let points_to = |name: &str| {
        let _ = std::fs::remove_file(&link);
        std::os::unix::fs::symlink(place.work().join(name), &link).unwrap();
    };
    points_to("a.txt");
    let question = waiting(&place).remove(0);
    answer(&place, &field(&question, "id"), "allow", &field(&question, "token"), 0);
    points_to("b.txt");
    resume(&place, 10);
    let asked = pending(&place).remove(0);
    assert!(asked["id"] != question["id"] && asked["answered"] == false, "{asked}");
    assert!(!place.work().join("a.txt").exists() && !place.work().join("b.txt").exists());
    answer(&place, &field(&question, "id"), "allow", &field(&question, "token"), 11);
    answer(&place, &field(&asked, "id"), "allow", &field(&question, "token"), 12);
}

#[test]
fn the_questions_of_one_agent_are_answered_one_after_the_other() {
    let place = Place::new();
    let file = |name: &str| place.work().join(name);
    let write = |name: &str| call("Write", &json!({ "file_path": file(name), "content": "x" }))[0].clone();
    place.script(&[task(), json!([write("a.txt"), write("b.txt")])]);
    let questions = waiting(&place);
    assert_eq!(questions.len(), 2);
    answer(&place, &field(&questions[1], "id"), "allow", &field(&questions[1], "token"), 0);
    resume(&place, 10);
    assert!(!file("a.txt").exists() && file("b.txt").exists());
    let left = pending(&place);
    assert_eq!((left.len(), &left[0]["id"]), (1, &questions[0]["id"]));
    answer(&place, &field(&questions[0], "id"), "allow", &field(&questions[0], "token"), 0);
    continues(&place);
    assert_eq!(resume(&place, 0).stdout, "It is done.\n");
    assert!(file("a.txt").exists());
    is_sound(&place);
}
