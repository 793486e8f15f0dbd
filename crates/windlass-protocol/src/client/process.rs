//! The process at the other end.

use super::error::ClientError;
use super::program::{Program, StderrSink};
use crate::channel::task::AbortOnDrop;
use std::collections::VecDeque;
use std::ffi::OsString;
use std::io::{self, ErrorKind};
use std::process::{ExitStatus, Stdio};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;
use tokio::io::{AsyncRead, AsyncReadExt};
use tokio::process::{Child, ChildStderr, ChildStdin, ChildStdout, Command};
use tokio::time::timeout;

/// Time limit for reading standard error after the end, because other processes may hold it open.
const STDERR_TIMEOUT: Duration = Duration::from_millis(500);

/// Maximum number of bytes kept of standard error, and of one line.
const MAX_STDERR_BYTES: usize = 8 * 1024;

/// A process, which is killed with its group on drop.
#[derive(Debug)]
pub(super) struct ClientProcess {
    child: Child,
    /// Process group, which has the number of its leader.
    #[cfg_attr(not(unix), allow(dead_code, reason = "only Unix has groups"))]
    group: Option<u32>,
    /// Time to end by itself, and again after the request to terminate.
    patience: Duration,
    /// Exit status, once the process has ended.
    status: Option<ExitStatus>,
    stderr: Arc<Mutex<VecDeque<u8>>>,
    stderr_task: AbortOnDrop<()>,
}

impl ClientProcess {
    /// Starts a program with arguments that precede its own.
    pub(super) fn start(
        program: &Program,
        args: impl IntoIterator<Item = OsString>,
        patience: Duration,
    ) -> Result<(Self, ChildStdin, ChildStdout), ClientError> {
        let mut child = command(program, args).spawn().map_err(|error| start_error(program, error))?;
        let missing = || start_error(program, io::Error::other("a pipe is missing"));
        let (stdin, stdout) = (child.stdin.take().ok_or_else(missing)?, child.stdout.take().ok_or_else(missing)?);
        let pipe = child.stderr.take().ok_or_else(missing)?;
        let stderr = Arc::new(Mutex::default());
        let task = tokio::spawn(collect_stderr(pipe, Arc::clone(&stderr), program.stderr.clone()));
        let group = child.id();
        Ok((Self { child, group, patience, status: None, stderr, stderr_task: AbortOnDrop(task) }, stdin, stdout))
    }

    pub(super) fn id(&self) -> Option<u32> {
        self.child.id()
    }

    /// Waits until the process has ended. Cancel safe.
    pub(super) async fn wait(&mut self) -> io::Result<ExitStatus> {
        if let Some(status) = self.status {
            return Ok(status);
        }
        let status = self.child.wait().await?;
        // The remaining processes of the group are stopped, because their host is gone.
        self.kill_group();
        self.group = None;
        self.status = Some(status);
        Ok(status)
    }

    /// Waits for the end, and enforces it if that takes too long.
    pub(super) async fn end(&mut self) -> io::Result<ExitStatus> {
        if let Ok(status) = timeout(self.patience, self.wait()).await {
            return status;
        }
        self.terminate();
        if let Ok(status) = timeout(self.patience, self.wait()).await {
            return status;
        }
        self.kill();
        self.wait().await
    }

    /// Last output on standard error.
    pub(super) async fn last_words(&mut self) -> String {
        if !self.stderr_task.0.is_finished() {
            // A task that is still running ends with its handle.
            let _ = timeout(STDERR_TIMEOUT, &mut self.stderr_task.0).await;
        }
        let last_bytes: Vec<u8> = self.stderr.lock().unwrap_or_else(PoisonError::into_inner).iter().copied().collect();
        String::from_utf8_lossy(&last_bytes).into_owned()
    }

    #[cfg(unix)]
    fn terminate(&self) {
        self.signal(rustix::process::Signal::TERM);
    }

    #[cfg(not(unix))]
    fn terminate(&mut self) {
        self.kill();
    }

    fn kill(&mut self) {
        self.kill_group();
        // Fails if the process has already ended.
        let _ = self.child.start_kill();
    }

    #[cfg(unix)]
    fn kill_group(&self) {
        self.signal(rustix::process::Signal::KILL);
    }

    #[cfg(not(unix))]
    fn kill_group(&self) {}

    #[cfg(unix)]
    fn signal(&self, signal: rustix::process::Signal) {
        let group = self.group.and_then(|group| i32::try_from(group).ok()).and_then(rustix::process::Pid::from_raw);
        if let Some(group) = group {
            // Fails only when no process is left.
            let _ = rustix::process::kill_process_group(group, signal);
        }
    }
}

impl Drop for ClientProcess {
    fn drop(&mut self) {
        if self.status.is_none() {
            self.kill();
        }
    }
}

fn command(program: &Program, args: impl IntoIterator<Item = OsString>) -> Command {
    let mut command = Command::new(&program.program);
    command.args(args).args(&program.flags);
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).kill_on_drop(true);
    #[cfg(unix)]
    command.process_group(0);
    if program.clear {
        command.env_clear();
    }
    command.env("CLAUDE_CODE_ENTRYPOINT", "sdk-rs").env_remove("CLAUDECODE");
    if let Some(cwd) = &program.cwd {
        command.current_dir(cwd).env("PWD", cwd);
    }
    for (name, value) in &program.env {
        match value {
            Some(value) => command.env(name, value),
            None => command.env_remove(name),
        };
    }
    command
}

/// Error for a program that could not be started.
fn start_error(program: &Program, source: io::Error) -> ClientError {
    let path = program.program.clone();
    if let Some(directory) = program.cwd.as_ref().filter(|cwd| !cwd.is_dir()) {
        return ClientError::NoDirectory { directory: directory.clone() };
    }
    match source.kind() {
        ErrorKind::NotFound => ClientError::NotFound { program: path },
        // A file in no executable format has no error kind of its own on all platforms.
        ErrorKind::PermissionDenied => ClientError::NotExecutable { program: path, source },
        _ if path.is_file() => ClientError::NotExecutable { program: path, source },
        _ => ClientError::Spawn { program: path, source },
    }
}

/// Reads standard error to its end, keeps the last bytes and passes it on line by line.
async fn collect_stderr(mut pipe: ChildStderr, last_bytes: Arc<Mutex<VecDeque<u8>>>, sink: Option<StderrSink>) {
    let mut line = ErrorLine { bytes: Vec::new(), sink };
    while let Some(bytes) = read_chunk(&mut pipe).await {
        line.push(&bytes);
        let mut last_bytes = last_bytes.lock().unwrap_or_else(PoisonError::into_inner);
        last_bytes.extend(bytes);
        let excess = last_bytes.len().saturating_sub(MAX_STDERR_BYTES);
        last_bytes.drain(..excess);
    }
    line.report();
}

async fn read_chunk(pipe: &mut (impl AsyncRead + Unpin)) -> Option<Vec<u8>> {
    let mut bytes = Vec::with_capacity(MAX_STDERR_BYTES);
    let count = pipe.take(MAX_STDERR_BYTES as u64).read_buf(&mut bytes).await.ok()?;
    (count > 0).then_some(bytes)
}

/// Unfinished line of standard error.
struct ErrorLine {
    bytes: Vec<u8>,
    sink: Option<StderrSink>,
}

impl ErrorLine {
    fn push(&mut self, bytes: &[u8]) {
        if self.sink.is_none() {
            return;
        }
        for part in bytes.split_inclusive(|byte| *byte == b'\n') {
            let remaining = MAX_STDERR_BYTES.saturating_sub(self.bytes.len());
            self.bytes.extend(part.iter().take(remaining));
            if part.ends_with(b"\n") {
                self.report();
            }
        }
    }

    fn report(&mut self) {
        let bytes = std::mem::take(&mut self.bytes);
        if let Some(sink) = self.sink.as_ref().filter(|_| !bytes.is_empty()) {
            sink(String::from_utf8_lossy(&bytes).trim_end_matches(['\n', '\r']));
        }
    }
}
