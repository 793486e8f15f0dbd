//! Why calls ran or did not, from the log alone, and whether the log was altered.

use crate::place::{Place, call, text, write};
use serde_json::{Value, json};

const SESSION: &str = "aaaaaaaa-1111-4111-8111-111111111111";

/// A run with one call that a rule allows, one that a rule denies, one that changes a file, and one that only reads.
fn place() -> Place {
    let place = Place::with_turns(&[
        call("Bash", &json!({ "command": "git init -q one" })),
        call("Bash", &json!({ "command": "curl http://x.example" })),
        call("Write", &json!({ "file_path": place_file(), "content": "a\n" })),
        call("Read", &json!({ "file_path": place_file() })),
        text("Done."),
    ]);
    let rules = r#"{"permissions":{"allow":["Bash(git init *)"],"deny":["Bash(curl *)"]}}"#;
    write(&place.path("home/.windlass/settings.json"), rules);
    place
        .run(&["-p", "Go.", "--permission-mode", "acceptEdits", "--session-id", SESSION, "--settings", rules])
        .with_code(0);
    place
}

fn place_file() -> &'static str {
    "a.txt"
}

fn audit(place: &Place) -> Value {
    place.run(&["sessions", "audit", SESSION, "--json"]).with_code(0).lines().remove(0)
}

#[test]
fn each_call_has_its_reason() {
    let place = place();
    let audit = audit(&place);
    let calls = audit["logs"][0]["calls"].as_array().unwrap();
    assert_eq!(calls.len(), 4, "{audit}");
    let verdict = |at: usize| calls[at]["verdicts"][0]["decision"].clone();
    assert_eq!(verdict(0)["rule"]["rule"], "Bash(git init *)");
    assert_eq!((&verdict(1)["behavior"], &verdict(1)["rule"]["rule"]), (&json!("deny"), &json!("Bash(curl *)")));
    assert_eq!((&verdict(2)["reason"], &calls[2]["mode"]), (&json!("mode"), &json!("acceptEdits")));
    assert!(calls[2]["changed"][0]["path"].as_str().unwrap().ends_with("/work/a.txt"), "{audit}");
    assert_eq!((&verdict(3)["reason"], &calls[3]["begun"]), (&json!("read_only"), &Value::Null));
    assert!(calls.iter().all(|call| call["lines"] == "checked"), "{audit}");
    assert_eq!(
        (&audit["logs"][0]["lines"]["altered"], &audit["logs"][0]["lines"]["unchecked"]),
        (&json!([]), &json!([]))
    );

    let shown = place.run(&["sessions", "audit", SESSION]).with_code(0).stdout;
    assert!(shown.contains("rule allow Bash(git init *)") && shown.contains("rule deny Bash(curl *)"), "{shown}");
    let id = calls[1]["tool_use_id"].as_str().unwrap();
    let one = place.run(&["sessions", "audit", SESSION, "--call", id]).with_code(0).stdout;
    assert!(
        one.contains("denied") && one.contains("curl http://x.example") && !one.contains("git init -q one"),
        "{one}"
    );
    let file = place.run(&["sessions", "audit", SESSION, "--file", "a.txt"]).with_code(0);
    assert!(file.stdout.contains("  Write  ") && !file.stdout.contains("  Read  "), "{}", file.stdout);
    assert!(file.stderr.contains("1 calls ran programs"), "{}", file.stderr);
    place.run(&["sessions", "audit", SESSION, "--call", "none"]).with_code(1);
    let log = place.logs()[0].clone();
    let by_file = place.run(&["sessions", "audit", log.to_str().unwrap()]).with_code(0).stdout;
    assert_eq!(by_file, shown);
}

#[test]
fn an_altered_log_shows() {
    let place = place();
    let head = place.run(&["sessions", "audit", SESSION, "--head"]).with_code(0).stdout;
    assert!(head.starts_with(&format!("{SESSION}@v1:")), "{head}");
    let check = |code: i32| place.run(&["sessions", "audit", SESSION, "--check", head.trim()]).with_code(code).stdout;
    assert!(check(0).contains("holds"));
    let log = place.logs()[0].clone();
    let whole = std::fs::read_to_string(&log).unwrap();
    // Later entries are no alteration.
    std::fs::write(&log, format!("{whole}{{\"type\":\"summary\",\"summary\":\"x\"}}\n")).unwrap();
    assert!(check(0).contains("holds"));
    let unchecked = audit(&place)["logs"][0]["lines"]["unchecked"].clone();
    assert_eq!(unchecked.as_array().unwrap().len(), 1);
    // Of a verdict, its batch and its calls say that they were changed.
    std::fs::write(&log, whole.replacen("Bash(curl *)", "Bash(CURL *)", 1)).unwrap();
    assert!(check(1).contains("ALTERED"));
    let altered = audit(&place);
    assert!(!altered["logs"][0]["lines"]["altered"].as_array().unwrap().is_empty(), "{altered}");
    assert!(place.run(&["sessions", "audit", SESSION]).with_code(0).stdout.contains("ALTERED"));
    let kept = place.path("heads");
    std::fs::write(&kept, &head).unwrap();
    place.run(&["sessions", "audit", SESSION, "--check", kept.to_str().unwrap()]).with_code(1);
    std::fs::write(&log, whole.lines().take(2).map(|line| format!("{line}\n")).collect::<String>()).unwrap();
    assert!(check(1).contains("CUT"));
    place.run(&["sessions", "audit", "bbbbbbbb-1111-4111-8111-111111111111", "--check", head.trim()]).with_code(2);
    std::fs::remove_file(&log).unwrap();
    assert!(check(1).contains("MISSING"));
}

#[test]
fn a_question_and_its_answer_are_in_the_audit() {
    let place = Place::with_turns(&[call("Bash", &json!({ "command": "touch x" })), text("It is done.")]);
    let args = ["-p", "do it", "--wait-for-answers", "--session-id", SESSION, "--output-format", "json"];
    let result = place.run(&args).with_code(10).lines().remove(0);
    let question = &result["windlass_pending_questions"][0];
    let (id, token) = (question["id"].as_str().unwrap(), question["token"].as_str().unwrap());
    let open = audit(&place)["logs"][0]["calls"][0].clone();
    assert_eq!((&open["questions"][0]["id"], &open["questions"][0]["is_open"]), (&json!(id), &json!(true)));
    assert!(!open.to_string().contains(token), "{open}");
    place.run(&["sessions", "answer", SESSION, id, "allow", "--token", token]).with_code(0);
    place.script(&[text("It is done.")]);
    place.run(&["--resume", SESSION]).with_code(0);
    let closed = audit(&place)["logs"][0]["calls"][0].clone();
    assert_eq!(closed["questions"][0]["is_open"], false);
    assert_eq!(closed["verdicts"][0]["answer"], json!({"question": id, "by": "host"}), "{closed}");
    let shown = place.run(&["sessions", "audit", SESSION, "--call", closed["tool_use_id"].as_str().unwrap()]);
    assert!(shown.with_code(0).stdout.contains("answered by the host"));
}
