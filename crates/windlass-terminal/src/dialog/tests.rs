use super::*;
use proptest::prelude::*;
use serde_json::json;
use std::time::Duration;
use windlass_types::{
    AgentId, AgentIdentity, AgentPath, Behavior, CallDigest, CallImpact, Decision, DecisionReason, EditPreview,
    JsonText, MatchedRule, PermissionMode, PermissionUpdate, RiskGrade, RuleOrigin, RuleSource, RuleValue, ToolUse,
    UpdateDestination,
};

fn request(id: &str, tool: &str, input: &serde_json::Value) -> PermissionRequest {
    let decision = Decision::new(Behavior::Ask, DecisionReason::Default, "No rule allows the command.");
    let call = ToolUse::new(id, tool, JsonText::of(input).unwrap());
    PermissionRequest::new(call, "git push".to_owned(), decision, CallDigest::new("00"))
}

fn bash() -> PermissionRequest {
    request("q1", "Bash", &json!({ "command": "git push", "description": "Push" }))
}

fn rules(rule: &str, destination: UpdateDestination) -> PermissionUpdate {
    let rules = vec![RuleValue::new("Bash", rule)];
    PermissionUpdate::AddRules { rules, behavior: Behavior::Allow, destination }
}

fn with_suggestions(mut request: PermissionRequest) -> PermissionRequest {
    let suggestions = vec![rules("git push", UpdateDestination::Session), rules("git:*", UpdateDestination::Session)];
    request.decision = request.decision.with_suggestions(suggestions);
    request
}

fn ms(milliseconds: u64) -> Duration {
    Duration::from_millis(milliseconds)
}

fn key(text: &str) -> TerminalInput {
    TerminalInput::Key(text.parse().unwrap())
}

/// Dialogs with one question that was read long ago.
#[expect(clippy::needless_pass_by_value, reason = "most tests make the request in the call")]
fn dialogs(request: PermissionRequest, columns: usize, rows: usize) -> Dialogs {
    let mut dialogs = Dialogs::new(Keymap::default());
    dialogs.resize(columns, rows);
    dialogs.ask(&request);
    dialogs.drawn(ms(0));
    dialogs
}

thread_local! {
    /// Time of the last key, which never goes back within a test.
    static NOW: std::cell::Cell<Duration> = const { std::cell::Cell::new(Duration::from_secs(10)) };
}

/// Draws the dialog and presses a key, for each. Gives the answer, if one came with the last of them.
fn press(dialogs: &mut Dialogs, keys: &[&str]) -> Option<DialogAnswer> {
    let mut answer = None;
    for text in keys {
        assert!(answer.is_none(), "answered before {text}");
        let now = NOW.get() + ms(1000);
        NOW.set(now);
        dialogs.drawn(now - ms(600));
        if let DialogResult::Answered(given) = settled(dialogs, key(text), now) {
            answer = Some(given);
        }
    }
    answer
}

/// Gives an input and lets time pass until a letter counts.
fn settled(dialogs: &mut Dialogs, input: TerminalInput, now: Duration) -> DialogResult {
    let result = dialogs.handle(input, now);
    let due = dialogs.deadline();
    due.and_then(|due| dialogs.tick(due)).unwrap_or(result)
}

fn text(dialogs: &Dialogs) -> String {
    let view = dialogs.view().unwrap();
    view.rows.iter().map(|row| row.text.clone() + "\n").collect()
}

fn allow(updates: Vec<PermissionUpdate>) -> PermissionAnswer {
    PermissionAnswer::Allow { updated_input: None, updates }
}

#[test]
fn a_screen_of_five_rows_shows_the_title_and_the_ways_on() {
    for rows in 5..=12 {
        let (columns, room) = crate::prompt_area::dialog_room(crate::screen::Size::new(100, rows), 0);
        let text = text(&dialogs(bash(), columns, room));
        let shown: Vec<&str> = text.lines().collect();
        assert!(shown[0].starts_with("Bash wants permission: git push"), "{rows}: {text}");
        assert!(shown.iter().any(|row| row.starts_with("> 1. Yes")), "{rows}: {text}");
        assert!(shown.last().unwrap().contains("Esc: no"), "{rows}: {text}");
        assert!(shown.len() <= room && room < rows.into(), "{rows}: {text}");
    }
}

#[test]
fn the_dialog_says_who_asks_what_and_why() {
    let mut request = with_suggestions(bash());
    request.agent = AgentPath::default().child("toolu_9".into());
    request.identity = Some(AgentIdentity::new(AgentId::from("a1"), "reviewer"));
    let rule = MatchedRule::new("Bash(git push:*)", Behavior::Ask, RuleSource::ProjectSettings);
    request.decision.rule = Some(rule);
    request.decision.rule.as_mut().unwrap().origin = Some(RuleOrigin::new(".claude/settings.json", Some(7)));
    request.decision.part = Some("git push".to_owned());
    request.impact = Some(Box::new(CallImpact::new(RiskGrade::High, "Sends commits to another repository.")));
    let shown = text(&dialogs(request, 100, 40));
    for expected in [
        "Bash wants permission: git push",
        "Asked by the agent reviewer\n",
        "Sends commits to another repository. Risk: high",
        "Why it asks: No rule allows the command.",
        "Rule: Bash(git push:*) (.claude/settings.json:7)",
        "description: Push",
        "  | git push",
        "> 1. Yes, this once (y)",
        "  2. Yes, and allow Bash(git push) in this session (a)",
        "  3. Yes, and allow Bash(git push) in this project (p)",
        "  4. Yes, and allow Bash(git push) in all projects (u)",
        "  5. No (n)",
        "rule 1 of 2",
    ] {
        assert!(shown.contains(expected), "{expected} is not in\n{shown}");
    }
}

#[test]
fn keys_answer() {
    use UpdateDestination::{LocalSettings, Session, UserSettings};
    let denied = |message: &str, interrupt| PermissionAnswer::Deny { message: message.to_owned(), interrupt };
    let no = "The user did not allow the call.";
    for (keys, expected) in [
        (&["y"] as &[_], allow(vec![])),
        (&["Y"], allow(vec![])),
        (&["enter"], allow(vec![])),
        (&["a", "enter"], allow(vec![rules("git push", Session)])),
        (&["P", "enter"], allow(vec![rules("git push", LocalSettings)])),
        (&["u", "enter"], allow(vec![rules("git push", UserSettings)])),
        (&["a", "p", "enter"], allow(vec![rules("git push", LocalSettings)])),
        (&["a", "y"], allow(vec![])),
        (&["2"], allow(vec![rules("git push", Session)])),
        (&["down", "down", "enter"], allow(vec![rules("git push", LocalSettings)])),
        (&["right", "a", "enter"], allow(vec![rules("git:*", Session)])),
        (&["right", "right", "left", "a", "enter"], allow(vec![rules("git push", Session)])),
        (&["n"], denied(no, false)),
        (&["esc"], denied(no, false)),
        (&["up", "up", "end", "down", "down", "down", "down", "down", "enter"], denied(no, false)),
        (&["ctrl+c"], denied(no, true)),
        (&["tab", "n", "o", "t", "esc", "n"], denied("The user did not allow the call. The user says: not", false)),
    ] {
        let mut dialogs = dialogs(with_suggestions(bash()), 100, 30);
        let answer = press(&mut dialogs, keys).unwrap();
        assert_eq!((answer.answer, answer.comment), (expected, None), "{keys:?}");
        assert!(dialogs.is_empty());
    }
    for keys in [&["x"] as &[_], &["a"], &["p"], &["u"], &["6"], &["ctrl+y"], &["space"], &["alt+y"], &["left"]] {
        assert_eq!(press(&mut dialogs(with_suggestions(bash()), 100, 30), keys), None, "{keys:?}");
    }
}

/// Types a text with so many milliseconds between its characters; a line end is Enter.
fn type_text(dialogs: &mut Dialogs, text: &str, gap: u64, start: u64) -> Vec<DialogResult> {
    let mut results = Vec::new();
    for (at, c) in text.chars().enumerate() {
        let now = ms(start + gap * at as u64);
        results.extend(dialogs.tick(now));
        let name = if c == '\n' { "enter".to_owned() } else { c.to_string() };
        let input = if c == ' ' { key("space") } else { key(&name) };
        results.push(dialogs.handle(input, now));
    }
    let end = start + gap * text.chars().count() as u64 + 1000;
    results.extend(dialogs.tick(ms(end)));
    results
}

#[test]
fn a_word_answers_nothing_however_fast_it_is_typed() {
    for word in
        ["agents", "please", "use", "yes", "no", "yy", "a1", "2 files", "in no hurry", "please use agents\n", "ok\n"]
    {
        for gap in [0, 20, 149] {
            let mut dialogs = dialogs(with_suggestions(bash()), 100, 30);
            let results = type_text(&mut dialogs, word, gap, 5000);
            assert!(results.iter().all(|result| *result == DialogResult::Taken), "{word} by {gap} ms: {results:?}");
            assert!(text(&dialogs).contains("> 1. Yes, this once"), "{word} selects nothing: {}", text(&dialogs));
        }
    }
    // Slower letters answer alone, but none grants more than the call, and Enter behind the text chooses nothing.
    for word in ["agents", "please\n", "use\n", "all\n"] {
        let mut dialogs = dialogs(with_suggestions(bash()), 100, 30);
        for result in type_text(&mut dialogs, word, 200, 5000) {
            let is_grant = |answer: &DialogAnswer| matches!(&answer.answer, PermissionAnswer::Allow { updates, .. } if !updates.is_empty());
            assert!(!matches!(&result, DialogResult::Answered(answer) if is_grant(answer)), "{word}: {result:?}");
        }
    }
}

#[test]
fn a_text_over_a_question_is_noted_and_a_pause_ends_it() {
    let mut dialogs = dialogs(with_suggestions(bash()), 100, 30);
    type_text(&mut dialogs, "agents", 60, 5000);
    assert!(text(&dialogs).contains("Text answers nothing: one letter does."), "{}", text(&dialogs));
    assert_eq!(settled(&mut dialogs, key("a"), ms(8000)), DialogResult::Taken);
    assert!(text(&dialogs).contains("Enter: the selected answer."), "{}", text(&dialogs));
    assert!(text(&dialogs).contains("> 2. Yes, and allow Bash(git push) in this session (a)"));
    let DialogResult::Answered(answer) = dialogs.handle(key("enter"), ms(9000)) else { panic!("no answer") };
    assert_eq!(answer.answer, allow(vec![rules("git push", UpdateDestination::Session)]));
}

#[test]
fn a_letter_waits_for_the_next_one_and_enter_or_esc_end_the_wait() {
    let mut waiting = dialogs(bash(), 80, 20);
    assert_eq!(waiting.deadline(), None);
    assert_eq!(waiting.handle(key("y"), ms(5000)), DialogResult::Taken);
    assert_eq!((waiting.deadline(), waiting.tick(ms(5149))), (Some(ms(5150)), None));
    assert!(matches!(waiting.tick(ms(5150)), Some(DialogResult::Answered(_))));
    for (second, expected) in
        [("enter", PermissionAnswer::allow()), ("esc", PermissionAnswer::deny("The user did not allow the call."))]
    {
        let mut dialogs = dialogs(bash(), 80, 20);
        dialogs.handle(key("y"), ms(5000));
        let DialogResult::Answered(answer) = dialogs.handle(key(second), ms(5050)) else { panic!("{second}") };
        assert_eq!(answer.answer, expected);
    }
    // A letter never answers the question behind the one that is withdrawn.
    let mut dialogs = dialogs(bash(), 80, 20);
    dialogs.ask(&request("q2", "Bash", &json!({ "command": "a" })));
    dialogs.handle(key("y"), ms(5000));
    dialogs.withdraw(&"q1".into());
    assert_eq!(dialogs.tick(ms(6000)), None);
}

#[test]
fn keys_that_go_to_the_prompt_are_noted() {
    let mut dialogs = Dialogs::new(Keymap::default());
    dialogs.resize(100, 20);
    dialogs.ask(&bash());
    dialogs.drawn(ms(1000));
    dialogs.handle(key("x"), ms(1100));
    assert!(text(&dialogs).contains("What you typed before is in the prompt."), "{}", text(&dialogs));
    dialogs.handle(key("down"), ms(2000));
    assert!(!text(&dialogs).contains("is in the prompt"), "{}", text(&dialogs));
}

#[test]
fn few_rows_show_the_tool_and_the_ways_out() {
    let mut small = dialogs(with_suggestions(bash()), 100, 2);
    let shown = text(&small);
    assert!(shown.starts_with("Bash wants permission: git push\n> 1. Yes, this once (y)  Space: row 1 of"), "{shown}");
    assert!(shown.contains("Esc: no. Down: others."), "{shown}");
    // Each page is one row, and the whole call is read before a yes.
    let mut seen = shown;
    while press(&mut small, &["y"]).is_none() {
        seen += &text(&small);
    }
    assert!(seen.contains("Why it asks") && seen.contains("  | git push"), "{seen}");
    for rows in [3, 4, 5, 6] {
        let shown = text(&dialogs(with_suggestions(bash()), 100, rows));
        assert!(shown.starts_with("Bash wants permission: git push\n"), "{shown}");
        assert!(shown.contains("Esc: no.") && shown.contains("Down: other answers."), "{shown}");
    }
    let shown = text(&dialogs(form(), 80, 2));
    assert_eq!(shown, "Which store?\n> ( ) 1. SQLite\n");
}

#[test]
fn an_edit_without_a_preview_is_shown_as_lines_that_go_and_come() {
    let input =
        json!({ "file_path": "/a.rs", "old_string": "fn a() {\n  1\n}", "new_string": "fn a() {\n  2\n  3\n}" });
    let shown = text(&dialogs(request("q1", "Edit", &input), 60, 40));
    assert!(shown.contains("Change:\n  fn a() {\n-   1\n+   2\n+   3\n  }\n"), "{shown}");
    assert!(!shown.contains("old_string") && !shown.contains("new_string"), "{shown}");
    let edits =
        json!([{ "old_string": "a", "new_string": "" }, { "old_string": "b", "new_string": "c", "replace_all": true }]);
    let input = json!({ "file_path": "/a.rs", "edits": edits });
    let dialogs = dialogs(request("q1", "MultiEdit", &input), 60, 40);
    let shown = text(&dialogs);
    let expected = "Change 1 of 2:\n- a\n+ \nChange 2 of 2, everywhere in the file:\n- b\n+ c\n";
    assert!(shown.contains(expected), "{shown}");
    let kind = |text: &str| dialogs.view().unwrap().rows.iter().find(|row| row.text == text).map(|row| row.kind);
    assert_eq!((kind("- b"), kind("+ c")), (Some(DialogRowKind::Removed), Some(DialogRowKind::Added)));
    // Nothing of an unusual input is left out.
    let edits = json!([{ "old_string": "a", "new_string": "b", "other": "unusual" }]);
    let input = json!({ "file_path": "/a.rs", "edits": edits });
    let shown = text(&self::dialogs(request("q1", "MultiEdit", &input), 60, 40));
    assert!(shown.contains("unusual"), "{shown}");
}

#[test]
fn a_question_of_an_agent_names_its_task_and_no_id() {
    let mut request = bash();
    request.agent = AgentPath::default().child("toolu_9".into());
    let mut dialogs = Dialogs::new(Keymap::default());
    dialogs.resize(80, 30);
    dialogs.ask_for(&request, "Explore the parser");
    request.identity = Some(AgentIdentity::new(AgentId::from("a1"), "reviewer"));
    dialogs.ask_for(&request, "Explore the parser");
    assert!(text(&dialogs).contains("Asked by the agent for: Explore the parser\n"), "{}", text(&dialogs));
    dialogs.withdraw(&"q1".into());
    assert!(text(&dialogs).contains("Asked by the agent reviewer (Explore the parser)\n"), "{}", text(&dialogs));
    assert!(!text(&dialogs).contains("toolu_9"));
}

#[test]
fn a_yes_takes_a_comment_along() {
    let mut dialogs = dialogs(bash(), 80, 20);
    let answer = press(&mut dialogs, &["tab", "o", "k", "enter"]).unwrap();
    assert_eq!((answer.answer, answer.comment.as_deref()), (PermissionAnswer::allow(), Some("ok")));
    // A paste is a comment, never an answer.
    let mut dialogs = self::dialogs(bash(), 80, 20);
    assert_eq!(dialogs.handle(TerminalInput::Paste("y\ny\n".to_owned()), ms(5000)), DialogResult::Taken);
    assert!(text(&dialogs).contains("Comment: y"));
    assert_eq!(dialogs.withdraw(&"q1".into()), "y\ny");
}

#[test]
fn what_the_safety_floor_asks_about_is_allowed_once_at_most() {
    let mut request = with_suggestions(bash());
    request.decision.protected = true;
    let dialogs = dialogs(request, 100, 30);
    assert!(!text(&dialogs).contains("session"), "{}", text(&dialogs));
}

#[test]
fn only_suggestions_that_allow_are_offered() {
    let mut request = bash();
    let destination = UpdateDestination::Session;
    let deny =
        PermissionUpdate::AddRules { rules: vec![RuleValue::tool("Bash")], behavior: Behavior::Deny, destination };
    let long = rules(&"x".repeat(300), destination);
    let mode = PermissionUpdate::SetMode { mode: PermissionMode::AcceptEdits, destination };
    request.decision = request.decision.with_suggestions(vec![deny, long, mode.clone()]);
    let mut dialogs = dialogs(request, 100, 30);
    let shown = text(&dialogs);
    assert!(shown.contains("2. Yes, and switch to the mode acceptEdits in this session (a)\n  3. No (n)"), "{shown}");
    assert_eq!(press(&mut dialogs, &["a", "enter"]).unwrap().answer, allow(vec![mode]));
}

#[test]
fn a_yes_is_possible_only_when_everything_was_shown() {
    let command: String = (0..100).map(|line| format!("echo {line}\n")).collect();
    let request = with_suggestions(request("q1", "Bash", &json!({ "command": command })));
    for yes in ["y", "enter", "1", "2"] {
        let mut dialogs = dialogs(request.clone(), 60, 16);
        let mut shown = text(&dialogs);
        let mut pages = 0;
        while press(&mut dialogs, &[yes]).is_none() {
            shown += &text(&dialogs);
            pages += 1;
        }
        assert!(pages > 5, "{yes}");
        for line in 0..100 {
            assert!(shown.contains(&format!("  | echo {line}\n")), "{line} by {yes}");
        }
    }
    // To jump to the end is not to read: there is no such key, and Down selects.
    let mut dialogs = dialogs(request.clone(), 60, 16);
    assert_eq!(press(&mut dialogs, &["end", "ctrl+end", "down", "pageup", "y"]), None);
    // A no is always possible.
    assert!(press(&mut dialogs, &["n"]).is_some());
    // Narrower rows are read anew.
    let mut dialogs = self::dialogs(request, 60, 16);
    press(&mut dialogs, &["space", "space"]);
    dialogs.resize(20, 16);
    assert_eq!(press(&mut dialogs, &["y"]), None);
}

#[test]
fn a_question_that_waits_counts_as_unread() {
    let command = "echo line\n".repeat(40);
    let mut dialogs = dialogs(bash(), 80, 100);
    dialogs.ask(&request("q2", "Bash", &json!({ "command": command })));
    dialogs.resize(80, 12);
    assert!(press(&mut dialogs, &["y"]).is_some());
    assert_eq!(press(&mut dialogs, &["y"]), None, "the second question was never shown whole");
}

#[test]
fn a_page_that_was_not_drawn_is_not_read() {
    let command = "echo line\n".repeat(40);
    let mut dialogs = dialogs(request("q1", "Bash", &json!({ "command": command })), 60, 16);
    // Keys come faster than frames: the text stays on the second page, and no yes is possible.
    for at in 0..50 {
        let yes = settled(&mut dialogs, key(if at % 2 == 0 { "space" } else { "y" }), ms(5000 + 200 * at));
        assert_eq!(yes, DialogResult::Taken);
    }
    let second = text(&dialogs);
    dialogs.drawn(ms(20_000));
    assert_eq!(dialogs.handle(key("space"), ms(20_001)), DialogResult::Taken);
    assert_ne!(text(&dialogs), second);
}

#[test]
fn a_diff_is_shown_whole_with_its_lines_marked() {
    let mut request = request("q1", "Edit", &json!({ "file_path": "/a.rs", "old_string": "a", "new_string": "b" }));
    request.edits =
        Some(EditPreview::new(vec!["/a.rs".into()], "--- a.rs\n+++ a.rs\n@@ -1 +1 @@\n-a\n+b\n".to_owned()));
    let dialogs = dialogs(request, 60, 40);
    let kind = |text: &str| dialogs.view().unwrap().rows.iter().find(|row| row.text == text).map(|row| row.kind);
    assert_eq!(kind("+++ a.rs"), Some(DialogRowKind::Text));
    assert_eq!(kind("@@ -1 +1 @@"), Some(DialogRowKind::Hunk));
    assert_eq!(kind("-a"), Some(DialogRowKind::Removed));
    assert_eq!(kind("+b"), Some(DialogRowKind::Added));
    assert_eq!(kind("file_path: /a.rs"), Some(DialogRowKind::Text));
    // The diff says what the texts would do; without it they are shown.
    assert_eq!(kind("+ b"), None);
}

#[test]
fn nothing_in_a_dialog_controls_the_terminal() {
    let evil = "a\x1b[2J\u{202e}b\rc\u{200b}\u{7}";
    let mut request = request("q1", evil, &json!({ evil: evil, "command": format!("x\n{evil}") }));
    evil.clone_into(&mut request.title);
    evil.clone_into(&mut request.decision.message);
    request.decision.part = Some(evil.to_owned());
    request.identity = Some(AgentIdentity::new(AgentId::from("a"), evil));
    request.decision = request.decision.clone().with_suggestions(vec![rules(evil, UpdateDestination::Session)]);
    let form = json!({ "questions": [{ "question": evil, "header": evil, "options": [{ "label": evil, "description": evil }] }] });
    let form = self::request("q2", "AskUserQuestion", &form);
    let plan = self::request("q3", "ExitPlanMode", &json!({ "plan": format!("# {evil}\n{evil}") }));
    for request in [request, form, plan] {
        let dialogs = dialogs(request, 70, 60);
        for row in dialogs.view().unwrap().rows {
            assert_eq!(windlass_types::text::visible_line(&row.text), row.text);
            assert!(crate::text::width(&row.text) <= 70, "{row:?}");
        }
    }
}

#[test]
fn keys_before_a_dialog_never_answer_it() {
    let mut dialogs = Dialogs::new(Keymap::default());
    // The person types when the question comes.
    assert!(matches!(dialogs.handle(key("m"), ms(500)), DialogResult::Passed(_)));
    dialogs.ask(&bash());
    // Before it is drawn no key is for it, however late.
    assert_eq!(dialogs.handle(key("y"), ms(900)), DialogResult::Passed(key("y")));
    assert!(matches!(dialogs.handle(key("m"), ms(990)), DialogResult::Passed(_)));
    dialogs.drawn(ms(1000));
    for (typed, at) in [("y", 1000), ("enter", 1100), ("a", 1299), ("y", 1500), ("y", 1790)] {
        assert_eq!(dialogs.handle(key(typed), ms(at)), DialogResult::Passed(key(typed)), "{typed} at {at}");
    }
    // Behind a pause the key is meant.
    assert!(matches!(settled(&mut dialogs, key("y"), ms(2090)), DialogResult::Answered(_)));
    // The next question waits for a pause as well.
    dialogs.ask(&request("q2", "Bash", &json!({ "command": "a" })));
    dialogs.ask(&request("q3", "Bash", &json!({ "command": "b" })));
    dialogs.drawn(ms(5000));
    assert!(matches!(settled(&mut dialogs, key("y"), ms(5300)), DialogResult::Answered(_)));
    dialogs.drawn(ms(5460));
    assert_eq!(dialogs.handle(key("y"), ms(5749)), DialogResult::Passed(key("y")));
    assert!(matches!(settled(&mut dialogs, key("y"), ms(6049)), DialogResult::Answered(_)));
}

#[test]
fn questions_queue_and_can_be_withdrawn() {
    let mut dialogs = dialogs(bash(), 60, 20);
    dialogs.ask(&request("q2", "Read", &json!({ "file_path": "/x" })));
    assert_eq!(dialogs.len(), 2);
    assert!(text(&dialogs).lines().next().unwrap().ends_with("(1 more)"));
    assert_eq!(dialogs.withdraw(&"unknown".into()), "");
    assert_eq!(dialogs.withdraw(&"q1".into()), "");
    assert_eq!(dialogs.shown(), Some(&"q2".into()));
    // The key that was meant for the question before does not answer this one.
    assert_eq!(dialogs.handle(key("y"), ms(5100)), DialogResult::Passed(key("y")));
    dialogs.drawn(ms(5150));
    assert_eq!(dialogs.handle(key("y"), ms(5300)), DialogResult::Passed(key("y")));
    let focus = TerminalInput::Focus(true);
    assert_eq!(dialogs.handle(focus.clone(), ms(9000)), DialogResult::Passed(focus));
    assert_eq!(press(&mut dialogs, &["n"]).unwrap().id, "q2".into());
}

fn form() -> PermissionRequest {
    let option = |label: &str| json!({ "label": label, "description": format!("means {label}") });
    let questions = json!([
        { "question": "Which store?", "header": "Store", "options": [option("SQLite"), option("Files")] },
        { "question": "Which checks?", "header": "Checks", "multiSelect": true, "options": [option("fmt"), option("clippy"), option("tests")] },
    ]);
    request("q1", "AskUserQuestion", &json!({ "questions": questions, "x": 1 }))
}

fn answers(answer: &DialogAnswer) -> serde_json::Value {
    let PermissionAnswer::Allow { updated_input: Some(input), .. } = &answer.answer else { panic!("{answer:?}") };
    let input: serde_json::Value = input.to().unwrap();
    assert_eq!(input["x"], 1);
    input["answers"].clone()
}

#[test]
fn a_form_takes_choices_and_own_answers() {
    for (keys, expected) in [
        (&["enter", "enter"] as &[_], json!({ "Which store?": "SQLite", "Which checks?": ["fmt"] })),
        (
            &["down", "enter", "space", "down", "down", "space", "enter"],
            json!({ "Which store?": "Files", "Which checks?": ["fmt", "tests"] }),
        ),
        (&["2", "enter", "1", "1", "3", "enter"], json!({ "Which store?": "Files", "Which checks?": ["tests"] })),
        (
            &["r", "e", "d", "i", "s", "enter", "2", "o", "k", "enter"],
            json!({ "Which store?": "redis", "Which checks?": ["clippy", "ok"] }),
        ),
        (&["tab", "2", "enter", "enter"], json!({ "Which store?": "SQLite", "Which checks?": ["clippy"] })),
        (
            &["1", "tab", "shift+tab", "2", "enter", "enter"],
            json!({ "Which store?": "Files", "Which checks?": ["fmt"] }),
        ),
    ] {
        let mut dialogs = dialogs(form(), 80, 30);
        let answer = press(&mut dialogs, keys);
        assert_eq!(answers(&answer.unwrap()), expected, "{keys:?}");
    }
    let mut dialogs = dialogs(form(), 80, 30);
    let shown = text(&dialogs);
    for expected in ["Question 1 of 2: Store", "Which store?", "> ( ) 1. SQLite", "means SQLite", "Own answer:"] {
        assert!(shown.contains(expected), "{expected} is not in\n{shown}");
    }
    let answer = press(&mut dialogs, &["w", "a", "i", "t", "esc"]).unwrap().answer;
    assert_eq!(answer, PermissionAnswer::deny("The user did not answer the questions. The user says: wait"));
}

#[test]
fn an_input_that_is_no_form_is_a_call_like_others() {
    for input in [json!({}), json!({ "questions": [] }), json!({ "questions": [{ "question": 1 }] })] {
        for tool in ["AskUserQuestion", "ExitPlanMode"] {
            let dialogs = dialogs(request("q", tool, &input), 80, 20);
            assert!(text(&dialogs).contains("Yes, this once"), "{tool} {input}");
        }
    }
}

#[test]
fn a_plan_is_read_changed_and_approved() {
    let plan = request("q1", "ExitPlanMode", &json!({ "plan": "# Plan\nChange a.rs" }));
    let edits =
        PermissionUpdate::SetMode { mode: PermissionMode::AcceptEdits, destination: UpdateDestination::Session };
    assert_eq!(press(&mut dialogs(plan.clone(), 80, 20), &["y"]).unwrap().answer, PermissionAnswer::allow());
    assert_eq!(press(&mut dialogs(plan.clone(), 80, 20), &["a", "enter"]).unwrap().answer, allow(vec![edits]));
    let refused = press(&mut dialogs(plan.clone(), 80, 20), &["tab", "n", "o", "esc", "n"]).unwrap().answer;
    assert_eq!(refused, PermissionAnswer::deny("The user does not approve the plan yet. The user says: no"));
    // Written in the dialog: y is a letter there.
    let mut written = dialogs(plan.clone(), 80, 20);
    assert_eq!(press(&mut written, &["e", "y", "enter", "tab"]), None);
    let changed = |answer: PermissionAnswer| match answer {
        PermissionAnswer::Allow { updated_input: Some(input), .. } => {
            input.to::<serde_json::Value>().unwrap()["plan"].clone()
        }
        other => panic!("{other:?}"),
    };
    assert_eq!(changed(press(&mut written, &["y"]).unwrap().answer), json!("y\n# Plan\nChange a.rs"));
    // In an external editor.
    let mut external = dialogs(plan, 80, 20);
    assert_eq!(external.handle(key("ctrl+g"), ms(5000)), DialogResult::OpenEditor("# Plan\nChange a.rs".to_owned()));
    external.edited(Some("other"));
    assert!(text(&external).contains("other"));
    assert_eq!(changed(press(&mut external, &["y"]).unwrap().answer), json!("other"));
}

#[test]
fn without_room_to_read_there_is_no_yes() {
    let mut dialogs = dialogs(bash(), 80, 1);
    assert_eq!(press(&mut dialogs, &["y", "enter", "space", "y"]), None);
    dialogs.resize(80, 2);
    for _ in 0..10 {
        if press(&mut dialogs, &["y"]).is_some() {
            return;
        }
    }
    panic!("two rows are enough to read and to answer");
}

#[test]
fn no_row_is_beside_the_screen() {
    let command: String = (0..60).map(|line| format!("echo 日本 {line}\n")).collect();
    let permission = with_suggestions(request("q1", "Bash", &json!({ "command": command })));
    let plan = request("q1", "ExitPlanMode", &json!({ "plan": command }));
    for (request, keys) in [
        (permission.clone(), &["down", "down"] as &[_]),
        (permission, &["tab", "x"]),
        (plan.clone(), &["down", "down"]),
        (plan, &["e", "down"]),
        (form(), &["down", "down"]),
    ] {
        for columns in [12, 20, 40, 80] {
            for rows in 1..25 {
                let mut dialogs = dialogs(request.clone(), columns, rows);
                press(&mut dialogs, keys);
                let view = dialogs.view().unwrap();
                assert!(view.rows.len() <= rows, "{} rows in {rows}", view.rows.len());
                let (row, column) = view.caret.unwrap();
                assert!(row < view.rows.len() && column <= columns, "{:?} in {columns}x{rows}", view.caret);
                for row in &view.rows {
                    assert!(crate::text::width(&row.text) <= columns, "{row:?} in {columns}");
                }
            }
        }
    }
}

proptest! {
    #[test]
    fn no_keys_break_a_dialog_and_unread_calls_are_not_allowed(
        keys in prop::collection::vec((prop::sample::select(vec![
            "y", "a", "p", "u", "1", "2", "enter", "tab", "esc", "up", "down", "left", "right", "space", "pageup",
            "pagedown", "x", "backspace", "ctrl+k", "ctrl+g",
        ]), any::<bool>()), 0..60),
        columns in 1_usize..80,
        rows in 1_usize..20,
    ) {
        let command: String = (0..50).map(|line| format!("line{line:03}\n")).collect();
        let request = with_suggestions(request("q1", "Bash", &json!({ "command": command })));
        let mut dialogs = dialogs(request, columns, rows);
        let mut seen = text(&dialogs);
        prop_assert!(dialogs.view().unwrap().rows.len() <= rows);
        for (at, (name, is_drawn)) in keys.into_iter().enumerate() {
            if let DialogResult::Answered(answer) = settled(&mut dialogs, key(name), ms(1000 * (at as u64 + 1))) {
                let is_yes = matches!(answer.answer, PermissionAnswer::Allow { .. });
                let seen: String = seen.split_whitespace().filter(|word| *word != "|").collect();
                prop_assert!(!is_yes || columns < 12 || (0..50).all(|line| seen.contains(&format!("line{line:03}"))), "{}", seen);
                break;
            }
            if is_drawn {
                dialogs.drawn(ms(1000 * (at as u64 + 1)));
                seen += &text(&dialogs);
            }
            prop_assert!(dialogs.view().unwrap().rows.len() <= rows);
        }
    }
}
