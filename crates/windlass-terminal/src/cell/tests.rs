use super::*;
use crate::layout::Glyphs;
use crate::markdown::MarkdownChunk;
use crate::text::width;
use crate::theme::Theme;
use windlass_types::{JsonText, NanoUsd};

fn answer(source: &str) -> Cell {
    let chunk = MarkdownChunk { source: source.to_owned(), ..MarkdownChunk::default() };
    Cell::Answer(AnswerPart { chunk, is_first: true })
}

fn cells() -> Vec<Cell> {
    let diff = "--- a/src/lib.rs\n+++ b/src/lib.rs\n@@ -10,3 +10,3 @@\n fn total() {\n-    let sum = a + b;\n+    let sum = a + b + c;\n }\n";
    let mut edit = ToolCall::new("Edit", "Edit src/lib.rs", CallOutcome::Done, "");
    edit.diff = Some(diff.to_owned());
    let mut bash = ToolCall::new(
        "Bash",
        "$ cargo test --workspace --all-targets -- --nocapture",
        CallOutcome::Done,
        &(1..=40).map(|line| format!("line {line}\n")).collect::<String>(),
    );
    bash.duration_ms = 12_345;
    let mut read = ToolCall::new("Read", "Read src/main.rs", CallOutcome::Done, &"x\n".repeat(120));
    read.duration_ms = 3;
    let mut agent = ToolCall::new("Agent", "Explore the parser", CallOutcome::Done, "report");
    agent.agent = Some(AgentWork { calls: 12, tokens: 34_567 });
    agent.duration_ms = 80_000;
    let todos = r#"[{"content":"Read the code","status":"completed"},{"content":"Fix it","status":"in_progress","activeForm":"Fixing it"},{"content":"Run the tests","status":"pending"}]"#;
    vec![
        Cell::User(UserMessage {
            text: "Fix the failing test, please.\n日本語 and 👨\u{200d}👩\u{200d}👧 too".to_owned(),
            joined: false,
        }),
        answer("I'll look at the **test** first.\n\n1. read `main.rs`\n2. run it\n\n```rust\nfn main() {}\n```\n"),
        Cell::Tool(Box::new(read)),
        Cell::Tool(Box::new(bash)),
        Cell::Tool(Box::new(edit)),
        Cell::Tool(Box::new(ToolCall::new("Bash", "$ false", CallOutcome::Failed, "exit code 1\nno such file"))),
        Cell::Tool(Box::new(ToolCall::new(
            "Bash",
            "$ rm -rf /",
            CallOutcome::Denied("The safety floor forbids it.".to_owned()),
            "",
        ))),
        Cell::Tool(Box::new(agent)),
        Cell::Todos(TodoItem::list(&JsonText::parse(todos).unwrap())),
        Cell::Notice(Notice::new(NoticeLevel::Warning, "The model is overloaded; trying again in 2.0 s (1 of 10).")),
        Cell::Local(LocalOutput {
            command: "/cost".to_owned(),
            text: KeptText::new("Total cost: $0.0123\nDuration: 12 s"),
        }),
        Cell::Task(TaskNote {
            id: "b1".to_owned(),
            description: "npm run dev".to_owned(),
            phase: TaskPhase::Started,
            summary: String::new(),
            duration_ms: 0,
        }),
        Cell::Run(RunSummary {
            is_success: true,
            message: String::new(),
            turns: 3,
            input_tokens: 12_345,
            output_tokens: 678,
            cost: NanoUsd::from_usd(0.0123),
            duration_ms: 12_345,
        }),
    ]
}

/// All cells at a width, as the scrollback has them.
fn scrollback(columns: usize, glyphs: Glyphs) -> String {
    let theme = Theme::default();
    let layout = Layout { columns, theme: &theme, glyphs };
    let mut text = String::new();
    for cell in cells() {
        if cell.is_separated() {
            text.push('\n');
        }
        for row in cell.rows(&layout, Fold::Folded) {
            assert!(row.width() <= columns, "{} columns in {columns}: {:?}", row.width(), row.text());
            text.push_str(row.text().trim_end());
            text.push('\n');
        }
    }
    text
}

/// Compares with a stored text. With `UPDATE_SNAPSHOTS` at build time, stores it.
fn assert_snapshot(name: &str, text: &str, stored: &str) {
    if option_env!("UPDATE_SNAPSHOTS").is_some() {
        let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("src/cell/snapshots");
        std::fs::write(folder.join(name), text).unwrap();
    } else {
        assert_eq!(text, stored, "{name}");
    }
}

#[test]
fn cells_at_twenty_columns() {
    assert_snapshot("cells_20.txt", &scrollback(20, Glyphs::UNICODE), include_str!("snapshots/cells_20.txt"));
}

#[test]
fn cells_at_forty_columns() {
    assert_snapshot("cells_40.txt", &scrollback(40, Glyphs::UNICODE), include_str!("snapshots/cells_40.txt"));
}

#[test]
fn cells_at_eighty_columns() {
    assert_snapshot("cells_80.txt", &scrollback(80, Glyphs::UNICODE), include_str!("snapshots/cells_80.txt"));
}

#[test]
fn cells_at_a_hundred_and_twenty_columns() {
    assert_snapshot("cells_120.txt", &scrollback(120, Glyphs::UNICODE), include_str!("snapshots/cells_120.txt"));
}

#[test]
fn cells_without_unicode() {
    let text = scrollback(60, Glyphs::ASCII);
    let theirs = ["日", "本", "語", "👨", "👩", "👧", "\u{200d}"];
    assert!(text.chars().all(|c| c.is_ascii() || theirs.contains(&c.to_string().as_str())), "{text}");
}

#[test]
fn cells_for_screen_readers() {
    let lines: Vec<String> = cells().iter().flat_map(Cell::plain_lines).collect();
    assert_snapshot("plain.txt", &(lines.join("\n") + "\n"), include_str!("snapshots/plain.txt"));
}

#[test]
fn an_expanded_cell_shows_what_was_kept() {
    let theme = Theme::default();
    let layout = Layout { columns: 80, theme: &theme, glyphs: Glyphs::UNICODE };
    let text: String = (0..100_000).map(|line| format!("line {line}\n")).collect();
    let call = Cell::Tool(Box::new(ToolCall::new("Bash", "$ seq", CallOutcome::Done, &text)));
    assert!(call.size() < 70_000);
    let folded = call.rows(&layout, Fold::Folded);
    assert_eq!(folded.len(), 6);
    assert!(folded[5].text().contains("100000 lines · 1.1 MB"), "{:?}", folded[5].text());
    let expanded = call.rows(&layout, Fold::Expanded);
    assert!(expanded.len() > 5_000);
    assert!(expanded.iter().any(|row| row.text().contains("left out")));
}

#[test]
fn text_of_others_is_safe_in_every_cell() {
    let evil = "a\u{1b}[2J\u{1b}]0;t\u{7}b\u{202e}c\u{9b}31m\r\nd\u{200b}";
    let mut diff = ToolCall::new(evil, evil, CallOutcome::Done, evil);
    diff.diff = Some(format!("--- a/{evil}\n+++ b/x\n@@ -1 +1 @@\n-{evil}\n+{evil}\n"));
    let note = TaskNote {
        id: evil.to_owned(),
        description: evil.to_owned(),
        phase: TaskPhase::Failed,
        summary: evil.to_owned(),
        duration_ms: 1,
    };
    let cells = [
        Cell::User(UserMessage { text: evil.to_owned(), joined: false }),
        answer(evil),
        Cell::Thinking(evil.to_owned()),
        Cell::Tool(Box::new(diff)),
        Cell::Tool(Box::new(ToolCall::new(evil, evil, CallOutcome::Failed, evil))),
        Cell::Tool(Box::new(ToolCall::new(evil, evil, CallOutcome::Denied(evil.to_owned()), evil))),
        Cell::Todos(vec![TodoItem::new(evil, TodoPhase::Pending)]),
        Cell::Notice(Notice::new(NoticeLevel::Error, evil)),
        Cell::Local(LocalOutput { command: evil.to_owned(), text: KeptText::new(evil) }),
        Cell::Task(note),
    ];
    let theme = Theme::default();
    let layout = Layout { columns: 40, theme: &theme, glyphs: Glyphs::UNICODE };
    for cell in cells {
        let rows = [Fold::Folded, Fold::Expanded].into_iter().flat_map(|fold| cell.rows(&layout, fold));
        let shown: Vec<String> = rows.map(|row| row.text()).chain(cell.plain_lines()).collect();
        for row in shown {
            assert!(!row.chars().any(|c| c.is_control() || matches!(c, '\u{202e}' | '\u{200b}')), "{cell:?} {row:?}");
            assert!(width(&row) > 0 || row.is_empty());
        }
    }
}
