//! `windlass memory`, and the memory of runs.

use crate::place::{Place, call, text, write};
use serde_json::{Value, json};

#[test]
fn notes_are_written_listed_shown_and_forgotten() {
    let place = Place::new();
    assert_eq!(place.run(&["memory", "list"]).with_code(0).stdout, "");
    let added =
        place.run(&["memory", "add", "tests", "--description", "How tests run", "--type", "feedback", "No mocks."]);
    let path = added.with_code(0).stdout;
    assert!(path.contains("/memory-") && path.trim_end().ends_with("/tests.md"), "{path}");
    assert!(std::fs::read_to_string(path.trim_end()).unwrap().ends_with("\n\nNo mocks.\n"));
    place.run_with(&["memory", "add", "a-b", "--description", "Odd\u{1b}[2Jname"], "One.\nTwo.\n").with_code(0);
    let listed = place.run(&["memory", "list"]).with_code(0).stdout;
    let lines: Vec<&str> = listed.lines().collect();
    assert!(lines[0].starts_with("a-b\t\t20") && lines[0].ends_with("\tOddname"), "{listed}");
    assert!(lines[1].starts_with("tests\tfeedback\t20") && lines[1].ends_with("\tHow tests run"), "{listed}");
    let listed = place.run(&["memory", "list", "--json"]).with_code(0).lines();
    assert_eq!((&listed[1]["name"], &listed[1]["type"]), (&json!("tests"), &json!("feedback")));
    assert_eq!(listed[1]["path"], path.trim_end());
    assert_eq!(place.run(&["memory", "show", "a-b"]).with_code(0).stdout, "One.\nTwo.\n");
    let shown = place.run(&["memory", "show", "tests", "--json"]).with_code(0).lines();
    assert_eq!(shown[0]["content"], "No mocks.");
    assert_eq!(place.run(&["memory", "forget", "tests", "a-b"]).with_code(0).stdout, "tests\na-b\n");
    assert_eq!(place.run(&["memory", "list"]).with_code(0).stdout, "");
    for (args, code, problem) in [
        (&["memory", "show", "tests"][..], 1, "there is no memory \"tests\""),
        (&["memory", "forget", "../x"], 2, "cannot be the name of a memory"),
        (&["memory", "add", "x", "--description", "d", "AKIA0123456789ABCDEF"], 1, "an access key"),
        (&["memory", "add", "x", "--description", "d", "--type", "diary", "c"], 2, "there is no type"),
        (&["memory", "list", "--settings", r#"{"autoMemoryEnabled":false}"#], 1, "there is no memory here"),
    ] {
        let ran = place.run(args).with_code(code);
        assert!(ran.stderr.contains(problem), "{args:?}: {}", ran.stderr);
    }
}

#[test]
fn what_a_run_writes_later_runs_and_the_command_see() {
    let note = json!({
        "action": "write", "name": "tests", "type": "feedback", "description": "How tests run", "content": "No mocks.",
    });
    let place = Place::with_turns(&[call("Memory", &note), text("Noted.")]);
    place.run(&["-p", "Remember: no mocks."]).with_code(0);
    assert_eq!(place.run(&["memory", "show", "tests"]).with_code(0).stdout, "No mocks.\n");
    let shown = place.run(&["context", "show"]).with_code(0).stdout;
    assert!(shown.contains("  instructions, memory: "), "{shown}");
    let settings: Value =
        serde_json::from_str(&place.run(&["settings", "--settings", r#"{"autoMemoryEnabled":false}"#]).stdout).unwrap();
    assert_eq!(settings["effective"]["autoMemoryEnabled"], false);
    let off = place.run(&["context", "show", "--settings", r#"{"autoMemoryEnabled":false}"#]).with_code(0).stdout;
    assert!(!off.contains("memory"), "{off}");
}

#[test]
fn a_run_that_leaves_nothing_behind_has_no_memory() {
    let note = json!({ "action": "write", "name": "tests", "description": "Tests", "content": "No mocks." });
    let place = Place::with_turns(&[call("Memory", &note), text("Noted.")]);
    write(&place.path("work/a.txt"), "a");
    let ran =
        place.run(&["-p", "Remember.", "--no-session-persistence", "--output-format", "stream-json", "--verbose"]);
    let tools = ran.with_code(0).lines()[0]["tools"].to_string();
    assert!(tools.contains("Read") && !tools.contains("Memory"), "{tools}");
    assert_eq!(place.run(&["memory", "list"]).with_code(0).stdout, "");
}

#[test]
fn a_prompt_that_asks_for_the_memory_is_answered_without_a_model() {
    let place = Place::new();
    place
        .run(&["memory", "add", "tests", "--description", "How tests run", "--type", "feedback", "No mocks."])
        .with_code(0);
    // There is neither a key nor a script.
    let run = |args: &[&str]| place.run(args);
    let listed = run(&["-p", "/memory"]).with_code(0).stdout;
    assert!(
        listed.starts_with("One note of earlier sessions, in /") && listed.contains("\n- tests (feedback, "),
        "{listed}"
    );
    assert!(run(&["-p", "/memory show tests"]).with_code(0).stdout.ends_with("\n\nNo mocks.\n"));
    let id = "01234567-89ab-4def-8123-456789abcdef";
    for format in ["json", "stream-json"] {
        let lines =
            run(&["-p", "--output-format", format, "--verbose", "--session-id", id, "/memory"]).with_code(0).lines();
        let lines = if format == "json" { lines[0].as_array().unwrap().clone() } else { lines };
        let result = lines.last().unwrap();
        let told = (
            &result["type"],
            &result["subtype"],
            &result["num_turns"],
            &result["local_command"],
            &result["session_id"],
        );
        assert_eq!(told, (&json!("result"), &json!("success"), &json!(0), &json!("memory"), &json!(id)), "{format}");
        assert!(result["result"].as_str().unwrap().contains("- tests (feedback, "), "{result}");
    }
    assert!(run(&["-p", "/memory show absent"]).with_code(1).stderr.contains("there is no memory \"absent\""));
    let off = run(&["-p", "--no-session-persistence", "/memory"]).with_code(1);
    assert!(off.stderr.contains("this session has no memory"), "{}", off.stderr);
    assert!(run(&["-p", "/memory forget tests"]).with_code(0).stdout.contains("is removed"));
    assert_eq!(place.run(&["memory", "list"]).with_code(0).stdout, "");
}

#[test]
fn a_command_of_the_user_with_that_name_counts_before() {
    let place = Place::with_turns(&[text("From the model.")]);
    write(&place.home().join(".windlass/commands/memory.md"), "Recall $ARGUMENTS.");
    assert_eq!(place.run(&["-p", "/memory bees"]).with_code(0).stdout, "From the model.\n");
}

/// Two directories with one session folder have a memory each, and the notes of before go to the one whose sessions lie there.
#[test]
fn directories_with_one_session_folder_have_a_memory_each() {
    let place = Place::with_turns(&[text("Done.")]);
    let (mine, other) = (place.path("a/b"), place.path("a-b"));
    [&mine, &other].into_iter().for_each(|directory| std::fs::create_dir_all(directory).unwrap());
    let run = |directory: &std::path::Path, args: &[&str]| -> crate::place::Ran {
        place.command(args).current_dir(directory).output().unwrap().into()
    };
    // Notes as earlier versions kept them.
    run(&other, &["-p", "x"]).with_code(0);
    let folder = place.logs().pop().unwrap().parent().unwrap().to_path_buf();
    let former = folder.join("memory");
    write(&former.join("old.md"), "---\ndescription: Old\ntype: project\nupdated: 2026-11-01\n---\nOf the other.\n");
    assert_eq!(run(&mine, &["memory", "list"]).with_code(0).stdout, "");
    run(&mine, &["-p", "x"]).with_code(0);
    assert_eq!(run(&mine, &["memory", "list"]).with_code(0).stdout, "", "not later either");
    assert!(former.join("old.md").is_file());
    // The sessions of both lie there now: nobody can tell whose the notes are.
    let ran = run(&other, &["memory", "list"]).with_code(0);
    assert_eq!(ran.stdout, "", "{ran:?}");

    let place = Place::with_turns(&[text("Done.")]);
    let (mine, other) = (place.path("a/b"), place.path("a-b"));
    [&mine, &other].into_iter().for_each(|directory| std::fs::create_dir_all(directory).unwrap());
    let run = |directory: &std::path::Path, args: &[&str]| -> crate::place::Ran {
        place.command(args).current_dir(directory).output().unwrap().into()
    };
    run(&other, &["-p", "x"]).with_code(0);
    let folder = place.logs().pop().unwrap().parent().unwrap().to_path_buf();
    write(
        &folder.join("memory/old.md"),
        "---\ndescription: Old\ntype: project\nupdated: 2026-11-01\n---\nOf the other.\n",
    );
    assert_eq!(run(&other, &["memory", "show", "old"]).with_code(0).stdout, "Of the other.\n");
    assert!(!folder.join("memory").exists(), "taken over once");
    run(&mine, &["memory", "add", "mine", "--description", "Mine", "Of mine."]).with_code(0);
    assert!(run(&mine, &["memory", "show", "old"]).code != 0 && run(&other, &["memory", "show", "mine"]).code != 0);
}
