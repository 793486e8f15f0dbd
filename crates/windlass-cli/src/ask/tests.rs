use super::*;
use crate::terminal::visible;
use serde_json::{Value, json};
use windlass::text::hidden;
use windlass::{
    JsonText,
    permission::{Behavior, Decision, DecisionReason, PermissionUpdate},
};
use windlass::{
    event::{AgentIdentity, ToolUse},
    permission::{CallDigest, RuleValue, UpdateDestination},
};

const USUAL: Size = Size::USUAL;
const SMALL: Size = Size { columns: 40, rows: 10 };
const TINY: Size = Size { columns: 20, rows: 6 };

fn request(tool: &str, input: &str, rule: Option<&str>) -> PermissionRequest {
    let update = |rule| PermissionUpdate::AddRules {
        rules: vec![RuleValue::new(tool, rule)],
        behavior: Behavior::Allow,
        destination: UpdateDestination::LocalSettings,
    };
    let suggestions: Vec<PermissionUpdate> = rule.map(update).into_iter().collect();
    let decision =
        Decision::new(Behavior::Ask, DecisionReason::Default, "No rule allows it.").with_suggestions(suggestions);
    let call = ToolUse::new("toolu_1", tool, JsonText::parse(input).unwrap());
    PermissionRequest::new(call, tool.into(), decision, CallDigest::new("0"))
}

fn bash(input: &Value) -> PermissionRequest {
    request("Bash", &input.to_string(), Some("npm test *"))
}

/// The answer, and what stands on the screen then.
fn ask(request: &PermissionRequest, size: Size, typed: &str) -> (PermissionAnswer, String) {
    let mut dialog = Dialog { size, input: typed.as_bytes(), output: Vec::new(), forget: || {} };
    let answer = dialog.ask(request).unwrap();
    (answer, String::from_utf8(dialog.output).unwrap())
}

fn is_denied(answer: &PermissionAnswer) -> bool {
    matches!(answer, PermissionAnswer::Deny { interrupt: false, .. })
}

#[test]
fn the_command_comes_last_whatever_its_name() {
    let input = r#"{"zeal":"\u202eodd","command":"npm test\u001b[2K\nrm x","timeout":5,"description":"Run it"}"#;
    let (_, shown) = ask(&request("Bash", input, Some("npm test *")), USUAL, "n\n");
    assert_eq!(
        shown,
        "
Bash wants to run:
  zeal: \\u{202e}odd
  timeout: 5
  description: Run it
Why it asks: No rule allows it.
Always: allow Bash(npm test *)
  command:
    | npm test\\u{1b}[2K
    | rm x
Allow it? [y]es [n]o [a]lways in this session: "
    );
}

#[test]
fn a_description_cannot_push_the_command_away() {
    let input = json!({"command": "rm -rf build", "description": format!("List files{}", "\n".repeat(60))});
    let (_, shown) = ask(&bash(&input), SMALL, "\nn\n");
    assert_eq!(
        shown,
        r"
Bash wants to run:
  description: List files\n\n\n\n\n\n\n
    \n\n\n\n\n\n\n\n\n\n\n\n\n\n\n\n\n 
    … (72 more characters)
Why it asks: No rule allows it.
Always: allow Bash(npm test *)
  command:
-- 7 of 8 lines. Enter: more, n: no:     | rm -rf build
Allow it? [y]es [n]o [a]lways in this session: "
    );
}

#[test]
fn a_long_command_is_shown_to_its_end_before_a_yes_is_possible() {
    let lines: Vec<String> = (0..50).map(|line| format!("echo {line}")).collect();
    let input = json!({"command": format!("{}\nrm -rf /", lines.join("\n"))});
    for size in [USUAL, SMALL, TINY] {
        let turns = ask(&bash(&input), size, &"\n".repeat(100)).1.matches("Enter: more").count();
        assert!(turns >= 2, "{size:?}");
        // A yes on the way turns a page and no more.
        assert!(is_denied(&ask(&bash(&input), size, &"y\n".repeat(turns)).0), "{size:?}");
        let (answer, shown) = ask(&bash(&input), size, &"y\n".repeat(turns + 1));
        assert_eq!(answer, PermissionAnswer::allow());
        assert!(shown.find("| rm -rf /").unwrap() < shown.find("Allow it?").unwrap());
        assert!((0..50).all(|line| shown.contains(&format!("| echo {line}\n"))));
        let (answer, shown) = ask(&bash(&input), size, "no\ny\n");
        assert!(is_denied(&answer) && !shown.contains("Allow it?"));
        assert!(is_denied(&ask(&bash(&input), size, "").0));
    }
}

#[test]
fn a_wide_line_continues_in_rows_of_its_own() {
    let input = json!({"command": format!("echo {}; rm x", "a".repeat(60))});
    let (_, shown) = ask(&request("Bash", &input.to_string(), None), TINY, "\n\n\n");
    assert_eq!(
        shown,
        "
Bash wants to run:
Why it asks: No rule
   allows it.
-- 3 of 10 lines. Enter: more, n: no:   command:
    | echo aaaaaaaaa
    + aaaaaaaaaaaaaa
-- 6 of 10 lines. Enter: more, n: no:     + aaaaaaaaaaaaaa
    + aaaaaaaaaaaaaa
    + aaaaaaaaa; rm 
-- 9 of 10 lines. Enter: more, n: no:     + x
Allow it? [y]es [n]o: "
    );
}

#[test]
fn other_tools_are_shown_whole_in_their_order() {
    let input = r#"{"new_string":"b","file_path":"a\nb","zeta":{"x":[1,2]},"alpha":"1","old_string":"a"}"#;
    let rows = Question::of(&request("Edit", input, None), 80).rows;
    assert_eq!(
        rows[2..],
        [
            "  file_path:",
            "    | a",
            "    | b",
            "  zeta:",
            "    | {\"x\":[1,2]}",
            "  alpha:",
            "    | 1",
            "  old_string:",
            "    | a",
            "  new_string:",
            "    | b",
        ]
    );
    let rows = Question::of(&request("mcp__a__b", "[1,2]", None), 80).rows;
    assert_eq!(rows[2..], ["  input:", "    | [1,2]"]);
}

#[test]
fn always_is_not_offered_for_what_is_not_shown() {
    let long = "x".repeat(2_000);
    let request = request("Bash", &json!({ "command": "a" }).to_string(), Some(&long));
    let (answer, shown) = ask(&request, USUAL, "a\ny\n");
    assert_eq!(answer, PermissionAnswer::allow());
    assert!(!shown.contains("Always") && !shown.contains("[a]lways"), "{shown}");
}

#[test]
fn the_agent_that_asks_is_named() {
    let mut request = bash(&json!({ "command": "ls" }));
    request.identity = Some(AgentIdentity::new("a1".into(), "Explore\u{1b}[2K\n"));
    let rows = Question::of(&request, 80).rows;
    assert_eq!(rows[0], "Bash wants to run, for the agent Explore\\u{1b}[2K\\n:");
}

#[test]
fn only_a_yes_is_a_yes() {
    let request = bash(&json!({ "command": "npm test" }));
    let answer = |typed| ask(&request, USUAL, typed).0;
    assert_eq!(answer("y\n"), PermissionAnswer::allow());
    assert_eq!(answer("what?\n\nYES\n"), PermissionAnswer::allow());
    for no in ["n\n", "", "maybe\n"] {
        assert!(is_denied(&answer(no)), "{no:?}");
    }
    let PermissionAnswer::Allow { updates, .. } = answer("a\n") else { panic!("always is a yes") };
    assert!(matches!(&updates[..], [PermissionUpdate::AddRules { destination: UpdateDestination::Session, .. }]));
}

/// Each suggestion by itself settles the question: one is chosen, never all.
#[test]
fn one_of_several_alternatives_is_chosen() {
    let mut request = request("Write", r#"{"file_path":"a.txt"}"#, Some("//w/a.txt"));
    let mode = PermissionUpdate::SetMode {
        mode: windlass::PermissionMode::AcceptEdits,
        destination: UpdateDestination::Session,
    };
    request.decision.suggestions.push(mode.clone());
    let (answer, shown) = ask(&request, USUAL, "a\n");
    assert!(shown.contains("Always: allow Write(//w/a.txt)\nOr a2: switch to the mode acceptEdits\n"), "{shown}");
    assert!(shown.ends_with("Allow it? [y]es [n]o [a]lways in this session [a2]: "), "{shown}");
    let updates = |answer| match answer {
        PermissionAnswer::Allow { updates, .. } => updates,
        other => panic!("{other:?}"),
    };
    assert!(matches!(&updates(answer)[..], [PermissionUpdate::AddRules { .. }]));
    assert_eq!(updates(ask(&request, USUAL, "a0\na3\na2\n").0), [mode]);
}

/// Texts in which a command could be hidden.
fn hostile() -> Vec<String> {
    let mut texts = vec![
        "\n".repeat(60),
        "\r".repeat(60),
        "\u{b}\u{c}\u{85}\u{2028}\u{2029}".repeat(30),
        " ".repeat(5_000),
        "a".repeat(5_000),
        "漢".repeat(3_000),
        "\u{301}".repeat(3_000),
        "\u{20dd}e\u{489}".repeat(1_000),
        "\u{202e}\u{2066}\u{200b}\u{feff}\u{e0041}\u{fe0f}\u{3164}".repeat(100),
        "\u{1b}[2J\u{1b}[H\u{9b}2J\u{1b}]0;x\u{7}".repeat(100),
        "\t".repeat(500),
        "👩‍🚀".repeat(500),
        "\u{fdfd}\u{12031}".repeat(200),
    ];
    texts.push(texts.concat());
    texts
}

#[test]
fn whatever_stands_beside_the_command_it_is_seen_whole_and_last() {
    for text in hostile() {
        for size in [USUAL, SMALL, TINY, Size { columns: 1, rows: 1 }, Size { columns: 10_000, rows: 500 }] {
            let command = format!("echo {text} && rm -rf /");
            let input = json!({"description": text, "note": text, "command": command, "timeout": text});
            let mut request = request("Bash", &input.to_string(), Some(&text));
            request.identity = Some(AgentIdentity::new("a1".into(), text.as_str()));
            request.decision.message = text.clone();
            let rows = Question::of(&request, size.columns).rows;
            let at = rows.iter().position(|row| row == "  command:").unwrap();
            assert!(at <= 3 + 3 * 3 + 5 + 5, "{at} rows before the command");
            let columns = |row: &String| row.chars().map(|c| if c.is_ascii() { 1 } else { 2 }).sum::<usize>();
            assert!(rows.iter().all(|row| columns(row) < size.columns.clamp(21, 401)), "{size:?}");
            let seen = |row: &String| row.chars().all(|c| hidden(c).is_none() || matches!(c, '\u{fe0f}' | '\u{200d}'));
            assert!(rows.iter().all(seen), "{text:?}");
            // The rows behind the label are the command, to the letter.
            let mut whole = String::new();
            for row in &rows[at + 1..] {
                let (line, text) = row.split_at(6);
                if line == "    | " {
                    whole.push('\n');
                }
                whole.push_str(text);
            }
            assert_eq!(whole, format!("\n{}", visible(&command)));
        }
    }
}
