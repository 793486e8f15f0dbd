//! One tool, ready to be called.

use std::ffi::OsString;
use std::path::PathBuf;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use serde::Serialize;
use windlass_schema::CheckedTools;
use windlass_tool::{
    CallAbilities, CallPlace, Cancel, Clock, Completions, DynTool, Ids, JudgedPath, Permit, PreparedCall, Process,
    ToolCheck, ToolCx, ToolCxParts, ToolError, ToolOutput, ToolSet, ToolSetError, Workspace,
};
use windlass_types::path::absolute;
use windlass_types::{Access, CallDigest, ContextChange, JsonText, SessionId, ToolUseId};

use crate::fake::{ManualClock, MemoryWorkspace, ScriptedProcess, SequentialIds};

/// One tool in a session of its own, to call it in a unit test as a run would.
///
/// A call is validated against the tool's schema, and gets a permit for exactly the [`Access`] that it names; a call
/// that the tool's check denies does not run. State and the current directory are kept from call to call. There are no
/// permission requests and no rules: those do not concern the tool.
///
/// By default the session is in `/work` of an empty [`MemoryWorkspace`], with a [`ScriptedProcess`] that knows no
/// program, a [`ManualClock`], [`SequentialIds`], no environment and no folder for large outputs.
///
/// ```
/// use serde_json::json;
/// use windlass_testkit::ToolBench;
/// use windlass_testkit::fake::MemoryWorkspace;
/// # use windlass_tool::{Tool, ToolCx, ToolError, schemars};
/// # use windlass_types::Access;
/// # #[derive(serde::Deserialize, schemars::JsonSchema)]
/// # struct File { path: std::path::PathBuf }
/// # struct CountLines;
/// # impl Tool for CountLines {
/// #     const NAME: &'static str = "count_lines";
/// #     const DESCRIPTION: &'static str = "Counts the lines of a file.";
/// #     type Input = File;
/// #     type Output = String;
/// #     fn access(&self, input: &File) -> Access { Access::reads(&input.path) }
/// #     async fn call(&self, input: File, cx: &ToolCx) -> Result<String, ToolError> {
/// #         let path = cx.absolute(&input.path);
/// #         let mut file = cx.workspace().open(cx.permit(), &path).await
/// #             .map_err(|error| ToolError::rejected(error.to_string()))?;
/// #         Ok(file.read(1 << 20).await?.split(|byte| *byte == b'\n').count().to_string())
/// #     }
/// # }
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() {
/// let bench = ToolBench::new(CountLines).workspace(MemoryWorkspace::new().with_file("/work/a", "1\n2\n3"));
/// assert_eq!(bench.call(json!({"path": "a"})).await.unwrap().content.text(), "3");
/// assert!(bench.call(json!({"path": 7})).await.is_err());
/// # }
/// ```
pub struct ToolBench {
    tool: Arc<dyn DynTool>,
    tools: Result<CheckedTools, ToolSetError>,
    parts: Mutex<ToolCxParts>,
    progress: Arc<Mutex<Vec<String>>>,
    calls: AtomicU64,
}

impl ToolBench {
    /// Returns a bench for a tool.
    pub fn new(tool: impl DynTool) -> Self {
        Self::shared(Arc::new(tool))
    }

    /// Returns a bench for a tool that is shared, or known only at run time.
    pub fn shared(tool: Arc<dyn DynTool>) -> Self {
        let progress = Arc::new(Mutex::new(Vec::new()));
        let reports = Arc::clone(&progress);
        let root = PathBuf::from("/work");
        let parts = ToolCxParts {
            session_id: SessionId::new("bench"),
            tool_use_id: ToolUseId::new("toolu_0"),
            cancel: Cancel::new(),
            permit: Permit::new(CallDigest::new("00")),
            workspace: Arc::new(MemoryWorkspace::new()),
            process: Arc::new(ScriptedProcess::new()),
            clock: Arc::new(ManualClock::new()),
            ids: Arc::new(SequentialIds::new()),
            place: CallPlace { cwd: root.clone(), directories: Arc::from([root]), env: Arc::from([]), artifacts: None },
            state: Arc::default(),
            abilities: CallAbilities::default(),
            progress: Arc::new(move |text| lock(&reports).push(text)),
        };
        Self {
            tools: ToolSet::new([Arc::clone(&tool)]).map(CheckedTools::from),
            tool,
            parts: Mutex::new(parts),
            progress,
            calls: AtomicU64::new(0),
        }
    }

    /// Sets the workspace.
    #[must_use]
    pub fn workspace(self, workspace: impl Workspace) -> Self {
        self.with(|parts| parts.workspace = Arc::new(workspace))
    }

    /// Sets the port for programs.
    #[must_use]
    pub fn process(self, process: impl Process) -> Self {
        self.with(|parts| parts.process = Arc::new(process))
    }

    /// Sets the clock.
    #[must_use]
    pub fn clock(self, clock: impl Clock) -> Self {
        self.with(|parts| parts.clock = Arc::new(clock))
    }

    /// Sets the port for requests to a model.
    #[must_use]
    pub fn completions(self, completions: impl Completions) -> Self {
        self.with(|parts| parts.abilities.completions = Some(Arc::new(completions)))
    }

    /// Sets the source of ids.
    #[must_use]
    pub fn ids(self, ids: impl Ids) -> Self {
        self.with(|parts| parts.ids = Arc::new(ids))
    }

    /// Sets the current directory, which also becomes the whole workspace; absolute and without links.
    #[must_use]
    pub fn root(self, root: impl Into<PathBuf>) -> Self {
        let root = root.into();
        self.with(|parts| {
            parts.place.directories = Arc::from([root.clone()]);
            parts.place.cwd = root;
        })
    }

    /// Adds a variable to the environment of programs.
    #[must_use]
    pub fn env(self, name: impl Into<OsString>, value: impl Into<OsString>) -> Self {
        self.with(|parts| {
            let mut env = parts.place.env.to_vec();
            env.push((name.into(), value.into()));
            parts.place.env = env.into();
        })
    }

    /// Sets the local folder where large outputs are kept.
    #[must_use]
    pub fn artifacts(self, folder: impl Into<PathBuf>) -> Self {
        self.with(|parts| parts.place.artifacts = Some(folder.into()))
    }

    /// Changes any part of the context of calls. The permit is created anew for each call.
    #[must_use]
    pub fn with(self, change: impl FnOnce(&mut ToolCxParts)) -> Self {
        change(&mut lock(&self.parts));
        self
    }

    /// Returns the tool.
    pub fn tool(&self) -> &Arc<dyn DynTool> {
        &self.tool
    }

    /// Returns the context of the next call, except its permit.
    pub fn parts(&self) -> ToolCxParts {
        lock(&self.parts).clone()
    }

    /// Returns the signal that stops the next calls.
    pub fn cancel(&self) -> Cancel {
        lock(&self.parts).cancel.clone()
    }

    /// Returns the progress that the tool reported, over all calls.
    pub fn progress(&self) -> Vec<String> {
        lock(&self.progress).clone()
    }

    /// Reads a call as a run does: strict JSON, the schema, then the tool's own reading.
    ///
    /// # Errors
    /// The input is not valid, or the tool itself has no valid name or schema.
    pub fn prepare(&self, input: impl Serialize) -> Result<Box<dyn PreparedCall>, ToolError> {
        let tools = self.tools.as_ref().map_err(|error| ToolError::rejected(error.to_string()))?;
        tools.prepare(&self.tool.spec().name, &JsonText::of(&input)?)
    }

    /// Returns a context with a permit for exactly this access, with its paths resolved now. A path that cannot be
    /// resolved is judged as spelled.
    pub async fn cx(&self, access: &Access) -> ToolCx {
        let mut parts = self.parts();
        let (mut judged, mut listable) = (Vec::new(), Vec::new());
        for path in access.paths() {
            let requested = absolute(&parts.place.cwd, path);
            let resolved = match parts.workspace.resolve(&requested).await {
                Ok(resolved) => resolved.path,
                Err(_) => requested.clone(),
            };
            let inside = |path: &std::path::Path| parts.place.directories.iter().any(|root| path.starts_with(root));
            // As in a run: names beside a missing file may be suggested.
            if let (Some(beside), Some(really)) = (requested.parent(), resolved.parent())
                && inside(beside)
                && inside(really)
            {
                listable.push(JudgedPath::new(beside, really));
            }
            judged.push(JudgedPath::new(requested, resolved));
        }
        let call = self.calls.fetch_add(1, Ordering::Relaxed);
        let permit = Permit::new(CallDigest::new(format!("{call:02x}"))).with_listable(listable);
        parts.permit = match access {
            Access::Writes(_) => permit.with_writes(judged),
            _ => permit.with_reads(judged),
        };
        parts.tool_use_id = ToolUseId::new(format!("toolu_{call}"));
        ToolCx::new(parts)
    }

    /// Runs a call to its end, on the caller's task: a panic of the tool is a panic here.
    ///
    /// # Errors
    /// The input is not valid, the tool's own check denies the call, or the call failed.
    pub async fn call(&self, input: impl Serialize) -> Result<ToolOutput, ToolError> {
        let prepared = self.prepare(input)?;
        if let ToolCheck::Deny(reason) = prepared.check() {
            return Err(ToolError::rejected(reason));
        }
        let cx = self.cx(&prepared.access()).await;
        let output = prepared.call(cx).await?;
        for change in &output.changes {
            if let ContextChange::Cwd(cwd) = change {
                lock(&self.parts).place.cwd.clone_from(cwd);
            }
        }
        Ok(output)
    }

    /// Returns a preview of the changes of a call in files, as a session requests it: with a permit to read those
    /// files, and to write nothing. `None` if the tool has no preview.
    ///
    /// # Errors
    /// The input is not valid.
    pub async fn preview(&self, input: impl Serialize) -> Result<Option<String>, ToolError> {
        let prepared = self.prepare(input)?;
        let access = Access::Reads(prepared.access().paths().to_vec());
        let cx = self.cx(&access).await;
        Ok(prepared.preview(cx).await)
    }
}

impl std::fmt::Debug for ToolBench {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("ToolBench").field("tools", &self.tools).field("parts", &self.parts()).finish_non_exhaustive()
    }
}

fn lock<T>(of: &Mutex<T>) -> MutexGuard<'_, T> {
    of.lock().unwrap_or_else(PoisonError::into_inner)
}
