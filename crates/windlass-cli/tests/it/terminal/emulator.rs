//! The command on a pseudo-terminal, and the screen that a terminal would show.

use crate::place::{Place, attentive};
use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};
use rustix::termios::{Winsize, tcgetattr, tcsetwinsize};
use std::fs::{File, OpenOptions};
use std::io::{Read as _, Write as _};
use std::os::fd::OwnedFd;
use std::process::{Child, Stdio};
use std::sync::{Arc, Condvar, Mutex};
use std::time::{Duration, Instant};

/// Longest wait for a text on a loaded machine.
const PATIENCE: Duration = Duration::from_secs(30);
const ROWS: u16 = 40;
const COLUMNS: u16 = 100;

/// Bytes and screen of a terminal.
struct Shown {
    raw: Vec<u8>,
    parser: vt100::Parser,
}

/// The command on a pseudo-terminal.
pub(crate) struct Emulator {
    host: OwnedFd,
    inside: File,
    child: Child,
    shown: Arc<Mutex<Shown>>,
    /// `true` while the terminal reads nothing.
    stopped: Arc<(Mutex<bool>, Condvar)>,
}

impl Emulator {
    /// Starts the command with these arguments.
    pub(crate) fn start(place: &Place, args: &[&str]) -> Self {
        Self::start_with(place, args, &[("TERM", "xterm-256color")])
    }

    /// Starts the command on a terminal that answers the question for its background like this.
    pub(crate) fn start_on(place: &Place, args: &[&str], background: &'static str) -> Self {
        Self::launch(place, args, &[("TERM", "xterm-256color")], background)
    }

    pub(crate) fn start_with(place: &Place, args: &[&str], variables: &[(&str, &str)]) -> Self {
        Self::launch(place, args, variables, "")
    }

    fn launch(place: &Place, args: &[&str], variables: &[(&str, &str)], background: &'static str) -> Self {
        let host = openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY).unwrap();
        grantpt(&host).unwrap();
        unlockpt(&host).unwrap();
        let name = ptsname(&host, Vec::new()).unwrap().into_string().unwrap();
        let inside = OpenOptions::new().read(true).write(true).open(name).unwrap();
        tcsetwinsize(&inside, Winsize { ws_row: ROWS, ws_col: COLUMNS, ws_xpixel: 0, ws_ypixel: 0 }).unwrap();
        let stdio = || Stdio::from(inside.try_clone().unwrap());
        let child = attentive(env!("CARGO_BIN_EXE_windlass"))
            .args(args)
            .current_dir(place.work())
            .env_clear()
            .env("PATH", std::env::var_os("PATH").unwrap())
            .env("HOME", place.home())
            .env("LANG", "C.UTF-8")
            .env("WINDLASS_SCRIPT", place.path("script.json"))
            .envs(variables.iter().copied())
            .stdin(stdio())
            .stdout(stdio())
            .stderr(stdio())
            .spawn()
            .unwrap();
        let parser = vt100::Parser::new(ROWS.try_into().unwrap(), COLUMNS.try_into().unwrap(), 10_000);
        let shown = Arc::new(Mutex::new(Shown { raw: Vec::new(), parser }));
        let mut reader = File::from(host.try_clone().unwrap());
        let into = Arc::clone(&shown);
        let stopped = Arc::new((Mutex::new(false), Condvar::new()));
        let gate = Arc::clone(&stopped);
        std::thread::spawn(move || {
            let mut buffer = [0; 65536];
            while let Ok(count) = reader.read(&mut buffer) {
                if count == 0 {
                    return;
                }
                // Each terminal tells its kind when it is asked.
                if buffer[..count].windows(3).any(|bytes| bytes == b"\x1b[c") {
                    let answer = format!("{background}\u{1b}[?62c");
                    (&reader).write_all(answer.as_bytes()).unwrap();
                }
                let mut shown = into.lock().unwrap();
                shown.raw.extend_from_slice(&buffer[..count]);
                shown.parser.process(&buffer[..count]);
                drop(shown);
                drop(gate.1.wait_while(gate.0.lock().unwrap(), |is_stopped| *is_stopped).unwrap());
            }
        });
        Self { host, inside, child, shown, stopped }
    }

    /// Lets the terminal read nothing more, or read again.
    pub(crate) fn set_stopped(&self, is_stopped: bool) {
        *self.stopped.0.lock().unwrap() = is_stopped;
        self.stopped.1.notify_all();
    }

    /// Types bytes.
    pub(crate) fn send(&mut self, bytes: &[u8]) {
        File::from(self.host.try_clone().unwrap()).write_all(bytes).unwrap();
    }

    /// Types a line and Enter. The keys come apart from each other, as a person types them.
    pub(crate) fn type_line(&mut self, text: &str) {
        self.send(text.as_bytes());
        std::thread::sleep(Duration::from_millis(400));
        self.send(b"\r");
    }

    /// The rows of the screen.
    pub(crate) fn screen(&self) -> String {
        self.shown.lock().unwrap().parser.screen().contents()
    }

    /// Everything that was written.
    pub(crate) fn raw_text(&self) -> String {
        String::from_utf8_lossy(&self.shown.lock().unwrap().raw).into_owned()
    }

    /// All rows, those of the scrollback first.
    pub(crate) fn all_rows(&self) -> Vec<String> {
        let mut shown = self.shown.lock().unwrap();
        let screen = shown.parser.screen_mut();
        screen.set_scrollback(usize::MAX);
        let above = screen.scrollback();
        let mut rows = Vec::new();
        for back in (1..=above).rev() {
            screen.set_scrollback(back);
            rows.extend(screen.rows(0, COLUMNS).next());
        }
        screen.set_scrollback(0);
        rows.extend(screen.rows(0, COLUMNS));
        rows
    }

    /// Waits for a text on the screen or above.
    #[track_caller]
    pub(crate) fn wait_for(&mut self, text: &str) {
        self.wait_until(text, |screen| screen.contains(text));
    }

    #[track_caller]
    pub(crate) fn wait_until(&mut self, what: &str, is_there: impl Fn(&str) -> bool) {
        let began = Instant::now();
        while !is_there(&self.screen()) {
            assert!(began.elapsed() < PATIENCE, "{what:?} never came:\n{}", self.screen());
            std::thread::sleep(Duration::from_millis(20));
        }
    }

    /// Sends a signal.
    pub(crate) fn kill(&self, signal: rustix::process::Signal) {
        let pid = rustix::process::Pid::from_child(&self.child);
        rustix::process::kill_process(pid, signal).unwrap();
    }

    /// Waits for the end, and returns the exit code.
    pub(crate) fn wait(&mut self) -> i32 {
        let code = self.child.wait().unwrap().code().unwrap_or(-1);
        // The last output of the command is read.
        std::thread::sleep(Duration::from_millis(100));
        code
    }

    /// The modes of the terminal that the system knows.
    pub(crate) fn modes(&self) -> String {
        let modes = tcgetattr(&self.inside).unwrap();
        format!("{:?} {:?} {:?}", modes.input_modes, modes.output_modes, modes.local_modes)
    }
}

impl Drop for Emulator {
    fn drop(&mut self) {
        self.set_stopped(false);
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
