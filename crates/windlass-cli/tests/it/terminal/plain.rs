//! A conversation in labelled lines.

use super::emulator::Emulator;
use super::text;
use crate::place::Place;
use serde_json::json;

#[test]
fn a_terminal_without_control_sequences_has_a_conversation_in_lines() {
    let place = Place::new();
    let file = place.work().join("made.txt");
    let input = json!({ "file_path": file, "content": "one\n" });
    place.script(&[json!([{ "type": "tool_use", "name": "Write", "input": input }]), text("All is written.")]);
    let mut terminal = Emulator::start_with(&place, &[], &[("TERM", "dumb")]);
    terminal.wait_for("Notice: windlass");
    terminal.send(b"make it\n");
    terminal.wait_for("Question: ");
    terminal.wait_for("Answer with a letter");
    assert!(!file.exists());
    terminal.send(b"maybe\n");
    terminal.wait_for("Hint: Answer with one of the letters above");
    terminal.send(b"yes\n");
    terminal.wait_for("Assistant: All is written.");
    terminal.wait_for("Done: ");
    assert_eq!(std::fs::read_to_string(&file).unwrap(), "one\n");
    terminal.send(b"/help\n");
    terminal.wait_for("/usage");
    terminal.send(b"\x04");
    assert_eq!(terminal.wait(), 0);
    assert!(!terminal.raw_text().contains('\u{1b}'), "no control sequence: {:?}", terminal.raw_text());
}

#[test]
fn a_flag_asks_for_lines_and_lists_have_numbers() {
    let place = Place::with_turns(&[text("The first answer.")]);
    let mut terminal = Emulator::start(&place, &["--plain", "the first prompt"]);
    terminal.wait_for("Done: ");
    terminal.send(b"/resume\n");
    terminal.wait_for("List: Resume which session?");
    terminal.wait_for("1. the first prompt");
    terminal.send(b"1\n");
    terminal.wait_until("the answer again", |screen| screen.matches("The first answer.").count() == 2);
    terminal.send(b"/exit\n");
    assert_eq!(terminal.wait(), 0);
    assert!(!terminal.raw_text().contains('\u{1b}'), "no control sequence");
}

#[test]
fn a_question_of_the_model_is_answered_by_a_number() {
    let question = json!({ "questions": [{ "question": "Which colour?", "header": "Colour", "multiSelect": false,
        "options": [{ "label": "Red", "description": "" }, { "label": "Blue", "description": "" }] }] });
    let place = Place::with_turns(&[
        json!([{ "type": "tool_use", "name": "AskUserQuestion", "input": question }]),
        text("I take it."),
    ]);
    let mut terminal = Emulator::start(&place, &["--plain", "go"]);
    terminal.wait_for("2. Blue");
    terminal.send(b"2\n");
    terminal.wait_for("Assistant: I take it.");
    assert!(terminal.screen().contains("Blue"));
}
