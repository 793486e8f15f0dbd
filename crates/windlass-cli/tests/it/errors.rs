use crate::place::{Place, call, text, write};
use serde_json::json;

/// Checks a command line that cannot run: its exit code, and its one line on standard error.
#[track_caller]
fn fails(place: &Place, args: &[&str], code: i32, says: &[&str]) {
    let ran = place.run(args).with_code(code);
    assert_eq!(ran.stdout, "", "{args:?}");
    assert_eq!(ran.stderr.lines().count(), 1, "{args:?}: {}", ran.stderr);
    for part in says {
        assert!(ran.stderr.contains(part), "{args:?} should say {part:?}: {}", ran.stderr);
    }
}

#[test]
fn what_keeps_a_run_from_starting_is_one_line_that_says_what_to_do() {
    let place = Place::new();
    fails(&place, &["-p", "x"], 1, &["ANTHROPIC_API_KEY", "windlass demo"]);
    let id = "11111111-1111-4111-8111-111111111111";
    // The session is looked for before the key.
    fails(&place, &["-p", "x", "--resume", id], 1, &[id, "windlass sessions list"]);
    fails(&place, &["-p", "x", "--resume", "no such title"], 1, &["no such title"]);
    let place = Place::with_turns(&[text("ok")]);
    for (args, code, says) in [
        (&["-p", "x", "--modle", "opus"][..], 2, &["--modle", "--model"][..]),
        (&["-p", "x", "--output-format", "xml"], 2, &["xml", "stream-json"]),
        (&["-p", "x", "--permission-mode", "yolo"], 2, &["yolo", "acceptEdits"]),
        (&["-p", "x", "--allowedTools", "Bash(npm"], 2, &["Bash(npm", "parenthesis"]),
        (&["-p", "x", "--disallowed-tools", "Read Bash(rm"], 2, &["Bash(rm", "parenthesis"]),
        (&["-p", "x", "--allowedTools", "Write(src/**)"], 2, &["Edit(src/**)"]),
        (&["-p", "x", "--tools", "Bash,Reed"], 2, &["Reed", "Read"]),
        (&["-p", "x", "--max-turns", "0"], 2, &["--max-turns"]),
        (&["-p", "x", "--max-budget-usd", "-1"], 2, &["--max-budget-usd"]),
        (&["-p", "x", "--session-id", "../../x"], 2, &["UUID"]),
        (&["-p", "x", "--resume", id], 1, &[id, "windlass sessions list"]),
        (&["-p", "x", "--continue"], 1, &["No conversation found to continue", "windlass sessions list"]),
        (&["-p", "x", "--continue", "--resume", id], 2, &["--continue", "--resume"]),
        (&["-p", "x", "--add-dir", "missing"], 1, &["missing"]),
        (&["-p", "x", "--replay", "missing"], 1, &["missing"]),
        (&["-p", "x", "y"], 2, &["two prompts"]),
        (&["-p"], 2, &["prompt is empty"]),
        (&["fix it"], 2, &["-p"]),
        (&["tools", "call", "Read", "{"], 2, &["JSON"]),
        (&["-p", "x", "--json-schema", r#"{"type":"array"}"#], 2, &["--json-schema", "object"]),
        (&["-p", "x", "--settings", "missing"], 2, &["missing", "does not exist"]),
        (&["sessions", "show"], 2, &["<SESSION>", "`windlass sessions show --help`"]),
        (&["demo", "--bogus"], 2, &["--bogus", "`windlass demo --help`"]),
    ] {
        fails(&place, args, code, says);
    }
    assert!(place.logs().is_empty());
}

#[test]
fn a_command_without_its_subcommand_shows_what_there_is() {
    let ran = Place::new().run(&["sessions"]).with_code(2);
    assert_eq!(ran.stdout, "");
    assert!(ran.stderr.contains("Usage: windlass sessions <COMMAND>") && ran.stderr.contains("rename"));
}

#[test]
fn a_server_that_does_not_start_is_reported_and_the_run_continues() {
    let place = Place::with_turns(&[text("ok")]);
    let ran = place.run(&["-p", "x", "--mcp-config", r#"{"mcpServers":{"gone":{"command":"/no/such/program"}}}"#]);
    let ran = ran.with_code(0);
    assert_eq!(ran.stdout.trim(), "ok");
    assert!(
        ran.stderr.contains("the MCP server \"gone\"") && ran.stderr.contains("/no/such/program"),
        "{}",
        ran.stderr
    );
}

#[test]
fn machines_get_a_result_when_a_run_cannot_start() {
    let place = Place::with_turns(&[text("ok")]);
    let id = "11111111-1111-4111-8111-111111111111";
    for format in ["json", "stream-json"] {
        let ran = place.run(&["-p", "x", "--resume", id, "--output-format", format]).with_code(1);
        let result = &ran.lines()[0];
        assert_eq!(result["subtype"], "error_during_execution");
        assert_eq!(result["errors"][0], format!("No conversation found with session ID: {id}"));
        assert_eq!(result["session_id"], id);
    }
}

#[test]
fn a_home_that_cannot_be_written_is_named() {
    let place = Place::with_turns(&[text("ok")]);
    write(&place.path("file"), "");
    let output = place.command(&["-p", "x"]).env("WINDLASS_HOME", place.path("file/home")).output().unwrap();
    assert_eq!(output.status.code(), Some(1));
    let stderr = String::from_utf8(output.stderr).unwrap();
    assert!(stderr.contains("file/home") && stderr.lines().count() == 1, "{stderr}");
    let listed = place.command(&["sessions", "list"]).env("WINDLASS_HOME", place.path("file/home")).output().unwrap();
    let stderr = String::from_utf8(listed.stderr).unwrap();
    assert!(listed.status.code() == Some(1) && stderr.contains("file/home"), "{stderr}");
    let without = |args: &[&str]| place.command(args).env_remove("HOME").output().unwrap();
    assert!(without(&["-p", "x", "--no-session-persistence"]).status.success());
    let stderr = String::from_utf8(without(&["-p", "x"]).stderr).unwrap();
    assert!(stderr.contains("--no-session-persistence"), "{stderr}");
}

#[test]
#[cfg(unix)]
fn a_directory_that_is_gone_is_an_error() {
    let place = Place::with_turns(&[text("ok")]);
    let binary = env!("CARGO_BIN_EXE_windlass");
    let script = format!("mkdir ../gone && cd ../gone && rmdir ../gone && exec '{binary}' -p x");
    let mut shell = std::process::Command::new("sh");
    let output = shell.args(["-c", &script]).current_dir(place.work()).env("HOME", place.home());
    let output = output.env("WINDLASS_SCRIPT", place.path("script.json")).output().unwrap();
    assert_eq!(output.status.code(), Some(1));
    assert!(String::from_utf8(output.stderr).unwrap().contains("current directory"));
}

#[test]
fn failures_of_the_model_are_errors_of_the_run() {
    for (kind, status, message, says) in [
        ("authentication", 401, "the API did not accept the key; check ANTHROPIC_API_KEY (401)", "ANTHROPIC_API_KEY"),
        ("not_found", 404, "no such model or endpoint (404): model: nope", "opus, sonnet, haiku"),
    ] {
        let fail = json!({ "fail": { "kind": kind, "status": status, "message": message } });
        let place = Place::with_turns(&[fail]);
        fails(&place, &["-p", "x"], 1, &[says, message]);
        let ran = place.run(&["-p", "x", "--output-format", "json"]).with_code(1);
        let result = &ran.lines()[0];
        assert_eq!((&result["subtype"], &result["is_error"]), (&json!("success"), &json!(true)));
        assert_eq!(result["api_error_status"], status);
        assert_eq!(result["result"], format!("API Error: {message}"));
    }
}

#[test]
fn limits_end_a_run_with_an_error() {
    let again = call("Glob", &json!({ "pattern": "*" }));
    let place = Place::with_turns(&[again.clone(), again]);
    fails(&place, &["-p", "x", "--max-turns", "1"], 3, &["1 turns", "--max-turns"]);
}

#[test]
fn a_call_that_cannot_be_asked_about_is_denied_with_a_hint() {
    let turns = [call("Bash", &json!({ "command": "npm test" })), text("I could not.")];
    let place = Place::with_turns(&turns);
    let ran = place.run(&["-p", "x"]).with_code(0);
    assert_eq!(ran.stdout, "I could not.\n");
    assert!(ran.stderr.contains("--allowedTools 'Bash(npm test *)'"), "{}", ran.stderr);
    let ran = place.run(&["-p", "x", "--output-format", "stream-json"]).with_code(0);
    let result = ran.lines().pop().unwrap();
    assert_eq!(result["permission_denials"][0]["tool_name"], "Bash");
    assert!(ran.stdout.contains("permission_denied"));
}

#[test]
fn permissions_come_from_the_command_line() {
    let touch = || [call("Bash", &json!({ "command": "touch made" })), text("done")];
    for (args, made) in [
        (&["-p", "x"][..], false),
        (&["-p", "x", "--allowedTools", "Read,Bash(touch *)"], true),
        (&["-p", "x", "--allowed-tools", "Read", "--allowedTools", "Bash(touch *)"], true),
        (&["-p", "x", "--permission-mode", "acceptEdits"], true),
        (&["-p", "x", "--dangerously-skip-permissions"], true),
        (&["-p", "x", "--dangerously-skip-permissions", "--disallowedTools", "Bash(touch *)"], false),
        (&["-p", "x", "--allowedTools", "Bash", "--tools", "Read"], false),
        (&["-p", "x", "--allowedTools", "Bash", "--tools", ""], false),
    ] {
        let place = Place::with_turns(&touch());
        let ran = place.run(args).with_code(0);
        assert_eq!(place.work().join("made").exists(), made, "{args:?}");
        assert_eq!(args.contains(&"--dangerously-skip-permissions"), ran.stderr.contains("WARNING"), "{args:?}");
    }
}

#[test]
fn nothing_of_the_model_rules_a_terminal_through_notes() {
    let evil = call("Bash", &json!({ "command": "npm \u{1b}]0;owned\u{7}\u{1b}[2J test" }));
    let place = Place::with_turns(&[evil, text("ok")]);
    let ran = place.run(&["-p", "x", "--verbose"]).with_code(0);
    assert!(!ran.stderr.contains('\u{1b}') && !ran.stderr.contains('\u{7}'), "{:?}", ran.stderr);
}

#[test]
fn a_wait_for_commands_in_the_background_is_reported() {
    let slow = call("Bash", &json!({ "command": "sleep 2", "run_in_background": true }));
    let place = Place::with_turns(&[slow, text("Started."), text("Ended.")]);
    let ran = place.run(&["-p", "x", "--allowedTools", "Bash"]).with_code(0);
    assert!(ran.stderr.contains("waiting for work in the background; Ctrl-C"), "{}", ran.stderr);
    assert_eq!(ran.stdout.trim(), "Ended.");
}

#[test]
fn a_run_whose_background_work_was_stopped_is_no_success() {
    let slow = call("Bash", &json!({ "command": "sleep 60", "run_in_background": true }));
    for (format, code) in [("text", 9), ("json", 9), ("stream-json", 1)] {
        let place = Place::with_turns(&[slow.clone(), text("It runs.")]);
        let mut command = place.command(&["-p", "x", "--allowedTools", "Bash", "--verbose", "--output-format", format]);
        command.env("CLAUDE_CODE_PRINT_BG_WAIT_CEILING_MS", "1");
        let ran = crate::place::Ran::from(command.output().unwrap()).with_code(code);
        assert!(ran.stderr.contains("background work was stopped before it ended: \"sleep 60\""), "{}", ran.stderr);
        assert!(ran.stdout.contains("It runs."), "{format}: {}", ran.stdout);
        if format == "stream-json" {
            let results: Vec<_> = ran.lines().into_iter().filter(|line| line["type"] == "result").collect();
            let said: Vec<_> = results.iter().map(|line| (&line["is_error"], &line["result"])).collect();
            assert_eq!(said, [(&json!(false), &json!("It runs.")), (&json!(true), &json!("It runs."))]);
            assert_eq!(results[1]["origin"]["kind"], "task-notification");
        }
    }
}

/// A misspelt or unlisted model is said before a missing key is.
#[test]
fn a_wrong_model_is_said_before_a_missing_key() {
    let place = Place::new();
    for (model, said) in [
        ("sonet", "did you mean sonnet?"),
        ("claude-sonet-4-5", "did you mean claude-sonnet-4-5"),
        (
            "claude-xyzzy-99",
            "the model \"claude-xyzzy-99\" is in no list of known models: check its name; besides, no API key",
        ),
    ] {
        let mut command = place.command(&["-p", "x", "--model", model]);
        let output = command.env_remove("ANTHROPIC_API_KEY").env_remove("ANTHROPIC_BASE_URL").output().unwrap();
        let stderr = String::from_utf8(output.stderr).unwrap();
        assert!(!output.status.success() && stderr.contains(said), "{stderr}");
        assert_eq!(stderr.lines().count(), 1, "{stderr}");
    }
}

/// A server of this machine that is not there is not waited for.
#[test]
fn a_local_server_that_is_not_there_ends_the_run_at_once() {
    let place = Place::new();
    let free = std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    let mut command = place.command(&["-p", "x", "--model", "ollama/qwen3"]);
    let output = command.env("OLLAMA_HOST", format!("http://{free}")).output().unwrap();
    let stderr = String::from_utf8(output.stderr).unwrap();
    assert!(!output.status.success());
    assert!(stderr.contains("is Ollama running? OLLAMA_HOST names another address"), "{stderr}");
    assert!(!stderr.contains("trying again"), "{stderr}");
}
