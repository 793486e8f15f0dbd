//! The same under tmux, which wraps rows anew at each change of its width. Left out where tmux is not installed.

use std::fs::File;
use std::io::Write;
use std::process::{Command, Output};
use std::time::{Duration, Instant};
use windlass_terminal::screen::{Caret, LiveArea, Screen, ScreenOptions, Size};
use windlass_terminal::text::Line;

/// A tmux server of its own, whose only window shows what is written into a pipe.
struct Tmux {
    folder: tempfile::TempDir,
    pipe: File,
}

impl Tmux {
    fn start(size: Size) -> Option<Self> {
        let folder = tempfile::tempdir().unwrap();
        let pipe = folder.path().join("pipe");
        if !Command::new("mkfifo").arg(&pipe).status().ok()?.success() {
            return None;
        }
        let shown = format!("stty raw -echo; exec cat {}", pipe.display());
        let (columns, rows) = (size.columns().to_string(), size.rows().to_string());
        let mut command = Self::command(&folder);
        command.args(["-f", "/dev/null", "new-session", "-d", "-x", &columns, "-y", &rows, &shown]);
        command.args([";", "set", "-g", "history-limit", "50000", ";", "set", "-g", "status", "off"]);
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

    fn resize(&self, size: Size) {
        let (columns, rows) = (size.columns().to_string(), size.rows().to_string());
        assert!(self.run(&["resize-window", "-x", &columns, "-y", &rows]).status.success());
    }

    /// All rows, with those that the width has wrapped joined.
    fn rows(&self) -> Vec<String> {
        let output = self.run(&["capture-pane", "-p", "-J", "-S", "-"]);
        String::from_utf8(output.stdout).unwrap().lines().map(|row| row.trim_end().to_owned()).collect()
    }

    /// Waits until a row with this text is shown.
    fn await_row(&self, text: &str) -> Vec<String> {
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
    let options = ScreenOptions { reflows: true, ..ScreenOptions::default() };
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
