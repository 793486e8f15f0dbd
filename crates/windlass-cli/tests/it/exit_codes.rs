//! The exit codes of the command: one table, in which each number has one meaning.

use crate::place::{Place, Ran, call, text, write};
use serde_json::{Value, json};

const PAGE: &str = include_str!("../../../../docs/cli.md");

/// Rows of the table of exit codes: the numbers, and their meanings.
fn rows() -> Vec<(Vec<i32>, String)> {
    let section = PAGE.split("### Exit codes").nth(1).and_then(|rest| rest.split("\n### ").next()).unwrap();
    let rows = section.lines().filter(|line| line.starts_with("| ")).skip(1);
    let cells = rows.map(|row| row.trim_matches('|').split(" | ").map(str::trim).collect::<Vec<_>>());
    cells.map(|cells| (cells[0].split(", ").map(|code| code.parse().unwrap()).collect(), cells[1].to_owned())).collect()
}

#[test]
fn no_number_means_two_things() {
    let mut codes: Vec<i32> = rows().into_iter().flat_map(|(codes, _)| codes).collect();
    assert!(codes.len() > 15 && codes.contains(&0), "{codes:?}");
    let all = codes.len();
    codes.sort_unstable();
    codes.dedup();
    assert_eq!(codes.len(), all, "{codes:?}");
    // The codes that are left to programs.
    assert!(codes.iter().all(|code| !(20..126).contains(code)), "{codes:?}");
}

/// A run that ends in a way of its own.
struct Ending {
    turns: Vec<Value>,
    args: Vec<&'static str>,
    settings: Value,
    /// The code, and words of the table about it.
    code: i32,
    row: &'static str,
    /// The code for a host that reads frames.
    of_frames: i32,
}

fn ending(code: i32, row: &'static str, of_frames: i32, turns: Vec<Value>) -> Ending {
    Ending { turns, args: Vec::new(), settings: json!({}), code, row, of_frames }
}

impl Ending {
    fn with(mut self, args: &[&'static str]) -> Self {
        self.args = args.to_vec();
        self
    }

    /// With a hook whose program prints an answer, or blocks where there is none.
    fn hook(mut self, event: &str, answer: Option<Value>) -> Self {
        let command = answer.map_or_else(|| "exit 2".to_owned(), |answer| format!("echo '{answer}'"));
        self.settings = json!({ "hooks": { event: [{ "hooks": [{ "type": "command", "command": command }] }] } });
        self
    }

    fn run(&self, format: &'static str) -> Ran {
        let place = Place::with_turns(&self.turns);
        write(&place.home().join(".claude/settings.json"), &self.settings.to_string());
        write(&place.work().join("a.txt"), "hello\n");
        let args = [&["-p", "x", "--output-format", format, "--verbose"], &self.args[..]].concat();
        place.command(&args).env("CLAUDE_CODE_PRINT_BG_WAIT_CEILING_MS", "1").output().unwrap().into()
    }
}

fn endings() -> Vec<Ending> {
    let read = || vec![call("Read", &json!({ "file_path": "a.txt" })), text("Hello.")];
    let refusal = json!({ "blocks": text("No."), "stop_reason": "refusal" });
    let failure = json!({ "fail": { "kind": "authentication" } });
    let schema = r#"{"type":"object","properties":{"n":{"type":"integer"}},"required":["n"]}"#;
    let bash = |input: Value| vec![call("Bash", &input), text("It runs."), text("It was stopped.")];
    let allowed = ["--allowedTools", "Bash(sleep *)"];
    let background = bash(json!({ "command": "sleep 600", "run_in_background": true }));
    vec![
        ending(0, "finished its answer", 0, vec![text("Hello.")]),
        ending(1, "failed", 1, vec![failure]),
        ending(3, "turns", 1, read()).with(&["--max-turns", "1"]),
        ending(5, "refused", 0, vec![refusal]),
        ending(6, "--json-schema", 1, vec![text("No."); 6]).with(&["--json-schema", schema]),
        ending(7, "hook stopped", 0, read())
            .hook("PostToolUse", Some(json!({ "continue": false, "stopReason": "enough" }))),
        ending(8, "prompt", 0, vec![text("Hello.")]).hook("UserPromptSubmit", None),
        ending(9, "background", 1, background).with(&allowed),
        ending(10, "questions wait", 0, bash(json!({ "command": "touch b" }))).with(&["--wait-for-answers"]),
    ]
}

#[test]
fn a_run_ends_with_the_code_of_its_outcome() {
    let table = rows();
    for ending in endings() {
        let described = table.iter().find(|(codes, _)| codes.contains(&ending.code)).unwrap();
        assert!(described.1.contains(ending.row), "{described:?}");
        for format in ["text", "json"] {
            ending.run(format).with_code(ending.code);
        }
        ending.run("stream-json").with_code(ending.of_frames);
    }
}

#[test]
fn a_budget_that_buys_no_call_has_a_code_of_its_own() {
    let place = Place::new();
    let args = ["-p", "x", "--model", "sonnet", "--max-budget-usd", "0.000001", "--output-format"];
    for (format, code) in [("text", 4), ("json", 4), ("stream-json", 1)] {
        let mut command = place.command(&[&args[..], &[format, "--verbose"]].concat());
        Ran::from(command.env("ANTHROPIC_API_KEY", "sk-test").output().unwrap()).with_code(code);
    }
}
