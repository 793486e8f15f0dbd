//! Whole runs on an emulated terminal.

use crate::emulator::Emulator;
use crate::world::World;
use proptest::prelude::*;
use std::time::Duration;
use windlass_conversation::Input;
use windlass_terminal::capabilities::Capabilities;
use windlass_terminal::cell::Cell;
use windlass_terminal::live::InputArea;
use windlass_terminal::pager::Pager;
use windlass_terminal::presenter::{PresenterOptions, TerminalPresenter};
use windlass_terminal::screen::{Caret, Drawn, Size};
use windlass_terminal::surface::{SurfaceOptions, TerminalSurface};
use windlass_terminal::text::Line;
use windlass_terminal::theme::Theme;
use windlass_terminal::transcript::Transcript;
use windlass_types::{EventKind, JsonText, StateChange};

/// A conversation on an emulator, with a clock that the test moves.
struct Stage {
    world: World<TerminalSurface<Emulator>>,
    emulator: Emulator,
    input: InputArea,
    now: Duration,
}

fn input(text: &str) -> InputArea {
    let column = 2 + text.len();
    InputArea {
        rows: vec![Line::plain(format!("> {text}"))],
        caret: Some(Caret { row: 0, column }),
        status: Some(Line::plain("model-x · status")),
    }
}

impl Stage {
    fn new(size: Size) -> Self {
        let variable = |name: &str| {
            let known = [("TERM", "xterm-256color"), ("LANG", "C.UTF-8")];
            known.iter().find(|(known, _)| *known == name).map(|(_, value)| (*value).to_owned())
        };
        let options = SurfaceOptions::new(&Capabilities::detect(variable, true), Theme::default());
        let emulator = Emulator::new(size);
        let presenter = TerminalPresenter::new(PresenterOptions::default());
        let surface = TerminalSurface::new(emulator.clone(), size, presenter, options);
        let mut stage = Self { world: World::new(surface), emulator, input: input(""), now: Duration::ZERO };
        stage.wait(100);
        stage
    }

    /// Lets time pass, with a frame whenever one is due. Returns the number of frames.
    fn wait(&mut self, millis: u64) -> usize {
        let end = self.now + Duration::from_millis(millis);
        let mut frames = 0;
        while let Some(due) = self.world.presenter.due().filter(|due| *due <= end) {
            self.now = self.now.max(due);
            self.world.presenter.set_time(self.now);
            if self.world.presenter.draw(&self.input).unwrap() == Drawn::Written {
                frames += 1;
            }
        }
        self.now = end;
        self.world.presenter.set_time(end);
        frames
    }

    fn say(&mut self, text: &str, id: &str) {
        let message = World::<TerminalSurface<Emulator>>::message(text, id);
        self.world.presenter.presenter_mut().message_sent(&message);
        self.world.give(Input::Message(Box::new(message)));
    }

    fn screen(&self) -> Vec<String> {
        let mut rows = self.emulator.rows();
        while rows.last().is_some_and(String::is_empty) {
            rows.pop();
        }
        rows
    }
}

#[test]
fn a_run_as_a_person_sees_it() {
    let mut stage = Stage::new(Size::new(60, 24));
    assert_eq!(stage.screen(), ["", ">", "model-x · status"]);
    stage.say("Fix the test", "1");
    stage.world.text("I look first.\n\nThen I");
    stage.wait(50);
    assert_eq!(
        stage.screen(),
        [
            "",
            "❯ Fix the test",
            "",
            "● I look first.",
            "",
            "  Then I",
            "",
            "⠙ Writing · 0 s · 5 tokens · Esc interrupts",
            ">",
            "model-x · status",
        ]
    );
    stage.world.text(" run it.");
    stage.world.call("t", "Bash", r#"{"command":"cargo test"}"#, "");
    let todos = r#"[{"content":"Fix","status":"in_progress"},{"content":"Test","status":"pending"}]"#;
    let todos = JsonText::parse(todos).unwrap();
    stage.world.event(EventKind::StateChanged(StateChange::Todos { todos }));
    stage.say("And the docs", "2");
    stage.wait(5_050);
    assert_eq!(
        stage.screen()[5..],
        [
            "  Then I run it.",
            "▸ $ cargo test · 5 s",
            "  ▸ Fix",
            "  ○ Test",
            "",
            "⠹ Running Bash · 5 s · 7 tokens · Esc interrupts",
            "  ❯ And the docs · waits for the end",
            ">",
            "model-x · status",
        ]
    );
    stage.world.result("t", "Bash", "ok");
    stage.world.finish();
    stage.wait(50);
    assert_eq!(
        stage.screen()[5..],
        [
            "  Then I run it.",
            "",
            "● $ cargo test",
            "  └ ok",
            "    1.2 s",
            "  12.3 s · 2 turns",
            "",
            "❯ And the docs",
            "  ▸ Fix",
            "  ○ Test",
            "",
            "⠹ Working · 0 s · Esc interrupts",
            ">",
            "model-x · status",
        ]
    );
    assert_eq!(stage.emulator.cursor().1, 2);
}

#[test]
fn nothing_is_written_while_nothing_happens() {
    let mut stage = Stage::new(Size::USUAL);
    stage.say("Hello", "1");
    stage.world.text("Hi.");
    stage.world.finish();
    stage.wait(1_000);
    stage.emulator.take_written();
    assert_eq!(stage.world.presenter.due(), None, "no timer runs at the prompt");
    assert_eq!(stage.wait(10_000), 0);
    assert_eq!(stage.emulator.take_written(), "");
}

#[test]
fn the_spinner_moves_ten_times_a_second_and_not_without_the_focus() {
    let mut stage = Stage::new(Size::USUAL);
    stage.say("Hello", "1");
    stage.wait(1_000);
    stage.emulator.take_written();
    let frames = stage.wait(10_000);
    assert!((95..=101).contains(&frames), "{frames}");
    let bytes = stage.emulator.take_written().len();
    assert!(bytes < 10_000, "{bytes} bytes for a spinner of ten seconds");
    stage.world.presenter.set_focused(false);
    stage.wait(200);
    stage.emulator.take_written();
    assert_eq!(stage.wait(10_000), 0);
    assert_eq!(stage.emulator.take_written(), "");
    // Events are shown all the same.
    stage.world.call("t", "Bash", r#"{"command":"ls"}"#, "");
    assert_eq!(stage.wait(100), 1);
}

#[test]
fn a_flood_of_deltas_is_at_most_one_frame_in_33_milliseconds() {
    let mut stage = Stage::new(Size::USUAL);
    stage.say("Hello", "1");
    let mut frames = 0;
    for number in 0..2_000 {
        stage.world.text(&format!("word{number} "));
        frames += stage.wait(1);
    }
    assert!((50..=62).contains(&frames), "{frames}");
}

#[test]
fn a_page_hides_the_conversation_and_gives_it_back() {
    let mut stage = Stage::new(Size::new(60, 12));
    stage.say("Hello", "1");
    stage.world.text("One.\n\n");
    stage.wait(100);
    let surface = &mut stage.world.presenter;
    let rows = surface.transcript().rows(&surface.layout(), windlass_terminal::cell::Fold::Expanded);
    let pager = Pager::new("Transcript", rows, surface.size());
    let view = pager.view(&surface.layout(), surface.size());
    surface.draw_page(&view).unwrap();
    assert_eq!(stage.screen()[..2], ["Transcript · 1-3 of 3", "❯ Hello"]);
    stage.world.text("Two.\n\n");
    assert_eq!(stage.wait(1_000), 0, "the page stays, without a timer");
    stage.world.presenter.leave_page().unwrap();
    stage.world.finish();
    stage.wait(100);
    assert_eq!(
        stage.emulator.all_rows(),
        ["", "❯ Hello", "", "● One.", "", "  Two.", "  12.3 s · 2 turns", ">", "model-x · status"]
    );
}

#[test]
fn closing_keeps_what_was_finished() {
    let mut stage = Stage::new(Size::USUAL);
    stage.say("Hello", "1");
    stage.world.text("Last words.");
    stage.world.finish();
    stage.world.presenter.close().unwrap();
    assert_eq!(stage.emulator.all_rows(), ["", "❯ Hello", "", "● Last words.", "  12.3 s · 2 turns"]);
    assert!(!stage.emulator.with(|screen| screen.bracketed_paste() || screen.hide_cursor()));
}

#[test]
fn a_terminal_that_stops_reading_is_noticed() {
    let mut stage = Stage::new(Size::USUAL);
    stage.say("Hello", "1");
    assert!(!stage.world.presenter.is_congested());
    // Without frames everything waits.
    for _ in 0..20 {
        stage.world.text(&"A paragraph of some words.\n\n".repeat(4_000));
    }
    assert!(stage.world.presenter.is_congested());
    stage.wait(60_000);
    assert!(!stage.world.presenter.is_congested());
}

/// 500 turns with 7 MB of output and 200 sizes: what is kept does not grow.
#[test]
fn a_day_of_work_takes_no_more_memory_than_an_hour() {
    let mut stage = Stage::new(Size::USUAL);
    stage.emulator.forget_scrollback();
    let output = "a line of output of some program that talks a lot\n".repeat(300);
    let answer = "Some **Markdown** of an answer.\n\n- with items\n- and `code`\n\n".repeat(40);
    for turn in 0..500_u16 {
        stage.say("go on", &turn.to_string());
        stage.world.call("t", "Bash", r#"{"command":"make"}"#, "");
        stage.world.result("t", "Bash", &output);
        stage.world.text(&answer);
        stage.world.finish();
        stage.wait(1_000);
        stage.emulator.take_written();
        if turn % 5 < 2 {
            let size = Size::new(60 + turn % 60, 20 + turn % 20);
            stage.emulator.resize(size);
            stage.world.presenter.resize(size);
        }
        assert_eq!(stage.world.presenter.presenter().waiting_bytes(), 0);
        let kept: usize = stage.world.presenter.transcript().cells().map(Cell::size).sum();
        assert!(kept <= Transcript::LIMIT, "{kept} bytes are kept");
    }
    assert!(stage.world.presenter.transcript().dropped() > 100);
}

#[derive(Debug, Clone, Copy)]
enum Step {
    Lines(usize),
    Piece,
    Call(usize),
    Wait(u64),
    Resize(u16, u16),
    Dialog(usize),
    Type(usize),
    Finish,
    Focus(bool),
    Page,
    Suspend,
}

fn step() -> impl Strategy<Value = Step> {
    prop_oneof![
        5 => (1usize..40).prop_map(Step::Lines),
        2 => Just(Step::Piece),
        2 => (0usize..30).prop_map(Step::Call),
        4 => (1u64..300).prop_map(Step::Wait),
        2 => (40u16..130, 14u16..45).prop_map(|(columns, rows)| Step::Resize(columns, rows)),
        1 => (1usize..30).prop_map(Step::Dialog),
        2 => (0usize..60).prop_map(Step::Type),
        1 => Just(Step::Finish),
        1 => any::<bool>().prop_map(Step::Focus),
        1 => Just(Step::Page),
        1 => Just(Step::Suspend),
    ]
}

/// Numbered lines of an answer, some of them in pieces.
#[derive(Default)]
struct Numbers {
    count: usize,
}

impl Numbers {
    fn lines(&mut self, count: usize) -> String {
        let lines = (self.count..self.count + count).map(|number| format!("line {number:05}\n\n"));
        self.count += count;
        lines.collect()
    }
}

fn play(steps: &[Step]) {
    let mut stage = Stage::new(Size::USUAL);
    let mut numbers = Numbers::default();
    let mut said = 0;
    // On a terminal that is not known, a screen lower than the live area keeps rows of it in the scrollback.
    let mut is_cut = false;
    for step in steps {
        match *step {
            Step::Lines(count) => {
                if stage.world.presenter.presenter().activity().is_none() {
                    said += 1;
                    stage.say("go on", &said.to_string());
                }
                let text = numbers.lines(count);
                stage.world.text(&text);
            }
            Step::Piece => {
                if stage.world.presenter.presenter().activity().is_some() {
                    let text = numbers.lines(1);
                    let (one, other) = text.split_at(3);
                    stage.world.text(one);
                    stage.wait(40);
                    stage.world.text(other);
                }
            }
            Step::Call(rows) => {
                stage.world.call("t", "Bash", r#"{"command":"x"}"#, "");
                stage.wait(40);
                stage.world.result("t", "Bash", &"output\n".repeat(rows));
            }
            Step::Wait(millis) => {
                stage.wait(millis);
            }
            Step::Resize(columns, rows) => {
                stage.wait(40);
                let size = Size::new(columns, rows);
                is_cut |= size.rows() < stage.world.presenter.size().live_rows();
                stage.emulator.resize(size);
                stage.world.presenter.resize(size);
            }
            Step::Dialog(rows) => {
                stage.input.rows = (0..rows).map(|row| Line::plain(format!("dialog row {row}"))).collect();
                stage.input.caret = Some(Caret { row: rows / 2, column: 3 });
                stage.world.presenter.request_frame();
            }
            Step::Type(length) => {
                stage.input = input(&"x".repeat(length.min(30)));
                stage.world.presenter.request_frame();
            }
            Step::Finish => stage.world.finish(),
            Step::Focus(is_focused) => stage.world.presenter.set_focused(is_focused),
            Step::Page => {
                stage.world.presenter.draw_page(&[Line::plain("page")]).unwrap();
                stage.wait(50);
                stage.world.presenter.leave_page().unwrap();
            }
            Step::Suspend => stage.world.presenter.suspend().unwrap(),
        }
    }
    stage.input = input("draft");
    stage.world.presenter.request_frame();
    stage.world.finish();
    stage.wait(10_000);
    let all = stage.emulator.all_rows();
    let of = |text: &str| all.iter().filter(|row| row.contains(text)).count();
    let found: Vec<usize> = all.iter().filter_map(|row| row.split_once("line ")?.1.get(..5)?.parse().ok()).collect();
    assert_eq!(found, (0..numbers.count).collect::<Vec<_>>(), "{all:#?}");
    let stray = (of("> draft"), of("model-x"), of("dialog row"), of("page"), of("Esc interrupts"));
    assert!(is_cut || stray == (1, 1, 0, 0, 0), "{stray:?}: {all:#?}");
    drop(stage.world);
    assert!(is_cut || !stage.emulator.all_rows().iter().any(|row| row.contains("> draft")));
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 30, ..ProptestConfig::default() })]
    #[test]
    fn each_line_of_an_answer_is_kept_once_and_in_order(steps in prop::collection::vec(step(), 1..40)) {
        play(&steps);
    }
}
