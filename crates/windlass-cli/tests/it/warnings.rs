//! Warnings of a run in every output format.

use crate::place::{Place, Ran, call, text, write};
use serde_json::{Value, json};

const FORMATS: [&str; 3] = ["text", "json", "stream-json"];

/// Checks that one line on standard error, and one entry of a JSON result, says all of this.
#[track_caller]
fn assert_warns(ran: &Ran, format: &str, says: &[&str]) {
    let has_all = |line: &str| says.iter().all(|part| line.contains(part));
    assert_eq!(ran.stderr.lines().filter(|line| has_all(line)).count(), 1, "{format} {says:?}: {}", ran.stderr);
    if format != "text" {
        let result = ran.lines().into_iter().rfind(|line| line["type"] == "result").unwrap();
        let listed: Vec<&str> =
            result["windlass_warnings"].as_array().into_iter().flatten().filter_map(Value::as_str).collect();
        assert_eq!(listed.iter().filter(|line| has_all(line)).count(), 1, "{format} {says:?}: {result}");
    }
}

#[test]
fn a_budget_that_does_not_hold_is_reported() {
    for format in FORMATS {
        let place = Place::with_turns(&[call("Glob", &json!({ "pattern": "*" })), text("ok")]);
        let args = ["-p", "x", "--max-budget-usd", "1", "--model", "mystery-1", "--output-format", format];
        assert_warns(&place.run(&args).with_code(0), format, &["mystery-1", "price", "--max-budget-usd"]);
        let ran = Place::with_turns(&[text("ok")]).run(&["-p", "x", "--model", "mystery-1", "--output-format", format]);
        assert!(ran.stderr.is_empty() && !ran.stdout.contains("windlass_warnings"), "{ran:?}");
    }
}

#[test]
fn a_fallback_without_a_price_is_reported() {
    let overloaded = json!({ "fail": { "kind": "overloaded", "status": 529, "message": "busy" } });
    for format in FORMATS {
        let place = Place::with_turns(&[overloaded.clone(), overloaded.clone(), overloaded.clone(), text("ok")]);
        let args = ["-p", "x", "--max-budget-usd", "1", "--fallback-model", "mystery-2", "--output-format", format];
        let mut command = place.command(&args);
        let ran = Ran::from(command.env("CLAUDE_CODE_MAX_RETRIES", "2").output().unwrap()).with_code(0);
        assert_warns(&ran, format, &["mystery-2 takes over"]);
        assert_warns(&ran, format, &["price of mystery-2", "--max-budget-usd"]);
    }
}

#[test]
fn denials_and_failed_gates_are_reported() {
    let hooks = json!({ "hooks": { "PreToolUse": [
        { "matcher": "Read", "hooks": [{ "type": "command", "command": "echo broken gate >&2; exit 3" }] },
    ] } });
    for format in FORMATS {
        let read = call("Read", &json!({ "file_path": "a.txt" }));
        let place = Place::with_turns(&[read, call("Glob", &json!({ "pattern": "*" })), text("ok")]);
        write(&place.work().join("a.txt"), "hello");
        write(&place.home().join(".windlass/settings.json"), &hooks.to_string());
        let args = ["-p", "x", "--disallowed-tools", "Glob(*)", "--output-format", format];
        let ran = place.run(&args).with_code(0);
        assert_warns(&ran, format, &["hook", "PreToolUse", "gate stays closed", "broken gate"]);
        assert_warns(&ran, format, &["Read was denied"]);
    }
}

#[test]
fn a_prompt_that_a_hook_blocks_is_reported() {
    let hooks = json!({ "hooks": { "UserPromptSubmit": [
        { "hooks": [{ "type": "command", "command": "echo not today >&2; exit 2" }] },
    ] } });
    for format in FORMATS {
        let place = Place::with_turns(&[text("ok")]);
        write(&place.home().join(".windlass/settings.json"), &hooks.to_string());
        let code = if format == "stream-json" { 0 } else { 8 };
        assert_warns(&place.run(&["-p", "x", "--output-format", format]).with_code(code), format, &["not today"]);
    }
}

/// The setting for the disk space of outputs bounds what a session and a home keep, and is said when it is reached.
#[test]
fn the_limits_of_outputs_come_from_settings() {
    let print = call("Bash", &json!({ "command": "head -c 200000 /dev/zero | tr '\\0' x" }));
    for (limits, kept, said) in [
        (json!({}), 200_000, None),
        (
            json!({ "maxSessionBytes": 90_000 }),
            90_000,
            Some("this session keeps on disk have reached their limit of 90000"),
        ),
        (
            json!({ "maxHomeBytes": 95_000 }),
            90_000,
            Some("sessions of this home keep on disk have reached their limit of 95000"),
        ),
    ] {
        let place = Place::with_turns(&[print.clone(), text("ok")]);
        write(&place.home().join(".claude/settings.json"), &json!({ "outputLimits": limits }).to_string());
        // Another session of the home has outputs already.
        write(&place.home().join(".windlass/projects/-other/s/tool-results/a.txt"), &"x".repeat(5_000));
        let ran = place.run(&["-p", "x", "--allowedTools", "Bash"]).with_code(0);
        let [log] = place.logs().try_into().unwrap();
        let results = std::fs::read_dir(log.with_extension("").join("tool-results")).unwrap();
        let sizes: Vec<u64> = results.map(|file| file.unwrap().metadata().unwrap().len()).collect();
        assert_eq!(sizes, [kept], "{limits}: {}", ran.stderr);
        assert!(said.map_or(ran.stderr.is_empty(), |said| ran.stderr.contains(said)), "{limits}: {}", ran.stderr);
    }
}
