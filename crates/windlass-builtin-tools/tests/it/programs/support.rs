//! Helpers of the tests of programs.

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use windlass_builtin_tools::{Bash, LocalProcess, LocalWorkspace};
use windlass_testkit::ToolBench;
use windlass_tool::{Ids, ProcessCommand, Tool, ToolCx, ToolCxParts, ToolError, ToolOutput};
use windlass_types::{ContextChange, JsonText, ToolResultContent};

/// A word that no other test and no other run uses.
pub(crate) fn unique() -> String {
    static NEXT: AtomicU64 = AtomicU64::new(0);
    format!("{}{:04}", std::process::id(), NEXT.fetch_add(1, Ordering::Relaxed))
}

/// The command line of a `sleep` of five minutes that differs from all others, with or without its environment.
pub(crate) fn sleeper(tag: &str) -> String {
    format!("sleep 300.{tag}")
}

/// Result of [`alive`] when no process lives.
pub(crate) const NONE: [i32; 0] = [];

/// The living processes that have a word in their command line or environment, without this one.
pub(crate) fn alive(word: &str) -> Vec<i32> {
    let own = i32::try_from(std::process::id()).unwrap();
    let mut found = Vec::new();
    for entry in std::fs::read_dir("/proc").unwrap().flatten() {
        let Some(pid) = entry.file_name().to_str().and_then(|name| name.parse::<i32>().ok()) else {
            continue;
        };
        let read = |name: &str| std::fs::read(entry.path().join(name)).unwrap_or_default();
        let has_word = |bytes: Vec<u8>| bytes.windows(word.len()).any(|part| part == word.as_bytes());
        if pid != own && (has_word(read("cmdline")) || has_word(read("environ"))) {
            found.push(pid);
        }
    }
    found
}

/// Waits for something that must come true, generously. It polls: no signal reports processes
/// that are not its children.
#[track_caller]
pub(crate) fn eventually(what: &str, mut check: impl FnMut() -> bool) {
    let start = Instant::now();
    while !check() {
        assert!(start.elapsed() < Duration::from_secs(20), "never: {what}");
        std::thread::sleep(Duration::from_millis(5));
    }
}

pub(crate) fn shell(text: &str) -> ProcessCommand {
    let mut command = ProcessCommand::new("/bin/bash", "/");
    command.args = ["--noprofile", "--norc", "-c", text].map(OsString::from).into();
    command.env = vec![("PATH".into(), "/usr/bin:/bin".into())];
    command.timeout = Some(Duration::from_secs(60));
    command
}

/// One session: a workspace, its programs, and a directory that moves as the session's does.
pub(crate) struct Session {
    pub(crate) parts: ToolCxParts,
    pub(crate) tag: String,
    pub(crate) folder: tempfile::TempDir,
    pub(crate) progress: Arc<Mutex<Vec<String>>>,
}

impl Session {
    pub(crate) fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path().canonicalize().unwrap().join("work");
        std::fs::create_dir(&root).unwrap();
        let tag = unique();
        let progress = Arc::new(Mutex::new(Vec::new()));
        let reports = Arc::clone(&progress);
        let bench = ToolBench::new(Bash::new())
            .workspace(LocalWorkspace::new())
            .process(LocalProcess::new(tag.clone()))
            .ids(Counter::default())
            .root(root)
            .env("PATH", "/usr/bin:/bin")
            .artifacts(folder.path().join("artifacts"))
            .with(|parts| parts.progress = Arc::new(move |text| reports.lock().unwrap().push(text)));
        let parts = bench.parts();
        Self { parts, tag, folder, progress }
    }

    pub(crate) fn root(&self) -> &Path {
        &self.parts.place.directories[0]
    }

    pub(crate) async fn try_call(&mut self, tool: &Bash, input: serde_json::Value) -> Result<ToolOutput, ToolError> {
        let input = JsonText::of(&input).unwrap().to().unwrap();
        let output = tool.call(input, &ToolCx::new(self.parts.clone())).await?;
        for change in &output.changes {
            if let ContextChange::Cwd(cwd) = change {
                self.parts.place.cwd = cwd.clone();
            }
        }
        Ok(output)
    }

    /// Runs a command with the tool's defaults.
    pub(crate) async fn bash(&mut self, command: &str) -> ToolOutput {
        self.try_call(&Bash::new(), serde_json::json!({ "command": command })).await.unwrap()
    }

    pub(crate) fn artifacts(&self) -> Vec<PathBuf> {
        let folder = self.parts.place.artifacts.as_ref().unwrap();
        std::fs::read_dir(folder).map(|found| found.map(|entry| entry.unwrap().path()).collect()).unwrap_or_default()
    }
}

pub(crate) fn text(output: &ToolOutput) -> &str {
    match &output.content {
        ToolResultContent::Text(text) => text,
        other => panic!("not a text: {other:?}"),
    }
}

pub(crate) fn structured(output: &ToolOutput) -> serde_json::Value {
    output.structured.as_ref().unwrap().to().unwrap()
}

#[derive(Debug, Default)]
struct Counter(AtomicU64);

impl Ids for Counter {
    fn bits(&self) -> u128 {
        let word: u128 = unique().parse().unwrap();
        (word << 32) + u128::from(self.0.fetch_add(1, Ordering::Relaxed))
    }
}
