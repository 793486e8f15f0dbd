//! Helpers of the tests of programs.

use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};

use windlass_builtin_tools::Bash;
use windlass_local::{LocalProcess, LocalWorkspace};
use windlass_testkit::ToolBench;
use windlass_tool::{Ids, Tool, ToolCx, ToolCxParts, ToolError, ToolOutput};
use windlass_types::{ContextChange, JsonText, ToolResultContent};

pub(crate) use super::processes::{NONE, alive, eventually, shell, sleeper, unique};

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
