//! The same under tmux, which wraps rows anew at each change of its width. Left out where tmux is not installed.

use crate::world::World;
use std::fs::File;
use std::io::Write;
use std::process::{Command, Output};
use std::time::{Duration, Instant};
use windlass_conversation::Input;
use windlass_terminal::capabilities::Capabilities;
use windlass_terminal::live::InputArea;
use windlass_terminal::presenter::{PresenterOptions, TerminalPresenter};
use windlass_terminal::screen::{Caret, LiveArea, Screen, ScreenOptions, Size};
use windlass_terminal::surface::{SurfaceOptions, TerminalSurface};
use windlass_terminal::text::Line;
use windlass_terminal::theme::Theme;

/// A tmux server of its own, whose only window shows what is written into a pipe.
pub(crate) struct Tmux {
    folder: tempfile::TempDir,
    pub(crate) pipe: File,
}

impl Tmux {
    pub(crate) fn start(size: Size) -> Option<Self> {
        let folder = tempfile::tempdir().unwrap();
        let pipe = folder.path().join("pipe");
        if !Command::new("mkfifo").arg(&pipe).status().ok()?.success() {
            return None;
        }
        let shown = format!("stty raw -echo; exec cat {}", pipe.display());
        let (columns, rows) = (size.columns().to_string(), size.rows().to_string());
        let mut command = Self::command(&folder);
        // The length of the history counts for windows that begin later.
        command.args(["-f", "/dev/null", "start-server", ";", "set", "-g", "history-limit", "50000"]);
        command.args([
            ";",
            "set",
            "-g",
            "status",
            "off",
            ";",
            "new-session",
            "-d",
            "-x",
            &columns,
            "-y",
            &rows,
            &shown,
        ]);
        if !command.output().ok()?.status.success() {
            return None;
        }
        let pipe = File::options().write(true).open(pipe).unwrap();
        Some(Self { folder, pipe })
    }

    fn command(folder: &tempfile::TempDir) -> Command {
        let mut command = Command::new("tmux");
        command.arg("-S").arg(folder.path().join("socket")).env_remove("TMUX");
        command
    }

    fn run(&self, arguments: &[&str]) -> Output {
        Self::command(&self.folder).args(arguments).output().unwrap()
    }

    pub(crate) fn resize(&self, size: Size) {
        let (columns, rows) = (size.columns().to_string(), size.rows().to_string());
        assert!(self.run(&["resize-window", "-x", &columns, "-y", &rows]).status.success());
    }

    /// All rows, with those that the width has wrapped joined.
    pub(crate) fn rows(&self) -> Vec<String> {
        let output = self.run(&["capture-pane", "-p", "-J", "-S", "-"]);
        String::from_utf8(output.stdout).unwrap().lines().map(|row| row.trim_end().to_owned()).collect()
    }

    /// Waits until a row with this text is shown.
    pub(crate) fn await_row(&self, text: &str) -> Vec<String> {
        let deadline = Instant::now() + Duration::from_secs(20);
        loop {
            let rows = self.rows();
            if rows.iter().any(|row| row.contains(text)) {
                return rows;
            }
            assert!(Instant::now() < deadline, "{text} is not shown: {rows:#?}");
            std::thread::yield_now();
        }
    }
}

impl Tmux {
    /// Waits until tmux has read all that was written.
    pub(crate) fn settle(&self, mark: usize) {
        let title = format!("mark {mark}");
        write!(&self.pipe, "\u{1b}]2;{title}\u{7}").unwrap();
        let deadline = Instant::now() + Duration::from_secs(20);
        while self.run(&["display-message", "-p", "#{pane_title}"]).stdout.trim_ascii() != title.as_bytes() {
            assert!(Instant::now() < deadline, "{title} was not read");
            std::thread::yield_now();
        }
    }
}

impl Drop for Tmux {
    fn drop(&mut self) {
        self.run(&["kill-server"]);
    }
}

fn area(frame: usize, size: Size) -> LiveArea {
    let mut rows: Vec<Line> = (0..frame % 4)
        .map(|at| Line::plain(format!("live {at} of frame {frame} {}", "-".repeat(size.live_columns()))))
        .collect();
    rows.push(Line::plain(format!("> draft of frame {frame}")));
    let caret = Caret { row: frame % rows.len(), column: frame % 20 };
    LiveArea { rows, caret: Some(caret) }
}

fn judge(early: bool) {
    let mut size = Size::USUAL;
    let Some(tmux) = Tmux::start(size) else { return };
    let options = ScreenOptions { reflows: true, refills: true, ..ScreenOptions::default() };
    let mut screen = Screen::new(tmux.pipe.try_clone().unwrap(), size, options);
    let sizes = [(60, 20), (120, 40), (50, 15), (119, 15), (80, 30), (33, 24), (70, 12)].map(|(x, y)| Size::new(x, y));
    let mut count = 0;
    for frame in 0..140 {
        let lines: Vec<Line> = (0..frame % 7)
            .map(|at| Line::plain(format!("finished {:05} {}", count + at, "x".repeat((frame + at) % 15))))
            .collect();
        count += lines.len();
        screen.draw(&lines, &area(frame, size)).unwrap();
        if frame % 20 == 19 {
            if !early {
                // All of the frame is there before the size changes.
                tmux.await_row(&format!("draft of frame {frame}"));
            }
            size = sizes[frame / 20];
            tmux.resize(size);
            screen.resize(size, !early);
        }
    }
    screen.draw(&[], &LiveArea { rows: vec![Line::plain("> the end")], caret: None }).unwrap();
    let rows = tmux.await_row("> the end");
    let numbers: Vec<usize> =
        rows.iter().flat_map(|row| row.split("finished ").skip(1)).map(|row| row[..5].parse().unwrap()).collect();
    assert_eq!(numbers, (0..count).collect::<Vec<_>>(), "{rows:#?}");
    let stale: Vec<&String> = rows.iter().filter(|row| row.contains("of frame")).collect();
    // Frames that were on their way when the width changed may leave rows behind, and take none away.
    assert!(early || stale.is_empty(), "{stale:#?}");
    drop(screen);
    (&tmux.pipe).write_all(b"closed").unwrap();
    let rows = tmux.await_row("closed");
    assert!(!rows.iter().any(|row| row.contains("> the end")), "{rows:#?}");
}

#[test]
fn rows_that_tmux_wraps_anew_are_kept_once() {
    judge(false);
}

#[test]
fn a_frame_that_meets_a_new_width_loses_nothing() {
    judge(true);
}

/// A conversation in tmux, with a clock that the test moves.
pub(crate) struct Sitting {
    pub(crate) world: World<TerminalSurface<File>>,
    pub(crate) tmux: Tmux,
    pub(crate) input: InputArea,
    pub(crate) now: Duration,
    prompts: usize,
}

impl Sitting {
    pub(crate) fn start(size: Size) -> Option<Self> {
        let tmux = Tmux::start(size)?;
        let variable = |name: &str| {
            let known = [("TERM", "tmux-256color"), ("TMUX", "x"), ("LANG", "C.UTF-8")];
            known.iter().find(|(known, _)| *known == name).map(|(_, value)| (*value).to_owned())
        };
        let options = SurfaceOptions::new(&Capabilities::detect(variable, true), Theme::default());
        let presenter = TerminalPresenter::new(PresenterOptions::default());
        let surface = TerminalSurface::new(tmux.pipe.try_clone().unwrap(), size, presenter, options);
        let world = World::new(surface);
        let mut sitting = Self { world, tmux, input: InputArea::default(), now: Duration::ZERO, prompts: 0 };
        sitting.prompt(1);
        Some(sitting)
    }

    /// Another text in the prompt, or a dialog of so many rows. Waits until tmux has it.
    pub(crate) fn prompt(&mut self, rows: usize) {
        self.prompts += 1;
        let text = format!("prompt {}.", self.prompts);
        let mut lines = vec![Line::plain(&text)];
        lines.extend((1..rows).map(|row| Line::plain(format!("dialog row {row} {}", "=".repeat(40)))));
        self.input.rows = lines;
        self.input.caret = Some(Caret { row: 0, column: text.len() });
        self.input.status = Some(Line::plain(format!("status {}", "-".repeat(70))));
        self.world.presenter.request_frame();
        self.wait_for(Duration::from_millis(400));
        self.tmux.await_row(&text);
    }

    fn wait(&mut self) {
        self.wait_for(Duration::from_millis(200));
    }

    pub(crate) fn wait_for(&mut self, time: Duration) {
        let end = self.now + time;
        while let Some(due) = self.world.presenter.due().filter(|due| *due <= end) {
            self.now = self.now.max(due);
            self.world.presenter.set_time(self.now);
            self.world.presenter.draw(&self.input).unwrap();
        }
        self.now = end;
        self.world.presenter.set_time(end);
    }
}

#[test]
fn two_thousand_lines_of_an_answer_survive_sizes_and_dialogs() {
    let Some(mut sitting) = Sitting::start(Size::USUAL) else { return };
    sitting.world.give(Input::Message(Box::new(windlass_conversation::Message::text("count"))));
    let sizes = [(50, 24), (120, 24), (70, 40), (33, 15), (90, 30)].map(|(x, y)| Size::new(x, y));
    for block in 0..100 {
        let lines: String = (0..20).map(|line| format!("line {:05}\n\n", block * 20 + line)).collect();
        // The last line of each block arrives in two pieces.
        let (one, other) = lines.split_at(lines.len() - 6);
        sitting.world.text(one);
        sitting.wait();
        sitting.world.text(other);
        sitting.wait();
        if block % 20 == 10 {
            sitting.prompt(1);
            let size = sizes[block / 20];
            sitting.tmux.resize(size);
            sitting.world.presenter.resize(size);
        }
        match block % 15 {
            5 => sitting.prompt(6),
            9 => sitting.prompt(1),
            12 => {
                sitting.world.presenter.draw_page(&[Line::plain("a page")]).unwrap();
                sitting.world.presenter.leave_page().unwrap();
            }
            _ => {}
        }
    }
    sitting.world.finish();
    sitting.prompt(1);
    let rows = sitting.tmux.rows();
    let found: Vec<usize> = rows.iter().filter_map(|row| row.split_once("line ")?.1.get(..5)?.parse().ok()).collect();
    assert_eq!(found, (0..2_000).collect::<Vec<_>>(), "{rows:#?}");
    let of = |text: &str| rows.iter().filter(|row| row.contains(text)).count();
    assert_eq!(
        (of("prompt "), of("status -"), of("dialog row"), of("Esc interrupts"), of("a page")),
        (1, 1, 0, 0, 0),
        "{rows:#?}"
    );
}
