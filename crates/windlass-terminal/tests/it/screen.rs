//! Finished rows are in the scrollback once and in order, whatever happens between the frames.

use crate::emulator::Emulator;
use proptest::prelude::*;
use std::cell::RefCell;
use std::io::{self, ErrorKind, Write};
use std::rc::Rc;
use windlass_terminal::screen::{Caret, Drawn, LiveArea, RESTORE, Screen, ScreenOptions, Size};
use windlass_terminal::text::{Line, Style};

fn lines<T: AsRef<str>>(rows: &[T]) -> Vec<Line> {
    rows.iter().map(Line::plain).collect()
}

fn live(rows: &[&str], row: usize, column: usize) -> LiveArea {
    LiveArea { rows: lines(rows), caret: Some(Caret { row, column }) }
}

fn screen(size: Size) -> (Emulator, Screen<Emulator>) {
    let emulator = Emulator::new(size);
    (emulator.clone(), Screen::new(emulator, size, ScreenOptions::default()))
}

#[test]
fn finished_rows_stand_above_the_live_area() {
    let (emulator, mut screen) = screen(Size::new(20, 8));
    screen.draw(&[], &live(&["> ", "status"], 0, 2)).unwrap();
    assert_eq!(emulator.rows()[..3], ["> ".trim(), "status", ""]);
    screen.draw(&lines(&["one", "two"]), &live(&["> x", "status"], 0, 3)).unwrap();
    assert_eq!(emulator.rows()[..5], ["one", "two", "> x", "status", ""]);
    assert_eq!(emulator.cursor(), (2, 3));
    let many: Vec<String> = (0..50).map(|number| format!("row {number}")).collect();
    screen.draw(&lines(&many), &live(&["> xy"], 0, 4)).unwrap();
    let mut expected: Vec<String> = ["one", "two"].map(str::to_owned).into();
    expected.extend(many);
    expected.push("> xy".to_owned());
    assert_eq!(emulator.all_rows(), expected);
}

#[test]
fn a_frame_that_changes_nothing_writes_nothing() {
    let (emulator, mut screen) = screen(Size::USUAL);
    let area = live(&["> draft", "0 tokens"], 0, 7);
    assert_eq!(screen.draw(&[], &area).unwrap(), Drawn::Written);
    emulator.take_written();
    for _ in 0..300 {
        assert_eq!(screen.draw(&[], &area).unwrap(), Drawn::Unchanged);
    }
    assert_eq!(emulator.take_written(), "");
}

#[test]
fn a_change_of_one_cell_writes_that_cell_inside_synchronised_output() {
    let (emulator, mut screen) = screen(Size::USUAL);
    screen.draw(&[], &live(&["12 s of work, more text", "> "], 1, 2)).unwrap();
    emulator.take_written();
    screen.draw(&[], &live(&["13 s of work, more text", "> "], 1, 2)).unwrap();
    let written = emulator.take_written();
    assert_eq!(
        written,
        "\u{1b}[?2026h\u{1b}[?25l\u{1b}[A\r\u{1b}[C\u{1b}[?7l3\u{1b}[?7h\u{1b}[B\r\u{1b}[2C\u{1b}[?25h\u{1b}[?2026l",
        "{written:?}"
    );
    screen.draw(&[], &live(&["13 s of work, more text", "> "], 1, 1)).unwrap();
    assert!(emulator.take_written().len() < 50, "only the cursor moves");
}

#[test]
fn the_live_area_takes_half_of_the_screen_and_keeps_the_caret() {
    let (emulator, mut screen) = screen(Size::new(20, 10));
    let rows: Vec<String> = (0..30).map(|number| format!("live {number}")).collect();
    let area = LiveArea { rows: lines(&rows), caret: Some(Caret { row: 12, column: 1 }) };
    screen.draw(&lines(&["done"]), &area).unwrap();
    let shown = emulator.all_rows();
    assert_eq!(shown, ["done", "live 10", "live 11", "live 12", "live 13", "live 14"]);
    assert_eq!(emulator.cursor(), (3, 1));
}

#[test]
fn a_wide_row_never_wraps() {
    let (emulator, mut screen) = screen(Size::new(10, 10));
    screen.draw(&lines(&["1234567890", "next"]), &live(&["abcdefghijklmnop", "日本語日本語"], 1, 30)).unwrap();
    assert_eq!(emulator.all_rows(), ["1234567890", "next", "abcdefghi", "日本語日"]);
    assert_eq!(emulator.cursor(), (3, 9));
}

#[test]
fn a_finished_row_that_wraps_leaves_nothing_of_the_live_area() {
    let (emulator, mut screen) = screen(Size::new(10, 12));
    screen.draw(&[], &live(&["live-live", "live-live", "live-live"], 2, 9)).unwrap();
    screen.draw(&lines(&["abcdefghijklmnopqrstuvwxy"]), &live(&[">"], 0, 1)).unwrap();
    assert_eq!(emulator.all_rows(), ["abcdefghij", "klmnopqrst", "uvwxy", ">"]);
    screen.draw(&lines(&["0123456789ABCDEFGHIJ"]), &live(&[">"], 0, 1)).unwrap();
    assert_eq!(emulator.all_rows()[3..], ["0123456789", "ABCDEFGHIJ", ">"]);
}

#[test]
fn closing_leaves_the_scrollback_and_restores_the_terminal() {
    let (emulator, mut screen) = screen(Size::USUAL);
    screen.draw(&lines(&["kept"]), &LiveArea { rows: lines(&["live", "more"]), caret: None }).unwrap();
    assert!(emulator.with(|screen| screen.bracketed_paste() && screen.hide_cursor()));
    drop(screen);
    assert_eq!(emulator.all_rows(), ["kept"]);
    assert_eq!(emulator.cursor(), (1, 0));
    assert!(!emulator.with(|screen| screen.bracketed_paste() || screen.hide_cursor()));
}

#[test]
fn a_panic_restores_the_terminal() {
    let emulator = Emulator::new(Size::USUAL);
    let outcome = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
        let mut screen = Screen::new(emulator.clone(), Size::USUAL, ScreenOptions::default());
        screen.draw_alternate(&lines(&["pager"]), None).unwrap();
        panic!("a defect");
    }));
    assert!(outcome.is_err());
    assert!(!emulator.with(|screen| screen.alternate_screen() || screen.bracketed_paste() || screen.hide_cursor()));
    let mut emulator = emulator;
    let mut screen = Screen::new(emulator.clone(), Size::USUAL, ScreenOptions::default());
    screen.draw_alternate(&lines(&["pager"]), None).unwrap();
    emulator.write_all(RESTORE.as_bytes()).unwrap();
    assert!(!emulator.with(|screen| screen.alternate_screen() || screen.bracketed_paste() || screen.hide_cursor()));
    std::mem::forget(screen);
}

#[test]
fn a_suspended_screen_begins_anew() {
    let (emulator, mut screen) = screen(Size::USUAL);
    screen.draw(&lines(&["one"]), &live(&["> draft"], 0, 7)).unwrap();
    screen.suspend().unwrap();
    assert_eq!(emulator.all_rows(), ["one"]);
    emulator.clone().write_all(b"$ fg\r\n").unwrap();
    screen.draw(&lines(&["two"]), &live(&["> draft"], 0, 7)).unwrap();
    assert_eq!(emulator.all_rows(), ["one", "$ fg", "two", "> draft"]);
    assert!(emulator.with(vt100::Screen::bracketed_paste));
}

#[test]
fn the_alternate_screen_hides_and_gives_back() {
    let (emulator, mut screen) = screen(Size::new(20, 6));
    screen.draw(&lines(&["one"]), &live(&["> draft"], 0, 7)).unwrap();
    let caret = Some(Caret { row: 1, column: 2 });
    screen.draw_alternate(&lines(&["page 1", "text"]), caret).unwrap();
    assert_eq!(emulator.rows()[..3], ["page 1", "text", ""]);
    assert_eq!(emulator.cursor(), (1, 2));
    emulator.take_written();
    screen.draw_alternate(&lines(&["page 1", "text"]), caret).unwrap();
    assert_eq!(emulator.take_written(), "");
    screen.draw_alternate(&lines(&["page 2"]), None).unwrap();
    assert_eq!(emulator.rows()[..3], ["page 2", "", ""]);
    assert_eq!(screen.draw(&lines(&["two"]), &live(&["> draft"], 0, 7)).unwrap(), Drawn::Busy);
    screen.leave_alternate().unwrap();
    screen.draw(&lines(&["two"]), &live(&["> draft"], 0, 7)).unwrap();
    assert_eq!(emulator.all_rows(), ["one", "two", "> draft"]);
    assert_eq!(emulator.cursor(), (2, 7));
}

#[test]
fn title_and_progress_are_taken_back() {
    let (emulator, mut screen) = screen(Size::USUAL);
    screen.set_title("too early").unwrap();
    screen.notify("too early").unwrap();
    assert_eq!(emulator.take_written(), "");
    screen.draw(&[], &live(&["> "], 0, 2)).unwrap();
    emulator.take_written();
    screen.set_title("Fix\u{1b}[2J it\u{7}\n").unwrap();
    assert_eq!(emulator.take_written(), "\u{1b}[22;2t\u{1b}]2;Fix it \u{7}");
    screen.set_title("Fix it ").unwrap();
    screen.set_progress(true).unwrap();
    screen.set_progress(true).unwrap();
    assert_eq!(emulator.take_written(), "\u{1b}]9;4;3\u{7}");
    screen.notify("4;0 done\u{9c}").unwrap();
    assert_eq!(emulator.take_written(), "\u{1b}]9;windlass: 4;0 done\u{7}\u{7}");
    screen.suspend().unwrap();
    let written = emulator.take_written();
    assert!(written.contains("\u{1b}[23;2t\u{1b}]9;4;0\u{7}"), "{written:?}");
    assert_eq!(emulator.all_rows(), Vec::<String>::new());
}

#[test]
fn no_frame_erases_the_screen_at_once() {
    // Terminals that save an erased screen in the scrollback would keep a copy of the live area.
    let options = ScreenOptions { reflows: true, ..ScreenOptions::default() };
    let emulator = Emulator::new(Size::new(20, 8));
    let mut screen = Screen::new(emulator.clone(), Size::new(20, 8), options);
    screen.draw(&[], &live(&["one", "two", "three"], 2, 0)).unwrap();
    screen.resize(Size::new(20, 3), true);
    screen.draw(&lines(&["done"]), &live(&["one", "two"], 1, 0)).unwrap();
    screen.draw(&[], &LiveArea::default()).unwrap();
    screen.suspend().unwrap();
    let written = emulator.take_written();
    for (at, _) in written.match_indices("\u{1b}[J") {
        assert!(written[..at].ends_with("\r\u{1b}[K\u{1b}[C"), "{written:?}");
    }
    assert!(written.matches("\u{1b}[J").count() >= 3, "{written:?}");
}

#[test]
fn a_hidden_cursor_rests_on_the_first_row() {
    // A screen that becomes smaller drops rows below the cursor, and saves those above it.
    let (emulator, mut screen) = screen(Size::new(20, 8));
    let area = LiveArea { rows: lines(&["one", "two", "three"]), caret: None };
    screen.draw(&lines(&["done"]), &area).unwrap();
    assert_eq!(emulator.cursor(), (1, 0));
    screen.draw(&lines(&["more"]), &area).unwrap();
    assert_eq!((emulator.cursor(), emulator.all_rows()[2..].len()), ((2, 0), 3));
}

/// A terminal that takes few bytes at a time.
#[derive(Clone)]
struct Slow {
    room: Rc<RefCell<usize>>,
    emulator: Emulator,
}

impl Write for Slow {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let count = bytes.len().min(*self.room.borrow());
        if count == 0 {
            return Err(ErrorKind::WouldBlock.into());
        }
        *self.room.borrow_mut() -= count;
        self.emulator.write(&bytes[..count])
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

#[test]
fn a_terminal_that_does_not_read_gets_no_second_frame() {
    let emulator = Emulator::new(Size::USUAL);
    let slow = Slow { room: Rc::default(), emulator: emulator.clone() };
    let mut screen = Screen::new(slow.clone(), Size::USUAL, ScreenOptions::default());
    assert_eq!(screen.draw(&lines(&["row 0"]), &live(&["> 0"], 0, 3)).unwrap(), Drawn::Written);
    for number in 1..1000 {
        let taken = screen.draw(&lines(&[format!("row {number}")]), &live(&["> never"], 0, 3)).unwrap();
        assert_eq!(taken, Drawn::Busy);
    }
    *slow.room.borrow_mut() = 7;
    assert!(!screen.flush().unwrap());
    *slow.room.borrow_mut() = 100_000;
    assert!(screen.flush().unwrap());
    assert_eq!(emulator.all_rows(), ["row 0", "> 0"]);
    screen.draw(&lines(&["row 1"]), &live(&["> 1"], 0, 3)).unwrap();
    assert_eq!(emulator.all_rows(), ["row 0", "row 1", "> 1"]);
}

#[derive(Debug, Clone, Copy)]
enum Step {
    Finish(usize, usize),
    Live { rows: usize, row: usize, column: usize },
    Resize(u16, u16),
    Suspend,
    Alternate(usize),
    Leave,
}

fn step() -> impl Strategy<Value = Step> {
    prop_oneof![
        4 => (1usize..30, 0usize..200).prop_map(|(count, width)| Step::Finish(count, width)),
        4 => (0usize..6, 0usize..8, 0usize..200).prop_map(|(rows, row, column)| Step::Live { rows, row, column }),
        3 => (30u16..130, 12u16..45).prop_map(|(columns, rows)| Step::Resize(columns, rows)),
        1 => Just(Step::Suspend),
        1 => (0usize..60).prop_map(Step::Alternate),
        1 => Just(Step::Leave),
    ]
}

/// A screen under test, with all that it should have kept.
struct Trial {
    emulator: Emulator,
    screen: Screen<Emulator>,
    count: usize,
    waiting: Vec<Line>,
    area: LiveArea,
    frames: usize,
}

impl Trial {
    fn new() -> Self {
        let (emulator, screen) = screen(Size::USUAL);
        Self { emulator, screen, count: 0, waiting: Vec::new(), area: LiveArea::default(), frames: 0 }
    }

    fn apply(&mut self, step: Step) {
        match step {
            Step::Finish(count, width) => {
                for _ in 0..count {
                    let number = format!("finished {:05} ", self.count);
                    let text = format!("{number}{}", "x".repeat(width.min(60)));
                    let shown: String = text.chars().take(self.screen.size().columns()).collect();
                    self.waiting.push(Line::styled(shown, Style::PLAIN.bold()));
                    self.count += 1;
                }
            }
            Step::Live { rows, row, column } => {
                self.frames += 1;
                let frame = self.frames;
                let rows =
                    (0..rows).map(|at| Line::plain(format!("live {at} of frame {frame} {}", "日".repeat(at * 20))));
                self.area = LiveArea { rows: rows.collect(), caret: Some(Caret { row, column }) };
            }
            Step::Resize(columns, rows) => {
                let size = Size::new(columns, rows);
                self.emulator.resize(size);
                self.screen.resize(size, true);
            }
            Step::Suspend => {
                self.screen.suspend().unwrap();
            }
            Step::Alternate(rows) => {
                let rows: Vec<Line> = (0..rows).map(|at| Line::plain(format!("page row {at}"))).collect();
                self.screen.draw_alternate(&rows, None).unwrap();
            }
            Step::Leave => self.screen.leave_alternate().unwrap(),
        }
        if self.screen.draw(&self.waiting, &self.area).unwrap() != Drawn::Busy {
            self.waiting.clear();
        }
    }

    fn judge(mut self) {
        self.screen.leave_alternate().unwrap();
        self.screen.draw(&self.waiting, &self.area).unwrap();
        let all = self.emulator.all_rows();
        let numbers: Vec<usize> =
            all.iter().filter_map(|row| row.strip_prefix("finished ")?.get(..5)?.parse().ok()).collect();
        assert_eq!(numbers, (0..self.count).collect::<Vec<_>>(), "{all:#?}");
        let lived = all.iter().filter(|row| row.starts_with("live ")).count();
        assert_eq!(lived, self.area.rows.len(), "{all:#?}");
        assert!(!all.iter().any(|row| row.starts_with("page ")), "{all:#?}");
        let screen_rows = self.emulator.rows();
        let top = screen_rows.iter().position(|row| row.starts_with("live 0"));
        if let (Some(top), Some(caret)) = (top, self.area.caret) {
            let row = top + caret.row.min(self.area.rows.len() - 1);
            let column = caret.column.min(self.screen.size().live_columns());
            assert_eq!(self.emulator.cursor(), (row, column));
        }
        drop(self.screen);
        let left = self.emulator.all_rows();
        assert!(!left.iter().any(|row| row.starts_with("live ")), "{left:#?}");
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 100, ..ProptestConfig::default() })]
    #[test]
    fn each_line_is_kept_once_and_in_order(steps in prop::collection::vec(step(), 1..60)) {
        let mut trial = Trial::new();
        for step in steps {
            trial.apply(step);
        }
        trial.judge();
    }
}
