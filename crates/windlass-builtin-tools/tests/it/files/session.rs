//! A session with the file tools, over files in memory that fail and wait on demand.

use std::future::Future;
use std::path::Path;
use std::pin::pin;
use std::sync::Arc;

use serde_json::Value;
use windlass_builtin_tools::{ApplyPatch, Edit, MultiEdit, NotebookEdit, Read, TodoWrite, Write};
use windlass_testkit::fake::MemoryWorkspace;
use windlass_testkit::fault::{FaultyWorkspace, FileOperation};
use windlass_testkit::{Gate, ToolBench};
use windlass_tool::{Cancel, Completions, DynTool, SessionState, ToolOutput, Workspace};

/// One session with the file tools, in `/w`.
pub(crate) struct Session {
    files: MemoryWorkspace,
    /// Files as the tools see them.
    pub(crate) disk: FaultyWorkspace<MemoryWorkspace>,
    tools: Vec<ToolBench>,
    state: Arc<SessionState>,
    cancel: Cancel,
}

impl Session {
    pub(crate) fn new() -> Self {
        let files = MemoryWorkspace::default().with_directory("/w");
        let disk = FaultyWorkspace::new(files.clone());
        Self { files, disk: disk.clone(), ..Self::over(disk, Path::new("/w")) }
    }

    /// The same with a model.
    pub(crate) fn with_model(mut self, model: impl Completions) -> Self {
        let model: Arc<dyn Completions> = Arc::new(model);
        let with = |tool: ToolBench| tool.with(|parts| parts.abilities.completions = Some(Arc::clone(&model)));
        self.tools = self.tools.into_iter().map(with).collect();
        self
    }

    /// A session over other files.
    pub(crate) fn over(workspace: impl Workspace, cwd: &Path) -> Self {
        let files = MemoryWorkspace::default();
        let workspace: Arc<dyn Workspace> = Arc::new(workspace);
        let (state, cancel) = (Arc::<SessionState>::default(), Cancel::new());
        let tools: [Arc<dyn DynTool>; 7] = [
            Arc::new(Read::default()),
            Arc::new(Write::default()),
            Arc::new(Edit::default()),
            Arc::new(MultiEdit::default()),
            Arc::new(TodoWrite::default()),
            Arc::new(ApplyPatch::default()),
            Arc::new(NotebookEdit::default()),
        ];
        let bench = |tool| {
            ToolBench::shared(tool).root(cwd).with(|parts| {
                parts.workspace = Arc::clone(&workspace);
                parts.state = Arc::clone(&state);
                parts.cancel = cancel.clone();
            })
        };
        let tools = tools.into_iter().map(bench).collect();
        Self { disk: FaultyWorkspace::new(files.clone()), files, tools, state, cancel }
    }

    pub(crate) fn put(&self, path: &str, content: impl AsRef<[u8]>) {
        self.files.put(path, content);
    }

    pub(crate) fn get(&self, path: &str) -> Option<Vec<u8>> {
        self.files.content(path)
    }

    pub(crate) fn link(&self, path: &str, target: &str) {
        self.files.link(path, target);
    }

    pub(crate) fn paths(&self) -> Vec<String> {
        self.files.paths().iter().map(|path| path.display().to_string()).collect()
    }

    pub(crate) fn device(&self, path: &str) {
        self.files.make_special(path);
    }

    pub(crate) fn state(&self) -> &SessionState {
        &self.state
    }

    /// Cancels a call when it reads from a file for the n-th time, from 1.
    pub(crate) async fn cancelled_at_read<T>(&self, nth: u64, call: impl Future<Output = T>) -> T {
        let gate = Gate::new();
        self.disk.wait_at(FileOperation::Read, self.disk.count(FileOperation::Read) + nth, &gate);
        let mut call = pin!(call);
        tokio::select! {
            ended = &mut call => return ended,
            () = gate.wait_arrived(1) => {}
        }
        self.cancel.cancel();
        gate.open();
        call.await
    }

    /// Runs one call as a driver does, with a permit for just its paths.
    pub(crate) async fn call(&self, name: &str, input: Value) -> Result<ToolOutput, String> {
        let bench = self.tools.iter().find(|bench| bench.tool().spec().name == name).unwrap();
        bench.call(input).await.map_err(|error| error.model_text().to_owned())
    }

    /// Preview of a call's changes.
    pub(crate) async fn preview(&self, name: &str, input: Value) -> Option<String> {
        let bench = self.tools.iter().find(|bench| bench.tool().spec().name == name).unwrap();
        bench.preview(input).await.unwrap()
    }

    pub(crate) async fn read(&self, path: &str) -> String {
        let output = self.call("Read", serde_json::json!({ "file_path": path })).await;
        output.unwrap().content.text()
    }

    pub(crate) async fn edit(&self, path: &str, old: &str, new: &str) -> Result<String, String> {
        let input = serde_json::json!({ "file_path": path, "old_string": old, "new_string": new });
        self.call("Edit", input).await.map(|output| output.content.text())
    }

    /// Applies what stands between the first and the last line of a patch.
    pub(crate) async fn patch(&self, body: &str) -> Result<String, String> {
        let input = serde_json::json!({ "input": format!("*** Begin Patch\n{body}\n*** End Patch\n") });
        self.call("apply_patch", input).await.map(|output| output.content.text())
    }

    pub(crate) async fn write(&self, path: &str, content: &str) -> Result<String, String> {
        let input = serde_json::json!({ "file_path": path, "content": content });
        self.call("Write", input).await.map(|output| output.content.text())
    }
}

/// The structured output as a value.
pub(crate) fn structured(output: &ToolOutput) -> Value {
    serde_json::from_str(output.structured.as_ref().unwrap().as_str()).unwrap()
}
