//! Sizes that change while a tall live area is open, or faster than tmux tells them. Left out where tmux is not installed.

use crate::tmux::{Sitting, Tmux};
use std::fs::File;
use std::time::Duration;
use windlass_conversation::{Input, Message};
use windlass_terminal::screen::{Caret, LiveArea, Screen, ScreenOptions, Size};
use windlass_terminal::text::Line;

fn size((columns, rows): (u16, u16)) -> Size {
    Size::new(columns, rows)
}

fn numbered(range: std::ops::Range<usize>) -> Vec<Line> {
    range.map(|number| Line::plain(format!("finished {number:05} {}", "x".repeat(number % 60)))).collect()
}

/// A live area of 16 rows, some of them nearly as wide as the screen, that goes through some sizes.
struct TallArea {
    tmux: Tmux,
    screen: Screen<File>,
    area: LiveArea,
    finished: usize,
    marks: usize,
}

impl TallArea {
    fn start(first: Size, finished: usize, caret: Option<usize>) -> Option<Self> {
        let tmux = Tmux::start(first)?;
        let options = ScreenOptions { reflows: true, refills: true, ..ScreenOptions::default() };
        let screen = Screen::new(tmux.pipe.try_clone().unwrap(), first, options);
        let rows = (0..16).map(|row| Line::plain(format!("tall {row:02} {}", "=".repeat(row % 3 * 40)))).collect();
        let area = LiveArea { rows, caret: caret.map(|row| Caret { row, column: 5 }) };
        let mut tall = Self { tmux, screen, area, finished: 0, marks: 0 };
        tall.draw(finished);
        Some(tall)
    }

    fn draw(&mut self, lines: usize) {
        let lines = numbered(self.finished..self.finished + lines);
        self.finished += lines.len();
        self.screen.draw(&lines, &self.area).unwrap();
        self.marks += 1;
        self.tmux.settle(self.marks);
    }

    fn resize(&mut self, size: Size, lines: usize) {
        self.tmux.resize(size);
        self.screen.resize(size, true);
        self.draw(lines);
    }

    /// Copies of rows of the area that stand above it, after all finished lines were found once.
    fn judge(&self, case: &str) -> usize {
        let rows = self.tmux.rows();
        let found: Vec<usize> = rows
            .iter()
            .flat_map(|row| row.split("finished ").skip(1))
            .map(|row| row.get(..5).unwrap_or_default().parse().unwrap())
            .collect();
        assert_eq!(found, (0..self.finished).collect::<Vec<_>>(), "{case}: {rows:#?}");
        let shown = rows.iter().filter(|row| row.contains("tall ")).count();
        let limit = self.area.rows.len().min(self.screen.size().live_rows());
        assert!(shown >= limit, "{case}: {rows:#?}");
        shown - limit
    }
}

const PATHS: [&[(u16, u16)]; 7] = [
    &[(100, 10), (100, 36)],
    &[(100, 10), (100, 20), (100, 36)],
    &[(100, 20), (100, 8), (100, 5), (100, 36)],
    &[(30, 10), (100, 36)],
    &[(60, 20), (30, 10), (100, 36)],
    &[(40, 36), (100, 36)],
    &[(100, 12), (60, 36), (100, 36)],
];

#[test]
fn a_live_area_taller_than_the_new_screen_leaves_no_copy() {
    let mut wrong = Vec::new();
    for path in PATHS {
        for before in [0, 60] {
            for caret in [None, Some(0), Some(11), Some(15)] {
                for between in [0, 2] {
                    let case = format!("{path:?}, {before} lines before, {between} between, caret {caret:?}");
                    let Some(mut tall) = TallArea::start(size((100, 36)), before, caret) else { return };
                    for step in path {
                        tall.resize(size(*step), between);
                    }
                    let copies = tall.judge(&case);
                    tall.area =
                        LiveArea { rows: vec![Line::plain("> short")], caret: Some(Caret { row: 0, column: 2 }) };
                    tall.draw(1);
                    // As long as the first rows are not full, it is not known where the live area is, so a width that pushes its
                    // rows off the screen may leave them there.
                    let is_known = before > 0 || path.iter().all(|(columns, _)| *columns == 100);
                    if copies > 0 && (is_known || copies > 8) {
                        wrong.push(format!("{copies} rows: {case}"));
                    }
                }
            }
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
}

#[test]
fn any_sizes_leave_each_line_once() {
    let mut seed = 7_u64;
    let mut random = |from: u16, to: u16| {
        seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        from + u16::try_from((seed >> 33) % u64::from(to - from)).unwrap()
    };
    let mut wrong = Vec::new();
    for walk in 0..40 {
        let caret = [None, Some(0), Some(7), Some(15)][walk % 4];
        let Some(mut tall) = TallArea::start(size((100, 36)), 60, caret) else { return };
        let mut case = format!("walk {walk}, caret {caret:?}:");
        for _ in 0..random(2, 8) {
            let columns = if walk % 3 == 0 { 100 } else { random(25, 130) };
            let (rows, lines) = (random(3, 45), usize::from(random(0, 12).saturating_sub(6)));
            case.push_str(&format!(" ({columns}, {rows}) {lines}"));
            tall.resize(size((columns, rows)), lines);
        }
        tall.resize(size((130, 45)), 1);
        let copies = tall.judge(&case);
        if copies > 0 {
            wrong.push(format!("{copies} rows: {case}"));
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
}

/// Sizes as tmux tells them to its programs: the first at once, those that follow within a quarter of a second at its end.
struct Deferral {
    told: Size,
    actual: Size,
    rests_until: Duration,
}

impl Deferral {
    const REST: Duration = Duration::from_millis(250);

    /// The size that is told at this time.
    fn poll(&mut self, now: Duration) -> Option<Size> {
        if self.told == self.actual || now < self.rests_until {
            return None;
        }
        self.told = self.actual;
        self.rests_until = now + Self::REST;
        Some(self.told)
    }
}

fn stream(sizes: &[(u16, u16)], millis: u64, format: fn(usize) -> String) {
    let first = size((100, 30));
    let Some(mut sitting) = Sitting::start(first) else { return };
    let case = format!("{sizes:?} each {millis} ms");
    sitting.world.give(Input::Message(Box::new(Message::text("count"))));
    let mut deferral = Deferral { told: first, actual: first, rests_until: Duration::ZERO };
    let (mut count, mut next) = (0, Duration::from_millis(400));
    let mut left = sizes.iter().chain(&[(130, 30)]);
    let end = next + Duration::from_millis(millis * sizes.len() as u64 + 1_000);
    while sitting.now < end {
        if sitting.now >= next
            && let Some(step) = left.next()
        {
            next = sitting.now + Duration::from_millis(millis);
            sitting.tmux.settle(count);
            deferral.actual = size(*step);
            sitting.tmux.resize(deferral.actual);
        }
        if let Some(told) = deferral.poll(sitting.now) {
            sitting.world.presenter.resize(told);
        }
        let text: String = (count..count + 2).map(format).collect();
        count += 2;
        sitting.world.text(&text);
        sitting.wait_for(Duration::from_millis(10));
    }
    sitting.world.finish();
    sitting.wait_for(Duration::from_millis(400));
    sitting.prompt(1);
    let rows = sitting.tmux.rows();
    let found: Vec<usize> = rows
        .iter()
        .flat_map(|row| row.split("line ").skip(1))
        .map(|row| row.get(..5).unwrap_or_default().parse().unwrap_or(usize::MAX))
        .collect();
    assert_eq!(found, (0..count).collect::<Vec<_>>(), "{case}: {rows:#?}");
    let glued: Vec<&String> =
        rows.iter().filter(|row| row.matches("line ").count() > 1 || row.contains("   ")).collect();
    assert!(glued.is_empty(), "{case}: {glued:#?}");
    let of = |text: &str| rows.iter().filter(|row| row.contains(text)).count();
    assert_eq!((of("prompt "), of("status -"), of("Esc interrupts")), (1, 1, 0), "{case}: {rows:#?}");
}

const WILD: [(u16, u16); 24] = {
    let steps = [(60, 30), (120, 30), (40, 30), (90, 30)];
    let mut all = [(60, 30); 24];
    let mut at = 0;
    while at < all.len() {
        all[at] = steps[at % 4];
        at += 1;
    }
    all
};

#[test]
fn an_answer_that_streams_survives_widths_that_change_fast() {
    for millis in [50, 100, 150] {
        stream(&WILD, millis, |number| format!("- line {number:05} of the answer\n"));
    }
}

#[test]
fn an_answer_that_streams_survives_a_drag() {
    let drag = [(80, 24), (60, 20), (40, 15), (60, 20), (80, 24), (100, 30)];
    stream(&drag, 100, |number| {
        format!("line {number:05} of the answer, with words up to a width of more than sixty\n\n")
    });
    stream(&drag, 60, |number| format!("line {number:05}\n\n"));
    let height = [(100, 10), (100, 36), (100, 12), (100, 30)];
    stream(&height, 100, |number| format!("- line {number:05} of the answer\n"));
}
