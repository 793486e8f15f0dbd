//! Run of one child process, from its start until none of its processes is left.

use std::convert::Infallible;
use std::future::Future;
use std::io;
use std::pin::pin;
use std::sync::Arc;
use std::time::Duration;

use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::time::{Instant, sleep, sleep_until, timeout, timeout_at};
use windlass_process::Child;

use super::capture::{Capture, CaptureLimits, Captured};
use super::spec::{End, Exit, Finished, Progress, Spec};
use windlass_blocking::{BlockingError, run_blocking};

use super::sys::{self, Force, InputPipe, OutputPipe, Spawned, Tree, Watchdog};

/// Time in which processes that the child left behind may still write, before they are stopped. Enough for the filter
/// of a process substitution, and too short to be noticed.
const LINGER: Duration = Duration::from_millis(250);
/// Time for the tree to end after the child has exited and all its output is closed.
const EXIT_WAIT: Duration = Duration::from_millis(100);
/// Time between SIGTERM and SIGKILL.
const GRACE: Duration = Duration::from_millis(500);
/// Maximum wait for the end of processes after SIGKILL.
const KILL_WAIT: Duration = Duration::from_millis(1500);
/// Interval between two checks whether a process tree has ended.
const POLL_INTERVAL: Duration = Duration::from_millis(10);
const PROGRESS_EVERY: Duration = Duration::from_millis(200);
const PROGRESS_BYTES: usize = 1024;
const READ_BYTES: usize = 64 * 1024;

/// Runs a child to its end and ends all processes that it leaves behind.
///
/// `mark` is the name and value of the environment variable by which all processes of the child are found. Dropping the
/// future kills the process tree at once, without a wait for its end.
///
/// # Errors
/// The child could not start: its program or folder is missing, or no process or file descriptor is free.
#[expect(clippy::disallowed_methods, reason = "measures how long a real program waits and runs")]
pub(super) async fn run(
    spec: &Spec,
    mark: (&str, &str),
    watchdog: &Arc<Watchdog>,
    cancel: impl Future<Output = ()>,
    progress: &mut (dyn FnMut(Progress) + Send),
) -> io::Result<Finished> {
    watchdog.ready();
    let Spawned { mut child, stdin, stdout, stderr, tree } = sys::spawn(spec, mark)?;
    let guard = TreeGuard::new(tree, Arc::clone(watchdog));
    let started = Instant::now();
    let mut output = Output::new(spec, stdout, stderr);
    output.begin().await;
    // A timeout that overflows the clock is ignored.
    let deadline = spec.timeout.and_then(|limit| started.checked_add(limit));

    let (end, mut exit) = {
        let mut observer = Observer::new(started, progress);
        let feeding = feed(stdin, spec.stdin.as_deref());
        tokio::select! {
            biased;
            ended = read_until_end(&mut child, &mut output, deadline, cancel, &mut observer) => ended?,
            never = feeding => match never {},
        }
    };
    let mut leftovers = Leftovers::default();
    if end == End::Exited {
        output.drain(LINGER).await;
    }
    let is_gone = end == End::Exited && output.is_closed() && wait_until_gone(guard.tree()).await;
    if !is_gone {
        leftovers = stop(guard.tree(), &mut output).await;
    }
    if exit.is_none() {
        exit = timeout(KILL_WAIT, child.wait()).await.ok().transpose()?.map(sys::exit_of);
    }
    output.drain(POLL_INTERVAL).await;
    if exit.is_some() {
        child.group().reap();
    }
    guard.disarm();
    let (stdout, stderr) = output.finish().await;
    Ok(Finished {
        end,
        exit,
        stdout,
        stderr,
        stopped: if end == End::Exited { leftovers.found } else { 0 },
        survivors: leftovers.remaining,
        elapsed: started.elapsed(),
    })
}

/// Writes the input of a child, and closes it. Never resolves, because a child that does not read its input is not
/// waited for.
async fn feed(pipe: Option<InputPipe>, input: Option<&[u8]>) -> Infallible {
    if let Some((mut pipe, input)) = pipe.zip(input) {
        // A child may end before it has read all, or close its input.
        let _ = pipe.write_all(input).await;
        let _ = pipe.shutdown().await;
    }
    std::future::pending().await
}

/// Reads the output until the child exits, time is up or the call is cancelled.
async fn read_until_end(
    child: &mut Child,
    output: &mut Output,
    deadline: Option<Instant>,
    cancel: impl Future<Output = ()>,
    observer: &mut Observer<'_>,
) -> io::Result<(End, Option<Exit>)> {
    let mut cancel = pin!(cancel);
    let mut exited = pin!(child.wait());
    loop {
        // Cancellation, timeout and exit are polled first, so that a flood of output never delays them.
        tokio::select! {
            biased;
            () = &mut cancel => return Ok((End::Cancelled, None)),
            () = until(deadline) => return Ok((End::TimedOut, None)),
            status = &mut exited => return Ok((End::Exited, Some(sys::exit_of(status?)))),
            () = sleep_until(observer.next), if observer.has_new_output(output.total()) => {
                observer.send_progress(output);
            }
            ready = output.read(), if !output.is_closed() => output.store(ready).await,
        }
    }
}

async fn until(deadline: Option<Instant>) {
    match deadline {
        Some(deadline) => sleep_until(deadline).await,
        None => std::future::pending().await,
    }
}

/// Waits up to [`EXIT_WAIT`] until no process of the tree is left, and returns `true` if that happens. The child must
/// have exited, and its output must be closed.
#[expect(clippy::disallowed_methods, reason = "measures how long a real program waits and runs")]
async fn wait_until_gone(tree: &Tree) -> bool {
    if tree.is_plainly_gone() {
        return true;
    }
    let end = Instant::now() + EXIT_WAIT;
    loop {
        if signal(tree, Force::None, false).await == 0 {
            return true;
        }
        if Instant::now() >= end {
            return false;
        }
        sleep(POLL_INTERVAL).await;
    }
}

/// Numbers of processes that the child left behind.
#[derive(Debug, Default)]
struct Leftovers {
    /// Number before the first signal.
    found: usize,
    /// Number after the last signal.
    remaining: usize,
}

/// Ends a process tree with SIGTERM, then with SIGKILL. The output is read meanwhile, so that no process blocks on a
/// full pipe.
#[expect(clippy::disallowed_methods, reason = "measures how long a real program waits and runs")]
async fn stop(tree: &Tree, output: &mut Output) -> Leftovers {
    let with_pipe_holders = !output.is_closed();
    let found = signal(tree, Force::Ask, with_pipe_holders).await;
    let mut remaining = found;
    let grace = Instant::now() + GRACE;
    while remaining > 0 && Instant::now() < grace {
        output.drain(POLL_INTERVAL).await;
        sleep(POLL_INTERVAL / 4).await;
        remaining = signal(tree, Force::None, with_pipe_holders).await;
    }
    let give_up = Instant::now() + KILL_WAIT;
    while remaining > 0 && Instant::now() < give_up {
        remaining = signal(tree, Force::Kill, with_pipe_holders).await;
        output.drain(POLL_INTERVAL).await;
        sleep(POLL_INTERVAL / 4).await;
        if remaining > 0 {
            remaining = signal(tree, Force::None, with_pipe_holders).await;
        }
    }
    Leftovers { found, remaining }
}

/// Signals a tree on a blocking thread, because searching all processes takes milliseconds. Returns the number of its
/// living processes.
async fn signal(tree: &Tree, force: Force, with_pipe_holders: bool) -> usize {
    let tree = tree.clone();
    let owned_tree = tree.clone();
    match run_blocking(move || owned_tree.signal(force, with_pipe_holders)).await {
        // No blocking thread is free: this thread signals the tree, which must end in any case.
        Err(BlockingError::NoThread) => tree.signal(force, with_pipe_holders),
        done => done.unwrap_or_default(),
    }
}

/// Guard that kills the process tree if the future of the run is dropped.
struct TreeGuard {
    tree: Tree,
    watchdog: Arc<Watchdog>,
    armed: bool,
}

impl TreeGuard {
    fn new(tree: Tree, watchdog: Arc<Watchdog>) -> Self {
        watchdog.add(tree.id());
        Self { tree, watchdog, armed: true }
    }

    fn tree(&self) -> &Tree {
        &self.tree
    }

    fn disarm(mut self) {
        self.armed = false;
    }
}

impl Drop for TreeGuard {
    fn drop(&mut self) {
        if self.armed {
            for _ in 0..3 {
                if self.tree.signal(Force::Kill, true) == 0 {
                    break;
                }
            }
        }
        self.watchdog.remove(self.tree.id());
    }
}

/// Pipes of a child and their output.
struct Output {
    out: Stream,
    err: Option<Stream>,
}

struct Stream {
    pipe: Option<OutputPipe>,
    buffer: Vec<u8>,
    capture: Capture,
}

/// One read: the stream, and the number of bytes.
struct Ready {
    is_err: bool,
    count: usize,
}

impl Output {
    fn new(spec: &Spec, stdout: OutputPipe, stderr: Option<OutputPipe>) -> Self {
        Self { out: Stream::new(stdout, &spec.stdout), err: stderr.map(|pipe| Stream::new(pipe, &spec.stderr)) }
    }

    /// Creates the output files that must exist even if nothing is written.
    async fn begin(&mut self) {
        self.out.capture.begin().await;
        if let Some(err) = &mut self.err {
            err.capture.begin().await;
        }
    }

    fn is_closed(&self) -> bool {
        self.out.pipe.is_none() && self.err.as_ref().is_none_or(|err| err.pipe.is_none())
    }

    fn total(&self) -> u64 {
        let err = self.err.as_ref().map_or(0, |err| err.capture.total());
        self.out.capture.total().saturating_add(err)
    }

    /// Reads the next bytes of either stream, for [`store`](Self::take). Cancel safe.
    async fn read(&mut self) -> Ready {
        let out = self.out.read();
        match &mut self.err {
            None => Ready { is_err: false, count: out.await },
            Some(err) => tokio::select! {
                count = out => Ready { is_err: false, count },
                count = err.read() => Ready { is_err: true, count },
            },
        }
    }

    async fn store(&mut self, ready: Ready) {
        if !ready.is_err {
            self.out.store(ready.count).await;
        } else if let Some(err) = &mut self.err {
            err.store(ready.count).await;
        }
    }

    /// Reads to the end of the streams, up to the time limit.
    #[expect(clippy::disallowed_methods, reason = "measures how long a real program waits and runs")]
    async fn drain(&mut self, limit: Duration) {
        let end = Instant::now() + limit;
        while !self.is_closed() {
            let Ok(ready) = timeout_at(end, self.read()).await else {
                break;
            };
            self.store(ready).await;
            if Instant::now() >= end {
                break;
            }
        }
    }

    async fn finish(self) -> (Captured, Option<Captured>) {
        let out = self.out.capture.finish().await;
        let err = match self.err {
            Some(err) => Some(err.capture.finish().await),
            None => None,
        };
        (out, err)
    }
}

impl Stream {
    fn new(pipe: OutputPipe, limits: &CaptureLimits) -> Self {
        Self { pipe: Some(pipe), buffer: Vec::new(), capture: Capture::new(limits.clone()) }
    }

    /// Waits for bytes; never resolves once the stream is closed.
    async fn read(&mut self) -> usize {
        match &mut self.pipe {
            Some(pipe) => {
                if self.buffer.is_empty() {
                    self.buffer.resize(READ_BYTES, 0);
                }
                pipe.read(&mut self.buffer).await.unwrap_or_else(|error| {
                    // A read error ends the stream like its end does. Working pipes have none, so it is logged.
                    if !sys::is_end_of_terminal(&error) {
                        tracing::warn!(%error, "the output of a program cannot be read further");
                    }
                    0
                })
            }
            None => std::future::pending().await,
        }
    }

    async fn store(&mut self, count: usize) {
        if count == 0 {
            self.pipe = None;
            self.buffer = Vec::new();
        } else if let Some(bytes) = self.buffer.get(..count) {
            self.capture.push(bytes).await;
        }
    }
}

/// Reports new output to the caller, at most once per interval.
struct Observer<'a> {
    started: Instant,
    next: Instant,
    reported_bytes: u64,
    report: &'a mut (dyn FnMut(Progress) + Send),
}

impl<'a> Observer<'a> {
    fn new(started: Instant, report: &'a mut (dyn FnMut(Progress) + Send)) -> Self {
        Self { started, next: started + PROGRESS_EVERY, reported_bytes: 0, report }
    }

    fn has_new_output(&self, total: u64) -> bool {
        total > self.reported_bytes
    }

    #[expect(clippy::disallowed_methods, reason = "measures how long a real program waits and runs")]
    fn send_progress(&mut self, output: &Output) {
        self.reported_bytes = output.total();
        self.next = Instant::now() + PROGRESS_EVERY;
        let mut recent = output.out.capture.recent(PROGRESS_BYTES);
        if let Some(err) = &output.err {
            recent.extend(err.capture.recent(PROGRESS_BYTES));
        }
        (self.report)(Progress { recent, total: self.reported_bytes, elapsed: self.started.elapsed() });
    }
}
