//! Cells and live state of whole runs.

use crate::world::World;
use windlass_conversation::Input;
use windlass_terminal::cell::{CallOutcome, Cell, NoticeLevel};
use windlass_terminal::presenter::{PresenterOptions, TerminalPresenter};
use windlass_terminal::surface::PlainSurface;
use windlass_types::{
    AgentPath, Behavior, ContentBlock, Decision, DecisionReason, Delta, EventKind, JsonText, Outcome, PermissionMode,
    RunResult, RunStarted, SessionId, StateChange, ToolFinished, ToolResult, ToolStarted, Usage, WithdrawReason,
};

fn world() -> World<TerminalPresenter> {
    World::new(TerminalPresenter::new(PresenterOptions::default()))
}

fn say(world: &mut World<TerminalPresenter>, text: &str, id: &str) {
    let message = World::<TerminalPresenter>::message(text, id);
    world.presenter.message_sent(&message);
    world.give(Input::Message(Box::new(message)));
}

/// Cells in a word each, with their texts.
fn shown(cells: &[Cell]) -> Vec<String> {
    let short = |cell: &Cell| match cell {
        Cell::User(message) => format!("user {}", message.text),
        Cell::Answer(part) => format!("{} {}", if part.is_first { "answer" } else { "more" }, part.chunk.source.trim()),
        Cell::Tool(call) => format!("tool {} {:?}", call.title, call.outcome),
        Cell::Notice(notice) => format!("notice {}", notice.text),
        Cell::Local(local) => format!("local {}", local.command),
        Cell::Run(summary) => format!("run {}", summary.is_success),
        other => format!("{other:?}"),
    };
    cells.iter().map(short).collect()
}

#[test]
fn a_run_becomes_cells_in_order() {
    let mut world = world();
    say(&mut world, "Fix it", "1");
    world.text("Looking.\n\nThen a line");
    assert_eq!(shown(&world.presenter.take_cells()), ["user Fix it", "answer Looking."]);
    assert_eq!(world.presenter.tail().chunk.source, "Then a line");
    world.text(" more.");
    world.call("t1", "Bash", r#"{"command":"cargo test\n"}"#, "Run the tests");
    assert_eq!(world.presenter.running_calls()[0].title, "$ cargo test");
    assert_eq!(world.presenter.activity().unwrap().label, "Running Bash");
    world.result("t1", "Bash", "ok");
    world.text("Done.");
    world.finish();
    assert_eq!(
        shown(&world.presenter.take_cells()),
        ["more Then a line more.", "tool $ cargo test Done", "answer Done.", "run true"]
    );
    assert!(world.presenter.activity().is_none() && world.presenter.running_calls().is_empty());
    assert_eq!(world.presenter.status().model.as_deref(), Some("model-x"));
}

#[test]
fn an_answer_without_deltas_is_shown_once() {
    let mut world = world();
    say(&mut world, "Hi", "1");
    let block = |world: &mut World<TerminalPresenter>, text: &str| {
        world.event(EventKind::BlockFinished {
            message_id: "m".into(),
            model: "model-x".to_owned(),
            index: 0,
            line: windlass_types::EntryId::from_bits(7),
            block: ContentBlock::text(text),
            usage: Usage::default(),
        });
    };
    block(&mut world, "whole");
    assert_eq!(shown(&world.presenter.take_cells())[1..], ["answer whole"]);
    world.text("by ");
    world.text("pieces");
    block(&mut world, "by pieces");
    assert_eq!(shown(&world.presenter.take_cells()), ["answer by pieces"]);
}

#[test]
fn a_withdrawn_message_leaves_a_notice_only_if_rows_were_written() {
    let mut world = world();
    say(&mut world, "Hi", "1");
    world.presenter.take_cells();
    let withdrawn = || EventKind::MessageWithdrawn { message_id: None, reason: WithdrawReason::StreamFailed };
    world.text("unfinished");
    world.event(withdrawn());
    assert_eq!(shown(&world.presenter.take_cells()), Vec::<String>::new());
    world.text("a paragraph\n\nunfinished");
    world.presenter.take_cells();
    world.event(withdrawn());
    assert_eq!(
        shown(&world.presenter.take_cells()),
        [
            "notice The answer above broke off and is no part of the conversation. Its tokens count in the cost, estimated if the provider did not report them."
        ]
    );
    assert!(world.presenter.tail().chunk.source.is_empty());
}

#[test]
fn a_text_stays_where_the_person_stopped_the_run() {
    let mut world = world();
    say(&mut world, "Hi", "1");
    world.presenter.take_cells();
    world.text("an answer that was read");
    world.event(EventKind::MessageWithdrawn { message_id: None, reason: WithdrawReason::Interrupted });
    let cells = shown(&world.presenter.take_cells());
    assert_eq!(cells.len(), 2, "{cells:?}");
    assert!(cells[0].contains("an answer that was read") && cells[1].contains("broke off"), "{cells:?}");
}

#[test]
fn messages_wait_visibly_until_their_turn() {
    let mut world = world();
    say(&mut world, "First", "1");
    say(&mut world, "Second", "2");
    say(&mut world, "Third", "3");
    let waiting = |world: &World<TerminalPresenter>| -> Vec<String> {
        world.presenter.queued().iter().map(|message| message.text.clone()).collect()
    };
    assert_eq!(waiting(&world), ["Second", "Third"]);
    let rows = live_rows(&world);
    assert!(rows.iter().any(|row| row.ends_with("Second · waits for the end")), "{rows:#?}");
    world.give(Input::Request("r".to_owned(), windlass_conversation::Request::TakeBack("2".to_owned())));
    assert_eq!(waiting(&world), ["Third"]);
    world.finish();
    assert_eq!(waiting(&world), Vec::<String>::new());
    assert_eq!(shown(&world.presenter.take_cells()), ["user First", "run true", "user Third"]);
}

/// Rows of the live area on 60 columns.
fn live_rows(world: &World<TerminalPresenter>) -> Vec<String> {
    use windlass_terminal::live::{InputArea, LiveOptions, live_area};
    let theme = windlass_terminal::theme::Theme::default();
    let glyphs = windlass_terminal::layout::Glyphs::UNICODE;
    let layout = windlass_terminal::layout::Layout { columns: 60, theme: &theme, glyphs };
    let size = windlass_terminal::screen::Size::new(60, 40);
    let now = std::time::Duration::ZERO;
    let area = live_area(&world.presenter, &InputArea::default(), &layout, size, LiveOptions::default(), now);
    area.rows.iter().map(windlass_terminal::text::Line::text).collect()
}

#[test]
fn messages_that_join_and_messages_that_wait_differ_even_if_they_are_long() {
    let mut world = world();
    say(&mut world, "First", "1");
    for (id, priority) in [("2", windlass_conversation::Priority::Next), ("3", windlass_conversation::Priority::Later)]
    {
        let text = format!("Message {id} {}", "that is long ".repeat(20));
        let message = World::<TerminalPresenter>::message(&text, id).with_priority(priority);
        world.presenter.message_sent(&message);
        world.give(Input::Message(Box::new(message)));
    }
    let joins: Vec<bool> = world.presenter.queued().iter().map(|message| message.joins).collect();
    assert_eq!(joins, [true, false]);
    let rows = live_rows(&world);
    let of = |id: &str| rows.iter().find(|row| row.contains(&format!("Message {id}"))).unwrap();
    assert!(of("2").ends_with("… · joins the run"), "{rows:#?}");
    assert!(of("3").ends_with("… · waits for the end"), "{rows:#?}");
}

#[test]
fn a_refused_call_is_named_by_what_it_would_have_done() {
    let mut world = world();
    say(&mut world, "Go", "1");
    world.presenter.take_cells();
    let calls = [
        ("t1", "Write", r#"{"file_path":"src/a.rs","content":"x"}"#, "Write src/a.rs"),
        ("t2", "Bash", r#"{"command":"rm -rf x"}"#, "$ rm -rf x"),
        ("t3", "WebFetch", r#"{"url":"https://example.com/x"}"#, "WebFetch https://example.com/x"),
        ("t4", "Odd", r#"[1]"#, "Odd"),
    ];
    for (id, tool, input, _) in calls {
        world.event(EventKind::BlockFinished {
            message_id: "m".into(),
            model: "model-x".to_owned(),
            index: 0,
            line: windlass_types::EntryId::from_bits(7),
            block: ContentBlock::ToolUse(windlass_types::ToolUse::new(id, tool, JsonText::parse(input).unwrap())),
            usage: Usage::default(),
        });
    }
    for (id, tool, _, _) in calls {
        let mut denied = ToolFinished::new(tool.to_owned(), ToolResult::error(id, "denied"));
        denied.denied = Some(Decision::new(Behavior::Deny, DecisionReason::Rule, "No."));
        world.event(EventKind::ToolFinished(denied));
    }
    let expected = calls.map(|(_, _, _, title)| format!("tool {title} Denied(\"No.\")"));
    assert_eq!(shown(&world.presenter.take_cells()), expected);
}

#[test]
fn a_command_stands_above_its_output_once() {
    let mut world = world();
    say(&mut world, "/cost", "1");
    let cells = world.presenter.take_cells();
    let theme = windlass_terminal::theme::Theme::default();
    let glyphs = windlass_terminal::layout::Glyphs::UNICODE;
    let layout = windlass_terminal::layout::Layout { columns: 80, theme: &theme, glyphs };
    let rows: Vec<String> = cells
        .iter()
        .flat_map(|cell| cell.rows(&layout, windlass_terminal::cell::Fold::Folded))
        .map(|row| row.text())
        .collect();
    assert_eq!(rows.iter().filter(|row| row.contains("/cost")).count(), 1, "{rows:#?}");
    assert!(rows.iter().any(|row| row.contains("Total cost")), "{rows:#?}");
}

#[test]
fn denied_and_failed_calls_say_why() {
    let mut world = world();
    say(&mut world, "Go", "1");
    world.presenter.take_cells();
    let mut denied = ToolFinished::new("Bash".to_owned(), ToolResult::error("t1", "denied"));
    denied.denied = Some(Decision::new(Behavior::Deny, DecisionReason::Rule, "A rule forbids it."));
    world.call("t1", "Bash", r#"{"command":"rm -rf /"}"#, "");
    world.event(EventKind::ToolFinished(denied));
    world.call("t2", "Read", r#"{"file_path":"x"}"#, "Read x");
    world.event(EventKind::ToolFinished(ToolFinished::new("Read".to_owned(), ToolResult::error("t2", "no such file"))));
    let cells = world.presenter.take_cells();
    assert_eq!(shown(&cells), ["tool $ rm -rf / Denied(\"A rule forbids it.\")", "tool Read x Failed"]);
    assert!(matches!(&cells[1], Cell::Tool(call) if call.outcome == CallOutcome::Failed));
}

#[test]
fn agents_have_rows_until_their_call_ends() {
    let mut world = world();
    say(&mut world, "Go", "1");
    world.presenter.take_cells();
    world.call("agent", "Agent", "{}", "Explore the parser");
    let path = AgentPath::default().child("agent".into());
    let started = RunStarted::new("/w".into(), "m".into(), Vec::new(), PermissionMode::Default, false);
    world.event_of(path.clone(), EventKind::RunStarted(started));
    let call = ToolStarted::new("x".into(), "Read".to_owned(), JsonText::parse("{}").unwrap(), "Read a.rs".to_owned());
    world.event_of(path.clone(), EventKind::ToolStarted(call));
    world.event_of(
        path.clone(),
        EventKind::ToolFinished(ToolFinished::new("Read".to_owned(), ToolResult::ok("x", "y"))),
    );
    let usage = Usage::new(1_000, 200);
    let cost = windlass_types::NanoUsd::from_usd(0.5);
    world.event_of(path.clone(), EventKind::UsageUpdated { model: "m".to_owned(), usage, cost });
    // Text of an agent is no part of the conversation.
    world.event_of(path.clone(), EventKind::BlockDelta { index: 0, delta: Delta::Text("secret".to_owned()) });
    let row = world.presenter.agents()[0].clone();
    assert_eq!((row.description.as_str(), row.last.as_str()), ("Explore the parser", "Read a.rs"));
    assert_eq!((row.work.calls, row.work.tokens), (1, 1_200));
    assert_eq!(world.presenter.status().cost, cost);
    let result = RunResult::new(Outcome::Success, SessionId::from("s"));
    world.event_of(path, EventKind::RunFinished(result));
    world.result("agent", "Agent", "report");
    assert!(world.presenter.agents().is_empty());
    let cells = world.presenter.take_cells();
    assert_eq!(cells.len(), 1);
    assert!(matches!(&cells[0], Cell::Tool(call) if call.agent.is_some_and(|work| work.tokens == 1_200)));
}

#[test]
fn todos_and_modes_are_state() {
    let mut world = world();
    say(&mut world, "Go", "1");
    let todos = JsonText::parse(r#"[{"content":"a","status":"pending"},{"content":"b","status":"invented"}]"#).unwrap();
    world.event(EventKind::StateChanged(StateChange::Todos { todos }));
    assert_eq!(world.presenter.todos().len(), 2);
    world.event(EventKind::StateChanged(StateChange::Todos { todos: JsonText::parse("{}").unwrap() }));
    assert!(world.presenter.todos().is_empty());
    world.event(EventKind::StateChanged(StateChange::PermissionMode { mode: PermissionMode::Plan }));
    assert_eq!(world.presenter.status().permission_mode, Some(PermissionMode::Plan));
}

#[test]
fn secrets_are_masked_in_results_and_answers() {
    let masks = windlass_context::Masks::new().with_value("hunter2-very-secret");
    let mut world = World::new(TerminalPresenter::new(PresenterOptions { masks, shows_thinking: false }));
    world.give(Input::Message(Box::new(windlass_conversation::Message::text("x"))));
    world.text("It is hunter2-very-secret.");
    world.call("t", "Bash", r#"{"command":"echo hunter2-very-secret"}"#, "");
    world.result("t", "Bash", "hunter2-very-secret");
    world.presenter.notice(NoticeLevel::Info, "hunter2-very-secret");
    let cells = world.presenter.take_cells();
    assert_eq!(cells.len(), 3);
    assert!(!format!("{cells:?}").contains("hunter2"), "{cells:?}");
}

#[test]
fn plain_output_is_labelled_lines() {
    let mut surface = PlainSurface::new(Vec::new(), TerminalPresenter::new(PresenterOptions::default()));
    let message = windlass_conversation::Message::text("Fix it").with_id("1");
    surface.presenter().message_sent(&message);
    let mut world = World::new(surface);
    world.give(Input::Message(Box::new(message)));
    world.text("I **will**.\n");
    world.call("t", "Bash", r#"{"command":"ls"}"#, "");
    world.result("t", "Bash", "a\nb\u{1b}[31m");
    world.finish();
    world.presenter.flush().unwrap();
    assert_eq!(
        String::from_utf8(world.presenter.into_writer()).unwrap(),
        "You: Fix it\nAssistant: I **will**.\nTool: $ ls\nResult: a\nb\nDone: 12.3 s, 2 turns\n"
    );
}

#[test]
fn a_long_answer_is_presented_in_bounded_time_and_memory() {
    let mut world = world();
    say(&mut world, "Write a book", "1");
    let mut written = 0;
    let paragraph = "Some words of **Markdown** with `code` and a [link](https://example.com) in them.\n\n";
    for _ in 0..13_000 {
        world.text(paragraph);
        assert!(world.presenter.waiting_bytes() < 64 * 1024, "nothing piles up beyond what waits to be taken");
        written += world.presenter.take_cells().iter().map(Cell::size).sum::<usize>();
    }
    world.finish();
    written += world.presenter.take_cells().iter().map(Cell::size).sum::<usize>();
    assert!(written > 1_000_000);
}
