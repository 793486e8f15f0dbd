//! A place of its own for each test: a home, a working directory, a script.

use serde_json::{Value, json};
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use tempfile::TempDir;

pub(crate) struct Place {
    root: TempDir,
}

/// Output and exit code of a process.
#[derive(Debug)]
pub(crate) struct Ran {
    pub(crate) code: i32,
    pub(crate) stdout: String,
    pub(crate) stderr: String,
}

impl From<Output> for Ran {
    fn from(output: Output) -> Self {
        Self {
            code: output.status.code().unwrap_or(-1),
            stdout: String::from_utf8(output.stdout).unwrap(),
            stderr: String::from_utf8(output.stderr).unwrap(),
        }
    }
}

impl Ran {
    /// Standard output as JSON Lines.
    pub(crate) fn lines(&self) -> Vec<Value> {
        self.stdout.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
    }

    /// Fails unless it ended with this code.
    #[track_caller]
    pub(crate) fn with_code(self, code: i32) -> Self {
        assert_eq!(self.code, code, "{self:#?}");
        self
    }
}

/// A program that gets the signals that tests send, also where these tests run in the background of a shell, which ignores
/// some of them.
pub(crate) fn attentive(program: &str) -> Command {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let ignored = status.lines().find_map(|line| line.strip_prefix("SigIgn:")).map(str::trim);
    // SIGPIPE alone is what Rust ignores.
    if ignored.is_none_or(|ignored| ignored.trim_start_matches('0') == "1000") {
        return Command::new(program);
    }
    let mut command = Command::new("env");
    command.args(["--default-signal=HUP,INT,QUIT,TERM", program]);
    command
}

impl Place {
    pub(crate) fn new() -> Self {
        let place = Self { root: tempfile::tempdir().unwrap() };
        std::fs::create_dir_all(place.work()).unwrap();
        std::fs::create_dir_all(place.home()).unwrap();
        place
    }

    /// A place whose model answers with these turns, each a list of blocks.
    pub(crate) fn with_turns(turns: &[Value]) -> Self {
        let place = Self::new();
        place.script(turns);
        place
    }

    pub(crate) fn script(&self, turns: &[Value]) {
        let turns: Vec<Value> =
            turns.iter().map(|turn| if turn.is_array() { json!({ "blocks": turn }) } else { turn.clone() }).collect();
        std::fs::write(self.path("script.json"), json!({ "version": 1, "turns": turns }).to_string()).unwrap();
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.root.path().join(name)
    }

    pub(crate) fn work(&self) -> PathBuf {
        self.path("work")
    }

    pub(crate) fn home(&self) -> PathBuf {
        self.path("home")
    }

    /// The session logs that were written.
    pub(crate) fn logs(&self) -> Vec<PathBuf> {
        let mut logs = Vec::new();
        for project in std::fs::read_dir(self.home().join(".windlass/projects")).into_iter().flatten() {
            let files = std::fs::read_dir(project.unwrap().path()).unwrap();
            logs.extend(
                files.map(|file| file.unwrap().path()).filter(|path| path.extension() == Some("jsonl".as_ref())),
            );
        }
        logs
    }

    /// The command, with nothing of this process's environment but the path.
    pub(crate) fn command(&self, args: &[&str]) -> Command {
        let mut command = attentive(env!("CARGO_BIN_EXE_windlass"));
        command
            .args(args)
            .current_dir(self.work())
            .env_clear()
            .env("PATH", std::env::var_os("PATH").unwrap_or_default())
            .env("HOME", self.home())
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped());
        if self.path("script.json").exists() {
            command.env("WINDLASS_SCRIPT", self.path("script.json"));
        }
        command
    }

    pub(crate) fn run(&self, args: &[&str]) -> Ran {
        self.command(args).output().unwrap().into()
    }

    pub(crate) fn run_with(&self, args: &[&str], stdin: &str) -> Ran {
        finish(self.command(args).stdin(Stdio::piped()).spawn().unwrap(), stdin)
    }
}

pub(crate) fn finish(mut child: Child, stdin: &str) -> Ran {
    let mut input = child.stdin.take().unwrap();
    let text = stdin.to_owned();
    let writer = std::thread::spawn(move || input.write_all(text.as_bytes()));
    let ran = child.wait_with_output().unwrap().into();
    // A process that ends early does not read everything.
    let _ = writer.join();
    ran
}

pub(crate) fn text(text: &str) -> Value {
    json!([{ "type": "text", "text": text }])
}

pub(crate) fn call(tool: &str, input: &Value) -> Value {
    json!([{ "type": "tool_use", "name": tool, "input": input }])
}

pub(crate) fn write(path: &Path, text: &str) {
    std::fs::create_dir_all(path.parent().unwrap()).unwrap();
    std::fs::write(path, text).unwrap();
}
