//! Children on Windows: a job object holds the whole tree, and the system ends it with its last handle.
//!
//! Differences from Unix: there is no gentle signal, a stop ends the job at once; the number of remaining processes is
//! not counted; and no watchdog is needed, because the handle of the job closes with the host.

use std::io::{self, PipeReader, Read as _, Write as _};
use std::process::{ExitStatus, Stdio};

use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _, DuplexStream, duplex};
use tokio::process::Command;
use windlass_process::{Child, Group};
use windlass_tool::EndSignal;

use super::spec::{Exit, Spec, Streams};

/// Reading end of a child's output.
pub(super) type OutputPipe = DuplexStream;

/// Writing end of a child's input.
pub(super) type InputPipe = DuplexStream;

/// A running child.
pub(super) struct Spawned {
    pub(super) child: Child,
    /// `None` when it has no input.
    pub(super) stdin: Option<InputPipe>,
    pub(super) stdout: OutputPipe,
    /// `None` when both streams share one pipe.
    pub(super) stderr: Option<OutputPipe>,
    pub(super) tree: Tree,
}

/// The job of one child.
#[derive(Debug, Clone)]
pub(super) struct Tree(Group);

/// Force of a stop.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Force {
    /// Only check.
    None,
    /// Same as `Kill` on Windows.
    Ask,
    /// End the job.
    Kill,
}

impl Tree {
    pub(super) fn id(&self) -> i32 {
        0
    }

    /// Ends the remaining processes, which is quick and certain here.
    pub(super) fn is_plainly_gone(&self) -> bool {
        self.signal(Force::Kill, false);
        true
    }

    pub(super) fn signal(&self, force: Force, _with_pipe_holders: bool) -> usize {
        if force != Force::None {
            self.0.signal(EndSignal::Kill);
        }
        0
    }
}

/// Unused: see the head of this file.
#[derive(Debug)]
pub(super) struct Watchdog;

impl Watchdog {
    pub(super) fn new(_mark: String) -> Self {
        Self
    }

    pub(super) fn ready(&self) {}

    pub(super) fn add(&self, _group: i32) {}

    pub(super) fn remove(&self, _group: i32) {}
}

pub(super) fn spawn(spec: &Spec, mark: (&str, &str)) -> io::Result<Spawned> {
    if spec.terminal.is_some() {
        return Err(io::Error::new(io::ErrorKind::Unsupported, "programs have no terminal on Windows"));
    }
    let (out_read, out_write) = io::pipe()?;
    let (err_read, err_write) = match spec.streams {
        Streams::Merged => (None, out_write.try_clone()?),
        Streams::Separate => {
            let (read, write) = io::pipe()?;
            (Some(pump(read)?), write)
        }
    };
    let stdout = pump(out_read)?;
    let (in_read, stdin) = input(spec)?;
    let mut command = Command::new(&spec.program);
    command
        .args(&spec.args)
        .current_dir(&spec.cwd)
        .env_clear()
        .envs(spec.env.iter().map(|(name, value)| (name, value)))
        .env(mark.0, mark.1)
        .stdin(in_read)
        .stdout(out_write)
        .stderr(err_write);
    let child = Child::spawn(command)?;
    let tree = Tree(child.group().clone());
    Ok(Spawned { child, stdin, stdout, stderr: err_read, tree })
}

/// Pipe with a thread of its own, because anonymous pipes block here. The thread ends with the last writer.
fn pump(mut pipe: PipeReader) -> io::Result<OutputPipe> {
    let (reader, mut writer) = duplex(64 * 1024);
    let runtime = tokio::runtime::Handle::current();
    std::thread::Builder::new().name("windlass-output".into()).spawn(move || {
        let mut buffer = vec![0; 64 * 1024];
        while let Ok(count) = pipe.read(&mut buffer) {
            let bytes = buffer.get(..count).unwrap_or_default();
            if bytes.is_empty() || runtime.block_on(writer.write_all(bytes)).is_err() {
                break;
            }
        }
    })?;
    Ok(reader)
}

/// Input of a child, and its writing end.
fn input(spec: &Spec) -> io::Result<(Stdio, Option<InputPipe>)> {
    if spec.stdin.is_none() {
        return Ok((Stdio::null(), None));
    }
    let (read, mut write) = io::pipe()?;
    let (mut reader, writer) = duplex(64 * 1024);
    let runtime = tokio::runtime::Handle::current();
    std::thread::Builder::new().name("windlass-input".into()).spawn(move || {
        let mut buffer = vec![0; 64 * 1024];
        while let Ok(count) = runtime.block_on(reader.read(&mut buffer)) {
            let bytes = buffer.get(..count).unwrap_or_default();
            if bytes.is_empty() || write.write_all(bytes).is_err() {
                break;
            }
        }
    })?;
    Ok((read.into(), Some(writer)))
}

/// `None`: a starter of a program in a job ends it with the job.
pub(super) fn tree_of(_leader: u32, _mark: String) -> Option<Tree> {
    None
}

/// `false`: there are no terminals here.
pub(super) fn is_end_of_terminal(_: &io::Error) -> bool {
    false
}

/// Exit of a child.
pub(super) fn exit_of(status: ExitStatus) -> Exit {
    Exit { code: status.code(), signal: None }
}
