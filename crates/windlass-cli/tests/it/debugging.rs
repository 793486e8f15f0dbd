use crate::place::{Place, write};
use serde_json::{Value, json};
use std::collections::BTreeMap;

/// Observed decisions of the reference, where we are not stricter.
const ORACLE: &str = include_str!("oracle.jsonl");

fn by_id(lines: &[Value]) -> BTreeMap<String, &Value> {
    lines.iter().map(|line| (line["id"].to_string(), line)).collect()
}

#[test]
#[cfg(unix)]
fn explain_agrees_with_the_oracle() {
    let place = Place::new();
    std::os::unix::fs::symlink("/etc/hostname", place.work().join("link")).unwrap();
    std::fs::create_dir_all(place.work().join("src")).unwrap();
    let input = ORACLE.replace("{cwd}", place.work().to_str().unwrap());
    let ran = place.run_with(&["permissions", "explain"], &input).with_code(0);
    let answers = ran.lines();
    let answers = by_id(&answers);
    let mut differ = Vec::new();
    for line in input.lines() {
        let question: Value = serde_json::from_str(line).unwrap();
        let answer = answers[&question["id"].to_string()];
        if answer["behavior"] != question["expect"] {
            differ.push(format!("{line}\n  {answer}"));
        }
        for key in ["reason", "rule", "protected", "suggestions"] {
            assert!(answer.get(key).is_some(), "{key} in {answer}");
        }
    }
    assert!(differ.is_empty(), "{}", differ.join("\n"));
    assert_eq!(std::fs::read_dir(place.work()).unwrap().count(), 2, "nothing is written");
}

#[test]
fn explain_shows_how_it_comes_to_a_verdict() {
    let place = Place::new();
    std::fs::create_dir_all(place.work().join(".claude")).unwrap();
    let settings = "{\n  \"permissions\": {\n    \"deny\": [\n      \"Bash(curl *)\"\n    ]\n  }\n}\n";
    std::fs::write(place.work().join(".claude/settings.json"), settings).unwrap();
    let input = [
        json!({"id": 1, "tool": "Bash", "input": {"command": "npm test && curl x"}, "settings": true}),
        json!({"id": 2, "tool": "Bash", "input": {"command": "cd src && npm run build | tail -5"}}),
        json!({"id": 3, "tool": "Bash", "input": {"command": "echo $(id); $X"}}),
        json!({"id": 4, "tool": "Bash", "input": {"command": "rm -rf /"}}),
        json!({"id": 5, "tool": "Read", "input": {"file_path": "a"}}),
    ];
    let input: Vec<String> = input.iter().map(ToString::to_string).collect();
    let ran = place.run_with(&["permissions", "explain"], &input.join("\n")).with_code(0);
    let answers = ran.lines();
    let origin = &answers[0]["rule_origin"];
    assert!(origin["file"].as_str().unwrap().ends_with(".claude/settings.json"), "{}", answers[0]);
    assert_eq!((&origin["line"], &answers[0]["allowed_by"]), (&json!(4), &json!("only taking the deny rule away")));
    let commands: Vec<_> = answers[1]["parse"]["commands"].as_array().unwrap().iter().map(|c| &c["rule"]).collect();
    assert_eq!(commands, [&Value::Null, &json!("npm run build *"), &Value::Null]);
    assert_eq!(answers[1]["allowed_by"], json!("--allowedTools 'Bash(npm run build *)'"));
    assert_eq!(answers[2]["parse"]["found"], json!(["id", "echo $(..)", "$X"]), "{}", answers[2]);
    assert!(answers[2]["parse"]["undecided"].is_string());
    assert!(answers[3]["allowed_by"].as_str().unwrap().starts_with("nothing: "));
    assert!(answers[4].get("parse").is_none() && answers[4].get("allowed_by").is_none());
    assert!(answers.iter().all(|answer| answer["sandbox"].is_null()));
}

#[test]
fn explain_continues_after_lines_that_cannot_be_used() {
    let place = Place::new();
    let input = [
        r#"{"id":"a","tool":"Bash","input":{"command":"rm -rf /"},"mode":"bypassPermissions","allow":["Bash"]}"#,
        r#"{"id":"b","tool":"#,
        r#"nonsense"#,
        r#"{"id":"c","tool":"Read","input":{"file_path":"x"},"deny":["Read(x"]}"#,
        r#"{"id":"d","tool":"Read","input":{"file_path":"x"},"mode":"yolo"}"#,
        r#"{"id":"e","tool":"Read","input":{"file_path":"x"},"settings":true}"#,
        r#"{"id":"f","tool":"Read","input":{"file_path":"x"},"denny":["Read"],"cwd":"/not/there","allow":null}"#,
        r#"{"id":"g","tool":"Read","input":{"file_path":"y/x"},"ask":["Read(y/**)"]}"#,
    ]
    .join("\n");
    let answers = place.run_with(&["permissions", "explain"], &input).with_code(1).lines();
    let ids: Vec<&Value> = answers.iter().map(|answer| &answer["id"]).collect();
    assert_eq!(json!(ids), json!(["a", "b", null, "c", "d", "e", "f", "g"]));
    let errors: Vec<bool> = answers.iter().map(|answer| answer.get("error").is_some()).collect();
    assert_eq!(errors, [false, true, true, true, true, false, false, false]);
    assert_eq!((&answers[0]["behavior"], &answers[0]["protected"]), (&json!("deny"), &json!(true)));
    assert_eq!(answers[6]["behavior"], "allow");
    assert!(answers[6]["warnings"][0].as_str().unwrap().contains("denny"));
    assert_eq!(answers[7]["rule"], json!({ "rule": "Read(y/**)", "behavior": "ask", "source": "cliArg" }));
}

#[test]
fn tools_are_listed_with_their_schemas() {
    let tools = Place::new().run(&["tools", "list"]).with_code(0).lines();
    let names: Vec<&str> = tools.iter().map(|tool| tool["name"].as_str().unwrap()).collect();
    assert_eq!(
        names,
        [
            "Agent",
            "Bash",
            "Edit",
            "EnterPlanMode",
            "ExitPlanMode",
            "Glob",
            "Grep",
            "MultiEdit",
            "NotebookEdit",
            "Read",
            "TaskStop",
            "TodoWrite",
            "Write",
            "WebFetch",
            "TaskCreate",
            "TaskGet",
            "TaskList",
            "TaskUpdate"
        ]
    );
    assert!(tools.iter().all(|tool| tool["input_schema"]["type"] == "object"));
}

#[test]
fn calls_run_in_one_session_through_the_gate() {
    let place = Place::new();
    write(&place.work().join("a.txt"), "one\n");
    let input = [
        json!({ "id": 1, "tool": "Edit", "input": { "file_path": "a.txt", "old_string": "one", "new_string": "two" } }),
        json!({ "id": 2, "tool": "Read", "input": { "file_path": "a.txt" } }),
        json!({ "id": 3, "tool": "Edit", "input": { "file_path": "a.txt", "old_string": "one", "new_string": "two" } }),
        json!({ "id": 4, "tool": "Bash", "input": { "command": "cat a.txt" } }),
        json!({ "id": 5, "tool": "Bash", "input": { "command": "curl https://example.com" } }),
        json!({ "id": 6, "tool": "Read", "input": {} }),
        json!({ "id": 7, "tool": "Fly" }),
        json!({ "id": 8, "tool": "Read", "input": { "file_path": ".env" } }),
    ];
    let mut input: Vec<String> = input.iter().map(Value::to_string).collect();
    input.insert(2, "{\"id\":\"bad\"".to_owned());
    let args = ["tools", "call", "--permission-mode", "acceptEdits", "--disallowedTools", "Read(.env)"];
    let answers = place.run_with(&args, &input.join("\n")).with_code(1).lines();
    let answers = by_id(&answers);
    let verdict = |id: &str| answers[id]["decision"]["behavior"].as_str().unwrap().to_owned();
    let failed = |id: &str| answers[id]["is_error"].as_bool().unwrap();
    assert!(failed("1"), "it was not read before");
    assert_eq!((verdict("2"), failed("2")), ("allow".to_owned(), false));
    assert_eq!((verdict("3"), failed("3")), ("allow".to_owned(), false));
    assert!(answers["3"]["diff"].as_str().unwrap().contains("-one\n+two"));
    assert_eq!(answers["4"]["content"][0]["text"], "two");
    assert_eq!((verdict("5"), failed("5")), ("ask".to_owned(), true));
    assert_eq!((verdict("6"), failed("6")), ("deny".to_owned(), true));
    assert_eq!((verdict("7"), failed("7")), ("deny".to_owned(), true));
    assert_eq!((verdict("8"), failed("8")), ("deny".to_owned(), true));
    assert_eq!(answers["8"]["decision"]["rule"]["rule"], "Read(.env)");
    assert!(answers["\"bad\""].get("error").is_some());
    assert_eq!(std::fs::read_to_string(place.work().join("a.txt")).unwrap(), "two\n");
    assert!(place.logs().is_empty());
}

#[test]
fn one_call_from_the_arguments() {
    let place = Place::new();
    let input = r#"{"file_path":"a.txt","content":"x\n"}"#;
    let ran = place.run(&["tools", "call", "Write", input]).with_code(1);
    assert_eq!(ran.lines()[0]["decision"]["behavior"], "ask");
    assert!(!place.work().join("a.txt").exists());
    let ran = place.run(&["tools", "call", "--on-ask", "allow", "Write", input]).with_code(0);
    assert_eq!((&ran.lines()[0]["decision"]["behavior"], &ran.lines()[0]["is_error"]), (&json!("ask"), &json!(false)));
    assert_eq!(std::fs::read_to_string(place.work().join("a.txt")).unwrap(), "x\n");
    let twice = r#"{"file_path":"a.txt","file_path":"/etc/passwd"}"#;
    place.run(&["tools", "call", "Read", twice]).with_code(1);
}

/// Settings of commands apply to calls without a model, too.
#[cfg(target_os = "linux")]
#[test]
fn settings_of_commands_count_for_calls() {
    let place = Place::new();
    let input = r#"{"command":"test -t 1 && echo terminal || echo none","tty":true}"#;
    for (settings, expected) in [("{}", "none"), (r#"{"commandTerminals":true}"#, "terminal")] {
        let ran =
            place.run(&["tools", "call", "--settings", settings, "--on-ask", "allow", "Bash", input]).with_code(0);
        assert_eq!(ran.lines()[0]["content"][0]["text"], expected, "{settings}");
    }
    let short = r#"{"env":{"BASH_DEFAULT_TIMEOUT_MS":"300"}}"#;
    let ran = place.run(&["tools", "call", "--settings", short, "Bash", r#"{"command":"sleep 60"}"#]).with_code(1);
    assert!(ran.lines()[0]["content"][0]["text"].as_str().unwrap().contains("300 ms"), "{}", ran.stdout);
}

#[test]
fn an_input_of_explain_means_what_it_means_to_a_call() {
    let place = Place::new();
    write(&place.work().join("src/a.rs"), "fn a() {}\n");
    let calls = [
        json!({ "tool": "Bash", "input": { "command": "ls && npm test" } }),
        json!({ "tool": "Bash", "input": { "command": "cat src/a.rs" } }),
        json!({ "tool": "Read", "input": { "file_path": "/etc/hostname" } }),
        json!({ "tool": "Write", "input": { "file_path": "src/b.rs", "content": "" } }),
        json!({ "tool": "Write", "input": { "file_path": ".git/hooks/pre-commit", "content": "" } }),
        json!({ "tool": "Grep", "input": { "pattern": "a", "path": "src" } }),
    ];
    let input = calls.iter().map(Value::to_string).collect::<Vec<_>>().join("\n");
    let explained = place.run_with(&["permissions", "explain"], &input).with_code(0).lines();
    let called = place.run_with(&["tools", "call"], &input).with_code(0).lines();
    for ((call, explained), called) in calls.iter().zip(explained).zip(called) {
        for key in ["behavior", "reason", "rule", "protected", "suggestions"] {
            assert_eq!(explained[key], called["decision"][key], "{key} of {call}");
        }
    }
}

#[test]
fn thousands_of_calls_are_all_answered_in_one_session() {
    const CALLS: usize = 3_000;
    let place = Place::new();
    write(&place.work().join("a.txt"), &"one ".repeat(100));
    let read = |id: usize| json!({ "id": id, "tool": "Read", "input": { "file_path": "a.txt" } });
    let mut calls: Vec<Value> = (0..CALLS).map(read).collect();
    // The file that was read first is still known.
    calls.push(json!({ "id": CALLS, "tool": "Edit", "input": { "file_path": "a.txt", "old_string": "one one one", "new_string": "two", "replace_all": true } }));
    let input = calls.iter().map(Value::to_string).collect::<Vec<_>>().join("\n");
    let args = ["tools", "call", "--permission-mode", "acceptEdits"];
    let answers = place.run_with(&args, &input).with_code(0).lines();
    let ids: Vec<&Value> = answers.iter().map(|answer| &answer["id"]).collect();
    assert_eq!(ids.len(), CALLS + 1);
    assert!(ids.iter().enumerate().all(|(at, id)| **id == json!(at)));
    assert!(answers.iter().all(|answer| answer["is_error"] == false), "{}", answers[CALLS]);
}
