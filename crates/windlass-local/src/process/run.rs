//! One child from start to end.

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

/// Time for processes left behind by the child to write before they are stopped: enough for the filter at the end of a
/// process substitution, short enough not to be noticed.
const LINGER: Duration = Duration::from_millis(250);
/// Time for a process to end after it has closed its output, as many do on their way out.
const SETTLE: Duration = Duration::from_millis(100);
/// Time between SIGTERM and SIGKILL.
const GRACE: Duration = Duration::from_millis(500);
/// Time after SIGKILL until the wait is given up.
const GIVE_UP: Duration = Duration::from_millis(1500);
/// Interval between two checks of a tree that is ending.
const LOOK: Duration = Duration::from_millis(10);
const PROGRESS_EVERY: Duration = Duration::from_millis(200);
const PROGRESS_BYTES: usize = 1024;
const READ_BYTES: usize = 64 * 1024;

/// Runs a child to its end and ends all processes that it leaves behind.
///
/// Dropping the future kills the tree at once; nothing then waits for its end.
///
/// # Errors
/// The start failed: no such program or folder, or no free process or file numbers.
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
    // A limit beyond the range of the clock is no limit.
    let deadline = spec.timeout.and_then(|limit| started.checked_add(limit));

    let (end, mut exit) = {
        let mut observer = Observer::new(started, progress);
        let feeding = feed(stdin, spec.stdin.as_deref());
        tokio::select! {
            biased;
            ended = attend(&mut child, &mut output, deadline, cancel, &mut observer) => ended?,
            never = feeding => match never {},
        }
    };
    let mut left = Left::default();
    if end == End::Exited {
        output.drain(LINGER).await;
    }
    let is_settled = end == End::Exited && output.is_closed() && settle(guard.tree()).await;
    if !is_settled {
        left = stop(guard.tree(), &mut output).await;
    }
    if exit.is_none() {
        exit = timeout(GIVE_UP, child.wait()).await.ok().transpose()?.map(sys::exit_of);
    }
    output.drain(LOOK).await;
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
        stopped: if end == End::Exited { left.found } else { 0 },
        survivors: left.remaining,
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
async fn attend(
    child: &mut Child,
    output: &mut Output,
    deadline: Option<Instant>,
    cancel: impl Future<Output = ()>,
    observer: &mut Observer<'_>,
) -> io::Result<(End, Option<Exit>)> {
    let mut cancel = pin!(cancel);
    let mut exited = pin!(child.wait());
    loop {
        // Checks the ends first, so that a flood of output never starves them.
        tokio::select! {
            biased;
            () = &mut cancel => return Ok((End::Cancelled, None)),
            () = until(deadline) => return Ok((End::TimedOut, None)),
            status = &mut exited => return Ok((End::Exited, Some(sys::exit_of(status?)))),
            () = sleep_until(observer.next), if observer.is_due_for(output.total()) => {
                observer.look(output);
            }
            ready = output.read(), if !output.is_closed() => output.take(ready).await,
        }
    }
}

async fn until(deadline: Option<Instant>) {
    match deadline {
        Some(deadline) => sleep_until(deadline).await,
        None => std::future::pending().await,
    }
}

/// `true` if nothing is left of a tree whose child has ended and whose output is closed.
#[expect(clippy::disallowed_methods, reason = "measures how long a real program waits and runs")]
async fn settle(tree: &Tree) -> bool {
    if tree.is_plainly_gone() {
        return true;
    }
    let end = Instant::now() + SETTLE;
    loop {
        if signal(tree, Force::None, false).await == 0 {
            return true;
        }
        if Instant::now() >= end {
            return false;
        }
        sleep(LOOK).await;
    }
}

#[derive(Debug, Default)]
struct Left {
    found: usize,
    remaining: usize,
}

/// Ends a tree: asks, waits, kills. The output is read meanwhile, so that no process blocks on a full pipe.
#[expect(clippy::disallowed_methods, reason = "measures how long a real program waits and runs")]
async fn stop(tree: &Tree, output: &mut Output) -> Left {
    let wide = !output.is_closed();
    let found = signal(tree, Force::Ask, wide).await;
    let mut remaining = found;
    let grace = Instant::now() + GRACE;
    while remaining > 0 && Instant::now() < grace {
        output.drain(LOOK).await;
        sleep(LOOK / 4).await;
        remaining = signal(tree, Force::None, wide).await;
    }
    let give_up = Instant::now() + GIVE_UP;
    while remaining > 0 && Instant::now() < give_up {
        remaining = signal(tree, Force::Kill, wide).await;
        output.drain(LOOK).await;
        sleep(LOOK / 4).await;
        if remaining > 0 {
            remaining = signal(tree, Force::None, wide).await;
        }
    }
    Left { found, remaining }
}

/// Signals a tree on a blocking thread, because searching all processes takes milliseconds.
async fn signal(tree: &Tree, force: Force, wide: bool) -> usize {
    let tree = tree.clone();
    let apart = tree.clone();
    match run_blocking(move || apart.signal(force, wide)).await {
        // The rest of a program has to end all the same.
        Err(BlockingError::NoThread) => tree.signal(force, wide),
        done => done.unwrap_or_default(),
    }
}

/// Kills the tree when the run is abandoned half-way.
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

    /// Creates the files that exist from the start.
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

    /// Reads the next bytes of either stream, for [`take`](Self::take). Cancel safe.
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

    async fn take(&mut self, ready: Ready) {
        if !ready.is_err {
            self.out.take(ready.count).await;
        } else if let Some(err) = &mut self.err {
            err.take(ready.count).await;
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
            self.take(ready).await;
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
                    // The error is as final as the end, and does not occur on working pipes.
                    if !sys::is_end_of_terminal(&error) {
                        tracing::warn!(%error, "the output of a program cannot be read further");
                    }
                    0
                })
            }
            None => std::future::pending().await,
        }
    }

    async fn take(&mut self, count: usize) {
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
    seen: u64,
    report: &'a mut (dyn FnMut(Progress) + Send),
}

impl<'a> Observer<'a> {
    fn new(started: Instant, report: &'a mut (dyn FnMut(Progress) + Send)) -> Self {
        Self { started, next: started + PROGRESS_EVERY, seen: 0, report }
    }

    fn is_due_for(&self, total: u64) -> bool {
        total > self.seen
    }

    #[expect(clippy::disallowed_methods, reason = "measures how long a real program waits and runs")]
    fn look(&mut self, output: &Output) {
        self.seen = output.total();
        self.next = Instant::now() + PROGRESS_EVERY;
        let mut recent = output.out.capture.recent(PROGRESS_BYTES);
        if let Some(err) = &output.err {
            recent.extend(err.capture.recent(PROGRESS_BYTES));
        }
        (self.report)(Progress { recent, total: self.seen, elapsed: self.started.elapsed() });
    }
}
