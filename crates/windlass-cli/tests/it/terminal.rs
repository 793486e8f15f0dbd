//! Conversations at a terminal, through a pseudo-terminal and a strict emulator.

mod commands;
pub(crate) mod emulator;
mod plain;
mod settings;

use crate::place::Place;
use emulator::Emulator;
use serde_json::{Value, json};
use std::time::Duration;

/// Longer than the pause after which keys belong to a dialog.
const PAUSE: Duration = Duration::from_millis(500);

fn text(text: &str) -> Value {
    json!([{ "type": "text", "text": text }])
}

fn write(path: &str, content: &str) -> Value {
    json!([{ "type": "tool_use", "name": "Write", "input": { "file_path": path, "content": content } }])
}

#[test]
fn a_prompt_is_answered_above_the_prompt_and_the_terminal_is_as_it_was() {
    let place = Place::with_turns(&[text("# Hello\n\nA **word**.")]);
    let mut terminal = Emulator::start(&place, &[]);
    let before = terminal.modes();
    terminal.wait_for("? shows the keys");
    terminal.type_line("greet me");
    terminal.wait_for("A word.");
    terminal.wait_for("1 turn");
    let screen = terminal.screen();
    assert!(screen.contains("greet me") && !screen.contains("**"), "{screen}");
    terminal.send(b"\x04");
    assert_eq!(terminal.wait(), 0);
    assert_eq!(terminal.modes(), before, "the terminal is no longer raw");
    let end = terminal.raw_text();
    for restored in ["\u{1b}[?2004l", "\u{1b}[?25h"] {
        assert!(end.rfind(restored) > end.rfind("\u{1b}[?2004h"), "{restored:?} comes last");
    }
}

#[test]
fn keys_that_were_typed_before_a_question_never_answer_it() {
    let place = Place::new();
    let file = place.work().join("made.txt");
    let path = file.to_string_lossy().into_owned();
    place.script(&[write(&path, "one\n"), text("All is written.")]);
    let mut terminal = Emulator::start(&place, &[]);
    terminal.wait_for("? shows the keys");
    terminal.type_line("make it");
    // The next line is typed while the model answers the first, and goes on when the question is there.
    for _ in 0..4 {
        std::thread::sleep(Duration::from_millis(100));
        terminal.send(b"y");
    }
    terminal.wait_for("wants permission");
    std::thread::sleep(PAUSE);
    assert!(!file.exists(), "a key that came too early is no answer");
    terminal.send(b"y");
    terminal.wait_for("All is written.");
    assert_eq!(std::fs::read_to_string(&file).unwrap(), "one\n");
    // The early keys are a draft.
    terminal.wait_for("> yyyy");
}

#[test]
fn a_no_is_a_no_and_the_run_goes_on() {
    let place = Place::new();
    let file = place.work().join("made.txt");
    place.script(&[write(&file.to_string_lossy(), "one\n"), text("Then not.")]);
    let mut terminal = Emulator::start(&place, &["make it"]);
    terminal.wait_for("wants permission");
    std::thread::sleep(PAUSE);
    terminal.send(b"\x1b");
    terminal.wait_for("Then not.");
    assert!(!file.exists());
}

#[test]
fn texts_of_others_never_reach_the_terminal_raw() {
    let evil = "before\u{1b}[2J\u{1b}]0;owned\u{7}\u{202e}after \u{9b}31m";
    let place = Place::with_turns(&[text(evil)]);
    let mut terminal = Emulator::start(&place, &["go"]);
    terminal.wait_for("1 turn");
    let raw = terminal.raw_text();
    for part in ["\u{1b}[2J", "\u{1b}]0;owned", "\u{202e}", "\u{9b}"] {
        assert!(!raw.contains(part), "{part:?} reached the terminal");
    }
    assert!(terminal.screen().contains("before"), "{}", terminal.screen());
}

#[test]
fn nothing_is_written_while_nothing_happens() {
    let place = Place::with_turns(&[text("Done with it.")]);
    let mut terminal = Emulator::start(&place, &["go"]);
    terminal.wait_for("1 turn");
    std::thread::sleep(PAUSE);
    let before = terminal.raw_text().len();
    std::thread::sleep(Duration::from_secs(2));
    assert_eq!(terminal.raw_text().len(), before);
}

#[test]
fn nothing_is_written_while_a_question_waits() {
    let place = Place::new();
    place.script(&[write(&place.work().join("made.txt").to_string_lossy(), "one\n"), text("Done.")]);
    let mut terminal = Emulator::start(&place, &["make it"]);
    terminal.wait_for("wants permission");
    terminal.wait_for("Waits for your answer");
    std::thread::sleep(PAUSE);
    let before = terminal.raw_text().len();
    std::thread::sleep(Duration::from_secs(2));
    assert_eq!(terminal.raw_text().len(), before);
}

#[test]
fn a_paste_is_one_message_and_each_line_of_an_answer_comes_once() {
    let numbered: String = (0..300).map(|line| format!("line {line} of the answer\n\n")).collect();
    let place = Place::with_turns(&[text(&numbered)]);
    let mut terminal = Emulator::start(&place, &[]);
    terminal.wait_for("? shows the keys");
    let pasted: String = (0..2_000).map(|line| format!("pasted {line}\r")).collect();
    terminal.send(format!("\u{1b}[200~{pasted}\u{1b}[201~").as_bytes());
    terminal.wait_for("Pasted text");
    terminal.send(b"\r");
    terminal.wait_for("1 turn");
    let all = terminal.all_rows();
    let lines: Vec<&String> = all.iter().filter(|row| row.contains("of the answer")).collect();
    let expected: Vec<String> = (0..300).map(|line| format!("line {line} of the answer")).collect();
    assert_eq!(lines.len(), 300, "each line once");
    assert!(lines.iter().zip(&expected).all(|(row, line)| row.trim_start_matches(['●', ' ', '*']) == line), "in order");
}

#[test]
fn a_session_that_is_continued_shows_what_was_said() {
    let place = Place::with_turns(&[text("The first answer.")]);
    let mut terminal = Emulator::start(&place, &["the first prompt"]);
    terminal.wait_for("The first answer.");
    terminal.wait_for("1 turn");
    terminal.type_line("/exit");
    assert_eq!(terminal.wait(), 0);
    place.script(&[text("The second answer.")]);
    let mut terminal = Emulator::start(&place, &["--continue"]);
    terminal.wait_for("The first answer.");
    assert!(terminal.screen().contains("the first prompt"));
    terminal.type_line("and now");
    terminal.wait_for("The second answer.");
}

#[test]
fn a_draft_is_never_lost() {
    let place = Place::with_turns(&[]);
    let mut terminal = Emulator::start(&place, &[]);
    terminal.wait_for("? shows the keys");
    terminal.send(b"a long thought");
    terminal.wait_for("> a long thought");
    terminal.send(b"\x03");
    terminal.wait_until("the prompt is empty", |screen| !screen.contains("> a long thought"));
    terminal.send(b"\x1b[A");
    terminal.wait_for("> a long thought");
    terminal.send(b" and its end");
    terminal.wait_for("> a long thought and its end");
    terminal.kill(rustix::process::Signal::HUP);
    assert_eq!(terminal.wait(), 129);
    let mut terminal = Emulator::start(&place, &[]);
    terminal.wait_for("? shows the keys");
    terminal.send(b"\x1b[A");
    terminal.wait_for("> a long thought and its end");
}

#[test]
fn a_signal_to_end_ends_with_its_code_and_a_sane_terminal() {
    let place = Place::with_turns(&[]);
    let mut terminal = Emulator::start(&place, &[]);
    let before = terminal.modes();
    terminal.wait_for("? shows the keys");
    terminal.kill(rustix::process::Signal::TERM);
    assert_eq!(terminal.wait(), 143);
    assert_eq!(terminal.modes(), before);
}

#[test]
fn a_command_of_the_person_runs_and_the_model_reads_it_with_the_next_prompt() {
    let place = Place::with_turns(&[text("I see it.")]);
    let mut terminal = Emulator::start(&place, &[]);
    terminal.wait_for("? shows the keys");
    terminal.type_line("!echo from-the-shell; exit 3");
    terminal.wait_until("the output", |screen| {
        screen.lines().any(|row| row.trim_start_matches(['└', '|', ' ']).trim_end() == "from-the-shell")
    });
    terminal.type_line("what was that?");
    terminal.wait_for("I see it.");
}

#[test]
fn a_command_of_the_person_is_shown_and_stopped() {
    let place = Place::with_turns(&[]);
    let mut terminal = Emulator::start(&place, &[]);
    terminal.wait_for("? shows the keys");
    terminal.type_line("!echo $$ > pid; sleep 1000");
    terminal.wait_for("Running !echo");
    terminal.wait_until("the pid", |_| place.work().join("pid").exists());
    std::thread::sleep(PAUSE);
    terminal.send(b"\x1b");
    terminal.wait_for("Stopped.");
    let pid = std::fs::read_to_string(place.work().join("pid")).unwrap();
    let process = format!("/proc/{}", pid.trim());
    terminal.wait_until("the end of the command", |_| !std::path::Path::new(&process).exists());
}

#[test]
fn a_word_behind_a_slash_that_is_no_command_is_not_sent() {
    let place = Place::with_turns(&[]);
    let mut terminal = Emulator::start(&place, &[]);
    terminal.wait_for("? shows the keys");
    terminal.type_line("/nonsense now");
    terminal.wait_for("There is no command /nonsense");
    assert!(terminal.screen().contains("> /nonsense now"), "the text stays");
}

#[test]
fn a_rewind_takes_files_and_conversation_back() {
    let place = Place::new();
    let file = place.work().join("made.txt");
    place.script(&[write(&file.to_string_lossy(), "one\n"), text("All is written.")]);
    let mut terminal = Emulator::start(&place, &["--permission-mode", "acceptEdits", "make it"]);
    terminal.wait_for("All is written.");
    terminal.wait_for("2 turns");
    assert!(file.exists());
    terminal.type_line("/rewind");
    terminal.wait_for("Rewind to before which prompt?");
    terminal.send(b"\r");
    terminal.wait_for("Code and conversation");
    std::thread::sleep(PAUSE);
    terminal.send(b"\r");
    terminal.wait_for("The conversation and 1 file were rewound.");
    assert!(!file.exists());
}

#[test]
fn another_session_is_resumed_from_a_list() {
    let place = Place::with_turns(&[text("The first answer.")]);
    let mut terminal = Emulator::start(&place, &["the first prompt"]);
    terminal.wait_for("1 turn");
    terminal.type_line("/exit");
    assert_eq!(terminal.wait(), 0);
    place.script(&[text("The second answer.")]);
    let mut terminal = Emulator::start(&place, &[]);
    terminal.wait_for("? shows the keys");
    terminal.type_line("/resume");
    terminal.wait_for("Resume which session?");
    std::thread::sleep(PAUSE);
    terminal.send(b"\r");
    terminal.wait_for("The first answer.");
    terminal.type_line("and now");
    terminal.wait_for("The second answer.");
}

/// Asks for a name when its tool is called, and answers with the reply of the person.
const ASKING_SERVER: &str = r#"
while read -r line; do
  id=${line#*'"id":'}
  id=${id%%[,\}]*}
  case $line in
    *'"initialize"'*)
      printf '%s\n' '{"jsonrpc":"2.0","id":'$id',"result":{"protocolVersion":"2025-06-18","capabilities":{"tools":{}},"serverInfo":{"name":"n","version":"1"}}}' ;;
    *'"tools/list"'*)
      printf '%s\n' '{"jsonrpc":"2.0","id":'$id',"result":{"tools":[{"name":"ask","inputSchema":{"type":"object"}}]}}' ;;
    *'"tools/call"'*)
      call=$id
      printf '%s\n' '{"jsonrpc":"2.0","id":77,"method":"elicitation/create","params":{"message":"Which branch?","requestedSchema":{"type":"object","properties":{"branch":{"type":"string","title":"Branch"}},"required":["branch"]}}}' ;;
    *'"id":77'*)
      printf '%s' "$line" > reply.json
      printf '%s\n' '{"jsonrpc":"2.0","id":'$call',"result":{"content":[{"type":"text","text":"Thanks."}]}}' ;;
  esac
done
"#;

#[test]
fn a_form_of_a_server_is_filled_in_at_the_terminal() {
    let place = Place::with_turns(&[
        json!([{ "type": "tool_use", "name": "mcp__n__ask", "input": {} }]),
        text("The server has its answer."),
    ]);
    let server = json!({ "command": "/bin/bash", "args": ["-c", ASKING_SERVER], "cwd": place.work() });
    let config = json!({ "mcpServers": { "n": server } }).to_string();
    let mut terminal = Emulator::start(&place, &["--mcp-config", &config, "--allowedTools", "mcp__n__ask", "go"]);
    terminal.wait_for("The MCP server n asks for values");
    std::thread::sleep(PAUSE);
    terminal.send(b"main");
    terminal.wait_for("main");
    // To the row that sends, and yes.
    terminal.send(b"\r");
    std::thread::sleep(PAUSE);
    terminal.send(b"\r");
    terminal.wait_for("The server has its answer.");
    let reply = std::fs::read_to_string(place.work().join("reply.json")).unwrap();
    let reply: Value = serde_json::from_str(&reply).unwrap();
    assert_eq!(reply["result"], json!({ "action": "accept", "content": { "branch": "main" } }));
}

#[test]
fn questions_of_the_model_are_a_form() {
    let question = json!({ "questions": [{ "question": "Which colour?", "header": "Colour", "multiSelect": false,
        "options": [{ "label": "Red", "description": "warm" }, { "label": "Blue", "description": "cold" }] }] });
    let place = Place::with_turns(&[
        json!([{ "type": "tool_use", "name": "AskUserQuestion", "input": question }]),
        text("I take it."),
    ]);
    let mut terminal = Emulator::start(&place, &["go"]);
    terminal.wait_for("Which colour?");
    std::thread::sleep(PAUSE);
    terminal.send(b"\x1b[B");
    terminal.wait_for("> ( ) 2. Blue");
    terminal.send(b"\r");
    terminal.wait_for("I take it.");
    assert!(terminal.screen().contains("Blue"), "{}", terminal.screen());
}

#[test]
fn a_list_of_sessions_opens_for_resume_without_a_name() {
    let place = Place::with_turns(&[text("The first answer.")]);
    let mut terminal = Emulator::start(&place, &["the first prompt"]);
    terminal.wait_for("1 turn");
    terminal.type_line("/exit");
    assert_eq!(terminal.wait(), 0);
    let mut terminal = Emulator::start(&place, &["--resume"]);
    terminal.wait_for("Resume which session?");
    std::thread::sleep(PAUSE);
    terminal.send(b"\r");
    terminal.wait_for("The first answer.");
    let refused = place.run(&["-p", "--resume"]).with_code(2);
    assert!(refused.stderr.contains("--continue"), "{refused:?}");
}

#[test]
fn the_prompt_of_the_command_line_is_in_the_history() {
    let place = Place::with_turns(&[text("An answer.")]);
    let mut terminal = Emulator::start(&place, &["from the command line"]);
    terminal.wait_for("1 turn");
    terminal.send(b"\x1b[A");
    terminal.wait_for("> from the command line");
}

#[test]
fn title_and_progress_follow_the_run() {
    let place = Place::with_turns(&[text("An answer.")]);
    let mut terminal = Emulator::start(&place, &["go"]);
    terminal.wait_for("1 turn");
    terminal.send(b"\x04");
    assert_eq!(terminal.wait(), 0);
    let raw = terminal.raw_text();
    let at = |part: &str| raw.find(part).unwrap_or_else(|| panic!("{part:?} was not written"));
    assert!(at("\u{1b}]2;work - windlass\u{7}") < at("\u{1b}]9;4;3\u{7}"));
    assert!(at("\u{1b}]9;4;3\u{7}") < at("\u{1b}]9;4;0\u{7}"));
    assert!(raw.contains("\u{1b}[23;2t"), "the title of before comes back");
}

/// Numbered lines of an answer.
fn numbered(count: usize) -> String {
    (0..count).map(|line| format!("line {line:05} of the answer\n\n")).collect()
}

#[test]
fn a_terminal_that_stops_reading_holds_up_neither_the_run_nor_the_keys() {
    const LINES: usize = 3_000;
    let place = Place::new();
    let file = place.work().join("made.txt");
    let input = json!({ "file_path": file, "content": "one\n" });
    let answer = json!([
        { "type": "text", "text": numbered(LINES) },
        { "type": "tool_use", "name": "Write", "input": input },
    ]);
    place.script(&[answer, text("All is written.")]);
    let mut terminal = Emulator::start(&place, &["--permission-mode", "acceptEdits"]);
    terminal.wait_for("? shows the keys");
    terminal.set_stopped(true);
    terminal.type_line("make it");
    terminal.wait_until("the file of the run", |_| file.exists());
    assert!(!terminal.screen().contains("line 02999"), "the terminal has not read that far");
    let keyed = place.work().join("keyed");
    terminal.type_line("!echo yes > keyed");
    terminal.wait_until("the file of the keys", |_| keyed.exists());
    terminal.set_stopped(false);
    terminal.wait_for("All is written.");
    let all = terminal.all_rows();
    let lines: Vec<&str> = all.iter().filter_map(|row| row.split_once("line ")?.1.get(..5)).collect();
    let expected: Vec<String> = (0..LINES).map(|line| format!("{line:05}")).collect();
    assert_eq!(lines, expected, "each line once and in order");
}

#[test]
fn a_terminal_that_stops_reading_keeps_no_process_alive() {
    let place = Place::with_turns(&[text(&numbered(3_000))]);
    let mut terminal = Emulator::start(&place, &[]);
    let before = terminal.modes();
    terminal.wait_for("? shows the keys");
    terminal.set_stopped(true);
    terminal.type_line("go");
    terminal.wait_until("the answer in the log", |_| {
        place.logs().iter().any(|log| std::fs::read_to_string(log).unwrap().contains("line 02999"))
    });
    terminal.kill(rustix::process::Signal::TERM);
    assert_eq!(terminal.wait(), 143);
    assert_eq!(terminal.modes(), before);
}
