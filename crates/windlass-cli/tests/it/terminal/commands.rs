//! Slash commands of the command, and views of the session.

use super::emulator::Emulator;
use super::{PAUSE, text};
use crate::place::{Place, write};
use serde_json::json;

/// A terminal at its first prompt.
fn started(place: &Place, args: &[&str]) -> Emulator {
    let mut terminal = Emulator::start(place, args);
    terminal.wait_for("? shows the keys");
    terminal
}

#[test]
fn help_lists_every_command_once() {
    let place = Place::with_turns(&[]);
    let mut terminal = started(&place, &[]);
    terminal.type_line("/help");
    terminal.wait_for("/usage");
    let rows = terminal.all_rows();
    for name in [
        "add-dir",
        "agents",
        "clear",
        "compact",
        "config",
        "context",
        "copy",
        "cost",
        "diff",
        "doctor",
        "exit",
        "export",
        "fork",
        "help",
        "hooks",
        "init",
        "keys",
        "login",
        "logout",
        "mcp",
        "memory",
        "mode",
        "model",
        "permissions",
        "plan",
        "plugins",
        "rename",
        "resume",
        "rewind",
        "skills",
        "status",
        "statusline",
        "tasks",
        "theme",
        "usage",
    ] {
        let start = format!("/{name} ");
        let listed = rows.iter().filter(|row| row.trim_start_matches([' ', '└', '|']).starts_with(&start)).count();
        assert_eq!(listed, 1, "/{name}\n{}", rows.join("\n"));
    }
}

#[test]
fn rules_are_shown_with_their_places_tested_and_added() {
    let place = Place::with_turns(&[]);
    write(&place.home().join(".windlass/settings.json"), "{\n  \"permissions\": { \"deny\": [\"Bash(rm *)\"] }\n}");
    let mut terminal = started(&place, &["--allowedTools", "Bash(ls *)"]);
    terminal.type_line("/permissions");
    terminal.wait_for("allow  Bash(ls *)  (command line)");
    terminal.wait_for("settings.json:2)");
    terminal.type_line("/permissions test Bash rm -rf build");
    terminal.wait_for("rule: deny Bash(rm *)");
    terminal.type_line("/permissions allow Bash(cargo test *)");
    terminal.wait_for("is in");
    let written = std::fs::read_to_string(place.work().join(".windlass/settings.local.json")).unwrap();
    assert!(written.contains("Bash(cargo test *)"), "{written}");
}

#[test]
fn reasons_of_decisions_are_on_a_page() {
    let place = Place::with_turns(&[
        json!([{ "type": "tool_use", "name": "Bash", "input": { "command": "ls" } }]),
        text("Done."),
    ]);
    let mut terminal = started(&place, &["go"]);
    terminal.wait_for("2 turns");
    terminal.type_line("/permissions why");
    terminal.wait_for("Why calls ran or did not");
    terminal.wait_for("{\"command\":\"ls\"}");
    terminal.send(b"q");
    terminal.wait_until("the page is closed", |screen| !screen.contains("q closes"));
}

#[test]
fn a_model_that_is_not_known_is_refused_with_the_one_that_was_meant() {
    let place = Place::with_turns(&[]);
    let mut terminal = started(&place, &[]);
    terminal.type_line("/model claude-opsu-4-5");
    terminal.wait_for("did you mean");
    terminal.type_line("/model opus high");
    terminal.wait_for("The model is opus from the next request on. The effort is high.");
}

#[test]
fn views_of_the_project_say_what_there_is() {
    let place = Place::with_turns(&[]);
    write(&place.home().join(".windlass/agents/finder.md"), "---\nname: finder\ndescription: Finds things\n---\nFind.");
    write(&place.home().join(".windlass/commands/greet.md"), "---\ndescription: Greets\n---\nGreet.");
    let hook = json!({ "hooks": { "Stop": [{ "hooks": [{ "type": "command", "command": "true # stop" }] }] } });
    write(&place.home().join(".windlass/settings.json"), &hook.to_string());
    let mut terminal = started(&place, &[]);
    for (command, expected) in [
        ("/agents", "Finds things"),
        ("/skills", "command  Greets"),
        ("/hooks", "Stop  $ true # stop"),
        ("/plugins", "No plugin is loaded."),
        ("/mcp", "No MCP server is configured here."),
        ("/memory", "No note is kept for this project yet."),
        ("/config", "hooks = "),
        ("/tasks", "No agent and no background work runs."),
        ("/usage", "context: "),
        ("/statusline", "The row is windlass's own."),
    ] {
        terminal.type_line(command);
        terminal.wait_for(expected);
    }
}

#[test]
fn a_setting_is_changed_and_counts_from_then_on() {
    let place = Place::with_turns(&[]);
    let mut terminal = started(&place, &[]);
    terminal.type_line("/theme lihgt");
    terminal.wait_for("Did you mean \"light\"?");
    terminal.type_line("/theme light");
    terminal.wait_for("theme is set in");
    terminal.type_line("/config theme");
    terminal.wait_for("theme = \"light\"");
    // The letter of an answer in the theme's colour.
    assert!(terminal.raw_text().contains("38;5;"), "256 colours");
}

#[test]
fn changes_are_a_diff_and_the_conversation_a_file() {
    let place = Place::with_turns(&[text("The answer is 42.")]);
    let git = |args: &[&str]| {
        let done = std::process::Command::new("git").args(args).current_dir(place.work()).output().unwrap();
        assert!(done.status.success(), "{done:?}");
    };
    write(&place.work().join("a.txt"), "one\n");
    git(&["init", "-q"]);
    git(&["add", "."]);
    git(&["-c", "user.name=a", "-c", "user.email=a@b", "commit", "-qm", "a"]);
    write(&place.work().join("a.txt"), "two\n");
    write(&place.work().join("new file.txt"), "three\n");
    let mut terminal = started(&place, &["what is it?"]);
    terminal.wait_for("1 turn");
    terminal.type_line("/diff");
    terminal.wait_for("Changes since the last commit");
    terminal.wait_until("both files", |screen| screen.contains("two") && screen.contains("three"));
    terminal.send(b"q");
    terminal.wait_until("the page is closed", |screen| !screen.contains("q closes"));
    terminal.type_line("/export talk.txt");
    terminal.wait_for("The conversation is in");
    let saved = std::fs::read_to_string(place.work().join("talk.txt")).unwrap();
    assert!(saved.contains("You: what is it?") && saved.contains("Assistant: The answer is 42."), "{saved}");
    terminal.type_line("/copy");
    terminal.wait_for("is in the clipboard");
    assert!(terminal.raw_text().contains("\u{1b}]52;c;VGhlIGFuc3dlciBpcyA0Mi4=\u{7}"));
}

#[test]
fn a_fork_leaves_the_session_as_it_is() {
    let place = Place::with_turns(&[text("The first answer.")]);
    let mut terminal = started(&place, &["the first prompt"]);
    terminal.wait_for("1 turn");
    place.script(&[text("In the copy.")]);
    terminal.type_line("/fork");
    terminal.wait_for("This is a copy of the session.");
    terminal.type_line("and now");
    terminal.wait_for("In the copy.");
    terminal.wait_until("the end of the turn", |screen| screen.matches("1 turn").count() > 1);
    assert_eq!(place.logs().len(), 2);
    let all = terminal.all_rows().join("\n");
    assert_eq!(all.matches("The first answer.").count(), 1, "it is not written again: {all}");
}

#[test]
fn a_directory_joins_the_workspace_of_the_session() {
    let place = Place::with_turns(&[text("The first answer.")]);
    std::fs::create_dir_all(place.path("other")).unwrap();
    let mut terminal = started(&place, &["the first prompt"]);
    terminal.wait_for("1 turn");
    terminal.type_line("/add-dir nowhere");
    terminal.wait_for("cannot be added");
    let file = place.path("other/made.txt");
    let input = json!({ "file_path": file, "content": "one\n" });
    place.script(&[json!([{ "type": "tool_use", "name": "Write", "input": input }]), text("All is written.")]);
    terminal.type_line("/add-dir ../other");
    terminal.wait_for("is part of the workspace now");
    terminal.type_line("/mode acceptEdits");
    terminal.wait_for("accepts edits");
    terminal.type_line("write it");
    terminal.wait_for("All is written.");
    assert_eq!(std::fs::read_to_string(&file).unwrap(), "one\n");
}

#[test]
fn a_session_is_named_before_its_first_message() {
    let place = Place::with_turns(&[text("An answer.")]);
    let mut terminal = started(&place, &[]);
    terminal.type_line("/rename The parser");
    terminal.wait_for("The session is named The parser once it has begun.");
    terminal.type_line("go");
    terminal.wait_for("1 turn");
    terminal.wait_for("· The parser");
}

#[test]
fn a_plan_begins_in_its_mode() {
    let place = Place::with_turns(&[text("A plan.")]);
    let mut terminal = started(&place, &[]);
    terminal.type_line("/plan the change");
    terminal.wait_for("A plan.");
    terminal.wait_for("plans, changes nothing");
    assert!(terminal.screen().contains("the change"));
}

#[test]
fn a_command_that_is_mistyped_says_which_was_meant() {
    let place = Place::with_turns(&[]);
    let mut terminal = started(&place, &[]);
    terminal.type_line("/permitions");
    terminal.wait_for("Did you mean /permissions?");
}

#[test]
fn a_blank_in_front_of_a_slash_sends_text() {
    let place = Place::with_turns(&[text("It is a command."), text("It is none.")]);
    let mut terminal = started(&place, &[]);
    terminal.type_line(" /clear clears what?");
    terminal.wait_for("It is a command.");
    terminal.wait_for("1 turn");
    terminal.type_line(" /nonsense");
    terminal.wait_for("It is none.");
    let log = std::fs::read_to_string(&place.logs()[0]).unwrap();
    assert!(log.contains(" /clear clears what?") && log.contains(" /nonsense"), "{log}");
    assert_eq!(place.logs().len(), 1, "the conversation was not cleared");
}

#[test]
fn the_doctor_knows_the_terminal_that_it_is_called_from() {
    let place = Place::with_turns(&[]);
    let mut terminal = started(&place, &[]);
    terminal.type_line("/doctor");
    terminal.wait_for("Nothing is broken.");
    terminal.wait_for("terminal  xterm-256color, colours: ");
}

#[test]
fn a_key_is_stored_unseen_and_forgotten() {
    let place = Place::with_turns(&[text("Still here.")]);
    let mut terminal = started(&place, &[]);
    terminal.type_line("/login nonsense");
    terminal.wait_for("no vendor is named \"nonsense\"");
    terminal.wait_for("windlass login nonsense did not succeed (exit code 2).");
    terminal.type_line("/login openai");
    terminal.wait_for("Key of openai (is not shown):");
    std::thread::sleep(PAUSE);
    terminal.type_line("sk-not-to-be-seen");
    terminal.wait_for("windlass login openai is done.");
    let file = place.home().join(".windlass/credentials");
    assert!(std::fs::read_to_string(&file).unwrap().contains("sk-not-to-be-seen"));
    terminal.type_line("/logout");
    terminal.wait_for("the key of openai is no longer stored");
    terminal.type_line("go on");
    terminal.wait_for("Still here.");
    assert!(!terminal.raw_text().contains("not-to-be-seen"));
    let history = std::fs::read_to_string(place.home().join(".windlass/prompts.jsonl")).unwrap();
    assert!(!history.contains("not-to-be-seen"), "{history}");
}

#[test]
fn a_first_instruction_file_is_shown_and_written_on_a_yes() {
    let place = Place::with_turns(&[]);
    write(&place.work().join("main.py"), "print(1)\n");
    let file = place.work().join("AGENTS.md");
    let mut terminal = started(&place, &[]);
    for (answer, expected) in [("n", "windlass init did not succeed"), ("y", "windlass init is done.")] {
        terminal.type_line("/init");
        terminal
            .wait_until("the question", |screen| screen.trim_end().ends_with("Write this to AGENTS.md? [y]es [n]o:"));
        assert!(!file.exists());
        std::thread::sleep(PAUSE);
        terminal.type_line(answer);
        terminal.wait_for(expected);
    }
    assert!(std::fs::read_to_string(&file).unwrap().contains("Python"));
    terminal.type_line("/init");
    terminal.wait_for("it stays as it is");
}

#[test]
fn a_command_without_a_turn_is_no_point_to_rewind_to() {
    let place = Place::with_turns(&[text("An answer.")]);
    let mut terminal = started(&place, &[]);
    terminal.type_line("/cost");
    terminal.wait_for("Total cost");
    terminal.type_line("/rewind");
    terminal.wait_for("Nothing can be rewound yet");
    terminal.type_line("the prompt");
    terminal.wait_for("1 turn");
    terminal.type_line("/rewind");
    terminal.wait_for("Rewind to before which prompt? · 1 of 1");
}
