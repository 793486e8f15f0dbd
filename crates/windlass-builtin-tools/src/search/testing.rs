//! Folder and tool context for tests of searches.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::time::{Duration, SystemTime};

use async_trait::async_trait;
use windlass_local::LocalWorkspace;
use windlass_tool::{
    CallAbilities, CallPlace, Cancel, Clock, DynTool, Ids, JudgedPath, PathFilter, Permit, Process, ProcessCommand,
    ProcessError, ProcessOutcome, ToolCx, ToolCxParts, ToolError, ToolOutput, WalkInterrupt, WalkScope,
};
use windlass_types::{CallDigest, JsonText, SessionId, Timestamp, ToolResultContent, ToolUseId};

/// A temporary folder, its path free of links.
pub(super) struct Tree {
    _dir: tempfile::TempDir,
    pub(super) root: PathBuf,
}

impl Tree {
    pub(super) fn new() -> Self {
        let dir = tempfile::tempdir().unwrap();
        let root = dir.path().canonicalize().unwrap();
        Self { _dir: dir, root }
    }

    /// Tree of files; later ones are newer.
    pub(super) fn with(files: &[(&str, &str)]) -> Self {
        let tree = Self::new();
        for (age, (path, content)) in files.iter().rev().enumerate() {
            tree.write(path, content, u64::try_from(age).unwrap());
        }
        tree
    }

    pub(super) fn write(&self, path: &str, content: impl AsRef<[u8]>, age_in_seconds: u64) {
        let path = self.root.join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(&path, content).unwrap();
        let modified = SystemTime::UNIX_EPOCH + Duration::from_secs(1_700_000_000 - age_in_seconds);
        fs::File::options().write(true).open(&path).unwrap().set_modified(modified).unwrap();
    }

    pub(super) fn relative(&self, path: &Path) -> String {
        path.strip_prefix(&self.root).unwrap().to_str().unwrap().to_owned()
    }

    /// Scope that permits the whole tree.
    pub(super) fn scope(&self) -> WalkScope {
        let mut scope = WalkScope::new(&self.root);
        scope.workspace = Arc::from([self.root.clone()]);
        scope
    }

    /// Scope over a path below the root.
    pub(super) fn scope_of(&self, path: &str) -> WalkScope {
        let mut scope = self.scope();
        scope.root = self.root.join(path);
        scope
    }

    /// Scope that permits some paths.
    pub(super) fn scope_where(&self, allowed: impl Fn(&Path) -> bool + Send + Sync + 'static) -> WalkScope {
        let mut scope = self.scope();
        scope.filter = Some(Arc::new(allowed));
        scope
    }

    /// Scope that is interrupted after some checks, and their number so far.
    pub(super) fn scope_until(&self, checks: usize, why: WalkInterrupt) -> (WalkScope, Arc<AtomicUsize>) {
        let calls = Arc::new(AtomicUsize::new(0));
        let counted = Arc::clone(&calls);
        let mut scope = self.scope();
        scope.interrupt = Arc::new(move || (counted.fetch_add(1, Ordering::Relaxed) >= checks).then_some(why));
        (scope, calls)
    }

    /// Context whose permit lets the tool read `path` below the root.
    pub(super) fn cx(&self, path: &str, filter: Option<PathFilter>) -> ToolCx {
        let requested = self.root.join(path);
        let resolved = requested.canonicalize().unwrap_or_else(|_| requested.clone());
        let mut permit = Permit::new(CallDigest::new("00")).with_reads(vec![JudgedPath::new(requested, resolved)]);
        if let Some(filter) = filter {
            permit = permit.with_filter(filter);
        }
        self.cx_with(permit)
    }

    /// Context with a permit.
    pub(super) fn cx_with(&self, permit: Permit) -> ToolCx {
        ToolCx::new(ToolCxParts {
            session_id: SessionId::new("session"),
            tool_use_id: ToolUseId::new("call"),
            cancel: Cancel::new(),
            permit,
            workspace: Arc::new(LocalWorkspace::new()),
            process: Arc::new(NoPrograms),
            clock: Arc::new(Ticking::default()),
            ids: Arc::new(NoPrograms),
            place: CallPlace {
                cwd: self.root.clone(),
                directories: Arc::from([self.root.clone()]),
                env: Arc::from([]),
                artifacts: None,
            },
            state: Arc::default(),
            abilities: CallAbilities::default(),
            progress: Arc::new(|_| {}),
        })
    }
}

/// Calls a tool like the runtime: text for the model and structured data.
pub(super) fn call(
    tool: impl DynTool,
    input: &serde_json::Value,
    cx: &ToolCx,
) -> Result<(String, serde_json::Value), ToolError> {
    let prepared = Arc::new(tool).prepare(&JsonText::of(input).unwrap())?;
    let output: ToolOutput =
        tokio::runtime::Builder::new_current_thread().build().unwrap().block_on(prepared.call(cx.clone()))?;
    let ToolResultContent::Text(text) = output.content else { panic!("not text") };
    Ok((text, output.structured.unwrap().to().unwrap()))
}

/// Clock that advances by one millisecond at each reading.
#[derive(Debug, Default)]
struct Ticking(AtomicU64);

impl Clock for Ticking {
    fn now(&self) -> Timestamp {
        Timestamp::from_millis(self.0.fetch_add(1, Ordering::Relaxed))
    }
}

#[derive(Debug)]
struct NoPrograms;

#[async_trait]
impl Process for NoPrograms {
    async fn run(&self, _: ProcessCommand, _: &Cancel) -> Result<ProcessOutcome, ProcessError> {
        panic!("a search runs no program")
    }
}

impl Ids for NoPrograms {
    fn bits(&self) -> u128 {
        0
    }
}
