//! A session over files in memory, with faults on demand.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

use async_trait::async_trait;
use serde_json::Value;
use windlass_tool::{
    Cancel, Clock, DynTool, EntryKind, FileInfo, Ids, JudgedPath, OpenFile, Permit, Process, ProcessCommand,
    ProcessError, ProcessOutcome, ResolvedPath, SessionState, ToolCx, ToolCxParts, ToolOutput, ToolSet, Workspace,
    WorkspaceError, WorkspaceErrorKind, WriteOptions,
};
use windlass_tools::{Edit, MultiEdit, Read, TodoWrite, Write};
use windlass_types::{CallDigest, JsonText, SessionId, Timestamp, ToolUseId};

#[derive(Debug, Default)]
pub(crate) struct MemoryWorkspace {
    files: Mutex<HashMap<PathBuf, Vec<u8>>>,
    links: Mutex<HashMap<PathBuf, PathBuf>>,
    devices: Mutex<Vec<PathBuf>>,
    /// Bytes that fit; 0 means any.
    pub(crate) room: AtomicU64,
    /// Bytes that one read returns at most; 0 means as asked.
    pub(crate) read_size: AtomicUsize,
    pub(crate) reads: AtomicUsize,
    cancel_at_read: Mutex<Option<(usize, Cancel)>>,
}

impl MemoryWorkspace {
    fn real(&self, path: &Path) -> PathBuf {
        self.links.lock().unwrap().get(path).cloned().unwrap_or_else(|| path.to_owned())
    }

    fn kind(&self, path: &Path) -> EntryKind {
        let files = self.files.lock().unwrap();
        if files.contains_key(path) {
            EntryKind::File
        } else if self.devices.lock().unwrap().iter().any(|d| d == path) {
            EntryKind::Special
        } else if files.keys().any(|file| file.starts_with(path)) {
            EntryKind::Directory
        } else {
            EntryKind::Missing
        }
    }
}

fn refuse(kind: WorkspaceErrorKind, path: &Path, what: &str) -> WorkspaceError {
    WorkspaceError::new(kind, format!("{} {what}", path.display()))
}

#[async_trait]
impl Workspace for MemoryWorkspace {
    async fn resolve(&self, path: &Path) -> Result<ResolvedPath, WorkspaceError> {
        let real = self.real(path);
        let kind = self.kind(&real);
        Ok(ResolvedPath::new(real, kind))
    }

    async fn open(&self, permit: &Permit, path: &Path) -> Result<Box<dyn OpenFile>, WorkspaceError> {
        permit.readable(path).ok_or_else(|| refuse(WorkspaceErrorKind::NotPermitted, path, "is not permitted"))?;
        let real = self.real(path);
        match self.kind(&real) {
            EntryKind::File => {}
            EntryKind::Directory => return Err(refuse(WorkspaceErrorKind::IsDirectory, path, "is a directory")),
            EntryKind::Special => return Err(refuse(WorkspaceErrorKind::NotRegular, path, "is a device")),
            _ => return Err(refuse(WorkspaceErrorKind::NotFound, path, "does not exist")),
        }
        let bytes = self.files.lock().unwrap()[&real].clone();
        let step = self.read_size.load(Ordering::Relaxed);
        let cancel = self.cancel_at_read.lock().unwrap().take();
        self.reads.fetch_add(1, Ordering::Relaxed);
        Ok(Box::new(MemoryFile { info: FileInfo::new(bytes.len() as u64, None, false), bytes, at: 0, step, cancel }))
    }

    async fn write(
        &self,
        permit: &Permit,
        path: &Path,
        content: &[u8],
        options: WriteOptions,
    ) -> Result<(), WorkspaceError> {
        permit.writable(path).ok_or_else(|| refuse(WorkspaceErrorKind::NotPermitted, path, "is not permitted"))?;
        // Gives other calls a chance to get in between.
        tokio::task::yield_now().await;
        let room = self.room.load(Ordering::Relaxed);
        if room > 0 && content.len() as u64 > room {
            return Err(refuse(WorkspaceErrorKind::NoSpace, path, "could not be written: the disk is full"));
        }
        let real = self.real(path);
        let mut files = self.files.lock().unwrap();
        if options.must_be_new && files.contains_key(&real) {
            return Err(refuse(WorkspaceErrorKind::AlreadyExists, path, "exists"));
        }
        files.insert(real, content.to_vec());
        Ok(())
    }

    async fn list(&self, permit: &Permit, path: &Path, limit: usize) -> Result<Vec<String>, WorkspaceError> {
        permit.listable(path).ok_or_else(|| refuse(WorkspaceErrorKind::NotPermitted, path, "is not permitted"))?;
        let files = self.files.lock().unwrap();
        let inside = files.keys().filter(|file| file.parent() == Some(path));
        Ok(inside.map(|file| file.file_name().unwrap().to_string_lossy().into_owned()).take(limit).collect())
    }

    fn is_local(&self) -> bool {
        false
    }
}

#[derive(Debug)]
struct MemoryFile {
    info: FileInfo,
    bytes: Vec<u8>,
    at: usize,
    step: usize,
    cancel: Option<(usize, Cancel)>,
}

#[async_trait]
impl OpenFile for MemoryFile {
    fn info(&self) -> &FileInfo {
        &self.info
    }

    async fn read(&mut self, limit: usize) -> Result<Vec<u8>, WorkspaceError> {
        if let Some((left, cancel)) = &mut self.cancel {
            if *left == 0 {
                cancel.cancel();
            }
            *left = left.saturating_sub(1);
        }
        let step = if self.step == 0 { limit } else { self.step.min(limit) };
        let end = (self.at + step).min(self.bytes.len());
        let chunk = self.bytes[self.at..end].to_vec();
        self.at = end;
        Ok(chunk)
    }
}

#[derive(Debug)]
struct Nothing;

#[async_trait]
impl Process for Nothing {
    async fn run(&self, _: ProcessCommand, _: &Cancel) -> Result<ProcessOutcome, ProcessError> {
        unreachable!("file tools run no programs")
    }
}

impl Clock for Nothing {
    fn now(&self) -> Timestamp {
        unreachable!("file tools do not look at the clock")
    }
}

impl Ids for Nothing {
    fn bits(&self) -> u128 {
        unreachable!("file tools need no chance")
    }
}

/// One session with the file tools, in `/w`.
pub(crate) struct Session {
    pub(crate) files: Arc<MemoryWorkspace>,
    workspace: Arc<dyn Workspace>,
    cwd: PathBuf,
    tools: ToolSet,
    state: Arc<SessionState>,
    /// Given to the next calls.
    pub(crate) cancel: Cancel,
}

impl Session {
    pub(crate) fn new() -> Self {
        let files = Arc::new(MemoryWorkspace::default());
        Self::over(Arc::clone(&files) as Arc<dyn Workspace>, files, Path::new("/w"))
    }

    pub(crate) fn over(workspace: Arc<dyn Workspace>, files: Arc<MemoryWorkspace>, cwd: &Path) -> Self {
        let tools: [Arc<dyn DynTool>; 5] = [
            Arc::new(Read::default()),
            Arc::new(Write::default()),
            Arc::new(Edit::default()),
            Arc::new(MultiEdit::default()),
            Arc::new(TodoWrite::default()),
        ];
        Self {
            files,
            workspace,
            cwd: cwd.to_owned(),
            tools: ToolSet::new(tools).unwrap(),
            state: Arc::default(),
            cancel: Cancel::new(),
        }
    }

    pub(crate) fn put(&self, path: &str, content: impl AsRef<[u8]>) {
        self.files.files.lock().unwrap().insert(PathBuf::from(path), content.as_ref().to_vec());
    }

    pub(crate) fn get(&self, path: &str) -> Option<Vec<u8>> {
        self.files.files.lock().unwrap().get(Path::new(path)).cloned()
    }

    pub(crate) fn link(&self, path: &str, target: &str) {
        self.files.links.lock().unwrap().insert(path.into(), target.into());
    }

    pub(crate) fn device(&self, path: &str) {
        self.files.devices.lock().unwrap().push(path.into());
    }

    pub(crate) fn cancel_at_read(&self, reads: usize) {
        *self.files.cancel_at_read.lock().unwrap() = Some((reads, self.cancel.clone()));
    }

    pub(crate) fn state(&self) -> &SessionState {
        &self.state
    }

    /// Runs one call as a driver does, with a permit for just its paths.
    pub(crate) async fn call(&self, name: &str, input: Value) -> Result<ToolOutput, String> {
        let input = JsonText::parse(input.to_string()).unwrap();
        let prepared = self.tools.prepare(name, &input).map_err(|e| e.model_text().to_owned())?;
        let access = prepared.access();
        let mut judged = Vec::new();
        for path in access.paths() {
            let path = windlass_tool::absolute(&self.cwd, path);
            let resolved = self.workspace.resolve(&path).await.unwrap();
            judged.push(JudgedPath::new(path, resolved.path));
        }
        let parents = judged.iter().filter_map(|path: &JudgedPath| {
            let (requested, resolved) = (path.requested.parent()?, path.resolved.parent()?);
            let inside = requested.starts_with(&self.cwd) && resolved.starts_with(&self.cwd);
            inside.then(|| JudgedPath::new(requested, resolved))
        });
        let permit = Permit::new(CallDigest::new("00")).with_listable(parents.collect());
        let permit = match access {
            windlass_types::Access::Writes(_) => permit.with_writes(judged),
            _ => permit.with_reads(judged),
        };
        let cx = ToolCx::new(ToolCxParts {
            session_id: SessionId::new("s"),
            tool_use_id: ToolUseId::new("t"),
            cancel: self.cancel.clone(),
            permit,
            workspace: Arc::clone(&self.workspace),
            process: Arc::new(Nothing),
            clock: Arc::new(Nothing),
            ids: Arc::new(Nothing),
            cwd: self.cwd.clone(),
            directories: Arc::from([self.cwd.clone()]),
            env: Arc::from([]),
            artifacts: None,
            state: Arc::clone(&self.state),
            background: None,
            agents: None,
            progress: Arc::new(|_| {}),
        });
        prepared.call(cx).await.map_err(|e| e.model_text().to_owned())
    }

    pub(crate) async fn read(&self, path: &str) -> String {
        let output = self.call("Read", serde_json::json!({ "file_path": path })).await;
        output.unwrap().content.text()
    }

    pub(crate) async fn edit(&self, path: &str, old: &str, new: &str) -> Result<String, String> {
        let input = serde_json::json!({ "file_path": path, "old_string": old, "new_string": new });
        self.call("Edit", input).await.map(|output| output.content.text())
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
